"""PGS in lanes with the rows of each world close together: who takes part, MuJoCo's answer, no word of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

import dovetail  # noqa: E402
from dovetail.backends.native.backend import NativeBackend  # noqa: E402
from dovetail.bench.cases import spheres  # noqa: E402
from dovetail.plugins.shared.solver import own_rows_lanes  # noqa: E402
from dovetail.plugins.shared.solver.dual_matrix_free_lanes import Dual  # noqa: E402
from dovetail.plugins.solve_constraints import pgs_lanes  # noqa: E402

NWORLD, NSTEP = 8, 3

needs_compiler = pytest.mark.skipif(
    bool(NativeBackend().missing()), reason="no compiler for the backend native"
)


def robot(option: str = "", equality: str = "") -> str:
    """A box with two limbs over a floor: contacts of every dimension, a limit, friction loss."""
    return f"""
    <mujoco><option solver="PGS" {option}/>
    <worldbody><geom type="plane" size="1 1 1" condim="1"/>
      <body name="trunk" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .05" condim="3"/>
        <body pos=".1 0 0"><joint name="a" axis="0 1 0" range="-10 10" limited="true"/>
          <geom type="capsule" fromto="0 0 0 .2 0 0" size=".02" condim="4"/>
          <body name="hand" pos=".2 0 0"><joint name="b" axis="0 1 0" frictionloss=".1"/>
            <geom size=".03" pos=".05 0 0" condim="6"/></body></body>
        <body name="limb" pos="-.1 0 0"><joint axis="0 0 1"/><geom size=".03" pos="-.1 0 0" condim="1"/></body>
      </body></worldbody><equality>{equality}</equality></mujoco>"""


CONNECT = '<connect body1="hand" body2="limb" anchor="0 0 0"/>'
"""Between bodies that are apart: it pulls with all its might."""

MIXED = {
    "rows of all kinds": robot(),
    "an equality": robot(equality='<joint joint1="a" joint2="b"/>' + CONNECT),
}


class EnoughError(Exception):
    """The kernel has been built far enough."""


def own_rows(text: str, monkeypatch: pytest.MonkeyPatch) -> own_rows_lanes.OwnRows:
    """What the solver works out while its kernel is built; no kernel is compiled."""
    found: list[own_rows_lanes.OwnRows] = []

    def noted(dual: Dual) -> None:
        found.append(own_rows_lanes.OwnRows(dual))
        raise EnoughError

    sim = dovetail.Simulation(dovetail.loads(text), nworld=1, backend="native", keep="state")
    with monkeypatch.context() as patch:
        patch.setattr(pgs_lanes, "OwnRows", noted)
        with pytest.raises(EnoughError):
            sim.step()
    return found[0]


@needs_compiler
def test_the_whole_matrix_is_for_pyramids_and_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    assert own_rows(robot(), monkeypatch).possible
    assert not own_rows(robot('cone="elliptic"'), monkeypatch).possible
    many = str(spheres(4).source).replace("<option", '<option solver="PGS"')
    assert not own_rows(many, monkeypatch).possible  # 24 free bodies: rows would be nearly all zeros


@needs_compiler
@pytest.mark.parametrize("text", MIXED.values(), ids=MIXED)
def test_no_world_has_more_rows_than_a_model_may_have(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m = mujoco.MjModel.from_xml_string(text)
    rows = [theirs(m, qpos, qvel)[0].nefc for qpos, qvel in zip(*states(m), strict=True)]
    assert 0 < min(rows) <= 12 < max(rows) <= own_rows(text, monkeypatch).most


def states(m: Any) -> tuple[np.ndarray, np.ndarray]:
    """Worlds from high above the floor to deep in it."""
    rng = np.random.default_rng(3)
    qpos, qvel = np.tile(m.qpos0, (NWORLD, 1)), rng.normal(0.0, 0.3, (NWORLD, m.nv))
    qpos[:, 2] = np.linspace(0.02, 0.3, NWORLD)
    qpos[:, 7] = rng.normal(0.0, 0.2, NWORLD)
    return qpos, qvel


def theirs(m: Any, qpos: np.ndarray, qvel: np.ndarray) -> tuple[Any, np.ndarray]:
    """MuJoCo's Data at a state, and its velocities after some steps."""
    at, after = mujoco.MjData(m), mujoco.MjData(m)
    for d in (at, after):
        d.qpos[:], d.qvel[:] = qpos, qvel
    mujoco.mj_forward(m, at)
    mujoco.mj_step(m, after, NSTEP)
    return at, after.qvel.copy()


def ours(text: str, worlds: slice, **options: Any) -> np.ndarray:
    """Velocities of some of the worlds after some steps."""
    qpos, qvel = states(mujoco.MjModel.from_xml_string(text))
    sim = dovetail.Simulation(
        dovetail.loads(text), nworld=len(qpos[worlds]), backend="native", keep="state", **options
    )
    sim.data.qpos[:], sim.data.qvel[:] = qpos[worlds], qvel[worlds]
    sim.step(NSTEP)
    return np.array(sim.data.qvel)


@pytest.mark.by_default("rows of all kinds-the matrix for all", "an equality-some worlds without")
@needs_compiler
@pytest.mark.parametrize("most", [64, 12], ids=["the matrix for all", "some worlds without"])
@pytest.mark.parametrize("text", MIXED.values(), ids=MIXED)
def test_velocities_are_mujocos_whatever_the_neighbours_have(
    text: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_rows_lanes, "MOST_ROWS", most)
    m = mujoco.MjModel.from_xml_string(text)
    expected = np.array([theirs(m, *state)[1] for state in zip(*states(m), strict=True)])
    found = ours(text, slice(None), lanes=NWORLD)
    assert np.abs(found - expected).max() < 1e-11 * max(1.0, np.abs(expected).max())
    np.testing.assert_array_equal(ours(text, slice(None), lanes=1), found)


@needs_compiler
def test_both_ways_of_sweeping_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    text = MIXED["rows of all kinds"]
    with_matrix = ours(text, slice(None))
    monkeypatch.setattr(own_rows_lanes, "SPREAD", 0)
    without = ours(text, slice(None))
    assert not np.array_equal(with_matrix, without)  # it is another order of sums
    np.testing.assert_allclose(with_matrix, without, rtol=0.0, atol=1e-11 * max(1.0, np.abs(without).max()))

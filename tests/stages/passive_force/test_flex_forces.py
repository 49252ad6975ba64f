"""Forces within flexes and of passive contacts are MuJoCo's; a mistake in them is told by slot and field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest
from flex_zoo import FLEXES, SKIPPED, evaluated, scene, text_of

import dovetail
from dovetail.compare.conform import conform
from dovetail.compare.oracle import model_from_mujoco
from dovetail.config import Config
from dovetail.plugins.passive_force import flex_bending_numpy, flex_elements_numpy
from dovetail.plugins.passive_force.contact_numpy import contact
from dovetail.plugins.passive_force.damper_joint_numpy import damper
from dovetail.plugins.passive_force.flex_numpy import flex
from dovetail.plugins.passive_force.spring_joint_numpy import spring

FIELDS = ("qfrc_spring", "qfrc_damper", "qfrc_passive")
TOLERANCE = 1e-12
"""Of the largest force; the worst measured is 3e-15."""


def forces(m: Any, d: Any) -> dict[str, Any]:
    """MuJoCo's fields, and in its Data those of dovetail's rows from the same state."""
    expected = {name: getattr(d, name).copy() for name in FIELDS}
    d.qfrc_passive[:] = 0.0
    for row in (spring, damper, flex, contact):
        row(m, d)
    return expected


def assert_close(ours: Any, theirs: Any, name: str) -> None:
    scale = max(1e-3, np.abs(theirs).max(initial=0.0))
    np.testing.assert_allclose(ours, theirs, atol=TOLERANCE * scale, rtol=0, err_msg=name)


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("name", FLEXES)
def test_forces_are_mujocos(name: str, jacobian: str) -> None:
    for seed in range(2):
        m, d = evaluated(text_of(name, jacobian), seed)
        for field, expected in forces(m, d).items():
            assert_close(getattr(d, field), expected, field)


@pytest.mark.parametrize(
    "flags", ['spring="disable"', 'damper="disable"', 'spring="disable" damper="disable"']
)
@pytest.mark.parametrize("name", ["rope", "cloth that does both, on a limb", "box", "trilinear on a limb"])
def test_flags_are_obeyed(name: str, flags: str) -> None:
    m, d = evaluated(text_of(name, "dense", flags), 0)
    for field, expected in forces(m, d).items():
        assert_close(getattr(d, field), expected, field)


@pytest.mark.parametrize("name", ["quadratic", "trilinear", "cloth that does both", "box"])
def test_nothing_is_pulled_at_rest(name: str) -> None:
    """MuJoCo's own noise included: forces between nodes are differences of large numbers."""
    m = mujoco.MjModel.from_xml_string(text_of(name))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    expected = forces(m, d)["qfrc_spring"]
    assert np.abs(expected).max() < 1e-10
    np.testing.assert_allclose(d.qfrc_spring, expected, atol=1e-13, rtol=0)


def test_a_timestep_of_zero_leaves_out_the_damping_of_elements() -> None:
    m, d = evaluated(text_of("box", "dense"), 0)
    m.opt.timestep = 0.0
    mujoco.mj_forward(m, d)
    for field, expected in forces(m, d).items():
        assert_close(getattr(d, field), expected, field)


def test_a_flex_without_rows_between_others_changes_nothing() -> None:
    """As MuJoCo's dense rows do; its sparse ones are overwritten."""
    dense, d = evaluated(scene(SKIPPED, "dense"), 0)
    sparse, _ = evaluated(scene(SKIPPED, "sparse"), 0)
    model = model_from_mujoco(sparse)
    sim = dovetail.Simulation(model, backend="numpy")
    sim.data.qpos[:], sim.data.qvel[:] = d.qpos, d.qvel
    sim.forward()
    for field in FIELDS:
        assert_close(getattr(sim.data, field), getattr(d, field), field)
    assert dense.nv == model.nv


# ---- passive contacts -------------------------------------------------------------------------------------

TOUCHING = """<mujoco><option jacobian="{jacobian}"/><worldbody><geom type="plane" size="2 2 .1" margin=".02"/>
<body name="ball" pos=".1 .1 .05"><freejoint/><geom size=".06"/></body><body name="held" pos="0 0 .02"><freejoint/>
<geom size=".01" contype="0" conaffinity="0"/><flexcomp name="soft" type="grid" count="4 4 {layers}" dim="{dim}"
spacing=".06 .06 .06" radius=".01" mass="1" dof="{dof}"><contact passive="true" selfcollide="none" internal="false"
{margin}/><elasticity young="1e3" elastic2d="{bends}"/></flexcomp></body></worldbody></mujoco>"""


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize(
    ("dim", "layers", "dof", "margin"),
    [
        (2, 1, "full", ""),
        (2, 1, "full", 'margin=".03" gap=".01"'),
        (3, 3, "full", ""),
        (3, 3, "trilinear", ""),
    ],
)
def test_contacts_of_passive_flexes_are_springs(
    dim: int, layers: int, dof: str, margin: str, jacobian: str
) -> None:
    """Vertices on a plane and elements on a ball that moves; within the margin they pull."""
    bends = "stretch" if dim == 2 else "none"
    xml = TOUCHING.format(jacobian=jacobian, dim=dim, layers=layers, dof=dof, margin=margin, bends=bends)
    m = mujoco.MjModel.from_xml_string(xml)
    d = mujoco.MjData(m)
    rng = np.random.default_rng(0)
    for _ in range(3):
        d.qpos[:] = m.qpos0
        mujoco.mj_integratePos(m, d.qpos, 0.01 * rng.normal(size=m.nv), 1.0)
        mujoco.mj_forward(m, d)
        passive = d.contact.exclude == 4
        assert passive.sum() > 8
        assert (d.contact.elem[passive] >= 0).any()
        assert (d.contact.vert[passive] >= 0).any()
        assert not margin or (d.contact.dist[passive] > 0.0).any()
        for field, expected in forces(m, d).items():
            assert_close(getattr(d, field), expected, field)


def test_contacts_of_passive_flexes_stop_with_both_flags() -> None:
    xml = TOUCHING.format(jacobian="dense", dim=2, layers=1, dof="full", margin="", bends="stretch")
    m = mujoco.MjModel.from_xml_string(xml)
    for flags in (1 << 5, 1 << 6, 3 << 5):  # spring, damper, both
        m.opt.disableflags = flags
        d = mujoco.MjData(m)
        mujoco.mj_forward(m, d)
        expected = forces(m, d)["qfrc_spring"]
        assert expected.any() == (flags != 3 << 5)
        assert_close(d.qfrc_spring, expected, "qfrc_spring")


# ---- mistakes ---------------------------------------------------------------------------------------------


def _without_curvature(place: Any) -> Any:
    return np.zeros_like(place)


def _without_damping(model: Any, data: Any) -> Any:
    return data.flexedge_length**2 - model.flexedge_length0**2


_TENSIONS = flex_elements_numpy.tensions
_BENT = '<mujoco><worldbody><flexcomp name="dome" type="ellipsoid" count="4 4 4" spacing=".1 .1 .1" dim="2" mass="1">'
BENT = (
    f'{_BENT}<contact contype="0" conaffinity="0" selfcollide="none"/><elasticity young="3e3" thickness=".01" '
    'elastic2d="both" damping=".01"/></flexcomp></worldbody></mujoco>'
)
MISTAKES: dict[str, tuple[Any, str, Callable[..., Any], str]] = {
    "one sign": (flex_elements_numpy, "tensions", lambda *given: -_TENSIONS(*given), "qfrc_spring"),
    "no damping of elements": (flex_elements_numpy, "elongations", _without_damping, "qfrc_spring"),
    "no curvature": (flex_bending_numpy, "curvature_slopes", _without_curvature, "qfrc_spring"),
    "no damping of bends": (
        flex_bending_numpy,
        "vertex_velocities",
        lambda model, data: np.zeros((model.nflexvert, 3)),
        "qfrc_damper",
    ),
}


@pytest.mark.parametrize("mistake", [None, *MISTAKES])
def test_a_mistake_is_told_by_slot_and_field(mistake: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    field = ""
    if mistake is not None:
        module, name, wrong, field = MISTAKES[mistake]
        monkeypatch.setattr(module, name, wrong)
    config = Config.of_call(backend="numpy")
    report = conform(BENT, stages=["passive_force"], states=1, steps=0, config=config, compiled_by="mujoco")
    told = {(row.slot, row.field) for row in report.failures}
    expected = {("passive_force:flex", field), ("passive_force:flex", "qfrc_passive")}
    assert told == (expected if mistake else set())

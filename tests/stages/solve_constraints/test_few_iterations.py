"""Solvers that stop early: every solver, cone and size of problem under few iterations and few line-search steps.

Where a solver has not converged its answer is the way it went, so that lanes must go MuJoCo's way step by step, in
as many iterations. Every relation is that of one step from MuJoCo's own state; where MuJoCo itself moves under a
nudge of 1e-14, or takes another number of iterations, so may the lanes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import dovetail

mujoco = pytest.importorskip("mujoco")

PLANE = '<geom type="plane" size="5 5 1"/>'
BOX = '<geom type="box" size=".1 .1 .1"/>'


def legs() -> str:
    """Four legs with friction loss and limits under a trunk; two share a joint equality, two are welded."""
    places = [(0.1, 0.06), (-0.1, 0.06), (0.1, -0.06), (-0.1, -0.06)]
    return "".join(
        f"""<body pos="{x} {y} 0"><joint name="hip{n}" axis="0 1 0" range="-20 20" limited="true" frictionloss=".3"/>
          <geom type="capsule" fromto="0 0 0 0 0 -.15" size=".02"/>
          <body name="shin{n}" pos="0 0 -.15"><joint axis="0 1 0"/>
            <geom type="capsule" fromto="0 0 0 0 0 -.15" size=".02"/></body></body>"""
        for n, (x, y) in enumerate(places)
    )


MODELS = {
    "box": f'{PLANE}<body pos="0 0 .09" euler="10 5 0"><freejoint/>{BOX}</body></worldbody>',
    "stack": f"""{PLANE}<body pos="0 0 .095"><freejoint/>{BOX}</body>
      <body pos=".02 0 .288" euler="0 0 20"><freejoint/>{BOX}</body>
      <body pos=".5 0 .09" euler="10 20 20"><freejoint/>{BOX}</body>
      <body pos="0 2 1"><freejoint/>{BOX}</body></worldbody>""",
    "arm": f"""{PLANE}
      <body pos="0 0 .3"><joint axis="0 1 0" frictionloss=".5"/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
        <body name="arm" pos=".3 0 0"><joint axis="0 1 0" range="-30 30" limited="true" frictionloss=".2"/>
          <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
          <body pos=".3 0 0"><joint type="ball" range="0 40" limited="true"/>
            <geom type="box" size=".05 .04 .03" pos=".05 0 0"/></body></body></body>
      <body name="ball" pos=".35 .3 .1"><freejoint/><geom size=".11" condim="6"/>
        <geom type="capsule" size=".05 .1" pos=".1 0 0" condim="4"/></body></worldbody>
      <equality><connect body1="arm" body2="ball" anchor=".1 .1 0"/></equality>""",
    "legs": f"""{PLANE}<body pos="0 0 .2"><freejoint/><geom type="box" size=".1 .05 .05"/>{legs()}</body></worldbody>
      <equality><joint joint1="hip0" joint2="hip1"/><weld body1="shin2" body2="shin3"/></equality>""",
}
"""A free body; four trees, of which one touches nothing; two trees that an equality ties; one tree of many dofs."""

NWORLD = 5
STATE = ("qpos", "qvel", "qacc_warmstart")


class Beside:
    """One model in MuJoCo, as one native world and as a native batch."""

    def __init__(self, name: str, options: str) -> None:
        xml = f"<mujoco><option {options}/><worldbody>{MODELS[name]}</mujoco>"
        self.theirs = mujoco.MjModel.from_xml_string(xml)
        self.ours = dovetail.loads(xml)
        self.one = dovetail.Simulation(self.ours, backend="native")
        self.batch = dovetail.Simulation(self.ours, nworld=NWORLD, backend="native", keep="all")
        self.states = list(self._random_states())

    def _random_states(self) -> Iterator[dict[str, np.ndarray]]:
        model, rng = self.theirs, np.random.default_rng(3)
        for world in range(NWORLD):
            qpos = model.qpos0.copy()
            mujoco.mj_integratePos(model, qpos, rng.normal(0, 0.05 if world else 0, model.nv), 1.0)
            last = rng.normal(0, 1, model.nv) * (world % 2)
            yield {"qpos": qpos, "qvel": rng.normal(0, 0.5, model.nv), "qacc_warmstart": last}

    def set_option(self, name: str, value: Any) -> None:
        for model in (self.theirs, self.ours):
            setattr(model.opt, name, value)

    def expected(self, state: dict[str, np.ndarray], nudge: float = 0.0, seed: int = 1) -> Any:
        data = mujoco.MjData(self.theirs)
        for field in STATE:
            getattr(data, field)[:] = state[field]
        moves = nudge * np.random.default_rng(seed).standard_normal(self.theirs.nv)
        mujoco.mj_integratePos(self.theirs, data.qpos, moves, 1.0)
        mujoco.mj_step(self.theirs, data)
        return data

    def misfits(self) -> Iterator[str]:
        """What one step, and a step of all states at once, do otherwise than MuJoCo."""
        for field in STATE:
            setattr(self.batch.data, field, np.array([state[field] for state in self.states]))
        self.batch.step()
        for n, state in enumerate(self.states):
            for field in STATE:
                getattr(self.one.data, field)[:] = state[field]
            self.one.step()
            theirs, near = self.expected(state), self.expected(state, 1e-14)
            sides = {"one": self.one.data, "batch": self.batch.data.world(n)}
            yield from self._miscounts(n, state, theirs, sides)
            for field in ("qacc", "qfrc_constraint"):
                want = getattr(theirs, field)
                scale = 1 + np.abs(want).max()
                allowed = 1e-10 + 1000 * np.abs(getattr(near, field) - want).max() / scale
                for side, data in sides.items():
                    error = np.abs(getattr(data, field) - want).max() / scale
                    if not error <= allowed:
                        yield f"{side} {n}: {field} off by {error:.1e}, allowed {allowed:.1e}"

    def _miscounts(
        self, world: int, state: dict[str, np.ndarray], theirs: Any, sides: dict[str, Any]
    ) -> Iterator[str]:
        """Who took other numbers of iterations than MuJoCo, though a nudge does not change those."""
        want = theirs.solver_niter
        for side, data in sides.items():
            made = np.asarray(data.solver_niter)
            if not np.array_equal(made, want) and all(
                np.array_equal(self.expected(state, 1e-14, seed).solver_niter, want) for seed in range(8)
            ):
                yield f"{side} {world}: {made[made > 0]} iterations, not {want[want > 0]}"


def all_misfits(beside: Beside, iterations: list[int], searches: list[int]) -> list[str]:
    found = []
    for most, steps in product(iterations, searches):
        beside.set_option("iterations", most)
        beside.set_option("ls_iterations", steps)
        found += [f"{most}/{steps} {misfit}" for misfit in beside.misfits()]
    return found


@pytest.mark.by_default("box-PGS-elliptic", "legs-Newton-pyramidal")
@pytest.mark.parametrize(
    ("name", "solver", "cone"),
    [
        ("stack", "Newton", "elliptic"),
        ("legs", "Newton", "pyramidal"),
        ("legs", "CG", "elliptic"),
        ("arm", "CG", "pyramidal"),
        ("box", "PGS", "elliptic"),
    ],
)
def test_a_few(name: str, solver: str, cone: str) -> None:
    beside = Beside(name, f'solver="{solver}" cone="{cone}"')
    assert not all_misfits(beside, [1, 2, 5, 100], [1, 2, 4, 50])


@pytest.mark.slow
@pytest.mark.parametrize("noslip", [0, 1, 3])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("solver", ["Newton", "CG", "PGS"])
@pytest.mark.parametrize("name", MODELS)
def test_all(name: str, solver: str, cone: str, noslip: int) -> None:
    beside = Beside(name, f'solver="{solver}" cone="{cone}" noslip_iterations="{noslip}"')
    for island in (0, int(mujoco.mjtDisableBit.mjDSBL_ISLAND)):
        beside.set_option("disableflags", island)
        assert not all_misfits(beside, [1, 2, 3, 5, 10, 100], [1, 2, 3, 4, 6, 10, 50])


def test_the_no_slip_pass_begins_where_the_solver_does() -> None:
    """A tree that touches nothing starts from its smooth acceleration, even where all rows are one problem."""
    beside = Beside("stack", 'noslip_iterations="2"')
    for state in beside.states:
        state["qacc_warmstart"][-6:] += 50.0
    assert not all_misfits(beside, [1, 3], [2, 50])

"""`data.solver_niter` of a kernel is its own count: MuJoCo's, island by island, with nothing repeated for it.

`test_few_iterations` has the counts of all solvers where they stop early.
"""

from __future__ import annotations

from typing import Any

import attrs
import lane_backend
import numpy as np
import pytest

import dovetail
from dovetail import compile_plan
from dovetail.backends.lanes.lifetimes import Lasts
from dovetail.config import Config
from dovetail.planning.replay import Replayer
from dovetail.plugins.shared.solver.iterations_lanes import BY_ISLAND
from dovetail.registry import build_registry

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.skipif(bool(lane_backend.lanes_missing()), reason=lane_backend.lanes_missing())

STATE = ("qpos", "qvel", "qacc_warmstart")
KEPT = "solver_niter"
WORLDS = 5
STACKS = 4
"""Stacks whose upper box comes long before the lower one in the order of bodies."""
ALONE = {"some": 18, "more": 32}
"""Boxes that lie alone; the more of them are more islands than are counted, and their matrix is each world's own."""


def box(x: float, z: float, turn: float) -> str:
    shape = '<geom type="box" size=".1 .09 .1" condim="4"/>'
    return f'<body pos="{x} 0 {z}" euler="{turn} {0.5 * turn} {3 * turn}"><freejoint/>{shape}</body>'


def boxes(lonely: str) -> str:
    """Upper boxes, one that touches nothing, boxes alone, lower boxes."""
    upper = [box(n + 0.02, 0.288, 0) for n in range(STACKS)]
    alone = [box(-1 - n, 0.095, 0.7 * (n % 4)) for n in range(ALONE[lonely])]
    lower = [box(n, 0.095, 0) for n in range(STACKS)]
    return "".join([*upper, box(0, 3, 10), *alone, *lower])


def scene(options: str, lonely: str = "some") -> str:
    plane = '<geom type="plane" size="99 9 1"/>'
    return f"<mujoco><option {options}/><worldbody>{plane}{boxes(lonely)}</worldbody></mujoco>"


OPTIONS = {
    "newton": 'cone="elliptic"',
    "cg": 'solver="CG"',
    "pgs": 'solver="PGS" tolerance="1e-3"',
    "noslip": 'noslip_iterations="20" noslip_tolerance="1e-4"',
    "rk4": 'integrator="RK4"',
    "few": 'iterations="2"',
}


def states(model: Any) -> list[dict[str, np.ndarray]]:
    """Of a fall: in each world other bodies have been lifted off what they lay on, in the last one all of them."""
    rng, data = np.random.default_rng(2), mujoco.MjData(model)
    data.qvel[:] = 0.1 * rng.normal(size=model.nv)
    mujoco.mj_step(model, data, 3)
    found = []
    for world in range(WORLDS):
        state = {name: np.array(getattr(data, name)) for name in STATE}
        lifted = rng.random(model.nbody - 1) < (1.0 if world == WORLDS - 1 else 0.2)
        state["qpos"].reshape(-1, 7)[:, 2] += np.where(lifted, 2.0 + np.arange(model.nbody - 1), 0.0)
        found.append(state)
    return found


def oracle(model: Any, state: dict[str, np.ndarray], nudge: float = 0.0, seed: int = 0) -> Any:
    """MuJoCo's Data after a step from a state, or from one beside it."""
    data = mujoco.MjData(model)
    for name in STATE:
        getattr(data, name)[:] = state[name]
    moves = nudge * np.random.default_rng(seed).standard_normal(model.nv)
    mujoco.mj_integratePos(model, data.qpos, moves, 1.0)
    mujoco.mj_step(model, data)
    return data


def certain(model: Any, state: dict[str, np.ndarray]) -> np.ndarray:
    """Mask of the islands of which MuJoCo takes as many iterations from beside the state."""
    want = oracle(model, state).solver_niter
    return np.all([oracle(model, state, 1e-14, seed).solver_niter == want for seed in range(8)], axis=0)


def begin(data: Any, state: dict[str, np.ndarray]) -> None:
    for name in STATE:
        data.field(name)[...] = state[name]


def simulation(xml: str, **settings: Any) -> dovetail.Simulation:
    return dovetail.Simulation(dovetail.loads(xml), backend=lane_backend.LANES, **settings)


@pytest.fixture
def no_repetition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeating a step is an error."""

    def refuse(self: Replayer, *_: Any) -> None:
        pytest.fail("a step was repeated")

    monkeypatch.setattr(Replayer, "run", refuse)


@pytest.mark.by_default("newton-more", "cg-some", "pgs-some", "noslip-some")
@pytest.mark.usefixtures("no_repetition")
@pytest.mark.parametrize(
    ("options", "lonely"), [*((options, "some") for options in OPTIONS), ("newton", "more")]
)
def test_each_island_has_its_own_count_in_the_order_of_its_first_tree(options: str, lonely: str) -> None:
    xml = scene(OPTIONS[options], lonely)
    model = mujoco.MjModel.from_xml_string(xml)
    one, batch = simulation(xml), simulation(xml, nworld=WORLDS, keep=(KEPT,))
    places = states(model)
    for world, state in zip(batch.data.worlds(), places, strict=True):
        begin(world, state)
    batch.step()
    sure, total = 0, 0
    for world, state in zip(batch.data.worlds(), places, strict=True):
        begin(one.data, state)
        one.step()
        want, known = oracle(model, state).solver_niter, certain(model, state)
        for data in (one.data, world):
            np.testing.assert_array_equal(np.asarray(data.solver_niter)[known], want[known])
        sure, total = sure + int(known[want > 0].sum()), total + int((want > 0).sum())
    assert sure > 0.9 * total, "MuJoCo itself does not know"
    assert not np.any(batch.data.world(WORLDS - 1).solver_niter), "nothing touches anything there"
    if options in ("newton", "cg", "few", "rk4"):
        first = np.asarray(batch.data.world(0).solver_niter)
        assert oracle(model, places[0]).nisland > (20 if lonely == "more" else 15)
        assert options == "few" or len(set(first.tolist()) - {0}) > 2, "all islands are alike"


@pytest.mark.usefixtures("no_repetition")
def test_islands_that_are_switched_off_are_one() -> None:
    xml = scene('cone="elliptic"').replace(
        "/><worldbody>", '><flag island="disable"/></option><worldbody>', 1
    )
    model = mujoco.MjModel.from_xml_string(xml)
    sim = simulation(xml)
    for state in states(model):
        begin(sim.data, state)
        sim.step()
        if certain(model, state).all():
            np.testing.assert_array_equal(sim.data.solver_niter, oracle(model, state).solver_niter)
        assert not np.any(sim.data.solver_niter[1:])


BALL = """<mujoco><option {}/><worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 .09" euler="10 5 0"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""

SOLVERS = {name: BALL.format(OPTIONS[name]) for name in ("newton", "cg", "pgs", "noslip")}


@pytest.mark.covering
@pytest.mark.usefixtures("no_repetition")
@pytest.mark.parametrize("nworld", [None, 3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_step_without_constraints_makes_none(solver: str, nworld: int | None) -> None:
    sim = simulation(SOLVERS[solver], nworld=nworld, keep=(KEPT,))
    for _ in range(4):  # slow, then kept ready
        sim.step()
        assert np.all(np.asarray(sim.data.solver_niter)[..., 0] > 0)
        assert not np.any(np.asarray(sim.data.solver_niter)[..., 1:])
    sim.data.qpos[..., 2] += 5.0
    sim.step()
    assert not np.any(sim.data.solver_niter)


@pytest.mark.usefixtures("no_repetition")
@pytest.mark.parametrize("solver", SOLVERS)
def test_of_many_steps_the_last_one_counts(solver: str) -> None:
    step, many = (simulation(SOLVERS[solver], keep=(KEPT,)) for _ in range(2))
    for _ in range(7):
        step.step()
    many.step(7)
    np.testing.assert_array_equal(step.data.solver_niter, many.data.solver_niter)
    assert np.any(many.data.solver_niter)


@pytest.mark.by_default("newton", "noslip")
@pytest.mark.parametrize("solver", SOLVERS)
def test_single_precision_stops_about_where_double_does(solver: str) -> None:
    xml = SOLVERS[solver]
    model = mujoco.MjModel.from_xml_string(xml)
    sim = simulation(xml, nworld=8, precision="f32", keep=(KEPT, "nefc"))
    data = mujoco.MjData(model)
    for nstep in range(12):
        mujoco.mj_step(model, data)
        sim.step()
        made = np.asarray(sim.data.solver_niter)
        most = model.opt.iterations + model.opt.noslip_iterations
        assert np.all((made[:, 0] > 0) == (np.asarray(sim.data.nefc) > 0)), nstep
        assert np.all(made[:, 0] <= most)
        assert not np.any(made[:, 1:])
        if solver == "newton":
            assert np.all(np.abs(made[:, 0] - data.solver_niter[0]) <= 3), nstep


# ---- what it costs


def memories(sim: dovetail.Simulation) -> dict[str, Any]:
    """The scratch memory of a kernel, and how long it lasts."""
    sim.step()
    runner: Any = sim.plan.execution.runners()[0]
    return dict(runner._program.fused.lifetimes)


@pytest.mark.parametrize("solver", ["newton", "noslip"])
def test_who_does_not_read_it_has_a_kernel_that_does_not_count(solver: str) -> None:
    silent = memories(simulation(SOLVERS[solver], nworld=3, keep=("nefc",)))
    counting = memories(simulation(SOLVERS[solver], nworld=3, keep=("nefc", KEPT)))
    assert not [name for name in silent if "iterations" in name]
    assert counting["kernel/iterations.by_island"].lasts is Lasts.EVALUATION


def test_nothing_is_repeated_for_it() -> None:
    batch = simulation(SOLVERS["noslip"], nworld=3, keep=(KEPT,))
    assert batch.plan.replay is None
    one = simulation(SOLVERS["noslip"])
    assert one.plan.replay is not None
    assert KEPT not in one.plan.replay.fields


@pytest.mark.parametrize("solver", ["newton", "noslip"])
def test_of_a_solver_that_does_not_count_the_reference_tells(solver: str) -> None:
    """Somebody else's, beside the no-slip pass, which stays in its kernel."""
    registry = build_registry(third_party=False)
    newton = next(r for r in registry.of("solve_constraints") if r.label == f"newton@{lane_backend.LANES}")
    assert newton.writes is not None
    writes = [name for name in newton.writes if name != BY_ISLAND]
    registry.add(attrs.evolve(newton, name="silent", default=False, writes=tuple(writes)))
    config = Config.of_call({"solve_constraints": "silent"}, backend=lane_backend.LANES, keep=(KEPT,))
    plan = compile_plan(dovetail.loads(SOLVERS[solver]), config, nworld=3, registry=registry)
    assert {slot.record.backend for slot in plan.slots} == {lane_backend.LANES}
    assert plan.replay is not None
    assert plan.replay.fields == (KEPT,)
    data = plan.make_data()
    plan.step(data)
    assert np.all(np.asarray(data.solver_niter)[:, 0] > 0)

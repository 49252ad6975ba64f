"""What a step gives depends on the state alone: whatever was stepped before in the same Simulation, in the same tile
or in another Simulation, and whatever other steps left in Data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from stepping import (
    FILES,
    LOOSE,
    OPTIONS,
    Readings,
    State,
    differing,
    hand,
    hand_states,
    late_readings,
    orders,
    put,
    readings,
    spoil,
    start,
    trajectory,
)

import dovetail
from dovetail import Model, Simulation
from dovetail.bad_states import StateWarning

THINNED = ("newton",)
"""What the default suite takes; kernels take seconds to compile."""
EVERY = [pytest.param(option, marks=() if option in THINNED else pytest.mark.slow) for option in OPTIONS]


def step_one(sim: Simulation, state: State) -> Readings:
    put(sim.data, state)
    sim.step()
    return readings(sim.data)


def step_batch(sim: Simulation, states: Sequence[State], order: Sequence[int]) -> dict[int, Readings]:
    """A step of all states, one in each world; what is read of each state's world."""
    for world, number in zip(sim.data.worlds(), order, strict=True):
        put(world, states[number])
    sim.step()
    return {number: readings(world) for world, number in zip(sim.data.worlds(), order, strict=True)}


class Compared:
    """What was found for each state at first, and what differed from it later."""

    def __init__(self) -> None:
        self.first: dict[int, Readings] = {}
        self.found: dict[int, list[str]] = {}

    def add(self, number: int, found: Readings) -> None:
        fields = differing(found, self.first.setdefault(number, found))
        if fields:
            self.found[number] = fields


def assert_steps_depend_on_state(model: Model, states: Sequence[State], **settings: Any) -> Compared:
    """One world, in several orders; the last time after all that is no state was spoilt."""
    sim, compared = start(model, **settings), Compared()
    for turn, order in enumerate(orders(len(states))):
        for number in order:
            if turn == 3:
                spoil(sim)
            compared.add(number, step_one(sim, states[number]))
    assert not compared.found
    return compared


def assert_worlds_depend_on_state(model: Model, states: Sequence[State], **settings: Any) -> Compared:
    """As many worlds, in several orders."""
    sim, compared = start(model, nworld=len(states), **settings), Compared()
    for turn, order in enumerate(orders(len(states))):
        if turn == 3:
            spoil(sim)
        for number, found in step_batch(sim, states, order).items():
            compared.add(number, found)
    assert not compared.found
    return compared


def contacts_of(compared: Compared) -> list[int]:
    return [int(np.frombuffer(found["ncon"], np.int32)[0]) for found in compared.first.values()]


# ---- orders ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", EVERY)
def test_what_was_stepped_before_does_not_matter(option: str) -> None:
    compared = assert_steps_depend_on_state(hand(option), hand_states(option))
    assert {0, 2} <= {*contacts_of(compared)}


@pytest.mark.slow
@pytest.mark.parametrize("option", OPTIONS)
def test_what_was_stepped_before_does_not_matter_to_many_trees(option: str) -> None:
    assert_steps_depend_on_state(hand(option, LOOSE), hand_states(option, LOOSE))


@pytest.mark.parametrize(
    ("option", "loose"),
    [
        pytest.param(o, loose, marks=() if (o, loose) == ("newton", LOOSE) else pytest.mark.slow)
        for o in OPTIONS
        for loose in ("", LOOSE)
    ],
)
def test_neither_the_place_in_a_batch_nor_what_was_there_before_matters(option: str, loose: str) -> None:
    """The worlds are those of one world alone, too."""
    states = hand_states(option, loose)[1::2]
    many = assert_worlds_depend_on_state(hand(option, loose), states, keep=KEPT)
    alone = start(hand(option, loose), keep=KEPT)
    for number, state in enumerate(states):
        assert differing(step_one(alone, state), many.first[number]) == []


KEPT = (
    "ncon",
    "nefc",
    "qacc",
    "contact.dist",
    "contact.frame",
    "sensordata",
    "qfrc_constraint",
    "cfrc_ext",
    "xpos",
)


LONGER = [
    f"solver.{name}"
    for name in ("improvement", "gradient", "lineslope", "nactive", "nchange", "neval", "nupdate")
]
"""Of these only the first `solver_niter` entries mean something."""


def test_fields_that_are_read_late_depend_on_the_state_alone() -> None:
    states = [hand_states()[number] for number in (0, 4, 17)]
    sim = start(hand())
    first: dict[int, Readings] = {}
    for order in orders(len(states)):
        for number in order:
            step_one(sim, states[number])
            found = {n: content for n, content in late_readings(sim.data).items() if n not in LONGER}
            assert "efc_force" in found
            assert differing(found, first.setdefault(number, found)) == []


# ---- models that pip brings ------------------------------------------------------------------------------------

QUICK = ("gymnasium_robotics/hand/reach",)
"""Without clearing, a step of this hand took up what another had left in its Hessian."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in FILES]
)
def test_what_a_robot_did_before_does_not_matter(name: str) -> None:
    assert_steps_depend_on_state(*robot(name), keep=KEPT)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_what_other_robots_do_does_not_matter(name: str) -> None:
    model, states = robot(name)
    assert_worlds_depend_on_state(model, states[:11], keep=KEPT)


def robot(name: str) -> tuple[Model, list[State]]:
    model = dovetail.load(FILES[name])
    if not model.nv:
        pytest.skip("nothing moves")
    return model, trajectory(model, 20, stride=5)


# ---- other Simulations -----------------------------------------------------------------------------------------


FREE = """<mujoco><option><flag constraint="disable"/></option><worldbody>
<body><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></worldbody></mujoco>"""
BALL = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .099"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""


def run(sim: Simulation, states: Sequence[State]) -> Iterator[Readings]:
    """A step of each state, one when asked."""
    for state in states:
        yield step_one(sim, state)


def test_other_simulations_leave_nothing_behind() -> None:
    """Beside one of the same model, of another model, and one that is broken and reset by turns."""
    model, states = hand(), hand_states()[2:20:3]
    alone = list(run(start(model), states))
    sims = [start(model) for _ in range(2)]
    other = start(dovetail.loads(BALL))
    broken = start(model)
    for number, state in enumerate(states):
        other.step()
        broken.data.qvel[0] = (np.nan, np.inf, 1e30)[number % 3]
        with pytest.warns(StateWarning):
            broken.step()
        if number % 2:
            broken.reset()
        for sim in sims if number % 2 else reversed(sims):
            assert differing(step_one(sim, state), alone[number]) == []


def test_a_world_that_is_broken_leaves_nothing_behind() -> None:
    """In its own world, in its neighbours, and in tiles that are run after it."""
    model, states = hand(loose=LOOSE), hand_states(loose=LOOSE)[:11]
    wanted = step_batch(start(model, nworld=11, keep=KEPT), states, range(11))
    sim = start(model, nworld=11, keep=KEPT)
    sim.data.qvel[3] = np.nan
    sim.data.qpos[9] = np.inf
    with pytest.warns(StateWarning):
        sim.step(3)
    found = step_batch(sim, states, range(11))
    assert all(not differing(found[number], wanted[number]) for number in range(11))


@pytest.mark.parametrize("nworld", [None, 10])
def test_a_world_that_is_held_back_keeps_what_no_stage_reads(nworld: int | None) -> None:
    """Without constraints no stage reads the warm start, but every step writes it."""
    sim = start(dovetail.loads(FREE), nworld=nworld, on_nan="freeze", keep="state")
    sim.step(3)
    held = sim.data if nworld is None else sim.data.world(1)
    held.qacc_warmstart[...] = 7.0
    held.qvel[...] = np.nan
    with pytest.warns(StateWarning):
        sim.step(2)
    assert held.qacc_warmstart[0] == 7.0

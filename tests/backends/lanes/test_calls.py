"""One call of many steps is as many calls of one step, bit for bit: whatever is kept, for one world and for batches,
from states with contacts and without, and if lists outgrow their room in the middle of a call.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
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
    put,
    readings,
    start,
    trajectory,
)

import dovetail
from dovetail import Model, Simulation
from dovetail.plugins.shared.contacts import contacts_lanes

NSTEP = 15
KEEPS: dict[str, Any] = {
    "all": "all",
    "state": "state",
    "contacts": ("ncon", "contact.dist", "contact.frame", "contact.friction", "contact.geom"),
    "rows": ("nefc", "efc_force", "efc_pos", "qfrc_constraint"),
    "accelerations": ("qacc", "sensordata", "cacc", "solver_niter"),
}
BATCH_KEEPS = {"computed": "computed", **{name: keep for name, keep in KEEPS.items() if name != "all"}}
STARTS = (0, 12, 17)
"""States of the hand: without contacts, shortly before some, with some."""


def in_calls_of(sim: Simulation, states: Sequence[State], calls: Sequence[int]) -> list[Readings]:
    """All that can be read after steps from these states, a world's each."""
    for world, state in zip(sim.data.worlds(), states, strict=True):
        put(world, state)
    for nstep in calls:
        sim.step(nstep)
    return [readings(world) | late_readings(world) for world in sim.data.worlds()]


def assert_calls_do_not_matter(sim: Simulation, states: Sequence[State], nstep: int = NSTEP) -> None:
    wanted = in_calls_of(sim, states, [1] * nstep)
    for calls in ([nstep], [2, nstep - 3, 1]):
        found = in_calls_of(sim, states, calls)
        for mine, theirs in zip(found, wanted, strict=True):
            assert [name for name in differing(mine, theirs) if not name.startswith("solver.")] == []


@pytest.mark.parametrize(
    ("keep", "option"),
    [
        pytest.param(keep, option, marks=() if (keep, option) in QUICK else pytest.mark.slow)
        for QUICK in [{("all", "newton"), ("contacts", "newton")}]
        for keep in KEEPS
        for option in OPTIONS
    ],
)
def test_one_world(keep: str, option: str) -> None:
    sim = start(hand(option), keep=KEEPS[keep])
    for number in STARTS:
        assert_calls_do_not_matter(sim, [hand_states(option)[number]])


@pytest.mark.parametrize(
    ("keep", "nworld", "option"),
    [
        pytest.param(keep, nworld, option, marks=() if (keep, nworld, option) in QUICK else pytest.mark.slow)
        for QUICK in [{("contacts", 11, "newton")}]
        for keep in BATCH_KEEPS
        for nworld in (1, 3, 11)
        for option in (OPTIONS if nworld == 11 else ("newton",))
    ],
)
def test_batches(keep: str, nworld: int, option: str) -> None:
    """Of a tile that is not full and more; among the worlds are some without contacts."""
    sim = start(hand(option, LOOSE), nworld=nworld, keep=BATCH_KEEPS[keep])
    states = hand_states(option, LOOSE)
    assert_calls_do_not_matter(sim, states[:nworld])
    assert_calls_do_not_matter(sim, states[::-1][:nworld])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dovetail.bad_states.StateWarning")  # some are pushed until they explode
@pytest.mark.parametrize(
    ("keep", "nworld"), [("all", None), ("state", None), ("contacts", 11), ("accelerations", 3)]
)
@pytest.mark.parametrize("name", FILES)
def test_models_of_packages(name: str, keep: str, nworld: int | None) -> None:
    model = dovetail.load(FILES[name])
    states = trajectory(model, 2 * (nworld or 1))
    if len(states) < (nworld or 1):
        pytest.skip("its states go bad")
    sim = start(model, nworld=nworld, keep=KEEPS[keep])
    assert_calls_do_not_matter(sim, states[: nworld or 1])
    assert_calls_do_not_matter(sim, states[-(nworld or 1) :])


# ---- lists that grow ------------------------------------------------------------------------------------------

COUNT = 9


def balls() -> Model:
    """They come down one after the other."""
    bodies = "".join(
        f'<body pos="{0.25 * n} 0 {0.1 + 0.0004 * n * n}"><freejoint/><geom size="0.1" mass="1"/></body>'
        for n in range(COUNT)
    )
    floor = '<geom type="plane" size="9 9 1"/>'
    return dovetail.loads(f"<mujoco><worldbody>{floor}{bodies}</worldbody></mujoco>")


@pytest.mark.parametrize("nworld", [None, pytest.param(11, marks=pytest.mark.slow)])
def test_lists_that_outgrow_their_room_in_the_middle_of_a_call(
    nworld: int | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """In a batch all worlds but one stay below the room."""
    model, nstep = balls(), 60
    keep = ("ncon", "contact.dist", "contact.geom", "qacc")
    states = [grounded(model, world) for world in range(nworld or 1)]
    roomy = in_calls_of(start(model, nworld=nworld, keep=keep), states, [1] * nstep)
    assert len(roomy[0]["contact.dist"]) == 8 * COUNT
    monkeypatch.setattr(contacts_lanes, "LEAST_ROOM", 3)
    monkeypatch.setattr(contacts_lanes, "ROOM_PER_GEOM", 0)
    for calls in ([nstep], [1] * nstep, [40, 20]):
        caplog.clear()
        sim = start(model, nworld=nworld, keep=keep)
        with caplog.at_level(logging.WARNING):
            found = in_calls_of(sim, states, calls)
        assert "have more contacts than the kernel has room for" in caplog.text
        for mine, theirs in zip(found, roomy, strict=True):
            assert differing(mine, theirs) == []


def grounded(model: Model, world: int) -> State:
    """The balls' start; in all worlds but the first, most of them stay in the air."""
    sim = dovetail.Simulation(model, backend="numpy")
    if world:
        sim.data.qpos.reshape(-1, 7)[2:, 2] += 1.0
    return {name: np.array(sim.data.field(name)) for name in sim.data.state}

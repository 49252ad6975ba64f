"""Reporting controls that a lane kernel took as broken.

As in MuJoCo, a control that is NaN, infinite or beyond MAXVAL makes all controls of its world 0 in that evaluation.
`actuation` records it in memory of the program, which is exported; the warning comes after the launch, one for each
world.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from dovetail.backends.lanes.exports import Export, Outbox
from dovetail.backends.lanes.fuse import LaneStage
from dovetail.backends.lanes.kernel import PROGRAM, Kernel, LaneField
from dovetail.bad_states import MOST_REPORTED, Event, describe_control, is_heard
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data

INDEX, VALUE, TIME, COUNT = range(4)
"""What is recorded of a world: the first broken control, its value, when it was, and in how many evaluations."""

BROKEN = "actuation/broken"
EXPORT = Export(BROKEN, owner=PROGRAM, alarm=COUNT)


def records(k: Kernel) -> LaneField:
    return k.program_memory(BROKEN, 4, kept="what happened in a launch is told when it is over")


def record_broken(k: Kernel, broken: Any, index: Any, value: Any) -> None:
    """Record the first broken control of the worlds in a mask."""
    found = records(k)
    first = k.select(broken, 1.0 - k.min(found[COUNT], 1.0), 0.0) > 0.5
    for place, number in {INDEX: index, VALUE: value, TIME: k.data.time}.items():
        found[place] = k.select(first, number, found[place])
    found[COUNT] = found[COUNT] + k.select(broken, 1.0, 0.0)


def clear(k: Kernel) -> None:
    """Before the first step of a tile."""
    records(k)[:] = 0.0


def clearing_stage() -> LaneStage:
    return LaneStage(
        stage="controls",
        name="begin",
        builder=clear,
        reads=frozenset(),
        writes=frozenset(),
        role="begin",
    )


def broken(data: Data, outbox: Outbox) -> Array:
    """What was recorded in a launch: a row for each world."""
    if BROKEN not in outbox or not outbox[BROKEN][:, COUNT].any():
        return np.zeros((0, 4))
    rows: Array = outbox[BROKEN].transpose(0, 2, 1).reshape(-1, 4)
    return np.array(rows[: 1 if data.nworld is None else data.nworld])


def together(before: Array, now: Array) -> Array:
    """What was recorded in two launches."""
    if not len(before) or not len(now):
        return now if len(now) else before
    first = np.where(before[:, COUNT, None] > 0, before, now)
    first[:, COUNT] = before[:, COUNT] + now[:, COUNT]
    return first


def report(data: Data, found: Array) -> None:
    """Warn of each world whose controls were broken in a call."""
    worlds = np.flatnonzero(found[:, COUNT]).tolist()
    if worlds and is_heard(data, [_event(world, *found[world].tolist()) for world in worlds]):
        return
    for world in worlds[:MOST_REPORTED]:
        index, value, time, count = found[world].tolist()
        text = describe_control(data.model, int(index), value, time, None if data.nworld is None else world)
        again = f", and in {int(count) - 1} more of this call" if count > 1 else ""
        warnings.warn(f"{text}{again}", RuntimeWarning, stacklevel=2)
    if len(worlds) > MOST_REPORTED:
        rest = ", ".join(map(str, worlds[MOST_REPORTED:]))
        warnings.warn(f"so are controls of worlds {rest}", RuntimeWarning, stacklevel=2)


def _event(world: int, index: float, value: float, time: float, count: float) -> Event:
    return Event(world, "ctrl", int(index), value, time, int(count))

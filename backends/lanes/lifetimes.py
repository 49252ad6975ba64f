"""How long scratch memory of a kernel holds what is in it: a step reads nothing that another step left, but what is
declared.

A step reads its state and the Model, and what it has written itself. Where a stage reads what an earlier step left
in its memory, it says why beside that memory (`Kernel.scratch` and its like): `kept=` for what the steps of one
launch on one tile hand on, `memo=` for what follows from a key that is kept beside it, so that it serves any tile and
launch.

That this is so can be tried out: `DOVETAIL_NATIVE_POISON` has all other memory filled with numbers that no result
survives.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import IntEnum

import attrs

from dovetail.backends.lanes.memory import PRIVATE


class Lasts(IntEnum):
    """Until when memory holds what was written there."""

    ALWAYS = 0
    """As long as the program. Memory of stages starts with zeros, Data fields with what they hold after a reset."""
    TILE = 1
    """Until the launch begins with another tile."""
    STEP = 2
    """Until the next step."""
    EVALUATION = 3
    """Until the next forward evaluation: a step of Runge-Kutta has four, one that a bad world repeats has two."""


@attrs.frozen
class Lifetime:
    """How long memory lasts, and why longer than an evaluation."""

    lasts: Lasts
    why: str


FOR_AN_EVALUATION = Lifetime(Lasts.EVALUATION, "")
FOR_A_STEP = Lifetime(Lasts.STEP, "a Data field holds what the step has found when the step is over")
TAKEN_OVER = Lifetime(
    Lasts.TILE, "what Data has when a launch begins; of its own state a step reads what it wrote"
)


def declared(kept: str, memo: str) -> Lifetime:
    """What a stage says of its memory."""
    if memo:
        return Lifetime(Lasts.ALWAYS, memo)
    return Lifetime(Lasts.TILE, kept) if kept else FOR_AN_EVALUATION


def lifetimes(
    memories: Iterable[str],
    declared: Mapping[str, Lifetime],
    *,
    taken_over: Collection[str],
    written: Collection[str],
) -> dict[str, Lifetime]:
    """How long each memory of a kernel lasts. Data fields that no stage of the kernel has among what is `written` are
    left out: they hold constants."""
    found = {}
    for name in memories:
        if name in taken_over:
            found[name] = TAKEN_OVER
        elif PRIVATE in name:
            found[name] = declared.get(name, FOR_AN_EVALUATION)
        elif name in written:
            found[name] = declared.get(name, FOR_A_STEP)
    return found

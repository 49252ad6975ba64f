"""Running some of a plan's stages, for questions that need no whole step.

Positions unchanged, the position stages' results still hold; velocities unchanged, those of the velocity stages
too. MuJoCo's skipstage arguments do the same (mj_forwardSkip, mj_inverseSkip).
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

import attrs

from dovetail import pipeline
from dovetail.contracts.types import Data, Model
from dovetail.planning.plan import Plan

POSITION, VELOCITY, ACCELERATION = (
    frozenset(n for n in pipeline.FORWARD if pipeline.STAGES[n].phase == phase)
    for phase in ("position", "velocity", "acceleration")
)
OBSERVE = frozenset({"subtree_velocity", "body_forces", "sensor", "energy"})
"""What looks at accelerations and forces once they are known."""

_parts: WeakKeyDictionary[Plan, dict[frozenset[str], Plan]] = WeakKeyDictionary()


def plan_of_one_world(model: Model, data: Data) -> Plan:
    """The plan for a Data of one world, on the reference: stages of a kernel cannot be run apart from others that
    leave something for them. A batch is an error that says what to pass instead."""
    from dovetail.simulation import reference_plan_for

    if data.nworld is not None:
        raise ValueError(
            f"this works on one world, and the Data has {data.nworld}; pass one of them, as data.world(0)"
        )
    return reference_plan_for(model, data)


def stages_of(plan: Plan, names: Iterable[str]) -> Plan:
    """A plan of only these stages of another one, in its order; remembered as long as that one lives."""
    chosen = frozenset(names)
    parts = _parts.setdefault(plan, {})
    if chosen not in parts:
        slots = tuple(slot for slot in plan.slots if slot.stage.name in chosen)
        parts[chosen] = attrs.evolve(plan, slots=slots, partial=True)
    return parts[chosen]


def run_stages(plan: Plan, data: Data, names: Iterable[str]) -> None:
    """Run these stages of a forward evaluation, in the plan's order."""
    stages_of(plan, names).forward(data)

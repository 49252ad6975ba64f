"""How long each stage of a running simulation takes, measured on a copy of its state."""

from __future__ import annotations

import time
from typing import Any

from dovetail.planning.plan import Plan
from dovetail.planning.wrappers import Profiler
from dovetail.simulation import Simulation

STEPS = 20
"""Steps that are timed, after one that compiles."""


def plan_rows(plan: Plan) -> list[tuple[str, str]]:
    """Slot and implementation of everything that runs in a step, in order."""
    return [(slot.label, slot.record.label) for slot in plan.slots]


def stage_times(sim: Simulation, world: int) -> dict[str, float]:
    """Microseconds of processor time per step by slot. Every stage stands alone for that, so their sum is more than a
    fused step takes."""
    profiler = Profiler(clock=time.process_time)
    chosen: dict[str, Any] = {
        slot.label: f"{slot.record.name}@{slot.record.backend}"
        for slot in sim.plan.slots
        if "#" not in slot.label
    }
    copy = Simulation(
        sim.model,
        stages=chosen,
        precision=sim.plan.precision,
        wrap=(profiler,),
        on_nan="freeze",
        locked=False,
    )
    own, seen = copy.data, sim.data.world(world)
    for name in own.state:
        if name in seen:
            own.field(name)[...] = seen.field(name)
    copy.step()
    profiler.reset()
    copy.step(STEPS)
    return {slot: 1e6 * timing.seconds / STEPS for slot, timing in profiler.timings.items()}

"""How long each stage of a running simulation takes, measured on a copy of its state."""

from __future__ import annotations

import time

from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan
from dovetail.planning.wrappers import Profiler
from dovetail.simulation import Simulation

STEPS = 20
"""Steps that are timed, after one that compiles."""


def plan_rows(plan: Plan) -> list[tuple[str, str]]:
    """Slot and implementation of everything that runs in a step, in order."""
    return [(slot.label, slot.record.label) for slot in plan.slots]


def stage_times(sim: Simulation, world: int) -> dict[str, tuple[str, float]]:
    """By slot: which implementation was timed, and its microseconds of processor time per step. Every stage stands
    alone for that, some of them on the reference, so their sum is far more than a fused step takes."""
    profiler = Profiler(clock=time.process_time)
    plan = compile_plan(sim.model, sim._config, wrappers=(profiler,), missing="skip", registry=sim._registry)
    own, seen = plan.make_data(), sim.data.world(world)
    for name in own.state:
        if name in seen:
            own.field(name)[...] = seen.field(name)
    plan.step(own, 1)
    profiler.reset()
    plan.step(own, STEPS)
    ran = dict(plan_rows(plan))
    return {
        slot: (ran.get(slot, ""), 1e6 * timing.seconds / STEPS) for slot, timing in profiler.timings.items()
    }

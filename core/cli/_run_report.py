"""What a run was, as plain values: for --json, and for the screen, which shows the same facts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dovetail.cli._watch import Curve, Seen, extremes

if TYPE_CHECKING:
    from dovetail.cli._recording import Recorder
    from dovetail.contracts.fields import Array
    from dovetail.planning.costs import Cost
    from dovetail.planning.wrappers import Profiler
    from dovetail.simulation import Simulation


@attrs.define
class Outcome:
    """What a run measured."""

    steps: int = 0
    first_seconds: float = 0.0
    """Of the first step, compilation included."""
    seconds: float = 0.0
    """Of all steps after the first."""
    energy_first: Array | None = None
    energy_last: Array | None = None
    problem: str = ""
    """Why it stopped early."""
    warnings: list[str] = attrs.field(factory=list)
    costs: Sequence[Cost] = ()
    """Choices that took a large share of the time."""
    film: dict[str, Any] | None = None
    """Of the film that was made, what there is to say."""


def report(
    sim: Simulation,
    outcome: Outcome,
    seen: Seen,
    recorder: Recorder,
    output: Path | None,
    profiler: Profiler | None,
    asked_steps: int,
) -> dict[str, Any]:
    """All of it."""
    import numpy as np

    from dovetail.cli.plan import compiled_backends, describe

    problems = [outcome.problem] if outcome.problem else _problems(sim)
    return {
        "model": sim.model.modelname,
        "source": sim.model.source,
        "sizes": {name: sim.model.sizes[name] for name in ("nq", "nv", "nu", "nbody", "ngeom")},
        "nworld": sim.nworld,
        "timestep": sim.model.opt.timestep,
        "steps": outcome.steps,
        "steps_asked": asked_steps,
        "simulated_seconds": outcome.steps * sim.model.opt.timestep,
        **_speed(sim, outcome),
        "compiled": bool(compiled_backends(sim.plan)),
        "problems": problems,
        "warnings": outcome.warnings,
        "costs": [attrs.asdict(cost) for cost in outcome.costs],
        "energy": _energy(outcome, seen.energy),
        "motion": _motion(seen),
        "contacts": _contacts(seen),
        "final": {name: np.asarray(sim.data.world(0).field(name)) for name in ("time", "qpos", "qvel")},
        "output": None if output is None else str(output),
        "film": outcome.film,
        "profile": None if profiler is None else _timings(profiler),
        "watched": {c.label: _curve(c) for c in (seen.motion, seen.energy) if c is not None},
        "series": _series(recorder),
        "plan": describe(sim.plan),
        "lock": sim.plan.lock.as_plain(),
        "lock_digest": sim.plan.lock.digest,
    }


def _speed(sim: Simulation, outcome: Outcome) -> dict[str, float | None]:
    """Seconds and rates; the first step does not count, if there are more."""
    worlds = sim.nworld or 1
    spent = {
        "first_step_seconds": outcome.first_seconds,
        "later_seconds": outcome.seconds,
        "wall_seconds": outcome.first_seconds + outcome.seconds,
    }
    seconds = outcome.seconds or outcome.first_seconds
    if not outcome.steps or not seconds:
        rates = ("steps_per_second", "world_steps_per_second", "per_thread", "realtime_factor")
        return {**spent, **dict.fromkeys(rates)}
    rate = max(1, outcome.steps - 1) / seconds
    return {
        **spent,
        "steps_per_second": rate,
        "world_steps_per_second": rate * worlds,
        "per_thread": rate * worlds / max(1, min(sim.plan.threads, worlds)),
        "realtime_factor": rate * worlds * sim.model.opt.timestep,
    }


def _problems(sim: Simulation) -> list[str]:
    """NaN and infinity in the state, by world and joint."""
    from dovetail.contracts.derive import bad_numbers

    return [problem for name in ("qpos", "qvel", "act") for problem in bad_numbers(sim.data, name)]


def _energy(outcome: Outcome, watched: Curve | None) -> dict[str, Any] | None:
    """Of all worlds, if the plan computes it; else of the first one, as it was watched."""
    first, last = outcome.energy_first, outcome.energy_last
    if first is not None and last is not None:
        change = float(abs(last - first).max())
        scale = float(abs(first).max())
        begin, end, world = float(first.mean()), float(last.mean()), None
    elif watched is not None and watched.value:
        begin, end, world = watched.value[0], watched.value[-1], watched.world
        change, scale = abs(end - begin), abs(begin)
    else:
        return None
    return {
        "initial": begin,
        "final": end,
        "largest_change": change,
        "relative_change": change / scale if scale > 0 else float("nan"),
        "world": world,
    }


def _motion(seen: Seen) -> dict[str, Any] | None:
    if seen.motion is None or not len(seen.motion.value):
        return None
    return {**extremes(seen.motion), "moved": seen.moved}


def _contacts(seen: Seen) -> dict[str, Any] | None:
    if seen.contacts is None:
        return None
    return {
        "count": seen.contacts.count,
        "pairs": [{"between": [a, b], "points": count} for a, b, count in seen.contacts.pairs],
        "deepest": seen.contacts.deepest,
        "most": max(seen.most_contacts, seen.contacts.count),
        "worlds": seen.worlds_contacts,
    }


def _curve(curve: Curve) -> dict[str, Any]:
    bounds = {} if curve.least is None else {"least": curve.least, "most": curve.most}
    return {"time": curve.time, "value": curve.value, **bounds, "world": curve.world}


def _timings(profiler: Profiler) -> list[dict[str, Any]]:
    whole = sum(t.seconds for t in profiler.timings.values())
    return [
        {
            "slot": slot,
            "calls": t.calls,
            "microseconds": t.microseconds,
            "share": t.seconds / whole if whole else 0.0,
        }
        for slot, t in profiler.timings.items()
    ]


def _series(recorder: Recorder) -> dict[str, Any]:
    times = recorder.plotted_times()
    return {
        q.label: {"time": times, "value": values}
        for q, values in zip(recorder.quantities, recorder.series, strict=True)
    }

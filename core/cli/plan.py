"""`dovetail plan`: what would run for a model, who chose it, what fell back, what is missing, what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail.cli import FOUND_PROBLEMS
from dovetail.cli._options import (
    Choices,
    asset_root_option,
    cli_command,
    load_model,
    make_plan,
    model_argument,
    selection_options,
)
from dovetail.cli._output import emit, say, size, table, title

if TYPE_CHECKING:
    from dovetail.planning.plan import Plan


@cli_command(example="dovetail plan humanoid --nworld 1024 --stage integrate=rk4")
@model_argument
@asset_root_option
@selection_options
def plan(model: str, choices: Choices, asset_root: str | None, as_json: bool) -> int:
    """Show which implementation would run for each stage, and why.

    Nothing is simulated or compiled to machine code. The exit code is 1 if a stage is missing.
    """
    made = make_plan(load_model(model, choices, asset_root=asset_root), choices)
    report = describe(made)
    if as_json:
        emit(report)
    else:
        show(report)
    return FOUND_PROBLEMS if made.missing else 0


def describe(plan: Plan) -> dict[str, Any]:
    """The plan as plain values."""
    return {
        "headline": plan.headline(),
        "nworld": plan.nworld,
        "precision": plan.precision,
        "threads": plan.threads,
        "lanes": plan.lanes,
        "segments": len(plan.segments("step")),
        "evaluations": plan.evaluations if "integrate" in plan.choices else None,
        "slots": plan.lines(),
        "fallbacks": {line.slot: line.fallback for line in plan.lines() if line.fallback},
        "skipped": plan.skipped,
        "idle": plan.idle,
        "not_asked_for": [f"{r.slot} {r.label} of {r.provider}" for r in plan.unasked],
        "semantics": {"name": plan.semantics.value, "origin": plan.semantics.origin},
        "loaded_with": dict(plan.model.stages),
        "missing": plan.missing,
        "memory": memory(plan),
        "notes": notes(plan),
    }


def memory(plan: Plan) -> dict[str, int]:
    """Bytes of a Data of this plan, per world and in all, without allocating it."""
    from dovetail.contracts.arena import ArenaLayout
    from dovetail.contracts.fields import numpy_dtype
    from dovetail.contracts.types import DATA_SPECS

    specs = [*DATA_SPECS.values(), *plan.extra_fields]
    layout = ArenaLayout.of((s for s in specs if s.name in plan.keep), plan.model.sizes)
    world = sum(count * numpy_dtype(dtype, plan.precision).itemsize for dtype, count in layout.rows.items())
    tiles = 1 if plan.nworld is None else -(-plan.nworld // plan.lanes)
    return {"world_bytes": world, "total_bytes": world * tiles * plan.lanes, "fields": len(layout.places)}


def compiled_backends(plan: Plan) -> list[str]:
    """The backends of a plan that compile kernels over many worlds (those that work in place do not)."""
    used = {slot.record.backend for slot in plan.slots}
    return sorted(name for name in used if not plan.registry.backend(name).in_place)


def notes(plan: Plan) -> list[str]:
    """What a user should know about the cost of this plan."""
    batching = compiled_backends(plan)
    many = plan.nworld is not None and plan.nworld > 1
    segments = len(plan.segments("step"))
    found = []
    if "integrate" in plan.choices and plan.evaluations > 1:
        found.append(f"each step evaluates the dynamics {plan.evaluations} times")
    if not batching and many:
        others = [name for name, backend in plan.registry.backends.items() if not backend.in_place]
        hint = f"; --backend {others[0]} runs them together" if others else ""
        found.append(f"worlds run one after another{hint}")
    if batching and not many and not plan.execution.may_be_ready:
        found.append(
            f"{', '.join(batching)} is made for batches: a step of one world is mostly the cost of its launch"
        )
    if plan.replay is not None and not plan.replay.late:
        fields = ", ".join(plan.replay.fields)
        found.append(f"after each call the reference repeats its last step, world by world, for {fields}")
    taken = sorted({f.partition(".")[0] for fields in plan.flow.imports for f in fields})
    if taken:
        found.append(
            f"{', '.join(taken)} comes from another backend: in every step it is sorted into tiles before the launch"
        )
    if batching and segments > 1:
        found.append(
            f"{segments} segments: numbers pass through memory between them, and each step is launched one by "
            "one; a plan wholly on one backend runs many steps in one call"
        )
    return found


def show(report: dict[str, Any]) -> None:
    """The plan as tables."""
    from dovetail.planning.loading_selection import is_chosen

    say(report["headline"])
    table(
        ("segment", "slot", "implementation", "chosen by", "notes"),
        [
            (s.segment if report["segments"] > 1 else "", s.slot, s.implementation, s.origin, _slot_notes(s))
            for s in report["slots"]
        ],
        numeric=("segment",),
    )
    if report["skipped"]:
        say(f"not needed by this model: {', '.join(report['skipped'])}")
    if report["idle"]:
        say(f"left out, results not kept: {', '.join(report['idle'])}")
    for slot, text in report["loaded_with"].items():
        if is_chosen(text):
            say(f"loaded with {slot} {text}")
    for line in report["not_asked_for"]:
        say(f"installed, not asked for (--plugin): {line}")
    amount = report["memory"]
    say(
        f"memory: {size(amount['world_bytes'])} per world, {size(amount['total_bytes'])} in all "
        f"({amount['fields']} fields kept)"
    )
    for note in report["notes"]:
        say(f"note: {note}")
    if report["missing"]:
        title("Missing: no installed plugin implements")
        table(("slot", "needed by"), [(m.slot, m.reason) for m in report["missing"]])


def _slot_notes(line: Any) -> str:
    remarks = [f"fell back: {line.fallback}"] if line.fallback else []
    remarks += [f"wrapped by {', '.join(line.wrapped_by)}"] if line.wrapped_by else []
    remarks += [f"from {line.provider}"] if line.provider != "dovetail" else []
    return "; ".join(remarks)

"""Conformance with MuJoCo 3.4.0: the compiled model, every field each slot writes, and steps as users take them.

`conform(model)` loads the model twice and puts both engines into the same states: random ones, states along MuJoCo's
trajectories, keyframes. There it compares each stage by itself, and what a step of an ordinary Simulation leaves. The
model keeps its own options; then all is done again with solvers that have converged. MuJoCo: mj_forward, mj_step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail import pipeline
from dovetail.arguments import whole, words
from dovetail.backend import Slot
from dovetail.bad_states import MAXVAL
from dovetail.compare import conform_report
from dovetail.compare.conform_report import COMPILE as COMPILE
from dovetail.compare.conform_report import Part
from dovetail.compare.errors import FieldError, Worst
from dovetail.compare.mujoco_fields import AWAKE, ITERATIONS, MujocoFields
from dovetail.compare.mujoco_fields import BY_MATRIX as BY_MATRIX
from dovetail.compare.mujoco_fields import UNCOMPARED as UNCOMPARED
from dovetail.compare.oracle import load_both, model_from_mujoco, object_names, read, unheard
from dovetail.compare.real_steps import Disagreement
from dovetail.compare.reports import Report
from dovetail.compare.run_starts import said_starts
from dovetail.config import Config
from dovetail.contracts.choices import Backend, CompiledBy, Precision
from dovetail.contracts.fields import Array
from dovetail.contracts.types import MODEL_SPECS, Data, Model
from dovetail.errors import UnknownStageError, listing, nearest
from dovetail.lock import StageLock
from dovetail.planning.plan import Plan

IGNORED_FIELDS = ("names", "names_map", "paths", "bvh_*", "oct_*", "name_*adr", "body_bvhadr", "body_bvhnum")
"""Model fields that are bookkeeping of MuJoCo's and are not compared: byte tables of names (names are compared as
names) and bounding volume trees (an acceleration structure, not physics)."""

IGNORED_SIZES = (
    "nnames",
    "nnames_map",
    "npaths",
    "nbvh",
    "nbvhstatic",
    "nbvhdynamic",
    "noct",
    "nbuffer",
    "narena",
)
"""Sizes of that bookkeeping, and of MuJoCo's memory."""


@attrs.frozen(kw_only=True)
class ConformReport(Report):
    """Worst error of every field, slot by slot, and of what steps leave."""

    model: str
    plan: str
    """One line on whose stages were compared."""
    implementations: Mapping[str, str]
    """`name@backend` by slot."""
    rows: tuple[FieldError, ...]
    """The compiled model, and each stage by itself under the model's own options."""
    missing: tuple[str, ...]
    """Slots the model needs and nothing implements: MuJoCo ran them, dovetail did not."""
    ignored: tuple[str, ...]
    """Fields that were not compared, as patterns."""
    states: int
    steps: int
    worlds: int
    parts: tuple[Part, ...] = ()
    """Under the model's own options, and with solvers that have converged."""
    stepped: str = ""
    """One line on what took the steps."""
    starts: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Keyframes that were too many to be tried."""
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every slot the model needs was there to compare."""
        return not self.missing

    @property
    def failures(self) -> tuple[FieldError, ...]:
        """The fields that are beyond their tolerance, in any part."""
        compiled = tuple(row for row in self.rows if row.slot == COMPILE and not row.ok)
        return compiled + tuple(row for part in self.parts for row in part.failures)

    @property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """What steps do that they should not, in any part."""
        return tuple(one for part in self.parts for one in part.disagreements)

    @property
    def ok(self) -> bool:
        """Whether every field is within its tolerance, and steps do nothing that they should not."""
        return not self.failures and not self.disagreements

    def worst(self, slot: str | None = None) -> float:
        """The largest error of a slot, or of all slots at run time."""
        everything = (*self.rows, *(r for part in self.parts for r in (*part.stages, *part.steps)))
        rows = [r for r in everything if (r.slot == slot if slot else r.slot != COMPILE)]
        return max((r.error for r in rows), default=0.0)

    def headline(self) -> str:
        """The verdict in a sentence."""
        return conform_report.headline(self)

    def table(self, *, fields: bool = False) -> str:
        """As text of 80 columns: the worst field of each slot, or all of them; what is wrong always."""
        return conform_report.text(self, fields=fields)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return conform_report.plain(self)


@attrs.define
class StageRecorder:
    """Wraps every slot, so that each stands alone, and keeps what it wrote in the first evaluation of a step."""

    name = "recorder"
    written: dict[str, dict[str, Array]] = attrs.field(factory=dict)
    slots: dict[str, Slot] = attrs.field(factory=dict)

    def wants(self, label: str) -> bool:
        return True

    def wrap(self, slot: Slot, call: Callable[[Data], None]) -> Callable[[Data], None]:
        self.slots[slot.label] = slot
        fields = sorted(slot.in_data)

        def recorded(data: Data) -> None:
            call(data)
            if slot.label not in self.written:
                self.written[slot.label] = {f: np.array(data.field(f)) for f in fields if f in data}

        return recorded


def conform(
    model: str | Path | Model,
    *,
    stages: Sequence[str] | None = None,
    steps: int = 10,
    states: int = 5,
    seed: int = 0,
    starts: str | Path | Sequence[str | Path] = (),
    keyframes: Sequence[str] = (),
    disable: Sequence[str] = (),
    enable: Sequence[str] = (),
    backend: Backend | None = None,
    precision: Precision | None = None,
    nworld: int | None = None,
    config: Config | None = None,
    locked: StageLock | str | None = None,
    compiled_by: CompiledBy = "dovetail",
    solver_tolerance: float | None = 1e-14,
) -> ConformReport:
    """Compare dovetail with MuJoCo on a model: a file, a built-in model's name, MJCF text, or a loaded Model
    that knows its file.

    In states of MuJoCo's, each stage is compared by itself, and so is what steps of an ordinary Simulation leave, one
    world and a batch. The model keeps its own options; then solvers go on to `solver_tolerance` in both engines, and
    all is compared again (None: it is not). Where an error is beyond its tolerance, it counts if it is beyond a
    thousand of the moves that MuJoCo itself makes when the state is nudged by rounding.

    `stages`: slots or stages to report (default all; `compile` is the Model itself, `integrate` the state after
    a step). `steps`, `states`: states along each trajectory, and random states, for each of `nworld` worlds.
    `starts`: `near`, `rest`, `random`, a keyframe, or a saved state's file; `keyframes`: keyframes by name or number.
    If you name none, trajectories begin at random, near the model's pose, and at each keyframe, at most 16 of them.
    `disable`, `enable`: option flags set in both engines. `backend`: what computes; if you say nothing, stages are
    the reference's, and steps those of the backend that runs would take. `compiled_by="mujoco"` takes MuJoCo's
    compiled model, to check stages on what dovetail's compiler does not read. `locked`: a stage lock, or the path of
    one, that what is compared must keep to; a configured one is for runs.
    """
    from dovetail.compare import conform_run as run

    whole("steps", steps, 0, "STEPS")
    whole("states", states, 0)
    whole("seed", seed, 0)
    keyframes = words("keyframes", keyframes)
    named = said_starts(starts) if starts != () and starts != [] else ()
    ours, theirs = load_both(model, compiled_by)
    run.set_flags(ours, theirs, disable, enable)
    settings = run.Settings(
        backend, precision, nworld, Config.discover() if config is None else config, locked
    )
    comparison = run.Comparison(ours, theirs, settings)
    wanted = _chooser(stages, comparison.plan)
    compiler = Worst(ours)
    if compiled_by == "dovetail":
        compare_models(compiler, ours, theirs)
    chosen = run.chosen_starts(ours, named, keyframes, steps, states, seed, nworld or 1)
    runs = stages is None or set(stages) != {COMPILE}
    if runs:
        with unheard():
            comparison.run(run.moments_of(ours, theirs, chosen, steps), solver_tolerance)
    bookkeeping = (*IGNORED_FIELDS, *IGNORED_SIZES)
    uncompared = (
        *(name for name in UNCOMPARED if name != ITERATIONS),
        *(() if MujocoFields(theirs).sleeps else AWAKE),
    )
    parts = tuple(_only(part, wanted) for part in comparison.parts)
    rows = (*compiler.sorted_rows(), *(parts[0].stages if parts else ()))
    return ConformReport(
        model=ours.modelname or ours.source,
        plan=comparison.plan.headline(),
        stepped=comparison.stepped,
        implementations={s: choice.record.label for s, choice in comparison.plan.choices.items()},
        rows=tuple(row for row in rows if wanted(row.slot)),
        missing=tuple(m.slot for m in comparison.plan.missing),
        ignored=(*(bookkeeping if compiled_by == "dovetail" else ("the compiled model",)), *uncompared),
        states=comparison.count,
        steps=steps,
        worlds=nworld or 1,
        parts=parts,
        starts=tuple(dict.fromkeys(begun.start for begun in chosen.beginnings)),
        left_out=chosen.left_out,
        notes=tuple(comparison.notes),
    )


def _only(part: Part, wanted: Callable[[str], bool]) -> Part:
    """What a part says about the stages that are asked for."""
    return attrs.evolve(
        part,
        stages=tuple(row for row in part.stages if wanted(row.slot)),
        steps=tuple(row for row in part.steps if wanted(row.slot)),
        disagreements=tuple(one for one in part.disagreements if wanted(one.stage)),
        moved=tuple(one for one in part.moved if wanted(one.slot)),
    )


def _chooser(stages: Sequence[str] | None, plan: Plan) -> Callable[[str], bool]:
    """Which slots to report, every wish checked against what exists."""
    if stages is None:
        return lambda slot: True
    known = {COMPILE, *pipeline.STEP, *(slot.label for slot in plan.slots)}
    for name in stages:
        if name not in known:
            raise UnknownStageError(
                f"conform: there is no stage {name!r}{nearest(name, known)} Stages: {listing(known)}"
            )
    wanted = set(stages)
    return lambda slot: slot in wanted or slot.partition(":")[0] in wanted


# ---- the compiled model


def ignored(field: str) -> bool:
    """Whether a Model field is bookkeeping that is not compared."""
    return any(fnmatchcase(field, pattern) for pattern in IGNORED_FIELDS)


def compare_models(worst: Worst, ours: Model, theirs: Any) -> None:
    """Every Model field, size and name against MuJoCo's compiler."""
    oracle = model_from_mujoco(theirs)
    for name, size in ours.sizes.items():
        if name not in IGNORED_SIZES and size != oracle.sizes[name]:
            worst.keep(_misfit(name, size, oracle.sizes[name]))
    for name, spec in MODEL_SPECS.items():
        if not ignored(name):
            expected = np.asarray(oracle.field(name))
            skip = _undefined(expected) | _lost(read(theirs, name), expected.shape)
            worst.add(COMPILE, spec, np.where(skip, 0, ours.field(name)), np.where(skip, 0, expected))
    for kind, names in object_names(theirs).items():
        known = tuple(ours.object_names.get(kind, ())) or ("",) * len(names)
        for index, (own, name) in enumerate(zip(known, names, strict=False)):
            if own != name:
                worst.keep(_misfit(f"name of {kind} {index}", own, name))


def _undefined(value: Array) -> Array:
    """Where MuJoCo's numbers are none: normals of mesh polygons without area are infinite, or as good as."""
    return ~(np.abs(value) <= MAXVAL) if value.dtype.kind == "f" else np.zeros(value.shape, bool)


def _lost(theirs: Any, shape: tuple[int, ...]) -> Array:
    """Where a field of MuJoCo's Model is no number: how far through a flat flex a vertex lies is 0/0."""
    value = np.asarray(theirs)
    readable = value.dtype.kind == "f" and value.size == np.prod(shape, dtype=int)
    return np.isnan(value).reshape(shape) if readable else np.zeros(shape, bool)


def _misfit(what: str, ours: object, theirs: object) -> FieldError:
    return FieldError(
        slot=COMPILE,
        field=what,
        error=np.inf,
        tolerance=0.0,
        where="",
        ours=np.nan,
        theirs=np.nan,
        note=f"{ours!r} instead of {theirs!r}",
    )

"""Conformance with MuJoCo 3.4.0: the compiled model, every field each slot writes, and the state after a step.

`conform(model)` loads the model twice, puts both engines into the same states (random ones, then those along a
trajectory of MuJoCo's) and compares after every slot of the plan. MuJoCo: mj_forward, mj_step.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail import pipeline
from dovetail.backend import REFERENCE, Slot
from dovetail.bad_states import MAXVAL, StateWarning
from dovetail.compare.errors import SPARSE, FieldError, Getter, Worst, has_room, meaningful, written_out
from dovetail.compare.isolate import plan_with_holes
from dovetail.compare.oracle import (
    VERSION,
    load_both,
    model_from_mujoco,
    object_names,
    read,
    require_mujoco,
)
from dovetail.compare.reports import Report
from dovetail.compare.states import random_state
from dovetail.compare.tables import error_table
from dovetail.config import Config
from dovetail.contracts.choices import Backend, CompiledBy, Precision
from dovetail.contracts.enums import DisableBit, EnableBit, Flag, Jacobian
from dovetail.contracts.fields import Array, FieldSpec
from dovetail.contracts.types import DATA_SPECS, MODEL_SPECS, STATE, Data, Model
from dovetail.errors import UnknownStageError, ValidationError, listing, nearest
from dovetail.lock import StageLock
from dovetail.planning.plan import Plan

COMPILE = "compile"
"""The name under which the comparison of Model fields is reported."""

IGNORED_FIELDS = ("names", "names_map", "paths", "bvh_*", "oct_*", "name_*adr", "body_bvhadr", "body_bvhnum")
"""Model fields that are bookkeeping of MuJoCo's and are not compared: byte tables of names (names are compared as
names) and bounding volume trees (an acceleration structure, not physics)."""

UNCOMPARED = {
    "bvh_active": "a record of which boxes MuJoCo tested, for drawing",
    "contact.H": "left from an earlier iteration unless the contact slides",
    "efc_AR_*": "left from an earlier step unless a solver needs the matrix",
    "iacc": "copies, sorted by island, of fields that are compared",
    "iacc_smooth": "copies, sorted by island, of fields that are compared",
    "ifrc_*": "copies, sorted by island, of fields that are compared",
    "iefc_aref": "copies, sorted by island, of fields that are compared",
    "iefc_force": "copies, sorted by island, of fields that are compared",
    "efc_state": "stale in MuJoCo when it solves by island",
    "iefc_state": "stale in MuJoCo when it solves by island",
    "solver.*": "how the solver went, not where it arrived",
    "solver_niter": "how the solver went, not where it arrived",
    "solver_nnz": "how the solver stores its matrix",
}
"""Data fields that are not compared, and why."""

SOLVER_ITERATIONS = 500
"""At least so many are allowed when both engines solve further than the model asks."""

BY_MATRIX = ("flexedge_J",)
"""Matrices kept by rows that are compared written out, because MuJoCo's array has more room, and entries that cancel;
where their entries stand is not compared."""

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
    """Worst error of every field, slot by slot."""

    model: str
    plan: str
    """One line on what ran."""
    implementations: Mapping[str, str]
    """`name@backend` by slot."""
    rows: tuple[FieldError, ...]
    missing: tuple[str, ...]
    """Slots the model needs and nothing implements: MuJoCo ran them, dovetail did not."""
    ignored: tuple[str, ...]
    """Fields that were not compared, as patterns."""
    states: int
    steps: int
    worlds: int

    @property
    def complete(self) -> bool:
        """Whether every slot the model needs was there to compare."""
        return not self.missing

    def worst(self, slot: str | None = None) -> float:
        """The largest error of a slot, or of all slots at run time."""
        rows = [r for r in self.rows if (r.slot == slot if slot else r.slot != COMPILE)]
        return max((r.error for r in rows), default=0.0)

    def headline(self) -> str:
        verdict = "conforms" if self.ok else f"{len(self.failures)} field(s) out of tolerance"
        holes = f", {len(self.missing)} slot(s) missing" if self.missing else ""
        return (
            f"{self.model}: {verdict}{holes}; {self.states} random states and {self.steps} steps in "
            f"{self.worlds} world(s), compared with MuJoCo {VERSION}"
        )

    def table(self, *, fields: bool = False) -> str:
        """As text: the worst field of each slot, or all of them; failures always."""
        parts = [self.headline(), self.plan, error_table(self.rows, fields=fields)]
        if not fields and self.failures:
            parts.append("out of tolerance:\n" + "\n".join(f"  {row}" for row in self.failures))
        if self.missing:
            parts.append(
                "missing (MuJoCo ran them, dovetail did not; disable them in both with "
                f'disable=("constraint",) or the like): {", ".join(self.missing)}'
            )
        parts.append(f"not compared: {', '.join(self.ignored)}")
        return "\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "mujoco": VERSION,
            "ok": self.ok,
            "complete": self.complete,
            "plan": self.plan,
            "implementations": dict(self.implementations),
            "missing": list(self.missing),
            "ignored": list(self.ignored),
            "states": self.states,
            "steps": self.steps,
            "worlds": self.worlds,
            "rows": self.rows_as_dicts(),
        }


def conform(
    model: str | Path | Model,
    *,
    stages: Sequence[str] | None = None,
    steps: int = 10,
    states: int = 5,
    seed: int = 0,
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

    `stages`: slots or stages to report (default all; `compile` is the Model itself, `integrate` the state after
    a step). `steps`, `states`: length of the trajectory, number of random states, for each of `nworld` worlds.
    `disable`, `enable`: option flags set in both engines (autoreset is always disabled: a random state may be
    beyond what the integrator bears, and both shall go on). `compiled_by="mujoco"` takes MuJoCo's compiled model,
    to check stages on what dovetail's compiler does not read. `solver_tolerance`: how far both engines solve the
    constraints, so that the answers are compared and not where each stopped; None leaves the model's own.
    `locked`: a stage lock, or the path of one, that what is compared must keep to; a configured one is for runs.
    """
    ours, theirs = load_both(model, compiled_by)
    _set_flags(ours, theirs, ("autoreset", *disable), enable)
    _prepare_solvers(ours, theirs, solver_tolerance)
    call = Config.of_call(backend=backend, precision=precision, keep="computed", locked=locked)
    found = Config.discover() if config is None else config
    merged = Config.merge([call, found.unlocked()])
    recorder = StageRecorder()
    plan = plan_with_holes(ours, merged, nworld=nworld, wrappers=(recorder,))
    wanted = _chooser(stages, plan)
    worst = Worst(ours, plan.precision)
    if compiled_by == "dovetail":
        compiler = Worst(ours)
        compare_models(compiler, ours, theirs)
    bench = _Bench(plan, theirs, recorder, worst)
    rng = np.random.default_rng(seed)
    for _ in range(states):
        bench.randomize(rng)
        bench.compare_step()
    bench.randomize(rng)
    for _ in range(steps):
        bench.compare_step()
    rows = (*(compiler.sorted_rows() if compiled_by == "dovetail" else ()), *worst.sorted_rows())
    return ConformReport(
        model=ours.modelname or ours.source,
        plan=plan.headline(),
        implementations={label: choice.record.label for label, choice in plan.choices.items()},
        rows=tuple(row for row in rows if wanted(row.slot)),
        missing=tuple(m.slot for m in plan.missing),
        ignored=(
            *((*IGNORED_FIELDS, *IGNORED_SIZES) if compiled_by == "dovetail" else ("the compiled model",)),
            *UNCOMPARED,
        ),
        states=states,
        steps=steps,
        worlds=nworld or 1,
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


def _set_flags(ours: Model, theirs: Any, disable: Sequence[str], enable: Sequence[str]) -> None:
    for names, bits, option in ((disable, DisableBit, "disableflags"), (enable, EnableBit, "enableflags")):
        mask = _mask(names, bits, option)
        for model in (ours, theirs):
            setattr(model.opt, option, int(getattr(model.opt, option)) | mask)


def _prepare_solvers(ours: Model, theirs: Any, tolerance: float | None) -> None:
    """Let MuJoCo store its constraint Jacobian as dovetail does, and both solve as far as asked."""
    for model in (ours, theirs):
        model.opt.jacobian = int(Jacobian.SPARSE)
        if tolerance is not None:
            model.opt.tolerance = tolerance
            model.opt.iterations = max(int(model.opt.iterations), SOLVER_ITERATIONS)


def _mask(names: Sequence[str], bits: type[Flag], option: str) -> int:
    known = {bit.keyword: int(bit) for bit in bits}
    unknown = [n for n in names if n not in known]
    if unknown:
        raise ValidationError(
            option, [f"unknown flag {n!r}{nearest(n, known)} Flags: {listing(known)}" for n in unknown]
        )
    return sum(known[n] for n in set(names))


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


# ---- the stages


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


class _Bench:
    """Both engines side by side: one MjData per world of our Data."""

    def __init__(self, plan: Plan, theirs: Any, recorder: StageRecorder, worst: Worst) -> None:
        self.mujoco = require_mujoco()
        self.plan, self.theirs, self.recorder, self.worst = plan, theirs, recorder, worst
        self.data = plan.make_data()
        self.batch = plan.nworld is not None
        self.oracles = [self.mujoco.MjData(theirs) for _ in range(plan.nworld or 1)]
        self.last_writer = self._last_writers()

    def _last_writers(self) -> dict[str, str]:
        """The slot after which a field has its final value (rows of a table add to a common sum)."""
        return {
            field: slot.label
            for slot in self.plan.slots
            for field in sorted(slot.in_data)
            if field in DATA_SPECS
        }

    def randomize(self, rng: np.random.Generator) -> None:
        """Another random state in every world."""
        for oracle in self.oracles:
            self.mujoco.mj_resetData(self.theirs, oracle)
            for name, value in random_state(self.plan.model, rng).items():
                getattr(oracle, name)[...] = value

    def compare_step(self) -> None:
        """Inject MuJoCo's state, advance both by a step, compare all that was computed on the way."""
        for name in STATE:
            self._inject(name)
        self.recorder.written.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StateWarning)  # random states may explode, in MuJoCo too
            self.plan.step(self.data)
        for oracle in self.oracles:
            self.mujoco.mj_forward(self.theirs, oracle)
        if any(map(_exploded, self.oracles)):
            return
        integrators = [s for s in self.plan.slots if s.integrates]
        for slot in self.plan.slots:
            if slot not in integrators:
                self._compare(slot, self.recorder.written.get(slot.label, {}))
        for oracle in self.oracles:
            self.mujoco.mj_step(self.theirs, oracle)
        for slot in integrators:
            self._compare(slot, {f: np.array(self.data.field(f)) for f in sorted(slot.leaves)})

    def _inject(self, name: str) -> None:
        if self.batch:
            self.data.field(name)[...] = np.stack([read(d, name) for d in self.oracles])
        else:
            self.data.field(name)[...] = read(self.oracles[0], name)

    def _compare(self, slot: Slot, written: Mapping[str, Array]) -> None:
        for name, value in written.items():
            if self.last_writer.get(name) == slot.label and self._known(name):
                self._compare_field(slot, DATA_SPECS[name], value, written)

    def _known(self, name: str) -> bool:
        """Whether MuJoCo has the field (it does not show which pairs it tests for contact) and gives it a meaning."""
        layouts = (field for matrix in BY_MATRIX for field in SPARSE[matrix])
        if name in layouts or any(fnmatchcase(name, pattern) for pattern in UNCOMPARED):
            return False
        owner, _, field = name.rpartition(".")
        return hasattr(read(self.oracles[0], owner) if owner else self.oracles[0], field)

    def _compare_field(self, slot: Slot, spec: FieldSpec, value: Array, written: Mapping[str, Array]) -> None:
        reference = slot.record.backend == REFERENCE
        if spec.name in BY_MATRIX:
            self._compare_matrix(slot, spec, written)
            return
        if not has_room(spec):
            theirs = [_shaped(read(d, spec.name), value.shape[self.batch :]) for d in self.oracles]
            expected = np.stack(theirs) if self.batch else theirs[0]
            self.worst.add(slot.label, spec, value, expected, reference=reference, batch=self.batch)
            return
        for world, oracle in enumerate(self.oracles):
            own = value[world] if self.batch else value
            get = _reader(oracle)
            expected = _shaped(read(oracle, spec.name), (-1, *own.shape[1:]))
            self.worst.add(
                slot.label,
                spec,
                meaningful(spec, own, get),
                meaningful(spec, expected, get),
                reference=reference,
                world=world if self.batch else None,
            )

    def _compare_matrix(self, slot: Slot, spec: FieldSpec, written: Mapping[str, Array]) -> None:
        """Compare a matrix written out; a backend whose rows are full writes no layout."""
        nv, reference = int(self.theirs.nv), slot.record.backend == REFERENCE
        parts = {name: written.get(name, self.data.field(name)) for name in (spec.name, *SPARSE[spec.name])}
        for world, oracle in enumerate(self.oracles):
            own = {name: np.asarray(part[world] if self.batch else part) for name, part in parts.items()}
            ours, theirs = (written_out(spec.name, get, nv) for get in (own.__getitem__, _reader(oracle)))
            self.worst.add(
                slot.label, spec, ours, theirs, reference=reference, world=world if self.batch else None
            )


def _exploded(oracle: Any) -> bool:
    """Whether MuJoCo itself would give this world up: its numbers say nothing any more."""
    return any(_undefined(np.asarray(value)).any() for value in (oracle.qpos, oracle.qvel, oracle.qacc))


def _shaped(value: Any, shape: tuple[int, ...]) -> Array:
    """MuJoCo's array in our shape (its bindings show some matrices flat)."""
    return np.asarray(value).reshape(shape)


def _reader(oracle: Any) -> Getter:
    return lambda name: np.asarray(read(oracle, name))

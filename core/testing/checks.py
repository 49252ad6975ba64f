"""The house checks: small functions that raise AssertionError if an implementation breaks a rule.

Each takes a Subject (a record, its registry, models to try) and is usable by itself:

    from dovetail.testing.checks import check_writes_only_declared
    check_writes_only_declared(Subject.of(record))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs
import numpy as np

from dovetail import pipeline
from dovetail.backend import REFERENCE
from dovetail.compare.ab import compare
from dovetail.compare.errors import Worst, compare_data, getter, has_room, meaningful
from dovetail.contracts.fields import Array
from dovetail.contracts.sizes import CAPACITIES
from dovetail.contracts.types import DATA_SPECS, Data
from dovetail.errors import DovetailError, PluginError
from dovetail.testing import invariants
from dovetail.testing.cases import BATCH, Case, NotApplicableError, Subject
from dovetail.testing.measured import Measured
from dovetail.testing.samples import ZERO_SIZED, compiled

Check = Callable[[Subject], list[Measured]]
"""Raises AssertionError where a rule is broken; gives what was measured where it is kept."""

POISON_INT = -(2**30)
"""What undeclared integers are set to: as an index or a count it cannot go unnoticed."""

LONGEST_SUMMARY = 100


# ---- the record


def check_summary(subject: Subject) -> list[Measured]:
    """The record says in one line what it does."""
    summary = subject.record.summary
    assert summary.strip(), f"{_named(subject)} has no summary"
    assert "\n" not in summary, f"{_named(subject)}: the summary has more than one line"
    assert len(summary) <= LONGEST_SUMMARY, f"{_named(subject)}: the summary has {len(summary)} characters"
    return []


def check_target(subject: Subject) -> list[Measured]:
    """The target can be imported and its signature fits the stage."""
    record = subject.record
    target = record.load()
    subject.registry.backend(record.backend).check(record, pipeline.stage(record.stage), target)
    return []


# ---- what it computes


def check_agrees_with_reference(subject: Subject) -> list[Measured]:
    """At random states it gives what the NumPy implementation of the same name gives, within tolerance."""
    record = subject.record
    sibling = subject.registry.find(record.slot, record.name, REFERENCE)
    if sibling is None or sibling.label == record.label:
        raise NotApplicableError(
            f"{_named(subject)} has no NumPy implementation of the same name to agree with"
        )
    found = []
    for case in subject.cases(BATCH):
        report = compare(
            case.model,
            record.slot,
            sibling.label,
            record.label,
            steps=3,
            nworld=BATCH,
            registry=subject.registry,
        )
        assert not report.failures, report.table()
        if not report.nothing:
            found += [Measured(report.model, row.field, row.error, row.tolerance) for row in report.rows]
    if not found:
        raise NotApplicableError(
            f"{_named(subject)} had nothing to compute on any model, so nothing was compared"
        )
    return found


def check_writes_only_declared(subject: Subject) -> list[Measured]:
    """After it ran, every field it does not declare, and the whole Model, have the same bits as before."""
    found = []
    for case in subject.cases():
        before = case.inputs()
        model = _model_bits(case)
        after = case.outputs(before)
        changed = _different(before, after, _outside(before, case.isolated.leaves))
        assert not changed, f"{case.subject} changes fields it does not declare: {', '.join(changed)}"
        assert model == _model_bits(case), f"{case.subject} changes the Model"
        found.append(_same_bits(case))
    return found


def check_reads_only_declared(subject: Subject) -> list[Measured]:
    """With every undeclared field poisoned (NaN, absurd integers) it gives the same bits."""
    found = []
    for case in subject.cases():
        isolated = case.isolated
        inputs = case.inputs()
        poisoned = inputs.copy()
        poison(poisoned, _outside(inputs, isolated.reads | isolated.leaves))
        try:
            after = case.outputs(poisoned)
        except (IndexError, ValueError, FloatingPointError) as error:
            raise AssertionError(f"{case.subject} reads fields it does not declare: {error}") from error
        changed = _different(case.outputs(inputs), after, isolated.leaves)
        assert not changed, (
            f"{case.subject} reads undeclared fields: poisoned, they change {', '.join(changed)}"
        )
        found.append(_same_bits(case))
    return found


def check_touches_only_declared(subject: Subject) -> list[Measured]:
    """On a Data that raises when an undeclared field is touched, and is read-only where no write is declared, it runs
    and gives the same bits. Builders of kernels are held to that whenever a plan is made."""
    if subject.record.backend != REFERENCE:
        raise NotApplicableError(f"{_named(subject)}: a kernel cannot be built that touches other fields")
    found = []
    plain = {case.model.modelname: case for case in subject.cases()}
    for case in subject.cases(strict=True):
        inputs = case.inputs()
        try:
            after = case.outputs(inputs)
        except PluginError as error:
            raise AssertionError(str(error)) from error
        changed = _different(after, plain[case.model.modelname].outputs(inputs), case.isolated.leaves)
        assert not changed, f"{case.subject} gives other bits when it is watched: {', '.join(changed)}"
        found.append(_same_bits(case))
    return found


def check_deterministic(subject: Subject) -> list[Measured]:
    """Run twice on the same inputs it gives the same bits."""
    found = []
    for case in subject.cases():
        inputs = case.inputs()
        changed = _different(case.outputs(inputs), case.outputs(inputs), case.isolated.leaves)
        assert not changed, f"{case.subject} gives other bits the second time: {', '.join(changed)}"
        found.append(_same_bits(case))
    return found


def check_independent_of_world_count(subject: Subject) -> list[Measured]:
    """A world gives the same bits alone and at any place in a batch."""
    found = []
    batched = {case.model.modelname: case for case in subject.cases(BATCH)}
    for single in subject.cases():
        batch = batched[single.model.modelname]
        many = batch.outputs(batch.inputs())
        for place in (0, BATCH // 2, BATCH - 1):
            one = single.outputs(single.inputs(place))
            changed = _different(one, many.world(place), single.isolated.leaves)
            assert not changed, (
                f"{single.subject}: world {place} of {BATCH} has other bits than the same world alone: "
                f"{', '.join(changed)}"
            )
        found.append(_same_bits(single))
    return found


def check_any_order_of_worlds(subject: Subject) -> list[Measured]:
    """With the worlds of a batch in another order, each gives the same bits as before."""
    order = np.random.default_rng(0).permutation(BATCH)
    found = []
    for case in subject.cases(BATCH):
        inputs = case.inputs()
        moved = inputs.copy()
        for name, view in inputs.fields():
            moved.field(name)[...] = np.asarray(view)[order]
        before, after = case.outputs(inputs), case.outputs(moved)
        for place, source in enumerate(order.tolist()):
            changed = _different(before.world(source), after.world(place), case.isolated.leaves)
            assert not changed, (
                f"{case.subject}: a world has other bits as number {place} of {BATCH} than as number {source}: "
                f"{', '.join(changed)}"
            )
        found.append(_same_bits(case))
    return found


def check_threads(subject: Subject) -> list[Measured]:
    """On two threads it gives the same bits as on one."""
    if subject.registry.backend(subject.record.backend).in_place:
        raise NotApplicableError(f"{_named(subject)}: its backend runs worlds one after another")
    found = []
    alone = {case.model.modelname: case for case in subject.cases(BATCH)}
    for case in subject.cases(BATCH, threads=2):
        one = alone[case.model.modelname]
        changed = _different(one.outputs(one.inputs()), case.outputs(one.inputs()), case.isolated.leaves)
        assert not changed, f"{case.subject}: other bits on two threads than on one: {', '.join(changed)}"
        found.append(_same_bits(case))
    return found


def check_single_precision(subject: Subject) -> list[Measured]:
    """In single precision it gives what it gives in double precision for the same (rounded) inputs, within the
    tolerance of single precision."""
    found = []
    double = {case.model.modelname: case for case in subject.cases()}
    for case in subject.cases(precision="f32"):
        exact = double[case.model.modelname]
        rounded, inputs = exact.inputs(), case.inputs()
        inputs.reserve(**{name: rounded.sizes.get(name, 0) for name in CAPACITIES})
        for name, view in rounded.fields():
            part = slice(len(view)) if view.ndim else ...
            inputs.field(name)[part] = view  # growing fields may have more room here
            view[...] = inputs.field(name)[part]
        worst = Worst(case.model, "f32")
        compare_data(
            worst,
            subject.record.slot,
            _real(case),
            case.outputs(inputs),
            exact.outputs(rounded),
            reference=False,
        )
        rows = worst.sorted_rows()
        assert all(row.ok for row in rows), f"{case.subject} in f32: " + "; ".join(
            str(row) for row in rows if not row.ok
        )
        found += [Measured(case.model.modelname, row.field, row.error, row.tolerance) for row in rows]
    return found


def check_invariants(subject: Subject) -> list[Measured]:
    """What must hold of the stage's results, whoever computed them, holds: in its results, and in simple motions."""
    slot = subject.record.slot
    if slot not in invariants.AFTER and slot not in invariants.MOTIONS:
        raise NotApplicableError(f"{_named(subject)}: no invariant of {slot} is known")
    # one that reads nothing but the smooth acceleration is for models without constraints
    solves = slot != "solve_constraints" or subject.record.reads is None or len(subject.record.reads) > 1
    found = invariants.of_motions(slot, lambda text: _simulation(subject, text)) if solves else []
    if slot in invariants.AFTER:
        for case in subject.cases():
            after = case.outputs(case.inputs())
            found += invariants.of_results(slot, case.isolated.leaves, case.model, after)
    broken = [one for one in found if not one.ok]
    assert not broken, f"{_named(subject)} breaks an invariant: " + "; ".join(map(str, broken))
    if not found:
        raise NotApplicableError(
            f"{_named(subject)} leaves in Data none of the fields that the invariants are about"
        )
    return found


def check_error_texts(subject: Subject) -> list[Measured]:
    """With its fields withheld it fails, and the error names stage, implementation and package: it catches nothing
    that its user should see."""
    for case in subject.cases(strict=True):
        error = _error_without_fields(case, subject)
        if error is None:
            continue
        told = "\n".join([str(error), *getattr(error, "__notes__", ())])
        record = case.isolated.slot.record
        absent = [word for word in (record.stage, record.name, record.provider) if word not in told]
        assert not absent, f"{case.subject}: the error {error!r} does not name {', '.join(absent)}"
        return [Measured(case.model.modelname, "names stage, implementation and package")]
    declared = case.isolated.slot.reads | case.isolated.slot.writes
    assert not declared, f"{case.subject} goes on when its fields are withheld; does it catch exceptions?"
    return []


def _error_without_fields(case: Case, subject: Subject) -> Exception | None:
    """What comes of a slot that declares nothing, if anything."""
    plan, slot = case.isolated.plan, case.isolated.slot
    withheld = attrs.evolve(slot, reads=frozenset(), writes=frozenset(), zero=())
    segment = attrs.evolve(plan.segment(plan.flow_of([slot]), 0), slots=(withheld,))
    backend: Any = subject.registry.backend(slot.record.backend)
    inputs = case.inputs()
    try:
        if backend.in_place:
            backend.compile(segment)(inputs, 1, 0)
        else:
            backend.inspect(segment)
    except Exception as error:
        return error
    return None


def _simulation(subject: Subject, text: str) -> Any:
    """A run with the implementation, the reference around it."""
    from dovetail.config import Config
    from dovetail.planning.planner import compile_plan

    record = subject.record
    config = Config.of_call({record.slot: record.label}, backend=REFERENCE, keep="all")
    try:
        plan = compile_plan(compiled(text), config, registry=subject.registry)
    except DovetailError as error:
        raise NotApplicableError(
            f"{_named(subject)} does not run in the model of the invariant: {error}"
        ) from None
    return _Run(plan)


class _Run:
    """A plan with its Data, to be stepped."""

    def __init__(self, plan: Any) -> None:
        self.plan, self.data = plan, plan.make_data()

    def step(self, nstep: int) -> None:
        self.plan.step(self.data, nstep)

    def forward(self) -> None:
        self.plan.forward(self.data)


def _real(case: Case) -> list[Any]:
    """What it leaves, real numbers only: where single precision counts other contacts, entries have no partner."""
    specs = case.isolated.written_specs
    return [s for s in specs if s.buffer == "real" and not has_room(s)]


def _same_bits(case: Case) -> Measured:
    return Measured(case.model.modelname, "bits")


def check_zero_sizes(subject: Subject) -> list[Measured]:
    """On models without joints or without actuators it runs, if it is needed there, and leaves finite numbers."""
    found = []
    for case in subject.possible_cases(names=ZERO_SIZED):
        after = case.outputs(case.inputs())
        bad = [n for n in case.isolated.leaves if n in after and not np.isfinite(_numbers(after, n)).all()]
        assert not bad, f"{case.subject} leaves NaN or infinity in {', '.join(sorted(bad))}"
        found.append(Measured(case.model.modelname, "finite"))
    return found


RECORD_CHECKS: tuple[Check, ...] = (check_summary, check_target)
RUN_CHECKS: tuple[Check, ...] = (
    check_agrees_with_reference,
    check_writes_only_declared,
    check_reads_only_declared,
    check_touches_only_declared,
    check_deterministic,
    check_independent_of_world_count,
    check_any_order_of_worlds,
    check_zero_sizes,
)
FURTHER_CHECKS: tuple[Check, ...] = (
    check_threads,
    check_single_precision,
    check_invariants,
    check_error_texts,
)
"""What a certificate needs besides: these compile kernels of their own, or simulate."""

OF_KERNELS = (check_agrees_with_reference, check_threads)
"""Checks that say nothing about the reference."""


def checks_for(subject: Subject, *, further: bool = False) -> tuple[Check, ...]:
    """The checks that concern a record: not those on running for what runs only while a model is compiled, and no
    agreement with the reference for the reference. `further`: all that a certificate needs."""
    if pipeline.stage(subject.record.stage).phase == "compile":
        return RECORD_CHECKS
    every = (*RECORD_CHECKS, *RUN_CHECKS, *(FURTHER_CHECKS if further else ()))
    if subject.record.backend == REFERENCE:
        return tuple(check for check in every if check not in OF_KERNELS)
    return tuple(check for check in every if check is not check_touches_only_declared)


# ---- helpers


def poison(data: Data, fields: Iterable[str]) -> None:
    """Fill fields with values that spoil every result they enter."""
    for name in fields:
        view = data.field(name)
        kind = view.dtype.kind
        view[...] = np.nan if kind == "f" else POISON_INT if kind == "i" else 255


def _outside(data: Data, declared: Iterable[str]) -> list[str]:
    names = set(declared)
    return [name for name, _ in data.fields() if name not in names]


def _numbers(data: Data, name: str) -> Array:
    return np.ascontiguousarray(np.asarray(data.field(name)))


def _different(a: Data, b: Data, names: Iterable[str]) -> list[str]:
    """Fields whose bits differ; how many entries of growing arrays count, the first Data says."""
    return sorted(n for n in names if n in a and n in b and _bits(a, n, a) != _bits(b, n, a))


def _bits(data: Data, name: str, counts: Data) -> list[bytes]:
    """A field's bits in every world, without what is only room for more entries."""
    spec = DATA_SPECS.get(name)
    if spec is None or not has_room(spec):
        return [_numbers(data, name).tobytes()]
    pairs = zip(data.worlds(), counts.worlds(), strict=True)
    return [meaningful(spec, _numbers(world, name), getter(counted)).tobytes() for world, counted in pairs]


def _model_bits(case: Case) -> dict[str, bytes]:
    return {dtype: np.ascontiguousarray(buffer).tobytes() for dtype, buffer in case.model.buffers.items()}


def _named(subject: Subject) -> str:
    return f"{subject.record.slot} {subject.record.label}"

"""The house checks: small functions that raise AssertionError if an implementation breaks a rule.

Each takes a Subject (a record, its registry, models to try) and is usable by itself:

    from dovetail.testing.checks import check_writes_only_declared
    check_writes_only_declared(Subject.of(record))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from dovetail import pipeline
from dovetail.backend import REFERENCE
from dovetail.compare.ab import compare
from dovetail.compare.errors import getter, has_room, meaningful
from dovetail.contracts.fields import Array
from dovetail.contracts.types import DATA_SPECS, Data
from dovetail.testing.cases import BATCH, Case, NotApplicableError, Subject
from dovetail.testing.samples import ZERO_SIZED

Check = Callable[[Subject], None]

POISON_INT = -(2**30)
"""What undeclared integers are set to: as an index or a count it cannot go unnoticed."""

LONGEST_SUMMARY = 100


# ---- the record


def check_summary(subject: Subject) -> None:
    """The record says in one line what it does."""
    summary = subject.record.summary
    assert summary.strip(), f"{_named(subject)} has no summary"
    assert "\n" not in summary, f"{_named(subject)}: the summary has more than one line"
    assert len(summary) <= LONGEST_SUMMARY, f"{_named(subject)}: the summary has {len(summary)} characters"


def check_target(subject: Subject) -> None:
    """The target can be imported and its signature fits the stage."""
    record = subject.record
    target = record.load()
    subject.registry.backend(record.backend).check(record, pipeline.stage(record.stage), target)


# ---- what it computes


def check_agrees_with_reference(subject: Subject) -> None:
    """At random states it gives what the NumPy implementation of the same name gives, within tolerance."""
    record = subject.record
    sibling = subject.registry.find(record.slot, record.name, REFERENCE)
    if sibling is None or sibling.label == record.label:
        raise NotApplicableError(
            f"{_named(subject)} has no NumPy implementation of the same name to agree with"
        )
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
        assert report.ok, report.table()


def check_writes_only_declared(subject: Subject) -> None:
    """After it ran, every field it does not declare, and the whole Model, have the same bits as before."""
    for case in subject.cases():
        before = case.inputs()
        model = _model_bits(case)
        after = case.outputs(before)
        changed = _different(before, after, _outside(before, case.isolated.leaves))
        assert not changed, f"{case.subject} changes fields it does not declare: {', '.join(changed)}"
        assert model == _model_bits(case), f"{case.subject} changes the Model"


def check_reads_only_declared(subject: Subject) -> None:
    """With every undeclared field poisoned (NaN, absurd integers) it gives the same bits."""
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


def check_deterministic(subject: Subject) -> None:
    """Run twice on the same inputs it gives the same bits."""
    for case in subject.cases():
        inputs = case.inputs()
        changed = _different(case.outputs(inputs), case.outputs(inputs), case.isolated.leaves)
        assert not changed, f"{case.subject} gives other bits the second time: {', '.join(changed)}"


def check_independent_of_world_count(subject: Subject) -> None:
    """A world gives the same bits alone and at any place in a batch."""
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


def check_zero_sizes(subject: Subject) -> None:
    """On models without joints or without actuators it runs, if it is needed there, and leaves finite numbers."""
    for case in subject.possible_cases(names=ZERO_SIZED):
        after = case.outputs(case.inputs())
        bad = [n for n in case.isolated.leaves if n in after and not np.isfinite(_numbers(after, n)).all()]
        assert not bad, f"{case.subject} leaves NaN or infinity in {', '.join(sorted(bad))}"


RECORD_CHECKS: tuple[Check, ...] = (check_summary, check_target)
RUN_CHECKS: tuple[Check, ...] = (
    check_agrees_with_reference,
    check_writes_only_declared,
    check_reads_only_declared,
    check_deterministic,
    check_independent_of_world_count,
    check_zero_sizes,
)


def checks_for(subject: Subject) -> tuple[Check, ...]:
    """The checks that concern a record: not those on running for what runs only while a model is compiled, and no
    agreement with the reference for the reference."""
    if pipeline.stage(subject.record.stage).phase == "compile":
        return RECORD_CHECKS
    if subject.record.backend == REFERENCE:
        return (*RECORD_CHECKS, *(c for c in RUN_CHECKS if c is not check_agrees_with_reference))
    return (*RECORD_CHECKS, *RUN_CHECKS)


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

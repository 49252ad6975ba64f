"""Two implementations of one stage on the same inputs: how far apart, and which is quicker.

Along a trajectory that the reference drives, both run on copies of the Data as it is before the stage. Their
outputs are compared with the one definition of error; their times are taken in pairs, in alternating order, so
that a change of the machine's speed meets both. Implementations that share kernel fields are compared together: on
both sides all stages that one of them takes along run, and all that they leave is compared.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from dovetail import pipeline
from dovetail.arguments import instance, whole
from dovetail.backend import REFERENCE
from dovetail.compare.errors import FieldError, Worst, comparable, compare_data
from dovetail.compare.evidence import Evidence, why_nothing
from dovetail.compare.isolate import Isolated, Worlds, common_lanes, copy_into, isolate, shared_data
from dovetail.compare.reports import Report
from dovetail.compare.run_starts import AnyStart, begin_at, said_starts
from dovetail.compare.tables import error_table
from dovetail.contracts.choices import Precision
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.types import Data, Model
from dovetail.errors import SelectionError
from dovetail.implementation import Implementation
from dovetail.registry import Registry, default_registry

NOTHING_COMPARED = 3
"""The exit code of a comparison that met nothing to compare."""
NOTABLE = 1.1
"""Times that are closer to each other than this ratio count as the same: the machine's own changes are as large."""


@attrs.frozen(kw_only=True)
class ABReport(Report):
    """Errors of `b` relative to `a`, field by field, and the times of both."""

    model: str
    stage: str
    a: str
    b: str
    rows: tuple[FieldError, ...]
    comparisons: int
    worlds: int
    precision: str
    microseconds_a: float
    """Median time of one call, all worlds together."""
    microseconds_b: float
    speedup: float
    """Median over pairs of time(a) / time(b): above 1, b is quicker."""
    starts: tuple[str, ...] = ()
    """Where the trajectories began."""
    missing: tuple[str, ...] = ()
    """Stages the model needs that nothing implements; the trajectory ran without them."""
    nothing: str = ""
    """Why nothing was compared: neither agreement nor difference."""

    @property
    def ok(self) -> bool:
        """Whether something was compared, and every field is within its tolerance."""
        return not self.failures and not self.nothing

    @property
    def exit_code(self) -> int:
        """0 they agree, 1 they differ, 3 nothing was compared."""
        return 0 if self.ok else 1 if self.failures else NOTHING_COMPARED

    def worst(self) -> float:
        """The largest error of all fields."""
        return max((row.error for row in self.rows), default=0.0)

    def verdict(self) -> str:
        """Who was compared, and whether they agree."""
        agree = f"differ in {len(self.failures)} field(s)" if self.failures else "agree"
        if self.nothing and not self.failures:
            agree = f"were not compared: {self.nothing}"
        return f"{self.model}, {self.stage}: {self.a} and {self.b} {agree}"

    def headline(self) -> str:
        begun = f" from {', '.join(self.starts)}" if self.starts else ""
        return f"{self.verdict()}; {self.comparisons} comparisons{begun} in {self.worlds} world(s), {self.precision}"

    def times(self) -> str:
        """Both times, and which of the two is the quicker one."""
        first, second = f"{self.microseconds_a:.1f} µs", f"{self.microseconds_b:.1f} µs"
        return f"time per call: {self.a} {first}, {self.b} {second}; {self.quicker()}"

    def quicker(self) -> str:
        """Which of the two is quicker, if the times of all calls and those of pairs say the same.

        The ratio is that of the times that stand beside it, so that it can be checked at a glance; `speedup` is the
        median of pairs."""
        if not (self.microseconds_a > 0 and self.microseconds_b > 0):
            return "nothing was timed"
        overall = self.microseconds_a / self.microseconds_b
        agree = (overall > 1 and self.speedup > 1) or (overall < 1 and self.speedup < 1)
        if not agree or max(overall, 1 / overall) < NOTABLE:
            return "no notable difference"
        winner, other = (self.b, self.a) if overall > 1 else (self.a, self.b)
        ratio = max(overall, 1 / overall)
        if winner == other:
            return "no notable difference"
        return f"{winner} is {ratio:{'.0f' if ratio >= 10 else '.1f'}} times as fast as {other}"

    def table(self) -> str:
        parts = [
            self.headline(),
            error_table(self.rows),
            self.times(),
        ]
        if self.missing:
            parts.append(f"the trajectory ran without missing stages: {', '.join(self.missing)}")
        return "\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        return {
            **attrs.asdict(self, filter=lambda attribute, _: attribute.name != "rows"),
            "missing": list(self.missing),
            "starts": list(self.starts),
            "ok": self.ok,
            "rows": self.rows_as_dicts(),
        }


def compare(
    model: Model | str | Path,
    stage: str,
    a: str,
    b: str,
    *,
    steps: int = 100,
    seed: int = 0,
    nworld: int | None = None,
    precision: Precision = "f64",
    threads: int = 1,
    repeat: int = 1,
    registry: Registry | None = None,
    start: AnyStart | Sequence[AnyStart] = "random",
) -> ABReport:
    """Compare implementations `a` (the authority) and `b`, each `name@backend`, of a stage or row
    (`passive_force:spring`, `actuator_gain:affine`) along `steps` steps from each start. For a stage that takes
    part in loading (`mesh_inertia:exact`) the model, a file or MJCF text, is loaded with each instead.

    `start`: `random`, `near` the model's pose, at `rest` in it, a keyframe's name or number, the file of a saved
    state; or several of these. `repeat`: timed runs of each per comparison.
    """
    _check_arguments(stage, a, b, steps=steps, seed=seed, repeat=repeat)
    if registry is not None:
        instance("registry", registry, Registry, "a Registry, or None")
    registry, starts = registry or default_registry(), said_starts(start)
    if works_in_loading(stage):
        from dovetail.compare.compiled import compare_loading

        return compare_loading(model, stage, a, b, repeat=repeat, registry=registry)
    if not isinstance(model, Model):
        from dovetail.loading import load

        model = load(model)
    pair = _Pair.of(
        model, stage, (a, b), Worlds(nworld=nworld, precision=precision, threads=threads), registry
    )
    data = shared_data(model, pair.worlds, registry)
    for begun in starts:
        begin_at(data, begun, seed)
        for _ in range(steps):
            for evaluation in range(pair.first.plan.evaluations):
                pair.first.prepare(data, evaluation)
                pair.compare(data, evaluation, repeat)
                pair.first.run(data, evaluation)
                pair.first.finish(data, evaluation)
    return pair.report([str(begun) for begun in starts])


def _check_arguments(*labels: object, steps: object, seed: object, repeat: object) -> None:
    for label in labels:
        instance("stage, a or b", label, str, "text, as 'mass_matrix' and 'crb@numpy'")
    whole("steps", steps, 0, "STEPS")
    whole("seed", seed, 0)
    whole("repeat", repeat, 1, "STEPS")


def works_in_loading(slot: str) -> bool:
    """Whether a slot works only while models are loaded."""
    stage = pipeline.stage(slot.partition(":")[0])
    return stage.phase == "compile"


def dispatched(record: Implementation, registry: Registry) -> tuple[str, str, dict[str, str]]:
    """The slot in which a record can run, its label there, and further choices: a part runs inside its dispatcher.

    The dispatcher is the default one on the record's backend.
    """
    stage = pipeline.stage(record.stage)
    if stage.part_of is None:
        return record.slot, record.label, {}
    candidates = [r for r in registry.of(stage.part_of) if r.backend == record.backend]
    if not candidates:
        raise SelectionError(
            f"{record.slot} {record.label} runs inside {stage.part_of}, which has no {record.backend} implementation"
        )
    dispatcher = next((r for r in candidates if r.default), candidates[0])
    return stage.part_of, dispatcher.label, {record.slot: record.name}


@attrs.define(kw_only=True)
class _Pair:
    """Both implementations isolated, their working copies, and what was measured so far."""

    stage: str
    labels: tuple[str, str]
    worlds: Worlds
    first: Isolated
    second: Isolated
    worst: Worst
    reference: bool
    copies: tuple[Data, Data]
    seconds: tuple[list[float], list[float]] = attrs.field(factory=lambda: ([], []))
    comparisons: int = 0
    evidence: Evidence = attrs.field(factory=Evidence)

    @classmethod
    def of(
        cls, model: Model, stage: str, labels: tuple[str, str], worlds: Worlds, registry: Registry
    ) -> _Pair:
        pipeline.stage(stage.partition(":")[0])
        records = [registry.get(stage, label) for label in labels]
        worlds = attrs.evolve(worlds, lanes=common_lanes(records, worlds, registry))
        sides = [_isolated(model, record, worlds, registry) for record in records]
        span = [slot.label for side in sides for slot in side.span]
        if {slot.label for slot in sides[0].span} != {slot.label for slot in sides[1].span}:
            sides = [_isolated(model, record, worlds, registry, span) for record in records]
        counts = [side.plan.evaluations for side in sides]
        if counts[0] != counts[1]:
            raise SelectionError(
                f"{stage}: {labels[0]} needs {counts[0]} evaluation(s) per step and {labels[1]} {counts[1]}, so "
                "they cannot be compared call by call; run a Simulation with each and use dovetail.compare.diff"
            )
        return cls(
            stage=stage,
            labels=labels,
            worlds=worlds,
            first=sides[0],
            second=sides[1],
            worst=Worst(model, worlds.precision),
            reference=records[0].backend == records[1].backend == REFERENCE,
            copies=(shared_data(model, worlds, registry), shared_data(model, worlds, registry)),
        )

    def compare(self, data: Data, evaluation: int, repeat: int) -> None:
        """Run both on the same inputs, compare, and time them."""
        if not self.comparisons:
            self._run(data, evaluation)  # compiles and warms up, so its times do not count
        for _ in range(repeat):
            times = self._run(data, evaluation)
            for seconds, elapsed in zip(self.seconds, times, strict=True):
                seconds.append(elapsed)
            self.comparisons += 1
        theirs, ours = self.copies
        specs = self._common_specs()
        self.evidence.look(specs, theirs)
        self.evidence.look(specs, ours)
        compare_data(self.worst, self.stage, specs, ours, theirs, reference=self.reference)

    def _common_specs(self) -> list[FieldSpec]:
        """What both write; fields that only one of them has cannot be compared."""
        second = {spec.name for spec in self.second.written_specs}
        common = [spec for spec in self.first.written_specs if spec.name in second]
        return common if self.stage == "broadphase" else comparable(common, self.reference)

    def _run(self, data: Data, evaluation: int) -> tuple[float, float]:
        """Both on copies of the same inputs, the first one first every other time; their durations."""
        durations = [0.0, 0.0]
        order = (0, 1) if self.comparisons % 2 == 0 else (1, 0)
        for index in order:
            copy_into(self.copies[index], data)
            side = (self.first, self.second)[index]
            start = time.perf_counter()
            side.run(self.copies[index], evaluation)
            durations[index] = time.perf_counter() - start
        return durations[0], durations[1]

    def report(self, starts: Sequence[str] = ()) -> ABReport:
        ratios = [a / b for a, b in zip(*self.seconds, strict=True) if b > 0.0]
        return ABReport(
            model=self.first.plan.model.modelname or self.first.plan.model.source,
            stage=self.stage,
            a=self.labels[0],
            b=self.labels[1],
            rows=self.worst.sorted_rows(),
            comparisons=self.comparisons,
            worlds=self.worlds.nworld or 1,
            precision=self.worlds.precision,
            microseconds_a=1e6 * median(self.seconds[0]),
            microseconds_b=1e6 * median(self.seconds[1]),
            speedup=median(ratios),
            starts=tuple(starts),
            missing=tuple(m.slot for m in self.first.plan.missing),
            nothing="" if self.evidence.found else why_nothing(self.first.slot.label),
        )


def _isolated(
    model: Model, record: Implementation, worlds: Worlds, registry: Registry, span: Sequence[str] = ()
) -> Isolated:
    slot, label, stages = dispatched(record, registry)
    return isolate(model, slot, label, worlds, registry=registry, stages=stages, span=span)


def median(values: list[float]) -> float:
    """The median, or NaN of nothing."""
    return statistics.median(values) if values else float("nan")

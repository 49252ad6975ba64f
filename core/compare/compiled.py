"""Two implementations of a stage that takes part in loading: the model is loaded with each, and the Models compared.

Every field of the Model is compared with the one definition of error; the report lists those that are not the same.
The times are those of loading, taken in pairs, in alternating order.
"""

from __future__ import annotations

import time
from pathlib import Path

import attrs
import numpy as np

from dovetail import pipeline
from dovetail.compare.ab import ABReport, median
from dovetail.compare.errors import FieldError, Worst
from dovetail.contracts.types import MODEL_SPECS, Model
from dovetail.errors import SelectionError, listing
from dovetail.loading import load, loads
from dovetail.registry import Registry

TEXT = "<"
"""What MJCF text begins with, and no path does."""


@attrs.frozen(kw_only=True)
class LoadingReport(ABReport):
    """Errors of the Model loaded with `b` relative to that loaded with `a`, where they differ, and both times."""

    def headline(self) -> str:
        fields = (
            f"{len(MODEL_SPECS)} fields of the Model, {len(MODEL_SPECS) - len(self.rows)} of them identical"
        )
        return f"{self.verdict()}; {fields}"

    def times(self) -> str:
        first, second = self.microseconds_a / 1000.0, self.microseconds_b / 1000.0
        return f"time to load: with {self.a} {first:.2f} ms, with {self.b} {second:.2f} ms; {self.quicker()}"


def compare_loading(
    source: Model | str | Path, slot: str, a: str, b: str, *, repeat: int = 1, registry: Registry
) -> LoadingReport:
    """Load a file or MJCF text with each choice for a stage or row, and compare all fields of the two Models."""
    if isinstance(source, Model):
        raise SelectionError(
            f"{slot} takes part in loading, and this Model is loaded already; give compare the model's file or its "
            "MJCF text, so that it can be loaded with each"
        )
    pair = _Pair(source, slot, (a, b), registry)
    pair.load()  # finds modules and files, so its times do not count
    pair.seconds = ([], [])
    for _ in range(repeat):
        pair.load()
    pair.check_use()
    return pair.report()


@attrs.define
class _Pair:
    """A model and two ways to load it."""

    source: str | Path
    slot: str
    choices: tuple[str, str]
    registry: Registry
    models: list[Model] = attrs.field(factory=list)
    seconds: tuple[list[float], list[float]] = attrs.field(factory=lambda: ([], []))

    def load(self) -> None:
        """Both, the first one first every other time."""
        order = (0, 1) if len(self.seconds[0]) % 2 == 0 else (1, 0)
        loaded = {}
        for index in order:
            start = time.perf_counter()
            loaded[index] = self._load(self.choices[index])
            self.seconds[index].append(time.perf_counter() - start)
        self.models = [loaded[0], loaded[1]]

    def _load(self, choice: str) -> Model:
        stages = {self.slot: choice}
        if isinstance(self.source, str) and self.source.lstrip().startswith(TEXT):
            return loads(self.source, stages=stages, registry=self.registry)
        return load(self.source, stages=stages, registry=self.registry)

    def check_use(self) -> None:
        """Refuse to compare what the model does not need."""
        stage = self.slot.partition(":")[0]
        used = [slot for slot in self.models[0].stages if slot.partition(":")[0] == stage]
        whole = pipeline.stage(stage).kind == "table" and self.slot == stage
        names = {choice.partition("@")[0] for choice in self.choices}
        offered = {r.slot for r in self.registry.implementations if not whole or r.name in names}
        if not any(slot in offered if whole else slot == self.slot for slot in used):
            uses = f"It uses {listing(used)}" if used else f"It uses no row of {stage}"
            raise SelectionError(
                f"{self.slot}: the model {self._name} has no use for {' and '.join(self.choices)}, so there is "
                f"nothing to compare. {uses}"
            )

    @property
    def _name(self) -> str:
        return self.models[0].modelname or self.models[0].source

    def report(self) -> LoadingReport:
        ratios = [a / b for a, b in zip(*self.seconds, strict=True) if b > 0.0]
        return LoadingReport(
            model=self._name,
            stage=self.slot,
            a=self.choices[0],
            b=self.choices[1],
            rows=_differences(self.slot, *self.models),
            comparisons=len(self.seconds[0]),
            worlds=1,
            precision="f64",
            microseconds_a=1e6 * median(self.seconds[0]),
            microseconds_b=1e6 * median(self.seconds[1]),
            speedup=median(ratios),
        )


def _differences(slot: str, theirs: Model, ours: Model) -> tuple[FieldError, ...]:
    """The fields that are not the same, `theirs` the authority."""
    worst = Worst(theirs)
    for name, spec in MODEL_SPECS.items():
        a, b = np.asarray(ours.field(name)), np.asarray(theirs.field(name))
        if not np.array_equal(a, b):
            worst.add(slot, spec, a, b)
    return worst.sorted_rows()

"""One implementation on one model, isolated: inputs by the reference, then the slot alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail import pipeline
from dovetail.backend import REFERENCE
from dovetail.compare.ab import dispatched
from dovetail.compare.isolate import Isolated, Worlds, common_lanes, isolate, shared_data
from dovetail.compare.states import random_state, set_state
from dovetail.errors import SelectionError
from dovetail.planning.needs import ModelFacts
from dovetail.registry import Registry, default_registry
from dovetail.testing.samples import FURTHER, LIGHT, SAMPLES, compiled

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model
    from dovetail.implementation import Implementation

BATCH = 11
"""Worlds of a batch in the checks: more than a tile holds in double precision, and no multiple of it."""


class NotApplicableError(Exception):
    """No model at hand makes this implementation run."""


@attrs.frozen(kw_only=True)
class Subject:
    """What is checked: a record, the registry that knows it, and the models to try it on."""

    record: Implementation
    registry: Registry = attrs.field(eq=False, repr=False)
    models: Mapping[str, str] = attrs.field(factory=lambda: SAMPLES, eq=False, repr=False)
    further: Mapping[str, str] = attrs.field(factory=lambda: FURTHER, eq=False, repr=False)
    """Models with constraints and sensors, tried if none of `models` makes the implementation run."""

    @classmethod
    def of(
        cls,
        record: Implementation,
        *,
        registry: Registry | None = None,
        models: Mapping[str, str] | None = None,
        further: Mapping[str, str] = FURTHER,
    ) -> Subject:
        return cls(
            record=record,
            registry=registry_with(record, registry or default_registry()),
            models={**SAMPLES, **(models or {})},
            further=further,
        )

    def cases(self, nworld: int | None = None, **how: Any) -> Iterator[Case]:
        """A case per model that makes the implementation run; an error if there is none. `how`: precision, threads or
        strict of `Worlds`."""
        worlds = Worlds(nworld=nworld, **how)
        found = False
        for case in self._possible(worlds) or self._further_cases(worlds):
            found = True
            yield case
        if not found:
            names = ", ".join((*self.models, *self.further))
            raise NotApplicableError(
                f"{self.record.slot} {self.record.label}: none of the models {names} makes it "
                "run; give one with parametrize_with_checks(..., models={'name': mjcf_text})"
            )

    def possible_cases(self, nworld: int | None = None, names: tuple[str, ...] | None = None) -> list[Case]:
        """A case per model, or per named model, that makes the implementation run; maybe none."""
        return self._possible(Worlds(nworld=nworld), names)

    def _possible(self, worlds: Worlds, names: tuple[str, ...] | None = None) -> list[Case]:
        texts = [text for name, text in self.models.items() if names is None or name in names]
        return list(self._cases(texts, worlds))

    def _further_cases(self, worlds: Worlds) -> Iterator[Case]:
        """A case of the first further model that makes the implementation run; one is enough, kernels are slow to
        compile."""
        models = self.further if self.record.backend == REFERENCE else {**LIGHT, **self.further}
        return islice(self._cases(models.values(), worlds), 1)

    def _cases(self, texts: Iterable[str], worlds: Worlds) -> Iterator[Case]:
        for text in texts:
            case = _case(self.record, self.registry, text, worlds)
            if case is not None:
                yield case


@attrs.frozen(kw_only=True, eq=False)
class Case:
    """An isolated implementation on a model."""

    model: Model
    registry: Registry
    worlds: Worlds
    isolated: Isolated

    @property
    def subject(self) -> str:
        """What to call it in messages."""
        record = self.isolated.slot.record
        return f"{self.isolated.slot.label} {record.label} on model {self.model.modelname!r}"

    def inputs(self, first: int = 0) -> Data:
        """A Data as it is before the slot runs, world i in the random state number `first` + i."""
        key = (id(self), first)
        if key not in _inputs:
            while len(_inputs) >= MOST_INPUTS:
                _inputs.pop(next(iter(_inputs)))
            _inputs[key] = self._prepared(first)
        return _inputs[key].copy()

    def _prepared(self, first: int) -> Data:
        data = shared_data(self.model, self.worlds, self.registry)
        for number, world in enumerate(data.worlds(), start=first):
            set_state(world, random_state(self.model, np.random.default_rng(number)))
        self.isolated.prepare(data)
        return data

    def outputs(self, data: Data) -> Data:
        """The Data after the slot ran on a copy."""
        after = data.copy()
        self.isolated.run(after)
        return after


MOST_INPUTS = 6
"""Inputs that are remembered, for the next check of the same implementation."""

_inputs: dict[tuple[int, int], Data] = {}

_cases: dict[tuple[int, Implementation, str, Worlds], Case | None] = {}
"""Compiled cases by registry, record, model and worlds: compiling is the slow part of checking."""


def _case(record: Implementation, registry: Registry, text: str, worlds: Worlds) -> Case | None:
    key = (id(registry), record, text, worlds)
    if key not in _cases:
        _cases[key] = _compile_case(record, registry, compiled(text), worlds)
    return _cases[key]


def forget() -> None:
    """Let go of compiled cases and inputs: of one implementation after the other, no other wants them."""
    _cases.clear()
    _inputs.clear()


def _compile_case(record: Implementation, registry: Registry, model: Model, worlds: Worlds) -> Case | None:
    """The case, or None if this model does not need the record or the record does not handle it."""
    facts = ModelFacts(model, registry)
    if not (facts.need(record.stage) and facts.need(record.slot)):
        return None
    worlds = attrs.evolve(worlds, lanes=common_lanes([record], worlds, registry))
    try:
        slot, label, stages = dispatched(record, registry)
        isolated = isolate(model, slot, label, worlds, registry=registry, stages=stages)
    except SelectionError:
        return None
    if record.slot not in isolated.plan.choices:  # a row of a part table that nothing in the model asks for
        return None
    return Case(model=model, registry=registry, worlds=worlds, isolated=isolated)


def registry_with(record: Implementation, registry: Registry) -> Registry:
    """The registry, with the record added if it is not in it yet (a plugin under test need not be installed)."""
    pipeline.stage(record.stage)
    known = registry.find(record.slot, record.name, record.backend)
    if known is not None and known.target == record.target:
        return registry
    extended = registry.copy()
    extended.add(record)
    return extended

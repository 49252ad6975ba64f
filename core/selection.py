"""Choosing an implementation for each slot, and remembering why.

Order: call argument > configuration file > environment > MJCF option > default. A wish for one slot is more
specific than a wish for a backend everywhere. A named choice never falls back; a backend wished for everywhere
that lacks an implementation falls back to the NumPy reference, and the plan lists it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import attrs

from dovetail import pipeline
from dovetail.config import Config, Request
from dovetail.contracts.enums import Integrator, Solver
from dovetail.errors import (
    MissingDependencyError,
    SelectionError,
    UnknownImplementationError,
    UnknownStageError,
    UnsuitableImplementationError,
    listing,
    nearest,
)
from dovetail.features import constrained, features, unsupported
from dovetail.implementation import Implementation
from dovetail.registry import Registry

if TYPE_CHECKING:
    from dovetail.contracts.types import Model

REFERENCE = "numpy"
"""The backend whose implementations are the specification."""


@attrs.frozen
class Choice:
    """The record that fills a slot, who asked for it, and what was asked for if it had to fall back."""

    record: Implementation
    origin: str
    fallback: str = ""


BY_MODEL = "model option"


def model_requests(model: Model, solvers: frozenset[str] | None = None) -> Mapping[str, Request]:
    """What the model's own `<option>` says about algorithms. With `solvers` (those installed), a model whose solver
    is not among them does without constraints."""
    integrator = Integrator(int(model.opt.integrator)).name.lower()
    requests = {"integrate": Request(integrator, None, f"{BY_MODEL} integrator={integrator}")}
    solver = Solver(int(model.opt.solver)).name.lower()
    if not constrained(model):
        requests["solve_constraints"] = Request("unconstrained", None, "the model has no constraints")
    elif solvers is not None and solver not in solvers:
        requests["solve_constraints"] = Request("unconstrained", None, f"no {solver}: left out on request")
    else:
        requests["solve_constraints"] = Request(solver, None, f"{BY_MODEL} solver={solver}")
    return requests


@attrs.define
class Selector:
    """Answers `choose(slot)` for one model and one configuration."""

    registry: Registry
    config: Config
    model: Model
    unconstrained: bool = False
    """Do without constraints if the model's solver is not installed (the caller knows)."""
    given_up: dict[str, str] = attrs.field(factory=dict)
    """Chains that this plan cannot use, slots that cannot follow one, and why."""
    _requests: dict[str, list[Request]] = attrs.field(init=False)
    _features: frozenset[str] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._check_names()
        self._requests = {slot: list(wishes) for slot, wishes in self.config.requests.items()}
        solvers = (
            frozenset(r.name for r in self.registry.of("solve_constraints")) if self.unconstrained else None
        )
        for slot, request in model_requests(self.model, solvers).items():
            self._requests.setdefault(slot, []).append(request)
        self._features = features(self.model)

    def _check_names(self) -> None:
        """Every slot a configuration names must exist."""
        for slot, wishes in self.config.requests.items():
            stage, _, key = slot.partition(":")
            if stage not in pipeline.STAGES:
                raise UnknownStageError(
                    f"{wishes[0].origin}: there is no stage {stage!r}{nearest(stage, pipeline.STAGES)}"
                )
            keys = self.registry.keys(stage)
            if key and key not in keys:
                raise UnknownStageError(
                    f"{wishes[0].origin}: stage {stage} has no row {key!r}{nearest(key, keys) or '.'} "
                    f"Rows: {listing(keys)}"
                )

    def choose(self, slot: str) -> Choice:
        """The implementation for a slot, checked: it exists, its packages are there, it fits the model."""
        records = self.registry.of(slot)
        wishes = self._wishes(slot)
        name, name_origin = self._name(slot, records, wishes)
        backend = next(((w.backend, w.origin) for w in wishes if w.backend), None)
        if backend is not None:
            choice = Choice(self._exact(slot, name, backend[0], backend[1], records), backend[1])
        else:
            choice = self._by_default_backend(slot, name, name_origin, records)
        self._check_installed(choice)
        self._check_suitable(choice)
        why = self._unchained(choice.record)
        if why:
            raise SelectionError(f"{slot}: {choice.record.label}, asked for by {choice.origin}: {why}")
        return choice

    def _unchained(self, record: Implementation) -> str:
        """Why an implementation that works only together with others cannot be used here."""
        follows = self.follows(record)
        own = record.slot if follows else ""
        found = [self.given_up.get(key) for key in (record.chain, follows, own) if key]
        reason = next(filter(None, found), None)
        if reason and follows:
            return f"it works only in one kernel with the chain of stages it reads from, and {reason}"
        return f"it works only as one of a chain of stages in one kernel, and {reason}" if reason else ""

    def follows(self, record: Implementation) -> str:
        """The chain whose memory an implementation reads in this model, if any."""
        return record.follows if not record.follows_with or record.follows_with in self._features else ""

    def settle(self, slot: str, choice: Choice, parts: Iterable[str]) -> Choice:
        """The choice, or the reference where a backend wished for everywhere lacks a part that the stage calls."""
        backend = choice.record.backend
        reference = self.registry.find(slot, choice.record.name, REFERENCE)
        if backend == REFERENCE or reference is None or any(w.backend for w in self._wishes(slot)):
            return choice
        for part in parts:
            lacks = self._lacks(part, backend)
            if lacks:
                wish = self.config.setting("backend", REFERENCE)
                return Choice(reference, "default", fallback=f"{backend} wished by {wish.origin}: {lacks}")
        return choice

    def _lacks(self, part: str, backend: str) -> str:
        """Why a backend cannot serve a part for this model; empty if it can, or if nobody has the part."""
        name = self._part_name(part)
        if not name:
            return ""
        record = self.registry.find(part, name, backend)
        if record is None:
            return f"{part} {name} has no {backend} implementation"
        why = self._unsuitable(record)
        return f"{part}: {why}" if why else ""

    def _part_name(self, part: str) -> str:
        records = self.registry.of(part)
        return self._name(part, records, self._wishes(part))[0] if records else ""

    def choose_on(self, slot: str, backend: str, dispatcher: str) -> Choice:
        """The implementation of a part, on the backend of the stage that calls it."""
        wishes = self._wishes(slot)
        for wish in wishes:
            if wish.backend and wish.backend != backend:
                raise SelectionError(
                    f"{slot}: {wish.origin} asks for backend {wish.backend!r}, but it runs inside {dispatcher}, "
                    f"which is on {backend!r}; choose the backend of {dispatcher} instead"
                )
        records = self.registry.of(slot)
        name, origin = self._name(slot, records, wishes)
        if self.registry.find(slot, name, backend) is None:
            raise SelectionError(
                f"{slot}: {name} ({origin}) has no {backend} implementation, but it runs inside {dispatcher}, "
                f"which is on {backend!r}; choose another backend for {dispatcher}, e.g. "
                f'stages={{"{dispatcher}": "@{REFERENCE}"}}. Installed: {listing(r.label for r in records)}'
            )
        choice = Choice(self._exact(slot, name, backend, origin, records), origin)
        self._check_installed(choice)
        self._check_suitable(choice)
        return choice

    def _wishes(self, slot: str) -> list[Request]:
        """Requests for this row, then for its whole stage."""
        stage = slot.partition(":")[0]
        return self._requests.get(slot, []) + (self._requests.get(stage, []) if stage != slot else [])

    def _name(self, slot: str, records: list[Implementation], wishes: list[Request]) -> tuple[str, str]:
        for wish in wishes:
            if wish.name:
                if wish.name not in {r.name for r in records}:
                    raise self._unknown(slot, wish.name, wish.origin, records)
                return wish.name, wish.origin
        names = list(dict.fromkeys(r.name for r in records))
        defaults = list(dict.fromkeys(r.name for r in records if r.default))
        if len(defaults) == 1:
            return defaults[0], "default"
        if len(names) == 1:
            return names[0], "only one installed"
        if not names:
            raise self._unknown(slot, "", "the model", records)
        raise SelectionError(
            f"{slot}: several implementations are installed and none is the default: {listing(names)}. "
            f'Choose one, e.g. stages={{"{slot}": "{names[0]}"}}'
        )

    def _exact(
        self, slot: str, name: str, backend: str, origin: str, records: list[Implementation]
    ) -> Implementation:
        self.registry.backend(backend)
        for record in records:
            if record.name == name and record.backend == backend:
                return record
        raise self._unknown(slot, f"{name}@{backend}", origin, records)

    def _by_default_backend(
        self, slot: str, name: str, name_origin: str, records: list[Implementation]
    ) -> Choice:
        wish = self.config.setting("backend", REFERENCE)
        self.registry.backend(wish.value)
        by_backend = {r.backend: r for r in records if r.name == name}
        wanted = by_backend.get(wish.value)
        if wanted is not None:
            why = self._unsuitable(wanted) or self._unchained(wanted)
            if not why:
                origin = name_origin if wish.origin == "default" else f"backend by {wish.origin}"
                return Choice(wanted, origin)
        else:
            why = f"{name} has no {wish.value} implementation"
        reference = by_backend.get(REFERENCE)
        if reference is None:
            raise self._unknown(slot, f"{name}@{wish.value}", wish.origin, records)
        if wanted is reference:
            return Choice(reference, name_origin)  # the suitability check that follows gives the error
        return Choice(reference, name_origin, fallback=f"{wish.value} wished by {wish.origin}: {why}")

    def _unknown(self, slot: str, asked: str, origin: str, records: list[Implementation]) -> SelectionError:
        labels = [r.label for r in records]
        candidates = labels if "@" in asked else [r.name for r in records]
        broken = "".join(
            f" (plugin {p.name!r} of {p.distribution} could not be loaded: {p.detail})"
            for p in self.registry.broken()
        )
        wanted = f"{asked!r}, asked for by {origin}, is not installed" if asked else "nothing implements it"
        error = UnknownImplementationError(
            f"{slot}: {wanted}{nearest(asked, candidates) or '.'} Installed: {listing(labels)}{broken}"
        )
        error.asked_by_model = not asked or origin.startswith(BY_MODEL)
        return error

    def _check_installed(self, choice: Choice) -> None:
        record = choice.record
        backend = self.registry.backend(record.backend)
        lacking = backend.missing()
        missing = lacking or next((m for m in record.requires if not _importable(m)), "")
        if missing:
            install = backend.install if lacking else record.install or missing
            raise MissingDependencyError(
                f"{record.slot}: {record.label} (asked for by {choice.origin}) needs the package "
                f'{missing!r}, which is not installed; run: pip install "{install}"'
            )

    def _unsuitable(self, record: Implementation) -> str:
        left_out = unsupported(record.supports, self._features)
        return f"{record.label} does not handle {', '.join(left_out)}" if left_out else ""

    def _check_suitable(self, choice: Choice) -> None:
        why = self._unsuitable(choice.record)
        if why:
            others = [r.label for r in self.registry.of(choice.record.slot) if not self._unsuitable(r)]
            slot = choice.record.slot
            error = UnsuitableImplementationError(
                f"{slot}: {why}, which this model uses (asked for by {choice.origin}). "
                f"Suitable: {listing(others)}"
            )
            error.asked_by_model = not others and self.config.requests.keys().isdisjoint(
                {slot, slot.partition(":")[0]}
            )
            raise error


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False

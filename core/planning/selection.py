"""Choosing an implementation for each slot, and remembering why.

Order: call argument > environment > configuration file > MJCF option > default. A wish for one slot is more
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
from dovetail.implementation import Implementation
from dovetail.registry import Registry

if TYPE_CHECKING:
    from dovetail.planning.needs import ModelFacts

REFERENCE = "numpy"
"""The backend whose implementations are the specification."""


@attrs.frozen
class Choice:
    """The record that fills a slot, who asked for it, and what was asked for if it had to fall back."""

    record: Implementation
    origin: str
    fallback: str = ""


BY_MODEL = "model option"
BY_CALL = "call argument"
"""The origin of what a call says itself."""
BY_CALL = "call argument"
"""The origin of what a call says itself."""


OWN = frozenset({"dovetail", "the call"})
"""Providers whose rows need not be asked for: what comes with the engine, and what stands in the call itself."""


def model_requests(facts: ModelFacts, solvers: frozenset[str] | None = None) -> Mapping[str, Request]:
    """What the model's own `<option>` says about algorithms. With `solvers` (those installed), a model whose solver
    is not among them does without constraints."""
    option = facts.model.opt
    integrator = Integrator(int(option.integrator)).name.lower()
    requests = {"integrate": Request(integrator, None, f"{BY_MODEL} integrator={integrator}")}
    solver = Solver(int(option.solver)).name.lower()
    if not facts.constrained():
        requests["solve_constraints"] = Request("unconstrained", None, "the model has no constraints")
    elif solvers is not None and solver not in solvers:
        requests["solve_constraints"] = Request("unconstrained", None, f"no {solver}: left out on request")
    else:
        requests["solve_constraints"] = Request(solver, None, f"{BY_MODEL} solver={solver}")
    return requests


def loaded_already(slot: str) -> SelectionError:
    """What to say to a call that chooses for loading when the model is there."""
    return SelectionError(
        f"{BY_CALL}: {slot} takes part in loading a model, and this model is loaded already; give it to "
        f'dovetail.load: load(path, stages={{"{slot}": …}})'
    )


@attrs.frozen
class Move:
    """The backend on which a slot runs for the sake of others, and why."""

    backend: str
    reason: str


@attrs.define
class Selector:
    """Answers `choose(slot)` for one model and one configuration."""

    registry: Registry
    config: Config
    facts: ModelFacts
    unconstrained: bool = False
    """Do without constraints if the model's solver is not installed (the caller knows)."""
    moved: dict[str, Move] = attrs.field(factory=dict)
    """Slots that a plan has run on another backend than they would, and why."""
    _requests: dict[str, list[Request]] = attrs.field(init=False)
    _plugins: frozenset[str] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._check_names()
        self._requests = {slot: list(wishes) for slot, wishes in self.config.requests.items()}
        solvers = (
            frozenset(r.name for r in self.registry.of("solve_constraints")) if self.unconstrained else None
        )
        for slot, request in model_requests(self.facts, solvers).items():
            self._requests.setdefault(slot, []).append(request)
        self._plugins = self._asked_plugins()

    def _asked_plugins(self) -> frozenset[str]:
        """The plugins that the configuration names; one that is not installed is an error."""
        wish = self.config.setting("plugins", ())
        known = {name for p in self.registry.plugins for name in (p.name, p.distribution)} - OWN
        known |= {r.provider for r in self.registry.implementations} - OWN
        for name in wish.value or ():
            if name not in known:
                raise SelectionError(
                    f"{wish.origin}: plugins names {name!r}, which is not installed{nearest(name, known) or '.'} "
                    f"Installed: {listing(sorted(known)) or 'none but dovetail itself'}"
                )
        names = frozenset(wish.value or ())
        chosen = {p.distribution for p in self.registry.plugins if p.name in names}
        return names | chosen

    def asks_for(self, label: str, record: Implementation) -> bool:
        """Whether somebody wants a row that adds to what others compute: by its name, or by its plugin's."""
        if record.provider in OWN or record.provider in self._plugins:
            return True
        stage, _, name = label.partition("#")
        wishes = self.config.requests.get(stage, ())
        return any(not name or wish.name == name for wish in wishes)

    def _check_names(self) -> None:
        """Every slot a configuration names must exist; those of loading are looked at when a model is loaded."""
        for slot, wishes in self.config.requests.items():
            if not self._of_loading(slot, wishes):
                self._check_slot(slot, wishes[0].origin)

    def _of_loading(self, slot: str, wishes: Iterable[Request]) -> bool:
        """Whether a slot is one of loading: not for a plan, so a call that asks for it here is an error."""
        stage = pipeline.STAGES.get(slot.partition(":")[0])
        if stage is None or stage.phase != "compile":
            return False
        if any(wish.origin == BY_CALL for wish in wishes):
            raise loaded_already(slot)
        return True

    def _check_slot(self, slot: str, origin: str) -> None:
        """The stage exists, and so does its row."""
        stage, _, key = slot.partition(":")
        if stage not in pipeline.STAGES:
            raise UnknownStageError(f"{origin}: there is no stage {stage!r}{nearest(stage, pipeline.STAGES)}")
        keys = self.registry.keys(stage)
        if key and key not in keys:
            raise UnknownStageError(
                f"{origin}: stage {stage} has no row {key!r}{nearest(key, keys) or '.'} Rows: {listing(keys)}"
            )

    def choose(self, slot: str) -> Choice:
        """The implementation for a slot, checked: it exists, its packages are there, it fits the model."""
        records = self.registry.of(slot)
        wishes = self._wishes(slot)
        name, name_origin = self._name(slot, records, wishes)
        backend = next(((w.backend, w.origin) for w in wishes if w.backend), None)
        if backend is not None:
            record = self._exact(slot, name, backend[0], backend[1], records)
            choice = Choice(record, _both(name_origin, backend[1], f"backend by {backend[1]}", backend[1]))
        elif slot in self.moved:
            choice = self._moved(slot, name, name_origin, records)
        else:
            choice = self._by_default_backend(slot, name, name_origin, records)
        self._check_installed(choice)
        self._check_suitable(choice)
        return choice

    # ---- on another backend, for the sake of others

    def can_move(self, slot: str, record: Implementation, backend: str, parts: Iterable[str] = ()) -> bool:
        """Whether a slot may run elsewhere: nobody asked for its backend, and the same algorithm is there, with the
        parts that it calls."""
        asked = any(wish.backend for wish in self._wishes(slot)) or self._asked_of_parts(record)
        other = self.registry.find(slot, record.name, backend)
        if asked or slot in self.moved or other is None or self._unsuitable(other):
            return False
        return not any(self._lacks(part, backend) for part in parts)

    def _asked_of_parts(self, record: Implementation) -> bool:
        """Whether a backend is asked for in one of the parts that a stage calls."""
        parts = set(pipeline.stage(record.stage).parts)
        return any(
            wish.backend
            for slot, wishes in self.config.requests.items()
            if slot.partition(":")[0] in parts
            for wish in wishes
        )

    def move(self, slot: str, backend: str, reason: str) -> None:
        """From now on choose this backend for a slot."""
        self.moved[slot] = Move(backend, reason)

    def _moved(self, slot: str, name: str, origin: str, records: list[Implementation]) -> Choice:
        move = self.moved[slot]
        record = self._exact(slot, name, move.backend, move.reason, records)
        if move.backend == REFERENCE:
            return Choice(record, origin, fallback=move.reason)
        return Choice(record, _both(origin, move.reason, move.reason))

    def settle(self, slot: str, choice: Choice, parts: Iterable[str]) -> Choice:
        """The choice, or one on the backend that its parts need: that which somebody asked for in a part, or the
        reference where a backend wished for everywhere lacks one."""
        backend = choice.record.backend
        if any(w.backend for w in self._wishes(slot)) or slot in self.moved:
            return choice
        parts = list(parts)
        for part in parts:
            wish = next((w for w in self._wishes(part) if w.backend and w.backend != backend), None)
            record = self.registry.find(slot, choice.record.name, wish.backend or "") if wish else None
            if wish is None or record is None or self._unsuitable(record):
                continue
            if not any(self._lacks(other, record.backend) for other in parts):
                return Choice(record, f"the backend of {part}, by {wish.origin}")
        reference = self.registry.find(slot, choice.record.name, REFERENCE)
        if backend == REFERENCE or reference is None:
            return choice
        for part in parts:
            lacks = self._lacks(part, backend)
            if lacks:
                wish_everywhere = self.config.setting("backend", REFERENCE)
                return Choice(
                    reference, "default", fallback=f"{backend} wished by {wish_everywhere.origin}: {lacks}"
                )
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
        self._check_suitable(choice, f" inside {dispatcher}, which is on {backend!r}")
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
        if len(defaults) > 1:
            raise _two_defaults(slot, [r for r in records if r.default])
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
        self._check_backend(backend, origin)
        for record in records:
            if record.name == name and record.backend == backend:
                return record
        raise self._unknown(slot, f"{name}@{backend}", origin, records)

    def _check_backend(self, name: str, origin: str) -> None:
        """A backend that does not exist is an error that says who asked for it."""
        try:
            self.registry.backend(name)
        except UnknownImplementationError as error:
            raise UnknownImplementationError(f"{origin}: {error}") from None

    def _by_default_backend(
        self, slot: str, name: str, name_origin: str, records: list[Implementation]
    ) -> Choice:
        wish = self.config.setting("backend", REFERENCE)
        self._check_backend(wish.value, wish.origin)
        by_backend = {r.backend: r for r in records if r.name == name}
        wanted = by_backend.get(wish.value)
        if wanted is not None:
            why = self._unsuitable(wanted)
            if not why:
                said = _both(name_origin, wish.origin, f"backend by {wish.origin}")
                return Choice(wanted, name_origin if wish.origin == "default" else said)
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
        left_out = self.facts.unsupported(record.supports)
        return f"{record.label} does not handle {', '.join(left_out)}" if left_out else ""

    def _check_suitable(self, choice: Choice, where: str = "") -> None:
        why = self._unsuitable(choice.record)
        if why:
            others = [r.label for r in self.registry.of(choice.record.slot) if not self._unsuitable(r)]
            slot = choice.record.slot
            error = UnsuitableImplementationError(
                f"{slot}: {why}, which this model uses (asked for by {choice.origin}{where}). "
                f"Suitable: {listing(others)}"
            )
            error.asked_by_model = not others and self.config.requests.keys().isdisjoint(
                {slot, slot.partition(":")[0]}
            )
            raise error


UNASKED = frozenset({"default", "only one installed"})
"""Origins of a name that nobody chose."""


def _both(name_origin: str, backend_origin: str, by: str, alone: str | None = None) -> str:
    """Who asked for a name and for a backend, if these were two."""
    if name_origin in UNASKED:
        return alone or by
    return name_origin if name_origin == backend_origin else f"{name_origin}, {by}"


def _two_defaults(slot: str, records: list[Implementation]) -> SelectionError:
    """More than one package says that its own is the one to use."""
    first = {record.name: record for record in records}
    claims = " and ".join(f"{r.name!r} of {r.provider}" for r in first.values())
    name = next(iter(first))
    return SelectionError(
        f"{slot}: {claims} both claim to be the default. Choose one, e.g. "
        f'stages={{"{slot}": "{name}"}} in the call, or "{slot}" = "{name}" under [stages] in dovetail.toml, or '
        f"leave a package out with DOVETAIL_DISABLED_PLUGINS"
    )


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False

"""Choosing an implementation for a slot, and remembering why: the one rule, for what loads models and for what runs.

Order: call argument > environment > configuration file > MJCF option > semantics > default. A request for one slot is
more specific than a backend asked for everywhere. A named choice never falls back; a backend asked for everywhere
that lacks an implementation falls back to the reference, and the plan lists it.

`plan_selection` and `loading_selection` only add which requests there are for a slot, and which records suit.
"""

from __future__ import annotations

import importlib.util

import attrs

from dovetail import pipeline, semantics
from dovetail.backend import REFERENCE
from dovetail.config import Config, Request, Setting
from dovetail.deprecation import tell_of_record, todays_label
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
from dovetail.planning.auto import AUTO
from dovetail.registry import Registry

BY_MODEL = "model option"
"""How the origin of what a model's `<option>` says begins."""

OWN = frozenset({"dovetail", "the call"})
"""Providers whose rows need not be asked for: what comes with the engine, and what stands in the call itself."""

UNASKED = frozenset({"default", "only one installed"})
"""Origins of a name that nobody chose."""


@attrs.frozen
class Choice:
    """The record that fills a slot, who asked for it, and what was asked for if it had to fall back."""

    record: Implementation
    origin: str
    fallback: str = ""


def check_stage(slot: str, origin: str) -> None:
    """The stage of a slot exists."""
    stage = slot.partition(":")[0]
    if stage not in pipeline.STAGES:
        raise UnknownStageError(f"{origin}: there is no stage {stage!r}{nearest(stage, pipeline.STAGES)}")


def check_slot(registry: Registry, slot: str, origin: str) -> None:
    """The stage exists, and so does its row."""
    check_stage(slot, origin)
    stage, _, key = slot.partition(":")
    if key and key not in registry.keys(stage):
        raise no_row(registry, slot, origin)


def no_row(registry: Registry, slot: str, origin: str) -> UnknownStageError:
    """What to say to who asks for a row that a table does not have."""
    stage, _, key = slot.partition(":")
    keys = registry.keys(stage)
    return UnknownStageError(
        f"{origin}: stage {stage} has no row {key!r}{nearest(key, keys) or '.'} Rows: {listing(keys)}"
    )


@attrs.define
class Selector:
    """Answers `choose(slot)` for one configuration."""

    registry: Registry
    config: Config
    _requests: dict[str, list[Request]] = attrs.field(init=False)
    _plugins: frozenset[str] = attrs.field(init=False)
    _by_semantics: dict[str, Request] = attrs.field(init=False)
    """What the bundle of rules asks for: the weakest wish."""

    def __attrs_post_init__(self) -> None:
        self._check_requests()
        self._requests = {slot: list(requests) for slot, requests in self.config.requests.items()}
        self._plugins = self._asked_plugins()
        self._by_semantics = self.semantics.requests(self.asked_semantics().origin)
        for slot, request in self._by_semantics.items():
            check_slot(self.registry, slot, request.origin)

    # ---- what those who load and those who run add

    def _check_requests(self) -> None:
        """Every slot that the configuration names must exist."""
        for slot, requests in self.config.requests.items():
            check_slot(self.registry, slot, requests[0].origin)

    def requests(self, slot: str) -> list[Request]:
        """Requests for this row, then for its whole stage, the strongest first."""
        stage = slot.partition(":")[0]
        slots = [slot] if stage == slot else [slot, stage]
        named = [request for one in slots for request in self._requests.get(one, [])]
        return named + [self._by_semantics[one] for one in slots if one in self._by_semantics]

    @property
    def semantics(self) -> semantics.Semantics:
        """The bundle of rules that is asked for."""
        return semantics.bundle(self.registry, self.asked_semantics())

    def asked_semantics(self) -> Setting:
        """Which bundle is asked for, and by whom."""
        return semantics.asked(self.config)

    @property
    def _everywhere(self) -> Setting:
        """The backend that is asked for everywhere, and by whom."""
        asked = self.config.setting("backend", REFERENCE)
        return Setting(REFERENCE, asked.origin) if asked.value == AUTO else asked

    def unsuitable(self, record: Implementation) -> str:
        """Why a record is not for this model; empty if it is."""
        return ""

    # ---- packages that add

    def _asked_plugins(self) -> frozenset[str]:
        """The plugins that the configuration names; one that is not installed is an error."""
        asked = self.config.setting("plugins", ())
        known = {name for p in self.registry.plugins for name in (p.name, p.distribution)} - OWN
        known |= {r.provider for r in self.registry.implementations} - OWN
        for name in asked.value or ():
            if name not in known:
                raise SelectionError(
                    f"{asked.origin}: plugins names {name!r}, which is not installed{nearest(name, known) or '.'} "
                    f"Installed: {listing(sorted(known)) or 'none but dovetail itself'}"
                )
        names = frozenset(asked.value or ())
        chosen = {p.distribution for p in self.registry.plugins if p.name in names}
        return names | chosen

    def asks_for(self, label: str, record: Implementation) -> bool:
        """Whether somebody wants a row that adds to what others compute: by its name, or by its plugin's."""
        if record.provider in OWN or record.provider in self._plugins:
            return True
        stage, _, name = label.partition("#")
        requests = self.config.requests.get(stage, ())
        return any(not name or request.name == name for request in requests)

    # ---- the rule

    def choose(self, slot: str) -> Choice:
        """The implementation for a slot, checked: it exists, its packages are there, it fits the model."""
        choice = self._chosen(slot, self.registry.of(slot), self.requests(slot))
        self._check_installed(choice)
        self._check_suitable(choice)
        tell_of_record(choice.record, choice.origin)
        return choice

    def _chosen(self, slot: str, records: list[Implementation], requests: list[Request]) -> Choice:
        name, origin = self._name(slot, records, requests)
        asked = next((request for request in requests if request.backend), None)
        if asked is None or asked.backend is None:
            return self._on_unasked_backend(slot, name, origin, records)
        record = self._exact(slot, name, asked.backend, asked.origin, records)
        return Choice(record, both_origins(origin, asked.origin, f"backend by {asked.origin}", asked.origin))

    def _name(self, slot: str, records: list[Implementation], requests: list[Request]) -> tuple[str, str]:
        """The algorithm, and who asked for it."""
        for request in requests:
            if request.name:
                known = {r.name for r in records}
                here = request.name in known
                name = request.name if here else todays_label(slot, request.name, request.origin)
                if name not in known:
                    raise self._unknown(slot, request.name, request.origin, records)
                return name, request.origin
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

    def _on_unasked_backend(self, slot: str, name: str, origin: str, records: list[Implementation]) -> Choice:
        """An algorithm on the backend that is asked for everywhere, else on the reference."""
        everywhere = self._everywhere
        self._check_backend(everywhere.value, everywhere.origin)
        by_backend = {r.backend: r for r in records if r.name == name}
        wanted = by_backend.get(everywhere.value)
        if wanted is not None:
            why = self.unsuitable(wanted)
            if not why:
                both = both_origins(origin, everywhere.origin, f"backend by {everywhere.origin}")
                return Choice(wanted, origin if everywhere.origin == "default" else both)
        else:
            why = f"{name} has no {everywhere.value} implementation"
        reference = by_backend.get(REFERENCE)
        if reference is None:
            raise self._unknown(slot, f"{name}@{everywhere.value}", everywhere.origin, records)
        if wanted is reference:
            return Choice(reference, origin)  # the suitability check that follows gives the error
        return Choice(reference, origin, fallback=f"{everywhere.value} wished by {everywhere.origin}: {why}")

    # ---- what must hold

    def _check_backend(self, name: str, origin: str) -> None:
        """A backend that does not exist is an error that says who asked for it."""
        try:
            self.registry.backend(name)
        except UnknownImplementationError as error:
            raise UnknownImplementationError(f"{origin}: {error}") from None

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

    def _check_suitable(self, choice: Choice, where: str = "") -> None:
        why = self.unsuitable(choice.record)
        if why:
            others = [r.label for r in self.registry.of(choice.record.slot) if not self.unsuitable(r)]
            slot = choice.record.slot
            error = UnsuitableImplementationError(
                f"{slot}: {why}, which this model uses (asked for by {choice.origin}{where}). "
                f"Suitable: {listing(others)}"
            )
            error.asked_by_model = not others and self.config.requests.keys().isdisjoint(
                {slot, slot.partition(":")[0]}
            )
            raise error

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


def both_origins(name_origin: str, backend_origin: str, by: str, alone: str | None = None) -> str:
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

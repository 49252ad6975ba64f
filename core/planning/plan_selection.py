"""Choosing what runs in a plan: the Selector's rule with the model's own requests, for slots and for their parts.

A stage that calls others (its parts) has them on its own backend; and where fields would not be where they are
wanted, the planner moves a slot that nobody asked for on a certain backend to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import attrs

from dovetail import pipeline, semantics
from dovetail.backend import REFERENCE
from dovetail.config import BY_CALL, Request, Setting
from dovetail.contracts.enums import Integrator, Solver
from dovetail.deprecation import tell_of_record
from dovetail.errors import SelectionError, listing
from dovetail.implementation import Implementation
from dovetail.planning.auto import AUTO
from dovetail.planning.loading_selection import loaded_already, loads_only
from dovetail.planning.selection import BY_MODEL, Choice, Selector, both_origins, check_slot

if TYPE_CHECKING:
    from dovetail.planning.needs import ModelFacts


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


@attrs.frozen
class Move:
    """The backend on which a slot runs for the sake of others, and why."""

    backend: str
    reason: str


@attrs.define
class PlanSelector(Selector):
    """The Selector for slots of a plan: the model has a say, after everybody else."""

    facts: ModelFacts
    unconstrained: bool = False
    """Do without constraints if the model's solver is not installed (the caller knows)."""
    auto: Callable[[], str] = lambda: REFERENCE
    """The backend that `auto` stands for; asked only where nobody names one."""
    moved: dict[str, Move] = attrs.field(factory=dict)
    """Slots that a plan has run on another backend than they would, and why."""

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        installed = frozenset(r.name for r in self.registry.of("solve_constraints"))
        requests = model_requests(self.facts, installed if self.unconstrained else None)
        for slot, request in requests.items():
            self._requests.setdefault(slot, []).append(request)

    def asked_semantics(self) -> Setting:
        """As the model was loaded, unless somebody says otherwise."""
        return semantics.asked(self.config, semantics.loaded_with(self.facts.model.stages))

    @property
    def _everywhere(self) -> Setting:
        asked = self.config.setting("backend", AUTO)
        if asked.value != AUTO:
            return asked
        return Setting(self.auto(), asked.origin)

    def _check_requests(self) -> None:
        """Every slot must exist; those of loading are looked at when a model is loaded, so a call that asks for one
        here is an error."""
        for slot, requests in self.config.requests.items():
            if not loads_only(slot):
                check_slot(self.registry, slot, requests[0].origin)
            elif any(request.origin == BY_CALL for request in requests):
                raise loaded_already(slot)

    def unsuitable(self, record: Implementation) -> str:
        left_out = self.facts.unsupported(record.supports)
        return f"{record.label} does not handle {', '.join(left_out)}" if left_out else ""

    # ---- on another backend, for the sake of others

    def can_move(self, slot: str, record: Implementation, backend: str, parts: Iterable[str] = ()) -> bool:
        """Whether a slot may run elsewhere: nobody asked for its backend, and the same algorithm is there, with the
        parts that it calls."""
        asked = any(request.backend for request in self.requests(slot)) or self._asked_of_parts(record)
        other = self.registry.find(slot, record.name, backend)
        if asked or slot in self.moved or other is None or self.unsuitable(other):
            return False
        return not any(self._lacks(part, backend) for part in parts)

    def _asked_of_parts(self, record: Implementation) -> bool:
        """Whether a backend is asked for in one of the parts that a stage calls."""
        parts = set(pipeline.stage(record.stage).parts)
        return any(
            request.backend
            for slot, requests in self.config.requests.items()
            if slot.partition(":")[0] in parts
            for request in requests
        )

    def move(self, slot: str, backend: str, reason: str) -> None:
        """From now on choose this backend for a slot."""
        self.moved[slot] = Move(backend, reason)

    def _on_unasked_backend(self, slot: str, name: str, origin: str, records: list[Implementation]) -> Choice:
        if slot not in self.moved:
            return super()._on_unasked_backend(slot, name, origin, records)
        move = self.moved[slot]
        record = self._exact(slot, name, move.backend, move.reason, records)
        if move.backend == REFERENCE:
            return Choice(record, origin, fallback=move.reason)
        return Choice(record, both_origins(origin, move.reason, move.reason))

    # ---- parts

    def settle(self, slot: str, choice: Choice, parts: Iterable[str]) -> Choice:
        """The choice, or one on the backend that its parts need: that which somebody asked for in a part, or the
        reference where a backend asked for everywhere lacks one."""
        if any(request.backend for request in self.requests(slot)) or slot in self.moved:
            return choice
        parts = list(parts)
        return self._as_parts_ask(slot, choice, parts) or self._as_parts_can(slot, choice, parts)

    def _as_parts_ask(self, slot: str, choice: Choice, parts: list[str]) -> Choice | None:
        """The same algorithm on the backend that somebody asked for in a part, if all parts are there."""
        for part in parts:
            asked = next(
                (r for r in self.requests(part) if r.backend and r.backend != choice.record.backend), None
            )
            record = self.registry.find(slot, choice.record.name, asked.backend or "") if asked else None
            if asked is None or record is None or self.unsuitable(record):
                continue
            if not any(self._lacks(other, record.backend) for other in parts):
                return Choice(record, f"the backend of {part}, by {asked.origin}")
        return None

    def _as_parts_can(self, slot: str, choice: Choice, parts: list[str]) -> Choice:
        """The choice, or the reference if its backend lacks a part."""
        backend = choice.record.backend
        reference = self.registry.find(slot, choice.record.name, REFERENCE)
        if backend == REFERENCE or reference is None:
            return choice
        lacks = next(filter(None, (self._lacks(part, backend) for part in parts)), "")
        if not lacks:
            return choice
        everywhere = self._everywhere
        return Choice(reference, "default", fallback=f"{backend} wished by {everywhere.origin}: {lacks}")

    def _lacks(self, part: str, backend: str) -> str:
        """Why a backend cannot serve a part for this model; empty if it can, or if nobody has the part."""
        name = self._part_name(part)
        if not name:
            return ""
        record = self.registry.find(part, name, backend)
        if record is None:
            return f"{part} {name} has no {backend} implementation"
        why = self.unsuitable(record)
        return f"{part}: {why}" if why else ""

    def _part_name(self, part: str) -> str:
        records = self.registry.of(part)
        return self._name(part, records, self.requests(part))[0] if records else ""

    def of_reference(self, slot: str) -> Implementation | None:
        """What would fill a slot on the reference, unless it is asked for on a certain backend anyway."""
        if any(request.backend for request in self.requests(slot)):
            return None
        name = self._part_name(slot)
        return self.registry.find(slot, name, REFERENCE) if name else None

    def _why_here(self, record: Implementation) -> str:
        """Why a part is on the reference where another backend is wished."""
        everywhere = self._everywhere
        if record.backend != REFERENCE or everywhere.value == REFERENCE:
            return ""
        why = self.registry.why_no_version(record)
        return f"{everywhere.value} wished by {everywhere.origin}: {why}" if why else ""

    def choose_on(self, slot: str, backend: str, dispatcher: str) -> Choice:
        """The implementation of a part, on the backend of the stage that calls it."""
        requests = self.requests(slot)
        for request in requests:
            if request.backend and request.backend != backend:
                raise SelectionError(
                    f"{slot}: {request.origin} asks for backend {request.backend!r}, but it runs inside "
                    f"{dispatcher}, which is on {backend!r}; choose the backend of {dispatcher} instead"
                )
        records = self.registry.of(slot)
        name, origin = self._name(slot, records, requests)
        if self.registry.find(slot, name, backend) is None:
            raise SelectionError(
                f"{slot}: {name} ({origin}) has no {backend} implementation, but it runs inside {dispatcher}, "
                f"which is on {backend!r}; choose another backend for {dispatcher}, e.g. "
                f'stages={{"{dispatcher}": "@{REFERENCE}"}}. Installed: {listing(r.label for r in records)}'
            )
        record = self._exact(slot, name, backend, origin, records)
        choice = Choice(record, origin, fallback=self._why_here(record))
        self._check_installed(choice)
        self._check_suitable(choice, f" inside {dispatcher}, which is on {backend!r}")
        tell_of_record(choice.record, choice.origin)
        return choice

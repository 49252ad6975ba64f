"""A plan: every decision about how to step a model, made once.

`planner.compile_plan` makes it, `explain()` tells what runs, why, and what fell back. It changes no more; what runs
it and keeps compiled segments is its `execution`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from dovetail import pipeline
from dovetail.arguments import instance
from dovetail.backend import REFERENCE, Segment, Slot, Wrapper, group_slots, live_in, step_watchers, written
from dovetail.bad_states import BadStates
from dovetail.config import Setting
from dovetail.contracts.arena import DEFAULT_MAX_BYTES
from dovetail.contracts.choices import Precision
from dovetail.contracts.derive import make_data
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.types import Data, Model
from dovetail.errors import MissingStageError
from dovetail.implementation import Implementation
from dovetail.planning import explain
from dovetail.planning.auto import Preferred
from dovetail.planning.dependencies import Dependencies
from dovetail.planning.execution import Execution
from dovetail.planning.flow import Contracts, Flow
from dovetail.planning.per_world import data_name, specs_of
from dovetail.planning.replay import Replay
from dovetail.planning.selection import Choice
from dovetail.registry import Registry
from dovetail.semantics import DEFAULT

if TYPE_CHECKING:
    from dovetail.lock import StageLock


@attrs.frozen
class Missing:
    """A slot the model needs and nothing implements."""

    slot: str
    reason: str
    detail: str


@attrs.frozen(kw_only=True, eq=False)
class Plan:
    """Chosen implementations, in order, and what they work on."""

    model: Model
    nworld: int | None
    precision: Precision
    threads: int
    lanes: int
    kept: frozenset[str]
    """Fields that the user keeps, or that its backends usually keep."""
    slots: tuple[Slot, ...]
    choices: Mapping[str, Choice]
    """By slot label, parts included."""
    gave_way: Mapping[str, str] = attrs.field(factory=dict)
    """Slots that are on the reference for the sake of others, and of which."""
    missing: tuple[Missing, ...]
    skip_missing: bool
    """Whether to run although slots are missing."""
    skipped: tuple[str, ...]
    """Slots this model does not need."""
    unasked: tuple[Implementation, ...] = ()
    """Rows of installed packages that would add to what others compute, and that nobody asks for."""
    idle: tuple[str, ...]
    """Slots left out because nobody keeps or reads what they write."""
    wrappers: tuple[Wrapper, ...]
    registry: Registry
    contracts: Contracts
    """The kernel fields there are, and how they pass to and from Data."""
    options: Mapping[str, Any]
    replay: Replay | None = None
    """What fills kept fields that the plan's own slots do not (see `replay`)."""
    per_world: tuple[str, ...] = ()
    """Model fields that have values of their own in every world."""
    auto: Preferred | None = None
    """The backend that was taken where nobody named one, and why."""
    semantics: Setting = attrs.field(factory=lambda: Setting(DEFAULT, "default"))
    """The bundle of rules, and who asked for it."""
    depends_on: Dependencies
    """The Model values that the plan depends on."""
    partial: bool = False
    """Whether it is only some stages of another plan, on what the others left."""

    @property
    def is_current(self) -> bool:
        """Whether the Model still has the values that the plan depends on."""
        return self.depends_on.holds() and all(captures.hold() for captures in self._captures)

    @property
    def has_captures(self) -> bool:
        """Whether functions in its kernels take numbers from around them, which may change."""
        return bool(self._captures)

    @cached_property
    def _captures(self) -> list[Any]:
        """What functions in its kernels take from around them."""
        return [c.record.captures for c in self.choices.values() if c.record.captures is not None]

    @cached_property
    def keep(self) -> frozenset[str]:
        """Fields a Data of this plan has: what is kept, what passes between segments, and what backends without
        memory of their own touch."""
        slots = list(self.slots)
        groups = group_slots(slots, self.wrappers)
        crossing = frozenset().union(*map(live_in, groups)) if len(groups) > 1 else frozenset[str]()
        in_place = [s for s in slots if self.registry.backend(s.record.backend).in_place]
        touched = frozenset[str]().union(*(slot.reads | slot.writes for slot in in_place))
        sources = [self.contracts.into[f] for fields in self.flow.imports for f in fields]
        passed = crossing.union(touched, *self.flow.exports, *sources) - self.contracts.fields.keys()
        return self.kept | passed | {data_name(field) for field in self.per_world}

    @cached_property
    def flow(self) -> Flow:
        """What passes between the slots of a step."""
        return self.flow_of(self.slots)

    def flow_of(self, slots: Sequence[Slot], later: frozenset[str] = frozenset()) -> Flow:
        """What passes between some slots; `later`: Data fields that are read after them."""
        labels = [slot.label for slot in self.slots]
        first = min((labels.index(slot.label) for slot in slots), default=0)
        return Flow.of(
            slots,
            self.wrappers,
            self.contracts,
            absent={*self.skipped, *(m.slot for m in self.missing)},
            earlier=self.slots[:first],
            wanted=self.kept | later,
        )

    def make_data(self, max_bytes: int = DEFAULT_MAX_BYTES) -> Data:
        """A Data with just the fields and the layout this plan works on."""
        return make_data(
            self.model,
            self.nworld,
            precision=self.precision,
            keep=self.keep,
            lanes=self.lanes,
            extra=self.extra_fields,
            max_bytes=max_bytes,
        )

    @property
    def extra_fields(self) -> tuple[FieldSpec, ...]:
        """Fields that the chosen implementations add, and values of the Model that every world has for itself."""
        fields = {f.name: f for choice in self.choices.values() for f in choice.record.fields}
        return (*fields.values(), *specs_of(self.per_world))

    @property
    def evaluations(self) -> int:
        """Forward evaluations per step."""
        return self.choices["integrate"].record.evaluations

    @property
    def implementations(self) -> dict[str, str]:
        """`name@backend/version` by slot: what a saved state records."""
        return {s: c.record.identity for s, c in self.choices.items()}

    @cached_property
    def lock(self) -> StageLock:
        """What computes the steps, with versions, packages and hashes of sources; worked out when asked for."""
        from dovetail.lock import StageLock

        return StageLock.of(self)

    @property
    def bad_states(self) -> BadStates:
        """What becomes of worlds whose state is bad."""
        told = tuple(watcher.bad_state for watcher in step_watchers(self.wrappers))
        return BadStates(self.options.get("on_nan", "reset"), told)

    # ---- what runs, in which segments

    def segments(self, sequence: str = "step") -> list[list[Slot]]:
        """The slots of `forward` or `step`, segment by segment."""
        groups = group_slots(self.sequence(sequence), self.wrappers)
        return [*groups, list(self.once_per_call)] if sequence == "step" and self.once_per_call else groups

    def sequence(self, name: str) -> list[Slot]:
        """The slots of `forward`, of every `step`, or those that run `once_per_call`."""
        if name == "forward":
            return [slot for slot in self.slots if slot.stage.name in pipeline.FORWARD]
        return [slot for slot in self.in_steps if (slot in self.once_per_call) == (name == "once_per_call")]

    @property
    def in_steps(self) -> list[Slot]:
        """The slots of a call of `step`."""
        names = {*pipeline.STEP, "step_begin", "step_end"}
        return [slot for slot in self.slots if slot.stage.name in names]

    @cached_property
    def once_per_call(self) -> tuple[Slot, ...]:
        """Observing rows of the reference that run once per call of `step`, after its last step: those behind a
        kernel which holds all the rest of the step, if nothing that they read changes after them in a step."""
        slots = self.in_steps
        found = [slot for n, slot in enumerate(slots) if self._may_wait(slot, slots[n + 1 :])]
        groups = group_slots([slot for slot in slots if slot not in found], self.wrappers)
        kernel = len(groups) == 1 and not self.registry.backend(groups[0][0].record.backend).in_place
        return tuple(found) if kernel and self.evaluations == 1 else ()

    def _may_wait(self, slot: Slot, after: Sequence[Slot]) -> bool:
        """Whether a slot could as well run after the last step of a call."""
        others = [later for later in after if later.stage is not slot.stage]
        read = frozenset[str]().union(*(later.reads for later in others))
        return (
            (slot.stage.phase, slot.stage.kind, slot.record.backend) == ("observe", "table", REFERENCE)
            and not slot.zero
            and not self.wrappers_of(slot)
            and slot.reads.isdisjoint(written(others))
            and slot.leaves.isdisjoint(read)
        )

    def wrappers_of(self, slot: Slot) -> list[Wrapper]:
        """What is put around a slot."""
        return [w for w in self.wrappers if w.wants(slot.label)]

    def segment(self, flow: Flow, number: int, whole: bool = False) -> Segment:
        """One segment of a flow, with all that a backend needs to compile it; `whole`: it is a complete step."""
        group = flow.groups[number]
        return Segment(
            model=self.model,
            frozen_model=self.depends_on.model,
            slots=tuple(group),
            load=tuple(sorted({*(live_in(group) & self.keep), *map(data_name, self.per_world)})),
            store=tuple(sorted(written(group) & self.keep)),
            whole_step=whole,
            evaluations=self.evaluations,
            extra_shapes={f.name: f.dims(dict(self.model.sizes)) for f in self.extra_fields},
            lanes=self.lanes,
            precision=self.precision,
            threads=self.threads,
            bad_states=self.bad_states,
            options=self.options,
            per_world=self.per_world,
            facts={slot: dict(c.record.facts) for slot, c in self.choices.items() if c.record.facts},
            kernel_fields=self.contracts.fields,
            transfers=self.contracts.transfers,
            imports=frozenset(flow.imports[number]),
            exports=frozenset(flow.exports[number]),
            empty=frozenset(flow.empty),
        )

    # ---- the Data it works on

    def check_complete(self) -> None:
        """Raise a MissingStageError if it has holes, and nobody said to run all the same."""
        if self.missing and not self.skip_missing:
            raise missing_error(self.model, self.missing)

    def fits(self, data: Data) -> bool:
        """Whether a Data has the model, worlds, precision and fields this plan works on."""
        return not self.misfit(data)

    def misfit(self, data: Data) -> str:
        """Why a Data does not fit, or an empty string."""
        instance("data", data, Data, "a dovetail.Data")
        if data.model is not self.model:
            return f"it belongs to another model, {data.model!r}"
        for what, there, here in (
            ("nworld", data.nworld, self.nworld),
            ("precision", data.precision, self.precision),
            ("worlds per tile", data.arena.lanes, self.lanes),
        ):
            if there != here:
                return f"its {what} is {there}, the plan's {here}"
        absent = sorted(f for f in self.keep if f not in data)
        return f"it lacks {', '.join(absent[:5])}" if absent else ""

    # ---- running and telling

    @cached_property
    def execution(self) -> Execution:
        """What compiles and runs it."""
        return Execution(self)

    def forward(self, data: Data) -> None:
        """Compute everything that follows from the state, without moving it."""
        self.execution.forward(data)

    def step(self, data: Data, nstep: int = 1) -> None:
        """Advance the state by `nstep` steps."""
        self.execution.step(data, nstep)

    def lines(self) -> list[explain.PlanLine]:
        """What runs, in order, one entry per slot and part."""
        return explain.lines(self)

    def explain(self) -> str:
        """The plan as text: each slot, its implementation, who chose it, and what fell back or is missing."""
        return explain.explain(self)

    def headline(self) -> str:
        """The plan in one line."""
        return explain.headline(self)


def missing_error(model: Model, missing: Iterable[Missing]) -> MissingStageError:
    """The error for a plan with holes."""
    lines = "\n".join(f"  - {m.slot}: needed by {m.reason}" for m in missing)
    return MissingStageError(
        f"model {model.modelname or model.source!r} needs stages that no installed plugin implements:\n{lines}\n"
        'Disable what needs them (as <option><flag constraint="disable"/></option>, or '
        'model.opt.disableflags), or compile the plan with missing="skip" to leave them out knowingly'
    )

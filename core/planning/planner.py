"""Compiling a plan: choose an implementation per slot, check the flow of data, decide what memory is kept."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import attrs

from dovetail import pipeline
from dovetail.arguments import instance, whole, words
from dovetail.backend import (
    REFERENCE,
    Inspecting,
    Parts,
    Slot,
    Wrapper,
    checked_wrappers,
    step_watchers,
    worlds_alone,
)
from dovetail.config import Config, Setting
from dovetail.contracts.choices import ON_MISSING, OnMissing
from dovetail.contracts.derive import kept_fields
from dovetail.contracts.indices import check_indices
from dovetail.contracts.sizes import CAPACITY_MAKERS
from dovetail.contracts.types import DATA_SPECS, STATE, Model
from dovetail.deprecation import tell_of_record
from dovetail.errors import (
    DataFlowError,
    PlanError,
    SelectionError,
    UnknownImplementationError,
    UnsuitableImplementationError,
    listing,
    shown,
)
from dovetail.hookspecs.markers import When
from dovetail.implementation import Implementation
from dovetail.pipeline import Stage
from dovetail.planning.auto import Preferred, default_threads, preferred
from dovetail.planning.dependencies import Dependencies
from dovetail.planning.flow import Conflict, Contracts, Flow, regrouped
from dovetail.planning.needs import ModelFacts
from dovetail.planning.per_world import chosen_fields
from dovetail.planning.plan import Missing, Plan, missing_error
from dovetail.planning.plan_selection import PlanSelector
from dovetail.planning.replay import Replay
from dovetail.planning.selection import Choice
from dovetail.registry import Registry, default_registry
from dovetail.signatures import signature


def compile_plan(
    model: Model,
    config: Config | None = None,
    *,
    nworld: int | None = None,
    wrappers: Sequence[Wrapper] = (),
    missing: OnMissing = "error",
    registry: Registry | None = None,
    per_world: Iterable[str] = (),
) -> Plan:
    """Choose, check and arrange.

    `config` None means the files and environment of the working directory. `missing="error"` raises for slots
    that nobody implements, `"report"` lists them in a plan that cannot run, `"skip"` leaves them out on the
    caller's responsibility. `per_world` names Model fields that have values of their own in every world.
    """
    instance("model", model, Model, "a dovetail.Model")
    if nworld is not None:
        whole("nworld", nworld, 1, "WORLDS", ", or None for one world")
    if not isinstance(missing, str) or missing not in ON_MISSING:
        raise PlanError(f"missing={shown(missing)} should be 'error', 'report' or 'skip'")
    if config is not None:
        instance("config", config, Config, "a Config, or None")
    if registry is not None:
        instance("registry", registry, Registry, "a Registry, or None")
    check_indices(model)
    planner = _Planner(
        model=model,
        config=Config.discover() if config is None else config,
        nworld=nworld,
        wrappers=checked_wrappers(wrappers),
        on_missing=missing,
        registry=registry or default_registry(),
        per_world=chosen_fields(words("per_world", per_world)),
    )
    plan = planner.plan()
    locked = planner.config.setting("locked", None)
    if locked.value:
        from dovetail.lock import enforce

        enforce(plan, locked)
    return plan


def _checked_lanes(setting: Setting, compiled: bool) -> int:
    """Worlds per tile; vectors of a processor have a power of two."""
    lanes = whole("lanes", setting.value, 1, "LANES")
    if compiled and lanes & (lanes - 1):
        raise PlanError(f"{setting.origin}: lanes = {lanes} should be a power of two, as 1, 2, 4 or 8")
    return lanes


OF_BACKENDS = ("runtime", "arch")
"""Settings that only some backends understand."""


@attrs.frozen
class _Arranged:
    """Slots in the order in which they run, and what passes between them."""

    slots: list[Slot]
    idle: list[str]
    flow: Flow
    kept: frozenset[str]
    """What the user keeps and some slot fills, or the reference afterwards."""


@attrs.define(kw_only=True)
class _Planner:
    model: Model
    config: Config
    nworld: int | None
    wrappers: tuple[Wrapper, ...]
    on_missing: OnMissing
    registry: Registry
    per_world: tuple[str, ...] = ()
    choices: dict[str, Choice] = attrs.field(factory=dict)
    skipped: list[str] = attrs.field(factory=list)
    unasked: list[Implementation] = attrs.field(factory=list)
    missing: list[Missing] = attrs.field(factory=list)
    causes: dict[str, str] = attrs.field(factory=dict)
    """Whom slots gave way to."""
    gave_way: dict[str, str] = attrs.field(factory=dict)
    """The same by label, of those that are on the reference for it."""
    part_choices: dict[str, Choice] = attrs.field(factory=dict)
    """Of the slot that is being filled."""
    auto: Preferred | None = None
    """What `auto` stands for, once it was asked."""
    facts: ModelFacts = attrs.field(init=False)
    selector: PlanSelector = attrs.field(init=False)
    contracts: Contracts = attrs.field(init=False)
    given: Registry = attrs.field(init=False)
    """The registry as it came, without what this plan adds."""

    def __attrs_post_init__(self) -> None:
        self.facts = ModelFacts(self.model, self.registry)
        self.selector = PlanSelector(
            self.registry,
            self.config,
            self.facts,
            unconstrained=self.on_missing == "skip",
            auto=self._take_auto,
        )
        self.contracts = Contracts.of(self.registry.kernel_fields, self.registry.transfers)
        self.given = self.registry

    def plan(self) -> Plan:
        arranged = self._arranged()
        replay = self._replay(arranged)
        slots, precision = arranged.slots, self.config.setting("precision", "f64").value
        plan = Plan(
            model=self.model,
            nworld=self.nworld,
            precision=precision,
            threads=self._threads,
            lanes=self._lanes(slots, precision),
            kept=arranged.kept if replay is None else arranged.kept.union(replay.given),
            per_world=self.per_world,
            auto=self.auto,
            semantics=self.selector.asked_semantics(),
            replay=replay,
            slots=tuple(slots),
            choices=self.choices,
            gave_way=dict(self.gave_way),
            missing=tuple(self.missing),
            skip_missing=self.on_missing == "skip",
            skipped=tuple(self.skipped),
            unasked=tuple(self.unasked),
            idle=tuple(arranged.idle),
            wrappers=self.wrappers,
            registry=self.registry,
            contracts=self.contracts,
            options={n: setting.value for n, setting in self.config.settings.items() if n != "locked"},
            depends_on=Dependencies(self.model, self.facts.looked_at),
        )
        self._inspect(plan)
        return plan

    def _take_auto(self) -> str:
        """The backend that runs where nobody names one."""
        if self.auto is None:
            given = {n for n in OF_BACKENDS if self.config.setting(n, "auto").value != "auto"}
            wrapped = len(step_watchers(self.wrappers)) < len(self.wrappers)
            self.auto = preferred(self.registry, self.nworld, wrapped=wrapped, settings=given)
        return self.auto.backend

    @property
    def _threads(self) -> int:
        asked = self.config.setting("threads", None).value
        return default_threads(self.nworld) if asked is None else whole("threads", asked, 1, "THREADS")

    def _inspect(self, plan: Plan) -> None:
        """Have backends look at slots that others wrote: what they touch without declaring it is an error now, not
        when the plan runs."""
        for number, group in enumerate(plan.flow.groups):
            backend = self.registry.backend(group[0].record.backend)
            strange = any(not slot.record.is_builtin for slot in group)
            if isinstance(backend, Inspecting) and strange and not self.missing:
                backend.inspect(plan.segment(plan.flow, number))

    # ---- who runs, in which order

    def _arranged(self) -> _Arranged:
        """Choose for every stage, and choose again where fields would not be where they are wanted."""
        while True:
            slots = self._chosen_slots()
            if self.missing and self.on_missing == "error":
                raise missing_error(self.model, self.missing)
            self._check_wrappers(slots)
            found = self._in_flow(slots)
            if not found.flow.conflicts:
                check_data_flow(found.slots, self._absent)
                return found
            self._give_way(found.flow.conflicts[0], found.slots)

    def _chosen_slots(self) -> list[Slot]:
        for found in (self.choices, self.skipped, self.missing, self.unasked):
            found.clear()
        names = ("step_begin", *pipeline.STEP, "step_end")
        return [slot for name in names for slot in self._slots(pipeline.STAGES[name])]

    @property
    def _absent(self) -> set[str]:
        """Stages and rows that this plan does without."""
        return {*self.skipped, *(m.slot for m in self.missing)}

    def _in_flow(self, slots: list[Slot]) -> _Arranged:
        """Leave out what nobody wants, and follow the fields; in another order if that leaves fewer conflicts or
        fewer segments."""
        kept = self._to_keep(slots)
        working, idle = self._without_idle(slots, kept)
        flow = self._flow(working, kept)
        if len({slot.record.backend for slot in working}) > 1:
            for through_data in (False, True):
                moved = regrouped(working, self.contracts, through_data=through_data)
                other = self._flow(moved, kept)
                if other.cost < flow.cost:
                    working, flow = moved, other
        return _Arranged(working, idle, flow, kept if self._replays else kept - flow.hidden.keys())

    def _flow(self, slots: Sequence[Slot], kept: frozenset[str]) -> Flow:
        return Flow.of(slots, self.wrappers, self.contracts, absent=self._absent, wanted=kept)

    def _give_way(self, conflict: Conflict, slots: Sequence[Slot]) -> None:
        """Have a slot chosen otherwise so that a conflict goes away, or raise: who was not asked for on a certain
        backend gives way, first the one in the kernel, which then runs as the reference."""
        inside = conflict.reader if conflict.kind == "kernel" else conflict.writers[0]
        assert inside is not None  # a kernel field always has a reader
        others, backend = self._outside(conflict, inside, slots), inside.record.backend
        if self._can_move(inside, REFERENCE):
            cause = self._cause(inside, others)
            self.selector.move(inside.label, REFERENCE, f"{backend} gives way{cause}: {conflict.text}")
            return
        movable = [s for s in others if self._can_move(s, backend)]
        if not movable:
            raise SelectionError(
                f"{inside.label}: {inside.record.label}, asked for by {self.choices[inside.label].origin}, cannot "
                f"run here: {conflict.text}. Choose the stages that share such fields together, e.g. "
                f"stages={{{', '.join(_example(s, backend) for s in others or [inside])}}}, or leave the choice to "
                "the plan"
            )
        for slot in movable:
            self.selector.move(slot.label, backend, f"with {inside.label}: {conflict.text}")

    def _can_move(self, slot: Slot, backend: str) -> bool:
        return self.selector.can_move(slot.label, slot.record, backend, self._part_labels(slot.stage))

    def _cause(self, moved: Slot, others: Sequence[Slot]) -> str:
        """Whose choice it is in the end that a slot gives way to: that of the first outside, or what that one gave
        way to itself."""
        if not others:
            return ""
        first = others[0]
        self.gave_way[moved.label] = self.gave_way.get(first.label, first.label)
        self.causes[moved.label] = self.causes.get(first.label, f" to {first.label} ({first.record.label})")
        return self.causes[moved.label]

    def _outside(self, conflict: Conflict, inside: Slot, slots: Sequence[Slot]) -> list[Slot]:
        """Slots on other backends that keep a field from passing."""
        if conflict.kind != "kernel":
            return [] if conflict.reader is None else [conflict.reader]
        others = [s for s in conflict.writers if s.record.backend != inside.record.backend]
        if others or not conflict.writers:
            return others
        labels = [slot.label for slot in slots]
        first = min(labels.index(slot.label) for slot in conflict.writers)
        between = slots[first : labels.index(inside.label)]
        return [s for s in between if s.record.backend != inside.record.backend]

    def _check_wrappers(self, slots: Sequence[Slot]) -> None:
        """A wrapper that wraps nothing is a mistyped pattern."""
        labels = [slot.label for slot in slots]
        watching: list[object] = [*step_watchers(self.wrappers)]
        for wrapper in self.wrappers:
            if wrapper not in watching and not any(map(wrapper.wants, labels)):
                raise PlanError(f"{wrapper.name} wraps no slot of this plan; slots: {listing(labels)}")

    # ---- what fills each place

    def _slots(self, stage: Stage) -> list[Slot]:
        if stage.kind == "all":
            return self._broadcast(stage)
        if stage.kind == "table":
            return self._rows(stage)
        return self._fill(stage, stage.name)

    def _broadcast(self, stage: Stage) -> list[Slot]:
        """A slot for every plugin that implements the stage and is asked for."""
        slots = []
        for record in self.registry.of(stage.name):
            label = f"{stage.name}#{record.name}"
            if record.backend != REFERENCE or not self._is_asked(stage, label, record):
                continue
            self.choices[label] = Choice(record, f"registered by {record.provider}")
            tell_of_record(record, f"registered by {record.provider}")
            slots.append(self._slot(stage, label, record))
        return slots

    def _is_asked(self, stage: Stage, label: str, record: Implementation) -> bool:
        """Whether a row that adds to what others compute takes part: installing a package alone changes nothing."""
        if not adds_to_others(stage) or self.selector.asks_for(label, record):
            return True
        self.unasked.append(record)
        return False

    def _rows(self, stage: Stage) -> list[Slot]:
        """A slot per row, built in or added; rows the model needs but nobody wrote are missing."""
        if not self.facts.need(stage.name):
            self.skipped.append(stage.name)
            return []
        known = self.facts.known_rows(stage.name)
        written = self.registry.keys(stage.name)
        labels = [f"{stage.name}:{key}" for key in dict.fromkeys((*written, *known))]
        if not written:
            labels.insert(0, stage.name)
        rows = [slot for label in labels for slot in self._row(stage, label)]
        # rows that only look may stand in any order, so those of one kernel stay together
        if stage.phase == "observe":
            rows.sort(key=lambda row: row.record.backend == REFERENCE)
        return _zeroed(rows, stage.accumulates)

    def _row(self, stage: Stage, label: str) -> list[Slot]:
        asked = [self._is_asked(stage, label, record) for record in self.registry.of(label)]
        return self._fill(stage, label) if not asked or any(asked) else []

    def _reason(self, stage: Stage, label: str) -> str:
        """Why a slot must run: the row's own need, if the whole stage is needed; or a request for its results."""
        if not self.facts.need(stage.name):
            return self._request(stage)
        return self.facts.need(label)

    def _request(self, stage: Stage) -> str:
        """A field to be kept by name that only a stage which this model could do without computes."""
        named = kept_by_name(self.config).intersection(stage.writes)
        return f"{min(named)} is to be kept" if named and self.facts.on_request(stage.name) else ""

    def _fill(self, stage: Stage, label: str) -> list[Slot]:
        """The slot for one label; none if the model does not need it or nothing implements it."""
        reason = self._reason(stage, label)
        if not reason:
            self.skipped.append(label)
            return []
        try:
            self._work_in(label)
            choice = self.selector.choose(label)
        except UnknownImplementationError as error:
            if not error.asked_by_model:
                raise
            self.missing.append(Missing(label, reason, str(error)))
            return []
        except UnsuitableImplementationError as error:
            if not error.asked_by_model:
                raise
            self.missing.append(Missing(label, f"{reason}; {error}", str(error)))
            return []
        parts = self._part_labels(stage)
        for part in parts:
            self._work_in(part)
        choice = self.selector.settle(label, choice, parts)
        self.choices[label] = choice
        return [self._slot(stage, label, choice.record)]

    def _work_in(self, label: str) -> None:
        """Have a function that somebody else wrote for the reference worked into kernels, if it is chosen for a slot
        and can be: it is then a choice for other backends, too."""
        record = self.selector.of_reference(label)
        if record is None or record.is_builtin or not self.registry.versions:
            return
        if self.registry is self.given:
            self.registry = self.selector.registry = self.given.copy()
        self.registry.add_versions(record)

    def _slot(self, stage: Stage, label: str, record: Implementation) -> Slot:
        target = self._target(stage, record)
        self.part_choices = {}
        own = frozenset(field.name for field in record.fields)
        stands_for = self._stands_for(stage, record)
        with_features = [
            names for feature, names in record.reads_with.items() if feature in self.facts.features
        ]
        return Slot(
            label=label,
            stage=stage,
            record=record,
            target=target,
            reads=own
            | frozenset(stage.reads if record.reads is None else record.reads).union(*with_features),
            writes=own | frozenset(stage.writes if record.writes is None else record.writes),
            stands_for=stands_for,
            delivers=stands_for & self.contracts.out.keys(),
            parts=self._parts(stage, record.backend),
            part_choices=self.part_choices,
            when=self._when(stage),
        )

    def _when(self, stage: Stage) -> When:
        """In which evaluations of a step a slot runs. What only somebody who keeps its results asks for runs in
        all, so that these belong to the last one, as all else that is kept (mj_step followed by
        mj_rnePostConstraint)."""
        return stage.when if self.facts.need(stage.name) else "always"

    def _stands_for(self, stage: Stage, record: Implementation) -> frozenset[str]:
        """What the reference fills in a slot: the sibling of the same name, or the default one."""
        if record.backend == REFERENCE:
            return frozenset()
        references = [r for r in self.registry.of(record.slot) if r.backend == REFERENCE]
        same = [r for r in references if r.name == record.name] or [r for r in references if r.default]
        if not same:
            return frozenset(stage.writes) if stage.kind == "one" else frozenset()
        return frozenset(stage.writes if same[0].writes is None else same[0].writes)

    def _target(self, stage: Stage, record: Implementation) -> Callable[..., Any]:
        """What a slot calls, checked; of dovetail's own builders, which its tests have checked, it is imported when a
        kernel is built."""
        backend = self.registry.backend(record.backend)
        if record.is_builtin and not backend.in_place:
            return record.deferred()
        target = record.load()
        backend.check(record, stage, target)
        return target

    def _parts(self, stage: Stage, backend: str) -> Parts:
        """The callables a dispatching stage uses, on its own backend."""
        parts: dict[str, Any] = {}
        for name in stage.parts:
            part = pipeline.STAGES[name]
            if part.kind == "table":
                parts[name] = self._part_rows(part, stage, backend)
            else:
                parts[name] = self._part(part, name, stage, backend)
        return parts

    def _part_labels(self, stage: Stage) -> list[str]:
        """The parts and rows of parts that a dispatching stage will call for this model."""
        parts = [pipeline.STAGES[name] for name in stage.parts]
        return [
            label
            for part in parts
            for label in (
                [f"{part.name}:{k}" for k in self.facts.part_keys(part)]
                if part.kind == "table"
                else [part.name]
            )
        ]

    def _part_rows(self, part: Stage, caller: Stage, backend: str) -> dict[str, Callable[..., Any]]:
        """The rows of a part table that this model uses."""
        rows = {}
        for key in self.facts.part_keys(part):
            label = f"{part.name}:{key}"
            if self.registry.of(label):
                rows[key] = self._part(part, label, caller, backend)
            elif label not in [missing.slot for missing in self.missing]:
                self.missing.append(Missing(label, f"{caller.name} of this model", "no implementation"))
        return rows

    def _part(self, part: Stage, label: str, caller: Stage, backend: str) -> Callable[..., Any]:
        choice = self.selector.choose_on(label, backend, dispatcher=caller.name)
        self.choices[label] = self.part_choices[label] = choice
        target = self._target(part, choice.record)
        if part.parts and "parts" in signature(target).parameters:
            return partial(target, parts=self._parts(part, backend))
        return target

    # ---- memory

    def _lanes(self, slots: Sequence[Slot], precision: str) -> int:
        setting = self.config.setting("lanes", None)
        backends = {slot.record.backend for slot in slots}
        options = {name: self.config.setting(name, "auto").value for name in OF_BACKENDS}
        if any(worlds_alone(self.registry.backend(b), options) for b in backends):
            return 1
        if setting.value is not None:
            compiled = not all(self.registry.backend(b).in_place for b in backends)
            return _checked_lanes(setting, compiled)
        wanted = max((self.registry.backend(b).lanes(self.nworld, precision) for b in backends), default=1)
        return min([wanted, *self._most_lanes(slots)])

    def _most_lanes(self, slots: Sequence[Slot]) -> list[int]:
        """Lanes that implementations say are the most that pay for this model."""
        targets = (slot.record.facts.get("most_lanes") for slot in slots)
        found = (pkgutil.resolve_name(target)(self.model) for target in targets if target)
        return [int(most) for most in found if most]

    def _to_keep(self, slots: Sequence[Slot]) -> frozenset[str]:
        """What the user asks to keep, or else what the backends usually do."""
        own = {f.name: f for choice in self.choices.values() for f in choice.record.fields}
        specs = {**DATA_SPECS, **own}
        asked = self.config.setting("keep", None).value
        if asked is None:
            usual = {self.registry.backend(slot.record.backend).keeps(self.nworld) for slot in slots}
            asked = "state" if "state" in usual else "all"
        return kept_fields(asked, specs)

    @property
    def _replays(self) -> bool:
        """Whether fields that a kernel keeps to itself are had by repeating steps: of one world when they are read,
        of batches if the user asks."""
        asked = self.config.setting("keep", None).value
        if self.nworld is None:
            return asked is None or "computed" not in asked
        return asked is not None and "computed" not in asked

    def _replay(self, arranged: _Arranged) -> Replay | None:
        """The reference for kept fields that no slot fills."""
        hidden = arranged.kept & arranged.flow.hidden.keys()
        if not hidden:
            return None
        registry = self.registry
        found = {
            slot: registry.find(slot, choice.record.name, REFERENCE)
            for slot, choice in self.choices.items()
            if "#" not in slot
        }
        names = {slot: f"{record.name}@{REFERENCE}" for slot, record in found.items() if record is not None}
        stated = (record.facts.get("follows") for record in found.values() if record is not None)
        follows = [each for each in stated if each is not None and not hidden.isdisjoint(each["fields"])]
        given = sorted({name for each in follows for name in each["given"]})
        policy = self.config.setting("on_nan", "reset").value
        config = Config.of_call(
            names,
            backend=REFERENCE,
            keep="all",
            precision=self.config.setting("precision", "f64").value,
            on_nan="freeze" if policy == "raise" else policy,
            plugins=self.config.setting("plugins", None).value,
            semantics=self.selector.asked_semantics().value,
        )
        make_plan = partial(
            compile_plan,
            config=config,
            registry=registry,
            missing=self.on_missing,
            per_world=self.per_world,
        )
        late = self.nworld is None
        return Replay(self.model, make_plan, tuple(sorted(hidden)), tuple(given), late=late)

    def _without_idle(self, slots: list[Slot], kept: frozenset[str]) -> tuple[list[Slot], list[str]]:
        """Leave out slots whose results nobody keeps or reads (cameras in a batch that keeps the state): follow what
        is wanted back to who writes it, so that slots which only read each other's results are idle too."""

        def always(slot: Slot) -> bool:
            return slot.stage.kind == "all" or any(wrapper.wants(slot.label) for wrapper in self.wrappers)

        working = [slot for slot in slots if always(slot)]
        wanted = self._with_sources(kept.union(STATE, *(slot.reads for slot in working)))
        while True:
            more = [s for s in slots if s not in working and not self._offers(s).isdisjoint(wanted)]
            if not more:
                break
            working += more
            wanted = self._with_sources(wanted.union(*(slot.reads for slot in more)))
        idle = [slot.label for slot in slots if slot not in working]
        return [slot for slot in slots if slot.label not in idle], idle

    def _offers(self, slot: Slot) -> frozenset[str]:
        """What others may want of a slot, be it filled elsewhere than they want it: of a row of a table, all kernel
        fields of the table, which hold every row or are of no use."""
        kernel = {name for name, field in self.contracts.fields.items() if field.writer == slot.stage.name}
        return slot.leaves | slot.stands_for | kernel

    def _with_sources(self, fields: frozenset[str]) -> frozenset[str]:
        """Fields, and those that they can be made of when a kernel begins or ends."""
        made = [self.contracts.out.get(f, ()) + self.contracts.into.get(f, ()) for f in fields]
        return fields.union(*made)


def _zeroed(rows: list[Slot], accumulates: Sequence[str]) -> list[Slot]:
    """Rows of a table, of which the first that adds to a field zeroes it before."""
    left = set(accumulates)
    found = []
    for row in rows:
        own = tuple(field for field in accumulates if field in left and field in row.writes)
        left.difference_update(own)
        found.append(attrs.evolve(row, zero=own) if own else row)
    return found


def adds_to_others(stage: Stage) -> bool:
    """Whether every row of a stage changes what the simulation does, chosen or not: callbacks, and what is summed."""
    return stage.kind == "all" or (bool(stage.accumulates) and stage.phase != "observe")


def _example(slot: Slot, backend: str) -> str:
    return f'"{slot.label}": "@{backend}"'


def kept_by_name(config: Config) -> set[str]:
    """What the user asks to keep, word by word."""
    asked = config.setting("keep", None).value
    return {asked} if isinstance(asked, str) else set(asked or ())


def _unwritten(writer: str | None, ran: dict[str, str]) -> str:
    """Why a field has no value yet."""
    if writer is None:
        return "which nothing writes"
    return f"which {writer} ({ran[writer]}) leaves out" if writer in ran else f"which {writer} writes later"


def check_data_flow(slots: Iterable[Slot], absent: set[str]) -> None:
    """Every Data field a slot reads must be state, or written before it, or the output of a stage that this model
    does without (it then keeps its initial value), or an array without rows. A record that does not say what it
    reads may read what its stage allows; of that, what an earlier stage could have written and did not keeps its
    initial value too. Kernel fields, and what kernels keep to themselves, are the matter of `flow`."""
    slots = list(slots)
    running = {slot.stage.name for slot in slots}
    empty = {size for size, maker in CAPACITY_MAKERS.items() if maker not in running}
    available = set(STATE)
    available |= {s.name for s in DATA_SPECS.values() if not empty.isdisjoint(s.shape)}
    available |= {s.name for s in DATA_SPECS.values() if s.writer is None or s.writer not in pipeline.STEP}
    for label in absent:
        available |= {s.name for s in DATA_SPECS.values() if s.writer == label.partition(":")[0]}
    problems = []
    ran: dict[str, str] = {}
    for slot in slots:
        available |= {field.name for field in slot.record.fields}
        for field in sorted(f for f in slot.needs - available if f in DATA_SPECS):
            writer = DATA_SPECS[field].writer
            if writer in ran and slot.record.reads is None:
                continue
            problems.append(f"{slot.label} ({slot.record.label}) reads {field}, {_unwritten(writer, ran)}")
        available |= slot.leaves | slot.stands_for
        ran[slot.stage.name] = slot.record.label
    if problems:
        raise DataFlowError(
            "the plan reads fields before anything writes them:\n  - " + "\n  - ".join(problems)
        )

"""Compiling a plan: choose an implementation per slot, check the flow of data, decide what memory is kept."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import attrs

from dovetail import pipeline
from dovetail.backend import Parts, Slot, Wrapper, group_slots, live_in
from dovetail.config import Config
from dovetail.contracts.derive import kept_fields
from dovetail.contracts.types import DATA_SPECS, STATE, Model
from dovetail.errors import (
    DataFlowError,
    PlanError,
    UnknownImplementationError,
    UnsuitableImplementationError,
    listing,
)
from dovetail.features import NEEDS, ON_REQUEST, features, geom_pairs, need
from dovetail.implementation import Implementation
from dovetail.per_world import chosen_fields, data_name
from dovetail.pipeline import Stage
from dovetail.plan import Missing, Plan, missing_error
from dovetail.registry import Registry, default_registry
from dovetail.replay import Replay
from dovetail.selection import REFERENCE, Choice, Selector

_PART_FEATURES = {
    "actuator_dynamics": "dyn",
    "actuator_gain": "gain",
    "actuator_bias": "bias",
    "actuator_plugin": "actuator_plugin",
    "sdf_shape": "sdf_shape",
}
"""Part tables whose keys are members of a feature group: the model must find a row for each it uses."""


def structure_key(model: Model) -> tuple[object, ...]:
    """The values that which stages run depends on (see `features.NEEDS`); when one changes, the plan must be
    compiled again. Asked before every step, so it compares bytes instead of asking the rules."""
    opt = model.opt
    return (
        opt.integrator,
        opt.solver,
        opt.cone,
        opt.jacobian,
        opt.disableflags,
        opt.enableflags,
        opt.noslip_iterations > 0,
        opt.ccd_iterations,
        opt.density > 0,
        opt.viscosity > 0,
        model.geom_type.tobytes(),
        model.geom_condim.tobytes(),
        model.geom_priority.tobytes(),
        model.pair_dim.tobytes(),
        model.pair_geom1.tobytes(),
        model.pair_geom2.tobytes(),
        model.exclude_signature.tobytes(),
        model.geom_contype.tobytes(),
        model.geom_conaffinity.tobytes(),
        model.flex_contype.tobytes(),
        model.flex_conaffinity.tobytes(),
        model.jnt_limited.tobytes(),
        model.tendon_limited.tobytes(),
        (model.dof_frictionloss != 0).tobytes(),
        (model.tendon_frictionloss > 0).tobytes(),
        (model.tendon_stiffness > 0).tobytes(),
        (model.tendon_armature > 0).tobytes(),
        model.tendon_actfrclimited.tobytes(),
        model.jnt_actgravcomp.tobytes(),
        model.site_type.tobytes(),
        (model.geom_rgba[:, 3] == 0).tobytes(),
        (model.mat_rgba[:, 3] == 0).tobytes(),
        model.cam_sensorsize.tobytes(),
        model.cam_intrinsic.tobytes(),
    )


def compile_plan(
    model: Model,
    config: Config | None = None,
    *,
    nworld: int | None = None,
    wrappers: Sequence[Wrapper] = (),
    missing: str = "error",
    registry: Registry | None = None,
    per_world: Iterable[str] = (),
) -> Plan:
    """Choose, check and arrange.

    `config` None means the files and environment of the working directory. `missing="error"` raises for slots
    that nobody implements, `"report"` lists them in a plan that cannot run, `"skip"` leaves them out on the
    caller's responsibility. `per_world` names Model fields that have values of their own in every world.
    """
    if missing not in ("error", "report", "skip"):
        raise PlanError(f"missing={missing!r} should be 'error', 'report' or 'skip'")
    planner = _Planner(
        model=model,
        config=Config.discover() if config is None else config,
        nworld=nworld,
        wrappers=tuple(wrappers),
        on_missing=missing,
        registry=registry or default_registry(),
        per_world=chosen_fields(per_world),
    )
    return planner.plan()


@attrs.define(kw_only=True)
class _Planner:
    model: Model
    config: Config
    nworld: int | None
    wrappers: tuple[Wrapper, ...]
    on_missing: str
    registry: Registry
    per_world: tuple[str, ...] = ()
    choices: dict[str, Choice] = attrs.field(factory=dict)
    skipped: list[str] = attrs.field(factory=list)
    missing: list[Missing] = attrs.field(factory=list)
    selector: Selector = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.selector = Selector(
            self.registry, self.config, self.model, unconstrained=self.on_missing == "skip"
        )

    def plan(self) -> Plan:
        slots = self._chosen_slots()
        if self.missing and self.on_missing == "error":
            raise missing_error(self.model, self.missing)
        self._check_wrappers(slots)
        kept = self._kept(slots)
        slots, idle = self._without_idle(slots, kept)
        check_data_flow(slots, {*self.skipped, *(m.slot for m in self.missing)})
        precision = self.config.setting("precision", "f64").value
        return Plan(
            model=self.model,
            nworld=self.nworld,
            precision=precision,
            threads=self.config.setting("threads", 1).value,
            lanes=self._lanes(slots, precision),
            keep=kept | self._shared(slots) | {data_name(field) for field in self.per_world},
            per_world=self.per_world,
            replay=self._replay(slots, kept),
            slots=tuple(slots),
            choices=self.choices,
            missing=tuple(self.missing),
            skip_missing=self.on_missing == "skip",
            skipped=tuple(self.skipped),
            idle=tuple(idle),
            wrappers=self.wrappers,
            registry=self.registry,
            options={name: setting.value for name, setting in self.config.settings.items()},
            key=structure_key(self.model),
        )

    def _chosen_slots(self) -> list[Slot]:
        """Choose for every stage; a chain that cannot be whole is given up, and all is chosen again without it."""
        names = ("step_begin", *pipeline.STEP, "step_end")
        while True:
            for found in (self.choices, self.skipped, self.missing):
                found.clear()
            slots = [slot for name in names for slot in self._slots(pipeline.STAGES[name])]
            working, _ = self._without_idle(slots, self._kept(slots))
            broken = dict(self._broken_chains(working)) or dict(self._left_behind(working))
            if not broken:
                return slots
            self.selector.given_up.update(broken)

    def _broken_chains(self, slots: Sequence[Slot]) -> Iterator[tuple[str, str]]:
        """Chains in use that cannot run in one piece, or whose inner results somebody else wants; and why."""
        for chain in sorted({slot.record.chain for slot in slots if slot.record.chain}):
            reasons = [*self._gaps(chain, slots), *self._hidden_wishes(chain, slots)]
            if reasons:
                yield chain, reasons[0]

    def _left_behind(self, slots: Sequence[Slot]) -> Iterator[tuple[str, str]]:
        """Slots that read a chain's memory but are not in its kernel; and why."""
        for n, slot in enumerate(slots):
            reasons = list(self._partings(slots[: n + 1])) if self.selector.follows(slot.record) else []
            if reasons:
                yield slot.label, reasons[0]

    def _partings(self, slots: Sequence[Slot]) -> Iterator[str]:
        """What keeps the last of some slots from the kernel of the chain it follows. Without a chain there is nothing
        to read; then only stages that pass on what the chain would have kept to itself are in the way."""
        last, chain = slots[-1], self.selector.follows(slots[-1].record)
        places = [n for n, slot in enumerate(slots) if slot.record.chain == chain]
        if not places:
            links = [r for r in self.registry.implementations if r.chain == chain]
            for slot in slots:
                inner = [set(r.writes or ()) for r in links if r.stage == slot.stage.name]
                if inner and slot.leaves - set().union(*inner):
                    yield f"{slot.label} runs as {slot.record.label}"
        for slot in slots[places[0] :] if places else ():
            if slot.record.backend != last.record.backend:
                yield f"{slot.label}, before it, runs as {slot.record.label}"
            elif any(wrapper.wants(slot.label) for wrapper in self.wrappers):
                yield f"a wrapper sets {slot.label} apart"

    def _gaps(self, chain: str, slots: Sequence[Slot]) -> Iterator[str]:
        """Slots that keep a chain from running in one piece: a stage of its own done otherwise, one in between on
        another backend, or one that a wrapper sets apart."""
        stages = {r.stage for r in self.registry.implementations if r.chain == chain}
        places = [n for n, slot in enumerate(slots) if slot.record.chain == chain]
        backend = slots[places[0]].record.backend
        for n, slot in enumerate(slots):
            within = places[0] <= n <= places[-1]
            if slot.stage.name in stages and slot.record.chain != chain:
                yield f"{slot.label} runs as {slot.record.label}"
            elif within and slot.record.backend != backend:
                yield f"{slot.label}, between them, runs as {slot.record.label}"
            elif within and any(wrapper.wants(slot.label) for wrapper in self.wrappers):
                yield f"a wrapper sets {slot.label} apart"

    def _hidden_wishes(self, chain: str, slots: Sequence[Slot]) -> Iterator[str]:
        """Fields that a chain does not fill and that another slot reads or, of one world, the user wants kept."""
        hidden = hidden_fields(slot for slot in slots if slot.record.chain == chain)
        named = kept_by_name(self.config) if self.nworld is None else frozenset[str]()
        for slot in slots:
            if slot.record.chain != chain and hidden & slot.reads:
                yield f"{slot.label} reads {min(hidden & slot.reads)}"
        yield from (f"{field} is to be kept" for field in sorted(named & hidden))

    def _check_wrappers(self, slots: Sequence[Slot]) -> None:
        """A wrapper that wraps nothing is a mistyped pattern."""
        labels = [slot.label for slot in slots]
        for wrapper in self.wrappers:
            if not any(map(wrapper.wants, labels)):
                raise PlanError(f"{wrapper.name} wraps no slot of this plan; slots: {listing(labels)}")

    # ---- what fills each place

    def _slots(self, stage: Stage) -> list[Slot]:
        if stage.kind == "all":
            return self._broadcast(stage)
        if stage.kind == "table":
            return self._rows(stage)
        return self._fill(stage, stage.name)

    def _broadcast(self, stage: Stage) -> list[Slot]:
        """A slot for every plugin that implements the stage."""
        slots = []
        for record in self.registry.of(stage.name):
            if record.backend == REFERENCE:
                label = f"{stage.name}#{record.name}"
                self.choices[label] = Choice(record, f"registered by {record.provider}")
                slots.append(self._slot(stage, label, record))
        return slots

    def _rows(self, stage: Stage) -> list[Slot]:
        """A slot per row, built in or added; rows the model needs but nobody wrote are missing."""
        if not need(self.model, stage.name):
            self.skipped.append(stage.name)
            return []
        known = [label.partition(":")[2] for label in NEEDS if label.startswith(f"{stage.name}:")]
        written = self.registry.keys(stage.name)
        labels = [f"{stage.name}:{key}" for key in dict.fromkeys((*written, *known))]
        if not written:
            labels.insert(0, stage.name)
        rows = [slot for label in labels for slot in self._fill(stage, label)]
        # rows that only look may stand in any order, so those of one kernel stay together
        if stage.phase == "observe":
            rows.sort(key=lambda row: row.record.backend == REFERENCE)
        written_fields = frozenset().union(*(row.writes for row in rows))
        zero = tuple(field for field in stage.accumulates if field in written_fields)
        if rows and zero:
            rows[0] = attrs.evolve(rows[0], zero=zero)
        return rows

    def _reason(self, stage: Stage, label: str) -> str:
        """Why a slot must run: the row's own need, if the stage as a whole is needed; or a wish for its results."""
        if not need(self.model, stage.name):
            return self._wish(stage)
        return need(self.model, label)

    def _wish(self, stage: Stage) -> str:
        """A field to be kept by name that only a stage which this model could do without computes."""
        named = kept_by_name(self.config).intersection(stage.writes)
        return f"{min(named)} is to be kept" if named and stage.name in ON_REQUEST else ""

    def _fill(self, stage: Stage, label: str) -> list[Slot]:
        """The slot for one label; none if the model does not need it or nothing implements it."""
        reason = self._reason(stage, label)
        if not reason:
            self.skipped.append(label)
            return []
        try:
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
        choice = self.selector.settle(label, choice, self._part_labels(stage))
        self.choices[label] = choice
        return [self._slot(stage, label, choice.record)]

    def _slot(self, stage: Stage, label: str, record: Implementation) -> Slot:
        target = self._target(stage, record)
        own = frozenset(field.name for field in record.fields)
        return Slot(
            label=label,
            stage=stage,
            record=record,
            target=target,
            reads=own | frozenset(stage.reads if record.reads is None else record.reads),
            writes=own | frozenset(stage.writes if record.writes is None else record.writes),
            parts=self._parts(stage, record.backend),
            when=stage.when,
        )

    def _target(self, stage: Stage, record: Implementation) -> Callable[..., Any]:
        target = record.load()
        self.registry.backend(record.backend).check(record, stage, target)
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
                [f"{part.name}:{k}" for k in self._part_keys(part)] if part.kind == "table" else [part.name]
            )
        ]

    def _part_keys(self, part: Stage) -> list[str]:
        """The keys of a part table that this model uses."""
        group = _PART_FEATURES.get(part.name)
        used = [f.partition(".")[2] for f in sorted(features(self.model)) if f.partition(".")[0] == group]
        if group:
            return used
        known = self.registry.keys(part.name)
        if part.name != "collide_pair":
            return known
        meeting = geom_pairs(self.model)
        return [key for key in known if key in meeting]

    def _part_rows(self, part: Stage, caller: Stage, backend: str) -> dict[str, Callable[..., Any]]:
        """The rows of a part table that this model uses."""
        rows = {}
        for key in self._part_keys(part):
            label = f"{part.name}:{key}"
            if self.registry.of(label):
                rows[key] = self._part(part, label, caller, backend)
            elif label not in [missing.slot for missing in self.missing]:
                self.missing.append(Missing(label, f"{caller.name} of this model", "no implementation"))
        return rows

    def _part(self, part: Stage, label: str, caller: Stage, backend: str) -> Callable[..., Any]:
        choice = self.selector.choose_on(label, backend, dispatcher=caller.name)
        self.choices[label] = choice
        target = self._target(part, choice.record)
        if part.parts and "parts" in inspect.signature(target).parameters:
            return partial(target, parts=self._parts(part, backend))
        return target

    # ---- memory

    def _lanes(self, slots: Sequence[Slot], precision: str) -> int:
        wanted = self.config.setting("lanes", None).value
        if wanted is not None:
            return int(wanted)
        backends = {slot.record.backend for slot in slots}
        return max((self.registry.backend(b).lanes(self.nworld, precision) for b in backends), default=1)

    def _kept(self, slots: Sequence[Slot]) -> frozenset[str]:
        """What the user asks to keep, or else what the backends usually do."""
        own = {f.name: f for choice in self.choices.values() for f in choice.record.fields}
        specs = {**DATA_SPECS, **own}
        wish = self.config.setting("keep", None).value
        if wish is None:
            habits = {self.registry.backend(slot.record.backend).keeps(self.nworld) for slot in slots}
            wish = "state" if "state" in habits else "all"
        kept = kept_fields(wish, specs)
        return kept if self._replays else kept - self._hidden(slots)

    @property
    def _replays(self) -> bool:
        """Whether fields that a chain keeps to itself are had by repeating steps: of batches, if the user asks."""
        wish = self.config.setting("keep", None).value
        return self.nworld is not None and wish is not None and "computed" not in wish

    def _hidden(self, slots: Sequence[Slot]) -> frozenset[str]:
        """What chains keep to themselves."""
        return hidden_fields([slot for slot in slots if slot.record.chain])

    def _replay(self, slots: Sequence[Slot], kept: frozenset[str]) -> Replay | None:
        """The reference for kept fields that no slot fills."""
        fields = tuple(sorted(kept & self._hidden(slots))) if self._replays else ()
        if not fields:
            return None
        registry = self.registry
        names = {
            slot: f"{choice.record.name}@{REFERENCE}"
            for slot, choice in self.choices.items()
            if "#" not in slot and registry.find(slot, choice.record.name, REFERENCE) is not None
        }
        policy = self.config.setting("on_nan", "reset").value
        said = Config.of_call(
            names,
            backend=REFERENCE,
            keep="all",
            precision=self.config.setting("precision", "f64").value,
            on_nan="freeze" if policy == "raise" else policy,
        )
        plan = compile_plan(
            self.model, said, registry=registry, missing=self.on_missing, per_world=self.per_world
        )
        return Replay(plan, fields)

    def _without_idle(self, slots: list[Slot], kept: frozenset[str]) -> tuple[list[Slot], list[str]]:
        """Leave out slots whose results nobody keeps or reads (cameras in a batch that keeps the state): follow what
        is wanted back to who writes it, so that slots which only read each other's results are idle too."""

        def always(slot: Slot) -> bool:
            wrapped = any(wrapper.wants(slot.label) for wrapper in self.wrappers)
            return wrapped or bool(slot.record.chain) or slot.stage.kind == "all"

        working = [slot for slot in slots if always(slot)]
        wanted = kept.union(STATE, *(slot.reads for slot in working))
        while True:
            more = [s for s in slots if s not in working and not s.leaves.isdisjoint(wanted)]
            if not more:
                break
            working += more
            wanted = wanted.union(*(slot.reads for slot in more))
        idle = [slot.label for slot in slots if slot not in working]
        return [slot for slot in slots if slot.label not in idle], idle

    def _shared(self, slots: Sequence[Slot]) -> frozenset[str]:
        """Fields that pass between segments, and those that backends without memory of their own touch."""
        groups = group_slots(slots, self.wrappers)
        crossing = frozenset().union(*map(live_in, groups)) if len(groups) > 1 else frozenset[str]()
        in_place = [s for s in slots if self.registry.backend(s.record.backend).in_place]
        return crossing.union(*(slot.reads | slot.writes for slot in in_place))


def kept_by_name(config: Config) -> set[str]:
    """What the user asks to keep, word by word."""
    wish = config.setting("keep", None).value
    return {wish} if isinstance(wish, str) else set(wish or ())


def hidden_fields(chain: Iterable[Slot]) -> frozenset[str]:
    """Data fields that the stages of a chain stand for but its implementations do not fill."""
    slots = list(chain)
    return frozenset[str]().union(*(slot.stage.writes for slot in slots)) - frozenset[str]().union(
        *(slot.writes for slot in slots)
    )


def _unwritten(writer: str | None, ran: dict[str, str]) -> str:
    """Why a field has no value yet."""
    if writer is None:
        return "which nothing writes"
    return f"which {writer} ({ran[writer]}) leaves out" if writer in ran else f"which {writer} writes later"


_MAKERS = {"ncon_max": "narrowphase", "nefc_max": "constraint_rows"}
"""Stages that make the rows of growing arrays; without them such arrays stay empty."""


def check_data_flow(slots: Iterable[Slot], absent: set[str]) -> None:
    """Every field a slot reads must be state, or written before it, or the output of a stage that this model
    does without (it then keeps its initial value), or an array without rows. A record that does not say what it
    reads may read what its stage allows; of that, what an earlier stage could have written and did not keeps its
    initial value too."""
    slots = list(slots)
    running = {slot.stage.name for slot in slots}
    empty = {size for size, maker in _MAKERS.items() if maker not in running}
    available = set(STATE)
    available |= {s.name for s in DATA_SPECS.values() if not empty.isdisjoint(s.shape)}
    available |= {s.name for s in DATA_SPECS.values() if s.writer is None or s.writer not in pipeline.STEP}
    for label in absent:
        available |= {s.name for s in DATA_SPECS.values() if s.writer == label.partition(":")[0]}
    problems = []
    ran: dict[str, str] = {}
    for slot in slots:
        available |= {field.name for field in slot.record.fields}
        for field in sorted(slot.needs - available):
            writer = DATA_SPECS[field].writer if field in DATA_SPECS else None
            if writer in ran and slot.record.reads is None:
                continue
            problems.append(f"{slot.label} ({slot.record.label}) reads {field}, {_unwritten(writer, ran)}")
        available |= slot.leaves
        ran[slot.stage.name] = slot.record.label
    if problems:
        raise DataFlowError(
            "the plan reads fields before anything writes them:\n  - " + "\n  - ".join(problems)
        )

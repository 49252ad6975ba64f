"""What a backend is to the kernel: a runtime that turns consecutive slots of a plan into one callable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import attrs

from dovetail.contracts.kernel_fields import BUILTIN_KERNEL_FIELDS, KernelField, Transfer
from dovetail.errors import ArgumentError, shown
from dovetail.hookspecs.markers import When

if TYPE_CHECKING:
    from dovetail.bad_states import BadStates
    from dovetail.contracts.types import Data, Model
    from dovetail.implementation import Implementation
    from dovetail.pipeline import Stage
    from dovetail.planning.plan import Plan

REFERENCE = "numpy"
"""The backend whose implementations are the specification."""

Parts = Mapping[str, Any]
"""For a dispatching stage: part stage name -> callable, or key -> callable for a table."""


@attrs.frozen(kw_only=True)
class Slot:
    """One place in a plan: a stage (or row) with the implementation that fills it."""

    label: str
    """`stage`, `stage:key`, or `stage#name` where all implementations of a stage run."""
    stage: Stage
    record: Implementation
    target: Callable[..., Any] = attrs.field(repr=False)
    reads: frozenset[str]
    writes: frozenset[str]
    stands_for: frozenset[str] = frozenset()
    """Data fields that the reference would fill in its place; of these it may keep some to its kernel."""
    delivers: frozenset[str] = frozenset()
    """Of these, what can be made of its kernel fields where somebody wants it."""
    zero: tuple[str, ...] = ()
    """Fields to zero before it runs (what the rows of a table accumulate into)."""
    parts: Parts = attrs.field(factory=dict, repr=False)
    part_choices: Mapping[str, Any] = attrs.field(factory=dict, repr=False, eq=False)
    """What fills each part, by its label; the same part of two stages may be filled on two backends."""
    when: When = "always"

    @property
    def in_data(self) -> frozenset[str]:
        """Data fields that have new values after it ran, as far as a Data has them."""
        return self.leaves | self.delivers

    @property
    def integrates(self) -> bool:
        return self.stage.name == "integrate"

    @property
    def needs(self) -> frozenset[str]:
        """Fields that must hold their values before it runs."""
        return self.reads - frozenset(self.zero)

    @property
    def leaves(self) -> frozenset[str]:
        """Fields that have new values after it ran."""
        return self.writes | frozenset(self.zero)


def live_in(slots: Iterable[Slot]) -> frozenset[str]:
    """Fields that slots need before any of them has written them."""
    written: set[str] = set()
    needed: set[str] = set()
    for slot in slots:
        needed |= slot.needs - written
        written |= slot.leaves
    return frozenset(needed)


def written(slots: Iterable[Slot]) -> frozenset[str]:
    """Fields that slots leave changed."""
    return frozenset().union(*(slot.leaves for slot in slots))


@attrs.frozen(kw_only=True)
class Segment:
    """Consecutive slots of one backend, and all that a backend needs to compile them."""

    model: Model
    frozen_model: Any
    """The Model as builders see it: what they look at, the plan depends on."""
    slots: tuple[Slot, ...]
    load: tuple[str, ...]
    """Data fields that must come from the arena: needed here before written here."""
    store: tuple[str, ...]
    """Data fields that others need: kept, part of the state, or read by another segment."""
    whole_step: bool
    """Whether the slots are a complete step, so that n steps can run in one call."""
    evaluations: int
    extra_shapes: Mapping[str, tuple[int, ...]]
    """Shapes of the fields that implementations added."""
    lanes: int
    precision: str
    threads: int
    bad_states: BadStates
    """What becomes of worlds whose state is bad: the affair of who runs whole steps (see `Runner`)."""
    options: Mapping[str, Any] = attrs.field(factory=dict)
    per_world: tuple[str, ...] = ()
    """Model fields whose values are not the Model's but those of `model:<field>` in Data."""
    facts: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    """What the records of parts say about themselves, by slot."""
    kernel_fields: Mapping[str, KernelField] = attrs.field(factory=lambda: BUILTIN_KERNEL_FIELDS)
    """What slots may leave for each other, by name."""
    transfers: tuple[Transfer, ...] = ()
    """How kernel fields become Data, and Data kernel fields."""
    imports: frozenset[str] = frozenset()
    """Kernel fields that are made of Data when the segment begins."""
    exports: frozenset[str] = frozenset()
    """Data fields that are made of kernel fields when it ends."""
    empty: frozenset[str] = frozenset()
    """Kernel fields that hold nothing in this plan."""


class Runner(Protocol):
    """A compiled segment.

    One that is a whole step looks for bad states itself, in every step or, where it cannot, around its launch:
    `segment.bad_states.around(data, launch)`.
    """

    def __call__(self, data: Data, nstep: int, evaluation: int) -> None:
        """Run on a Data: `nstep` whole steps, or (nstep 1) the given forward evaluation of a step."""
        ...


class Backend(Protocol):
    """A runtime. Making one must be cheap: import heavy packages in `compile`."""

    name: str
    language: str
    """What its implementations are written in: its own name, or `lanes`, whose records run on every lane backend."""
    install: str
    """What to pip-install to have it, e.g. `dovetail-physics[taichi]`."""
    in_place: bool
    """Whether it works on the arena directly, so that every field it touches must be there."""
    takes_whole_steps: bool
    """Whether the runner of a complete step takes many in a call, and looks at the states between them itself
    (`Segment.bad_states`). The plan looks around each step of one that does not."""

    def missing(self) -> str:
        """Empty if it can run here, else the name of the module that is not installed."""
        ...

    def lanes(self, nworld: int | None, precision: str) -> int:
        """How many worlds stand side by side in a tile."""
        ...

    def keeps(self, nworld: int | None) -> str:
        """What stays in Data after a step when the user does not say: `all` or `state`."""
        ...

    def check(self, record: Implementation, stage: Stage, target: Callable[..., Any]) -> None:
        """Raise PluginError if the target's signature does not fit the stage."""
        ...

    def compile(self, segment: Segment) -> Runner:
        """Turn a segment into a callable."""
        ...


@runtime_checkable
class WorldByWorld(Protocol):
    """A backend that may have a thread for each world, so that tiles are nobody's business."""

    def alone(self, options: Mapping[str, Any]) -> bool:
        """Whether a plan with these settings has tiles of one world, whatever `lanes` says."""
        ...


def worlds_alone(backend: Backend, options: Mapping[str, Any]) -> bool:
    """Whether every world is a tile of its own whatever `lanes` says, as on a device that has a thread for each."""
    return isinstance(backend, WorldByWorld) and backend.alone(options)


@runtime_checkable
class Inspecting(Protocol):
    """A backend that can look at a segment before it is compiled."""

    def inspect(self, segment: Segment) -> None:
        """Raise a PluginError if a slot touches what its record does not declare."""
        ...


@runtime_checkable
class Preferable(Protocol):
    """A backend that may be taken where nobody names one."""

    def preference(self, nworld: int | None) -> int:
        """How much `auto` prefers it for so many worlds, None for one; 0 if it is to be asked for by name."""
        ...


class Wrapper(Protocol):
    """Something put around chosen slots: a profiler, a guard, a comparison. It costs only those slots."""

    name: str

    def wants(self, label: str) -> bool:
        """Whether to wrap the slot with this label."""
        ...

    def wrap(self, slot: Slot, call: Callable[[Data], None]) -> Callable[[Data], None]:
        """The callable to run instead of `call`; asked once, when the plan compiles the slot."""
        ...


Advance = Callable[["Data", int], None]
"""Takes so many steps of a Data."""


@runtime_checkable
class StepWatcher(Protocol):
    """A wrapper that stands around steps, not around slots: no kernel is taken apart for it.

    It is told of worlds whose state went bad, by number and in words."""

    name: str
    watches_steps: bool

    def wrap_steps(self, plan: Plan, advance: Advance) -> Advance:
        """What takes steps instead of `advance`; asked once, when the plan first runs."""
        ...

    def bad_state(self, world: int, text: str) -> None:
        """A world's state went bad in a step."""
        ...


def step_watchers(wrappers: Iterable[object]) -> list[StepWatcher]:
    """Those that stand around steps."""
    return [w for w in wrappers if isinstance(w, StepWatcher) and w.watches_steps]


def group_slots(slots: Iterable[Slot], wrappers: Sequence[Wrapper]) -> list[list[Slot]]:
    """Runs of slots with one backend; a wrapped slot stands alone."""
    groups: list[list[Slot]] = []
    alone_before = True
    for slot in slots:
        alone = any(w.wants(slot.label) for w in wrappers)
        if groups and not (alone or alone_before) and groups[-1][-1].record.backend == slot.record.backend:
            groups[-1].append(slot)
        else:
            groups.append([slot])
        alone_before = alone
    return groups


def checked_wrappers(wrap: object) -> tuple[Wrapper, ...]:
    """What a call gives to be wrapped around stages."""
    wrappers = tuple(wrap) if isinstance(wrap, Iterable) and not isinstance(wrap, str) else (wrap,)
    for one in wrappers:
        if not callable(getattr(one, "wrap", None)) or not callable(getattr(one, "wants", None)):
            raise ArgumentError(
                f"wrap = {shown(one)} is no wrapper: Profiler and NanGuard are, or a class like them"
            )
    return wrappers

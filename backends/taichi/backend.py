"""The Taichi backend as the plan sees it: a segment becomes one fused kernel over tiles of worlds."""

from __future__ import annotations

import importlib.util
import inspect
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np

from dovetail.backend import Segment, Slot
from dovetail.backends.lanes.memory import FieldPlace
from dovetail.backends.taichi.relayout import Relayout, constants_of, expected_layouts, relayouts
from dovetail.contracts.arena import Place, aligned_zeros
from dovetail.contracts.derive import initial_values
from dovetail.contracts.fields import REAL, Array
from dovetail.contracts.kernel_fields import imported
from dovetail.contracts.sizes import CAPACITIES
from dovetail.contracts.types import DATA_SPECS, STATE
from dovetail.distribution import requirement
from dovetail.errors import PerWorldError, PluginError
from dovetail.features import features
from dovetail.guard import Event
from dovetail.interrupts import Pace
from dovetail.per_world import PATTERNS

if TYPE_CHECKING:
    from dovetail.backends.lanes.exports import Export, Outbox
    from dovetail.backends.lanes.fuse import LaneStage, Sources, Target
    from dovetail.backends.lanes.imports import Fetcher
    from dovetail.backends.lanes.kernel import Layout as KernelLayout
    from dovetail.backends.lanes.watch import Watch
    from dovetail.backends.taichi.program import Program
    from dovetail.contracts.arena import ArenaLayout
    from dovetail.contracts.types import Data, Model
    from dovetail.implementation import Implementation
    from dovetail.pipeline import Stage

logger = logging.getLogger(__name__)

LANES = {"f64": 8, "f32": 16}
"""Worlds per tile: one AVX-512 register, or two AVX2 ones. Measured best for humanoid-sized models."""


class TaichiBackend:
    """Fuses `stage(k)` builders into kernels."""

    name = "taichi"
    language = "lanes"
    install = requirement("taichi")
    in_place = False
    watches = True

    def missing(self) -> str:
        found = any(importlib.util.find_spec(name) for name in ("taichi", "quadrants"))
        return "" if found else "taichi"

    def lanes(self, nworld: int | None, precision: str) -> int:
        return 1 if nworld is None else LANES[precision]

    def keeps(self, nworld: int | None) -> str:
        return "all" if nworld is None else "state"

    def check(self, record: Implementation, stage: Stage, target: Callable[..., Any]) -> None:
        """A builder takes the kernel `k` in place of model and data, then the stage's other arguments."""
        arguments = list(inspect.signature(target).parameters)
        others = tuple(a for a in stage.arguments if a not in ("model", "data"))
        if arguments[:1] != ["k"] or len(arguments) > 1 + len(others):
            raise PluginError(
                f"{record.slot} {record.label} from {record.provider}: {record.target}({', '.join(arguments)}) "
                f"does not fit the stage; a Taichi builder's arguments are ({', '.join(('k', *others))})"
            )

    def runtime(self, options: Mapping[str, Any]) -> str:
        """The runtime that plans with these options use."""
        from dovetail.backends.taichi.runtime import choose_runtime

        return choose_runtime(options.get("runtime", "auto"))

    def compile(self, segment: Segment) -> TaichiRunner:
        return TaichiRunner(segment)

    def inspect(self, segment: Segment) -> None:
        """Trace all slots as if to compile them: one that touches what its record does not declare is an error."""
        from dovetail.backends.lanes.fuse import fuse

        sizes = {**segment.model.sizes, **dict.fromkeys(CAPACITIES, 1)}
        fuse(
            sources_of(segment, _any_places(segment, sizes), sizes, (), fetchers(segment)), target_of(segment)
        )


def _any_places(segment: Segment, sizes: Mapping[str, int]) -> dict[str, Place]:
    """Places for the real fields that a segment loads and stores, as if one lay behind the other."""
    places: dict[str, Place] = {}
    row = 0
    for name in sorted({*segment.load, *segment.store}):
        spec = DATA_SPECS.get(name)
        if spec is None or spec.buffer == REAL:
            shape = segment.extra_shapes.get(name, ()) if spec is None else spec.dims(dict(sizes))
            places[name] = Place(REAL, row, shape)
            row += places[name].count
    return places


class TaichiRunner:
    """A segment's program, built when first run because it needs the Data's layout."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._program: Program | None = None
        self._constants: dict[str, Array] = {}
        self._relayouts: list[Relayout] = []
        self._layout: ArenaLayout | None = None
        self._growth = 1
        self._pace = Pace()
        self._watch = watch_of(segment)
        self._deliveries: list[Delivery] = []
        self._fetchers = fetchers(segment)
        self._outbox: Outbox | None = None
        self._inbox: Outbox | None = None

    def __call__(self, data: Data, nstep: int, evaluation: int) -> None:
        if data.arena.layout is not self._layout:
            self._adopt(data)
        self._fetch(data)
        heard = Heard(self._watch)
        with expected_layouts(self._relayouts, data):
            for count in self._pace.slices(nstep) if self._segment.whole_step else (nstep,):
                self._launch(data, count, evaluation)
                heard.listen(data, self._outbox)
        if self._outbox is not None and heard.any:
            for delivery in self._deliveries:
                delivery.write(data, self._outbox)
        for name, value in self._constants.items():
            place = data.arena.layout.places[name]
            data.arena.block(place)[...] = value.reshape(1, place.count, 1)
        heard.tell(data)

    def _launch(self, data: Data, nstep: int, evaluation: int) -> None:
        launch = {
            "model_buffers": self._segment.model.buffers,
            "nstep": nstep,
            "evaluation": evaluation,
            "converted": self._converted(data),
            "outbox": self._outbox,
            "inbox": self._inbox,
        }
        self._run(data, launch)

    def _fetch(self, data: Data) -> None:
        """Make kernel fields of Data; the program is built again if it has no place for what there is."""
        if not self._fetchers:
            return
        from dovetail.backends.lanes.imports import fill

        for fetcher in self._fetchers:
            lists = fetcher.read(data)
            assert self._program is not None
            room = self._program.room(lists)
            if lists.learnt or lists.longest > room:
                self._growth *= max(1, -(-lists.longest // room))
                logger.info("contacts of a new kind: the kernel is built again")
                self._build(data)
            assert self._inbox is not None
            fill(self._inbox, lists)

    def _run(self, data: Data, launch: dict[str, Any]) -> None:
        """Launch; tiles whose lists lacked room are untouched, and run again by a program that has more."""
        assert self._program is not None
        numbers = data.arena.buffers["real"]
        lacking = self._program.run(numbers, **launch)
        while lacking.any():
            self._growth *= int(lacking.max())
            logger.warning(
                "%d of %d tiles have more contacts than the kernel has room for; compiling it with %d times the room",
                np.count_nonzero(lacking),
                len(lacking),
                self._growth,
            )
            self._program = build(self._segment, data, self._growth, self._deliveries, self._fetchers)
            lacking = self._program.run(numbers, **launch, only=lacking)

    @property
    def groups(self) -> tuple[str, ...]:
        """What `repeat` can repeat, once the program was built, if its segment's option `repeatable` is set."""
        return () if self._program is None else tuple(self._program.repeats)

    def repeat(self, times: Mapping[str, int]) -> None:
        """From now on run groups of stages so many times in each step, and those not named once."""
        assert self._program is not None
        for group, place in self._program.repeats.items():
            self._program.table[place] = times.get(group, 1)

    def _converted(self, data: Data) -> Array | None:
        """The numbers of fields that are no reals, (ntile, rows, W)."""
        blocks = [data.arena.block(data.arena.layout.places[name]) for name in converted(self._segment)]
        if not blocks:
            return None
        numbers = aligned_zeros(
            (data.arena.ntile, sum(b.shape[1] for b in blocks), data.arena.lanes),
            data.arena.buffers["real"].dtype,
        )
        numbers[...] = np.concatenate(blocks, axis=1)
        return numbers

    def _adopt(self, data: Data) -> None:
        """Build the program for a Data's layout, unless the present one fits it: offsets are literals in it."""
        if self._program is None or data.arena.layout != self._layout:
            self._deliveries = deliveries(self._segment, data)
            self._constants = constant_fields(self._segment, data)
            self._relayouts = relayouts(self._segment)
            self._build(data)
        self._layout = data.arena.layout

    def _build(self, data: Data) -> None:
        self._program = build(self._segment, data, self._growth, self._deliveries, self._fetchers)
        self._outbox, self._inbox = self._program.outbox(), self._program.inbox()


class Heard:
    """What went wrong in the launches of one call."""

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch
        self._events: list[Event] = []
        self._controls = np.zeros((0, 4))
        self.any = False
        """Whether there was a launch."""

    def listen(self, data: Data, outbox: Outbox | None) -> None:
        """After a launch."""
        from dovetail.backends.lanes import controls

        assert outbox is not None
        self.any = True
        self._controls = controls.together(self._controls, controls.broken(data, outbox))
        if self._watch is not None:
            self._events += self._watch.settle(data, outbox)

    def tell(self, data: Data) -> None:
        """Warn of it, or raise."""
        from dovetail.backends.lanes import controls

        controls.tell(data, self._controls)
        if self._watch is not None:
            self._watch.tell(data, self._events)


class Delivery(Protocol):
    """Brings fields that are no numbers of the kernel into Data, from memory that its stages share."""

    memo: Mapping[str, Any]
    """What the kernel was built with."""

    @property
    def exports(self) -> Sequence[Export]:
        """The memory it needs."""
        ...

    def write(self, data: Data, outbox: Outbox) -> None:
        """Fill the fields of all worlds."""
        ...


def deliveries(segment: Segment, data: Data) -> list[Delivery]:
    """One for each transfer that makes fields of this Data."""
    found = []
    for transfer in segment.transfers:
        names = segment.exports.intersection(transfer.out, data.arena.layout.places)
        if names:
            found.append(imported(transfer.deliver)(segment.model, names))
    return found


def fetchers(segment: Segment) -> list[Fetcher]:
    """One for each transfer that makes kernel fields of this segment."""
    return [
        imported(transfer.fetch)(segment.model, segment.imports.intersection(transfer.into))
        for transfer in segment.transfers
        if not segment.imports.isdisjoint(transfer.into)
    ]


def constant_fields(segment: Segment, data: Data) -> dict[str, Array]:
    """Integer fields of this Data that the segment's stages write, and that are constant for the model."""
    written = {name for slot in segment.slots for name in slot.writes if name in data}
    found: dict[str, Array] = {}
    for transfer in segment.transfers:
        names = written.intersection(transfer.constant)
        if names:
            values = constants_of(transfer, segment.model)
            found.update({name: values[name] for name in names})
    return found


CONVERTED = ("eq_active",)
"""State that is no reals and that kernels may read as numbers."""


def converted(segment: Segment) -> list[str]:
    """Those that the segment's stages read."""
    return [name for name in CONVERTED if any(name in slot.reads for slot in segment.slots)]


def build(
    segment: Segment,
    data: Data,
    growth: int = 1,
    delivered: Sequence[Delivery] = (),
    fetched: Sequence[Fetcher] = (),
) -> Program:
    """Trace and compile the segment's slots for the layout of this Data; lists get `growth` times their usual
    room."""
    from dovetail.backends.taichi.program import compile_program

    memo = {name: value for fetcher in fetched for name, value in fetcher.memo.items()}
    for delivery in delivered:
        delivery.memo = memo
    sources = sources_of(segment, data.arena.layout.places, data.sizes, delivered, fetched)
    return compile_program(sources, target_of(segment, growth))


def target_of(segment: Segment, growth: int = 1) -> Target:
    """What a segment's kernel is made for."""
    from dovetail.backends.lanes.fuse import Target

    return Target(
        lanes=segment.lanes,
        precision=segment.precision,
        threads=segment.threads,
        runtime=segment.options.get("runtime", "auto"),
        arch=segment.options.get("arch", "auto"),
        growth=growth,
        backend=TaichiBackend.name,
    )


def sources_of(
    segment: Segment,
    arena: Mapping[str, Place],
    sizes: Mapping[str, int],
    delivered: Sequence[Delivery],
    fetched: Sequence[Fetcher],
) -> Sources:
    """What to fuse: the segment's slots, for the layout and sizes of a Data."""
    from dovetail.backends.lanes import controls
    from dovetail.backends.lanes.fuse import Sources

    layout = kernel_layout(segment, sizes, fetched)
    stages = [stage for slot in segment.slots for stage in lane_stages(slot)]
    exports = [export for delivery in delivered for export in delivery.exports]
    watch = watch_of(segment)
    if watch is not None:
        from dovetail.backends.lanes.watch import EXPORT, watched

        stages, exports = watched(stages, watch), [*exports, EXPORT]
    if any(slot.stage.name == "actuation" for slot in segment.slots):
        stages, exports = [controls.forgetting_stage(), *stages], [*exports, controls.EXPORT]
    places = {
        name: FieldPlace(place.offset, place.shape) for name, place in arena.items() if place.dtype == "real"
    }
    return Sources(
        stages=stages,
        layout=layout,
        data_places=places,
        initial=_initial(segment.model, layout.data),
        load=[name for name in segment.load if name in places],
        store=[name for name in segment.store if name in places],
        converted=converted(segment),
        evaluations=segment.evaluations if segment.whole_step else 1,
        exports=exports,
        repeatable=segment.options.get("repeatable", False),
        empty=segment.empty,
        imported=segment.imports,
    )


def kernel_layout(
    segment: Segment, data_sizes: Mapping[str, int], fetched: Sequence[Fetcher] = ()
) -> KernelLayout:
    """What the segment's stages can address."""
    from dovetail.backends.lanes.kernel import Layout as KernelLayout

    model, sizes = segment.model, dict(data_sizes)
    shapes = {name: spec.dims(sizes) for name, spec in DATA_SPECS.items() if spec.dtype == "real"}
    shapes.update({name: DATA_SPECS[name].dims(sizes) for name in CONVERTED})
    shapes.update(segment.extra_shapes)
    structure = segment.structure
    return KernelLayout(
        model=_model_places(model),
        data=shapes,
        sizes=model.sizes,
        features=_features(model),
        structure=Structure(structure, segment.per_world) if segment.per_world else structure,
        per_world=segment.per_world,
        kernel_fields=segment.kernel_fields,
        facts=segment.facts,
        given_tables={name: table for fetcher in fetched for name, table in fetcher.tables.items()},
        memo={name: value for fetcher in fetched for name, value in fetcher.memo.items()},
    )


def watch_of(segment: Segment) -> Watch | None:
    """What looks at the worlds of a kernel that runs whole steps."""
    from dovetail.backends.lanes.watch import Watch

    if not segment.whole_step or not any(slot.integrates for slot in segment.slots):
        return None
    moved = {*segment.load, *segment.store}
    numbers = [name for name in STATE if name in moved and DATA_SPECS[name].buffer == REAL]
    return Watch(
        policy=segment.options.get("on_nan", "reset"),
        state=tuple(name for name in STATE if name in numbers or name in converted(segment)),
        stored=tuple(name for name in numbers if name in segment.store),
    )


class Structure:
    """The Model as builders see it while they run: what differs between worlds is no structure."""

    def __init__(self, model: Any, per_world: Collection[str], prefix: str = "") -> None:
        self._model, self._per_world, self._prefix = model, per_world, prefix

    def __getattr__(self, name: str) -> Any:
        full = self._prefix + name
        if full in self._per_world and full not in PATTERNS:
            raise PerWorldError(
                f"{full} has values per world, but a stage works it into the kernel as the same for all; "
                f"take it out of "
                "per_world"
            )
        value = getattr(self._model, name)
        nested = any(field.startswith(f"{full}.") for field in self._per_world)
        return Structure(value, self._per_world, f"{full}.") if nested else value


def lane_stages(slot: Slot) -> list[LaneStage]:
    """A slot as stages of the fused kernel: what must be zeroed first, then itself."""
    from dovetail.backends.lanes.fuse import LaneStage, clear_stage

    stage = LaneStage(
        stage=slot.stage.name,
        key=slot.record.key,
        name=slot.record.name,
        builder=slot.target,
        reads=slot.reads.union(*slot.record.reads_with.values()),
        writes=slot.writes,
        parts=slot.parts,
        first_only=slot.when == "first",
        integrate=slot.integrates,
    )
    zero = [name for name in slot.zero if name not in DATA_SPECS or DATA_SPECS[name].buffer == "real"]
    if not zero:
        return [stage]
    return [attrs.evolve(clear_stage(*zero), first_only=stage.first_only, group=stage.stage), stage]


def _model_places(model: Model) -> dict[str, Any]:
    return {
        name: (place.dtype, FieldPlace(place.offset, place.shape))
        for name, place in model.arena.layout.places.items()
        if place.dtype in ("float64", "float32", "int32", "uint8")
    }


def _initial(model: Model, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """Reset values, the scratch memory's first content."""
    return {
        name: np.broadcast_to(initial_values(model, DATA_SPECS[name]), shape)
        for name, shape in shapes.items()
        if name in DATA_SPECS
    }


def _features(model: Model) -> dict[str, set[str]]:
    """Feature members by group, so that builders leave out what the model does not have."""
    groups: dict[str, set[str]] = {}
    for feature in features(model):
        group, _, member = feature.partition(".")
        groups.setdefault(group, set()).add(member)
    return groups

"""A segment of a plan as lane stages: what to fuse, for which layout, and for what kind of kernel."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.backends.lanes import controls
from dovetail.backends.lanes.bad_states import EXPORT, LaneBadStates, with_looks
from dovetail.backends.lanes.fuse import LaneStage, Sources, Target, clear_stage
from dovetail.backends.lanes.kernel import LaneLayout
from dovetail.backends.lanes.landings import joined
from dovetail.backends.lanes.memory import FieldPlace
from dovetail.contracts.arena import Place
from dovetail.contracts.derive import initial_values
from dovetail.contracts.fields import REAL
from dovetail.contracts.types import DATA_SPECS, STATE
from dovetail.errors import PerWorldError
from dovetail.features import features
from dovetail.planning.per_world import PATTERNS
from dovetail.recorded_model import RecordedModel

if TYPE_CHECKING:
    from dovetail.backend import Segment, Slot
    from dovetail.backends.lanes.exports import Export
    from dovetail.backends.lanes.imports import Fetcher
    from dovetail.backends.lanes.transfers import Delivery
    from dovetail.contracts.types import Model
    from dovetail.implementation import Implementation

CONVERTED = ("eq_active",)
"""State that is no reals and that kernels may read as numbers."""


def converted(segment: Segment) -> list[str]:
    """Those that the segment's stages read."""
    return [name for name in CONVERTED if any(name in slot.reads for slot in segment.slots)]


def loaded(segment: Segment) -> list[str]:
    """Fields that a tile is filled with: what the stages read, state that they change, which is put aside where a
    world is held back, and what later evaluations of a step hand on."""
    bad_states = bad_states_of(segment)
    put_aside = () if bad_states is None else bad_states.stored
    return sorted({*segment.load, *put_aside, *_handed_on(segment)})


def _handed_on(segment: Segment) -> set[str]:
    """What stages write in a step's first evaluation only, sensors say. Where each evaluation is a launch of its own,
    those that follow store it again, with what stages of other segments have added."""
    if segment.whole_step or segment.evaluations == 1:
        return set()
    first_only = (slot.writes for slot in segment.slots if slot.when == "first")
    return set().union(*first_only).intersection(segment.store)


def target_of(segment: Segment, backend: str, growth: int = 1, lands: bool = False) -> Target:
    """What a segment's kernel is made for; its lists get `growth` times their usual room."""
    return Target(
        lanes=segment.lanes,
        precision=segment.precision,
        threads=segment.threads,
        options=segment.options,
        growth=growth,
        backend=backend,
        lands=lands,
    )


def sources_of(
    segment: Segment,
    arena: Mapping[str, Place],
    sizes: Mapping[str, int],
    delivered: Sequence[Delivery],
    fetched: Sequence[Fetcher],
) -> Sources:
    """What to fuse: the segment's slots, for the layout and sizes of a Data."""
    layout = lane_layout(segment, sizes, fetched)
    stages = [stage for slot in segment.slots for stage in lane_stages(slot)]
    exports: list[Export] = []
    there = segment.imports.union(*(slot.writes for slot in segment.slots))
    bad_states = bad_states_of(segment)
    if bad_states is not None:
        stages, exports = with_looks(stages, bad_states), [*exports, EXPORT]
    if any(slot.stage.name == "actuation" for slot in segment.slots):
        stages, exports = [controls.clearing_stage(), *stages], [*exports, controls.EXPORT]
    ends = [delivery.stage(there) for delivery in delivered]
    stages = [*stages, *(stage for stage in ends if stage is not None)]
    places = {
        name: FieldPlace(place.offset, place.shape) for name, place in arena.items() if place.dtype == "real"
    }
    return Sources(
        stages=stages,
        layout=layout,
        data_places=places,
        initial=initial_numbers(segment.model, layout.data),
        load=[name for name in loaded(segment) if name in places],
        store=[name for name in segment.store if name in places],
        converted=converted(segment),
        evaluations=segment.evaluations if segment.whole_step else 1,
        exports=exports,
        landings=joined(delivery.landings(there) for delivery in delivered),
        repeatable=segment.options.get("repeatable", False),
        empty=segment.empty,
        imported=segment.imports,
        identity=identity_of(segment, delivered),
        recorded=segment.frozen_model if isinstance(segment.frozen_model, RecordedModel) else None,
    )


def identity_of(segment: Segment, delivered: Sequence[Delivery]) -> str | None:
    """What a segment's builders are, and what they are told besides what `Sources` has; None if some are not
    dovetail's own, or contacts come from elsewhere, whose kinds are learnt as they come."""
    records = [record for slot in segment.slots for record in (slot.record, *_parts_of(slot))]
    if segment.imports or not all(record.is_builtin for record in records):
        return None
    names = [f"{record.slot} {record.identity} {record.target}" for record in records]
    return "\n".join(
        [*names, repr(segment.bad_states), repr(list(delivered)), repr(sorted(converted(segment)))]
    )


def _parts_of(slot: Slot) -> list[Implementation]:
    return [choice.record for choice in slot.part_choices.values()]


def lane_layout(
    segment: Segment, data_sizes: Mapping[str, int], fetched: Sequence[Fetcher] = ()
) -> LaneLayout:
    """What the segment's stages can address."""
    model, sizes = segment.model, dict(data_sizes)
    shapes = {name: spec.dims(sizes) for name, spec in DATA_SPECS.items() if spec.dtype == "real"}
    shapes.update({name: DATA_SPECS[name].dims(sizes) for name in CONVERTED})
    shapes.update(segment.extra_shapes)
    return LaneLayout(
        model=model_places(model),
        data=shapes,
        sizes=model.sizes,
        features=features_by_group(model),
        frozen_model=CommonModel.of(segment),
        per_world=segment.per_world,
        kernel_fields=segment.kernel_fields,
        facts=segment.facts,
        given_tables={name: table for fetcher in fetched for name, table in fetcher.tables.items()},
        memo={name: value for fetcher in fetched for name, value in fetcher.memo.items()},
    )


def bad_states_of(segment: Segment) -> LaneBadStates | None:
    """What looks at the worlds of a kernel that runs whole steps."""
    if not segment.whole_step or not any(slot.integrates for slot in segment.slots):
        return None
    moved = {*segment.load, *segment.store}
    numbers = [name for name in STATE if name in moved and DATA_SPECS[name].buffer == REAL]
    return LaneBadStates(
        rules=segment.bad_states,
        state=tuple(name for name in STATE if name in numbers or name in converted(segment)),
        stored=tuple(name for name in numbers if name in segment.store),
    )


class CommonModel:
    """The Model as builders see it while they run: what differs between worlds cannot be worked into a kernel."""

    @classmethod
    def of(cls, segment: Segment) -> Any:
        """A segment's Model; itself if no field has values per world."""
        model, per_world = segment.frozen_model, segment.per_world
        return cls(model, per_world) if per_world else model

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
        return CommonModel(value, self._per_world, f"{full}.") if nested else value


def lane_stages(slot: Slot) -> list[LaneStage]:
    """A slot as stages of the fused kernel: what must be zeroed first, then itself."""
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
        record=slot.record,
    )
    zero = [name for name in slot.zero if name not in DATA_SPECS or DATA_SPECS[name].buffer == "real"]
    if not zero:
        return [stage]
    return [attrs.evolve(clear_stage(*zero), first_only=stage.first_only, group=stage.stage), stage]


def model_places(model: Model) -> dict[str, Any]:
    """Buffer and place of every Model field that kernels can read."""
    return {
        name: (place.dtype, FieldPlace(place.offset, place.shape))
        for name, place in model.arena.layout.places.items()
        if place.dtype in ("float64", "float32", "int32", "uint8")
    }


def initial_numbers(model: Model, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """Reset values, the scratch memory's first content."""
    return {
        name: np.broadcast_to(initial_values(model, DATA_SPECS[name]), shape)
        for name, shape in shapes.items()
        if name in DATA_SPECS
    }


def features_by_group(model: Model) -> dict[str, set[str]]:
    """Feature members by group, so that builders leave out what the model does not have."""
    groups: dict[str, set[str]] = {}
    for feature in features(model):
        group, _, member = feature.partition(".")
        groups.setdefault(group, set()).add(member)
    return groups


def any_places(segment: Segment, sizes: Mapping[str, int]) -> dict[str, Place]:
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

"""Kernel fields to and from Data around a launch, as the transfers of a registry say how."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

from dovetail.backends.lanes.relayout import constants_of
from dovetail.contracts.kernel_fields import imported

if TYPE_CHECKING:
    from dovetail.backend import Segment
    from dovetail.backends.lanes.fuse import LaneStage
    from dovetail.backends.lanes.imports import Fetcher
    from dovetail.backends.lanes.landings import Landings
    from dovetail.contracts.fields import Array
    from dovetail.contracts.types import Data


class Delivery(Protocol):
    """Brings fields that are no numbers of the kernel into Data, from kernel fields that are there."""

    def landings(self, there: Collection[str]) -> Landings:
        """What lands, and of which memory."""
        ...

    def stage(self, there: Collection[str]) -> LaneStage | None:
        """What works out at the end of a kernel what no kernel field holds; None if there is nothing to do."""
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

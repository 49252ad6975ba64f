"""Sparse fields that another backend filled, laid out as lane kernels expect them.

A lane kernel knows the layout of actuator_moment and ten_J as constants of the model; a stage of another backend
may leave entries out that happen to be zero, and says so in integer fields, world by world. For a segment that reads
such a field from the arena, its numbers are put where the kernel looks for them, and back again afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.kernel_fields import imported

if TYPE_CHECKING:
    from dovetail.backend import Segment
    from dovetail.contracts.kernel_fields import Transfer
    from dovetail.contracts.types import Data, Model


class SparseLayout(NamedTuple):
    """Entries per row, where rows begin, and columns: as integer Data fields hold them, for one world."""

    rownnz: Array
    rowadr: Array
    colind: Array

    def places(self) -> tuple[Array, Array]:
        """Rows and addresses of all entries."""
        row = np.repeat(np.arange(len(self.rownnz)), self.rownnz)
        before = np.cumsum(self.rownnz) - self.rownnz
        return row, np.arange(len(row)) + np.repeat(self.rowadr - before, self.rownnz)


SPARSE = {
    "actuator_moment": ("moment_rownnz", "moment_rowadr", "moment_colind"),
    "ten_J": ("ten_J_rownnz", "ten_J_rowadr", "ten_J_colind"),
}
"""Fields stored by sparse rows, and the names of their integer fields."""


@attrs.frozen(eq=False)
class Relayout:
    """One sparse field and the layout that the kernel expects."""

    field: str
    expected: SparseLayout
    columns: int

    @contextmanager
    def expected_layout(self, data: Data) -> Iterator[None]:
        """While it lasts, the field's numbers are where the kernel looks for them."""
        changed = [
            (world, np.array(world.field(self.field)))
            for world in data.worlds()
            if not self._fits(_layout(world, self.field))
        ]
        for world, values in changed:
            world.field(self.field)[...] = self._moved(values, _layout(world, self.field))
        yield
        for world, values in changed:
            world.field(self.field)[...] = values

    def _fits(self, present: SparseLayout) -> bool:
        used = int(present.rownnz.sum())
        return np.array_equal(present.rownnz, self.expected.rownnz) and np.array_equal(
            present.colind.reshape(-1)[:used], self.expected.colind.reshape(-1)[:used]
        )

    def _moved(self, values: Array, present: SparseLayout) -> Array:
        dense = np.zeros((len(present.rownnz), self.columns))
        row, at = present.places()
        dense[row, present.colind.reshape(-1)[at]] = values.reshape(-1)[at]
        moved = np.zeros(values.size)
        row, at = self.expected.places()
        moved[at] = dense[row, self.expected.colind.reshape(-1)[at]]
        return moved.reshape(values.shape)


def _layout(world: Data, field: str) -> SparseLayout:
    return SparseLayout(*(np.asarray(world.field(name)) for name in SPARSE[field]))


def relayouts(segment: Segment) -> list[Relayout]:
    """The sparse fields that a segment reads from the arena."""
    wanted = [field for field in SPARSE if field in segment.load]
    found = []
    for field in wanted:
        constants = _expected(segment, field)
        if constants is not None:
            layout = SparseLayout(*(np.asarray(constants[name]) for name in SPARSE[field]))
            if layout.rownnz.any():
                found.append(Relayout(field, layout, int(segment.model.nv)))
    return found


def _expected(segment: Segment, field: str) -> Mapping[str, Array] | None:
    """The layout that kernels know as a constant of the model, if a transfer says so."""
    for transfer in segment.transfers:
        if set(SPARSE[field]) <= set(transfer.constant):
            return constants_of(transfer, segment.model)
    return None


def constants_of(transfer: Transfer, model: Model) -> Mapping[str, Array]:
    """The integer fields that follow from the Model alone."""
    compute: Mapping[str, Array] = imported(transfer.constants)(model)
    return compute


@contextmanager
def expected_layouts(found: list[Relayout], data: Data) -> Iterator[None]:
    """All of them at once. Where Data does not hold a layout, only kernels have written the field, in theirs."""
    with ExitStack() as stack:
        for one in found:
            if all(name in data for name in SPARSE[one.field]):
                stack.enter_context(one.expected_layout(data))
        yield

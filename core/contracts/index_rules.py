"""Rules for the integers of a Model: each says which values a field may have (see `indices`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import attrs
import numpy as np

from dovetail.contracts.fields import Array

if TYPE_CHECKING:
    from dovetail.contracts.types import Model

Bounds = tuple[Array | int, Array | int]
"""The smallest value allowed, and the first that is not."""


class Rule:
    """Which values a field may have."""

    def bounds(self, model: Model) -> Bounds:
        """For all entries, for each row, or for each entry."""
        raise NotImplementedError

    def wrong(self, model: Model, values: Array) -> Array:
        """A mask of the entries that are not allowed."""
        low, end = (_spread(bound, values.ndim) for bound in self.bounds(model))
        mask: Array = (values < low) | (values >= end)
        return mask

    def allowed(self, model: Model, place: tuple[int, ...]) -> str:
        """What an entry may be, in words."""
        low, end = (int(np.asarray(b)[place[: np.ndim(b)]]) for b in self.bounds(model))
        return f"{low} to {end - 1}" if end > low else "nothing, there are none"


def _spread(bound: Array | int, axes: int) -> Array:
    """A bound per row, for a field with columns."""
    array = np.asarray(bound)
    return array.reshape(array.shape + (1,) * (axes - array.ndim)) if array.ndim else array


@attrs.frozen
class Free(Rule):
    """Any value means something, or nothing looks at it but people and viewers."""

    def wrong(self, model: Model, values: Array) -> Array:
        return np.zeros(values.shape, bool)


@attrs.frozen
class Index(Rule):
    """An id of one of `size` objects, or a place in an array of `size` entries."""

    size: str
    none: bool = False
    """Whether −1 says that there is none."""

    def bounds(self, model: Model) -> Bounds:
        return -int(self.none), model.sizes[self.size]


@attrs.frozen
class Address(Rule):
    """Where the entries of an object begin in an array of `size`; `count` gives how many it has. Without entries it
    may be −1."""

    size: str
    count: Callable[[Model], Array]

    def bounds(self, model: Model) -> Bounds:
        count = self.count(model).astype(np.int64)
        low = np.where(count > 0, 0, -1)
        return low, np.where(
            count > 0, np.maximum(model.sizes[self.size] - count, -1), model.sizes[self.size]
        ) + 1


@attrs.frozen
class Range(Rule):
    """Numbers from `low` to `high`."""

    low: int = 0
    high: int = np.iinfo(np.int32).max

    def bounds(self, model: Model) -> Bounds:
        return self.low, self.high + 1


@attrs.frozen
class Count(Rule):
    """A number of entries, at most `size`; that they lie within is for their address to say."""

    size: str
    least: int = 0

    def bounds(self, model: Model) -> Bounds:
        return self.least, model.sizes[self.size] + 1


@attrs.frozen
class OneOf(Rule):
    """A member of a closed set."""

    members: frozenset[int]

    def wrong(self, model: Model, values: Array) -> Array:
        return ~np.isin(values, list(self.members))

    def allowed(self, model: Model, place: tuple[int, ...]) -> str:
        return "one of " + ", ".join(map(str, sorted(self.members)))


@attrs.frozen
class Typed(Rule):
    """An id of an object whose kind is another field's matter: `sizes` gives bounds (low, end) per row."""

    limits: Callable[[Model], Bounds]

    def bounds(self, model: Model) -> Bounds:
        return self.limits(model)


def members(kind: Iterable[int]) -> OneOf:
    return OneOf(frozenset(int(member) for member in kind))


def address(size: str, count: str, times: int = 1) -> Address:
    """Entries `count` (a field) of an array; each takes `times` places."""
    return Address(size, lambda model: np.asarray(getattr(model, count)).astype(np.int64) * times)


def per_type(model: Model, types: Array, table: Mapping[int, Bounds], other: Bounds) -> Bounds:
    """Bounds of each row by its type."""
    low, end = (np.full(types.shape, bound, np.int64) for bound in other)
    for kind, (least, stop) in table.items():
        low[types == kind], end[types == kind] = least, stop
    return low, end

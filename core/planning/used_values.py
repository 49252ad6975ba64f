"""The values of a Model that a step used, kept for who asks later what the step computed.

A Model may be edited between a step and a look at what only the reference tells of that step. So the numbers that a
plan reads are copied when a step is taken; a step that is kept ready compares them itself, and copies what changed.
Fields with very many entries, as the samples of a height field, are not copied: of these a digest is remembered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from dovetail.contracts.arena import TiledArray
from dovetail.contracts.fields import Array
from dovetail.errors import StaleFieldError
from dovetail.planning.dependencies import SMALL, stretches_of

if TYPE_CHECKING:
    from dovetail.contracts.types import Model

Stretch = tuple[str, int, int]
"""Buffer, and first and last number, of some of a Model's memory."""


@attrs.frozen(eq=False)
class UsedValues:
    """What one step used."""

    _constant: Sequence[Stretch]
    """Memory in which nothing changes as long as a plan and its steps that are kept ready stand."""
    _variable: Sequence[Stretch]
    _copies: Sequence[Array]
    """Of both, in their order."""
    _digests: dict[str, bytes]
    """Of the fields that are too large to be copied."""

    def variable(self, model: Model) -> list[tuple[Array, Array]]:
        """Stretches of a Model's memory that may change between steps, each with the copy of what was used of it."""
        copies = self._copies[len(self._constant) :]
        return list(zip(_views(model, self._variable), copies, strict=True))

    def copy(self) -> UsedValues:
        """The same values in memory of their own, which no later step changes."""
        return attrs.evolve(self, copies=[copied.copy() for copied in self._copies])

    def put(self, model: Model) -> None:
        """Give them to another Model of the same layout."""
        stretches = [*self._constant, *self._variable]
        for view, copied in zip(_views(model, stretches), self._copies, strict=True):
            view[...] = copied

    def check(self, model: Model) -> None:
        """Raise a StaleFieldError if a field that was not copied has been edited since."""
        changed = [name for name, known in self._digests.items() if _digest(model.field(name)) != known]
        if changed:
            raise StaleFieldError(
                f"cannot be computed for the last step any more: the Model was edited since that step was taken or "
                f"made ready ({', '.join(changed)}). Read it before you edit the Model; or call sim.forward(), and "
                'read what follows from the present state; or run on backend="numpy", which keeps it in every step'
            )


class UsedFields:
    """The fields of a plan's Model that its steps use; those that are watched are the same in all of its steps."""

    def __init__(self, model: Model, names: Iterable[str], watched: Collection[str]) -> None:
        places = model.arena.layout.places
        wanted = sorted(set(names))
        small = [name for name in wanted if places[name].count <= SMALL]
        self._model = model
        self._constant = _stretches(model, [name for name in small if name in watched])
        self._variable = _stretches(model, [name for name in small if name not in watched])
        self._large = {name: _Remembered() for name in wanted if name not in small}

    def values(self, model: Model | None = None) -> UsedValues:
        """What they hold now: in the plan's own Model, or in another one of the same layout."""
        model = self._model if model is None else model
        copies = [np.array(view) for view in _views(model, [*self._constant, *self._variable])]
        digests = {name: known.digest(model.field(name)) for name, known in self._large.items()}
        return UsedValues(self._constant, self._variable, copies, digests)


def _stretches(model: Model, names: Sequence[str]) -> list[Stretch]:
    return [(dtype, start, end) for dtype, start, end, _ in stretches_of(model, names)]


def _views(model: Model, stretches: Iterable[Stretch]) -> list[Array]:
    buffers = model.buffers
    return [buffers[dtype][start:end] for dtype, start, end in stretches]


class _Remembered:
    """The digest of a large field, worked out again only when the field was edited."""

    def __init__(self) -> None:
        self._known: Array | None = None
        self._digest = b""

    def digest(self, view: Array | TiledArray) -> bytes:
        if self._known is None or not np.array_equal(self._known, view):
            self._known, self._digest = np.array(view), _digest(view)
        return self._digest


def _digest(values: Array | TiledArray) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(values).data, digest_size=16).digest()

"""The Model values that a plan depends on, as they were when it was made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dovetail.watched import IndexWatch, StructureKey, Watched

if TYPE_CHECKING:
    from dovetail.contracts.types import Model


class StructureWatch:
    """Values that rules looked at while a plan was made, and builders of kernels when these were first run."""

    def __init__(self, model: Model, looked_at: Iterable[str]) -> None:
        self._model = model
        self.watched = Watched(model)
        """The Model as builders see it."""
        self._known = frozenset(looked_at)
        self._keys = [StructureKey.of(model, self._known)]
        self._indices = IndexWatch(model)
        self._nread = 0

    def check_indices(self) -> None:
        """Raise a ValidationError if the Model was edited so that ids or addresses point nowhere."""
        self._indices.check()

    def settle(self, only_kernels: bool = False) -> None:
        """Remember the values that builders have looked at since the last time. If only kernels run, indices that
        they do not read need no more watching."""
        if self.watched.nread != self._nread:
            self._nread = self.watched.nread
            self._indices.settle(self.watched.read, only_kernels)
        new = self.watched.looked_at - self._known
        if new:
            self._known |= new
            self._keys.append(StructureKey.of(self._model, new))

    def holds(self) -> bool:
        """Whether the Model still has all these values."""
        return all(key.holds(self._model) for key in self._keys)

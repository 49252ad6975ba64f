"""Models of the same structure share a plan.

Making a plan takes a tenth of a second, and a script that draws masses at random has a new model for every sample.
Models whose sizes, types, ids and flags agree share the plan of a stand-in, a Model of its own. Where Python runs the
plan, the stand-in takes over the numbers of the model in question before; a step that is kept ready is told to look
at that model's memory itself. The first model of a structure has a plan of its own.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

import attrs

from dovetail.contracts.arena import Filling
from dovetail.contracts.types import Data, Model

MOST = 16
"""Structures that are remembered."""


class StandIn:
    """A Model in place of others of its structure, one at a time."""

    def __init__(self, model: Model) -> None:
        self.model = model.copy()
        self.turn = threading.RLock()

    def take_over(self, model: Model) -> None:
        """Become like a model. The caller has the turn."""
        theirs = model.arena.buffers
        for dtype, buffer in self.model.arena.buffers.items():
            buffer[...] = theirs[dtype]

    def data_of(self, data: Data) -> Data:
        """A Data of another model as one of this one, in the same memory."""
        return Data(data.arena, data.specs, self.model, data._sizes, nworld=None, precision=data.precision)


@attrs.frozen
class FillingAs:
    """Fills late fields of a Data while the stand-in is its model."""

    stand_in: StandIn
    model: Model
    inner: Filling

    def __call__(self) -> None:
        with self.stand_in.turn:
            self.stand_in.take_over(self.model)
            self.inner()

    def on(self, data: Data) -> FillingAs:
        """The same for a copy of the Data."""
        return FillingAs(self.stand_in, self.model, self.inner.on(data))


_known: OrderedDict[bytes, StandIn | None] = OrderedDict()
_turn = threading.Lock()


def stand_in_for(model: Model) -> StandIn | None:
    """What steps a model at first; None if it is the first of its structure."""
    key = _structure(model)
    with _turn:
        if key not in _known:
            _known[key] = None
            while len(_known) > MOST:
                _known.popitem(last=False)
            return None
        _known.move_to_end(key)
        found = _known[key]
        if found is None:
            found = _known[key] = StandIn(model)
        return found


def _structure(model: Model) -> bytes:
    """What models must agree in to share a plan; a kernel compares the rest itself."""
    digest = hashlib.blake2b(repr(sorted(model.sizes.items())).encode())
    for dtype, buffer in sorted(model.arena.buffers.items()):
        if buffer.dtype.kind in "iu":
            digest.update(dtype.encode())
            digest.update(buffer.tobytes())
    return digest.digest()

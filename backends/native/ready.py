"""A launch that is kept ready: whole steps of one Data as one call of a foreign function.

The struct of the launch is filled in once. The kernel itself looks whether the Model still has the values that the
plan depends on, takes over what was edited, and says if there is anything left to do; if it says 0, the step is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.program import Noted, ReadyRequest, Watched
from dovetail.backends.native.kernel_text import AT, MODEL

if TYPE_CHECKING:
    from dovetail.backends.native.program import NativeProgram
    from dovetail.contracts.arena import Place


class NativeReadyLaunch:
    """Steps of the Data that a program was last launched on, with that launch's buffers."""

    def __init__(self, program: NativeProgram, request: ReadyRequest) -> None:
        self.taken = program.pointed_to["taken"]
        self.converted = program.pointed_to["C"]
        self._kernel = program.kernel
        self._arguments = program.arguments.copy()
        self._address = self._arguments.ctypes.data
        self._held: list[Any] = [program, dict(program.pointed_to)]
        """What the struct points to."""
        for name, dtype in MODEL.items():
            array = request.model.get(dtype)
            if array is not None and array.size and not (name == "MR" and program.precision == "f32"):
                self._point(name, array)
        self._set("anew", 1)
        self._set("first", 0)
        self._watch(request.watched)
        self._note(request.noted)
        self._convert(request)
        if request.before is not None:
            self._point("P", request.before)
        if program.precision == "f32":
            reals = request.model["float64"]
            self._point("MD", reals)
            self._set("nreal", reals.size)

    def __call__(self, nstep: int) -> int:
        self._arguments[_NSTEP] = nstep
        return self._kernel(self._address)

    def _set(self, name: str, number: int) -> None:
        self._arguments[AT[name]] = number

    def _point(self, name: str, array: NDArray[Any]) -> None:
        self._held.append(array)
        self._set(name, array.ctypes.data)

    def _watch(self, watched: Watched) -> None:
        rows = []
        for view, content in watched:
            known = np.frombuffer(content, np.uint8)
            self._held += [view, known]
            rows.append((view.ctypes.data, known.ctypes.data, known.size))
        self._point("watched", np.array(rows, np.int64).reshape(-1))
        self._set("nwatched", len(rows))

    def _note(self, noted: Noted) -> None:
        """Have copies hold what the steps use of the Model."""
        self._held.append(noted)
        rows = [(view.ctypes.data, copied.ctypes.data, view.nbytes) for view, copied in noted]
        self._point("noted", np.array(rows, np.int64).reshape(-1))
        self._set("nnoted", len(rows))

    def _convert(self, request: ReadyRequest) -> None:
        """Have bytes of Data taken over as numbers, which lie one behind the other."""
        places: Sequence[Place] = request.converted
        if not places:
            return
        source = request.data.arena.buffers[places[0].dtype]
        self._point("B", source)
        self._set("byte_rows", source.shape[1])
        counts = np.array([place.count for place in places])
        rows = np.stack([[place.offset for place in places], np.cumsum(counts) - counts, counts], axis=1)
        self._point("BC", rows.astype(np.int64).reshape(-1))
        self._set("nbyte", len(places))


_NSTEP = AT["nstep"]

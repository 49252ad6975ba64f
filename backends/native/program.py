"""Running a fused kernel as native code: its C is printed and compiled, and called with a struct that is kept ready."""

from __future__ import annotations

import ctypes
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.exports import Outbox
from dovetail.backends.lanes.fuse import FusedKernel, Rows, Sources, Target, fuse
from dovetail.backends.lanes.program import LaneProgram, Launch, Memory
from dovetail.backends.native import compilers, libraries, threads
from dovetail.backends.native.kernel_text import ARGUMENTS, kernel_sources, slot_rows
from dovetail.distribution import requirement
from dovetail.errors import ArgumentError, MissingDependencyError

logger = logging.getLogger(__name__)

LANES = (1, 2, 4, 8, 16, 32)

AT = {name: place for place, name in enumerate(ARGUMENTS)}
"""Where each argument stands in the struct of a launch."""

MOST_UNITS = 4
"""Translation units that a kernel is printed as at most, if there are so many processors."""

_MODEL = {"MR": "float64", "MI": "int32", "MB": "uint8", "MF": "float32"}


@attrs.define(eq=False, kw_only=True)
class NativeProgram(LaneProgram):
    """A fused kernel in a library of its own, its sources, and the struct that it is called with."""

    sources: list[str]
    library: libraries.Library
    compiler: compilers.Compiler
    kernel: Callable[[int], int]
    arguments_of_launch: NDArray[np.int64] = attrs.field(factory=lambda: np.zeros(len(ARGUMENTS), np.int64))
    _held: dict[str, Any] = attrs.field(factory=dict, init=False)
    """The arrays that the struct points to."""

    @property
    def source(self) -> str:
        """All of its C."""
        return "\n".join(self.sources)

    def __attrs_post_init__(self) -> None:
        memory = self.memory
        own = {"S": memory.scratch, "SI": memory.integers, "R": memory.reals, "TI": memory.table}
        for name, array in own.items():
            self._point(name, array)

    def call(self, launch: Launch) -> None:
        self._point("D", launch.data)
        self._point("C", launch.converted)
        self._point("taken", launch.taken)
        self._point_at_model(launch.model)
        for names, box in ((("E", "EI", "EL"), launch.outbox), (("G", "GI", "GL"), launch.inbox)):
            self._point_at_box(names, box)
        slots = max(1, min(self.threads, launch.ntile))
        numbers = {
            "stride": launch.data.shape[1],
            "converted": launch.converted.shape[1],
            "ntile": launch.ntile,
            "nslot": slots,
            "nstep": launch.nstep,
            "first": launch.evaluation,
            "room": launch.outbox.room,
            "given_room": launch.inbox.room,
            "anew": 0,
        }
        for name, number in numbers.items():
            self.arguments_of_launch[AT[name]] = number
        self.kernel(self.arguments_of_launch.ctypes.data)

    def _point(self, name: str, array: NDArray[Any]) -> None:
        if self._held.get(name) is not array:
            self._held[name] = array
            self.arguments_of_launch[AT[name]] = array.ctypes.data

    def _point_at_model(self, model: Mapping[str, NDArray[Any]]) -> None:
        for name, dtype in _MODEL.items():
            array = model.get(dtype)
            if array is None or not array.size:
                array = self._held.setdefault(f"no {dtype}", np.zeros(1, dtype))
            self._point(name, self._reals(array.reshape(-1)) if name == "MR" and self.precision == "f32" else array)

    def _point_at_box(self, names: tuple[str, str, str], box: Outbox) -> None:
        for name, array in zip(names, (box.numbers, box.integers, box.lengths), strict=True):
            self._point(name, array)


def _required_compiler() -> compilers.Compiler:
    compiler = compilers.choose_compiler()
    if compiler is None:
        raise MissingDependencyError(
            f'the native backend needs a C compiler, and there is none: install clang or gcc, or run pip install '
            f'"{requirement("native")}"; DOVETAIL_CC names one that is not on the PATH, and `dovetail doctor` shows '
            "what was looked at"
        )
    return compiler


def compile_program(sources: Sources, target: Target) -> NativeProgram:
    """Fuse, print and compile stages."""
    if target.lanes not in LANES:
        raise ArgumentError(f"lanes={target.lanes}: a tile has one of {LANES} worlds")
    compiler = _required_compiler()
    flags = compilers.flags(compiler)
    fused = fuse(sources, target)
    texts = kernel_sources(fused, units=min(MOST_UNITS, threads.default_threads()))
    library = libraries.library(texts, compiler, flags)
    loaded = libraries.load(library)
    kernel = loaded.run
    kernel.argtypes, kernel.restype = [ctypes.c_void_p], ctypes.c_int
    program = NativeProgram(
        fused=fused,
        threads=target.threads,
        memory=Memory.of(fused, target.threads, Rows(*slot_rows(fused))),
        sources=texts,
        library=library,
        compiler=compiler,
        kernel=kernel,
    )
    if target.threads > 1:
        program.arguments_of_launch[AT["parallel"]] = threads.pool_address(compiler, flags)
    return program

"""Running a fused kernel as native code: its C is printed and compiled, and called with a struct that is kept."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.exports import Outbox
from dovetail.backends.lanes.fuse import Rows, Sources, Target, fuse
from dovetail.backends.lanes.program import FLOAT, LaneProgram, Launch, Memory, ReadyRequest
from dovetail.backends.native import compilers, libraries, poison, threads, traces
from dovetail.backends.native.kernel_text import ARGUMENTS, AT, MODEL, kernel_sources, slot_rows
from dovetail.backends.native.ready import NativeReadyLaunch
from dovetail.contracts.arena import Arena
from dovetail.distribution import requirement
from dovetail.errors import ArgumentError, MissingDependencyError
from dovetail.planning.auto import processors

LANES = (1, 2, 4, 8, 16, 32)

MOST_UNITS = 4
"""Translation units that a kernel is printed as at most, if there are so many processors."""

LANDING = {"LR": "real+", "LI": "int32+", "LC": "int32"}
"""The buffers of Data that numbers land in."""

_NOTHING = {name: np.zeros(1, dtype) for name, dtype in MODEL.items()}
"""What is pointed to where a Model has nothing."""

Arguments = NDArray[np.int64]
"""The struct of a launch: pointers and numbers, eight bytes each."""


@attrs.define(eq=False, kw_only=True)
class NativeProgram(LaneProgram):
    """A fused kernel in a library of its own, its sources, and the struct that it is called with."""

    sources: list[str]
    library: libraries.Library
    compiler: compilers.Compiler
    kernel: Callable[[int], int]
    arguments: Arguments = attrs.field(factory=lambda: np.zeros(len(ARGUMENTS), np.int64))
    pointed_to: dict[str, NDArray[Any]] = attrs.field(factory=dict, init=False)
    """The arrays that the struct points to, by argument."""

    def __attrs_post_init__(self) -> None:
        memory = self.memory
        self._point("S", memory.scratch)
        self._point("SI", memory.integers)
        self._point("R", memory.reals)
        self._point("TI", memory.table)
        self._point("alarm", np.zeros(1, np.int32))
        self._poison(poison.wanted())

    @property
    def source(self) -> str:
        """All of its C."""
        return "\n".join(self.sources)

    def call(self, launch: Launch) -> int:
        self._point("D", launch.data)
        self._point("C", launch.converted if launch.converted.size else launch.data)
        self._point("taken", launch.taken)
        self._point_at_model(launch.model)
        self._point_at_box(("E", "EI", "EL"), launch.outbox)
        self._point_at_box(("G", "GI", "GL"), launch.inbox)
        if self.fused.landed:
            assert launch.target is not None
            self._point_at_data(launch.target.arena)
        numbers = {
            "stride": launch.data.shape[1],
            "converted": launch.converted.shape[1],
            "ntile": launch.ntile,
            "nslot": max(1, min(self.threads, launch.ntile)),
            "nstep": launch.nstep,
            "first": launch.evaluation,
            "room": launch.outbox.room,
            "given_room": launch.inbox.room,
        }
        for name, number in numbers.items():
            self.arguments[AT[name]] = number
        return self.kernel(self.arguments.ctypes.data)

    def kept_ready(self, request: ReadyRequest) -> NativeReadyLaunch:
        return NativeReadyLaunch(self, request)

    def _poison(self, wanted: poison.Poison | None) -> None:
        """From now on fill scratch memory wherever it must not be read."""
        table = poison.table(self.fused)
        self.arguments[AT["npoison"]] = 0 if wanted is None else len(table)
        if wanted is not None:
            self._point("poison", table)
            self._point("poison_real", np.array([wanted.real], FLOAT[self.precision]))
            self.arguments[AT["poison_integer"]] = wanted.integer

    def _point_at_data(self, arena: Arena) -> None:
        """Where counts and lists land."""
        landed, places = self.fused.landed, arena.layout.places
        for name, buffer in LANDING.items():
            array = arena.buffers.get(buffer)
            if array is not None:
                self._point(name, array)
                self.arguments[AT[f"{name.lower()}_rows"]] = array.shape[1]
        fields = [places[each.field] for each in (*landed.counts, *landed.lists)]
        self._point("LO", np.array([place.offset for place in fields], np.int64))
        lists = fields[len(landed.counts) :]
        self.arguments[AT["land_room"]] = min((place.shape[0] for place in lists), default=0)

    def _point(self, name: str, array: NDArray[Any]) -> None:
        if self.pointed_to.get(name) is not array:
            self.pointed_to[name] = array
            self.arguments[AT[name]] = array.ctypes.data

    def _point_at_model(self, model: Mapping[str, NDArray[Any]]) -> None:
        for name, dtype in MODEL.items():
            array = model.get(dtype)
            if array is None or not array.size:
                array = _NOTHING[name]
            elif name == "MR" and self.precision == "f32":
                array = self._reals(array.reshape(-1))
            self._point(name, array)

    def _point_at_box(self, names: tuple[str, str, str], box: Outbox) -> None:
        for name, array in zip(names, (box.numbers, box.integers, box.lengths), strict=True):
            self._point(name, array)


def compile_program(sources: Sources, target: Target) -> NativeProgram:
    """Fuse, print and compile stages."""
    if target.lanes not in LANES:
        raise ArgumentError(f"lanes={target.lanes}: a tile has one of {LANES} worlds")
    compiler = _required_compiler()
    flags = compilers.flags(compiler)
    units = min(MOST_UNITS, processors())
    printed = traces.printed(sources, target, units, lambda: _printed(sources, target, units))
    fused, texts = printed.fused, printed.sources
    library = libraries.library(texts, compiler, flags)
    kernel = libraries.load(library).run
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
        program.arguments[AT["parallel"]] = threads.pool_address(compiler, flags)
    return program


def _printed(sources: Sources, target: Target, units: int) -> traces.Printed:
    """Trace, fuse and print."""
    fused = fuse(sources, target)
    return traces.Printed(fused, kernel_sources(fused, units))


def _required_compiler() -> compilers.Compiler:
    compiler = compilers.choose_compiler()
    if compiler is None:
        raise MissingDependencyError(
            "the native backend needs a C compiler, and there is none: install clang or gcc, or run pip install "
            f'"{requirement("native")}"; DOVETAIL_CC names one that is not on the PATH, and `dovetail doctor` shows '
            "what was looked at"
        )
    return compiler

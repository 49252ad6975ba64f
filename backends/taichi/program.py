"""Running a fused kernel with Taichi: its source is printed and compiled, and it is launched over tiles of worlds."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.exports import Exports, Outbox
from dovetail.backends.lanes.fuse import FusedKernel, Sources, Target, fuse
from dovetail.backends.lanes.imports import TileLists
from dovetail.backends.lanes.values import LaneError
from dovetail.backends.taichi import progress
from dovetail.backends.taichi import runtime as runtimes
from dovetail.backends.taichi.cache import (
    forgotten_on_failure,
    load_module,
    writable_directory,
    write_module,
)
from dovetail.backends.taichi.kernel_text import ADDRESS_BITS, DONE, kernel_source
from dovetail.contracts.arena import ALIGNMENT, aligned_zeros

logger = logging.getLogger(__name__)

LANES = (1, 2, 4, 8, 16, 32)

FLOAT: dict[str, np.dtype[Any]] = {"f64": np.dtype(np.float64), "f32": np.dtype(np.float32)}


def _flat(buffers: Mapping[str, NDArray[Any]], dtype: str) -> NDArray[Any]:
    """A Model buffer with one axis, never empty."""
    buffer = buffers.get(dtype)
    return np.zeros(1, dtype) if buffer is None or not buffer.size else buffer.reshape(-1)


@attrs.frozen(kw_only=True)
class _Launch:
    """What one launch of a kernel works on."""

    data: NDArray[Any]
    converted: NDArray[Any]
    ntile: int
    model: Mapping[str, NDArray[Any]]
    nstep: int
    evaluation: int
    taken: NDArray[Any]
    outbox: Outbox
    inbox: Outbox


@attrs.define(eq=False)
class Program:
    """A fused kernel, its source, and its scratch memory."""

    fused: FusedKernel
    source: str
    path: Path
    threads: int
    runtime: str
    kernel: Callable[..., None]
    scratch: NDArray[Any]
    integers: NDArray[Any]
    """Uniform integers of all slots."""
    reals: NDArray[Any]
    """Uniform reals of all slots."""
    table: NDArray[Any]
    """Constant integers of all stages, and how often each group of a repeatable program runs."""
    compile_seconds: float = 0.0
    _mirror: NDArray[Any] | None = None

    @property
    def lanes(self) -> int:
        return self.fused.lanes

    @property
    def precision(self) -> str:
        return self.fused.precision

    @property
    def rows(self) -> int:
        """Scratch rows per slot."""
        return self.fused.rows.numbers

    @property
    def live(self) -> frozenset[str]:
        """Data fields the kernel touches after unneeded results were dropped."""
        return self.fused.fields

    @property
    def exports(self) -> Exports:
        return self.fused.exports

    @property
    def repeats(self) -> Mapping[str, int]:
        """Groups of stages of a repeatable program: where in `table` stands how often each runs."""
        return self.fused.repeats

    def run(
        self,
        data_buffer: NDArray[Any],
        model_buffers: Mapping[str, NDArray[Any]],
        nstep: int,
        evaluation: int = 0,
        converted: NDArray[Any] | None = None,
        only: NDArray[Any] | None = None,
        outbox: Outbox | None = None,
        inbox: Outbox | None = None,
    ) -> NDArray[Any]:
        """Run on every tile of `data_buffer` (ntile, size, W): `nstep` steps, or one part of a step.

        Gives for each tile how many times more room its lists would have needed, or 0: such tiles are as they were,
        to be run by a program of larger `growth`, which takes this array as `only`.

        A program that is only part of a step has one evaluation, and `evaluation` says which. `converted`
        (ntile, size, W) holds the numbers of the fields that the program was told to find there. What it exports is
        put into `outbox`, which is enlarged as needed; what it imports it finds in `inbox`.
        """
        runtimes.check_process()
        self._check(data_buffer)
        converted = data_buffer[:, :0] if converted is None else converted
        rows = self.fused.converted_rows
        if converted.shape != (data_buffer.shape[0], rows, self.lanes):
            raise ValueError(f"converted fields have {converted.shape[1]} rows, not {rows}")
        if rows:
            self._check(converted)
        taken = np.zeros(1 + data_buffer.shape[0], np.int32)
        if only is not None:
            taken[1:] = np.where(only > 0, 0, DONE)
        outbox = self.outbox() if outbox is None else outbox
        outbox.prepare(data_buffer.shape[0])
        launch = _Launch(
            data=data_buffer,
            converted=converted,
            ntile=data_buffer.shape[0],
            model=model_buffers,
            nstep=nstep,
            evaluation=evaluation,
            taken=taken,
            outbox=outbox,
            inbox=self.inbox() if inbox is None else inbox,
        )
        while (taken[1:] == 0).any():
            taken[0] = 0
            with runtimes.ONE_AT_A_TIME:
                self._launch(launch)
            if not outbox.too_small:
                break
            outbox.enlarge()
        return np.maximum(taken[1:], 0)

    def outbox(self) -> Outbox:
        """Room for what the program exports."""
        return Outbox(self.exports, self.lanes, FLOAT[self.precision], self.fused.table_fields)

    def room(self, lists: TileLists) -> int:
        """Rows that the kernel has for lists it imports."""
        listed = [*self.fused.imports.numbers.lists, *self.fused.imports.integers.lists]
        places = [self.fused.places[part.export.memory] for part in listed]
        return min((place.shape[0] for place in places), default=max(1, lists.longest))

    def inbox(self) -> Outbox:
        """Room for what the program imports."""
        return Outbox(self.fused.imports, self.lanes, FLOAT[self.precision])

    def _launch(self, launch: _Launch) -> None:
        buffer, converted, model = launch.data, launch.converted, launch.model
        self.kernel(
            self._numbers(buffer),
            self._numbers(converted if converted.size else buffer),
            self._numbers(self.scratch),
            self.integers,
            self.table,
            self._reals(_flat(model, "float64")),
            _flat(model, "int32"),
            _flat(model, "uint8"),
            launch.taken,
            *self._optional(model),
            buffer.shape[1],
            converted.shape[1],
            launch.ntile,
            max(1, min(self.threads, launch.ntile)),
            launch.nstep,
            launch.evaluation,
            *self._boxed(launch.outbox),
            *self._boxed(launch.inbox),
        )

    def _boxed(self, outbox: Outbox) -> list[Any]:
        """Arguments for what is exported, or imported."""
        known = {
            "E": self._numbers(outbox.numbers),
            "EI": outbox.integers,
            "EL": outbox.lengths,
            "room": outbox.room,
        }
        return [known[name] for name in outbox.exports.names]

    def _optional(self, model: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """Arguments that not every kernel has."""
        known = {"R": self.reals, "MF": _flat(model, "float32")}
        return [known[name] for name in self.fused.optional]

    def _check(self, buffer: NDArray[Any]) -> None:
        """An array of another kind would be read out of bounds, or crash the process."""
        if (
            buffer.shape[2] != self.lanes
            or buffer.dtype != FLOAT[self.precision]
            or not buffer.flags.c_contiguous
        ):
            raise ValueError(
                f"the program was built for C-contiguous tiles of {self.lanes} lanes of {FLOAT[self.precision]}, "
                f"not {buffer.shape} of {buffer.dtype}"
            )
        if buffer.ctypes.data % ALIGNMENT:
            raise ValueError(f"the Data buffer must start at a multiple of {ALIGNMENT} bytes")

    def _numbers(self, buffer: NDArray[Any]) -> NDArray[Any]:
        """A buffer as the kernel takes it: one axis of lane vectors, or of numbers where a tile is one world."""
        return buffer.reshape(-1, self.lanes) if self.lanes > 1 else buffer.reshape(-1)

    def _reals(self, reals: NDArray[Any]) -> NDArray[Any]:
        """The Model's reals in the kernel's precision, cast anew so that edits are seen."""
        if self.precision == "f64":
            return reals
        if self._mirror is None or self._mirror.shape != reals.shape:
            self._mirror = np.empty(reals.shape, np.float32)
        self._mirror[:] = reals
        return self._mirror

    def compile(self) -> None:
        """Compile now, by a launch over no tiles."""
        began = time.perf_counter()
        lines = self.source.count("\n")
        logger.info("compiling %s with %s (%d lines)", self.path.name, self.runtime, lines)
        unused = aligned_zeros((1, 1, self.lanes), FLOAT[self.precision])
        nothing = _Launch(
            data=unused,
            converted=unused,
            ntile=0,
            model={},
            nstep=0,
            evaluation=0,
            taken=np.zeros(1, np.int32),
            outbox=self.outbox(),
            inbox=self.inbox(),
        )
        with (
            runtimes.ONE_AT_A_TIME,
            progress.telling(f"compiling a kernel of {lines} lines with {self.runtime}", lines),
            forgotten_on_failure(self.path),
            runtimes.literal_precision(self.runtime, self.precision),
            runtimes.short_positions(self.runtime),
        ):
            self._launch(nothing)
        self.compile_seconds = time.perf_counter() - began
        logger.info("compiled %s in %.1f s", self.path.name, self.compile_seconds)


def compile_program(sources: Sources, target: Target) -> Program:
    """Fuse, print and compile stages."""
    if target.lanes not in LANES:
        raise ValueError(
            f"lanes={target.lanes}: a tile has one of {LANES} worlds (powers of two; others crash the runtimes)"
        )
    runtime = runtimes.choose_runtime(target.options.get("runtime", "auto"))
    arch = target.options.get("arch", "auto")
    runtimes.check_lanes(runtimes.choose_arch(arch), target.lanes)
    fused = fuse(sources, target)
    source = kernel_source(fused, runtime)
    with runtimes.ONE_AT_A_TIME:
        runtimes.start(runtime, arch)
        path = write_module(source, writable_directory())
        kernel = load_module(path, source).run
    dtype, threads = FLOAT[target.precision], target.threads
    program = Program(
        fused=fused,
        source=source,
        path=path,
        threads=threads,
        runtime=runtime,
        kernel=kernel,
        scratch=scratch_memory(fused, threads),
        integers=np.zeros(threads * fused.rows.integers + 1, np.int32),
        reals=np.zeros(threads * fused.rows.reals + 1, dtype),
        table=fused.table.copy(),
    )
    program.compile()
    return program


def scratch_memory(fused: FusedKernel, threads: int) -> NDArray[Any]:
    """Numbers of all slots, each of which starts from the same content."""
    rows = fused.rows.numbers
    if threads * rows > ADDRESS_BITS:
        raise LaneError(
            f"{threads} threads with {rows} numbers of scratch each: more than {ADDRESS_BITS} in all"
        )
    scratch = aligned_zeros((threads * rows, fused.lanes), FLOAT[fused.precision])
    used = np.flatnonzero(
        fused.first
    )  # memory that is never touched, as of lists that stay short, costs nothing
    for thread in range(threads):
        scratch[thread * rows + used] = fused.first[used, None]
    return scratch

"""Running a fused kernel with Taichi: its source is printed and compiled, and called for every launch."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.exports import Outbox
from dovetail.backends.lanes.fuse import FusedKernel, Sources, Target, fuse
from dovetail.backends.lanes.program import ALARM, FLOAT, LACKING, TOO_LONG, LaneProgram, Launch, Memory
from dovetail.backends.lanes.values import LaneError
from dovetail.backends.taichi import progress
from dovetail.backends.taichi import runtime as runtimes
from dovetail.backends.taichi.cache import (
    forgotten_on_failure,
    load_module,
    writable_directory,
    write_module,
)
from dovetail.backends.taichi.device_program import DeviceProgram, compile_device_program
from dovetail.backends.taichi.kernel_text import ADDRESS_BITS, kernel_source
from dovetail.contracts.arena import aligned_zeros

logger = logging.getLogger(__name__)

LANES = (1, 2, 4, 8, 16, 32)


def _flat(buffers: Mapping[str, NDArray[Any]], dtype: str) -> NDArray[Any]:
    """A Model buffer with one axis, never empty."""
    buffer = buffers.get(dtype)
    return np.zeros(1, dtype) if buffer is None or not buffer.size else buffer.reshape(-1)


@attrs.define(eq=False, kw_only=True)
class Program(LaneProgram):
    """A fused kernel that a runtime has compiled, and its source."""

    source: str
    path: Path
    runtime: str
    kernel: Callable[..., None]
    compile_seconds: float = 0.0

    def call(self, launch: Launch) -> int:
        self._launch(launch)
        lacking = LACKING if (launch.taken[1:] > 0).any() else 0
        too_long = TOO_LONG if launch.outbox.too_small else 0
        return lacking | too_long | (ALARM if launch.outbox.alarmed else 0)

    def _launch(self, launch: Launch) -> None:
        runtimes.check_process()
        with runtimes.ONE_AT_A_TIME:
            self.kernel(*self.arguments(launch))

    def arguments(self, launch: Launch) -> tuple[Any, ...]:
        """What the kernel is called with, in the order in which it is printed."""
        buffer, converted, model = launch.data, launch.converted, launch.model
        return (
            self._numbers(buffer),
            self._numbers(converted if converted.size else buffer),
            self._numbers(self.memory.scratch),
            self.memory.integers,
            self.memory.table,
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
        known = {"R": self.memory.reals, "MF": _flat(model, "float32")}
        return [known[name] for name in self.fused.optional]

    def _numbers(self, buffer: NDArray[Any]) -> NDArray[Any]:
        """A buffer as the kernel takes it: one axis of lane vectors, or of numbers where a tile is one world."""
        return buffer.reshape(-1, self.lanes) if self.lanes > 1 else buffer.reshape(-1)

    def launch_of_nothing(self) -> Launch:
        """One over no tiles, by which a kernel is compiled."""
        unused = aligned_zeros((1, 1, self.lanes), FLOAT[self.precision])
        return Launch(
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

    def compile(self) -> None:
        """Compile now, by a launch over no tiles."""
        began = time.perf_counter()
        lines = self.source.count("\n")
        logger.info("compiling %s with %s (%d lines)", self.path.name, self.runtime, lines)
        with (
            runtimes.ONE_AT_A_TIME,
            progress.telling(f"compiling a kernel of {lines} lines with {self.runtime}", lines),
            forgotten_on_failure(self.path),
            runtimes.literal_precision(self.runtime, self.precision),
            runtimes.short_positions(self.runtime),
        ):
            self._launch(self.launch_of_nothing())
        self.compile_seconds = time.perf_counter() - began
        logger.info("compiled %s in %.1f s", self.path.name, self.compile_seconds)


def compile_program(sources: Sources, target: Target) -> Program | DeviceProgram:
    """Fuse, print and compile stages."""
    if target.lanes not in LANES:
        raise ValueError(
            f"lanes={target.lanes}: a tile has one of {LANES} worlds (powers of two; others crash the runtimes)"
        )
    runtime = runtimes.choose_runtime(target.options.get("runtime", "auto"))
    arch = runtimes.choose_arch(target.options.get("arch", "auto"))
    if arch != "cpu":
        return compile_device_program(sources, target, runtime, arch)
    fused = fuse(sources, target)
    source = kernel_source(fused, runtime)
    with runtimes.ONE_AT_A_TIME:
        runtimes.start(runtime, arch)
        path = write_module(source, writable_directory())
        kernel = load_module(path, source).run
    _check_addresses(fused, target.threads)
    program = Program(
        fused=fused,
        threads=target.threads,
        memory=Memory.of(fused, target.threads),
        source=source,
        path=path,
        runtime=runtime,
        kernel=kernel,
    )
    program.compile()
    return program


def _check_addresses(fused: FusedKernel, threads: int) -> None:
    rows = fused.rows.numbers
    if threads * rows > ADDRESS_BITS:
        raise LaneError(
            f"{threads} threads with {rows} numbers of scratch each: more than {ADDRESS_BITS} in all"
        )

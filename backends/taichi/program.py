"""Running a fused kernel with Taichi: its source is printed and compiled, and called for every launch."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

import attrs

from dovetail.backends.lanes.fuse import FusedKernel, Sources, Target, fuse
from dovetail.backends.lanes.program import LaneProgram, Launch, Memory
from dovetail.backends.lanes.values import LaneError
from dovetail.backends.taichi import progress
from dovetail.backends.taichi import runtime as runtimes
from dovetail.backends.taichi.cache import (
    forgotten_on_failure,
    load_module,
    writable_directory,
    write_module,
)
from dovetail.backends.taichi.kernel_text import ADDRESS_BITS, kernel_source

logger = logging.getLogger(__name__)

LANES = (1, 2, 4, 8, 16, 32)


@attrs.define(eq=False, kw_only=True)
class Program(LaneProgram):
    """A fused kernel that a runtime has compiled, and its source."""

    source: str
    path: Path
    runtime: str
    kernel: Callable[..., None]
    compile_seconds: float = 0.0

    def call(self, launch: Launch) -> None:
        runtimes.check_process()
        with runtimes.ONE_AT_A_TIME:
            self.kernel(*self.arguments(launch))

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
            self.call(self.launch_of_nothing())
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

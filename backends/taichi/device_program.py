"""Running a fused kernel on a device: its memory stays there, and steps follow each other without a round trip.

To whoever runs lanes this is a program for tiles of one world. On the device the worlds lie side by side (see
`world_text`); what of Data the kernels load and store is kept there from call to call, and only what has changed on
the host since is brought over. Scratch has room for as many worlds as memory allows: more are run one part after the
other.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.fuse import FusedKernel, Sources, Target, fuse
from dovetail.backends.lanes.program import (
    ALARM,
    DONE,
    FLOAT,
    LACKING,
    TOO_LONG,
    LaneProgram,
    Launch,
    Memory,
)
from dovetail.backends.taichi import progress, python_runtime
from dovetail.backends.taichi import runtime as runtimes
from dovetail.backends.taichi.cache import (
    forgotten_on_failure,
    load_module,
    writable_directory,
    write_module,
)
from dovetail.backends.taichi.device_check import DeviceCheck
from dovetail.backends.taichi.device_errors import ON_PROCESSOR, DeviceError, failures
from dovetail.backends.taichi.device_memory import DeviceMemory, worlds_at_once
from dovetail.backends.taichi.device_text import BEHIND, CUT_OFF, DeviceText, StepKernel, device_text
from dovetail.backends.taichi.traffic import Traffic

logger = logging.getLogger(__name__)

Array = NDArray[Any]


@attrs.define(eq=False, kw_only=True)
class DeviceProgram(LaneProgram):
    """Kernels that a runtime has compiled for a device, and the memory that they have there."""

    text: DeviceText
    path: Path
    runtime: str
    arch: str
    module: ModuleType
    ti: Any
    traffic: Traffic = attrs.field(factory=Traffic)
    compile_seconds: float = 0.0
    check: DeviceCheck | None = None
    """Made once, before the first launch that does something."""
    _device: DeviceMemory | None = attrs.field(default=None, init=False)

    @property
    def source(self) -> str:
        return self.text.source

    def call(self, launch: Launch) -> int:
        runtimes.check_process()
        with runtimes.ONE_AT_A_TIME:
            check, self.check = self.check, None
            if check is not None and launch.ntile:
                check.make(self, launch)
            self._run(launch)
        lacking = LACKING if (launch.taken[1:] > 0).any() else 0
        too_long = TOO_LONG if launch.outbox.too_small else 0
        return lacking | too_long | (ALARM if launch.outbox.alarmed else 0)

    # ---- a launch

    def _run(self, launch: Launch) -> None:
        device = self._memory_for(launch.ntile)
        todo = launch.taken[1:] == 0
        if not todo.any():
            return
        device.take_model({**launch.model, "float64": self._model_reals(launch.model)}, self.memory.table)
        device.take_data(launch.data, self.text.load)
        device.take_converted(launch.converted)
        device.take_box("G", launch.inbox, self.fused.imports)
        device.make_box("E", launch.outbox, self.fused.exports)
        device.put("taken", launch.taken[1:])
        for at in range(0, launch.ntile, device.at_once):
            count = min(device.at_once, launch.ntile - at)
            if todo[at : at + count].any():
                self._run_part(device, launch, at, count)
        launch.taken[1:] = device.get("taken", launch.ntile)
        self._check_loops(launch.taken[1:])
        ran = todo & (launch.taken[1:] == DONE)
        device.give_data(launch.data, self.text.store, ran)
        device.give_box("E", launch.outbox, self.fused.exports, todo, ran)

    def _check_loops(self, taken: Array) -> None:
        """Some drivers end loops after so many turns, and say nothing."""
        lost = np.flatnonzero(taken == CUT_OFF)
        if len(lost):
            raise DeviceError(
                f"the {self.arch} driver ends loops before they are done (Mesa's llvmpipe does after 65,535 turns "
                f"in a kernel), and world {lost[0]}{' and others' if len(lost) > 1 else ''} needed more. Worlds "
                f"that were not run to the end are as they were. Use a device that does not, or {ON_PROCESSOR}"
            )

    def _model_reals(self, model: Mapping[str, Array]) -> Array:
        reals = model.get("float64")
        return np.zeros(1) if reals is None or not reals.size else self._reals(reals.reshape(-1))

    def _run_part(self, device: DeviceMemory, launch: Launch, at: int, count: int) -> None:
        """All steps of as many worlds as scratch holds."""
        first, last = launch.evaluation, launch.evaluation + self.fused.evaluations - 1
        self._kernel("begin", device, self.text.begin_arguments, at, count, first, 0, launch.inbox.room)
        passes = launch.nstep
        while True:
            for _ in range(passes):
                self._pass(device, at, count, (first, last, launch.nstep))
            self._kernel(
                "end", device, self.text.end_arguments, at, count, first, 0, launch.nstep, launch.outbox.room
            )
            if self.fused.again is None:
                return
            taken = device.get("taken", launch.ntile)[at : at + count]
            if not (taken == BEHIND).any():
                return
            passes = 1

    def _pass(self, device: DeviceMemory, at: int, count: int, numbers: tuple[int, int, int]) -> None:
        """Every kernel of a step, evaluation by evaluation."""
        first, last, nstep = numbers
        for e in range(first, last + 1):
            for kernel in self.text.steps:
                if e == 0 or not kernel.first_only:
                    for _ in range(self._times(kernel)):
                        self._kernel(
                            kernel.name, device, self.text.arguments, at, count, e, 0, first, last, nstep
                        )

    def _times(self, kernel: StepKernel) -> int:
        """How often a kernel of a repeatable program runs."""
        return int(self.memory.table[self.repeats[kernel.groups[0]]]) if self.repeats else 1

    def _kernel(self, name: str, device: DeviceMemory, arrays: tuple[str, ...], *numbers: int) -> None:
        self.traffic.launches += 1
        with failures(self.arch):
            getattr(self.module, name)(*(device[array] for array in arrays), *numbers)

    def in_python(self) -> DeviceProgram:
        """The same kernels, run by Python itself."""
        return DeviceProgram(
            fused=self.fused,
            threads=1,
            memory=_nothing(self.fused),
            text=self.text,
            path=self.path,
            runtime=python_runtime.NAME,
            arch="processor",
            module=python_runtime.load(self.source),
            ti=python_runtime,
        )

    # ---- memory

    def _memory_for(self, nworld: int) -> DeviceMemory:
        if self._device is None or self._device.nworld != nworld:
            self._device = None  # so that its memory is free before there is more
            at_once = worlds_at_once(self.fused, nworld)
            self._device = DeviceMemory(
                self.ti, self.module, self.fused, self.traffic, nworld, at_once, self.text.rows
            )
        return self._device

    def compile(self) -> None:
        """Compile all kernels now, by launches over no worlds."""
        began = time.perf_counter()
        kernels = len(self.text.steps) + 2
        logger.info(
            "compiling %s for %s with %s (%d kernels, %d lines)",
            self.path.name,
            self.arch,
            self.runtime,
            kernels,
            self.text.lines,
        )
        what = f"compiling {kernels} kernels of {self.text.lines} lines in all for {self.arch} with {self.runtime}"
        with (
            runtimes.ONE_AT_A_TIME,
            progress.telling(what, self.text.lines),
            forgotten_on_failure(self.path),
            runtimes.literal_precision(self.runtime, self.precision),
            runtimes.short_positions(self.runtime),
        ):
            device = DeviceMemory(self.ti, self.module, self.fused, Traffic(), 0, 0, self.text.rows)
            outbox, inbox = self.outbox(), self.inbox()
            device.take_model({"float64": np.zeros(1, FLOAT[self.precision])}, self.memory.table)
            device.take_box("G", inbox, self.fused.imports)
            device.make_box("E", outbox, self.fused.exports)
            self._kernel("begin", device, self.text.begin_arguments, 0, 0, 0, 0, inbox.room)
            for number, kernel in enumerate(self.text.steps, start=2):
                self._kernel(kernel.name, device, self.text.arguments, 0, 0, 0, 0, 0, 0, 0)
                self.ti.sync()  # the driver's compiler has its turn when a kernel is first run
                seconds = time.perf_counter() - began
                logger.info(
                    "%d of %d kernels after %.1f s: %s", number, kernels, seconds, "; ".join(kernel.stages)
                )
            self._kernel("end", device, self.text.end_arguments, 0, 0, 0, 0, 0, outbox.room)
            self.ti.sync()
            self.traffic.launches = 0
        self.compile_seconds = time.perf_counter() - began
        logger.info("compiled %s in %.1f s", self.path.name, self.compile_seconds)


def compile_device_program(sources: Sources, target: Target, runtime: str, arch: str) -> DeviceProgram:
    """Fuse, print and compile stages for a device."""
    sources = attrs.evolve(sources, layout=attrs.evolve(sources.layout, lean=True))
    fused = fuse(sources, target)
    text = device_text(fused, runtime)
    with runtimes.ONE_AT_A_TIME:
        ti = runtimes.start(runtime, arch)
        path = write_module(text.source, writable_directory())
        module = load_module(path, text.source)
    program = DeviceProgram(
        check=DeviceCheck(sources, target),
        fused=fused,
        threads=1,
        memory=_nothing(fused),
        text=text,
        path=path,
        runtime=runtime,
        arch=arch,
        module=module,
        ti=ti,
    )
    program.compile()
    return program


def _nothing(fused: FusedKernel) -> Memory:
    """Memory on the host: none but the table."""
    none = np.zeros(0, FLOAT[fused.precision])
    return Memory(scratch=none, integers=np.zeros(0, np.int32), reals=none, table=fused.table.copy())

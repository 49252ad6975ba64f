"""Whether a device computes what the processor computes: tried once for each kernel, before its first launch.

The same stages are compiled for the processor, and some worlds take two steps on both: those at hand, and the same
with other velocities, more than lie side by side, so that a wrong address shows as much as wrong arithmetic. How much
they may differ is what the processor itself makes of last bits: solvers stop an iteration earlier or later for them.
A device that passes is remembered with the text of the kernels and its driver, so that this is not repeated.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.exports import Outbox
from dovetail.backends.lanes.fuse import Sources, Target
from dovetail.backends.lanes.kernel_cache import write_whole
from dovetail.backends.lanes.program import FLOAT, LaneProgram, Launch, Outcome
from dovetail.backends.taichi.cache import writable_directory
from dovetail.backends.taichi.device_errors import ON_PROCESSOR, DeviceMismatchError
from dovetail.backends.taichi.world_text import SIDE
from dovetail.contracts.arena import aligned_zeros

if TYPE_CHECKING:
    from dovetail.backends.taichi.device_program import DeviceProgram

logger = logging.getLogger(__name__)

Array = NDArray[Any]

SWITCH = "DOVETAIL_DEVICE_CHECK"
"""With 0 devices are trusted; with `always` they are tried even if they passed before."""

WORLDS = SIDE + 8
STEPS = 2
TOLERANCE = {"f64": 1e-9, "f32": 2e-3}
"""Largest difference, of the largest number of the field or 1; and"""
SENSITIVE = 1000.0
"""so many times what the processor's results differ by when velocities change in their last bits."""
LAST_BITS = {"f64": 1e-15, "f32": 5e-7}
TRIALS = 2
"""How often they are changed."""

NOISE = {"qvel": 0.05, "ctrl": 0.1}
"""How much worlds are made to differ, where these fields are loaded."""

DRIVERS = (
    "/usr/share/vulkan/icd.d",
    "/etc/vulkan/icd.d",
    "/usr/local/share/vulkan/icd.d",
    "/proc/driver/nvidia/version",
)
"""What tells drivers from each other; also what VK_ICD_FILENAMES and VK_DRIVER_FILES name."""


@attrs.frozen
class DeviceCheck:
    """The stages of a program, to be compiled for the processor."""

    sources: Sources
    target: Target

    def make(self, program: DeviceProgram, launch: Launch) -> None:
        """Raise DeviceMismatchError unless the device agrees with the processor."""
        switch = os.environ.get(SWITCH, "")
        passed = _passed(program)
        if switch == "0" or (switch != "always" and passed.is_file()):
            return
        reference = self._reference()
        if reference is None:
            logger.warning(
                "there is no C compiler: %s is compared with Python, which takes a while", program.arch
            )
            reference = program.in_python()
        worlds = _Worlds.of(self.sources, program, launch)
        expected, found = worlds.run(reference), worlds.run(program)
        near = [
            worlds.nearby(self.sources, program.precision, trial).run(reference) for trial in range(TRIALS)
        ]
        self._compare(program, expected, found, near)
        logger.info("%s agrees with the processor in %d worlds", program.arch, WORLDS)
        try:
            write_whole(passed, b"")
        except OSError as error:
            logger.info("%s is not kept: %s", passed, error)

    def _reference(self) -> LaneProgram | None:
        """The stages for the processor; None if nothing here compiles them."""
        from dovetail.registry import default_registry

        backend: Any = default_registry().backends.get("native")
        if backend is None or backend.missing():
            return None
        target = attrs.evolve(self.target, lanes=1, threads=1, backend="native", lands=False, options={})
        program: LaneProgram = backend.compile_program(self.sources, target)
        return program

    def _compare(self, program: DeviceProgram, expected: _Ran, found: _Ran, near: list[_Ran]) -> None:
        """Raise if what was found is not what was expected, give or take what is found near it."""
        for what in ("lacking", "lengths"):
            wanted, there = getattr(expected, what), getattr(found, what)
            settled = np.all([getattr(each, what) == wanted for each in near], axis=0)
            wrong = np.flatnonzero((wanted != there) & settled)
            if len(wrong) and program.precision == "f64":
                world = int(wrong[0])
                text = "room that lists lack" if what == "lacking" else "entries of lists"
                raise self._mismatch(program, f"{text} of world {world}: {there[world]}, not {wanted[world]}")
        for name in self.sources.store:
            place = self.sources.data_places[name]
            rows = slice(place.offset, place.offset + place.count)
            numbers = expected.data[:, rows, 0]
            allowed = TOLERANCE[program.precision] * _size(numbers)
            allowed += SENSITIVE * max(_largest(numbers, each.data[:, rows, 0]) for each in near)
            problem = _difference(numbers, found.data[:, rows, 0], allowed)
            if problem is not None:
                raise self._mismatch(program, f"{name} {problem}")

    def _mismatch(self, program: DeviceProgram, what: str) -> DeviceMismatchError:
        return DeviceMismatchError(
            f"the {program.arch} device does not compute what the processor does: after {STEPS} steps of {WORLDS} "
            f"worlds, {what}. It is not used; {ON_PROCESSOR}. The kernels are in {program.path}"
        )


def _size(numbers: Array) -> float:
    """The largest of them, or 1."""
    return max(1.0, float(np.max(np.abs(numbers[np.isfinite(numbers)]), initial=0.0)))


def _errors(expected: Array, found: Array) -> Array:
    """By how much numbers differ; what is not a number differs from all others."""
    with np.errstate(all="ignore"):
        same = (expected == found) | (np.isnan(expected) & np.isnan(found))
        error = np.where(same, 0.0, np.abs(expected - found))
    error[np.isnan(error)] = np.inf
    return error


def _largest(expected: Array, found: Array) -> float:
    """The largest difference that is a number."""
    error = _errors(expected, found)
    return float(np.max(error[np.isfinite(error)], initial=0.0))


def _difference(expected: Array, found: Array, allowed: float) -> str | None:
    """Where two fields differ most, if that is too much."""
    error = _errors(expected, found)
    if not error.size or error.max() <= allowed:
        return None
    world, number = np.unravel_index(int(np.argmax(error)), error.shape)
    return f"at {number} of world {world} is {found[world, number]:.17g}, not {expected[world, number]:.17g}"


@attrs.frozen(eq=False)
class _Ran:
    """What some worlds have become."""

    data: Array
    lacking: Array
    lengths: Array


@attrs.frozen(eq=False)
class _Worlds:
    """Worlds to try a device with."""

    data: Array
    converted: Array
    inbox: Outbox
    launch: Launch
    nstep: int

    @classmethod
    def of(cls, sources: Sources, program: DeviceProgram, launch: Launch) -> _Worlds:
        """Those of a launch in turn, as often as there is room for them, with other velocities."""
        chosen = np.linspace(0, launch.ntile - 1, WORLDS).round().astype(int)
        data = _picked(launch.data, chosen, FLOAT[program.precision])
        rng = np.random.default_rng(0)
        for name, scale in NOISE.items():
            if name in sources.load:
                place = sources.data_places[name]
                noise = scale * rng.standard_normal((WORLDS, place.count))
                noise[:2] = 0.0  # the first stay as they are
                data[:, place.offset : place.offset + place.count, 0] += noise
        inbox = Outbox(launch.inbox.exports, 1, FLOAT[program.precision], room=launch.inbox.room)
        inbox.prepare(WORLDS)
        if launch.inbox.exports.any:
            _pick_box(launch, inbox, chosen)
        whole = any(stage.integrate for stage in sources.stages)
        return cls(
            data=data,
            converted=_picked(launch.converted, chosen, FLOAT[program.precision]),
            inbox=inbox,
            launch=launch,
            nstep=STEPS if whole else launch.nstep,
        )

    def nearby(self, sources: Sources, precision: str, trial: int) -> _Worlds:
        """The same with other last bits."""
        data = aligned_zeros(self.data.shape, self.data.dtype)
        data[...] = self.data
        rng = np.random.default_rng(trial)
        for name in ("qpos", "qvel"):
            if name in sources.load:
                place = sources.data_places[name]
                rows = data[:, place.offset : place.offset + place.count]
                rows *= 1.0 + LAST_BITS[precision] * rng.standard_normal(rows.shape)
        return attrs.evolve(self, data=data)

    def run(self, program: LaneProgram) -> _Ran:
        data = aligned_zeros(self.data.shape, self.data.dtype)
        data[...] = self.data
        outbox = program.outbox()
        outcome: Outcome = program.run(
            data,
            self.launch.model,
            self.nstep,
            self.launch.evaluation,
            converted=self.converted,
            outbox=outbox,
            inbox=self.inbox,
        )
        lacking = np.zeros(WORLDS, np.int32) if outcome.lacking is None else outcome.lacking
        return _Ran(data, lacking, outbox.lengths.copy())


def _picked(numbers: Array, chosen: Array, dtype: np.dtype[Any]) -> Array:
    """(ntile, rows, 1) of the chosen tiles, in memory of their own."""
    picked = aligned_zeros((len(chosen), *numbers.shape[1:]), dtype)
    picked[...] = numbers[chosen]
    return picked


def _pick_box(launch: Launch, inbox: Outbox, chosen: Array) -> None:
    exports, given = inbox.exports, launch.inbox
    inbox.lengths[:] = given.lengths[chosen]
    for to, source, buffer in (
        (inbox.numbers, given.numbers, exports.numbers),
        (inbox.integers, given.integers, exports.integers),
    ):
        rows = buffer.rows(given.room)
        if rows:
            to[: len(chosen) * rows].reshape(len(chosen), rows)[...] = source[: launch.ntile * rows].reshape(
                launch.ntile, rows
            )[chosen]


# ---- devices that passed


def _passed(program: DeviceProgram) -> Path:
    """The file that says that a device passed with these kernels."""
    said = [program.source, program.runtime, program.arch, repr(program.ti.__version__), *_driver()]
    name = hashlib.sha256("\n".join(said).encode()).hexdigest()[:20]
    return writable_directory() / f"passed_{name}"


def _driver() -> Iterator[str]:
    """What is known of the drivers of this machine: the files that name them, and when they were changed."""
    named = [os.environ.get(name, "") for name in ("VK_ICD_FILENAMES", "VK_DRIVER_FILES")]
    folders = [Path(name) for name in DRIVERS]
    files = [Path(part) for names in named for part in names.split(os.pathsep) if part]
    for path in sorted([*files, *(file for folder in folders for file in _inside(folder))]):
        try:
            state = path.stat()
        except OSError:
            continue
        yield f"{path} {state.st_size} {state.st_mtime_ns}"


def _inside(path: Path) -> list[Path]:
    try:
        return sorted(path.iterdir()) if path.is_dir() else [path]
    except OSError:
        return []

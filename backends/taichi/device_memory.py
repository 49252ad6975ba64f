"""The memory of a program on a device: what it keeps there, and what is copied when."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.exports import Buffer, Exports, Outbox
from dovetail.backends.lanes.fuse import FusedKernel
from dovetail.backends.lanes.program import FLOAT
from dovetail.backends.taichi.device_errors import ON_PROCESSOR, DeviceMemoryError
from dovetail.backends.taichi.device_text import Copied
from dovetail.backends.taichi.traffic import Traffic
from dovetail.backends.taichi.world_text import SIDE
from dovetail.errors import ArgumentError

Array = NDArray[Any]

MEMORY = "DOVETAIL_DEVICE_MEMORY"
"""Environment variable: most bytes that scratch memory on a device may take."""

DEFAULT_MEMORY = 1 << 30

MOST_NUMBERS = (1 << 31) - 1
"""Addresses in a kernel have 32 bits."""

REALS = ("S", "R", "D", "C", "E", "G", "MR", "first")
"""Arrays that hold numbers of the kernel's precision."""

_MODEL = {"MR": "float64", "MI": "int32", "MB": "uint8", "MF": "float32"}


def device_memory() -> int:
    """Most bytes that scratch may take."""
    said = os.environ.get(MEMORY, "")
    if not said:
        return DEFAULT_MEMORY
    try:
        number = int(float(said))
    except (ValueError, OverflowError):
        number = 0
    if number <= 0:
        raise ArgumentError(f"{MEMORY}={said!r} should be a number of bytes, as 2e9")
    return number


def world_bytes(fused: FusedKernel) -> int:
    """Scratch of one world."""
    size = FLOAT[fused.precision].itemsize
    return size * (fused.rows.numbers + fused.rows.reals) + 4 * fused.rows.integers


def worlds_at_once(fused: FusedKernel, nworld: int) -> int:
    """Worlds that scratch is made for: all, or as many as fit; a multiple of SIDE."""
    most = device_memory()
    side = world_bytes(fused) * SIDE
    if side > most:
        raise DeviceMemoryError(
            f"{SIDE} worlds need {side / 2**20:,.1f} MiB of scratch memory on the device, and {MEMORY} allows "
            f"{most / 2**20:,.1f} MiB: raise it, use precision='f32', or {ON_PROCESSOR}"
        )
    rows = max(fused.rows.numbers, fused.rows.integers, fused.rows.reals, 1)
    fitting = min(most // side, MOST_NUMBERS // (rows * SIDE))
    return int(min(fitting, -(-nworld // SIDE))) * SIDE


class DeviceMemory:
    """Arrays on the device by the names that kernels give them."""

    def __init__(
        self,
        ti: Any,
        module: ModuleType,
        fused: FusedKernel,
        traffic: Traffic,
        nworld: int,
        at_once: int,
        data_rows: int,
    ) -> None:
        self._ti, self._module, self._fused, self._traffic = ti, module, fused, traffic
        self.nworld, self.at_once = nworld, at_once
        self._sides = -(-nworld // SIDE)
        self._data_rows = data_rows
        self._arrays: dict[str, Any] = {}
        self._known: dict[str, Array] = {}
        """What the device was last given, or gave, of arrays whose changes on the host must be noticed."""
        self._rooms: dict[str, int] = {}
        self._allocate()

    def __getitem__(self, name: str) -> Any:
        return self._arrays[name]

    # ---- allocation

    def _allocate(self) -> None:
        fused, worlds = self._fused, self._sides * SIDE
        self._new("S", fused.rows.numbers * self.at_once)
        self._new("SI", fused.rows.integers * self.at_once)
        self._new("R", fused.rows.reals * self.at_once)
        self._new("D", self._data_rows * worlds)
        self._new("C", fused.converted_rows * worlds)
        for name in ("mode", "done"):
            self._new(name, self.at_once)
        for name in ("taken", "EL", "GL"):
            self._new(name, worlds)
        for name in ("E", "EI", "G", "GI"):
            self._new(name, 1)
        self._traffic.scratch_bytes = world_bytes(fused) * self.at_once
        self._traffic.worlds_at_once = self.at_once
        if self.at_once and fused.rows.numbers:
            first = self._upload("first", fused.first)
            self._module.start(self._arrays["S"], first, fused.rows.numbers)
            for name in ("SI", "R"):
                self._arrays[name].fill(0)

    def _new(self, name: str, size: int) -> Any:
        dtype = self._dtype(name)
        kind = getattr(self._ti, {"float64": "f64", "float32": "f32"}.get(dtype.name, "i32"))
        try:
            self._arrays[name] = self._ti.ndarray(kind, max(1, size))
        except (RuntimeError, MemoryError) as problem:
            wanted = size * dtype.itemsize / 2**20
            raise DeviceMemoryError(
                f"the device has no {wanted:,.1f} MiB for {name} of {self.nworld} worlds ({problem}): "
                f"use fewer worlds, lower {MEMORY} so that fewer are run at once, or {ON_PROCESSOR}"
            ) from problem
        return self._arrays[name]

    def _dtype(self, name: str) -> np.dtype[Any]:
        """The type of the numbers of an array."""
        if name == "MF":
            return np.dtype(np.float32)
        return FLOAT[self._fused.precision] if name in REALS else np.dtype(np.int32)

    # ---- copies

    def _upload(self, name: str, numbers: Array) -> Any:
        """An array that is copied as it is; made anew if its length has changed."""
        array = self._arrays.get(name)
        if array is None or array.shape[0] != max(1, numbers.size):
            array = self._new(name, numbers.size)
        if numbers.size:
            dtype = self._dtype(name)
            array.from_numpy(np.ascontiguousarray(numbers.reshape(-1), dtype=dtype))
            self._traffic.brought(array.shape[0] * dtype.itemsize)
        return array

    def take_model(self, model: Mapping[str, Array], table: Array) -> None:
        """The Model and the tables, as far as they have changed."""
        named = {name: model.get(dtype) for name, dtype in _MODEL.items()}
        for name, numbers in {**named, "TI": table}.items():
            numbers = np.zeros(1) if numbers is None else numbers.reshape(-1)
            known = self._known.get(name)
            if known is None or known.shape != numbers.shape or known.tobytes() != numbers.tobytes():
                self._upload(name, numbers)
                self._known[name] = numbers.copy()

    def put(self, name: str, numbers: Array) -> None:
        """Integers by world."""
        self._put_rows(name, np.ascontiguousarray(numbers, np.int32).reshape(-1, 1), 1, 0)

    def get(self, name: str, nworld: int) -> Array:
        """Integers by world."""
        return self._get_rows(name, nworld, 1, 0, 1).reshape(-1)

    def _put_rows(self, name: str, numbers: Array, rows: int, row: int) -> None:
        """(nworld, count) numbers of all worlds to their rows on the device, of which each world has so many."""
        kind = "numbers" if numbers.dtype.kind == "f" else "integers"
        nworld, count = numbers.shape
        if count and nworld:
            put = getattr(self._module, f"put_{kind}")
            put(self._arrays[name], np.ascontiguousarray(numbers).reshape(-1), rows, row, count)
            self._traffic.brought(numbers.nbytes)

    def _get_rows(self, name: str, nworld: int, rows: int, row: int, count: int) -> Array:
        """(nworld, count)"""
        kind = "numbers" if name in REALS else "integers"
        numbers = np.zeros(nworld * count, self._dtype(name))
        if numbers.size:
            getattr(self._module, f"get_{kind}")(self._arrays[name], numbers, rows, row, count)
            self._traffic.fetched(numbers.nbytes)
        return numbers.reshape(nworld, count)

    # ---- Data

    def take_data(self, data: Array, runs: Sequence[Copied]) -> None:
        """Rows of Data that have changed on the host since the device had them."""
        for run in runs:
            rows = data[:, run.host : run.host + run.count, 0]
            for first, count in self._changed(run.device, rows):
                part = np.ascontiguousarray(rows[:, first : first + count])
                self._put_rows("D", part, self._data_rows, run.device + first)

    def _changed(self, device: int, rows: Array) -> list[tuple[int, int]]:
        """Neighbouring rows that differ in some world from what is known of the device."""
        known = self._known.get("D")
        if known is None:
            known = self._known["D"] = np.full((self._data_rows, self.nworld), np.nan, rows.dtype)
        own = known[device : device + rows.shape[1]]
        differ = np.flatnonzero(
            (own.view(_BITS[own.itemsize]) != rows.T.copy().view(_BITS[own.itemsize])).any(axis=1)
        )
        own[differ] = rows.T[differ]
        breaks = np.flatnonzero(np.diff(differ) > 1) + 1
        return [(int(part[0]), len(part)) for part in np.split(differ, breaks) if len(part)]

    def give_data(self, data: Array, runs: Sequence[Copied], ran: Array) -> None:
        """What worlds that were run have stored."""
        known = self._known.get("D")
        for run in runs:
            rows = self._get_rows("D", self.nworld, self._data_rows, run.device, run.count)
            data[ran, run.host : run.host + run.count, 0] = rows[ran]
            if known is not None:
                known[run.device : run.device + run.count, ran] = rows[ran].T

    def take_converted(self, converted: Array) -> None:
        rows = converted[:, :, 0]
        known = self._known.get("C")
        if rows.size and (known is None or not np.array_equal(known, rows)):
            self._put_rows("C", np.ascontiguousarray(rows), rows.shape[1], 0)
            self._known["C"] = rows.copy()

    # ---- exports and imports

    def make_box(self, letter: str, box: Outbox, exports: Exports) -> None:
        """Room for what is exported, or imported."""
        if self._rooms.get(letter) == box.room:
            return
        self._rooms[letter] = box.room
        self._new(letter, exports.numbers.rows(box.room) * self._sides * SIDE)
        self._new(f"{letter}I", exports.integers.rows(box.room) * self._sides * SIDE)

    def take_box(self, letter: str, box: Outbox, exports: Exports) -> None:
        """What is imported."""
        self.make_box(letter, box, exports)
        if not exports.any or not self.nworld:
            return
        if exports.count is not None:
            self.put(f"{letter}L", box.lengths[: self.nworld])
        for name, flat, buffer in self._boxed(letter, box, exports):
            rows = buffer.rows(box.room)
            self._put_rows(name, flat[: self.nworld * rows].reshape(self.nworld, rows), rows, 0)

    def give_box(self, letter: str, box: Outbox, exports: Exports, todo: Array, ran: Array) -> None:
        """What worlds that were run have exported, and the lengths of the lists of those that were to be run."""
        if exports.count is not None:
            box.lengths[: self.nworld][todo] = self.get(f"{letter}L", self.nworld)[todo]
        for name, flat, buffer in self._boxed(letter, box, exports):
            rows = buffer.rows(box.room)
            got = self._get_rows(name, self.nworld, rows, 0, rows)
            flat[: self.nworld * rows].reshape(self.nworld, rows)[ran] = got[ran]

    def _boxed(self, letter: str, box: Outbox, exports: Exports) -> list[tuple[str, Array, Buffer]]:
        both = ((letter, box.numbers, exports.numbers), (f"{letter}I", box.integers, exports.integers))
        return [(name, flat, buffer) for name, flat, buffer in both if buffer.fixed or buffer.lists]


_BITS = {4: np.int32, 8: np.int64}
"""Integers as long as reals, by which they are compared bit by bit."""

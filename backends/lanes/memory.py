"""Memory as lane stages index it: Model arrays, Data fields, scratch of lanes, integers and reals, constant tables.

Leading indices are given, trailing axes expand to NumPy object arrays of symbols; assignment stores. Every access is
noted in the trace of the kernel that the field belongs to; those of Data and kernel fields also in what the stage
reads and writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.backends.lanes import values
from dovetail.backends.lanes.blocks import INTEGER_LOAD, PURE_MEMORY, REAL_LOAD, TABLE, Store
from dovetail.backends.lanes.values import INT, NUM, REAL, LaneError, Value, kind_of, make, split_index
from dovetail.contracts.derive import OF_MODEL

if TYPE_CHECKING:
    from dovetail.backends.lanes.kernel import Kernel

PRIVATE = "/"
"""Between a stage and the name of its scratch memory."""

KERNEL = "kernel"
"""Instead of a stage's name, for memory that holds a kernel field."""

EXPANDED_LIMIT = 64
"""Most numbers one indexing may give: beyond it a loop was forgotten."""


@attrs.frozen
class FieldPlace:
    """Where a field lies in a buffer: its first row (or element) and its shape."""

    offset: int
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        return int(np.prod(self.shape, dtype=int))


def elementwise(function: Callable[..., Any], *arrays: np.ndarray) -> np.ndarray:
    """Apply to the elements of equally shaped object arrays."""
    out = np.empty(arrays[0].shape, dtype=object)
    for at in np.ndindex(out.shape):
        out[at] = function(*(a[at] for a in arrays))
    return out


def declared_name(memory: str) -> str:
    """The Data or kernel field that a memory holds; empty for scratch, which no record declares."""
    owner, slash, name = memory.partition(PRIVATE)
    if not slash:
        return memory
    return name.rstrip("#") if owner == KERNEL else ""


class _Indexed:
    """Indexing shared by Model and Data fields: leading indices given, trailing axes expanded."""

    def __init__(self, kernel: Kernel, name: str, shape: tuple[int, ...]) -> None:
        self.kernel = kernel
        self.name = name
        self.shape = shape
        self.declared = declared_name(name)

    def record_read(self) -> None:
        """A number of the field is read."""
        if self.declared:
            self.kernel.record_read(self.declared)

    def record_write(self) -> None:
        """A number of the field is written."""
        if self.declared:
            self.kernel.record_write(self.declared)

    def load(self, index: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Any:
        cells = self._cells(index)
        if isinstance(cells, tuple):
            return self.load(cells)
        return elementwise(self.load, cells)

    def _pairs(self, index: Any, value: Any) -> list[tuple[tuple[Any, ...], Any]]:
        """Full indices, and the number that each gets."""
        cells = self._cells(index)
        if isinstance(cells, tuple):
            return [(cells, value)]
        given = np.broadcast_to(np.asarray(value, dtype=object), cells.shape)
        return [(cells[at], given[at]) for at in np.ndindex(cells.shape)]

    def _cells(self, index: Any) -> Any:
        """One full index, or an object array of them over the axes left open."""
        index = index if isinstance(index, tuple) else (index,)
        if len(index) > len(self.shape):
            raise LaneError(
                f"{self.kernel.stage}: {self.name} has shape {self.shape}, indexed with {len(index)}"
            )
        axes = [_axis(i, n) for i, n in zip(index, self.shape, strict=False)]
        axes += [range(n) for n in self.shape[len(index) :]]
        open_shape = tuple(len(a) for a in axes if not isinstance(a, _One))
        if not open_shape:
            return tuple(a.at for a in axes)
        if np.prod(open_shape) > EXPANDED_LIMIT:
            raise LaneError(
                f"{self.kernel.stage}: {self.name}[…] would expand to {int(np.prod(open_shape))} numbers; loop over "
                f"its leading axes (shape {self.shape})"
            )
        cells = np.empty(open_shape, dtype=object)
        for at in np.ndindex(open_shape):
            rest = iter(at)
            cells[at] = tuple(a.at if isinstance(a, _One) else a[next(rest)] for a in axes)
        return cells

    def address(self, index: tuple[Any, ...]) -> tuple[Value | None, int]:
        """Row-major place of one element: (symbol or None, literal)."""
        symbol: Any = 0
        literal = 0
        stride = 1
        for i, n in zip(reversed(index), reversed(self.shape), strict=True):
            if kind_of(i) != INT:
                raise LaneError(
                    f"{self.kernel.stage}: {self.name} indexed with {kind_of(i)}; an Int is needed"
                )
            base, constant = split_index(i)
            literal += constant * stride
            if base is not None:
                symbol = symbol + base * stride
            stride *= n
        base, constant = split_index(symbol)
        return base, constant + literal


@attrs.frozen
class _One:
    """An axis with its index given."""

    at: Any


def _axis(index: Any, n: int) -> Any:
    if not isinstance(index, slice):
        return _One(index)
    start = 0 if index.start is None else index.start
    stop = n if index.stop is None else index.stop
    if index.step is not None:
        raise LaneError("slices of fields take no step")
    length = stop - start
    if isinstance(length, Value):
        raise LaneError("a slice needs a literal length: write field[a : a + 3]")
    return [start + c for c in range(length)]


class ModelField(_Indexed):
    """A Model array: loads are uniform, and never change during a launch."""

    def __init__(self, kernel: Kernel, name: str, dtype: str, place: FieldPlace) -> None:
        super().__init__(kernel, name, place.shape)
        self.dtype = dtype
        self.place = place

    def load(self, index: tuple[Any, ...]) -> Any:
        base, literal = self.address(index)
        kind = REAL if np.dtype(self.dtype).kind == "f" else INT
        if self.dtype == "float32":
            self.kernel.buffers.add("MF")
        args = (self.dtype, base, literal + self.place.offset)
        return self.kernel.trace.node(PURE_MEMORY, kind, args)


class PerWorldField(_Indexed):
    """A Model array of which every world has its own: loads give lanes, and never change during a launch."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        super().__init__(kernel, OF_MODEL + name, kernel.layout.data[OF_MODEL + name])
        kernel.per_world.add(name)

    def load(self, index: tuple[Any, ...]) -> Any:
        cell = LaneField(self.kernel, self.name, self.shape)._cell(index)
        return self.kernel.trace.node("load", NUM, (self.name, *cell), depends=self.name)


class LaneField(_Indexed):
    """A Data array or private scratch: loads give lanes, assignment stores them."""

    def load(self, index: tuple[Any, ...]) -> Any:
        self.record_read()
        return self.kernel.trace.node("load", NUM, (self.name, *self._cell(index)), depends=self.name)

    def _cell(self, index: tuple[Any, ...]) -> tuple[Value, int]:
        """Place of one number: rows of the slot's scratch tile; the base is shared by neighbouring numbers."""
        base, literal = self.address(index)
        slot = self.kernel._root_symbol("slot")
        return (slot if base is None else slot + base), literal

    def store(self, index: tuple[Any, ...], value: Any) -> None:
        kind = kind_of(value)
        if kind not in (INT, REAL, NUM):
            raise LaneError(f"{self.kernel.stage}: {self.name}[…] = {kind}: only numbers are stored")
        self.record_write()
        value = values.convert(value, NUM)
        trace = self.kernel.trace
        if isinstance(value, Value):
            trace.check_scope(value)
        trace.effect(Store(self.name, self._cell(index), value, trace.block), changes=self.name)

    def __setitem__(self, index: Any, value: Any) -> None:
        for cell, number in self._pairs(index, value):
            self.store(cell, number)


class RealField(_Indexed):
    """Uniform reals in scratch: loads give Reals, assignment stores them."""

    def __init__(self, kernel: Kernel, name: str, shape: tuple[int, ...]) -> None:
        super().__init__(kernel, name, shape)
        kernel.buffers.add("R")

    def load(self, index: tuple[Any, ...]) -> Any:
        args = (self.name, *self._cell(index))
        return self.kernel.trace.node(REAL_LOAD, REAL, args, depends=self.name)

    def _cell(self, index: tuple[Any, ...]) -> tuple[Value, int]:
        base, literal = self.address(index)
        slot = self.kernel._root_symbol("real_slot")
        return (slot if base is None else slot + base), literal

    def __setitem__(self, index: Any, value: Any) -> None:
        for cell, number in self._pairs(index, value):
            self.store(cell, number)

    def store(self, index: tuple[Any, ...], value: Any) -> None:
        if kind_of(value) not in (INT, REAL):
            raise LaneError(
                f"{self.kernel.stage}: {self.name}[…] = {kind_of(value)}: only uniform numbers are stored; those of "
                "one world come from k.split(…).of(world)"
            )
        value = values.convert(value, REAL)
        trace = self.kernel.trace
        if isinstance(value, Value):
            trace.check_scope(value)
        trace.effect(Store(self.name, self._cell(index), value, trace.block), changes=self.name)


class SplitField(_Indexed):
    """Numbers per world that lie one by one: loads and stores of lanes, and through `of` of one world's number.

    The runtimes take it that two arrays never share memory, and forward numbers past a store through another view.
    So such memory is reached in one way only, and lanes are taken apart and put together.
    """

    def __init__(self, numbers: RealField) -> None:
        super().__init__(numbers.kernel, numbers.name, numbers.shape[:-1])
        self.numbers = numbers

    def of(self, world: Any) -> WorldField:
        """The numbers of one world of the tile."""
        if kind_of(world) != INT:
            raise LaneError(f"{self.kernel.stage}: {self.name}.of({kind_of(world)}): an Int is needed")
        return WorldField(self.numbers, world)

    def load(self, index: tuple[Any, ...]) -> Any:
        numbers = [self.numbers.load((*index, world)) for world in range(self.kernel.lanes)]
        return make("lanes", NUM, tuple(numbers))

    def __setitem__(self, index: Any, value: Any) -> None:
        for cell, lanes in self._pairs(index, value):
            for world in range(self.kernel.lanes):
                self.numbers.store((*cell, world), self._lane(lanes, world))

    def _lane(self, x: Any, world: int) -> Any:
        """One world's number of lanes; a uniform number is the same in all worlds."""
        if kind_of(x) != NUM:
            return x
        return make("lane", REAL, (x,) if self.kernel.lanes == 1 else (x, world))


class WorldField(_Indexed):
    """A SplitField in one world: loads give Reals, assignment stores uniform numbers."""

    def __init__(self, numbers: RealField, world: Any) -> None:
        super().__init__(numbers.kernel, numbers.name, numbers.shape[:-1])
        self.numbers = numbers
        self.world = world

    def load(self, index: tuple[Any, ...]) -> Any:
        return self.numbers.load((*index, self.world))

    def __setitem__(self, index: Any, value: Any) -> None:
        for cell, number in self._pairs(index, value):
            self.numbers.store((*cell, self.world), number)


class IntegerField(_Indexed):
    """Uniform integers in scratch: loads give Ints, assignment stores them."""

    def load(self, index: tuple[Any, ...]) -> Any:
        self.record_read()
        args = (self.name, *self._cell(index))
        return self.kernel.trace.node(INTEGER_LOAD, INT, args, depends=self.name)

    def _cell(self, index: tuple[Any, ...]) -> tuple[Value, int]:
        base, literal = self.address(index)
        slot = self.kernel._root_symbol("integer_slot")
        return (slot if base is None else slot + base), literal

    def __setitem__(self, index: Any, value: Any) -> None:
        cells = self._cells(index)
        if not isinstance(cells, tuple):
            raise LaneError(f"{self.kernel.stage}: {self.name}: integers are stored one by one")
        if kind_of(value) != INT:
            raise LaneError(f"{self.kernel.stage}: {self.name}[…] = {kind_of(value)}: an Int is needed")
        self.record_write()
        trace = self.kernel.trace
        if isinstance(value, Value):
            trace.check_scope(value)
        trace.effect(Store(self.name, self._cell(cells), value, trace.block), changes=self.name)


class Table(_Indexed):
    """Constant integers."""

    def load(self, index: tuple[Any, ...]) -> Any:
        return self.kernel.trace.node(TABLE, INT, (self.name, *self.address(index)))

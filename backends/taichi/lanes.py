"""Lane kernels: writing a Taichi stage as plain Python that reads like its NumPy sibling.

A stage builder is a function of a `Kernel`, run once when a plan is compiled::

    def damper(k: Kernel) -> None:
        m, d = k.model, k.data
        with k.loop(0, m.nv) as i:
            force = -m.dof_damping[i] * d.qvel[i]
            d.qfrc_damper[i] = force
            d.qfrc_passive[i] += force

`k.model` and `k.data` have MuJoCo's names. Indexing a field with fewer indices than it has axes gives the rest as
a NumPy object array (`d.xpos[i]` is a vector of three), and assigning to it stores. Conditions on the Model steer
`k.when`; conditions that differ between worlds steer `k.select`. Nothing outside this interface is emitted, so a
stage cannot reach the vector operations that abort the Taichi runtimes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np

from dovetail.backends.taichi import values
from dovetail.backends.taichi.blocks import (
    INTEGER_LOAD,
    PURE_MEMORY,
    REAL_LOAD,
    TABLE,
    Block,
    Branch,
    Break,
    Loop,
    SetVariable,
    Store,
    Trace,
)
from dovetail.backends.taichi.values import (
    COND,
    INT,
    MASK,
    NUM,
    REAL,
    Cond,
    Int,
    LaneError,
    Mask,
    Num,
    Real,
    Value,
    binary,
    kind_of,
    make,
    split_index,
)
from dovetail.contracts.derive import OF_MODEL

__all__ = ["Cond", "Field", "Int", "Kernel", "LaneError", "Mask", "Num", "Real", "Value", "Variable"]

PRIVATE = "/"
"""Between a stage and the name of its scratch memory."""

SHARED = "shared"
"""Instead of a stage's name, for scratch memory that several stages use."""

INTEGERS = "#"
"""Ends the name of scratch memory that holds uniform integers."""

REALS = "~"
"""Ends the name of scratch memory that holds uniform reals."""

LACKING = f"{SHARED}{PRIVATE}lacking{INTEGERS}"
"""Memory that says how many times more room the lists of a tile need, or 0."""

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


@attrs.frozen
class Layout:
    """Everything a stage can address: Model buffers, Data fields, sizes, and what the model is known to contain."""

    model: Mapping[str, tuple[str, FieldPlace]]
    data: Mapping[str, tuple[int, ...]]
    sizes: Mapping[str, int] = attrs.field(factory=dict)
    features: Mapping[str, Container[str]] = attrs.field(factory=dict)
    """Members by group, as {"joint": {"hinge", "free"}}; a group left out may have any."""
    structure: Any = None
    """The Model that the plan is for."""
    growth: int = 1
    """How many times the usual room lists have (see `Kernel.room`)."""
    per_world: Container[str] = ()
    """Model fields that are lanes: every world has values of its own, in the Data field `model:<field>`."""
    memo: dict[str, Any] = attrs.field(factory=dict, eq=False, repr=False)
    """What stages worked out from the structure, so that it is done once for a program."""


@attrs.define(eq=False)
class Kernel:
    """The stage being built: its fields, its control flow, its functions."""

    layout: Layout
    stage: str = "stage"
    stored_later: Callable[[str], bool] = lambda _name: True
    precision: str = "f64"
    lanes: int = 8
    """Worlds of a tile."""
    trace: Trace = attrs.field(factory=Trace)
    reads: set[str] = attrs.field(factory=set)
    writes: set[str] = attrs.field(factory=set)
    private: dict[str, tuple[int, ...]] = attrs.field(factory=dict)
    """Shapes of scratch memory, by its full name."""
    tables: dict[str, np.ndarray] = attrs.field(factory=dict)
    """Constant integers, by name; shared by all stages of a program."""
    per_world: set[str] = attrs.field(factory=set)
    """Model fields with values per world that the stage reads."""
    buffers: set[str] = attrs.field(factory=set)
    """Optional arguments of the kernel that the stage needs (`emit.OPTIONAL_BUFFERS`)."""
    _variables: int = 0
    _world_loops: int = 0
    _loops: list[Loop] = attrs.field(factory=list)

    @property
    def model(self) -> ModelFields:
        return ModelFields(self)

    @property
    def data(self) -> DataFields:
        return DataFields(self)

    @property
    def structure(self) -> Any:
        """The Model itself, for working out tables while the stage is built: sizes, ids and types only, which the
        plan's key watches. Values that users may edit (sizes of geoms, masses, gains) are read through `k.model`."""
        return self.layout.structure

    def varies(self, name: str) -> bool:
        """Whether every world has its own values of a Model field, so that `k.model.<name>` are lanes."""
        return name in self.layout.per_world

    def needed(self, name: str) -> bool:
        """Whether a Data field is kept or read by another stage (unread results are dropped in any case)."""
        return self.stored_later(name)

    def has(self, feature: str) -> bool:
        """Whether the model may use a feature (`joint.ball`, `dyn.filter`): if not, a stage can leave code out."""
        group, _, member = feature.partition(".")
        known = self.layout.features.get(group)
        return known is None or member in known

    def scratch(self, name: str, *shape: int) -> Field:
        """Memory of this stage's own, per world, kept from step to step of one launch."""
        return Field(self, self._memory(self.stage, name, shape), shape)

    def shared(self, name: str, *shape: int) -> Field:
        """Memory per world that several stages of the program use under the same name; in no arena, so that a stage
        which reads it needs the one that writes it in the same kernel."""
        return Field(self, self._memory(SHARED, name, shape), shape)

    def integers(self, name: str, *shape: int) -> IntegerField:
        """Uniform integers of this stage's own, one set for the whole tile: lists of what is active in any world."""
        return IntegerField(self, self._memory(self.stage, name + INTEGERS, shape), shape)

    def shared_integers(self, name: str, *shape: int) -> IntegerField:
        """Uniform integers that several stages use under the same name."""
        return IntegerField(self, self._memory(SHARED, name + INTEGERS, shape), shape)

    def room(self, most: int, usual: int) -> int:
        """Entries to keep memory for in a list that can have `most` of them: all, or `usual` if that is fewer.

        Whoever fills a list with less room than `most` leaves out what does not fit, and says so by `k.lacks`.
        """
        return min(most, usual * self.layout.growth)

    def lacks(self, needed: Any, room: int) -> None:
        """Say that the tile needs more entries than the `room` there is: its results are dropped, and it is run again
        from where it was, with more room."""
        lacking = self.shared_integers("lacking", 1)
        lacking[0] = self.max(lacking[0], (needed + room - 1) // room)

    def reals(self, name: str, *shape: int) -> RealField:
        """Uniform reals of this stage's own, one set for the tile: memory for work on one world at a time."""
        return RealField(self, self._memory(self.stage, name + REALS, shape), shape)

    def split(self, name: str, *shape: int) -> SplitField:
        """Memory of this stage's own, per world, in which one world's numbers can be reached alone: what passes
        between lanes and the body of `k.worlds`."""
        return SplitField(self.reals(name, *shape, self.lanes))

    def _memory(self, owner: str, name: str, shape: tuple[int, ...]) -> str:
        full = f"{owner}{PRIVATE}{name}"
        known = self.private.setdefault(full, shape)
        if known != shape:
            raise LaneError(
                f"{self.stage}: scratch {name!r} asked for with shape {shape}, before with {known}"
            )
        return full

    def table(self, name: str, numbers: Any) -> Table:
        """Constant integers that the plan worked out from the model's structure, as an array to index."""
        array = np.ascontiguousarray(numbers, dtype=np.int32)
        known = self.tables.setdefault(name, array)
        if not np.array_equal(known, array):
            raise LaneError(f"{self.stage}: table {name!r} has other numbers than before")
        return Table(self, name, array.shape)

    def disabled(self, bit: int) -> Any:
        """Whether `opt.disableflags` switches a feature off: read at run time, so that flags may change."""
        return (self.model.opt.disableflags & int(bit)) != 0

    @property
    def evaluation(self) -> Int:
        """Which forward evaluation of the step this is: 0 for Euler, 0 to 3 for Runge-Kutta."""
        return self._root_symbol("evaluation")

    def _root_symbol(self, op: str) -> Any:
        return self.trace.node(op, INT, ())

    # control flow

    @contextmanager
    def loop(self, start: Any, stop: Any, *, reverse: bool = False) -> Iterator[Int]:
        """Repeat for `start <= i < stop`, downwards if `reverse`."""
        for bound in (start, stop):
            if kind_of(bound) != INT:
                raise LaneError(f"{self.stage}: a loop bound must be an Int, not {kind_of(bound)}")
        outer = self.trace.block
        body = Block(self.trace, outer)
        item = Loop(None, start, stop, reverse, body, outer)
        self.trace.effect(item)
        self.trace.enter(body, repeats=True)
        index = self.trace.node("index", INT, (), share=False)
        item.index = index
        assert isinstance(index, Int)
        self._loops.append(item)
        yield index
        self._loops.pop()
        self.trace.leave(body)

    def leave_when(self, condition: Any) -> None:
        """End the innermost loop here if the uniform condition holds."""
        if not self._loops:
            raise LaneError(f"{self.stage}: k.leave_when outside of a loop")
        if kind_of(condition) != COND:
            raise LaneError(f"{self.stage}: k.leave_when needs a uniform condition, not {kind_of(condition)}")
        self.trace.effect(Break(condition, self._loops[-1], self.trace.block))

    @contextmanager
    def when(self, condition: Any) -> Iterator[None]:
        """What follows runs if the uniform condition holds."""
        kind = kind_of(condition)
        if kind == MASK:
            raise LaneError(
                f"{self.stage}: k.when got a Mask, which differs between the worlds of a tile; "
                "compute both sides and use k.select(mask, a, b), or k.when(k.any(mask))"
            )
        if kind != COND:
            raise LaneError(f"{self.stage}: k.when needs a condition, not {kind}; compare it with something")
        outer = self.trace.block
        body = Block(self.trace, outer)
        self.trace.effect(Branch(condition, body, None, outer))
        self.trace.enter(body, repeats=False)
        yield
        self.trace.leave(body)

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The other side of the `k.when` just ended."""
        outer = self.trace.block
        last = outer.items[-1] if outer.items else None
        if not isinstance(last, Branch) or last.otherwise is not None:
            raise LaneError(f"{self.stage}: k.otherwise() must follow a k.when block directly")
        last.otherwise = Block(self.trace, outer)
        self.trace.enter(last.otherwise, repeats=False)
        yield
        self.trace.leave(last.otherwise)

    @contextmanager
    def worlds(self, mask: Any = None) -> Iterator[Int]:
        """What follows runs for one world of the tile after the other, or for those where the mask holds.

        Inside, `k.split(...).of(world)` reads and writes the world's own numbers; they are uniform there, so `k.when`
        may branch on them.
        """
        if mask is None:
            with self.loop(0, self.lanes) as world:
                yield world
            return
        if kind_of(mask) != MASK:
            raise LaneError(f"{self.stage}: k.worlds takes a Mask, not {kind_of(mask)}")
        wanted = self.split(f"worlds/{self._world_loops}", 1)
        self._world_loops += 1
        wanted[0] = self.select(mask, 1.0, 0.0)
        with self.loop(0, self.lanes) as world, self.when(wanted.of(world)[0] > 0.5):
            yield world

    def local(self, value: Any) -> Variable:
        """A variable holding a number or an array of them, to carry a result through loops and branches."""
        return Variable(self, value)

    def uniform(self, value: Any) -> Variable:
        """A variable like `k.local`, for uniform numbers only: `k.uniform(0.0)` is a Real, not lanes."""
        return Variable(self, value, uniform=True)

    # functions

    def select(self, condition: Any, a: Any, b: Any) -> Any:
        """`a` where the condition holds, else `b`; element by element on arrays."""
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            a, b = np.broadcast_arrays(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
            return elementwise(lambda x, y: self.select(condition, x, y), a, b)
        return select(condition, a, b)

    def any(self, mask: Any) -> Any:
        """Whether the condition holds in any world of the tile: uniform, so that it may steer `k.when`."""
        if kind_of(mask) != MASK:
            return mask
        return make("any", COND, (mask,))

    def sqrt(self, x: Any) -> Any:
        return unary("sqrt", x)

    def floor(self, x: Any) -> Any:
        return unary("floor", x)

    def integer(self, x: Any) -> Any:
        """A uniform number without its fraction, as an Int."""
        if kind_of(x) != REAL:
            raise LaneError(f"{self.stage}: k.integer takes a Real, not {kind_of(x)}")
        return make("integer", INT, (x,)) if isinstance(x, Value) else int(x)

    def exp(self, x: Any) -> Any:
        """Exponential of a uniform number (the runtimes have none on lanes)."""
        if kind_of(x) == NUM:
            raise LaneError(f"{self.stage}: k.exp takes a Real; on lanes the runtimes abort")
        return unary("exp", x)

    def min(self, a: Any, b: Any) -> Any:
        return binary("min", a, b)

    def max(self, a: Any, b: Any) -> Any:
        return binary("max", a, b)

    def abs(self, x: Any) -> Any:
        return self.max(x, -x)

    def clip(self, x: Any, low: Any, high: Any) -> Any:
        return self.min(self.max(x, low), high)


def elementwise(function: Callable[..., Any], *arrays: np.ndarray) -> np.ndarray:
    """Apply to the elements of equally shaped object arrays."""
    out = np.empty(arrays[0].shape, dtype=object)
    for at in np.ndindex(out.shape):
        out[at] = function(*(a[at] for a in arrays))
    return out


def select(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, else `b`."""
    if isinstance(condition, bool):
        return a if condition else b
    kind, a, b = values.promote("select", a, b)
    if condition.op == "not":
        return select(condition.args[0], b, a)
    if condition.kind == MASK:
        kind = NUM
    return make("select", kind, (condition, a, b))


def unary(op: str, x: Any) -> Any:
    if not isinstance(x, Value):
        return float({"sqrt": np.sqrt, "floor": np.floor, "exp": np.exp}[op](x))
    x = values.convert(x, REAL if x.kind == INT else x.kind)
    return make(op, x.kind, (x,))


class ModelFields:
    """The Model by MuJoCo's names: sizes are Python ints, fields load from the packed buffers."""

    def __init__(self, kernel: Kernel, prefix: str = "") -> None:
        self._kernel = kernel
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        layout = self._kernel.layout
        full = self._prefix + name
        if full in layout.per_world:
            own = PerWorldField(self._kernel, full)
            return own if own.shape else own.load(())
        if full in layout.model:
            dtype, place = layout.model[full]
            field = ModelField(self._kernel, full, dtype, place)
            return field if place.shape else field.load(())
        if full in layout.sizes:
            return layout.sizes[full]
        if any(known.startswith(full + ".") for known in layout.model):
            return ModelFields(self._kernel, full + ".")
        raise AttributeError(
            f"{self._kernel.stage}: the Model has no field or size {full!r} among the "
            f"{len(layout.model)} packed for this plan{_near(full, [*layout.model, *layout.sizes])}"
        )


class DataFields:
    """Data by MuJoCo's names; only fields the stage's record declares may be touched."""

    def __init__(self, kernel: Kernel) -> None:
        object.__setattr__(self, "_kernel", kernel)

    @property
    def extra(self) -> ExtraFields:
        """Fields that implementations added, by their full names: `d.extra["rk4:qpos0"]`."""
        return ExtraFields(self)

    def __getattr__(self, name: str) -> Any:
        kernel: Kernel = self._kernel
        shapes = kernel.layout.data
        if name not in shapes:
            raise AttributeError(
                f"{kernel.stage}: Data has no real field {name!r}{_near(name, list(shapes))}"
            )
        field = Field(kernel, name, shapes[name])
        return field if shapes[name] else field.load(())

    def __setattr__(self, name: str, value: Any) -> None:
        kernel: Kernel = self._kernel
        field = Field(kernel, name, kernel.layout.data[name])
        if field.shape:
            field[:] = value
        else:
            field.store((), value)


class ExtraFields:
    """Namespaced fields, which cannot be attributes."""

    def __init__(self, data: DataFields) -> None:
        self._data = data

    def __getitem__(self, name: str) -> Any:
        return getattr(self._data, name)


def _near(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, known, 3)
    return f"; near: {', '.join(close)}" if close else ""


class _Indexed:
    """Indexing shared by Model and Data fields: leading indices given, trailing axes expanded."""

    def __init__(self, kernel: Kernel, name: str, shape: tuple[int, ...]) -> None:
        self.kernel = kernel
        self.name = name
        self.shape = shape

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
        cell = Field(self.kernel, self.name, self.shape)._cell(index)
        return self.kernel.trace.node("load", NUM, (self.name, *cell), depends=self.name)


class Field(_Indexed):
    """A Data array or private scratch: loads give lanes, assignment stores them."""

    def load(self, index: tuple[Any, ...]) -> Any:
        self._note(self.kernel.reads)
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
        self._note(self.kernel.writes)
        value = values.convert(value, NUM)
        trace = self.kernel.trace
        if isinstance(value, Value):
            trace.check_scope(value)
        trace.effect(Store(self.name, self._cell(index), value, trace.block), changes=self.name)

    def __setitem__(self, index: Any, value: Any) -> None:
        for cell, number in self._pairs(index, value):
            self.store(cell, number)

    def _note(self, names: set[str]) -> None:
        if PRIVATE not in self.name:
            names.add(self.name)


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
        trace = self.kernel.trace
        if isinstance(value, Value):
            trace.check_scope(value)
        trace.effect(Store(self.name, self._cell(cells), value, trace.block), changes=self.name)


class Table(_Indexed):
    """Constant integers."""

    def load(self, index: tuple[Any, ...]) -> Any:
        return self.kernel.trace.node(TABLE, INT, (self.name, *self.address(index)))


class Variable:
    """A mutable number or array of numbers; `value` reads it, `set` and the in-place operators change it."""

    def __init__(self, kernel: Kernel, value: Any, *, uniform: bool = False) -> None:
        self._kernel = kernel
        start = np.asarray(value, dtype=object)
        self._shape = start.shape
        self._first = kernel._variables
        kernel._variables += max(start.size, 1)
        self._kinds = [_variable_kind(x, uniform) for x in start.ravel()]
        self.set(value)

    @property
    def value(self) -> Any:
        reads = [
            self._kernel.trace.node("read", kind, (self._first + n,), depends=("variable", self._first + n))
            for n, kind in enumerate(self._kinds)
        ]
        if not self._shape:
            return reads[0]
        out = np.empty(len(reads), dtype=object)
        out[:] = reads
        return out.reshape(self._shape)

    def set(self, value: Any) -> None:
        """Assign; arrays element by element, all at once."""
        given = np.broadcast_to(np.asarray(value, dtype=object), self._shape).ravel()
        trace = self._kernel.trace
        for n, (x, kind) in enumerate(zip(given, self._kinds, strict=True)):
            if (kind == INT and kind_of(x) != INT) or (kind == REAL and kind_of(x) == NUM):
                raise LaneError(f"{self._kernel.stage}: a variable made as {kind} cannot hold a {kind_of(x)}")
            if isinstance(x, Value):
                trace.check_scope(x)
            item = SetVariable(self._first + n, values.convert(x, kind), kind, trace.block)
            trace.effect(item, changes=("variable", self._first + n))

    def __iadd__(self, other: Any) -> Variable:
        self.set(self.value + other)
        return self

    def __isub__(self, other: Any) -> Variable:
        self.set(self.value - other)
        return self

    def __imul__(self, other: Any) -> Variable:
        self.set(self.value * other)
        return self


def _variable_kind(x: Any, uniform: bool) -> str:
    """A float literal starts a lane variable: what it gathers nearly always differs between worlds."""
    kind = kind_of(x)
    if kind not in (INT, REAL, NUM):
        raise LaneError(f"a variable holds numbers, not {kind}; use k.select(condition, 1, 0)")
    if uniform and kind == NUM:
        raise LaneError("k.uniform got lanes; k.local holds numbers that differ between worlds")
    return NUM if kind == REAL and not isinstance(x, Value) and not uniform else kind

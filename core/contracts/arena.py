"""The arena: all numbers of one Model or Data in one aligned buffer per dtype, fields as views.

A buffer has shape `(ntile, size, W)`: W worlds stand side by side in a tile, so that a fast backend loads one
field of W worlds with one vector instruction. With W = 1 the fields of one world are ordinary arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

import attrs
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dovetail import limits
from dovetail.contracts.assigned import checked
from dovetail.contracts.choices import Precision
from dovetail.contracts.fields import GROWING, Array, FieldSpec, numpy_dtype
from dovetail.errors import CapacityError, StaleFieldError, UnknownWorldError
from dovetail.memory import most_memory

if TYPE_CHECKING:
    from dovetail.contracts.bound import Bound

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector register (AVX-512). Unaligned vector loads crash Taichi kernels."""

DEFAULT_MAX_BYTES = limits.DATA_MEMORY


@attrs.frozen
class Place:
    """Where a field lives: its buffer, its first row there, and its shape in one world."""

    dtype: str
    """The buffer: the field's dtype, followed by `+` if its length is a capacity."""
    offset: int
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        total = 1
        for d in self.shape:
            total *= d
        return total


@attrs.frozen
class ArenaLayout:
    """The places of a set of fields, and how many rows each dtype's buffer has."""

    places: dict[str, Place]
    rows: dict[str, int]

    @classmethod
    def of(cls, specs: Iterable[FieldSpec], sizes: Mapping[str, int]) -> ArenaLayout:
        places: dict[str, Place] = {}
        rows: dict[str, int] = {}
        for spec in specs:
            buffer = spec.buffer
            place = Place(buffer, rows.get(buffer, 0), spec.dims(sizes))
            places[spec.name] = place
            rows[buffer] = place.offset + place.count
        return cls(places, rows)

    def copy(self) -> ArenaLayout:
        """One that can change without this one."""
        return ArenaLayout(dict(self.places), dict(self.rows))


def aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """A zero array whose memory starts at a multiple of ALIGNMENT."""
    nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.zeros(nbytes + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + nbytes].view(dtype).reshape(shape)


def _grows(place: Place) -> bool:
    return place.dtype.endswith(GROWING)


class Filling(Protocol):
    """Puts numbers into fields that are filled when somebody asks for them."""

    def __call__(self) -> None: ...

    def on(self, data: Any) -> Filling:
        """What fills a copy of the Data with the same."""


class Resets:
    """How often all was put back to the start, constants that kernels write only once among it."""

    count = 0


class LateFields:
    """Fields of an arena that are filled when somebody asks for them: what kernels keep to themselves, and only a
    repetition of the last step by the reference tells."""

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()
        """What must not be read before `settle`."""
        self._fill: Filling | None = None

    @property
    def pending(self) -> tuple[frozenset[str], Filling | None]:
        """What is expected now."""
        return self.names, self._fill

    def expect(self, names: frozenset[str], fill: Filling | None) -> None:
        """From now on these fields hold what `fill` will put there."""
        self.names, self._fill = names, fill

    def forget(self) -> None:
        """What the fields hold now is right."""
        self._fill = None

    def settle(self, wanted: str = "") -> None:
        """Fill the fields, if they are not; of a filling that can, only the one that is wanted."""
        if self._fill is None:
            return
        fill_some = getattr(self._fill, "fill_some", None)
        if wanted and fill_some is not None and fill_some(wanted):
            return
        fill, self._fill = self._fill, None
        try:
            fill()
        except StaleFieldError as error:
            self._fill = fill  # who asks again is told again
            asked = wanted or f"what the kernel keeps to itself ({', '.join(sorted(self.names)[:3])}, …)"
            raise StaleFieldError(f"{asked} {error}") from None


@attrs.frozen(eq=False)
class Arena:
    """Buffers by dtype, and the layout that says what is where in them."""

    layout: ArenaLayout
    buffers: dict[str, Array]
    lanes: int
    ntile: int = 1
    precision: Precision = "f64"
    max_bytes: int = DEFAULT_MAX_BYTES
    subject: str = "Data"
    watchers: WeakSet[Bound] = attrs.field(factory=WeakSet, init=False, repr=False)
    """Objects that remember views and must forget those of growing fields when they move."""
    late: LateFields = attrs.field(factory=LateFields, init=False, repr=False)
    """Fields that are filled when somebody asks for them."""
    resets: Resets = attrs.field(factory=Resets, init=False, repr=False)

    def expect(self, names: frozenset[str], fill: Filling) -> None:
        """Have fields filled by `fill` when next somebody asks for one of them."""
        if names != self.late.names:
            for bound in self.watchers:
                bound._forget_views(names)
        self.late.expect(names, fill)

    @classmethod
    def allocate(
        cls,
        layout: ArenaLayout,
        *,
        ntile: int = 1,
        lanes: int = 1,
        precision: Precision = "f64",
        max_bytes: int = DEFAULT_MAX_BYTES,
        subject: str = "Data",
    ) -> Arena:
        arena = cls(layout, {}, lanes, ntile, precision, max_bytes, subject)
        arena._check_memory(layout)
        arena.buffers.update({name: arena._empty(name, rows) for name, rows in layout.rows.items()})
        return arena

    def _empty(self, name: str, rows: int) -> Array:
        try:
            return aligned_zeros((self.ntile, rows, self.lanes), numpy_dtype(name, self.precision))
        except (MemoryError, ValueError) as problem:  # ValueError: more bytes than an address can say
            raise self._out_of_memory(
                self._wanted(self.layout), f"and there is not so much: {problem}"
            ) from None

    def _check_memory(self, layout: ArenaLayout) -> None:
        """Refuse a layout that needs more memory than allowed, before anything is allocated."""
        wanted = self._wanted(layout)
        if wanted > self.max_bytes:
            raise self._out_of_memory(
                wanted, f"more than max_bytes={self.max_bytes} ({self.max_bytes / 2**20:,.1f} MiB)"
            )
        there_is = most_memory()
        if there_is is not None and wanted > there_is:
            raise self._out_of_memory(wanted, f"more than there is ({there_is / 2**20:,.1f} MiB)")

    def _wanted(self, layout: ArenaLayout) -> int:
        worlds = self.ntile * self.lanes
        return sum(worlds * rows * numpy_dtype(n, self.precision).itemsize for n, rows in layout.rows.items())

    def _out_of_memory(self, wanted: int, why: str) -> CapacityError:
        """The error for a layout that is too large, with what it needs and what to do."""
        advice = "use fewer worlds, keep fewer fields, or raise max_bytes"
        if self.subject == "Model":
            advice = "make the model smaller"
        worlds = self.ntile * self.lanes
        return CapacityError(
            f"{self.subject} needs {wanted / 2**20:,.1f} MiB for {worlds} world(s), {why}; {advice}"
        )

    def grow(self, layout: ArenaLayout) -> None:
        """Take over a layout whose growing fields are longer; what they held stays at their beginnings. Other
        fields stay where they are, and so do views of them."""
        self._check_memory(layout)
        old = {name: self.block(place) for name, place in self.layout.places.items() if _grows(place)}
        self.buffers.update(
            {n: self._empty(n, rows) for n, rows in layout.rows.items() if n.endswith(GROWING)}
        )
        self.layout.places.update(layout.places)
        self.layout.rows.update(layout.rows)
        for name, block in old.items():
            self.block(self.layout.places[name])[:, : block.shape[1]] = block
        for bound in self.watchers:
            bound._forget_growing()

    @property
    def nbytes(self) -> int:
        return sum(b.nbytes for b in self.buffers.values())

    def copy(self, *, settled: bool = True) -> Arena:
        """A clone with memory of its own; `settled`: what is filled late is filled first."""
        if settled:
            self.late.settle()
        clone = {name: aligned_zeros(b.shape, b.dtype) for name, b in self.buffers.items()}
        for name, buffer in self.buffers.items():
            clone[name][...] = buffer
        return attrs.evolve(self, layout=self.layout.copy(), buffers=clone)

    def copy_from(self, other: Arena) -> None:
        """Take over the numbers of an arena with the same fields, whose growing ones may be shorter."""
        other.late.settle()
        self.late.forget()
        for name, buffer in other.buffers.items():
            if not name.endswith(GROWING):
                self.buffers[name][...] = buffer
        for name, place in other.layout.places.items():
            if _grows(place):
                self.block(self.layout.places[name])[:, : place.count] = other.block(place)

    def copy_worlds(self, into: Array, other: Arena, worlds: Array) -> None:
        """Take over all numbers of `worlds` of an arena with the same fields, whose growing ones may be shorter, into
        the worlds `into` of this one."""
        other.late.settle()
        self.late.settle()
        to, from_ = np.divmod(into, self.lanes), np.divmod(worlds, other.lanes)
        for name, buffer in other.buffers.items():
            if not name.endswith(GROWING):
                self.buffers[name].transpose(0, 2, 1)[to] = buffer.transpose(0, 2, 1)[from_]
        for name, place in other.layout.places.items():
            if _grows(place):
                rows = self.block(self.layout.places[name])[:, : place.count]
                rows.transpose(0, 2, 1)[to] = other.block(place).transpose(0, 2, 1)[from_]

    def world(self, place: Place, world: int) -> Array:
        """One world's view of a field, in MuJoCo's shape."""
        tile, lane = divmod(world, self.lanes)
        column = self.buffers[place.dtype][tile, place.offset : place.offset + place.count, lane]
        return column.reshape(place.shape)

    def block(self, place: Place) -> Array:
        """All worlds of a field, as (ntile, count, W)."""
        return self.buffers[place.dtype][:, place.offset : place.offset + place.count, :]

    def batch(self, place: Place, nworld: int, name: str) -> Array | TiledArray:
        """All worlds of a field, first axis the world: a plain view where memory allows, else a TiledArray."""
        if self.lanes == 1:
            return self.block(place)[:nworld, :, 0].reshape((nworld, *place.shape))
        return TiledArray(self.block(place), nworld, place.shape, name)


class Gathered(NDArrayOperatorsMixin):
    """An array whose numbers do not lie at regular distances: it reads like an array and writes through.

    `x[...] = v`, `x[key] = v`, `x += v` and `out=x` write the memory it stands for, and so do slices of it, which
    are views as in NumPy. `np.asarray(x)` and methods (`x.mean()`, `x.T`) work on a copy that is read-only, so that
    no write into it is lost unnoticed; `np.array(x)` and `x.copy()` give a copy to work on.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    _name: str
    """What messages call it."""

    def _gather(self) -> Array:
        """A fresh array of the numbers."""
        raise NotImplementedError

    def _scatter(self, values: Array) -> None:
        """Write an array of the same shape back."""
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("a tiled field cannot be shown as one array without a copy")
        gathered = self._gather()
        gathered.flags.writeable = bool(copy)
        return gathered if dtype is None else gathered.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        # What is written to: the arguments of `out=`, or (np.add.at and its like) the first input itself.
        targets = kwargs.get("out", inputs[:1] if method == "at" else ())
        gathered = tuple(t._gather() if isinstance(t, Gathered) else t for t in targets)
        plain = [np.asarray(x) if isinstance(x, Gathered) else x for x in inputs]
        if method == "at":
            plain[0] = gathered[0]
        elif targets:
            kwargs["out"] = gathered
        result = getattr(ufunc, method)(*plain, **kwargs)
        for target, value in zip(targets, gathered, strict=True):
            if isinstance(target, Gathered):
                target._scatter(value)
        if method == "at":
            return None
        return targets[0] if len(targets) == 1 else targets or result

    def __getitem__(self, key: Any) -> Any:
        part = self._gather()[key]
        if isinstance(part, np.ndarray) and _is_basic(key):
            return Part(self, key, part.shape)
        return part

    def __setitem__(self, key: Any, value: Any) -> None:
        value = checked(self, value, self._name)
        gathered = self._gather()
        gathered[key] = np.asarray(value) if isinstance(value, Gathered) else value
        self._scatter(gathered)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({np.asarray(self)!r})"

    def __getattr__(self, name: str) -> Any:
        # Reductions and the like (mean, sum, max, reshape, copy, …) work on the gathered array; what would
        # change it in place (sort, fill, …) fails, because the gathered array is read-only.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)


def _is_basic(key: Any) -> bool:
    """Whether NumPy would give a view for this index, not a copy."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(p is None or p is Ellipsis or isinstance(p, (int, np.integer, slice)) for p in parts)


class TiledArray(Gathered):
    """A field of many worlds whose memory is tiled, as an array `(nworld, *shape)`; `x[i]` with one world is an
    ordinary array."""

    def __init__(self, block: Array, nworld: int, shape: tuple[int, ...], name: str = "a field") -> None:
        self._block, self._nworld, self._shape, self._name = block, nworld, shape, name
        self.shape = (nworld, *shape)
        self.dtype = block.dtype

    def _worlds(self) -> Array:
        """(ntile, W, count): the block with the world axes together."""
        return self._block.transpose(0, 2, 1)

    def _gather(self) -> Array:
        ntile, lanes, count = self._worlds().shape
        flat = np.array(self._worlds(), order="C").reshape(ntile * lanes, count)
        return flat[: self._nworld].reshape(self.shape)

    def _scatter(self, values: Array) -> None:
        _, lanes, count = self._worlds().shape
        flat = values.reshape(self._nworld, count)
        whole = self._nworld // lanes
        self._worlds()[:whole] = flat[: whole * lanes].reshape(whole, lanes, count)
        rest = self._nworld - whole * lanes
        if rest:
            self._worlds()[whole, :rest] = flat[whole * lanes :]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, np.integer)):
            return self._world(int(key))
        if isinstance(key, tuple) and key and isinstance(key[0], (int, np.integer)):
            return self._world(int(key[0]))[key[1:]]
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, (int, np.integer)):
            self._world(int(key))[...] = checked(self, value, self._name)
        else:
            super().__setitem__(key, value)

    def __iter__(self) -> Any:
        return (self._world(i) for i in range(self._nworld))

    def _world(self, index: int) -> Array:
        if not -self._nworld <= index < self._nworld:
            raise UnknownWorldError(f"world {index} is out of range: there are {self._nworld}")
        tile, lane = divmod(index % self._nworld, self._block.shape[2])
        return self._block[tile, :, lane].reshape(self._shape)


class Part(Gathered):
    """A slice of a gathered array: a view of it, as slices of arrays are."""

    def __init__(self, whole: Gathered, key: Any, shape: tuple[int, ...]) -> None:
        self._whole, self._key = whole, key
        self.shape = shape
        self.dtype = whole.dtype
        self._name = whole._name

    def _gather(self) -> Array:
        return np.array(self._whole._gather()[self._key])

    def _scatter(self, values: Array) -> None:
        self._whole[self._key] = values

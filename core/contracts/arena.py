"""The arena: all numbers of one Model or Data in one aligned buffer per dtype, fields as views.

A buffer has shape `(ntile, size, W)`: W worlds stand side by side in a tile, so that a fast backend loads one
field of W worlds with one vector instruction. With W = 1 the fields of one world are ordinary arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dovetail.contracts.fields import Array, FieldSpec, numpy_dtype
from dovetail.errors import CapacityError

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector register (AVX-512). Unaligned vector loads crash Taichi kernels."""

DEFAULT_MAX_BYTES = 16 << 30


@attrs.frozen
class Place:
    """Where a field lives: its buffer's dtype, its first row there, and its shape in one world."""

    dtype: str
    offset: int
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        total = 1
        for d in self.shape:
            total *= d
        return total


@attrs.frozen
class Layout:
    """The places of a set of fields, and how many rows each dtype's buffer has."""

    places: dict[str, Place]
    rows: dict[str, int]

    @classmethod
    def of(cls, specs: Iterable[FieldSpec], sizes: Mapping[str, int]) -> Layout:
        places: dict[str, Place] = {}
        rows: dict[str, int] = {}
        for spec in specs:
            place = Place(spec.dtype, rows.get(spec.dtype, 0), spec.dims(dict(sizes)))
            places[spec.name] = place
            rows[spec.dtype] = place.offset + place.count
        return cls(places, rows)


def aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """A zero array whose memory starts at a multiple of ALIGNMENT."""
    nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.zeros(nbytes + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + nbytes].view(dtype).reshape(shape)


@attrs.frozen(eq=False)
class Arena:
    """Buffers by dtype, and the layout that says what is where in them."""

    layout: Layout
    buffers: dict[str, Array]
    lanes: int

    @classmethod
    def allocate(
        cls,
        layout: Layout,
        *,
        ntile: int = 1,
        lanes: int = 1,
        precision: str = "f64",
        max_bytes: int = DEFAULT_MAX_BYTES,
        subject: str = "Data",
    ) -> Arena:
        shapes = {name: (ntile, rows, lanes) for name, rows in layout.rows.items()}
        dtypes = {name: numpy_dtype(name, precision) for name in shapes}
        wanted = sum(ntile * layout.rows[n] * lanes * dtypes[n].itemsize for n in shapes)
        if wanted > max_bytes:
            raise CapacityError(
                f"{subject} needs {wanted / 2**20:,.1f} MiB for {ntile * lanes} world(s), more than "
                f"max_bytes={max_bytes} ({max_bytes / 2**20:,.1f} MiB); use fewer worlds, keep fewer fields, "
                "or raise max_bytes"
            )
        buffers = {name: aligned_zeros(shape, dtypes[name]) for name, shape in shapes.items()}
        return cls(layout, buffers, lanes)

    @property
    def nbytes(self) -> int:
        return sum(b.nbytes for b in self.buffers.values())

    def copy(self) -> Arena:
        """A clone with memory of its own."""
        clone = {name: aligned_zeros(b.shape, b.dtype) for name, b in self.buffers.items()}
        for name, buffer in self.buffers.items():
            clone[name][...] = buffer
        return Arena(self.layout, clone, self.lanes)

    def world(self, place: Place, world: int) -> Array:
        """One world's view of a field, in MuJoCo's shape."""
        tile, lane = divmod(world, self.lanes)
        column = self.buffers[place.dtype][tile, place.offset : place.offset + place.count, lane]
        return column.reshape(place.shape)

    def block(self, place: Place) -> Array:
        """All worlds of a field, as (ntile, count, W)."""
        return self.buffers[place.dtype][:, place.offset : place.offset + place.count, :]

    def batch(self, place: Place, nworld: int) -> Array | TiledArray:
        """All worlds of a field, first axis the world: a plain view where memory allows, else a TiledArray."""
        if self.lanes == 1:
            return self.block(place)[:nworld, :, 0].reshape((nworld, *place.shape))
        return TiledArray(self.block(place), nworld, place.shape)


class TiledArray(NDArrayOperatorsMixin):
    """A field of many worlds whose memory is tiled: reads like an array `(nworld, *shape)`, writes through.

    `x[:]`, `np.asarray(x)` and arithmetic gather a copy; `x[...] = v` and `x[i] = v` write the arena; `x[i]` with
    one world is a true view.
    """

    def __init__(self, block: Array, nworld: int, shape: tuple[int, ...]) -> None:
        self._block, self._nworld, self._shape = block, nworld, shape

    @property
    def shape(self) -> tuple[int, ...]:
        return (self._nworld, *self._shape)

    @property
    def ndim(self) -> int:
        return 1 + len(self._shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._block.dtype

    def __len__(self) -> int:
        return self._nworld

    def _worlds(self) -> Array:
        """(ntile, W, count): the block with the world axes together."""
        return self._block.transpose(0, 2, 1)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("a tiled field cannot be shown as one array without a copy")
        ntile, lanes, count = self._worlds().shape
        flat = np.ascontiguousarray(self._worlds()).reshape(ntile * lanes, count)[: self._nworld]
        gathered = flat.reshape(self.shape)
        return gathered if dtype is None else gathered.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out")
        if out is not None and any(isinstance(o, TiledArray) for o in out):
            targets = out
            kwargs["out"] = tuple(np.asarray(o) if isinstance(o, TiledArray) else o for o in out)
        else:
            targets = ()
        plain = [np.asarray(x) if isinstance(x, TiledArray) else x for x in inputs]
        result = getattr(ufunc, method)(*plain, **kwargs)
        for target, value in zip(targets, kwargs.get("out", ()), strict=False):
            if isinstance(target, TiledArray):
                target[...] = value
        return targets[0] if len(targets) == 1 else result

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, np.integer)):
            return self._world(int(key))
        if isinstance(key, tuple) and key and isinstance(key[0], (int, np.integer)):
            return self._world(int(key[0]))[key[1:]]
        return np.asarray(self)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, (int, np.integer)):
            self._world(int(key))[...] = value
            return
        gathered = np.asarray(self)
        gathered[key] = np.asarray(value) if isinstance(value, TiledArray) else value
        self._scatter(gathered)

    def __iter__(self) -> Any:
        return (self._world(i) for i in range(self._nworld))

    def _world(self, index: int) -> Array:
        if not -self._nworld <= index < self._nworld:
            raise IndexError(f"world {index} is out of range: there are {self._nworld}")
        tile, lane = divmod(index % self._nworld, self._block.shape[2])
        return self._block[tile, :, lane].reshape(self._shape)

    def _scatter(self, values: Array) -> None:
        _, lanes, count = self._worlds().shape
        flat = values.reshape(self._nworld, count)
        whole = self._nworld // lanes
        self._worlds()[:whole] = flat[: whole * lanes].reshape(whole, lanes, count)
        rest = self._nworld - whole * lanes
        if rest:
            self._worlds()[whole, :rest] = flat[whole * lanes :]

    def __repr__(self) -> str:
        return f"TiledArray({np.asarray(self)!r})"

    def __getattr__(self, name: str) -> Any:
        # Reductions and the like (mean, sum, max, reshape, copy, …) work on the gathered array.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

"""From items to mjModel's arrays: an element says what fills which field, and no more.

Type, width and number of rows of an array are those of the field's declaration in `dovetail.contracts.model`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.fields import Array, numpy_dtype
from dovetail.contracts.types import MODEL_SPECS

Columns = Mapping[str, str | Callable[[Any], Any]]
"""Model field → the attribute of an item, or the function of it, that gives the item's row."""
Sizes = Mapping[str, int]
_NO_SIZES: Sizes = {}
DTYPES = {name: numpy_dtype(spec.dtype) for name, spec in MODEL_SPECS.items()}
"""NumPy's type for each field."""
_ROWS = {
    name: tuple(int(size) for size in spec.shape[1:])
    for name, spec in MODEL_SPECS.items()
    if all(isinstance(size, int) for size in spec.shape[1:])
}
"""Shape of a row, of all fields but those of which it is a size of the model."""


@attrs.frozen
class Pieces:
    """Fields of which one item has several rows; the rows of all items follow one another."""

    rows: Mapping[str, Callable[[Any], Any]]
    """Field → its rows of one item."""
    begins: Mapping[str, str]
    """Field that says where the rows of an item begin → whose rows."""
    numbers: Mapping[str, str] = attrs.field(factory=dict)
    """Field that says how many rows an item has → whose rows."""
    absent: frozenset[str] = frozenset()
    """Of `begins`, those that are −1 for an item without rows."""

    def filled(self, items: Sequence[Any]) -> dict[str, Array]:
        """The arrays of all these fields."""
        pieces = {name: [_as_rows(name, get(item)) for item in items] for name, get in self.rows.items()}
        lengths = {name: [len(piece) for piece in found] for name, found in pieces.items()}
        return {
            **{name: _joined(name, found) for name, found in pieces.items()},
            **{name: starts(lengths[of], name in self.absent) for name, of in self.begins.items()},
            **{name: column(name, lengths[of]) for name, of in self.numbers.items()},
        }


def filled(columns: Columns, items: Sequence[Any], sizes: Sizes = _NO_SIZES) -> dict[str, Array]:
    """One array per column, one row per item."""
    return {
        name: column(name, [getattr(i, get) if isinstance(get, str) else get(i) for i in items], sizes)
        for name, get in columns.items()
    }


def column(name: str, rows: Sequence[Any] | Array, sizes: Sizes = _NO_SIZES) -> Array:
    """The array of a field, given its rows; `sizes` are needed where the width of a row is one of them."""
    row = _ROWS[name] if name in _ROWS else [sizes[str(size)] for size in MODEL_SPECS[name].shape[1:]]
    return np.array(rows, DTYPES[name]).reshape(len(rows), *row)


def stacked(name: str, pieces: Iterable[Any]) -> Array:
    """The array of a field whose rows come in pieces."""
    return _joined(name, [_as_rows(name, piece) for piece in pieces])


def _as_rows(name: str, numbers: Any) -> Array:
    return np.asarray(numbers, DTYPES[name]).reshape(-1, *_ROWS[name])


def _joined(name: str, pieces: list[Array]) -> Array:
    return np.concatenate(pieces) if pieces else np.zeros((0, *_ROWS[name]), DTYPES[name])


def starts(lengths: Iterable[int] | Array, absent: bool = False) -> Array:
    """Where each piece begins when pieces follow one another; with `absent`, −1 for empty pieces."""
    numbers = lengths if isinstance(lengths, np.ndarray) else np.array(list(lengths), np.int64)
    begins = np.cumsum(numbers) - numbers
    return np.where((numbers == 0) & absent, -1, begins).astype(np.int32)


def text(pieces: Iterable[bytes]) -> Array:
    """Bytes as an array."""
    return np.frombuffer(b"".join(pieces), np.uint8).copy()


def size_of(fields: Iterable[str]) -> str:
    """The size that counts the rows of some fields."""
    return str(MODEL_SPECS[next(iter(fields))].shape[0])


def lengths(values: Mapping[str, Any]) -> dict[str, int]:
    """Every size that arrays tell by the number of their rows."""
    first = {spec.shape[0]: name for name, spec in MODEL_SPECS.items() if spec.shape and name in values}
    return {size: len(values[name]) for size, name in first.items() if isinstance(size, str)}

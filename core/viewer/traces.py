"""Numbers over time, for plots: which entries of which field, and the last so many samples of them."""

from __future__ import annotations

import re
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import DATA_SPECS, Model
from dovetail.errors import ArgumentError, UnknownFieldError, nearest, shown

MOST_CURVES = 8
"""Entries of a field that one plot shows."""
SAMPLES = 400
"""Kept of each."""

_INDEXED = re.compile(r"(?P<field>[\w.:]+)(?:\[(?P<index>-?\d{1,9}(?:\s*,\s*-?\d{1,9})*)\])?$")


@attrs.frozen
class Entries:
    """Some entries of a field of Data, flat."""

    field: str
    labels: tuple[str, ...]
    indices: tuple[int, ...]

    @classmethod
    def of(cls, model: Model, text: str) -> Entries:
        """`qpos`, `qpos[3]`, `xpos[2]`, `xpos[2,0]`: a field, a row or an entry."""
        match = _INDEXED.match(text.strip())
        if match is None:
            raise ArgumentError(f"{shown(text)} is no field of Data: write qpos, qpos[3] or xpos[2,0]")
        spec = DATA_SPECS.get(match["field"])
        if spec is None:
            raise UnknownFieldError(
                f"Data has no field {match['field']!r}{nearest(match['field'], DATA_SPECS)}"
            )
        shape = spec.dims(dict(model.sizes))
        index = tuple(int(i) for i in match["index"].split(",")) if match["index"] else ()
        if len(index) > len(shape) or any(not -n <= i < n for i, n in zip(index, shape, strict=False)):
            raise ArgumentError(f"{text}: {match['field']} has shape {shape} in one world")
        places = np.arange(int(np.prod(shape))).reshape(shape)[index].reshape(-1)
        chosen = [int(i) for i in places[:MOST_CURVES]]
        if not chosen:
            raise ArgumentError(f"{text}: {match['field']} is empty in this model, its shape is {shape}")
        return cls(match["field"], tuple(_label(match["field"], shape, i) for i in chosen), tuple(chosen))

    def read(self, data: Any) -> Array:
        """Their values now."""
        flat = np.asarray(data.field(self.field), float).reshape(-1)
        found: Array = np.array([flat[i] if i < len(flat) else np.nan for i in self.indices])
        return found


def _label(field: str, shape: tuple[int, ...], flat: int) -> str:
    if not shape:
        return field
    return f"{field}[{', '.join(str(i) for i in np.unravel_index(flat, shape))}]"


class Trace:
    """The last samples of some entries. Time that goes backwards, as after a reset, begins anew."""

    def __init__(self, entries: Entries) -> None:
        self.entries = entries
        self._rows: list[Array] = []

    def sample(self, time: float, data: Any) -> bool:
        """Take a sample, unless no time has passed; whether one was taken."""
        if self._rows and time == self._rows[-1][0]:
            return False
        if self._rows and time < self._rows[-1][0]:
            self._rows.clear()
        values = self.entries.read(data)
        self._rows.append(np.concatenate([[time], np.where(np.isfinite(values), values, 0.0)]))
        del self._rows[:-SAMPLES]
        return True

    def columns(self) -> tuple[Array, ...]:
        """Times, then the values of each entry; two points at least, so that there is a line."""
        rows = self._rows or [np.zeros(1 + len(self.entries.indices))]
        table = np.array(rows if len(rows) > 1 else [rows[0], rows[0]])
        if table[0, 0] == table[-1, 0]:
            table[-1, 0] += 1e-6
        return tuple(np.ascontiguousarray(column) for column in table.T)

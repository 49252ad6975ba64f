"""Marks as shapes that rays can be cast at: arrows, lines, outlines of boxes.

An arrow is a cylinder and a cone; a line is a thin cylinder, as wide as it says in pixels where it is. Labels are not
drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.visual.surfaces import ARROW_HEAD_WIDTH, Surface, _cone, shape_surface

CONE = 200
"""A cone of radius one from z = 0 to its tip at z = 1; no geom type of MuJoCo's."""

SLICES = 28
"""Facets of a cone."""

SURFACES: dict[int, Callable[[], Surface]] = {
    CONE: lambda: _cone(SLICES, 1.0, 0.0, 1.0),
    GeomType.TRIANGLE: lambda: shape_surface(GeomType.TRIANGLE),
}


def parted(rows: Array, first: Array, eye: Array, pixel: float) -> tuple[Array, Array]:
    """Elements with arrows and lines in their parts; `first` begins each world, `eye` is its camera."""
    special = np.isin(rows["type"], [*_PARTS, GeomType.LABEL, GeomType.NONE])
    if not special.any():
        return rows, first
    world = np.repeat(np.arange(len(first) - 1), np.diff(first))
    pieces, counts = [], np.zeros(len(first) - 1, np.int64)
    for at, row in enumerate(rows):
        if not special[at]:
            parts = [row]
        else:
            make = _PARTS.get(int(row["type"]))
            width = pixel * float(np.linalg.norm(row["pos"] - eye[world[at]]))
            parts = make(row, width) if make else []
        pieces += parts
        counts[world[at]] += len(parts)
    flat = np.array(pieces, rows.dtype) if pieces else rows[:0]
    return flat, np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def _part(row: Any, kind: int, size: tuple[float, float, float], shift: Any, turn: Any = None) -> Any:
    """A piece of an element, moved and turned in its frame."""
    piece = row.copy()
    piece["type"], piece["size"] = kind, size
    piece["pos"] = row["pos"] + row["mat"] @ np.asarray(shift, np.float32)
    if turn is not None:
        piece["mat"] = row["mat"] @ np.asarray(turn, np.float32)
    return piece


_TURNED = np.diag([1.0, -1.0, -1.0])


def _arrow(row: Any, width: float) -> list[Any]:
    radius, length = float(row["size"][0]), float(row["size"][2])
    wide = ARROW_HEAD_WIDTH * radius
    head = min(2 * wide, length)
    return [
        _part(row, GeomType.CYLINDER, (radius, radius, (length - head) / 2), (0, 0, (length - head) / 2)),
        _part(row, CONE, (wide, wide, head), (0, 0, length - head)),
    ]


def _wedge(row: Any, width: float) -> list[Any]:
    radius, length = float(row["size"][0]), float(row["size"][2])
    return [
        _part(row, GeomType.CYLINDER, (radius, radius, length / 2), (0, 0, length / 2)),
        _part(row, CONE, (radius, radius, radius), (0, 0, length)),
    ]


def _double_arrow(row: Any, width: float) -> list[Any]:
    radius, length = float(row["size"][0]), float(row["size"][2])
    wide = ARROW_HEAD_WIDTH * radius
    head = min(2 * wide, length / 2)
    half = (length - 2 * head) / 2
    return [
        _part(row, GeomType.CYLINDER, (radius, radius, half), (0, 0, length / 2)),
        _part(row, CONE, (wide, wide, head), (0, 0, length - head)),
        _part(row, CONE, (wide, wide, head), (0, 0, head), _TURNED),
    ]


def _line(row: Any, width: float) -> list[Any]:
    radius = max(float(row["size"][0]), 1.0) * width / 2
    length = float(row["size"][2])
    return [_part(row, GeomType.CYLINDER, (radius, radius, length / 2), (0, 0, length / 2))]


def _outline(row: Any, width: float) -> list[Any]:
    half = row["size"].astype(float)
    radius = width / 2
    turns = (
        np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]]),
        np.array([[0, 1.0, 0], [0, 0, 1], [1, 0, 0]]),
        np.eye(3),
    )
    pieces = []
    for axis, turn in enumerate(turns):
        one, other = (axis + 1) % 3, (axis + 2) % 3
        for sign in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
            shift = np.zeros(3)
            shift[one], shift[other] = sign[0] * half[one], sign[1] * half[other]
            pieces.append(_part(row, GeomType.CYLINDER, (radius, radius, half[axis]), shift, turn))
    return pieces


_PARTS: dict[int, Callable[[Any, float], list[Any]]] = {
    GeomType.ARROW: _arrow,
    GeomType.ARROW1: _wedge,
    GeomType.ARROW2: _double_arrow,
    GeomType.LINE: _line,
    GeomType.LINEBOX: _outline,
}

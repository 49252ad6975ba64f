"""Marks as shapes that rays can be cast at: arrows, lines, outlines of boxes.

An arrow is a cylinder and a cone; a line is a thin cylinder, `vis.global_.linewidth` pixels wide where it is. Labels
are not drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.visual.surfaces import Surface, flat_surface, shape_surface

CONE = 200
"""A cone of radius one from z = 0 to its tip at z = 1; no geom type of MuJoCo's."""

HEAD_WIDTH = 1.75
"""Radius of an arrow's head in radii of its shaft; measured in MuJoCo's pictures, as are lengths below."""

SLICES = 28
"""Facets of a cone."""


def _cone() -> Surface:
    """With a bottom; the sides are smooth."""
    angle = np.linspace(0, 2 * np.pi, SLICES, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(SLICES)], axis=1)
    vertices = np.concatenate([ring, [[0, 0, 1], [0, 0, 0]]])
    at = np.arange(SLICES)
    following = (at + 1) % SLICES
    side = np.stack([at, following, np.full(SLICES, SLICES)], axis=1)
    bottom = np.stack([following, at, np.full(SLICES, SLICES + 1)], axis=1)
    surface = flat_surface(vertices, np.concatenate([side, bottom]))
    normals = surface.normals.copy()
    smooth = surface.vertices[: 3 * SLICES]
    tips = smooth[:, 2] > 0.5
    normals[: 3 * SLICES][~tips] = (smooth[~tips] + (0, 0, 1)) / np.sqrt(2)
    return attrs.evolve(surface, normals=normals)


SURFACES: dict[int, Callable[[], Surface]] = {
    CONE: _cone,
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
    return _shaft_and_head(row, HEAD_WIDTH)


def _wedge(row: Any, width: float) -> list[Any]:
    return _shaft_and_head(row, 1.0)


def _shaft_and_head(row: Any, wide: float) -> list[Any]:
    """From the origin along z, as long as half of what the element says; the head is the last third."""
    radius, length = float(row["size"][0]), float(row["size"][2]) / 2
    head = length / 3
    return [
        _part(row, GeomType.CYLINDER, (radius, radius, head), (0, 0, head)),
        _part(row, CONE, (wide * radius, wide * radius, head), (0, 0, 2 * head)),
    ]


def _double_arrow(row: Any, width: float) -> list[Any]:
    """The same in both directions."""
    radius, head = float(row["size"][0]), float(row["size"][2]) / 6
    wide = HEAD_WIDTH * radius
    return [
        _part(row, GeomType.CYLINDER, (radius, radius, 2 * head), (0, 0, 0)),
        _part(row, CONE, (wide, wide, head), (0, 0, 2 * head)),
        _part(row, CONE, (wide, wide, head), (0, 0, -2 * head), _TURNED),
    ]


def _line(row: Any, width: float) -> list[Any]:
    radius = width / 2
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

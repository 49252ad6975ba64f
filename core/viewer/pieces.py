"""Elements of a scene as pieces of a few unit shapes, so that a browser draws many of them with one call.

A ball, a cylinder, a box, a tube, a dome and a cone, each stretched and moved, make up every shape that a size
describes: a capsule is a tube with two domes. So ten thousand geoms are a handful of instanced meshes, whose only
traffic is where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import attrs
import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.visual.surfaces import ARROW_HEAD, ARROW_HEAD_WIDTH, ARROW_LENGTH

SLICES, STACKS = 28, 16
"""Facets of round shapes, MuJoCo's defaults."""


@attrs.frozen(eq=False)
class Triangles:
    """A surface as a browser takes it: corners that share position and normal are one vertex."""

    vertices: Array
    faces: Array


@attrs.frozen(eq=False)
class Pieces:
    """Instances of one unit shape: which element each belongs to, where it sits in the element's frame, its scale,
    and whether it is turned upside down (half a turn about x)."""

    shape: str
    element: Array
    offset: Array
    scale: Array
    flipped: Array


def welded(vertices: Array, normals: Array, faces: Array) -> Triangles:
    """Vertices that agree in place and normal made one, so that a browser's own normals have no seams."""
    keys = np.round(np.concatenate([vertices, normals], axis=1), 5)
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    joined = index.reshape(-1)[faces]
    proper = (joined[:, 0] != joined[:, 1]) & (joined[:, 1] != joined[:, 2]) & (joined[:, 2] != joined[:, 0])
    return Triangles(np.asarray(vertices[first], np.float32), joined[proper].astype(np.uint32))


@lru_cache(maxsize=16)
def unit_shape(name: str) -> Triangles:
    """One of the unit shapes: radius or half length one; cone, tube and dome begin at z = 0."""
    return UNIT_SHAPES[name]()


def _turned(radii: Array, heights: Array, *, pole: bool = False) -> Triangles:
    """A profile turned about z; where it ends on the axis (`pole`) the last ring is one point."""
    angle = np.arange(SLICES) * (2 * np.pi / SLICES)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    rows = len(radii) - 1 if pole else len(radii)
    vertices = np.concatenate(
        [np.column_stack([r * ring, np.full(SLICES, h)]) for r, h in zip(radii, heights, strict=True)][:rows]
    )
    here = np.arange(SLICES)
    after = np.roll(here, -1)
    faces = []
    for row in range(rows - 1):
        low, high = row * SLICES, (row + 1) * SLICES
        faces += [np.column_stack([low + here, low + after, high + after])]
        faces += [np.column_stack([low + here, high + after, high + here])]
    if pole:
        top = (rows - 1) * SLICES
        faces.append(np.column_stack([top + here, top + after, np.full(SLICES, len(vertices))]))
        vertices = np.concatenate([vertices, [[0.0, 0.0, heights[-1]]]])
    return Triangles(vertices.astype(np.float32), np.concatenate(faces).astype(np.uint32))


def _disk(height: float) -> Triangles:
    made = _turned(np.array([1.0, 0.0]), np.array([height, height]), pole=True)
    return made if height > 0 else attrs.evolve(made, faces=made.faces[:, ::-1])


def _joined(*parts: Triangles) -> Triangles:
    starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    return Triangles(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=True)]).astype(
            np.uint32
        ),
    )


def _dome() -> Triangles:
    latitude = np.linspace(0, np.pi / 2, STACKS // 2 + 1)
    return _turned(np.cos(latitude), np.sin(latitude), pole=True)


def _ball() -> Triangles:
    upper = _dome()
    lower = Triangles(upper.vertices * np.array([1, -1, -1], np.float32), upper.faces)
    both = _joined(upper, lower)
    keys = np.round(both.vertices, 5)
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return Triangles(both.vertices[first], index.reshape(-1)[both.faces].astype(np.uint32))


def _cylinder() -> Triangles:
    side = _turned(np.ones(2), np.array([-1.0, 1.0]))
    return _joined(side, _disk(1.0), _disk(-1.0))


def _cone() -> Triangles:
    side = _turned(np.array([1.0, 0.0]), np.array([0.0, 1.0]), pole=True)
    bottom = _disk(-1.0)
    return _joined(side, Triangles(bottom.vertices * np.array([1, 1, 0], np.float32), bottom.faces))


def _box() -> Triangles:
    parts = []
    for axis in range(3):
        for sign in (1.0, -1.0):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            corners = np.zeros((4, 3), np.float32)
            corners[:, axis] = sign
            corners[:, u] = (-1, 1, 1, -1)
            corners[:, v] = (-1, -1, 1, 1)
            faces = np.array([[0, 1, 2], [0, 2, 3]], np.uint32)
            parts.append(Triangles(corners, faces if sign > 0 else faces[:, ::-1]))
    return _joined(*parts)


def _sheet() -> Triangles:
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
    return Triangles(corners, np.array([[0, 1, 2], [0, 2, 3]], np.uint32))


def _triangle() -> Triangles:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    return Triangles(corners, np.array([[0, 1, 2], [2, 1, 0]], np.uint32))


UNIT_SHAPES: dict[str, Callable[[], Triangles]] = {
    "ball": _ball,
    "cylinder": _cylinder,
    "box": _box,
    "sheet": _sheet,
    "tube": lambda: _turned(np.ones(2), np.array([-1.0, 1.0])),
    "dome": _dome,
    "cone": _cone,
    "triangle": _triangle,
}


# ---- which pieces a type of element has; `size` is (n, 3) as elements of a scene state it

Made = tuple[str, Array, Array, bool]
"""Shape, heights along z (n), scales (n, 3), upside down."""


def _whole(shape: str) -> Callable[[Array], list[Made]]:
    return lambda size: [(shape, np.zeros(len(size)), size, False)]


def _capsule(size: Array) -> list[Made]:
    radius, half = size[:, 0], size[:, 2]
    cap = np.column_stack([radius, radius, radius])
    return [
        ("tube", np.zeros(len(size)), np.column_stack([radius, radius, half]), False),
        ("dome", half, cap, False),
        ("dome", -half, cap, True),
    ]


def _shaft(radius: Array, low: Array, high: Array) -> Made:
    return "cylinder", (low + high) / 2, np.column_stack([radius, radius, (high - low) / 2]), False


def _arrow(size: Array) -> list[Made]:
    return _arrow_of(size, ARROW_HEAD_WIDTH * size[:, 0])


def _arrow_with_wedge(size: Array) -> list[Made]:
    return _arrow_of(size, size[:, 0])


def _arrow_of(size: Array, width: Array) -> list[Made]:
    tip = ARROW_LENGTH * size[:, 2]
    base = (1 - ARROW_HEAD) * tip
    return [
        _shaft(size[:, 0], np.zeros(len(size)), base),
        ("cone", base, np.column_stack([width, width, tip - base]), False),
    ]


def _arrow_of_two_heads(size: Array) -> list[Made]:
    tip = ARROW_LENGTH * size[:, 2]
    base = (1 - ARROW_HEAD) * tip
    width = ARROW_HEAD_WIDTH * size[:, 0]
    scale = np.column_stack([width, width, tip - base])
    return [_shaft(size[:, 0], -base, base), ("cone", base, scale, False), ("cone", -base, scale, True)]


LINE_WIDTH = 0.002
"""Radius of a line in metres: where MuJoCo's size is one of pixels."""


def _line(size: Array) -> list[Made]:
    return [_shaft(np.full(len(size), LINE_WIDTH), np.zeros(len(size)), size[:, 2])]


PIECES: dict[int, Callable[[Array], list[Made]]] = {
    GeomType.PLANE: _whole("sheet"),
    GeomType.SPHERE: _whole("ball"),
    GeomType.ELLIPSOID: _whole("ball"),
    GeomType.CAPSULE: _capsule,
    GeomType.CYLINDER: _whole("cylinder"),
    GeomType.BOX: _whole("box"),
    GeomType.LINEBOX: _whole("box"),
    GeomType.ARROW: _arrow,
    GeomType.ARROW1: _arrow_with_wedge,
    GeomType.ARROW2: _arrow_of_two_heads,
    GeomType.LINE: _line,
    GeomType.TRIANGLE: _whole("triangle"),
}
"""Types that pieces make up; meshes and height fields have surfaces of their own."""


def pieces(kinds: Array, sizes: Array) -> list[Pieces]:
    """Elements (types (n), sizes (n, 3)) as instances of unit shapes, in the order of the shapes' names; elements of
    types that are not in `PIECES` have none."""
    found: dict[str, list[tuple[Array, Array, Array, Array]]] = {}
    for kind in np.unique(kinds):
        make = PIECES.get(int(kind))
        if make is None:
            continue
        elements = np.flatnonzero(kinds == kind)
        for shape, height, scale, flipped in make(np.asarray(sizes, float)[elements]):
            offset = np.zeros((len(elements), 3))
            offset[:, 2] = height
            found.setdefault(shape, []).append((elements, offset, scale, np.full(len(elements), flipped)))
    return [
        Pieces(shape, *(np.concatenate([part[i] for part in found[shape]]) for i in range(4)))
        for shape in sorted(found)
    ]

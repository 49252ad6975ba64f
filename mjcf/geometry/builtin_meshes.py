"""Meshes made by rule: the shapes of `<mesh builtin=…>` (`mjs_makeMesh`), in single precision.

Spheres are subdivided icosahedra, hemispheres subdivided pyramids with a flat base, superspheres and supertori
are the surfaces whose sines and cosines are raised to a power. Wedges and plates are grids of points with three
normals each (for tactile sensors), cones and wedges have no faces: those of the convex hull are used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from dovetail import limits
from dovetail.contracts.enums import MeshBuiltin
from dovetail.mjcf.geometry.rotation import Vec

Parts = dict[str, Any]
"""Vertices, and if the shape has them normals and faces."""

_MAX_VERTICES = limits.MESH_VERTICES
"""Most vertices of a generated mesh."""


@attrs.frozen
class BuiltinShape:
    """A generator and the parameters it takes: each with the smallest and the largest value."""

    make: Callable[..., Parts]
    parameters: dict[str, tuple[float, float]]
    whole: tuple[str, ...]
    """Parameters that are counts; decimals are cut off."""
    open_below: tuple[str, ...] = ()
    """Parameters whose smallest value is itself too small."""


class ShapeError(ValueError):
    """Parameters that make no mesh."""


def make_builtin(kind: int, params: Vec) -> Parts:
    """The vertices (n, 3), and perhaps normals and faces, of a built-in mesh."""
    shape = _SHAPES[MeshBuiltin(kind)]
    word = MeshBuiltin(kind).keyword
    names = ", ".join(shape.parameters)
    if len(params) != len(shape.parameters):
        raise ShapeError(f"a {word} takes {len(shape.parameters)} params ({names}), not {len(params)}")
    for value, (name, (low, high)) in zip(params, shape.parameters.items(), strict=True):
        if not low <= value <= high or (value == low and name in shape.open_below):
            least = f"above {low:g}" if name in shape.open_below else f"at least {low:g}"
            raise ShapeError(f"{name} of a {word} must be {least} and at most {high:g}, it is {value:g}")
    values = [int(v) if name in shape.whole else v for v, name in zip(params, shape.parameters, strict=True)]
    return shape.make(*values)


def _limited(count: int) -> None:
    if count > _MAX_VERTICES:
        raise ShapeError(f"would have {count} vertices; the most is {_MAX_VERTICES}")


def _sphere(subdivision: int) -> Parts:
    golden = np.float32((1 + math.sqrt(5)) / 2)
    signs = [(-1, 1), (1, 1), (-1, -1), (1, -1)]
    corners: list[tuple[Any, Any, Any]] = [(x, y * golden, 0) for x, y in signs]
    corners += [(0, x, y * golden) for x, y in signs]
    corners += [(y * golden, 0, x) for y, x in ((1, -1), (1, 1), (-1, -1), (-1, 1))]
    norm = math.sqrt(1 + float(golden * golden))
    vertices = [(np.array(corner, np.float64) / norm).astype(np.float32) for corner in corners]
    faces = [tuple(face) for face in _ICOSAHEDRON]
    for _ in range(subdivision):
        faces = _subdivided(vertices, faces)
    return {"vertex": np.array(vertices), "face": np.array(faces, np.int32)}


_ICOSAHEDRON_FACES = """
    0 11 5  0 5 1  0 1 7  0 7 10  0 10 11  1 5 9  5 11 4  11 10 2  10 7 6  7 1 8
    3 9 4  3 4 2  3 2 6  3 6 8  3 8 9  4 9 5  2 4 11  6 2 10  8 6 7  9 8 1
"""
_ICOSAHEDRON = np.array(_ICOSAHEDRON_FACES.split(), int).reshape(-1, 3)


def _subdivided(vertices: list[np.ndarray], faces: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Each triangle cut into four, with the new vertices moved onto the sphere."""
    middles: dict[tuple[int, int], int] = {}

    def middle(a: int, b: int) -> int:
        key = (min(a, b), max(a, b))
        if key not in middles:
            centre = (vertices[a] + vertices[b]) / np.float32(2)
            length = np.sqrt(centre[0] * centre[0] + centre[1] * centre[1] + centre[2] * centre[2])
            middles[key] = len(vertices)
            vertices.append(centre / length)
        return middles[key]

    result: list[tuple[int, ...]] = []
    for a, b, c in faces:
        ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
        result += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    return result


def _hemisphere(resolution: int) -> Parts:
    pole = np.array([0.0, 0.0, 1.0])
    equator = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    vertices = [pole]
    for row in range(1, resolution + 2):
        ring = pole + row / (resolution + 1) * (equator - pole)
        for side in range(4):
            step = (ring[(side + 1) % 4] - ring[side]) / row
            points = ring[side] + np.arange(row)[:, None] * step
            vertices.extend(points / np.sqrt((points**2).sum(axis=1, keepdims=True)))
    vertices.append(np.zeros(3))
    return {"vertex": np.array(vertices), "face": np.array(_hemisphere_faces(resolution), np.int32)}


def _hemisphere_faces(resolution: int) -> list[tuple[int, int, int]]:
    faces = [(0, 1 + side, 1 + (side + 1) % 4) for side in range(4)]
    start = 1
    for row in range(1, resolution + 1):
        below, count, more = start + 4 * row, 4 * row, 4 * (row + 1)
        for side in range(4):
            for i in range(row + 1):
                here, there = i + row * side, i + (row + 1) * side
                inner = start + here % count
                faces.append((inner, below + there % more, below + (there + 1) % more))
                if i < row:
                    faces.append((inner, below + (there + 1) % more, start + (here + 1) % count))
        start = below
    count = 4 * (resolution + 1)
    faces += [(start + i, start + count, start + (i + 1) % count) for i in range(count)]
    return faces


def _power(wave: float, exponent: float) -> float:
    """|wave| to a power, with wave's sign."""
    return math.copysign(math.pow(abs(wave), exponent), wave)


def _supersphere(resolution: int, e: float, n: float) -> Parts:
    _limited(resolution * resolution)
    vertices = [(0.0, 0.0, -1.0)]
    for i in range(1, resolution):
        latitude = -math.pi / 2 + i * math.pi / resolution
        across, height = _power(math.cos(latitude), n), _power(math.sin(latitude), n)
        for j in range(resolution):
            longitude = -math.pi + j * 2 * math.pi / resolution
            x, y = across * _power(math.cos(longitude), e), across * _power(math.sin(longitude), e)
            vertices.append((x, y, height))
    vertices.append((0.0, 0.0, 1.0))
    rings = [[1 + i * resolution + j for j in (*range(resolution), 0)] for i in range(resolution - 1)]
    faces = [(0, b, a) for a, b in zip(rings[0], rings[0][1:], strict=False)]
    for lower, upper in itertools.pairwise(rings):
        for j in range(resolution):
            faces += [(lower[j], lower[j + 1], upper[j]), (lower[j + 1], upper[j + 1], upper[j])]
    top = len(vertices) - 1
    faces += [(a, b, top) for a, b in zip(rings[-1], rings[-1][1:], strict=False)]
    return {"vertex": np.array(vertices), "face": np.array(faces, np.int32)}


def _supertorus(resolution: int, radius: float, s: float, t: float) -> Parts:
    _limited(resolution * resolution)
    angles = [2 * math.pi * i / resolution for i in range(resolution)]
    vertices, faces = [], []
    for i, u in enumerate(angles):
        for j, v in enumerate(angles):
            away = 1 + radius * _power(math.cos(v), s)
            x, y = away * _power(math.cos(u), t), away * _power(math.sin(u), t)
            vertices.append((x, y, radius * _power(math.sin(v), s)))
            here, beside = i * resolution, (i + 1) % resolution * resolution
            after = (j + 1) % resolution
            faces.append((here + j, beside + j, here + after))
            faces.append((beside + j, beside + after, here + after))
    return {"vertex": np.array(vertices), "face": np.array(faces, np.int32)}


def _wedge(columns: int, rows: int, width: float, height: float, gamma: float) -> Parts:
    """Points on a part of the unit sphere seen from its centre, looking along −z, denser in the middle."""
    _limited(columns * rows)
    azimuth, elevation = (
        _bin_centres(count, degrees, gamma) for count, degrees in ((columns, width), (rows, height))
    )
    vertices, frames = [], []
    for a in azimuth:
        for e in elevation:
            vertices.append((math.cos(e) * math.sin(a), math.sin(e), -math.cos(e) * math.cos(a)))
            frames.extend(_tangent_frame(a, e))
    return {"vertex": np.array(vertices), "normal": np.array(frames)}


def _bin_centres(count: int, degrees: float, gamma: float) -> list[float]:
    """Centres of bins over ± an angle, in radians; gamma makes those in the middle narrower."""
    edges, position = [], -1.0
    for _ in range(count + 1):
        edges.append((gamma * math.pow(position, 5) + (1 - gamma) * position) if gamma else position)
        position += 2 / count
    edges = [edge * (degrees * math.pi / 180) for edge in edges]
    return [0.5 * (b + a) for a, b in itertools.pairwise(edges)]


def _tangent_frame(azimuth: float, elevation: float) -> list[np.ndarray]:
    """Normal, and the directions of growing azimuth and elevation."""
    ca, sa, ce, se = math.cos(azimuth), math.sin(azimuth), math.cos(elevation), math.sin(elevation)
    along_a = np.array([ce * ca, 0.0, ce * sa])
    along_e = np.array([-se * sa, ce, se * ca])
    along_a, along_e = (v / math.sqrt(float(v @ v)) for v in (along_a, along_e))
    return [np.cross(along_e, along_a), along_a, along_e]


def _plate(columns: int, rows: int) -> Parts:
    """A grid of points at z = −1."""
    _limited(columns * rows)
    x = -1 + (np.arange(columns) + 0.5) * (2.0 / columns)
    y = -1 + (np.arange(rows) + 0.5) * (2.0 / rows)
    grid = np.stack([np.repeat(x, rows), np.tile(y, columns), np.full(columns * rows, -1.0)], axis=1)
    number = np.arange(columns * rows).reshape(columns, rows)
    near, across, along, far = number[:-1, :-1], number[1:, :-1], number[:-1, 1:], number[1:, 1:]
    faces = np.stack([near, across, along, far, along, across], axis=-1).reshape(-1, 3)
    return {
        "vertex": grid,
        "normal": np.tile(np.eye(3), (columns * rows, 1)),
        "face": faces.astype(np.int32),
    }


def _cone(edges: int, radius: float) -> Parts:
    """A regular polygon at z = −1, and at z = 1 a smaller one or a point."""
    _limited(2 * edges)
    angles = [2 * i * math.pi / edges for i in range(2 * edges)]
    base = [(math.cos(a), math.sin(a), -1.0) for a in angles[:edges]]
    top = [(radius * math.cos(a), radius * math.sin(a), 1.0) for a in angles[edges:]]
    return {"vertex": np.array(base + (top if radius > 0 else [(0.0, 0.0, 1.0)]))}


_ANY = math.inf
_SHAPES = {
    MeshBuiltin.SPHERE: BuiltinShape(_sphere, {"subdivision": (0, 4.999)}, ("subdivision",)),
    MeshBuiltin.HEMISPHERE: BuiltinShape(_hemisphere, {"resolution": (0, 10.999)}, ("resolution",)),
    MeshBuiltin.SUPERSPHERE: BuiltinShape(
        _supersphere, {"resolution": (3, _ANY), "e": (0, _ANY), "n": (0, _ANY)}, ("resolution",)
    ),
    MeshBuiltin.SUPERTORUS: BuiltinShape(
        _supertorus,
        {"resolution": (3, _ANY), "radius": (0, 1), "s": (0, _ANY), "t": (0, _ANY)},
        ("resolution",),
        ("radius", "s", "t"),
    ),
    MeshBuiltin.WEDGE: BuiltinShape(
        _wedge,
        {
            "horizontal resolution": (1, _ANY),
            "vertical resolution": (1, _ANY),
            "horizontal angle": (0, 180),
            "vertical angle": (0, 90),
            "gamma": (0, 1),
        },
        ("horizontal resolution", "vertical resolution"),
        ("horizontal angle", "vertical angle"),
    ),
    MeshBuiltin.PLATE: BuiltinShape(
        _plate,
        {"horizontal resolution": (1, _ANY), "vertical resolution": (1, _ANY)},
        ("horizontal resolution", "vertical resolution"),
    ),
    MeshBuiltin.CONE: BuiltinShape(_cone, {"edges": (1, _ANY), "radius": (0, _ANY)}, ("edges",)),
}

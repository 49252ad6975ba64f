"""`<composite type="cable">`: a chain of bodies along a curve, generated as elements (`mjCComposite::MakeCable`).

Every segment between two points of the curve is a body whose x axis lies along it; the frames turn from one to
the next without twist (parallel transport). Neighbours do not collide. Generated elements take nothing from
the model's default classes. A cable of boxes also gets a skin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

import attrs
import numpy as np

from dovetail.mjcf.compose.namespace import BUILT_IN
from dovetail.mjcf.geometry.rotation import (
    IDENTITY,
    ORIGIN,
    Vec,
    add,
    cross,
    dot,
    from_axis_angle,
    from_matrix_columns,
    norm,
    normalized,
    rotate,
    scaled,
    subtract,
)
from dovetail.mjcf.read.source import Node
from dovetail.plugins.shared.quaternions_numpy import quat_conjugate, quat_multiply, quat_rotate

CABLE_PLUGIN = "mujoco.elasticity.cable"
_REPLACEMENTS = {
    "particle": "<replicate>",
    "grid": "<flexcomp>",
    "rope": 'type="cable"',
    "loop": "<flexcomp>",
    "cloth": "<flexcomp>",
}
"""Types of earlier versions and what to use today."""
_SHAPES: dict[str, Callable[[float, Vec], float]] = {
    "s": lambda s, size: size[0] * s,
    "cos(s)": lambda s, size: size[1] * math.cos(math.pi * s * size[2]),
    "sin(s)": lambda s, size: size[1] * math.sin(math.pi * s * size[2]),
    "0": lambda s, size: 0.0,
}
"""A coordinate along the curve, s from 0 to 1; `size` is length, radius and half-turns."""
_STRAIGHT = 1e-14
"""mjEPS: a smaller cross product means that segments are in line."""
_SITE_GROUP = _JOINT_GROUP = 3
"""Group of generated joints and sites unless another is written."""
_CAPSULE, _CYLINDER, _BOX = 3, 5, 6
_FREE, _BALL = 0, 1


@attrs.define
class Cable:
    """What one composite becomes: its first body, and elements for other sections."""

    body: Node
    sections: list[tuple[str, Node]]


@attrs.define
class _Maker:
    """Makes elements in the place of the composite, of the rows of the schema that it is given."""

    composite: Node
    root: Any

    def element(self, path: str, values: dict[str, Any]) -> Node:
        row = self.root
        for tag in path.split("/"):
            row = row.children[tag]
        node = self.composite
        return Node(row.tag, node.file, node.line, {}, values=values, schema=row, model=node.model)

    def child(self, tag: str) -> dict[str, Any]:
        """What the composite says of its geoms, joints, …"""
        found = next((child for child in self.composite.children if child.tag == tag), None)
        return dict(found.values) if found else {}


def expand(node: Node, root: Any) -> Cable:
    """The elements that a `<composite>` stands for; `root` is the schema."""
    _check_type(node)
    points = _points(node)
    maker = _Maker(node, root)
    geom = maker.child("geom")
    if geom.get("type") not in (_CAPSULE, _CYLINDER, _BOX):
        raise node.error("a cable is made of capsules, cylinders or boxes; add <geom type=…>", "type")
    if sum(child.tag == "joint" for child in node.children) > 1:
        raise node.error("a cable has one kind of joint; write <joint> once")
    prefix = node.values.get("prefix", "")
    sections = [("custom", maker.element("custom/text", _text(prefix)))]
    _check_segments(node, len(points) - 1, geom["type"])
    plugin = _plugin(maker, prefix, sections)
    bodies = list(_bodies(maker, points, prefix, plugin))
    names = [body.values["name"] for body in bodies]
    for first, second in pairwise(names):
        pair = {"body1": first, "body2": second}
        sections.append(("contact", maker.element("contact/exclude", pair)))
    for outer, inner in pairwise(bodies):
        outer.children.append(inner)
    if geom["type"] == _BOX:
        sections.append(("deformable", _skin(maker, names, geom["size"])))
    return Cable(bodies[0], sections)


def _check_type(node: Node) -> None:
    kind = node.values.get("type")
    if kind == "cable":
        return
    if kind in _REPLACEMENTS:
        raise node.error(f"composite type {kind!r} no longer exists; use {_REPLACEMENTS[kind]}", "type")
    raise node.error(f"composite type {kind!r} does not exist; the only type is cable", "type")


def _check_segments(node: Node, segments: int, kind: int) -> None:
    """MuJoCo 3.4.0 misnames the bodies of a cable of two segments, and of one if it needs a skin."""
    if segments == 2 or (segments == 1 and kind == _BOX):
        raise node.error(
            f"a cable of {segments} segment{'s' * (segments > 1)} cannot be made by MuJoCo 3.4.0; use four or more "
            "points, or write the bodies",
            "count",
        )


def size_of(node: Node) -> int:
    """About how many elements a composite makes: for counting before anything is made."""
    count = max((*node.values.get("count", ()), len(node.values.get("vertex", ())) / 3, 0))
    return 6 * int(min(count, 1e9))


def _text(prefix: str) -> dict[str, Any]:
    return {"name": f"composite_{prefix}", "data": f"rope_{prefix}"}


# the curve


def _points(node: Node) -> list[Vec]:
    values = node.values
    vertex, count = values.get("vertex", ()), values.get("count", ())
    if vertex and count:
        raise node.error("vertex and count both say how many points there are; write one", "count")
    if vertex:
        if len(vertex) % 3 or len(vertex) < 6:
            raise node.error("vertex needs three numbers for each of two or more points", "vertex")
        return [_stored(node, vertex[i : i + 3]) for i in range(0, len(vertex), 3)]
    number = int(count[0]) if count else 1
    if number < 2 or any(other != 1 for other in count[1:3]) or len(count) > 3:
        raise node.error('a cable has two or more points in one direction; write count="N 1 1"', "count")
    shapes = _shapes(node)
    size = (*values.get("size", ()), *(1.0, 0.0, 0.0)[len(values.get("size", ())) :])
    steps = [index / (number - 1) for index in range(number)]
    return [_stored(node, tuple(shape(s, size) for shape in shapes)) for s in steps]


def _stored(node: Node, point: Vec) -> Vec:
    """A point as MuJoCo stores it: turned by the composite's quaternion, in single precision."""
    return _single(quat_rotate(node.values.get("quat", IDENTITY), point))


def _single(vector: Vec) -> Vec:
    """Rounded to single precision, which is what points and the segments between them have in MuJoCo."""
    with np.errstate(over="ignore"):
        return tuple(float(np.float32(x)) for x in vector)


def _shapes(node: Node) -> list[Callable[[float, Vec], float]]:
    words = node.values.get("curve", "").split()
    if len(words) > 3:
        raise node.error("curve has one word for each of x, y and z", "curve")
    for word in words:
        if word not in _SHAPES:
            raise node.error(f"{word!r} is no shape; choose from {', '.join(_SHAPES)}", "curve")
    return [_SHAPES[word] for word in [*words, "0", "0", "0"][:3]]


def _frames(node: Node, points: list[Vec]) -> Iterator[tuple[float, Vec]]:
    """Length and orientation of each segment: x along it, y carried along without twist."""
    edges = [_single(subtract(after, before)) for before, after in pairwise(points)]
    for edge in edges:
        if norm(edge) < _STRAIGHT:
            raise node.error("two neighbouring points are the same; move them apart")
    tangents = [normalized(edge) for edge in edges]
    normal = _first_normal(tangents)
    for index, (edge, tangent) in enumerate(zip(edges, tangents, strict=True)):
        if index:
            normal = _carried(normal, tangents[index - 1], tangent)
        yield norm(edge), from_matrix_columns(tangent, normal, normalized(cross(tangent, normal)))


def _first_normal(tangents: list[Vec]) -> Vec:
    """Towards the inside of the first bend; for a straight start, away from the y axis."""
    first = tangents[0]
    binormal: Vec = cross(first, tangents[1]) if len(tangents) > 1 else ORIGIN
    if norm(binormal) < _STRAIGHT:
        binormal = cross(first, (0.0, 1.0, 0.0))
    if norm(binormal) < _STRAIGHT:
        binormal = (0.0, 0.0, 1.0)
    return normalized(cross(normalized(binormal), first))


def _carried(normal: Vec, before: Vec, after: Vec) -> Vec:
    """The normal turned as the tangent turns, by the shortest rotation."""
    axis = cross(before, after)
    sine = norm(axis)
    if sine < _STRAIGHT:
        return normal
    return rotate(from_axis_angle(scaled(axis, 1 / sine), math.atan2(sine, dot(before, after))), normal)


# elements


def _bodies(maker: _Maker, points: list[Vec], prefix: str, plugin: dict[str, Any] | None) -> Iterator[Node]:
    node = maker.composite
    offset = node.values.get("offset", ORIGIN)
    last = len(points) - 2
    before: Vec = IDENTITY
    pos = add(offset, points[0])
    for index, (length, quat) in enumerate(_frames(node, points)):
        local = quat if index == 0 else quat_multiply(quat_conjugate(before), quat)
        end = "first" if index == 0 else "last" if index == last else str(index)
        pose = {"name": f"{prefix}B_{end}", "pos": pos, "quat": local, "childclass": BUILT_IN}
        body = maker.element("worldbody/body", pose)
        body.children = [*_joint(maker, index, f"{prefix}J_{end}"), _geom(maker, length, f"{prefix}G{index}")]
        if index in (0, last):
            body.children += _sites(maker, prefix, index, last, length)
        if plugin is not None:
            body.children.append(maker.element("worldbody/body/plugin", dict(plugin)))
        yield body
        before, pos = quat, (length, 0.0, 0.0)


def _joint(maker: _Maker, index: int, name: str) -> list[Node]:
    values = {"group": _JOINT_GROUP, **maker.child("joint")}
    initial = maker.composite.values.get("initial", "ball")
    if index == 0 and initial == "none":
        return []
    kind = _FREE if index == 0 and initial == "free" else _BALL
    kept = {key: value for key, value in values.items() if key not in ("kind", "solreffix", "solimpfix")}
    if kind == _FREE:
        kept |= dict.fromkeys(("damping", "armature", "frictionloss"), 0.0)
    return [maker.element("worldbody/body/joint", {**kept, "name": name, "type": kind})]


def _geom(maker: _Maker, length: float, name: str) -> Node:
    values = {**maker.child("geom"), "name": name}
    if values["type"] == _BOX:
        size = (*values.get("size", ()), 0.0, 0.0, 0.0)
        values |= {"size": (length / 2, *size[1:3]), "pos": (length / 2, 0.0, 0.0)}
    else:
        values["fromto"] = (0.0, 0.0, 0.0, length, 0.0, 0.0)
    return maker.element("worldbody/body/geom", values)


def _sites(maker: _Maker, prefix: str, index: int, last: int, length: float) -> Iterator[Node]:
    """A site at each end of the cable."""
    values = {"group": _SITE_GROUP, **maker.child("site")}
    pos = (length, 0.0, 0.0) if index == last else ORIGIN
    name = f"{prefix}S_{'first' if index == 0 else 'last'}"
    yield maker.element("worldbody/body/site", {**values, "name": name, "pos": pos})


def _plugin(maker: _Maker, prefix: str, sections: list[tuple[str, Node]]) -> dict[str, Any] | None:
    """The plugin that gives the cable its elasticity: one instance for all bodies."""
    found = next((child for child in maker.composite.children if child.tag == "plugin"), None)
    if found is None:
        return None
    if found.values.get("plugin") != CABLE_PLUGIN:
        raise found.error(f"a cable can only have the plugin {CABLE_PLUGIN}", "plugin")
    name = f"composite{prefix}"
    declared = maker.element("extension/plugin", {"plugin": CABLE_PLUGIN})
    instance = maker.element("extension/plugin/instance", {"name": name})
    instance.children, declared.children = found.children, [instance]
    sections.append(("extension", declared))
    return {"instance": name, "plugin": CABLE_PLUGIN}


def _skin(maker: _Maker, bodies: list[str], size: Vec) -> Node:
    """A flat tube around a cable of boxes: two layers of points, on a grid that the bones pull along."""
    written = maker.child("skin")
    grid = _Grid.of(len(bodies) + 1, written.pop("subgrid", 0))
    textured = written.pop("texcoord", False)
    values = {"rgba": (1.0,) * 4, **written, "inflate": 2 * size[2]}
    values |= {"name": f"{maker.composite.values.get('prefix', '')}Skin", "vertex": (0.0,) * (6 * grid.layer)}
    values["face"] = tuple(_faces(grid.length, grid.width))
    if textured:
        values["texcoord"] = tuple(x for _ in range(2) for x in grid.texcoord())
    skin = maker.element("deformable/skin", values)
    for column in range(grid.columns):
        for row in range(grid.rows):
            bone = {"body": bodies[min(column, len(bodies) - 1)], "bindquat": IDENTITY}
            bone |= {"bindpos": grid.bindpos(column, row, size), **grid.pull(column, row)}
            skin.children.append(maker.element("deformable/skin/bone", bone))
    return skin


@attrs.frozen
class _Grid:
    """Points of one layer of a skin: `parts` steps between neighbouring bones, which are `columns` × `rows`.

    Without a subgrid the bones are the points, on both long edges. With one there is a row in the middle too, and
    points between bones follow them by cubic interpolation (Catmull and Rom's, one-sided at the ends).
    """

    columns: int
    rows: int
    parts: int

    @classmethod
    def of(cls, columns: int, subgrid: int) -> _Grid:
        return cls(columns, 3, subgrid + 1) if subgrid > 0 else cls(columns, 2, 1)

    @property
    def length(self) -> int:
        return (self.columns - 1) * self.parts + 1

    @property
    def width(self) -> int:
        return (self.rows - 1) * self.parts + 1

    @property
    def layer(self) -> int:
        return self.length * self.width

    def texcoord(self) -> Iterator[float]:
        for i in range(self.length):
            for j in range(self.width):
                yield from (i / (self.length - 1), j / (self.width - 1))

    def bindpos(self, column: int, row: int, size: Vec) -> Vec:
        """Where a bone sits in its body: the last column is where the next body would begin, or so."""
        along = -2 * size[0] if column == self.columns - 1 else 0.0
        return along, (2 * row / (self.rows - 1) - 1) * size[1], 0.0

    def pull(self, column: int, row: int) -> dict[str, tuple[Any, ...]]:
        """Points that follow a bone and how much, cell by cell; those that only rounding makes follow included."""
        found = [
            (point + below, weight)
            for cell in _near(column, self.columns)
            for side in _near(row, self.rows)
            for point, weight in self._cell(cell, side, column - cell, row - side)
            if weight != 0
            for below in (0, self.layer)
        ]
        return {"vertid": tuple(v for v, _ in found), "vertweight": tuple(w for _, w in found)}

    def _cell(self, cell: int, side: int, along: int, across: int) -> Iterator[tuple[int, float]]:
        """The points of a cell and how much they follow one bone; its far ends belong to it if it is the last."""
        step = 1 / self.parts
        last, outer = cell == self.columns - 2, side == self.rows - 2
        ends = (cell > 0, not last, side > 0, not outer)
        for i in range(self.parts + last):
            for j in range(self.parts + outer):
                point = (cell * self.parts + i) * self.width + side * self.parts + j
                weights = _interpolation(i * step, j * step, ends)
                yield point, weights[4 * (along + 1) + across + 1]


def _near(bone: int, bones: int) -> range:
    """Cells whose points may follow a bone."""
    return range(max(bone - 2, 0), min(bone + 2, bones - 1))


_HERMITE = ((1, 0, 0, 0), (0, 0, 1, 0), (-3, 3, -2, -1), (2, -2, 1, 1))
"""Coefficients of 1, t, t² and t³ in the cubic with given values at 0 and 1 and given slopes there."""
_GIVEN = tuple((x + i, y + j) for y in (0, 2) for x in (0, 2) for j in (0, 1) for i in (0, 1))
"""Which value or slope along, and which across: values at the corners, then their derivatives."""


def _slopes(before: bool, after: bool) -> tuple[tuple[float, ...], ...]:
    """Values and slopes at both ends of a cell from the points −1, 0, 1 and 2."""
    first = (-0.5, 0.0, 0.5, 0.0) if before else (0.0, -1.0, 1.0, 0.0)
    second = (0.0, -0.5, 0.0, 0.5) if after else (0.0, -1.0, 1.0, 0.0)
    return (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), first, second


@lru_cache(maxsize=65536)
def _interpolation(x: float, y: float, ends: tuple[bool, bool, bool, bool]) -> tuple[float, ...]:
    """Weights of 4 × 4 points at (x, y) of the middle cell, summed in MuJoCo's order: its zeros are not all exact."""
    powers = [(a * b, p, q) for p, a in enumerate(_powers(x)) for q, b in enumerate(_powers(y))]
    given = [_summed([c * (_HERMITE[p][i] * _HERMITE[q][j]) for c, p, q in powers]) for i, j in _GIVEN]
    along, across = _slopes(*ends[:2]), _slopes(*ends[2:])
    return tuple(
        _summed([value * (along[i][a] * across[j][b]) for value, (i, j) in zip(given, _GIVEN, strict=True)])
        for a in range(4)
        for b in range(4)
    )


def _powers(t: float) -> tuple[float, ...]:
    return 1.0, t, t * t, t * t * t


def _summed(terms: list[float]) -> float:
    """One after the other: `sum` may be more exact than that."""
    total = 0.0
    for term in terms:
        total += term
    return total


def _faces(length: int, width: int) -> Iterator[int]:
    """Triangles of the skin: both layers, both long sides, both ends."""
    layer = length * width
    inner = [i * width + j for i in range(length - 1) for j in range(width - 1)]
    for a in inner:
        yield from (a, a + width, a + width + 1, a, a + width + 1, a + 1)
    for a in inner:
        b = a + layer
        yield from (b, b + width + 1, b + width, b, b + 1, b + width + 1)
    for a in range(0, layer - width, width):
        yield from (a, a + layer + width, a + width, a, a + layer, a + layer + width)
    for a in range(width - 1, layer - width, width):
        yield from (a, a + width, a + layer + width, a, a + layer + width, a + layer)
    for a in range(width - 1):
        yield from (a, a + 1, a + layer + 1, a, a + layer + 1, a + layer)
    for a in range(layer - width, layer - 1):
        yield from (a, a + layer + 1, a + 1, a, a + layer, a + layer + 1)

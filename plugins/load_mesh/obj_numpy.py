"""Wavefront OBJ: vertices, normals, texture coordinates and the first group that has faces.

As MuJoCo does (`mjCMesh::LoadOBJ`, which uses tinyobjloader): materials, colours and further groups are
ignored, quadrilaterals are cut at their first corner and larger polygons by clipping ears, and the second
texture coordinate is flipped. Corners without a normal or texture coordinate have index −1.
"""

from __future__ import annotations

import re

import numpy as np

from dovetail.contracts.fields import Array

_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_CORNER = re.compile(rb"([+-]?\d+)(?:/([+-]?\d+)?(?:/([+-]?\d+)?)?)?")
_ATTRIBUTES = {b"v": 3, b"vn": 3, b"vt": 2}
"""Statements that list numbers, and how many of them count."""
_GROUPS = (b"o", b"g")
Corner = tuple[int, int, int]
"""Vertex, normal and texture coordinate of a polygon's corner, −1 for none."""


def load_mesh(content: bytes, filename: str) -> dict[str, Array]:
    """What an OBJ file holds; parts that are absent are left out."""
    numbers: dict[bytes, list[float]] = {key: [] for key in _ATTRIBUTES}
    polygons: list[tuple[int, list[Corner]]] = []
    finished = False
    for line_number, line in enumerate(content.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if words[0] in _ATTRIBUTES:
            numbers[words[0]].extend(_numbers(words[1:], _ATTRIBUTES[words[0]]))
        elif words[0] == b"f":
            counts = tuple(len(numbers[key]) // _ATTRIBUTES[key] for key in (b"v", b"vn", b"vt"))
            corners = [_corner(word, counts, line_number) for word in words[1:]]
            if len(corners) > 2 and not finished:
                polygons.append((line_number, corners))
        elif words[0] in _GROUPS and polygons:
            finished = True
    arrays = {key: np.array(list_, np.float64).astype(np.float32) for key, list_ in numbers.items()}
    return _assembled({key: arrays[key].reshape(-1, width) for key, width in _ATTRIBUTES.items()}, polygons)


def _numbers(words: list[bytes], width: int) -> list[float]:
    """The first `width` numbers; what is missing or unreadable is 0."""
    found = [float(word) if _NUMBER.fullmatch(word) else 0.0 for word in words[:width]]
    return found + [0.0] * (width - len(found))


def _corner(word: bytes, counts: tuple[int, ...], line: int) -> Corner:
    match = _CORNER.fullmatch(word)
    if match is None:
        raise ValueError(
            f"line {line}: {word[:40].decode('latin-1')!r} is no corner; write v, v/vt or v/vt/vn"
        )
    vertex, texcoord, normal = match.groups()
    return (
        _index(vertex, counts[0], line),
        -1 if normal is None else _index(normal, counts[1], line),
        -1 if texcoord is None else _index(texcoord, counts[2], line),
    )


def _index(text: bytes, count: int, line: int) -> int:
    """Zero-based index: positive numbers count from 1, negative ones back from the latest."""
    number = int(text) if len(text) < 12 else 0
    index = number - 1 if number > 0 else count + number
    if number == 0 or index < 0:
        raise ValueError(
            f"line {line}: index {text[:20].decode('latin-1')} does not exist; OBJ counts from 1"
        )
    return index


def _assembled(attributes: dict[bytes, Array], polygons: list[tuple[int, list[Corner]]]) -> dict[str, Array]:
    parts: dict[str, Array] = {"vertex": attributes[b"v"]}
    if len(attributes[b"vn"]):
        parts["normal"] = attributes[b"vn"]
    if len(attributes[b"vt"]):
        flipped = attributes[b"vt"].copy()
        flipped[:, 1] = np.float32(1) - flipped[:, 1]
        parts["texcoord"] = flipped
    triangles = [t for line, corners in polygons for t in _triangles(corners, parts["vertex"], line)]
    if triangles:
        indices = np.array(triangles, np.int64)
        if indices.max() >= 2**31:
            raise ValueError("has an index beyond 32 bits; repair the file")
        indices = indices.astype(np.int32)
        parts["face"] = np.ascontiguousarray(indices[:, :, 0])
        if "normal" in parts:
            parts["facenormal"] = np.ascontiguousarray(indices[:, :, 1])
        if "texcoord" in parts:
            parts["facetexcoord"] = np.ascontiguousarray(indices[:, :, 2])
    return parts


def _triangles(corners: list[Corner], vertices: Array, line: int) -> list[tuple[Corner, Corner, Corner]]:
    if len(corners) == 3:
        return [(corners[0], corners[1], corners[2])]
    outside = [corner[0] for corner in corners if corner[0] >= len(vertices)]
    if outside:
        raise ValueError(f"line {line}: vertex {outside[0] + 1} does not exist; there are {len(vertices)}")
    if len(corners) == 4:
        a, b, c, d = corners
        return [(a, b, c), (a, c, d)]
    points = vertices[[corner[0] for corner in corners]]
    return _clipped_ears(corners, points[:, _drawing_axes(points)])


def _drawing_axes(points: Array) -> list[int]:
    """The two axes in which the polygon is largest: those across the biggest part of its first proper corner."""
    count = len(points)
    for k in range(count):
        first = points[(k + 1) % count] - points[k]
        second = points[(k + 2) % count] - points[(k + 1) % count]
        normal = np.abs(np.cross(first, second))
        if (normal > np.finfo(np.float32).eps).any():
            if normal[0] > normal[1] and normal[0] > normal[2]:
                return [1, 2]
            return [0, 1] if normal[2] > normal[0] and normal[2] > normal[1] else [0, 2]
    return [1, 2]


def _clipped_ears(corners: list[Corner], flat: Array) -> list[tuple[Corner, Corner, Corner]]:
    """Cut off corners that contain no other vertex until a triangle is left."""
    left = list(range(len(corners)))
    found: list[tuple[int, int, int]] = []
    start, tries = 0, len(left)
    after = np.roll(flat, -1, axis=0)
    area = float(np.sum(flat[:, 0] * after[:, 1] - flat[:, 1] * after[:, 0]))
    while len(left) > 3 and tries > 0:
        count = len(left)
        start %= count
        ear = tuple(left[(start + k) % count] for k in range(3))
        others = [left[(start + k) % count] for k in range(3, count)]
        if _is_ear(flat[list(ear)], flat[others], area):
            found.append((ear[0], ear[1], ear[2]))
            del left[(start + 1) % count]
            tries = len(left) + 1
        else:
            start += 1
        tries -= 1
    if len(left) == 3:
        found.append((left[0], left[1], left[2]))
    return [(corners[a], corners[b], corners[c]) for a, b, c in found]


def _is_ear(triangle: Array, others: Array, area: float) -> bool:
    (x0, y0), (x1, y1), (x2, y2) = triangle
    turn = (x1 - x0) * (y2 - y1) - (y1 - y0) * (x2 - x1)
    if turn * area < 0:
        return False
    return not any(_inside(triangle, x, y) for x, y in others)


def _inside(triangle: Array, x: float, y: float) -> bool:
    """Whether a point lies in a triangle, by counting crossings of a ray."""
    inside = False
    for (xa, ya), (xb, yb) in zip(triangle, triangle[[2, 0, 1]], strict=True):
        if (ya > y) != (yb > y) and x < (xb - xa) * (y - ya) / (yb - ya) + xa:
            inside = not inside
    return inside

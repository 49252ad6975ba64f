"""Contacts of spheres, and of vertices beside them, with triangles of flexes.

The point of the triangle nearest to the centre: its projection if that lies inside, else the nearest point of the
edges, of equally near ones that of the last edge. All pairs at once, in the plane of each triangle. World frame.
Compare mjraw_SphereTriangle.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import FlexContacts, FlexPairs
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.collide_flex.contact_rows_numpy import contacts, crosses, dots, units
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.flex.element_boxes_numpy import corner_places


def sphere_triangle(model: ModelLike, data: DataLike, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """The first side is the geom."""
    geom, flex = pairs.geom[:, 0], pairs.flex[:, 1]
    triangle = corner_places(model, data, flex, pairs.elem[:, 1])
    return balls_on_triangles(
        data.geom_xpos[geom], model.geom_size[geom, 0], triangle, model.flex_radius[flex], margin
    )


def vertex_triangle(model: ModelLike, data: DataLike, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """The first side is the vertex, a ball of the flex's radius."""
    flex = pairs.flex[:, 0]
    centre = data.flexvert_xpos[model.flex_vertadr[flex] + pairs.vert[:, 0]]
    triangle = corner_places(model, data, flex, pairs.elem[:, 1])
    radius = model.flex_radius[flex]
    return balls_on_triangles(centre, radius, triangle, radius, margin)


def balls_on_triangles(
    centre: Array, radius: Array, triangle: Array, thickness: Array, margin: Array
) -> FlexContacts:
    """Balls with triangles (n, 3, 3) that have a radius themselves."""
    reach = margin + radius + thickness
    origin = triangle[:, 0]
    ball, a, b = centre - origin, triangle[:, 1] - origin, triangle[:, 2] - origin
    normal, _ = units(crosses(a, b))
    height = dots(normal, ball)
    along, length = units(a)
    across, _ = units(crosses(normal, a))
    flat = ball - height[:, None] * normal
    point = np.stack([dots(along, flat), dots(across, flat)], axis=1)
    corner = [
        np.zeros(point.shape),
        np.stack([length, np.zeros(len(length))], axis=1),
        np.stack([dots(along, b), dots(across, b)], axis=1),
    ]
    (x, y), inside = on_edges(point, corner).T, is_inside(point, corner)
    nearest = np.where(inside[:, None], flat, along * x[:, None] + across * y[:, None])
    direction, distance = units(nearest - ball)
    near = np.flatnonzero((np.abs(height) <= reach) & (distance <= reach))
    dist = distance - radius - thickness
    pos = centre + direction * (radius + 0.5 * dist)[:, None]
    return contacts(near, dist[near], pos[near], direction[near])


def edges_of(corner: list[Array]) -> list[tuple[Array, Array]]:
    """From each corner to the next."""
    return [(corner[i], corner[(i + 1) % 3]) for i in range(3)]


def is_inside(point: Array, corner: list[Array]) -> Array:
    """Whether points lie on the same side of all edges of their triangles."""
    turns = [np.sign(area(point, start, end)) for start, end in edges_of(corner)]
    return (turns[0] == turns[1]) & (turns[1] == turns[2])


def on_edges(point: Array, corner: list[Array]) -> Array:
    """The points (n, 2) of triangles' edges nearest to points of their planes."""
    options = [on_edge(point, start, end) for start, end in edges_of(corner)]
    apart = np.stack([np.sqrt(((option - point) ** 2).sum(axis=1)) for option in options], axis=1)
    last = 2 - np.argmin(apart[:, ::-1], axis=1)
    return np.stack(options, axis=1)[np.arange(len(point)), last]


def area(a: Array, b: Array, c: Array) -> Array:
    """Twice the signed area of triangles in a plane."""
    return (a[:, 0] - c[:, 0]) * (b[:, 1] - c[:, 1]) - (b[:, 0] - c[:, 0]) * (a[:, 1] - c[:, 1])


def on_edge(point: Array, start: Array, end: Array) -> Array:
    """The points of segments nearest to points."""
    edge, offset = end - start, point - start
    length = edge[:, 0] * edge[:, 0] + edge[:, 1] * edge[:, 1]
    along = (edge[:, 0] * offset[:, 0] + edge[:, 1] * offset[:, 1]) / np.maximum(length, MINVAL)
    inner = start + along[:, None] * edge
    return np.where((along <= 0.0)[:, None], start, np.where((along >= 1.0)[:, None], end, inner))

"""Contacts of spheres with triangles of flexes, in lanes.

The point of the triangle nearest to the centre: its projection if that lies inside, else the nearest point of the
edges, of equally near ones that of the last edge. In the plane of the triangle, world frame. Compare
mjraw_SphereTriangle.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.contacts.contacts_lanes import LaneContact, LaneFlexPair
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, norm, unit, vector


def sphere_triangle(k: Kernel, pair: LaneFlexPair, margin: Any) -> list[LaneContact]:
    """One contact at most."""
    m, d = k.model, k.data
    centre, radius = d.geom_xpos[pair.geom], m.geom_size[pair.geom, 0]
    thickness = m.flex_radius[pair.flex]
    reach = margin + radius + thickness
    origin, first, second = (d.flexvert_xpos[vertex] for vertex in pair.vertices)
    ball, a, b = centre - origin, first - origin, second - origin
    normal = unit(k, cross(a, b))
    height = dot(normal, ball)
    along, across = unit(k, a), unit(k, cross(normal, a))
    flat = ball - normal * height
    corners = [
        vector(0.0, 0.0),
        vector(norm(k, a), 0.0),
        vector(dot(along, b), dot(across, b)),
    ]
    x, y = nearest_in_plane(k, vector(dot(along, flat), dot(across, flat)), corners)
    towards = along * x + across * y - ball
    distance, direction = norm(k, towards), unit(k, towards)
    dist = distance - radius - thickness
    exists = (k.abs(height) <= reach) & (distance <= reach)
    return [LaneContact(exists, dist, centre + direction * (radius + 0.5 * dist), direction)]


def nearest_in_plane(k: Kernel, point: Vector, corners: list[Vector]) -> Vector:
    """The point of a triangle nearest to a point of its plane."""
    edges = [(corners[n], corners[(n + 1) % 3]) for n in range(3)]
    turns = [sign(k, area(point, *edge)) for edge in edges]
    inside = (turns[0] == turns[1]) & (turns[1] == turns[2])
    nearest = on_edge(k, point, *edges[0])
    least = distance_between(k, nearest, point)
    for edge in edges[1:]:
        other = on_edge(k, point, *edge)
        apart = distance_between(k, other, point)
        better = apart <= least
        nearest = k.select(better, other, nearest)
        least = k.select(better, apart, least)
    found: Vector = k.select(inside, point, nearest)
    return found


def sign(k: Kernel, x: Any) -> Any:
    """−1, 0 or 1."""
    return k.select(x > 0.0, 1.0, k.select(x < 0.0, -1.0, 0.0))


def area(a: Vector, b: Vector, c: Vector) -> Any:
    """Twice the signed area of a triangle in a plane."""
    return (a[0] - c[0]) * (b[1] - c[1]) - (b[0] - c[0]) * (a[1] - c[1])


def distance_between(k: Kernel, one: Vector, other: Vector) -> Any:
    offset = one - other
    return k.sqrt(dot(offset, offset))


def on_edge(k: Kernel, point: Vector, start: Vector, end: Vector) -> Vector:
    """The point of a segment nearest to a point."""
    edge, offset = end - start, point - start
    along = dot(edge, offset) / k.max(MINVAL, dot(edge, edge))
    found: Vector = k.select(along <= 0.0, start, k.select(along >= 1.0, end, start + edge * along))
    return found

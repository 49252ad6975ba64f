"""Two shapes turned a little against each other, four ways about a contact between them.

Shapes that lie on each other touch elsewhere when turned; there further contacts are found. World frame. Compare the
part of mjc_Convex for the flag multiccd.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, sin

from dovetail.plugins.shared.geometry.support_numpy import ELLIPSOID, SPHERE, ConvexShape
from dovetail.plugins.shared.vectors_numpy import Matrix, Vector, along, cross, dot, norm, sub, to_world, unit

TURN_ANGLE = 1e-3
"""How far geoms are turned in search of more contacts [rad] (MuJoCo 3.4)."""

DISTINCT = 1e-3
"""Contacts nearer than this part of the smaller bounding radius are the same (MuJoCo 3.4)."""

ROUND = (SPHERE, ELLIPSOID)
"""Shapes that touch at one place however they are turned."""


def turned(
    first: ConvexShape, second: ConvexShape, place: Vector, normal: Vector
) -> Iterator[tuple[ConvexShape, ConvexShape]]:
    """Both shapes in each of the turned poses."""
    for axis in _tangents(normal):
        for angle in (-TURN_ANGLE, TURN_ANGLE):
            turn = _turn_matrix(axis, angle)
            back = [turn[3 * j + i] for i in range(3) for j in range(3)]
            yield _turned_about(first, place, turn), _turned_about(second, place, back)


def distinct(place: Vector, others: list[Vector], spacing: float) -> bool:
    """Whether a place is farther than `spacing` from all others."""
    return all(norm(sub(place, other)) > spacing for other in others)


def _tangents(normal: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors across a normal, as mju_makeFrame chooses them."""
    normal = unit(normal)
    guess = (0.0, 1.0, 0.0) if -0.5 < normal[1] < 0.5 else (0.0, 0.0, 1.0)
    first = unit(along(guess, -dot(normal, guess), normal))
    return first, cross(normal, first)


def _turn_matrix(axis: Vector, angle: float) -> Matrix:
    """Rotation matrix about a unit axis."""
    s = sin(0.5 * angle)
    w, x, y, z = cos(0.5 * angle), axis[0] * s, axis[1] * s, axis[2] * s
    return (
        *(w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        *(2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)),
        *(2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )


def _turned_about(shape: ConvexShape, pivot: Vector, turn: Matrix) -> ConvexShape:
    """A shape rotated about a point."""
    columns = [to_world(turn, (shape.matrix[i], shape.matrix[3 + i], shape.matrix[6 + i])) for i in range(3)]
    matrix = [columns[j][i] for i in range(3) for j in range(3)]
    arm = sub(pivot, shape.position)
    return shape.moved(sub(shape.position, sub(to_world(turn, arm), arm)), matrix)

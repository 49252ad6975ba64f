"""Closest points of two convex shapes by the Gilbert-Johnson-Keerthi iteration.

The shapes overlap where their Minkowski difference {a - b} holds the origin. The iteration keeps a simplex of up
to four support points of the difference and the point x of it nearest to the origin; each round adds the support
point opposite to x, finds the nearest point of the larger simplex and drops the vertices it does not need. It
stops when the duality gap x·(x - s) says that x cannot move more than the tolerance. The nearest point of a
simplex follows the signed volumes method (Montanari, Petrinic, Barbieri: Improving the GJK algorithm for faster
and more reliable distance queries between convex objects, ACM Trans. Graph. 36, 2017).

If only overlap matters, the first tetrahedron is handed to `encloses_origin`, which walks the tetrahedron over the
origin without computing distances. World frame. See gjk and gjkIntersect behind mjc_ccd in MuJoCo 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf, sqrt
from typing import NamedTuple

from dovetail.plugins.shared.constants import MAXVAL, MINVAL
from dovetail.plugins.shared.geometry.support_numpy import ConvexShape
from dovetail.plugins.shared.vectors_numpy import (
    Vector,
    combine,
    cross,
    divide,
    dot,
    same,
    scale,
    sub,
    triple,
)


class Vertex(NamedTuple):
    """A support point of the Minkowski difference, and where it came from."""

    point: Vector
    first: Vector
    """The point of the first shape; `point` is first - second."""
    second: Vector
    first_id: int
    second_id: int


class Closest(NamedTuple):
    """How near two shapes are."""

    distance: float
    """0 or about 0 if they overlap, infinite if farther apart than anyone wanted to know."""
    points: tuple[Vector, Vector] | None
    """The closest points on the first and the second, unless they were not needed."""
    simplex: list[Vertex]
    """The vertices whose mix is the closest point; four that enclose the origin if the shapes overlap."""


def minkowski_vertex(first: ConvexShape, second: ConvexShape, direction: Vector) -> Vertex:
    """The farthest point of first - second along a unit vector."""
    p, p_id = first.farthest(direction)
    q, q_id = second.farthest((-direction[0], -direction[1], -direction[2]))
    return Vertex((p[0] - q[0], p[1] - q[1], p[2] - q[2]), p, q, p_id, q_id)


# ---- the nearest point of a simplex, as weights of its vertices --------------------------------------------


def same_sign(a: float, b: float) -> bool:
    """Whether both are positive or both negative."""
    return (a > 0.0 and b > 0.0) or (a < 0.0 and b < 0.0)


def nearest_facet(
    points: Sequence[Vector], opposite: Iterable[int], weigh: Callable[..., Sequence[float]]
) -> tuple[Sequence[float], float]:
    """Weights on the facet nearest to the origin among those opposite to the given vertices, and the square of its
    distance."""
    best: Sequence[float] = (0.0,) * len(points)
    least = inf
    for i in opposite:
        facet = (*points[:i], *points[i + 1 :])
        weights = weigh(*facet)
        nearest = combine(weights, facet)
        square = dot(nearest, nearest)
        if square < least:
            best = (*weights[:i], 0.0, *weights[i:])
            least = square
    return best, least


def segment_weights(a: Vector, b: Vector) -> Sequence[float]:
    """Weights of the point of the segment nearest to the origin; the last vertex alone if that is an end."""
    edge = sub(b, a)
    t = -divide(dot(b, edge), dot(edge, edge))
    # Compared along the longest side of the segment's bounding box, where rounding hurts least.
    axis = 0
    span = a[0] - b[0]
    for i in (1, 2):
        if abs(a[i] - b[i]) >= abs(span):
            axis, span = i, a[i] - b[i]
    foot = b[axis] + t * edge[axis]
    to_b, to_a = foot - b[axis], a[axis] - foot
    if same_sign(span, to_b) and same_sign(span, to_a):
        return to_b / span, to_a / span
    return 0.0, 1.0


def plane_foot(a: Vector, b: Vector, c: Vector) -> Vector | None:
    """The origin's projection on the plane through three points, or None if they are on a line.

    The normal is taken at one corner and, if the plane seems to pass through the origin, again at the others.
    """
    ab, ac, bc = sub(b, a), sub(c, a), sub(c, b)
    for normal, corner in ((cross(bc, ab), b), (cross(ab, ac), a)):
        square = dot(normal, normal)
        if square == 0.0:
            return None
        height = dot(normal, corner)
        if height != 0.0 and square > MINVAL:
            return scale(normal, height / square)
    normal = cross(ac, bc)
    return scale(normal, divide(dot(normal, c), dot(normal, normal)))


_AXIS_PAIRS = ((1, 2), (0, 2), (0, 1))


def _area(a: Vector, b: Vector, c: Vector, j: int, k: int) -> float:
    """Twice the signed area of a triangle projected on the axes j, k."""
    return b[j] * c[k] - b[k] * c[j] - a[j] * c[k] + a[k] * c[j] + a[j] * b[k] - a[k] * b[j]


def _sub_area(p: Vector, b: Vector, c: Vector, j: int, k: int) -> float:
    """The same area for the triangle p, b, c; the order of the sum decides what rounds to zero."""
    return p[j] * b[k] + p[k] * c[j] + b[j] * c[k] - p[j] * c[k] - p[k] * b[j] - c[j] * b[k]


def triangle_areas(a: Vector, b: Vector, c: Vector, p: Vector) -> tuple[float, float, float, float]:
    """Signed area of a triangle, and of the three triangles a point p of its plane forms with its sides, in the
    projection where the triangle is largest."""
    total, j, k = 0.0, 1, 2
    for axes in reversed(_AXIS_PAIRS):
        area = _area(a, b, c, *axes)
        if abs(area) >= abs(total):
            total, (j, k) = area, axes
    return total, _sub_area(p, b, c, j, k), _sub_area(p, c, a, j, k), _sub_area(p, a, b, j, k)


def triangle_weights(a: Vector, b: Vector, c: Vector) -> Sequence[float]:
    """Weights of the point of the triangle nearest to the origin."""
    foot = plane_foot(a, b, c)
    if foot is None:
        return (*segment_weights(a, b), 0.0)
    total, *parts = triangle_areas(a, b, c, foot)
    outside = [i for i, part in enumerate(parts) if not same_sign(total, part)]
    if not outside:
        return parts[0] / total, parts[1] / total, parts[2] / total
    return nearest_facet((a, b, c), outside, segment_weights)[0]


def tetrahedron_weights(a: Vector, b: Vector, c: Vector, d: Vector) -> Sequence[float]:
    """Weights of the point of the tetrahedron nearest to the origin; the origin itself if it is inside.

    One peculiarity of MuJoCo 3.4 is kept, since it decides which distances come out as 0: if the facet a, b, c
    turns out nearer than one looked at before it, d keeps the weight it had there.
    """
    volumes = (-triple(b, c, d), triple(a, c, d), -triple(a, b, d), triple(a, b, c))
    total = volumes[0] + volumes[1] + volumes[2] + volumes[3]
    outside = [i for i, part in enumerate(volumes) if not same_sign(total, part)]
    if not outside:
        return [part / total for part in volumes]
    weights, least = nearest_facet((a, b, c, d), [i for i in outside if i < 3], triangle_weights)
    if 3 in outside:
        base = triangle_weights(a, b, c)
        nearest = combine(base, (a, b, c))
        if dot(nearest, nearest) < least:
            return (*base, weights[3])
    return weights


def _single_weight(a: Vector) -> Sequence[float]:
    return (1.0,)


_WEIGHTS: tuple[Callable[..., Sequence[float]], ...] = (
    _single_weight,
    segment_weights,
    triangle_weights,
    tetrahedron_weights,
)


# ---- overlap only -------------------------------------------------------------------------------------------

# Corners of the face opposite to each vertex of a tetrahedron.
_FACES = ((2, 1, 3), (0, 2, 3), (1, 0, 3), (0, 1, 2))


def _face_plane(a: Vector, b: Vector, c: Vector) -> tuple[Vector, float]:
    """Unit normal of a face and the height of the face over the origin along it; infinite if it has no normal."""
    normal = cross(sub(c, a), sub(b, a))
    square = dot(normal, normal)
    if MINVAL * MINVAL < square < MAXVAL * MAXVAL:
        normal = scale(normal, 1.0 / sqrt(square))
        return normal, dot(normal, a)
    return normal, inf


def encloses_origin(
    tetrahedron: list[Vertex], first: ConvexShape, second: ConvexShape, rounds: int
) -> tuple[bool | None, list[Vertex], int]:
    """Whether the Minkowski difference holds the origin, the last tetrahedron and how many rounds are left.

    Each round replaces the vertex opposite to the face the origin is farthest outside of by the support point
    beyond that face. None: undecided, because the origin lies on a face or the rounds are used up.
    """
    simplex = list(tetrahedron)
    while rounds > 0:
        planes = [_face_plane(*(simplex[i].point for i in face)) for face in _FACES]
        heights = [height for _, height in planes]
        if 0.0 in heights:
            return None, simplex, rounds
        # Of equal faces the last of each half, as MuJoCo picks.
        low = 0 if heights[0] < heights[1] else 1
        high = 2 if heights[2] < heights[3] else 3
        worst = low if heights[low] < heights[high] else high
        if heights[worst] > 0.0:
            return True, simplex, rounds
        normal = planes[worst][0]
        simplex[worst] = minkowski_vertex(first, second, normal)
        if dot(normal, simplex[worst].point) < 0.0:
            return False, simplex, rounds
        # Two vertices change places so that the new tetrahedron is oriented like the old one.
        i, j = (worst + 1) % 4, (worst + 2) % 4
        simplex[i], simplex[j] = simplex[j], simplex[i]
        rounds -= 1
    return None, simplex, rounds


# ---- the iteration ----------------------------------------------------------------------------------------


def _beyond(x: Vector, s: Vector, square: float, cutoff: float) -> bool:
    """Whether the plane through s across x keeps the shapes farther apart than the cutoff."""
    reach = dot(x, s)
    return reach > 0.0 and (cutoff <= 0.0 or divide(reach * reach, square) >= cutoff * cutoff)


def _reduced(simplex: list[Vertex]) -> tuple[list[Vertex], list[float]]:
    """The vertices the nearest point of a simplex needs, and their weights."""
    weights = _WEIGHTS[len(simplex) - 1](*(v.point for v in simplex))
    kept = [i for i, w in enumerate(weights) if w != 0.0]
    return [simplex[i] for i in kept], [weights[i] for i in kept]


def closest_points(
    first: ConvexShape, second: ConvexShape, iterations: int, tolerance: float, cutoff: float
) -> Closest:
    """Closest points of two shapes no farther apart than `cutoff`; with a cutoff of 0 only whether they overlap."""
    simplex: list[Vertex] = []
    weights: Sequence[float] = ()
    # Between polyhedra the iteration ends after finitely many rounds by itself.
    gap = 0.0 if first.discrete and second.discrete else 0.5 * tolerance * tolerance
    try_enclosing = cutoff <= 0.0
    x = sub(first.center, second.center)
    length = 0.0
    rounds = iterations
    while rounds > 0:
        square = dot(x, x)
        if square < MINVAL * MINVAL:
            length = square
            break
        length = sqrt(square)
        vertex = minkowski_vertex(first, second, scale(x, -1.0 / length))
        if dot(x, sub(x, vertex.point)) < gap:
            if rounds == iterations:
                simplex, weights = [vertex], (1.0,)
            break
        if cutoff < inf and _beyond(x, vertex.point, square, cutoff):
            return Closest(inf, None, [])
        simplex = [*simplex, vertex]
        if len(simplex) == 4 and try_enclosing:
            inside, tetrahedron, rounds = encloses_origin(simplex, first, second, rounds)
            if inside is not None:
                return Closest(0.0 if inside else inf, None, tetrahedron if inside else [])
            try_enclosing = False
        simplex, weights = _reduced(simplex)
        if not simplex:
            return Closest(inf, None, [])
        nearest = combine(weights, [v.point for v in simplex])
        if same(nearest, x):
            break
        x = nearest
        if len(simplex) == 4:
            length = 0.0
            break
        rounds -= 1
    if not simplex:
        return Closest(length, (first.center, second.center), simplex)
    points = combine(weights, [v.first for v in simplex]), combine(weights, [v.second for v in simplex])
    return Closest(length, points, simplex)

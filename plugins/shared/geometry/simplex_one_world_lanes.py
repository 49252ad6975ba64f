"""The nearest point of a simplex to the origin, for one world in uniform numbers; the formulas of `gjk_numpy`.

A simplex has up to four vertices in memory; what comes out are their weights. Facets and edges are looked at in
loops, so that a triangle and a segment are in the code once. World frame. See the signed volumes method behind
mjc_ccd in MuJoCo 3.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail.backends.lanes.kernel import Kernel, RealField, Variable
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, vector

LARGE = {"f64": 1e300, "f32": 1e37}
"""Instead of infinity."""

Point = Callable[[Any], Vector]
"""From the number of a vertex of the simplex to its place."""


def same_sign(a: Any, b: Any) -> Any:
    """Whether both are positive or both negative."""
    return ((a > 0.0) & (b > 0.0)) | ((a < 0.0) & (b < 0.0))


def plane_foot(k: Kernel, a: Vector, b: Vector, c: Vector) -> tuple[Vector, Any]:
    """The origin's projection on the plane through three points, and whether there is one: not if they are on a line.

    The normal is taken at one corner and, if the plane seems to pass through the origin, again at the others.
    """
    ab, ac, bc = b - a, c - a, c - b
    foot, done = k.uniform(vector(0.0, 0.0, 0.0)), k.local(0)
    failed = k.local(0)
    for normal, corner in ((cross(bc, ab), b), (cross(ab, ac), a)):
        with k.when(done.value == 0):
            square, height = dot(normal, normal), dot(normal, corner)
            with k.when(square == 0.0):
                failed.set(1)
                done.set(1)
            with k.when((square > MINVAL) & (height != 0.0)):
                foot.set(normal * (height / square))
                done.set(1)
    with k.when(done.value == 0):
        normal = cross(ac, bc)
        foot.set(normal * (dot(normal, c) / dot(normal, normal)))
    return foot.value, failed.value == 0


def triangle_areas(k: Kernel, a: Vector, b: Vector, c: Vector, p: Vector) -> tuple[Any, Any, Any, Any]:
    """Signed area of a triangle, and of the three triangles a point p of its plane forms with its sides, in the
    projection where the triangle is largest."""
    total, axis = k.uniform(0.0), k.local(0)
    for dropped, (i, j) in ((2, (0, 1)), (1, (0, 2)), (0, (1, 2))):
        area = b[i] * c[j] - b[j] * c[i] - a[i] * c[j] + a[j] * c[i] + a[i] * b[j] - a[j] * b[i]
        with k.when(k.abs(area) >= k.abs(total.value)):
            total.set(area)
            axis.set(dropped)
    first, second = axis.value == 0, axis.value == 2

    def projected(v: Vector) -> tuple[Any, Any]:
        return k.select(first, v[1], v[0]), k.select(second, v[1], v[2])

    pa, pb, pc, pp = projected(a), projected(b), projected(c), projected(p)
    return total.value, _part(pp, pb, pc), _part(pp, pc, pa), _part(pp, pa, pb)


def _part(p: tuple[Any, Any], b: tuple[Any, Any], c: tuple[Any, Any]) -> Any:
    """Twice the area of p, b, c in the projection; the order of the sum decides what rounds to zero."""
    return p[0] * b[1] + p[1] * c[0] + b[0] * c[1] - p[0] * c[1] - p[1] * b[0] - c[0] * b[1]


def segment_weights(k: Kernel, a: Vector, b: Vector) -> tuple[Any, Any]:
    """Weights of the point of the segment nearest to the origin; the last vertex alone if that is an end."""
    edge = b - a
    t = -(dot(b, edge) / dot(edge, edge))
    # Compared along the longest side of the segment's bounding box, where rounding hurts least.
    span, low, way, high = k.uniform(a[0] - b[0]), k.uniform(b[0]), k.uniform(edge[0]), k.uniform(a[0])
    for i in (1, 2):
        with k.when(k.abs(a[i] - b[i]) >= k.abs(span.value)):
            span.set(a[i] - b[i])
            low.set(b[i])
            way.set(edge[i])
            high.set(a[i])
    foot = low.value + t * way.value
    to_b, to_a = foot - low.value, high.value - foot
    between = same_sign(span.value, to_b) & same_sign(span.value, to_a)
    return k.select(between, to_b / span.value, 0.0), k.select(between, to_a / span.value, 1.0)


class SimplexWeights:
    """Weights of the vertices of a simplex whose mix is its point nearest to the origin."""

    def __init__(self, k: Kernel, point: Point) -> None:
        self.k = k
        self.point = point
        self.weight: RealField = k.reals("convex/weight", 4)
        self.facet: RealField = k.reals("convex/facet_weight", 3)
        self.outside = k.integers("convex/outside", 4)
        self.beside = k.integers("convex/beside", 3)

    def compute(self, size: Variable) -> None:
        """Fill `weight`.

        One peculiarity of MuJoCo 3.4 is kept, since it decides which distances come out as 0: if the facet of the
        first three vertices turns out nearer than one looked at before it, the fourth keeps the weight it had there.
        """
        k = self.k
        for n in range(4):
            self.weight[n] = k.select(size.value == 1, 1.0, 0.0) if n == 0 else 0.0
            self.outside[n] = k.select(size.value == 1, 0, 1) if n == 3 else 0
        with k.when(size.value == 4):
            self._look_at_volumes()
        least = k.uniform(LARGE[k.precision])
        with k.loop(0, 4) as facet, k.when(self.outside[facet] != 0):
            corners = [n + k.select(facet <= n, 1, 0) for n in range(3)]
            self._weigh_facet(corners, size.value == 2)
            nearest = k.uniform(vector(0.0, 0.0, 0.0))
            for n in range(3):
                nearest.set(nearest.value + self.facet[n] * self.point(corners[n]))
            square = dot(nearest.value, nearest.value)
            with k.when((square < least.value) | (size.value < 4)):
                least.set(square)
                with k.when(facet < 3):
                    self.weight[facet] = 0.0
                for n in range(3):
                    self.weight[corners[n]] = self.facet[n]

    def _look_at_volumes(self) -> None:
        """Which facets of a tetrahedron the origin is outside of; if of none, the weights."""
        k = self.k
        a, b, c, d = (self.point(n) for n in range(4))
        volumes = (
            -dot(b, cross(c, d)),
            dot(a, cross(c, d)),
            -dot(a, cross(b, d)),
            dot(a, cross(b, c)),
        )
        total = volumes[0] + volumes[1] + volumes[2] + volumes[3]
        for n, part in enumerate(volumes):
            self.outside[n] = k.select(same_sign(total, part), 0, 1)
        with k.when((self.outside[0] + self.outside[1] + self.outside[2] + self.outside[3]) == 0):
            for n, part in enumerate(volumes):
                self.weight[n] = part / total

    def _weigh_facet(self, corners: list[Any], segment: Any) -> None:
        """Fill `facet` with the weights on a triangle, or on its first two corners."""
        k = self.k
        for n in range(2):
            self.beside[n] = 0
        self.beside[2] = 1
        forced = k.local(k.select(segment, 1, 0))
        with k.when(forced.value == 0):
            a, b, c = (self.point(corner) for corner in corners)
            foot, exists = plane_foot(k, a, b, c)
            with k.when(exists):
                total, *parts = triangle_areas(k, a, b, c, foot)
                for n, part in enumerate(parts):
                    self.beside[n] = k.select(same_sign(total, part), 0, 1)
                    self.facet[n] = part / total
            with k.otherwise():
                forced.set(1)
        with k.when((self.beside[0] + self.beside[1] + self.beside[2]) != 0):
            self._weigh_edges(corners, forced)

    def _weigh_edges(self, corners: list[Any], forced: Variable) -> None:
        """Fill `facet` with the weights on the nearest of the edges that the origin is beside."""
        k = self.k
        places = k.integers("convex/corners", 3)
        for n in range(3):
            self.facet[n] = 0.0
            places[n] = corners[n]
        least = k.uniform(LARGE[k.precision])
        with k.loop(0, 3) as edge, k.when(self.beside[edge] != 0):
            ends = [n + k.select(edge <= n, 1, 0) for n in range(2)]
            a, b = (self.point(places[end]) for end in ends)
            weights = segment_weights(k, a, b)
            nearest = weights[0] * a + weights[1] * b
            square = dot(nearest, nearest)
            with k.when((square < least.value) | (forced.value != 0)):
                least.set(square)
                self.facet[edge] = 0.0
                for end, weight in zip(ends, weights, strict=True):
                    self.facet[end] = weight

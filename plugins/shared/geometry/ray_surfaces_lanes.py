"""Where rays first meet a mesh or a height field, in lanes.

Both are triangles: seen along the ray they are flat, and the ray is a point. Every ray of a tile looks at the same
triangle of a mesh at a time; the cells of a height field that rays pass over differ, so there the worlds take turns,
with code in uniform numbers. Rays and vertices are in the geom's frame; x or MISS is returned. The rules are those of
`ray_surfaces_numpy`. Compare mj_rayMesh, mj_rayHfield and ray_triangle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import attrs

from dovetail.backends.lanes.kernel import Kernel, Variable
from dovetail.contracts.enums import GeomType
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.face_trees import FaceTrees, face_trees
from dovetail.plugins.shared.geometry.ray_shapes_lanes import MISS, box, box_faces
from dovetail.plugins.shared.geometry.support_one_world_lanes import ENDLESS
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, norm, unit, vector
from dovetail.recorded_model import by_value

# ---- triangles ----------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Sight:
    """Rays, of all worlds or of one, and two directions across them, in which things are seen along the ray."""

    point: Vector
    ray: Vector
    axes: tuple[Vector, Vector]

    @classmethod
    def along(cls, k: Kernel, point: Vector, ray: Vector) -> Sight:
        """Of a ray that has a direction."""
        x, y, z = (k.abs(number) for number in ray)
        first = (x >= y) & (x >= z)
        second = ~first & (y >= z)
        third = ~first & ~second
        seed = vector(*(k.select(steepest, 0.0, 1.0) for steepest in (first, second, third)))
        up = unit(k, seed + (-dot(ray, seed) / dot(ray, ray)) * ray)
        return cls(point, ray, (unit(k, cross(up, ray)), up))

    def of(self, corner: Vector) -> tuple[Any, Any]:
        """Where a corner is seen."""
        offset = corner - self.point
        return dot(offset, self.axes[0]), dot(offset, self.axes[1])


def meet_triangle(
    k: Kernel, sight: Sight, corners: Sequence[Vector], seen: Sequence[tuple[Any, Any]], best: Variable
) -> None:
    """Make `best` the distance to a triangle, from either side, where that is less."""
    around = ~reduce(lambda a, b: a | b, [_beside(numbers) for numbers in zip(*seen, strict=True)])
    with k.when(k.any(around)):
        (a, c), (b, d) = ((seen[n][0] - seen[2][0], seen[n][1] - seen[2][1]) for n in (0, 1))
        x, y = -seen[2][0], -seen[2][1]
        area = a * d - b * c
        wide = ~(k.abs(area) < MINVAL)
        scale = k.select(wide, area, 1.0)
        u, v = (d * x - b * y) / scale, (a * y - c * x) / scale
        inside = around & wide & ~((u < 0.0) | (v < 0.0) | (u + v > 1.0))
        with k.when(k.any(inside)):
            distance = _plane_distance(k, sight, corners)
            best.set(k.min(best.value, k.select(inside & (distance >= 0.0), distance, MISS)))


def _beside(numbers: Sequence[Any]) -> Any:
    """Whether numbers are all above or all below zero."""
    x, y, z = numbers
    return ((x > 0.0) & (y > 0.0) & (z > 0.0)) | ((x < 0.0) & (y < 0.0) & (z < 0.0))


def _plane_distance(k: Kernel, sight: Sight, corners: Sequence[Vector]) -> Any:
    """Where a ray meets the plane of a triangle; −1 where it is parallel to it."""
    last = corners[2]
    normal = cross(corners[0] - last, corners[1] - last)
    slope = dot(normal, sight.ray)
    crosses = ~(k.abs(slope) < MINVAL)
    height = dot(sight.point - last, normal)
    return k.select(crosses, -height / k.select(crosses, slope, 1.0), -1.0)


# ---- mesh ---------------------------------------------------------------------------------------------------


SLACK_OF_BOXES = 1e-6
"""How much larger boxes are taken to be, in distances of the ray's start: more than what rounding can do."""


def mesh(k: Kernel, geom: Any, point: Vector, ray: Vector, nearest: Any) -> Any:
    """The nearest face of a geom's mesh; what is farther than `nearest` may be left out."""
    towards = box(k, point, ray, k.model.geom_size[geom]) < MISS
    best = k.local(MISS)
    with k.when(k.any(towards)):
        best.set(k.select(towards, nearest, -1.0))
        Faces(k, k.model.geom_dataid[geom]).meet(Sight.along(k, point, ray), best)
    return k.select(towards, best.value, MISS)


class Faces:
    """The faces of a mesh, in a tree of boxes that all rays of a tile go through together."""

    def __init__(self, k: Kernel, number: Any) -> None:
        trees = mesh_trees(k)
        self.k = k
        self.number = number
        self.columns = {
            name: k.table(f"ray/{name}", column) for name, column in trees.nodes._asdict().items()
        }
        self.start, self.end, numerator, denominator = k.table("ray/trees", trees.meshes)[number]
        self.unit = 1.0 * numerator / denominator

    def meet(self, sight: Sight, best: Variable) -> None:
        """Make `best` the distance to the nearest face where that is less."""
        k, columns = self.k, self.columns
        around = Passage.of(k, sight, SLACK_OF_BOXES * (norm(k, sight.point) + norm(k, sight.ray)))
        node = k.local(0)
        node.set(self.start)
        with k.loop(0, ENDLESS):
            k.leave_when(node.value >= self.end)
            bounds = [self.unit * columns["bounds"][node.value, n] for n in range(6)]
            meets = k.any(around.through(vector(*bounds[:3]), vector(*bounds[3:]), best.value))
            with k.when(meets):
                first = columns["first"][node.value]
                with k.loop(first, first + columns["nface"][node.value]) as place:
                    self._meet_face(sight, columns["faces"][place], best)
            node.set(k.select(meets, node.value + 1, columns["after"][node.value]))

    def _meet_face(self, sight: Sight, face: Any, best: Variable) -> None:
        m = self.k.model
        first_vertex = m.mesh_vertadr[self.number]
        corners = [m.mesh_vert[first_vertex + m.mesh_face[face, n]] for n in range(3)]
        meet_triangle(self.k, sight, corners, [sight.of(corner) for corner in corners], best)


def mesh_trees(k: Kernel) -> FaceTrees:
    """The trees of all meshes that geoms have; worked out once for a program."""
    model, memo = k.frozen_model, k.layout.memo
    if "ray/trees" not in memo:
        by_value(model, "mesh_vert")
        memo["ray/trees"] = face_trees(model, model.geom_dataid[model.geom_type == GeomType.MESH].tolist())
    trees: FaceTrees = memo["ray/trees"]
    return trees


@attrs.frozen(eq=False)
class Passage:
    """Rays, for asking which boxes they pass through; a box counts as larger by `slack`."""

    k: Kernel
    point: Vector
    inverse: Vector
    """Of the numbers of the ray's vector; a large number where that is zero."""
    slack: Any

    @classmethod
    def of(cls, k: Kernel, sight: Sight, slack: Any) -> Passage:
        moves = [k.abs(number) > MINVAL for number in sight.ray]
        inverse = [
            k.select(does, 1.0 / k.select(does, number, 1.0), MISS)
            for does, number in zip(moves, sight.ray, strict=True)
        ]
        return cls(k, sight.point, vector(*inverse), slack)

    def through(self, low: Vector, high: Vector, limit: Any) -> Any:
        """Whether a ray is in a box somewhere between its start and a distance."""
        k = self.k
        ends = [
            (
                (low[n] - self.slack - self.point[n]) * self.inverse[n],
                (high[n] + self.slack - self.point[n]) * self.inverse[n],
            )
            for n in range(3)
        ]
        enters = reduce(k.max, [k.min(*pair) for pair in ends])
        leaves = reduce(k.min, [k.max(*pair) for pair in ends])
        return (k.max(enters, 0.0) <= leaves) & (enters <= limit)


# ---- height field -------------------------------------------------------------------------------------------

PADDING = 1
"""Cells that are looked at on both sides of those under a ray."""
SLACK = 1e-4
"""How far above or below a ray cells are looked at, in sizes of the field: more than what rounding can do."""


def hfield(k: Kernel, geom: Any, point: Vector, ray: Vector, nearest: Any) -> Any:
    """The base, the surface or the walls under its border; what is farther than `nearest` may be left out."""
    field = Terrain(k, k.model.geom_dataid[geom])
    base = reduce(k.min, field.slab(-field.base, point, ray))
    faces = field.slab(field.top, point, ray)
    enters = reduce(k.min, faces)
    leaves = reduce(k.max, [k.select(x < MISS, x, -1.0) for x in faces])
    passes = leaves > enters
    start, end = k.select(passes, enters, 0.0), k.select(passes, leaves, enters)
    journeys, found = k.split("ray/journeys", 12), k.split("ray/found", 1)
    journeys[:] = vector(point, ray, start, k.min(end, nearest), faces[:4])
    found[0] = base
    with k.worlds((enters < MISS) & (start <= nearest)) as world:
        own, best = journeys.of(world), k.uniform(0.0)
        best.set(found.of(world)[0])
        sight = Sight.along(k, own[0:3], own[3:6])
        field.meet_surface(sight, own[6], own[7], best)
        field.meet_walls(sight, own[8:12], best)
        found.of(world)[0] = best.value
    return found[0]


class Terrain:
    """A height field: heights between 0 and 1 over a rectangle, on a base."""

    def __init__(self, k: Kernel, number: Any) -> None:
        m = k.model
        self.k = k
        self.first, self.rows, self.columns = (
            m.hfield_adr[number],
            m.hfield_nrow[number],
            m.hfield_ncol[number],
        )
        x, y, self.top, self.base = m.hfield_size[number]
        self.half = vector(x, y)
        self.step = vector(2.0 * x / (self.columns - 1), 2.0 * y / (self.rows - 1))
        """Distance of samples along x and y."""
        self.slack = SLACK * (x + y + self.top)

    def slab(self, height: Any, point: Vector, ray: Vector) -> list[Any]:
        """Where rays cross the faces of the box between zero and a height."""
        k = self.k
        centred = vector(point[0], point[1], point[2] - 0.5 * height)
        return box_faces(k, centred, ray, vector(*self.half, k.abs(height) * 0.5))

    def height(self, row: Any, column: Any) -> Any:
        return self.k.model.hfield_data[self.first + row * self.columns + column]

    def corner(self, row: Any, column: Any) -> Vector:
        """A vertex of the surface."""
        x, y = self.step[0] * column - self.half[0], self.step[1] * row - self.half[1]
        return vector(x, y, self.height(row, column) * self.top)

    # In one world.

    def meet_surface(self, sight: Sight, start: Any, end: Any, best: Variable) -> None:
        """Look at the cells under the part of a ray between two distances: strip by strip, along the axis on which
        it passes more of them. Cells that are lower or higher than the ray over their strip are passed over."""
        k = self.k
        x, y = (Track(k, *self._track(sight, axis)) for axis in range(2))
        upwards = k.abs(y.slope) > k.abs(x.slope)
        along, across = y.or_else(upwards, x), x.or_else(upwards, y)
        with k.loop(*along.cells(start, end)) as strip:
            first, last = along.part(strip, start, end)
            ends = [sight.point[2] + place * sight.ray[2] for place in (first, last)]
            low, high = k.min(*ends) - self.slack, k.max(*ends) + self.slack
            with k.loop(*across.cells(first, last)) as place:
                row, column = k.select(upwards, strip, place), k.select(upwards, place, strip)
                corners = self._corners(row, column)
                heights = [corner[2] for corner in corners]
                with k.when((reduce(k.max, heights) >= low) & (reduce(k.min, heights) <= high)):
                    self._meet_cell(sight, corners, best)

    def _track(self, sight: Sight, axis: int) -> tuple[Any, Any, Any]:
        """Start of a ray and its slope along an axis, counted in samples, and how many there are."""
        origin = (sight.point[axis] + self.half[axis]) / self.step[axis]
        return origin, sight.ray[axis] / self.step[axis], (self.columns, self.rows)[axis]

    def _corners(self, row: Any, column: Any) -> list[Vector]:
        """Of a cell: the two on its diagonal, the two beside it."""
        places = ((row, column), (row + 1, column + 1), (row, column + 1), (row + 1, column))
        return [self.corner(*place) for place in places]

    def _meet_cell(self, sight: Sight, corners: list[Vector], best: Variable) -> None:
        """Look at the two triangles of a cell."""
        near, far, *sides = corners
        seen_near, seen_far = sight.of(near), sight.of(far)
        for side in sides:
            meet_triangle(self.k, sight, (near, far, side), (seen_near, seen_far, sight.of(side)), best)

    def meet_walls(self, sight: Sight, sides: Vector, best: Variable) -> None:
        """Look at the sides −x +x −y +y, which are walls up to the border of the surface."""
        k = self.k
        for side, x in enumerate(sides):
            with k.when(x < best.value):
                axis, samples = (1, self.rows) if side < 2 else (0, self.columns)
                place = (sight.point[axis] + x * sight.ray[axis] + self.half[axis]) / self.step[axis]
                sample = k.integer(k.clip(k.floor(place), 0.0, 1.0 * (samples - 2)))
                height = self._border(side, sample) * (sample + 1 - place)
                height += self._border(side, sample + 1) * (place - sample)
                with k.when((sight.point[2] + x * sight.ray[2]) / self.top < height):
                    best.set(x)

    def _border(self, side: int, sample: Any) -> Any:
        """A height at the border of a side."""
        last = 0 if side in (0, 2) else (self.columns if side == 1 else self.rows) - 1
        return self.height(sample, last) if side < 2 else self.height(last, sample)


@attrs.frozen(eq=False)
class Track:
    """One world's ray over a height field, along one axis, counted in samples."""

    k: Kernel
    origin: Any
    slope: Any
    samples: Any

    def or_else(self, condition: Any, other: Track) -> Track:
        """This where a condition holds, else the other."""
        numbers = ("origin", "slope", "samples")
        chosen = (self.k.select(condition, getattr(self, n), getattr(other, n)) for n in numbers)
        return Track(self.k, *chosen)

    def cells(self, start: Any, end: Any) -> tuple[Any, Any]:
        """The first cell between two distances, padding included, and the one after the last."""
        k = self.k
        ends = [self.origin + x * self.slope for x in (start, end)]
        most = 1.0 * (self.samples - 1)
        first, stop = k.floor(k.min(*ends)) - PADDING, PADDING - k.floor(-k.max(*ends))
        return k.integer(k.clip(first, 0.0, most)), k.integer(k.clip(stop, 0.0, most))

    def part(self, cell: Any, start: Any, end: Any) -> tuple[Any, Any]:
        """The part of a ray between two distances that is over a cell and its padding."""
        k = self.k
        level = k.abs(self.slope) < MINVAL
        slope = k.select(level, 1.0, self.slope)
        ends = [(cell + offset - self.origin) / slope for offset in (-PADDING, 1 + PADDING)]
        first = k.select(level, start, k.max(start, k.min(*ends)))
        return first, k.max(first, k.select(level, end, k.min(end, k.max(*ends))))


SURFACES: Mapping[GeomType, Callable[[Kernel, Any, Vector, Vector, Any], Any]] = {
    GeomType.MESH: mesh,
    GeomType.HFIELD: hfield,
}
"""By geom type: (kernel, geom, point, ray, nearest hit so far) → x."""

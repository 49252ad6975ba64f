"""What the distance iteration and the expanding polytope share, for one world in uniform numbers.

Both go from one support point of the Minkowski difference to the next. In a kernel they are one loop: at its end the
support point in the direction wanted is computed, at its beginning whoever asked for it goes on. So the support
functions of all shapes are in the code once. `phase` says who goes on; the sections of a turn stand in an order in
which a phase mostly leads to one below it, and one that leads upwards waits for the next turn.

World frame. Compare mjc_ccd in MuJoCo 3.4.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.geometry.epa_numpy import MIN_ROOM
from dovetail.plugins.shared.geometry.support_one_world_lanes import POINT, SEGMENT, Shapes, farthest
from dovetail.plugins.shared.vectors_lanes import Vector, dot, unit, vector

SPARE_VERTICES = 24
"""Room for the vertices of first polytopes, and some to spare."""


class Phase(IntEnum):
    """What happens next; those up to TIP wait for a support point."""

    DISTANCE = 0
    ENCLOSING = 1
    EXPANSION = 2
    TIP = 3
    START = 4
    ENCLOSE = 5
    REDUCE = 6
    AIM = 7
    END = 8
    BEGIN = 9
    CLOSE = 10
    TRIANGLE = 11
    NEAREST = 12
    DONE = 13


class Search:
    """The state of the search for the witness points of one pair of shapes in one world."""

    def __init__(self, k: Kernel, shapes: Shapes) -> None:
        self.k = k
        self.shapes = shapes
        planned = int(k.frozen_model.opt.ccd_iterations)
        self.face_room = max(MIN_ROOM, 6 * planned)
        """Faces a polytope may have, counting those replaced."""
        self.iterations = k.model.opt.ccd_iterations
        self.tolerance = k.model.opt.ccd_tolerance
        self.pool = k.reals("convex/pool", 2 * planned + SPARE_VERTICES, 9)
        """Support points: of the difference, of the first shape, of the second."""
        self.ids = k.integers("convex/ids", 2 * planned + SPARE_VERTICES, 2)
        self.count = k.local(0)
        self.phase = k.local(int(Phase.START))
        self.direction = k.uniform(vector(1.0, 0.0, 0.0))
        self.simplex = k.integers("convex/simplex", 4)
        """Vertices of the simplex, as numbers of support points."""
        self.size = k.local(0)
        self.discrete = k.local(0)
        """1 if both shapes are polyhedra, whose vertices have numbers."""
        self.touches = k.local(0)
        self.apart = k.local(0)
        """1 if the last support point shows that the shapes are apart."""
        self.distance = k.uniform(0.0)
        self.first = k.uniform(vector(0.0, 0.0, 0.0))
        self.second = k.uniform(vector(0.0, 0.0, 0.0))

    def at(self, phase: Phase) -> Any:
        """`with search.at(phase):` what follows runs in this phase."""
        return self.k.when(self.phase.value == int(phase))

    def go(self, phase: Phase) -> None:
        self.phase.set(int(phase))

    def go_if(self, condition: Any, phase: Phase, other: Phase) -> None:
        self.phase.set(self.k.select(condition, int(phase), int(other)))

    def point(self, vertex: Any) -> Vector:
        """A support point of the difference."""
        found: Vector = self.pool[vertex, 0:3]
        return found

    @property
    def newest(self) -> Any:
        """Number of the support point computed last."""
        return self.count.value - 1

    def add_support(self) -> None:
        """Compute the support point in the direction wanted."""
        k, new = self.k, self.count.value
        with k.loop(0, 2) as s:
            sign = k.select(s == 0, 1.0, -1.0)
            place, vertex = farthest(self.shapes, s, self.direction.value * sign)
            for n in range(3):
                self.pool[new, 3 + 3 * s + n] = place[n]
            self.ids[new, s] = vertex
        self.pool[new, 0:3] = self.pool[new, 3:6] - self.pool[new, 6:9]
        self.count += 1

    def copy_vertex(self, vertex: Any) -> None:
        """Append an earlier support point once more."""
        k, new = self.k, self.count.value
        with k.loop(0, 9) as n:
            self.pool[new, n] = self.pool[vertex, n]
        for s in range(2):
            self.ids[new, s] = self.ids[vertex, s]
        self.count += 1

    def reach(self) -> Any:
        """How far both shapes reach along the direction of the last support point, each from its position and without
        its margin."""
        k, shapes, towards = self.k, self.shapes, self.direction.value
        reach = dot(towards, self.point(self.newest) - (shapes.position(0) - shapes.position(1)))
        for s in range(2):
            bare = (shapes.kind[s] == POINT) | (shapes.kind[s] == SEGMENT)
            reach = reach - shapes.swelling[s] + k.select(bare, shapes.size[s, 0], 0.0)
        return reach

    def end_apart(self) -> None:
        """End the search: the last support point shows that the shapes are apart."""
        self.apart.set(1)
        self.go(Phase.DONE)

    def found(self, distance: Any, first: Vector, second: Vector) -> None:
        """End the search with a contact, if the distance is negative."""
        self.touches.set(self.k.select(distance < 0.0, 1, 0))
        self.distance.set(distance)
        self.first.set(first)
        self.second.set(second)
        self.go(Phase.DONE)

    @property
    def place(self) -> Vector:
        """Halfway between the witness points."""
        return (self.first.value + self.second.value) * 0.5

    @property
    def normal(self) -> Vector:
        return unit(self.k, self.first.value - self.second.value)


def same(k: Kernel, a: Vector, b: Vector, tolerance: float) -> Any:
    """Whether two points differ by less than the tolerance in each coordinate."""
    x, y, z = (k.abs(d) < tolerance for d in a - b)
    return x & y & z

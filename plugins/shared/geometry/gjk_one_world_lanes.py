"""The distance iteration of `gjk_numpy` for one world in uniform numbers, as sections of the loop over support
points.

Shapes of which one is round are first taken without their skin; then the nearest points give the contact. If the
cores touch, and for all other shapes, only overlap matters: the first tetrahedron is walked over the origin. What the
iteration is sure of is handed to the expanding polytope. World frame. See gjk and gjkIntersect behind mjc_ccd in
MuJoCo 3.4.
"""

from __future__ import annotations

from typing import Any

from dovetail.plugins.shared.constants import MAXVAL, MINVAL
from dovetail.plugins.shared.geometry.ccd_one_world_lanes import Phase, Search, same
from dovetail.plugins.shared.geometry.gjk_numpy import _FACES
from dovetail.plugins.shared.geometry.simplex_one_world_lanes import LARGE, SimplexWeights
from dovetail.plugins.shared.geometry.support_numpy import BOX, CAPSULE, HFIELD, MESH, SPHERE
from dovetail.plugins.shared.geometry.support_one_world_lanes import CORES
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, unit, vector


class Distance:
    """The iteration's own state."""

    def __init__(self, search: Search) -> None:
        k = search.k
        self.search = search
        self.x = k.uniform(vector(0.0, 0.0, 0.0))
        """The nearest point of the simplex."""
        self.length = k.uniform(0.0)
        self.rounds = k.local(0)
        self.cores = k.local(0)
        """1 while round shapes are without their skin."""
        self.skins = k.uniform(vector(0.0, 0.0))
        """What the cores lack: radius and half the margin."""
        self.swellings = k.uniform(vector(0.0, 0.0))
        self.weights = SimplexWeights(k, self.corner)
        self.tetrahedron = k.integers("convex/tetrahedron", 4)
        self.planes = k.reals("convex/planes", 4, 4)
        """Unit normals of its faces, and their heights over the origin."""
        self.worst = k.local(0)
        self.try_enclosing = k.local(0)

    def corner(self, n: Any) -> Vector:
        """A vertex of the simplex."""
        return self.search.point(self.search.simplex[n])

    def prepare(self, margin: Any) -> None:
        """Before the loop: with cores, if a shape has one."""
        search, k = self.search, self.search.k
        kinds = [search.shapes.kind[s] for s in range(2)]
        sizes = [search.shapes.size[s, 0] for s in range(2)]
        swellings = [search.shapes.swelling[s] for s in range(2)]
        round_shapes = [(kind == SPHERE) | (kind == CAPSULE) for kind in kinds]
        flat = [((kind == HFIELD) | (kind == BOX) | (kind == MESH)) for kind in kinds]
        search.discrete.set(k.select(flat[0] & flat[1] & (margin == 0.0), 1, 0))
        self.swellings.set(vector(*swellings))
        skins = [size + 0.5 * margin for size in sizes]
        self.skins.set(vector(*(k.select(r, skin, 0.0) for r, skin in zip(round_shapes, skins, strict=True))))
        self.cores.set(k.select(round_shapes[0] | round_shapes[1], 1, 0))
        search.touches.set(0)
        search.apart.set(0)
        search.go(Phase.START)

    def start(self) -> None:
        """Section START: from the line between the centres."""
        search = self.search
        with search.at(Phase.START):
            self._dress()
            self.x.set(self._centre(0) - self._centre(1))
            self.length.set(0.0)
            self.rounds.set(search.iterations)
            self.try_enclosing.set(1 - self.cores.value)
            search.count.set(0)
            search.size.set(0)
            for n in range(4):  # weights of 0 stand for vertices that a smaller simplex does not have
                search.simplex[n] = 0
            search.go(Phase.AIM)

    def _dress(self) -> None:
        """Take away the skins of round shapes, or give them back."""
        shapes, k = self.search.shapes, self.search.k
        for s in range(2):
            for whole, core in CORES.items():
                if whole not in shapes.kinds:
                    continue
                with k.when((shapes.kind[s] == whole) & (self.cores.value == 1)):
                    shapes.kind[s] = core
                    shapes.swelling[s] = 0.0
                with k.when((shapes.kind[s] == core) & (self.cores.value == 0)):
                    shapes.kind[s] = whole
                    shapes.swelling[s] = self.swellings.value[s]

    def _centre(self, s: int) -> Vector:
        """Where the iteration starts: a geom's position, the mean of a prism's corners."""
        shapes, k = self.search.shapes, self.search.k
        centre = k.uniform(shapes.position(s))
        if s == 0 and HFIELD in shapes.kinds:
            with k.when(shapes.kind[s] == HFIELD):
                total = vector(0.0, 0.0, 0.0)
                for n in range(6):
                    total = total + shapes.corners[n]
                centre.set(total * (1.0 / 6.0))
        place: Vector = centre.value
        return place

    # ---- distance ---------------------------------------------------------------------------------------------

    def arrival(self) -> None:
        """Section DISTANCE: a support point opposite to x."""
        search, k = self.search, self.search.k
        with search.at(Phase.DISTANCE):
            x, s = self.x.value, search.point(search.newest)
            tolerance = search.tolerance
            gap = k.select(search.discrete.value == 1, 0.0, 0.5 * tolerance * tolerance)
            with k.when(dot(x, x - s) < gap):
                with k.when(self.rounds.value == search.iterations):
                    search.simplex[0] = search.newest
                    search.size.set(1)
                    self.weights.weight[0] = 1.0
                search.go(Phase.END)
            with k.otherwise():
                self._add(dot(x, s), dot(x, x))

    def _add(self, reach: Any, square: Any) -> None:
        """Take the support point into the simplex, unless the plane through it keeps the shapes apart."""
        search, k = self.search, self.search.k
        cutoff = k.select(self.cores.value == 1, self.skins.value[0] + self.skins.value[1], 0.0)
        apart = (cutoff <= 0.0) | (reach * reach / square >= cutoff * cutoff)
        with k.when((reach > 0.0) & apart):
            search.end_apart()
        with k.otherwise():
            search.simplex[search.size.value] = search.newest
            search.size += 1
            walk = (search.size.value == 4) & (self.try_enclosing.value == 1)
            search.go_if(walk, Phase.ENCLOSE, Phase.REDUCE)
            with k.when(walk):
                self.try_enclosing.set(0)
                for n in range(4):
                    self.tetrahedron[n] = search.simplex[n]

    def reduce(self) -> None:
        """Section REDUCE: the vertices the nearest point of the simplex needs, and that point."""
        search, k = self.search, self.search.k
        with search.at(Phase.REDUCE):
            self.weights.compute(search.size)
            kept, nearest = k.local(0), k.uniform(vector(0.0, 0.0, 0.0))
            with k.loop(0, search.size.value) as n:
                weight = self.weights.weight[n]
                with k.when(weight != 0.0):
                    nearest.set(nearest.value + weight * self.corner(n))
                    self.weights.weight[kept.value] = weight
                    search.simplex[kept.value] = search.simplex[n]
                    kept += 1
            search.size.set(kept.value)
            with k.when(kept.value == 0):
                search.go(Phase.DONE)
            with k.otherwise():
                self._move(nearest.value)

    def _move(self, nearest: Vector) -> None:
        """Let x be the nearest point; the end if it stays or the simplex holds the origin."""
        search, k = self.search, self.search.k
        with k.when(same(k, nearest, self.x.value, MINVAL)):
            search.go(Phase.END)
        with k.otherwise():
            self.x.set(nearest)
            with k.when(search.size.value == 4):
                self.length.set(0.0)
                search.go(Phase.END)
            with k.otherwise():
                self.rounds -= 1
                search.go(Phase.AIM)

    def aim(self) -> None:
        """Section AIM: look opposite to x."""
        search, k = self.search, self.search.k
        with search.at(Phase.AIM):
            search.go(Phase.END)
            with k.when(self.rounds.value > 0):
                square = dot(self.x.value, self.x.value)
                with k.when(square < MINVAL * MINVAL):
                    self.length.set(square)
                with k.otherwise():
                    self.length.set(k.sqrt(square))
                    search.direction.set(self.x.value * (-1.0 / self.length.value))
                    search.go(Phase.DISTANCE)

    def end(self) -> None:
        """Section END: of cores apart the contact; else a polytope, if the shapes overlap."""
        search, k = self.search, self.search.k
        with search.at(Phase.END):
            with k.when(self.cores.value == 1):
                with k.when(self.length.value > search.tolerance):
                    self._found_by_cores()
                with k.otherwise():
                    self.cores.set(0)
                    search.go(Phase.START)
            with k.otherwise():
                overlap = (self.length.value <= search.tolerance) & (search.size.value >= 2)
                search.go_if(overlap, Phase.BEGIN, Phase.DONE)

    def _found_by_cores(self) -> None:
        """The contact of round shapes whose cores do not touch."""
        search, k = self.search, self.search.k
        skins = self.skins.value
        first, second = k.uniform(vector(0.0, 0.0, 0.0)), k.uniform(vector(0.0, 0.0, 0.0))
        with k.loop(0, search.size.value) as n:
            weight, vertex = self.weights.weight[n], search.simplex[n]
            first.set(first.value + weight * search.pool[vertex, 3:6])
            second.set(second.value + weight * search.pool[vertex, 6:9])
        with k.when(search.size.value == 0):
            first.set(self._centre(0))
            second.set(self._centre(1))
        normal = unit(k, second.value - first.value)
        distance = self.length.value - (skins[0] + skins[1])
        search.found(distance, first.value + skins[0] * normal, second.value - skins[1] * normal)

    # ---- overlap only -----------------------------------------------------------------------------------------

    def enclosing(self) -> None:
        """Section ENCLOSING: a support point beyond the face that the origin is farthest outside of."""
        search, k = self.search, self.search.k
        with search.at(Phase.ENCLOSING):
            worst = self.worst.value
            self.tetrahedron[worst] = search.newest
            with k.when(dot(search.direction.value, search.point(search.newest)) < 0.0):
                search.end_apart()
            with k.otherwise():
                # Two vertices change places so that the new tetrahedron is oriented like the old one.
                i, j = (worst + 1) % 4, (worst + 2) % 4
                one, two = k.local(self.tetrahedron[i]), k.local(self.tetrahedron[j])
                self.tetrahedron[i] = two.value
                self.tetrahedron[j] = one.value
                self.rounds -= 1
                search.go(Phase.ENCLOSE)

    def enclose(self) -> None:
        """Section ENCLOSE: whether the tetrahedron holds the origin; undecided if that lies on a face or the rounds
        are used up."""
        search, k = self.search, self.search.k
        with search.at(Phase.ENCLOSE):
            search.go(Phase.REDUCE)
            with k.when(self.rounds.value > 0):
                self._measure_faces()
                heights = [self.planes[n, 3] for n in range(4)]
                on_face = (heights[0] == 0.0) | (heights[1] == 0.0)
                on_face = on_face | (heights[2] == 0.0) | (heights[3] == 0.0)
                with k.when(~on_face):
                    self._choose_face(heights)

    def _measure_faces(self) -> None:
        """Planes of the tetrahedron's faces; one without a normal is infinitely high."""
        search, k = self.search, self.search.k
        faces = k.table("convex/tetrahedron_faces", _FACES)
        with k.loop(0, 4) as face:
            a, b, c = (search.point(self.tetrahedron[faces[face, n]]) for n in range(3))
            normal = cross(c - a, b - a)
            square = dot(normal, normal)
            usable = (square > MINVAL * MINVAL) & (square < MAXVAL * MAXVAL)
            scaled = normal * (1.0 / k.sqrt(k.select(usable, square, 1.0)))
            self.planes[face, 0:3] = scaled
            self.planes[face, 3] = k.select(usable, dot(scaled, a), LARGE[k.precision])

    def _choose_face(self, heights: list[Any]) -> None:
        """The end if the origin is under all faces, else look beyond the worst one.

        Of equal faces the last of each half, as MuJoCo picks.
        """
        search, k = self.search, self.search.k
        low = k.local(k.select(heights[0] < heights[1], 0, 1))
        high = k.local(k.select(heights[2] < heights[3], 2, 3))
        lower = self.planes[low.value, 3] < self.planes[high.value, 3]
        self.worst.set(k.select(lower, low.value, high.value))
        with k.when(self.planes[self.worst.value, 3] > 0.0):
            for n in range(4):
                search.simplex[n] = self.tetrahedron[n]
            search.go(Phase.BEGIN)
        with k.otherwise():
            search.direction.set(self.planes[self.worst.value, 0:3])
            search.go(Phase.ENCLOSING)

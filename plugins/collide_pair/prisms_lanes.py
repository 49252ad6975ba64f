"""The prisms of a height field that a convex geom may touch, for one world in uniform numbers.

In the height field's frame the geom's extent says which cells to look at; each is two prisms, numbered row by row
along x. The algorithm is that of `hfield_numpy`. See mjc_ConvexHField in MuJoCo 3.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.geometry.contact_patch_numpy import MAX_CONTACTS
from dovetail.plugins.shared.geometry.simplex_one_world_lanes import LARGE
from dovetail.plugins.shared.geometry.support_numpy import HFIELD, SPHERE
from dovetail.plugins.shared.geometry.support_one_world_lanes import Shapes, farthest
from dovetail.plugins.shared.vectors_lanes import Vector, dot, norm, to_frame, to_world, vector

REACH_SLACK = 10.0
"""Prisms farther than a ball around the geom by so many tolerances are passed over, as in the reference."""


class HeightField:
    """A height field and the geom over it."""

    most = MAX_CONTACTS

    def __init__(self, k: Kernel, shapes: Shapes, geoms: tuple[Any, Any], margin: Any) -> None:
        m = k.model
        self.k = k
        self.shapes = shapes
        self.geoms = geoms
        self.margin = margin
        self.concerned = m.geom_type[geoms[0]] == HFIELD
        field = k.max(m.geom_dataid[geoms[0]], 0)
        self.first, self.rows, self.columns = m.hfield_adr[field], m.hfield_nrow[field], m.hfield_ncol[field]
        self.half_x, self.half_y, self.top, self.base = m.hfield_size[field]
        self.radius = m.geom_rbound[geoms[1]]
        self.frame = k.reals("convex/field", 12)
        """The height field's pose: position, matrix."""
        self.extent = k.reals("convex/extent", 3, 2)
        """Least and greatest coordinates of the geom."""
        self.enclosing = k.uniform(0.0)
        """Radius of a ball about the geom's centre that it fits into, by its own extent."""
        self.cells = k.integers("convex/cells", 4)
        """First and last row, first and last column."""

    @property
    def origin(self) -> Vector:
        place: Vector = self.frame[0:3]
        return place

    def to_world(self, v: Vector) -> Vector:
        return to_world(self.frame[3:12].reshape(3, 3), v)

    # ---- which cells ------------------------------------------------------------------------------------------

    def prepare(self, poses: Any) -> Any:
        """Bring the geom to the height field's frame; the number of prisms to look at."""
        k = self.k
        self.frame[:] = poses[0]
        matrix = self.frame[3:12].reshape(3, 3)
        place = to_frame(matrix, poses[1, 0:3] - self.origin)
        own = poses[1, 3:12].reshape(3, 3)
        turned = np.stack([to_frame(matrix, own[:, n]) for n in range(3)], axis=1)
        self.shapes.take_geom(1, self.geoms[1], vector(place, turned.ravel()), 0.0)
        prisms = k.local(0)
        position = self.shapes.position(1)
        ball = [(p - self.radius, p + self.radius) for p in position]
        with k.when(self._finite() & ~self._outside(ball)):
            self._measure()
            with k.when(~self._outside([(self.extent[n, 0], self.extent[n, 1]) for n in range(3)])):
                prisms.set(self._choose_cells())
        return prisms.value

    def _finite(self) -> Any:
        """Whether the geom is somewhere."""
        k = self.k
        total = k.uniform(0.0)
        with k.loop(0, 12) as n:
            total += k.abs(self.shapes.frame[1, n])
        return total.value < LARGE[k.precision]

    def _outside(self, box: list[tuple[Any, Any]]) -> Any:
        """Whether a box, grown by the margin, misses the height field's own box."""
        margin = self.margin
        own = ((-self.half_x, self.half_x), (-self.half_y, self.half_y), (-self.base, self.top))
        x, y, z = (
            (low - margin > high_own) | (high + margin < low_own)
            for (low, high), (low_own, high_own) in zip(box, own, strict=True)
        )
        return x | y | z

    def _measure(self) -> None:
        """The geom's extent along the axes, without margin: the greatest coordinate first, then the least."""
        k = self.k
        with k.loop(0, 6) as n:
            axis, sign = n >> 1, k.select((n & 1) == 0, 1.0, -1.0)
            direction = vector(*(k.select(axis == i, sign, 0.0) for i in range(3)))
            place, _ = farthest(self.shapes, 1, direction)
            coordinate = k.select(axis == 0, place[0], k.select(axis == 1, place[1], place[2]))
            self.extent[axis, 1 - (n & 1)] = coordinate
        half = [
            k.max(self.extent[n, 1] - x, x - self.extent[n, 0]) for n, x in enumerate(self.shapes.position(1))
        ]
        is_sphere = k.model.geom_type[self.geoms[1]] == SPHERE
        self.enclosing.set(k.select(is_sphere, half[0], norm(k, half)))

    def _choose_cells(self) -> Any:
        """Store the grid lines that enclose the geom; the number of prisms between them."""
        k = self.k
        for place, axis, half, count in ((0, 1, self.half_y, self.rows), (2, 0, self.half_x, self.columns)):
            low, high = ((self.extent[axis, end] + half) / (2.0 * half) * (count - 1) for end in range(2))
            self.cells[place] = k.max(k.integer(k.floor(low)), 0)
            self.cells[place + 1] = k.min(k.integer(-k.floor(-high)), count - 1)
        rows, columns = self.cells[1] - self.cells[0], self.cells[3] - self.cells[2]
        return k.max(rows, 0) * 2 * k.max(columns, 0)

    # ---- prisms -----------------------------------------------------------------------------------------------

    def take_prism(self, number: Any) -> Any:
        """Make a prism the first shape; 1 if it is high and near enough to be asked, else 0."""
        k, corners = self.k, self.shapes.corners
        strip = 2 * (self.cells[3] - self.cells[2])
        row = self.cells[0] + number // strip
        with k.loop(0, 3) as n:
            entry = number % strip + n
            column, line = self.cells[2] + (entry >> 1), row + 1 - (entry & 1)
            height = k.model.hfield_data[self.first + line * self.columns + column] * self.top + self.margin
            x = 2.0 * self.half_x / (self.columns - 1) * column - self.half_x
            y = 2.0 * self.half_y / (self.rows - 1) * line - self.half_y
            corners[n] = vector(x, y, -self.base)
            corners[3 + n] = vector(x, y, height)
        self.shapes.take_prism()
        self.shapes.clothe(1, self.geoms[1], self.margin)  # a search may have left the core of it
        tops = [corners[3 + n] for n in range(3)]
        highest = k.max(k.max(tops[0][2], tops[1][2]), tops[2][2])
        wanted = ~(highest < self.extent[2, 0]) & self._near(tops)
        return k.select(wanted, 1, 0)

    def _near(self, tops: list[Vector]) -> Any:
        """Whether the bounding box of the prism comes within reach of the geom's centre."""
        k = self.k
        centre = self.shapes.position(1)
        gaps = []
        for n in range(3):
            low = k.min(k.min(tops[0][n], tops[1][n]), tops[2][n]) if n < 2 else -self.base
            high = k.max(k.max(tops[0][n], tops[1][n]), tops[2][n])
            if n == 2:
                high, low = (
                    k.max(high, -self.base),
                    k.min(low, k.min(k.min(tops[0][2], tops[1][2]), tops[2][2])),
                )
            gaps.append(k.max(k.max(low - centre[n], centre[n] - high), 0.0))
        reach = self.enclosing.value + self.margin + REACH_SLACK * k.model.opt.ccd_tolerance
        return ~(dot(gaps, gaps) > reach * reach)

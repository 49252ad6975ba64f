"""Contacts of a height field with a convex geom.

The solid under each grid cell is two prisms, triangles on top and a flat base below. In the height field's frame
the geom's bounding box says which cells to look at; each of their prisms that reaches high enough is collided as a
convex shape, row by row along x, and gives at most one contact. The margin raises the prisms and, by half, swells
the geom; unlike elsewhere the distance reported is that of the raised surfaces, as in MuJoCo.

See mjc_ConvexHField in MuJoCo 3.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor, inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.plugins.collide_pair.portal_pairs_numpy import Touch, portal_shape, portal_touch
from dovetail.plugins.shared.geometry.contact_patch_numpy import MAX_CONTACTS
from dovetail.plugins.shared.geometry.convex_numpy import Query, convex_witness
from dovetail.plugins.shared.geometry.support_numpy import ConvexShape, Prism, geom_shape
from dovetail.plugins.shared.vectors_numpy import Vector, add, middle, sub, to_frame, to_world, unit

if TYPE_CHECKING:
    from dovetail.contracts.fields import Array
    from dovetail.contracts.types import Data, Model


class HeightGrid(NamedTuple):
    """A height field's samples and extent."""

    heights: Array
    """Elevations between 0 and 1 (rows along y, columns along x)."""
    half_x: float
    half_y: float
    top: float
    """Height of elevation 1."""
    base: float
    """Thickness below 0."""


class CellRange(NamedTuple):
    """Which cells a geom is over: first and last grid line each way, and the geom's lowest point."""

    row_min: int
    row_max: int
    col_min: int
    col_max: int
    bottom: float


def grid_of(model: Model, geom: int) -> HeightGrid:
    """The height field of a geom."""
    field = int(model.geom_dataid[geom])
    start, rows, columns = (
        int(array[field]) for array in (model.hfield_adr, model.hfield_nrow, model.hfield_ncol)
    )
    heights = model.hfield_data[start : start + rows * columns].reshape(rows, columns)
    return HeightGrid(heights, *model.hfield_size[field].tolist())


def relative_shape(data: Data, field: int, shape: ConvexShape) -> ConvexShape:
    """A shape in the height field's frame."""
    field_matrix = data.geom_xmat[field].ravel().tolist()
    columns = [
        to_frame(field_matrix, (shape.matrix[i], shape.matrix[3 + i], shape.matrix[6 + i])) for i in range(3)
    ]
    matrix = [columns[j][i] for i in range(3) for j in range(3)]
    x, y, z = data.geom_xpos[field].tolist()
    return shape.moved(to_frame(field_matrix, sub(shape.position, (x, y, z))), matrix)


def _outside(grid: HeightGrid, low: Vector, high: Vector, margin: float) -> bool:
    """Whether a box, grown by the margin, misses the height field's own box."""
    return (
        low[0] - margin > grid.half_x
        or high[0] + margin < -grid.half_x
        or low[1] - margin > grid.half_y
        or high[1] + margin < -grid.half_y
        or low[2] - margin > grid.top
        or high[2] + margin < -grid.base
    )


def _extent(shape: ConvexShape, axis: int) -> tuple[float, float]:
    """Least and greatest coordinate of a shape along an axis."""
    x, y, z = (float(i == axis) for i in range(3))
    high = shape.farthest((x, y, z))[0][axis]
    return shape.farthest((-x, -y, -z))[0][axis], high


def _grid_lines(low: float, high: float, half: float, count: int) -> tuple[int, int]:
    """Grid lines that enclose an interval, within the grid."""
    first = floor((low + half) / (2.0 * half) * (count - 1))
    last = ceil((high + half) / (2.0 * half) * (count - 1))
    return max(0, first), min(count - 1, last)


def cells_under(grid: HeightGrid, shape: ConvexShape, radius: float, margin: float) -> CellRange | None:
    """The cells a geom may touch, from its bounding sphere and its extent along the axes."""
    ball = (radius, radius, radius)
    if not all(map(isfinite, (*shape.position, *shape.matrix))):
        return None
    if _outside(grid, sub(shape.position, ball), add(shape.position, ball), margin):
        return None
    (x0, x1), (y0, y1), (z0, z1) = (_extent(shape, axis) for axis in range(3))
    if _outside(grid, (x0, y0, z0), (x1, y1, z1), margin):
        return None
    rows, columns = grid.heights.shape
    return CellRange(
        *_grid_lines(y0, y1, grid.half_y, rows), *_grid_lines(x0, x1, grid.half_x, columns), bottom=z0
    )


def prisms(grid: HeightGrid, cells: CellRange, margin: float) -> Iterator[list[Vector]]:
    """Corners of the prisms, three below and three above: strips of triangles along x between two grid rows."""
    rows, columns = grid.heights.shape
    dx, dy = 2.0 * grid.half_x / (columns - 1), 2.0 * grid.half_y / (rows - 1)
    for row in range(cells.row_min, cells.row_max):
        strip: list[Vector] = []
        for column in range(cells.col_min, cells.col_max + 1):
            for r in (row + 1, row):
                height = float(grid.heights[r, column]) * grid.top + margin
                strip.append((dx * column - grid.half_x, dy * r - grid.half_y, height))
                tops = strip[-3:]
                if len(tops) == 3 and not max(top[2] for top in tops) < cells.bottom:
                    yield [(x, y, -grid.base) for x, y, _ in tops] + tops


def _in_reach(corners: list[Vector], center: Vector, reach: float) -> bool:
    """Whether the bounding box of a prism comes within `reach` of a point."""
    square = 0.0
    for i in range(3):
        values = [corner[i] for corner in corners]
        gap = max(min(values) - center[i], center[i] - max(values), 0.0)
        square += gap * gap
    return square <= reach * reach


def touch_prism(model: Model, prism: Prism, shape: ConvexShape, geoms: tuple[int, int]) -> Touch | None:
    """The contact of one prism, by the method that the flag nativeccd says."""
    if int(model.opt.disableflags) & int(DisableBit.NATIVECCD):
        return portal_touch(model, (prism, shape), geoms)
    witness = convex_witness(prism, shape, Query.of(model))
    if not witness.distance < 0.0 or not witness.points:
        return None
    a, b = witness.points[0]
    return Touch(witness.distance, middle(a, b), unit(sub(a, b)))


def relative_shape_of(model: Model, data: Data, field: int, geom: int) -> ConvexShape:
    """The geom as the chosen method sees it."""
    portal = int(model.opt.disableflags) & int(DisableBit.NATIVECCD)
    shape = (portal_shape if portal else geom_shape)(model, data, geom, 0.0)
    return relative_shape(data, field, shape)


def height_field(model: Model, data: Data, geom1: int, geom2: int, margin: float) -> PairContacts:
    """Contacts of a height field with a convex geom."""
    grid = grid_of(model, geom1)
    shape = relative_shape_of(model, data, geom1, geom2)
    radius = float(model.geom_rbound[geom2])
    cells = cells_under(grid, shape, radius, margin)
    if cells is None:
        return NO_CONTACTS
    shape.margin = margin
    # Prisms farther than the geom's bounding sphere, with some slack, cannot touch it: no need to ask.
    reach = radius + margin + 10.0 * float(model.opt.ccd_tolerance) if radius > 0.0 else inf
    matrix, origin = data.geom_xmat[geom1].ravel().tolist(), tuple(data.geom_xpos[geom1].tolist())
    dist, pos, normal = [], [], []
    for corners in prisms(grid, cells, margin):
        if not _in_reach(corners, shape.position, reach):
            continue
        touch = touch_prism(model, Prism(corners), shape, (geom1, geom2))
        if touch is None:
            continue
        dist.append(touch.distance)
        pos.append(add(to_world(matrix, touch.place), origin))
        normal.append(to_world(matrix, touch.normal))
        if len(dist) == MAX_CONTACTS:
            break
    return PairContacts.of(dist, np.array(pos), np.array(normal)) if dist else NO_CONTACTS

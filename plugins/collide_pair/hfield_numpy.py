"""Contacts of a height field with a convex geom.

The solid under each grid cell is two prisms, triangles on top and a flat base below. In the height field's frame
the geom's bounding box says which cells to look at; each of their prisms that reaches high enough is collided as a
convex shape, row by row along x, and gives at most one contact. The margin raises the prisms and, by half, swells
the geom; unlike elsewhere the distance reported is that of the raised surfaces, as in MuJoCo.

See mjc_ConvexHField in MuJoCo 3.4.
"""

from __future__ import annotations

from math import hypot, isfinite
from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.plugins.collide_pair.portal_pairs_numpy import Touch, portal_touch
from dovetail.plugins.shared.geometry.contact_patch_numpy import MAX_CONTACTS
from dovetail.plugins.shared.geometry.convex_numpy import Query, convex_witness
from dovetail.plugins.shared.geometry.height_grid_numpy import (
    CellRange,
    HeightGrid,
    cells_of_box,
    grid_of,
    in_reach,
    outside,
    prisms,
)
from dovetail.plugins.shared.geometry.portal_shapes_numpy import portal_shape
from dovetail.plugins.shared.geometry.support_numpy import SPHERE, ConvexShape, Prism, geom_shape
from dovetail.plugins.shared.vectors_numpy import add, middle, sub, to_frame, to_world, unit

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model


def relative_shape(data: Data, field: int, shape: ConvexShape) -> ConvexShape:
    """A shape in the height field's frame."""
    field_matrix = data.geom_xmat[field].ravel().tolist()
    columns = [
        to_frame(field_matrix, (shape.matrix[i], shape.matrix[3 + i], shape.matrix[6 + i])) for i in range(3)
    ]
    matrix = [columns[j][i] for i in range(3) for j in range(3)]
    x, y, z = data.geom_xpos[field].tolist()
    return shape.moved(to_frame(field_matrix, sub(shape.position, (x, y, z))), matrix)


def _extent(shape: ConvexShape, axis: int) -> tuple[float, float]:
    """Least and greatest coordinate of a shape along an axis."""
    x, y, z = (float(i == axis) for i in range(3))
    high = shape.farthest((x, y, z))[0][axis]
    return shape.farthest((-x, -y, -z))[0][axis], high


def cells_under(grid: HeightGrid, shape: ConvexShape, radius: float, margin: float) -> CellRange | None:
    """The cells a geom may touch, from its bounding sphere and its extent along the axes."""
    ball = (radius, radius, radius)
    if not all(map(isfinite, (*shape.position, *shape.matrix))):
        return None
    if outside(grid, sub(shape.position, ball), add(shape.position, ball), margin):
        return None
    (x0, x1), (y0, y1), (z0, z1) = (_extent(shape, axis) for axis in range(3))
    return cells_of_box(grid, (x0, y0, z0), (x1, y1, z1), margin)


def enclosing_radius(shape: ConvexShape, cells: CellRange) -> float:
    """Radius of a ball about the geom's centre that it fits into, by its own extent: `geom_rbound` may be older than
    its size, if that was edited."""
    x, y, z = shape.position
    (x0, y0, z0), (x1, y1, z1) = cells.low, cells.high
    if shape.kind == SPHERE:
        return x1 - x
    return hypot(max(x1 - x, x - x0), max(y1 - y, y - y0), max(z1 - z, z - z0))


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
    cells = cells_under(grid, shape, float(model.geom_rbound[geom2]), margin)
    if cells is None:
        return NO_CONTACTS
    shape.margin = margin
    # Prisms farther than a ball around the geom, with some slack, cannot touch it: no need to ask.
    reach = enclosing_radius(shape, cells) + margin + 10.0 * float(model.opt.ccd_tolerance)
    matrix, origin = data.geom_xmat[geom1].ravel().tolist(), tuple(data.geom_xpos[geom1].tolist())
    dist, pos, normal = [], [], []
    for corners in prisms(grid, cells, margin):
        if not in_reach(corners, shape.position, reach):
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

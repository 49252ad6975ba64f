"""Contacts of height fields with elements of flexes.

In the height field's frame the box of an element's corners says which cells to look at; each of their prisms that
reaches high enough is collided as a convex shape and gives at most one contact. The margin raises the prisms and, by
half, swells the element. As in MuJoCo the box and the height of prisms are compared with the bare corners, without
the flex's radius, and the distance reported is that of the raised surfaces.

Results are in the world frame. Compare mjc_HFieldElem in MuJoCo 3.4.
"""

from __future__ import annotations

from math import sqrt

from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import FlexContacts, FlexPairs
from dovetail.contracts.types import Data, Model
from dovetail.plugins.collide_flex.contact_rows_numpy import listed
from dovetail.plugins.collide_flex.convex_numpy import meeting
from dovetail.plugins.collide_flex.element_shapes_numpy import Element, element_shapes
from dovetail.plugins.shared.geometry.contact_patch_numpy import MAX_CONTACTS
from dovetail.plugins.shared.geometry.height_grid_numpy import cells_of_box, grid_of, in_reach, prisms
from dovetail.plugins.shared.geometry.support_numpy import Prism
from dovetail.plugins.shared.vectors_numpy import Matrix, Vector, add, dot, sub, to_frame, to_world


def height_field(model: Model, data: Data, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """The first side is the geom."""
    meet, slack = meeting(model), 10.0 * float(model.opt.ccd_tolerance)
    pair: list[int] = []
    dist: list[float] = []
    pos: list[Vector] = []
    normal: list[Vector] = []
    fields, reaches = pairs.geom[:, 0].tolist(), margin.tolist()
    elements = element_shapes(model, data, pairs.flex[:, 1], pairs.elem[:, 1], margin)
    grids = {field: grid_of(model, field) for field in set(fields)}
    for row, (field, element, reach) in enumerate(zip(fields, elements, reaches, strict=True)):
        matrix: Matrix = data.geom_xmat[field].reshape(-1).tolist()
        x, y, z = data.geom_xpos[field].tolist()
        shape = in_frame(element, matrix, (x, y, z))
        low, high = extent(shape)
        cells = cells_of_box(grids[field], low, high, reach)
        if cells is None:
            continue
        radius = furthest(shape) + shape.swelling + slack
        count = 0
        for corners in prisms(grids[field], cells, reach):
            # Prisms farther than the element's bounding sphere cannot touch it: no need to ask.
            found = meet(Prism(corners), shape) if in_reach(corners, shape.position, radius) else None
            if found is None:
                continue
            pair.append(row)
            dist.append(found[0])
            pos.append(add(to_world(matrix, found[1]), (x, y, z)))
            normal.append(to_world(matrix, found[2]))
            count += 1
            if count == MAX_CONTACTS:
                break
    return listed(pair, dist, pos, normal)


def in_frame(element: Element, matrix: Matrix, origin: Vector) -> Element:
    """An element in a frame at some place."""
    corners = [to_frame(matrix, sub(corner, origin)) for corner in element.corners]
    return Element(to_frame(matrix, sub(element.position, origin)), corners, element.swelling)


def extent(element: Element) -> tuple[Vector, Vector]:
    """The box of the corners."""
    (x0, y0, z0), (x1, y1, z1) = (
        tuple(side(corner[axis] for corner in element.corners) for axis in range(3)) for side in (min, max)
    )
    return (x0, y0, z0), (x1, y1, z1)


def furthest(element: Element) -> float:
    """Distance of the farthest corner from the middle."""
    apart = (sub(corner, element.position) for corner in element.corners)
    return sqrt(max(dot(v, v) for v in apart))

"""Bodies whose boxes MuJoCo's sweep takes for apart although they touch.

MuJoCo sweeps boxes of bodies, widened by their margins, along the axis on which geoms are spread most, and sorts the
ends of the boxes in single precision: of bodies that barely touch along this axis some are missed. Two balls that
touch exactly and are alone always lie along it. Ends that are equal stand in the order of the bodies, a body's lower
end before its upper one.

Whoever knows that two bounding spheres are farther inside each other than rounding need not ask. The world with its
geoms, and bodies fixed to it that have a plane, are not swept. See makeAAMM, mj_SAP and mj_broadphase in MuJoCo 3.4.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.principal_axes_numpy import diagonalize, rotation_matrix
from dovetail.plugins.shared.quaternions_numpy import quat_normalize
from dovetail.plugins.shared.sums_numpy import dots, total

BARELY = 1e-6
"""How far two boxes may overlap, relative to their places and sizes, and yet be taken for apart: above the rounding
of single precision."""


def missed_by_sweep(model: ModelLike, data: DataLike, first: Array, second: Array, reach: Array) -> Array:
    """Which pairs of geoms the sweep does not find; `reach` (ngeom) is by how much each geom is wider than its
    bounding sphere."""
    missed = np.zeros(len(first), bool)
    asked = np.flatnonzero(swept(model, first, second) & barely_touching(model, data, first, second, reach))
    if len(asked):
        bodies = model.geom_bodyid[np.stack([first[asked], second[asked]])]
        frame = spread_axes(model, data)
        lower, higher = (
            np.array([box_of_body(model, data, frame, reach, int(body)) for body in row])
            for row in np.sort(bodies, axis=0)
        )
        missed[asked] = boxes_apart(lower, higher)
    return missed


def swept(model: ModelLike, first: Array, second: Array) -> Array:
    """Which pairs are found by the sweep: others belong to a body that meets all."""
    plane = np.zeros(model.nbody, bool)
    plane[model.geom_bodyid[model.geom_type == int(GeomType.PLANE)]] = True
    meets_all = plane & (model.body_weldid == 0)
    meets_all[0] = True
    swept_ones: Array = ~(meets_all[model.geom_bodyid[first]] | meets_all[model.geom_bodyid[second]])
    return swept_ones


def barely_touching(model: ModelLike, data: DataLike, first: Array, second: Array, reach: Array) -> Array:
    """Which bounding spheres, with what they are wider, are hardly farther inside each other than rounding; also
    those of no radius, of which nothing but the boxes of their bodies is known."""
    place1, place2 = data.geom_xpos[first], data.geom_xpos[second]
    radius1, radius2 = model.geom_rbound[first], model.geom_rbound[second]
    bound = radius1 + reach[first] + radius2 + reach[second]
    scale = bound + np.abs(place1).max(axis=1, initial=0.0) + np.abs(place2).max(axis=1, initial=0.0)
    sure = np.maximum(bound - BARELY * scale, 0.0)
    offset = place2 - place1
    unbounded = (radius1 <= 0) | (radius2 <= 0)
    barely: Array = unbounded | (dots(offset, offset) > sure * sure)
    return barely


# ---- boxes ------------------------------------------------------------------------------------------------


def spread_axes(model: ModelLike, data: DataLike) -> Array:
    """The axes (3, 3) along which boxes are made, the one of largest spread first.

    They are the rows of a matrix whose columns are the principal axes of all places: so it is in MuJoCo, and of
    bodies on a line in a coordinate plane both are the same but for the sign.
    """
    points = data.geom_xpos[model.geom_bodyid > 0]
    if model.nflex:
        points = np.concatenate([points, data.flexvert_xpos[model.flex_vertbodyid > 0]])
    share = 1.0 / len(points)
    offset = points - total(points) * share
    x, y, z = offset.T
    products = np.stack([x * x, y * y, z * z, x * y, x * z, y * z], axis=1)
    spread = tuple((total(products) * share).tolist())
    _, quat = diagonalize(spread, quat_normalize)
    return np.array(rotation_matrix(quat))


def box_of_body(model: ModelLike, data: DataLike, frame: Array, reach: Array, body: int) -> Array:
    """Lower and upper ends (2, 3) of a body's box along the axes."""
    start = int(model.body_geomadr[body])
    geoms = np.arange(start, start + int(model.body_geomnum[body]))
    centre = np.stack([dots(data.geom_xpos[geoms], axis[None]) for axis in frame], axis=1)
    radius, wider = model.geom_rbound[geoms, None], reach[geoms, None]
    return np.stack([(centre - radius - wider).min(axis=0), (centre + radius + wider).max(axis=0)])


def boxes_apart(lower: Array, higher: Array) -> Array:
    """Which pairs of boxes (n, 2, 3), of a lower body and of a higher one, the sweep takes for apart."""
    across = (lower[:, 0, 1:] > higher[:, 1, 1:]) | (higher[:, 0, 1:] > lower[:, 1, 1:])
    begin1, end1, begin2, end2 = (
        box[:, end, 0].astype(np.float32) for box in (lower, higher) for end in (0, 1)
    )
    ended = np.where(begin1 <= begin2, end1 <= begin2, end2 < begin1)
    apart: Array = across.any(axis=1) | ended
    return apart

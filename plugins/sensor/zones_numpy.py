"""The volumes of sites: whether points are inside, and whether rays meet them.

Points and directions are rows (n, 3) in the site's frame, and so are the sizes that rays are tested against. A
point on the surface is outside. A ray meets a volume if it starts inside or enters later. Compare mju_insideGeom
and mju_rayGeom.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.vectors_numpy import apply_rows, dot_rows


def inside_site(model: ModelLike, data: DataLike, site: int, points: Array) -> Array:
    """Which points of the world (n, 3) lie in a site's volume."""
    return INSIDE[GeomType(model.site_type[site])](in_site(data, site, points), model.site_size[site])


def meets_sites(model: ModelLike, data: DataLike, sites: Array, points: Array, directions: Array) -> Array:
    """Whether each ray of the world meets the volume of the site (n,) given with it."""
    to_site = data.site_xmat[sites].reshape(-1, 3, 3).transpose(0, 2, 1)
    point, along = apply_rows(to_site, points - data.site_xpos[sites]), apply_rows(to_site, directions)
    kinds, size = model.site_type[sites], model.site_size[sites]
    meets = np.zeros(len(sites), bool)
    for kind in np.unique(kinds).tolist():
        here = kinds == kind
        meets[here] = MEETS[GeomType(kind)](point[here], along[here], size[here])
    return meets


def in_site(data: DataLike, site: int, points: Array) -> Array:
    """Points of the world in a site's frame."""
    local: Array = (points - data.site_xpos[site]) @ data.site_xmat[site].reshape(3, 3)
    return local


# ---- points -----------------------------------------------------------------------------------------------


def inside_sphere(point: Array, size: Array) -> Array:
    return dot_rows(point, point) < size[0] ** 2


def inside_capsule(point: Array, size: Array) -> Array:
    from_axis = point.copy()
    from_axis[:, 2] -= np.clip(point[:, 2], -size[1], size[1])
    return inside_sphere(from_axis, size)


def inside_ellipsoid(point: Array, size: Array) -> Array:
    return inside_sphere(point / size, np.ones(1))


def inside_cylinder(point: Array, size: Array) -> Array:
    return (np.abs(point[:, 2]) < size[1]) & inside_sphere(point[:, :2], size)


def inside_box(point: Array, size: Array) -> Array:
    return np.all(np.abs(point) < size, axis=1)


# ---- rays: the stretch of the line that is inside a volume must not end before the ray begins -----------------

Stretch = tuple[Array, Array]


def across_ball(point: Array, direction: Array, radius: Array) -> Stretch:
    """Where lines enter and leave a ball, or an infinite cylinder if two coordinates are given."""
    speed, closing, outside = (
        dot_rows(direction, direction),
        dot_rows(point, direction),
        dot_rows(point, point) - radius**2,
    )
    moves, discriminant = speed > 0, closing**2 - speed * outside
    speed, half = np.where(moves, speed, 1.0), np.sqrt(np.maximum(discriminant, 0.0))
    stays = np.where(~moves & (outside <= 0), np.inf, -np.inf)
    crosses = moves & (discriminant >= 0)
    enter = np.where(crosses, (-closing - half) / speed, -stays)
    return enter, np.where(crosses, (-closing + half) / speed, stays)


def across_slab(point: Array, direction: Array, half: Array) -> Stretch:
    """Where lines (one coordinate) enter and leave the slab between ±half."""
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = (-half - point) / direction, (half - point) / direction
    within = np.where(np.abs(point) <= half, np.inf, -np.inf)
    still = direction == 0
    enter = np.where(still, -within, np.minimum(first, second))
    return enter, np.where(still, within, np.maximum(first, second))


def ahead(*stretches: Stretch) -> Array:
    """Whether the common part of stretches exists and reaches past the ray's start."""
    enter = reduce(np.maximum, (s[0] for s in stretches))
    leave = reduce(np.minimum, (s[1] for s in stretches))
    return (enter <= leave) & (leave >= 0)


def meets_sphere(point: Array, direction: Array, size: Array) -> Array:
    return ahead(across_ball(point, direction, size[:, 0]))


def meets_ellipsoid(point: Array, direction: Array, size: Array) -> Array:
    return ahead(across_ball(point / size, direction / size, np.ones(len(size))))


def meets_cylinder(point: Array, direction: Array, size: Array) -> Array:
    return ahead(
        across_ball(point[:, :2], direction[:, :2], size[:, 0]),
        across_slab(point[:, 2], direction[:, 2], size[:, 1]),
    )


def meets_capsule(point: Array, direction: Array, size: Array) -> Array:
    end = size[:, 1, None] * [0.0, 0.0, 1.0]
    ends = meets_sphere(point - end, direction, size) | meets_sphere(point + end, direction, size)
    return ends | meets_cylinder(point, direction, size)


def meets_box(point: Array, direction: Array, size: Array) -> Array:
    return ahead(*(across_slab(point[:, i], direction[:, i], size[:, i]) for i in range(3)))


INSIDE: Mapping[GeomType, Callable[[Array, Array], Array]] = {
    GeomType.SPHERE: inside_sphere,
    GeomType.CAPSULE: inside_capsule,
    GeomType.ELLIPSOID: inside_ellipsoid,
    GeomType.CYLINDER: inside_cylinder,
    GeomType.BOX: inside_box,
    GeomType.SDF: lambda point, size: np.zeros(len(point), bool),  # MuJoCo has no such volumes and stops
}
MEETS: Mapping[GeomType, Callable[[Array, Array, Array], Array]] = {
    GeomType.SPHERE: meets_sphere,
    GeomType.CAPSULE: meets_capsule,
    GeomType.ELLIPSOID: meets_ellipsoid,
    GeomType.CYLINDER: meets_cylinder,
    GeomType.BOX: meets_box,
    GeomType.SDF: lambda point, along, size: np.zeros(len(point), bool),
}

"""The volumes of sites: whether points are inside, and whether rays meet them.

Points and directions are rows (n, 3) in the site's frame. A point on the surface is outside. A ray meets a volume
if it starts inside or enters later. Compare mju_insideGeom and mju_rayGeom.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.plugins.spatial import Array, dot


def inside_site(model: Any, data: Any, site: int, points: Array) -> Array:
    """Which points of the world (n, 3) lie in a site's volume."""
    return INSIDE[GeomType(model.site_type[site])](in_site(data, site, points), model.site_size[site])


def meets_site(model: Any, data: Any, site: int, points: Array, directions: Array) -> Array:
    """Which rays of the world meet a site's volume."""
    along = directions @ data.site_xmat[site].reshape(3, 3)
    return MEETS[GeomType(model.site_type[site])](in_site(data, site, points), along, model.site_size[site])


def in_site(data: Any, site: int, points: Array) -> Array:
    """Points of the world in a site's frame."""
    local: Array = (points - data.site_xpos[site]) @ data.site_xmat[site].reshape(3, 3)
    return local


# ---- points -----------------------------------------------------------------------------------------------


def inside_sphere(point: Array, size: Array) -> Array:
    return dot(point, point) < size[0] ** 2


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


def across_ball(point: Array, direction: Array, radius: float) -> Stretch:
    """Where lines enter and leave a ball, or an infinite cylinder if two coordinates are given."""
    speed, closing = dot(direction, direction), dot(point, direction)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = -closing / speed
        half = np.sqrt(closing**2 - speed * (dot(point, point) - radius**2)) / speed
    always = (speed == 0) & (dot(point, point) <= radius**2)
    enter, leave = np.where(always, -np.inf, centre - half), np.where(always, np.inf, centre + half)
    return np.nan_to_num(enter, nan=np.inf, neginf=-np.inf), np.nan_to_num(leave, nan=-np.inf, posinf=np.inf)


def across_slab(point: Array, direction: Array, half: float) -> Stretch:
    """Where lines (one coordinate) enter and leave the slab between ±half."""
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = (-half - point) / direction, (half - point) / direction
    within = np.where(np.abs(point) <= half, np.inf, -np.inf)
    still = direction == 0
    enter = np.where(still, -within, np.minimum(first, second))
    return enter, np.where(still, within, np.maximum(first, second))


def ahead(*stretches: Stretch) -> Array:
    """Whether the common part of stretches exists and reaches past the ray's start."""
    enter = np.max([s[0] for s in stretches], axis=0)
    leave = np.min([s[1] for s in stretches], axis=0)
    return (enter <= leave) & (leave >= 0)


def meets_sphere(point: Array, direction: Array, size: Array) -> Array:
    return ahead(across_ball(point, direction, size[0]))


def meets_ellipsoid(point: Array, direction: Array, size: Array) -> Array:
    return ahead(across_ball(point / size, direction / size, 1.0))


def meets_cylinder(point: Array, direction: Array, size: Array) -> Array:
    return ahead(
        across_ball(point[:, :2], direction[:, :2], size[0]),
        across_slab(point[:, 2], direction[:, 2], size[1]),
    )


def meets_capsule(point: Array, direction: Array, size: Array) -> Array:
    end = np.array([0.0, 0.0, size[1]])
    ends = meets_sphere(point - end, direction, size) | meets_sphere(point + end, direction, size)
    return ends | meets_cylinder(point, direction, size)


def meets_box(point: Array, direction: Array, size: Array) -> Array:
    return ahead(*(across_slab(point[:, i], direction[:, i], size[i]) for i in range(3)))


INSIDE: Mapping[GeomType, Callable[[Array, Array], Array]] = {
    GeomType.SPHERE: inside_sphere,
    GeomType.CAPSULE: inside_capsule,
    GeomType.ELLIPSOID: inside_ellipsoid,
    GeomType.CYLINDER: inside_cylinder,
    GeomType.BOX: inside_box,
}
MEETS: Mapping[GeomType, Callable[[Array, Array, Array], Array]] = {
    GeomType.SPHERE: meets_sphere,
    GeomType.CAPSULE: meets_capsule,
    GeomType.ELLIPSOID: meets_ellipsoid,
    GeomType.CYLINDER: meets_cylinder,
    GeomType.BOX: meets_box,
}

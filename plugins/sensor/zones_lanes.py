"""The volumes of sites in lanes: whether points are inside, and whether rays meet them.

Points and directions are in the site's frame. A point on the surface is outside. A ray meets a volume if it starts
inside or enters later. What a function returns is 1 in the worlds where that holds, else 0. Compare mju_insideGeom
and mju_rayGeom.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import GeomType
from dovetail.plugins.shared.vectors_lanes import Vector, dot, vector

FAR = 1e30
"""Where a line that never leaves a volume leaves it."""


def inside_site(k: Kernel, site: Any, point: Vector, sites: Sequence[int]) -> Any:
    """Whether a point of the world lies in a site's volume; `sites` are all that it may be."""
    local = into_site(k, site) @ (point - k.data.site_xpos[site])
    return by_shape(k, site, sites, INSIDE, local)


def meets_site(k: Kernel, site: Any, point: Vector, direction: Vector, sites: Sequence[int]) -> Any:
    """Whether a ray of the world meets a site's volume."""
    turn = into_site(k, site)
    return by_shape(k, site, sites, MEETS, turn @ (point - k.data.site_xpos[site]), turn @ direction)


def into_site(k: Kernel, site: Any) -> Vector:
    """Rotation from the world to a site's frame."""
    turn: Vector = k.data.site_xmat[site].reshape(3, 3).T
    return turn


def by_shape(k: Kernel, site: Any, sites: Sequence[int], tests: Mapping[GeomType, Any], *args: Vector) -> Any:
    """The test that belongs to a site's shape, as a number."""
    found, size = k.local(0.0), k.model.site_size[site]
    for kind in sorted({int(k.frozen_model.site_type[s]) for s in sites}):
        with k.when(k.model.site_type[site] == kind):
            found.set(k.select(tests[GeomType(kind)](k, *args, size), 1.0, 0.0))
    return found.value


# ---- points


def inside_sphere(k: Kernel, point: Vector, size: Vector) -> Any:
    return dot(point, point) < size[0] * size[0]


def inside_capsule(k: Kernel, point: Vector, size: Vector) -> Any:
    height = point[2] - k.clip(point[2], -size[1], size[1])
    return inside_sphere(k, vector(point[:2], height), size)


def inside_ellipsoid(k: Kernel, point: Vector, size: Vector) -> Any:
    return inside_sphere(k, point / size, vector(1.0))


def inside_cylinder(k: Kernel, point: Vector, size: Vector) -> Any:
    return (k.abs(point[2]) < size[1]) & inside_sphere(k, point[:2], size)


def inside_box(k: Kernel, point: Vector, size: Vector) -> Any:
    return reduce(lambda a, b: a & b, (k.abs(x) < half for x, half in zip(point, size, strict=True)))


# ---- rays: the stretch of the line that is inside a volume must not end before the ray begins

Stretch = tuple[Any, Any]


def across_ball(k: Kernel, point: Vector, direction: Vector, radius: Any) -> Stretch:
    """Where a line enters and leaves a ball, or an infinite cylinder if two coordinates are given."""
    speed, closing = dot(direction, direction), dot(point, direction)
    outside = dot(point, point) - radius * radius
    moves, discriminant = speed > 0.0, closing * closing - speed * outside
    half = k.sqrt(k.max(discriminant, 0.0))
    stays = k.select(~moves & (outside <= 0.0), FAR, -FAR)
    crosses = moves & (discriminant >= 0.0)
    scale = k.select(moves, speed, 1.0)
    return (
        k.select(crosses, (-closing - half) / scale, -stays),
        k.select(crosses, (half - closing) / scale, stays),
    )


def across_slab(k: Kernel, point: Any, direction: Any, half: Any) -> Stretch:
    """Where a line (one coordinate) enters and leaves the slab between ±half."""
    still = direction == 0.0
    slope = k.select(still, 1.0, direction)
    first, second = (-half - point) / slope, (half - point) / slope
    within = k.select(k.abs(point) <= half, FAR, -FAR)
    return k.select(still, -within, k.min(first, second)), k.select(still, within, k.max(first, second))


def ahead(k: Kernel, *stretches: Stretch) -> Any:
    """Whether the common part of stretches exists and reaches past the ray's start."""
    enter = reduce(k.max, (s[0] for s in stretches))
    leave = reduce(k.min, (s[1] for s in stretches))
    return (enter <= leave) & (leave >= 0.0)


def meets_sphere(k: Kernel, point: Vector, direction: Vector, size: Vector) -> Any:
    return ahead(k, across_ball(k, point, direction, size[0]))


def meets_ellipsoid(k: Kernel, point: Vector, direction: Vector, size: Vector) -> Any:
    return ahead(k, across_ball(k, point / size, direction / size, 1.0))


def meets_cylinder(k: Kernel, point: Vector, direction: Vector, size: Vector) -> Any:
    return ahead(
        k,
        across_ball(k, point[:2], direction[:2], size[0]),
        across_slab(k, point[2], direction[2], size[1]),
    )


def meets_capsule(k: Kernel, point: Vector, direction: Vector, size: Vector) -> Any:
    end = size[1] * np.array([0.0, 0.0, 1.0], dtype=object)
    ends = [meets_sphere(k, point + way * end, direction, size) for way in (-1.0, 1.0)]
    return ends[0] | ends[1] | meets_cylinder(k, point, direction, size)


def meets_box(k: Kernel, point: Vector, direction: Vector, size: Vector) -> Any:
    return ahead(k, *(across_slab(k, point[i], direction[i], size[i]) for i in range(3)))


INSIDE: Mapping[GeomType, Callable[[Kernel, Vector, Vector], Any]] = {
    GeomType.SPHERE: inside_sphere,
    GeomType.CAPSULE: inside_capsule,
    GeomType.ELLIPSOID: inside_ellipsoid,
    GeomType.CYLINDER: inside_cylinder,
    GeomType.BOX: inside_box,
    GeomType.SDF: lambda k, point, size: size[0] < size[0],  # MuJoCo has no such volumes and stops
}
MEETS: Mapping[GeomType, Callable[[Kernel, Vector, Vector, Vector], Any]] = {
    GeomType.SPHERE: meets_sphere,
    GeomType.CAPSULE: meets_capsule,
    GeomType.ELLIPSOID: meets_ellipsoid,
    GeomType.CYLINDER: meets_cylinder,
    GeomType.BOX: meets_box,
    GeomType.SDF: lambda k, point, along, size: size[0] < size[0],
}

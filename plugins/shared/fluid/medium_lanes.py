"""How bodies move through the medium, and its forces on them taken as boxes or as ellipsoids of their geoms, in
lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel, LaneField
from dovetail.plugins.shared.fluid import box_lanes, ellipsoid_lanes
from dovetail.plugins.shared.vectors_lanes import Vector, cross, vector
from dovetail.plugins.shared.wrenches_lanes import wrench


def on_body(
    k: Kernel, body: Int, as_box: Callable[[Any], None], as_ellipsoid: Callable[[Any, Any], None]
) -> None:
    """Take a body as a box, or as the ellipsoids of its geoms."""
    m = k.model
    if not m.ngeom:
        as_box(body)
        return
    first = m.body_geomadr[body]
    shaped = k.local(0)
    with k.loop(first, first + m.body_geomnum[body]) as geom:
        shaped.set(k.select(m.geom_fluid[geom, 0] > 0.0, 1, shaped.value))
    with k.when(shaped.value == 0):
        as_box(body)
    with (
        k.otherwise(),
        k.loop(first, first + m.body_geomnum[body]) as geom,
        k.when(m.geom_fluid[geom, 0] != 0.0),
    ):
        as_ellipsoid(body, geom)


def on_box(k: Kernel, body: Int, wrenches: LaneField) -> None:
    """A body taken as a box, at its centre of mass."""
    m, d = k.model, k.data
    axes, centre = d.ximat[body].reshape(3, 3), d.xipos[body]
    turning, moving = velocity_in_medium(k, body, centre, axes)
    size = box_lanes.equivalent_box(k, m.body_inertia[body], m.body_mass[body])
    torque, force = box_lanes.forces(k, turning, moving, size)
    wrenches[body] += wrench(k, body, centre, axes @ force, axes @ torque)


def on_ellipsoid(k: Kernel, body: Int, geom: Any, wrenches: LaneField) -> None:
    """A geom taken as an ellipsoid, at its centre."""
    m, d = k.model, k.data
    axes, centre = d.geom_xmat[geom].reshape(3, 3), d.geom_xpos[geom]
    turning, moving = velocity_in_medium(k, body, centre, axes)
    size = ellipsoid_lanes.semi_axes(k, m.geom_type[geom], m.geom_size[geom])
    coefficient = m.geom_fluid[geom]
    torque, force = ellipsoid_lanes.forces(k, turning, moving, size, coefficient)
    share = coefficient[0]
    wrenches[body] += wrench(k, body, centre, axes @ (share * force), axes @ (share * torque))


def velocity_in_medium(k: Kernel, body: Int, point: Vector, axes: Vector) -> tuple[Vector, Vector]:
    """Angular velocity of a body, and velocity of a point of it relative to the wind, in local axes."""
    m, d = k.model, k.data
    velocity = d.cvel[body]
    lever = point - d.subtree_com[m.body_rootid[body]]
    relative = velocity[3:] + cross(velocity[:3], lever) - m.opt.wind[:]
    # as lane variables, because much is computed from them
    local = k.local(vector(axes.T @ velocity[:3], axes.T @ relative)).value
    return local[:3], local[3:]

"""Forces of the surrounding medium on bodies that move through it, or that the wind blows at, in lanes.

A body with a geom that has `fluidshape` ellipsoid is a set of ellipsoids, one per such geom; any other is a box with
the inertia of the body. Velocities are taken relative to the wind, in the frame of the geom or of the body's
inertia, and so are the forces until they are applied. Compare mj_inertiaBoxFluidModel and mj_ellipsoidFluidModel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail.backends.lanes.algebra import MINVAL, Vector, cross, vector
from dovetail.backends.lanes.kernel import Int, Kernel, LaneField
from dovetail.plugins.passive_force import box_fluid_lanes, ellipsoid_fluid_lanes
from dovetail.plugins.passive_force.wrenches_lanes import all_off, joint_forces, wrench


def fluid(k: Kernel) -> None:
    """Write qfrc_fluid and add it to qfrc_passive."""
    m, d = k.model, k.data
    if not m.nv:
        return
    wrenches = k.scratch("wrenches", m.nbody, 6)
    thick = (m.opt.viscosity > 0.0) | (m.opt.density > 0.0)
    with k.when(thick & ~all_off(k)):
        with k.loop(1, m.nbody) as body:
            wrenches[body] = 0.0
            heavy = m.body_mass[body] >= MINVAL
            with k.when(k.any(heavy)):
                on_body(
                    k,
                    body,
                    lambda body: on_box(k, body, wrenches),
                    lambda body, geom: on_ellipsoid(k, body, geom, wrenches),
                )
                if k.varies("body_mass"):
                    wrenches[body] = k.select(heavy, wrenches[body], 0.0)
        with joint_forces(k, wrenches) as (dof, force):
            d.qfrc_fluid[dof] = force
            d.qfrc_passive[dof] += force
    with k.otherwise(), k.loop(0, m.nv) as dof:
        d.qfrc_fluid[dof] = 0.0


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
    size = box_fluid_lanes.equivalent_box(k, m.body_inertia[body], m.body_mass[body])
    torque, force = box_fluid_lanes.forces(k, turning, moving, size)
    wrenches[body] += wrench(k, body, centre, axes @ force, axes @ torque)


def on_ellipsoid(k: Kernel, body: Int, geom: Any, wrenches: LaneField) -> None:
    """A geom taken as an ellipsoid, at its centre."""
    m, d = k.model, k.data
    axes, centre = d.geom_xmat[geom].reshape(3, 3), d.geom_xpos[geom]
    turning, moving = velocity_in_medium(k, body, centre, axes)
    size = ellipsoid_fluid_lanes.semi_axes(k, m.geom_type[geom], m.geom_size[geom])
    coefficient = m.geom_fluid[geom]
    torque, force = ellipsoid_fluid_lanes.forces(k, turning, moving, size, coefficient)
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

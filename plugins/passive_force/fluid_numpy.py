"""Forces of the surrounding medium on bodies that move through it, or that the wind blows at.

A body with a geom that has `fluidshape` ellipsoid is a set of ellipsoids, one per such geom (`ellipsoid`); any
other is a box with the inertia of the body (`box`). Velocities are taken relative to the wind, in the frame of
the geom or of the body's inertia, and so are the forces until they are applied. Compare mj_inertiaBoxFluidModel
and mj_ellipsoidFluidModel.
"""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.fluid import box_numpy, ellipsoid_numpy
from dovetail.plugins.shared.fluid.medium_numpy import boxes_and_ellipsoids, in_world, velocity_in_medium
from dovetail.plugins.shared.passive_flags_numpy import all_off
from dovetail.plugins.shared.wrenches_numpy import joint_forces


def fluid(model: ModelLike, data: DataLike) -> None:
    """Write qfrc_fluid and add it to qfrc_passive."""
    data.qfrc_fluid[:] = 0.0
    opt = model.opt
    if all_off(model) or not model.nv or opt.viscosity == opt.density == 0.0:
        return
    boxes, geoms = boxes_and_ellipsoids(model)
    if len(boxes):
        data.qfrc_fluid[:] += on_boxes(model, data, boxes)
    if len(geoms):
        data.qfrc_fluid[:] += on_ellipsoids(model, data, geoms)
    data.qfrc_passive[:] += data.qfrc_fluid


def on_boxes(model: ModelLike, data: DataLike, body: Array) -> Array:
    """Joint forces on bodies taken as boxes, at their centres of mass."""
    axes, centre = data.ximat[body].reshape(-1, 3, 3), data.xipos[body]
    turning, moving = velocity_in_medium(model, data, body, centre, axes)
    size = box_numpy.equivalent_box(model.body_inertia[body], model.body_mass[body])
    torque, force = box_numpy.forces(turning, moving, size, model.opt.density, model.opt.viscosity)
    return joint_forces(model, data, body, centre, in_world(axes, force), in_world(axes, torque))


def on_ellipsoids(model: ModelLike, data: DataLike, geom: Array) -> Array:
    """Joint forces on geoms taken as ellipsoids, at their centres."""
    body = model.geom_bodyid[geom]
    axes, centre = data.geom_xmat[geom].reshape(-1, 3, 3), data.geom_xpos[geom]
    turning, moving = velocity_in_medium(model, data, body, centre, axes)
    size = ellipsoid_numpy.semi_axes(model.geom_type[geom], model.geom_size[geom])
    coefficient = model.geom_fluid[geom]
    torque, force = ellipsoid_numpy.forces(
        turning, moving, size, coefficient, model.opt.density, model.opt.viscosity
    )
    share = coefficient[:, :1]
    force, torque = in_world(axes, share * force), in_world(axes, share * torque)
    return joint_forces(model, data, body, centre, force, torque)

"""Forces of the surrounding medium on bodies that move through it, or that the wind blows at.

A body with a geom that has `fluidshape` ellipsoid is a set of ellipsoids, one per such geom (`ellipsoid`); any
other is a box with the inertia of the body (`box`). Velocities are taken relative to the wind, in the frame of
the geom or of the body's inertia, and so are the forces until they are applied. Compare mj_inertiaBoxFluidModel
and mj_ellipsoidFluidModel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.passive_force import box_fluid, ellipsoid_fluid
from dovetail.plugins.passive_force.flags import all_off
from dovetail.plugins.passive_force.wrenches import joint_forces
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_numpy import cross_rows


def fluid(model: Any, data: Any) -> None:
    """Write qfrc_fluid and add it to qfrc_passive."""
    data.qfrc_fluid[:] = 0.0
    opt = model.opt
    if all_off(model) or not model.nv or not (opt.viscosity > 0.0 or opt.density > 0.0):
        return
    boxes, geoms = boxes_and_ellipsoids(model)
    if len(boxes):
        data.qfrc_fluid[:] += on_boxes(model, data, boxes)
    if len(geoms):
        data.qfrc_fluid[:] += on_ellipsoids(model, data, geoms)
    data.qfrc_passive[:] += data.qfrc_fluid


def boxes_and_ellipsoids(model: Any) -> tuple[Array, Array]:
    """Bodies taken as boxes, and geoms taken as ellipsoids; bodies without mass feel nothing."""
    heavy = np.array(model.body_mass >= MINVAL)
    heavy[0] = False
    shaped = np.zeros(model.nbody, dtype=bool)
    shaped[model.geom_bodyid[model.geom_fluid[:, 0] > 0.0]] = True
    felt = (model.geom_fluid[:, 0] != 0.0) & (heavy & shaped)[model.geom_bodyid]
    return np.flatnonzero(heavy & ~shaped), np.flatnonzero(felt)


def on_boxes(model: Any, data: Any, body: Array) -> Array:
    """Joint forces on bodies taken as boxes, at their centres of mass."""
    axes, centre = data.ximat[body].reshape(-1, 3, 3), data.xipos[body]
    turning, moving = velocity_in_medium(model, data, body, centre, axes)
    size = box_fluid.equivalent_box(model.body_inertia[body], model.body_mass[body])
    torque, force = box_fluid.forces(turning, moving, size, model.opt.density, model.opt.viscosity)
    return joint_forces(model, data, body, centre, in_world(axes, force), in_world(axes, torque))


def on_ellipsoids(model: Any, data: Any, geom: Array) -> Array:
    """Joint forces on geoms taken as ellipsoids, at their centres."""
    body = model.geom_bodyid[geom]
    axes, centre = data.geom_xmat[geom].reshape(-1, 3, 3), data.geom_xpos[geom]
    turning, moving = velocity_in_medium(model, data, body, centre, axes)
    size = ellipsoid_fluid.semi_axes(model.geom_type[geom], model.geom_size[geom])
    coefficient = model.geom_fluid[geom]
    torque, force = ellipsoid_fluid.forces(
        turning, moving, size, coefficient, model.opt.density, model.opt.viscosity
    )
    share = coefficient[:, :1]
    force, torque = in_world(axes, share * force), in_world(axes, share * torque)
    return joint_forces(model, data, body, centre, force, torque)


def velocity_in_medium(model: Any, data: Any, body: Array, point: Array, axes: Array) -> tuple[Array, Array]:
    """Angular velocity of bodies, and velocity of points of theirs relative to the wind, in local axes."""
    angular, linear = data.cvel[body, :3], data.cvel[body, 3:]
    lever = point - data.subtree_com[model.body_rootid[body]]
    relative = linear + cross_rows(angular, lever) - model.opt.wind
    return in_local(axes, angular), in_local(axes, relative)


def in_local(axes: Array, vectors: Array) -> Array:
    return np.einsum("nji,nj->ni", axes, vectors)


def in_world(axes: Array, vectors: Array) -> Array:
    return np.einsum("nij,nj->ni", axes, vectors)

"""How the forces of the surrounding medium change with velocity.

Each body, or each geom with `fluidshape="ellipsoid"`, meets the medium in a frame of its own: torque and force
there are functions of the angular and linear velocity there, and their derivative is a (6, 6) matrix, angular
part first. Turned to world axes about the tree's centre of mass, these matrices add up along the tree. Compare
mjd_inertiaBoxFluid and mjd_ellipsoidFluid.
"""

from __future__ import annotations

from math import pi

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.derivative import ellipsoid_numpy
from dovetail.plugins.shared.derivative.pattern import subtree_product
from dovetail.plugins.shared.fluid.box_numpy import equivalent_box
from dovetail.plugins.shared.fluid.ellipsoid_numpy import semi_axes
from dovetail.plugins.shared.fluid.medium_numpy import boxes_and_ellipsoids
from dovetail.plugins.shared.tree_numpy import add_to_parents
from dovetail.plugins.shared.vectors_numpy import apply_rows

ANGULAR, LINEAR = slice(0, 3), slice(3, 6)


def fluid_velocity(model: ModelLike, data: DataLike, symmetric: bool) -> Array:
    """∂qfrc_fluid/∂qvel in the pattern D, from the symmetric part of the matrices alone if asked."""
    boxes, geoms = boxes_and_ellipsoids(model)
    coupling = np.zeros((model.nbody, 6, 6))
    if len(boxes):
        coupling[boxes] = of_boxes(model, data, boxes)
    if len(geoms):
        np.add.at(coupling, model.geom_bodyid[geoms], of_ellipsoids(model, data, geoms))
    if symmetric:
        coupling = 0.5 * (coupling + coupling.transpose(0, 2, 1))
    add_to_parents(coupling, model.body_parentid)
    return subtree_product(model, data.cdof, coupling, data.cdof)


def of_boxes(model: ModelLike, data: DataLike, bodies: Array) -> Array:
    """Matrices of bodies taken as boxes, at their centres of mass."""
    to_local = motion_into(model, data, bodies, data.xipos[bodies], data.ximat[bodies])
    size = equivalent_box(model.body_inertia[bodies], model.body_mass[bodies])
    velocity = relative_velocity(model, data, bodies, to_local)
    slope = box_slopes(size, velocity, float(model.opt.density), float(model.opt.viscosity))
    return to_local.transpose(0, 2, 1) @ (slope[:, :, None] * to_local)


def of_ellipsoids(model: ModelLike, data: DataLike, geoms: Array) -> Array:
    """Matrices of geoms taken as ellipsoids, at their centres."""
    bodies = model.geom_bodyid[geoms]
    to_local = motion_into(model, data, bodies, data.geom_xpos[geoms], data.geom_xmat[geoms])
    size = semi_axes(model.geom_type[geoms], model.geom_size[geoms])
    velocity = relative_velocity(model, data, bodies, to_local)
    density, viscosity = float(model.opt.density), float(model.opt.viscosity)
    matrix = ellipsoid_numpy.slopes(
        velocity[:, ANGULAR], velocity[:, LINEAR], size, model.geom_fluid[geoms], density, viscosity
    )
    return to_local.transpose(0, 2, 1) @ matrix @ to_local


def motion_into(model: ModelLike, data: DataLike, bodies: Array, centre: Array, frame: Array) -> Array:
    """Matrices (n, 6, 6) from velocities in world axes about the tree's centre of mass to those of local frames."""
    turn = frame.reshape(-1, 3, 3).transpose(0, 2, 1)
    lever = centre - data.subtree_com[model.body_rootid[bodies]]
    to_local = np.zeros((len(bodies), 6, 6))
    to_local[:, ANGULAR, ANGULAR] = to_local[:, LINEAR, LINEAR] = turn
    to_local[:, LINEAR, ANGULAR] = -turn @ ellipsoid_numpy.cross_matrix(lever)
    return to_local


def relative_velocity(model: ModelLike, data: DataLike, bodies: Array, to_local: Array) -> Array:
    """Velocities (n, 6) relative to the wind in local frames."""
    velocity = apply_rows(to_local, data.cvel[bodies])
    velocity[:, LINEAR] -= to_local[:, LINEAR, LINEAR] @ model.opt.wind
    return velocity


def box_slopes(size: Array, velocity: Array, density: float, viscosity: float) -> Array:
    """Of boxes with these edges (n, 3), each component of torque and force by its own component of velocity, on
    which alone it depends."""
    slope = np.zeros_like(velocity)
    if viscosity > 0.0:
        diameter = size.mean(axis=1, keepdims=True)
        slope[:, ANGULAR] -= pi * viscosity * diameter**3
        slope[:, LINEAR] -= 3.0 * pi * viscosity * diameter
    if density > 0.0:
        other, third = np.roll(size, -1, axis=1), np.roll(size, -2, axis=1)
        speed = np.abs(velocity)
        slope[:, ANGULAR] -= density * size * (other**4 + third**4) / 32.0 * speed[:, ANGULAR]
        slope[:, LINEAR] -= density * other * third * speed[:, LINEAR]
    return slope

"""Lengths and moment arms of actuators that act on tendons, sites, slider-cranks and bodies.

Each function returns the length before the gear where it has one, the dofs with a moment, and their moments.
A site is pushed by a wrench, in its own frame or in that of a reference site, whose motion is then subtracted;
a slider-crank has the length by which the slider's end is ahead of the crank's foot; a body is pulled along
the normals of its contacts, all together one unit strong. Compare mj_transmission.
"""

from __future__ import annotations

from math import sqrt
from typing import TypeAlias

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import dofs_above, is_sparse, jacobian_row, point_jacobian
from dovetail.plugins.shared.quaternions_numpy import quat_difference, quat_multiply
from dovetail.plugins.shared.vectors_numpy import cross_rows

Arm: TypeAlias = tuple[float, Array, Array]
"""Length, dofs, moments."""

GAP = 1
"""contact.exclude of a contact that is close but pushes not yet; adhesion pulls there too."""


def without_zeros(length: float, moment: Array) -> Arm:
    """A dense row of moments as MuJoCo stores it: the dofs that have any."""
    dofs = np.flatnonzero(moment)
    return length, dofs, moment[dofs]


def tendon_arm(model: ModelLike, data: DataLike, actuator: int) -> Arm:
    """The tendon's length and Jacobian times the gear."""
    tendon, gear = int(model.actuator_trnid[actuator, 0]), float(model.actuator_gear[actuator, 0])
    dofs, entries = jacobian_row(model, data, tendon)
    length = float(data.ten_length[tendon]) * gear
    if is_sparse(model):
        return length, dofs, entries * gear
    return without_zeros(length, entries * gear)


def site_arm(model: ModelLike, data: DataLike, actuator: int) -> Arm:
    """A wrench on a site: in the site's frame, or against a reference site and in its frame."""
    site, reference = (int(i) for i in model.actuator_trnid[actuator])
    gear = np.array(model.actuator_gear[actuator])
    axes = np.array(data.site_xmat[site if reference < 0 else reference]).reshape(3, 3)
    force, torque = axes @ gear[:3], axes @ gear[3:]
    moment = wrench_moment(model, data, site, force, torque)
    if reference < 0:
        return without_zeros(0.0, moment)
    moment -= wrench_moment(model, data, reference, force, torque)
    own, other = (dofs_above(model, int(model.site_bodyid[i])) for i in (site, reference))
    moment[np.intersect1d(own, other)] = 0.0
    return without_zeros(relative_length(model, data, site, reference, gear), moment)


def wrench_moment(model: ModelLike, data: DataLike, site: int, force: Array, torque: Array) -> Array:
    """Joint forces of a wrench that acts at a site, all vectors in the world frame."""
    body = int(model.site_bodyid[site])
    dofs, speeds = point_jacobian(model, data, body, np.array(data.site_xpos[site]))
    moment = np.zeros(model.nv)
    moment[dofs] = speeds @ force + np.array(data.cdof[dofs, :3]) @ torque
    return moment


def relative_length(model: ModelLike, data: DataLike, site: int, reference: int, gear: Array) -> float:
    """Position and rotation of a site relative to another one, along the gear."""
    apart = np.array(data.site_xpos[site]) - data.site_xpos[reference]
    along = gear[:3] @ (apart @ np.array(data.site_xmat[reference]).reshape(3, 3))
    # MuJoCo 3.4 turns the sites' own orientations by the bodies', not the other way round
    turned = [
        quat_multiply(model.site_quat[i].tolist(), data.xquat[model.site_bodyid[i]].tolist())
        for i in (site, reference)
    ]
    return float(along + gear[3:] @ np.array(quat_difference(*turned)) if gear[3:].any() else along)


def crank_arm(model: ModelLike, data: DataLike, actuator: int) -> Arm:
    """A rod of fixed length from the crank's site to a slider that moves along the slider site's z axis."""
    crank, slider = (int(i) for i in model.actuator_trnid[actuator])
    rod, gear = float(model.actuator_cranklength[actuator]), float(model.actuator_gear[actuator, 0])
    axis = np.array(data.site_xmat[slider]).reshape(3, 3)[:, 2]
    apart = np.array(data.site_xpos[crank]) - data.site_xpos[slider]
    along = float(apart @ axis)
    rest = along * along + rod * rod - float(apart @ apart)
    if rest <= 0.0:  # the rod is too short to reach the axis: take the projection
        length, by_axis, by_apart = along, apart, axis
    else:
        root = sqrt(rest)
        length = along - root
        by_axis = apart * (1.0 - along / root)
        by_apart = axis * (1.0 - along / root) + apart / root
    moment = np.zeros(model.nv)
    dofs, speeds = point_jacobian(model, data, int(model.site_bodyid[crank]), np.array(data.site_xpos[crank]))
    moment[dofs] += speeds @ by_apart
    dofs, speeds = point_jacobian(
        model, data, int(model.site_bodyid[slider]), np.array(data.site_xpos[slider])
    )
    turning = cross_rows(np.array(data.cdof[dofs, :3]), np.broadcast_to(axis, (len(dofs), 3)))
    moment[dofs] += turning @ by_axis - speeds @ by_apart
    return without_zeros(length * gear, moment * gear)


def body_arm(model: ModelLike, data: DataLike, actuator: int) -> Arm:
    """Adhesion: against the mean normal of the body's contacts with geoms, those in the gap too; without gear."""
    body = int(model.actuator_trnid[actuator, 0])
    moment, count = np.zeros(model.nv), 0
    for contact in range(int(data.ncon)):
        geoms = [int(geom) for geom in data.contact.geom[contact]]
        if min(geoms) < 0 or int(data.contact.exclude[contact]) not in (0, GAP):
            continue
        bodies = [int(model.geom_bodyid[geom]) for geom in geoms]
        if body not in bodies:
            continue
        count += 1
        point = np.array(data.contact.pos[contact])
        normal = np.array(data.contact.frame[contact]).reshape(-1)[:3]
        for sign, end in zip((-1.0, 1.0), bodies, strict=True):
            dofs, speeds = point_jacobian(model, data, end, point)
            moment[dofs] += sign * (speeds @ normal)
    return without_zeros(0.0, moment / -max(1, count))

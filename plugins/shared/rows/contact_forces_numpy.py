"""The force and torque in each contact, decoded from the solver's row forces.

In the contact's frame: normal force, two tangential forces, torsional torque, two rolling torques; the first
object pushes the second along the normal. Elliptic cones have these numbers as their rows. In a pyramid two
opposite edges share each friction axis: their sum pushes along the normal, their difference times the friction
coefficient along the axis. Compare mj_contactForce and mju_decodePyramid.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import Cone
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.vectors_numpy import apply_rows


def contact_forces(model: ModelLike, data: DataLike, which: slice = slice(None)) -> Array:
    """Force, then torque (n, 6) of every contact, or of some, in its own frame; zero for contacts without rows."""
    here = slice(*which.indices(int(data.ncon)))
    address, dim = data.contact.efc_address[here], data.contact.dim[here]
    friction = data.contact.friction[here]
    wrench = np.zeros((len(address), 6))
    for size in np.unique(dim[address >= 0]).tolist():
        alike = np.flatnonzero((dim == size) & (address >= 0))
        pyramid = size > 1 and model.opt.cone == Cone.PYRAMIDAL
        rows = address[alike, None] + np.arange(2 * (size - 1) if pyramid else size)
        force = data.efc_force[rows]
        if pyramid:
            force = from_pyramid(force, friction[alike])
        wrench[alike, :size] = force
    return wrench


def contact_force(model: ModelLike, data: DataLike, number: int) -> Array:
    """The same (6,) of one contact that exists; the others are not looked at."""
    wrench: Array = contact_forces(model, data, slice(number, number + 1))[0]
    return wrench


def from_pyramid(edges: Array, friction: Array) -> Array:
    """Normal and frictional forces (n, dim) from forces along the edges of pyramids (n, 2·(dim − 1))."""
    pair = edges.reshape(len(edges), -1, 2)
    along_axes = (pair[..., 0] - pair[..., 1]) * friction[:, : pair.shape[1]]
    return np.hstack([edges.sum(axis=1, keepdims=True), along_axes])


def in_world_axes(data: DataLike, wrench: Array) -> Array:
    """Forces and torques (ncon, 6) of contacts, turned from their own frames into world axes."""
    to_world = data.contact.frame[: len(wrench)].reshape(-1, 3, 3).transpose(0, 2, 1)
    return np.hstack([apply_rows(to_world, wrench[:, :3]), apply_rows(to_world, wrench[:, 3:])])

"""Forces of contacts in their own frames, from the forces of constraint rows (mj_contactForce)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import ConstraintType
from dovetail.contracts.fields import Array


def contact_force(model: Any, data: Any, contact_id: int) -> Array:
    """Force [N] along the contact's normal and two tangents, then torque [N m] about the same axes, that the first
    geom exerts on the second; all zero while the contact has no rows."""
    if not 0 <= contact_id < data.ncon:
        raise IndexError(f"there is no contact {contact_id}: data.ncon is {data.ncon}")
    force = np.zeros(6)
    first, dim = int(data.contact.efc_address[contact_id]), int(data.contact.dim[contact_id])
    if first < 0:
        return force
    if int(data.efc_type[first]) != ConstraintType.CONTACT_PYRAMIDAL:
        force[:dim] = data.efc_force[first : first + dim]
    else:
        edges = data.efc_force[first : first + 2 * (dim - 1)].reshape(-1, 2)
        force[:dim] = decode_pyramid(edges, data.contact.friction[contact_id, : dim - 1])
    return force


def decode_pyramid(edges: Array, friction: Array) -> Array:
    """Normal force and friction forces (1 + n) from the forces of opposite edges (n, 2) (mju_decodePyramid)."""
    return np.concatenate([[edges.sum()], (edges[:, 0] - edges[:, 1]) * friction])

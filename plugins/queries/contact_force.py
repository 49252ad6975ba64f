"""Forces of contacts in their own frames, from the forces of constraint rows (mj_contactForce)."""

from __future__ import annotations

import operator

from dovetail.contracts.fields import Array
from dovetail.contracts.named import Which
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.errors import UnknownIndexError
from dovetail.plugins.shared.rows import contact_forces_numpy


def contact_force(model: ModelLike, data: DataLike, contact_id: Which) -> Array:
    """Force [N] along the contact's normal and two tangents, then torque [N m] about the same axes, that the first
    geom exerts on the second; all zero while the contact has no rows."""
    if not 0 <= contact_id < data.ncon:
        raise UnknownIndexError(f"there is no contact {contact_id}: data.ncon is {data.ncon}")
    return contact_forces_numpy.contact_force(model, data, operator.index(contact_id))

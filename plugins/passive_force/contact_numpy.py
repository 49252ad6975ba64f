"""Contacts of passive flexes: springs along the normals, where other contacts are constraints.

The force on the second side along the normal is −1e4·distance: it pushes where surfaces overlap and, as in MuJoCo
3.4, pulls where they are apart but within margin or gap. It counts as a spring, but is there with the flag spring
off, too, unless damper is off as well. Compare the passive contacts of mj_passive.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.contacts.exclusion import PASSIVE
from dovetail.plugins.shared.passive_flags_numpy import all_off
from dovetail.plugins.shared.rows.contact_sides_numpy import contact_motion, sides_of
from dovetail.plugins.shared.rows.point_motion_numpy import along

STIFFNESS = 1e4
"""N/m (MuJoCo 3.4)."""


def contact(model: ModelLike, data: DataLike) -> None:
    """Add the forces of passive contacts to qfrc_spring and qfrc_passive."""
    off = DisableBit.CONTACT | DisableBit.CONSTRAINT
    contacts = np.flatnonzero(data.contact.exclude[: data.ncon] == PASSIVE)
    if all_off(model) or model.opt.disableflags & off or not (len(contacts) and model.nv):
        return
    motion = contact_motion(model, data, contacts, sides_of(model, data, contacts))
    normal = np.zeros((len(contacts), 6))
    normal[:, :3] = data.contact.frame[contacts].reshape(len(contacts), 9)[:, :3]
    rows = along(motion, np.arange(len(contacts)), normal)
    push = -STIFFNESS * data.contact.dist[contacts]
    force = np.bincount(rows.colind, np.repeat(push, rows.rownnz) * rows.values, minlength=int(model.nv))
    data.qfrc_spring[:] += force
    data.qfrc_passive[:] += force

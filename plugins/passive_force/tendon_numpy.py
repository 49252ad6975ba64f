"""Springs and dampers of tendons, pulling through the tendon's Jacobian.

A spring has a dead band: it pulls only where the length is outside [lower, upper] of tendon_lengthspring. The
forces add to the joints' own in qfrc_spring and qfrc_damper. Compare the tendon part of mj_springdamper.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import jacobian_row
from dovetail.plugins.shared.springs_numpy import stretch


def spring(model: ModelLike, data: DataLike) -> None:
    """Add the pull of stretched or slack tendons to qfrc_spring and qfrc_passive."""
    if not model.opt.disableflags & DisableBit.SPRING:
        beyond = stretch(model, data.ten_length)
        pull = np.where(beyond != 0.0, -model.tendon_stiffness * beyond, 0.0)  # the stiffness may be NaN
        add_pull(model, data, pull, data.qfrc_spring)


def damper(model: ModelLike, data: DataLike) -> None:
    """Add the drag of moving tendons to qfrc_damper and qfrc_passive."""
    if not model.opt.disableflags & DisableBit.DAMPER:
        add_pull(model, data, -model.tendon_damping * data.ten_velocity, data.qfrc_damper)


def add_pull(model: ModelLike, data: DataLike, pull: Array, own: Array) -> None:
    """Add forces along tendons, as joint forces, to a field and to the passive total."""
    for tendon in np.flatnonzero(pull):
        dofs, entries = jacobian_row(model, data, int(tendon))
        force = pull[tendon] * entries
        np.add.at(own, dofs, force)
        np.add.at(data.qfrc_passive, dofs, force)

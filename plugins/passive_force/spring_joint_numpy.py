"""Joint springs: a force towards qpos_spring, in joint coordinates.

Hinges and slides pull with −k·(q − q_spring). A ball's displacement is the rotation vector from the spring
orientation, in the body's frame; a free joint is three slides in the world frame and a ball. Compare the
joint part of mj_springdamper.
"""

from __future__ import annotations

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.springs_numpy import spring_displacement


def spring(model: ModelLike, data: DataLike) -> None:
    """Write qfrc_spring and add it to qfrc_passive."""
    data.qfrc_spring[:] = 0.0
    if model.opt.disableflags & DisableBit.SPRING or not model.jnt_stiffness.any():
        return
    stiffness = model.jnt_stiffness[model.dof_jntid]
    data.qfrc_spring[:] = -stiffness * spring_displacement(model, data.qpos)
    data.qfrc_passive[:] += data.qfrc_spring

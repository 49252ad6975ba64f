"""Joint dampers: −damping·velocity for every degree of freedom. Compare the joint part of mj_springdamper."""

from __future__ import annotations

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.protocols import DataLike, ModelLike


def damper(model: ModelLike, data: DataLike) -> None:
    """Write qfrc_damper and add it to qfrc_passive."""
    if model.opt.disableflags & DisableBit.DAMPER:
        data.qfrc_damper[:] = 0.0
        return
    data.qfrc_damper[:] = -model.dof_damping * data.qvel
    data.qfrc_passive[:] += data.qfrc_damper

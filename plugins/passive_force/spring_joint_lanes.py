"""Joint springs: a force towards qpos_spring, in joint coordinates, in lanes.

Hinges and slides pull with −k·(q − q_spring). A ball's displacement is the rotation vector from the spring
orientation, in the body's frame; a free joint is three slides in the world frame and a ball. Compare the joint
part of mj_springdamper.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.shared.springs_lanes import on_springs


def spring(k: Kernel) -> None:
    """Write qfrc_spring and add it to qfrc_passive."""
    m, d = k.model, k.data
    with k.loop(0, m.nv) as dof:
        d.qfrc_spring[dof] = 0.0

    def pull(stiffness: Any, dof: Any, displacement: Any) -> None:
        # Not −0 in a world without this spring, where it is computed for the sake of worlds beside it.
        force = 0.0 - stiffness * displacement
        d.qfrc_spring[dof] = force
        d.qfrc_passive[dof] += force

    with k.when(~k.disabled(DisableBit.SPRING)):
        on_springs(k, pull)

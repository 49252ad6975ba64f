"""Springs and dampers of tendons, pulling through the tendon's Jacobian, in lanes.

A spring has a dead band: it pulls only where the length is outside [lower, upper] of tendon_lengthspring. The forces
add to the joints' own in qfrc_spring and qfrc_damper. Compare the tendon part of mj_springdamper.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.shared.springs_lanes import stretch
from dovetail.plugins.shared.tendons.rows_lanes import add_along


def spring(k: Kernel) -> None:
    """Add the pull of stretched or slack tendons to qfrc_spring and qfrc_passive."""
    m, d = k.model, k.data
    with k.when(~k.disabled(DisableBit.SPRING)), k.loop(0, m.ntendon) as tendon:
        stiffness = m.tendon_stiffness[tendon]
        with k.when(k.any(stiffness != 0.0)):
            beyond = stretch(k, tendon)
            pull = k.select(beyond != 0.0, -stiffness * beyond, 0.0)  # the stiffness may be NaN
            add_along(k, tendon, pull, d.qfrc_spring, d.qfrc_passive)


def damper(k: Kernel) -> None:
    """Add the drag of moving tendons to qfrc_damper and qfrc_passive."""
    m, d = k.model, k.data
    with k.when(~k.disabled(DisableBit.DAMPER)), k.loop(0, m.ntendon) as tendon:
        damping = m.tendon_damping[tendon]
        with k.when(k.any(damping != 0.0)):
            add_along(k, tendon, -damping * d.ten_velocity[tendon], d.qfrc_damper, d.qfrc_passive)

"""Joint dampers: −damping·velocity for every degree of freedom, in lanes. Compare mj_springdamper's joint part."""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import DisableBit


def damper(k: Kernel) -> None:
    """Write qfrc_damper and add it to qfrc_passive."""
    m, d = k.model, k.data
    on = k.select(k.disabled(DisableBit.DAMPER), 0.0, 1.0)
    with k.loop(0, m.nv) as dof:
        # Not −0, to which a world beside this one could add the 0 of its tendons' dampers.
        force = 0.0 - (on * m.dof_damping[dof]) * d.qvel[dof]
        d.qfrc_damper[dof] = force
        d.qfrc_passive[dof] += force

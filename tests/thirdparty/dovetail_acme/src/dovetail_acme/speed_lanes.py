"""Speed of bodies' centres of mass in lanes, as a sensor."""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.vectors_lanes import cross, norm
from dovetail_acme.rules import of_bodies


def speed(k: Kernel) -> None:
    """Write the readings."""
    m, d = k.model, k.data
    for address, body in of_bodies(k.frozen_model):
        arm = d.xipos[body] - d.subtree_com[m.body_rootid[body]]
        d.sensordata[address] = norm(k, d.cvel[body][3:] + cross(d.cvel[body][:3], arm))

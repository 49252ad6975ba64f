"""Speed of bodies' centres of mass, as a sensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_acme.rules import of_bodies


def speed(model: Any, data: Any) -> None:
    """Write the readings."""
    for address, body in of_bodies(model):
        arm = data.xipos[body] - data.subtree_com[model.body_rootid[body]]
        velocity = data.cvel[body, 3:] + np.cross(data.cvel[body, :3], arm)
        data.sensordata[address] = np.sqrt(velocity @ velocity)

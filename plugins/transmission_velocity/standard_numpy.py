"""Actuator velocities: moment arms times joint velocities; zero where the flag actuation is off.

Compare mj_fwdVelocity.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import DisableBit


def transmission_velocity(model: Any, data: Any) -> None:
    """Write actuator_velocity."""
    data.actuator_velocity[:] = 0.0
    if not model.nu or model.opt.disableflags & DisableBit.ACTUATION:
        return
    actuator = np.repeat(np.arange(model.nu), data.moment_rownnz)
    # The rows follow one another from address 0, so the entries in use are the first ones.
    used = len(actuator)
    entries = data.actuator_moment[:used] * data.qvel[data.moment_colind[:used]]
    np.add.at(data.actuator_velocity, actuator, entries)

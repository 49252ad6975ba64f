"""Actuator velocities: moment arms times joint velocities, in lanes; zero where the flag actuation is off.

Compare mj_fwdVelocity.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.taichi.lanes import Int, Kernel
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.transmission.standard_taichi import dof_count, each_actuator


def transmission_velocity(k: Kernel) -> None:
    """Write actuator_velocity."""
    on = k.select(k.disabled(DisableBit.ACTUATION), 0.0, 1.0)

    def velocity(k: Kernel, actuator: Int, joint: Any, address: Any) -> None:
        dof = k.model.jnt_dofadr[joint]
        total = k.local(0.0)
        with k.loop(0, dof_count(k, joint)) as n:
            total += k.data.actuator_moment[address + n] * k.data.qvel[dof + n]
        k.data.actuator_velocity[actuator] = total.value * on

    each_actuator(k, velocity)

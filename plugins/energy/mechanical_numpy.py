"""Potential and kinetic energy, where the energy flag or sensors ask for them; zero otherwise.

Potential energy is that of gravity, −Σ m·g·x, and of the springs of joints, tendons and flex edges, ½·k·d²;
gravity compensation does not count. Kinetic energy is ½·vᵀ·M·v. Sensors of energies leave in Data what they measure,
as in MuJoCo, where one of kinetic energy alone counts for nothing; beside one of potential energy alone MuJoCo leaves
the kinetic energy of the last step that had the flag, here it is zero. Compare mj_energyPos, mj_energyVel and
mj_forwardSkip.
"""

from __future__ import annotations

from dovetail.contracts.enums import DisableBit, EnableBit, SensorType
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.energy_numpy import kinetic_energy, potential_energy


def energy(model: ModelLike, data: DataLike) -> None:
    """Write energy: potential, kinetic."""
    wanted = bool(model.opt.enableflags & EnableBit.ENERGY)
    data.energy[:] = 0.0
    if wanted or measured(model, SensorType.E_POTENTIAL):
        data.energy[0] = potential_energy(model, data)
        if wanted or measured(model, SensorType.E_KINETIC):
            data.energy[1] = kinetic_energy(model, data)


def measured(model: ModelLike, kind: SensorType) -> bool:
    """Whether a sensor of a type measures."""
    return not model.opt.disableflags & DisableBit.SENSOR and bool((model.sensor_type == int(kind)).any())

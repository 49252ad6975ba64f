"""Potential and kinetic energy in lanes, where the energy flag or sensors ask for them; zero otherwise.

Potential energy is that of gravity, −Σ m·g·x, and of the springs of joints and tendons, ½·k·d²; kinetic energy is
½·vᵀ·M·v. What sensors leave in Data is said in `mechanical_numpy`. Compare mj_energyPos and mj_energyVel.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import EnableBit, SensorType
from dovetail.plugins.energy.mechanical_numpy import measured
from dovetail.plugins.shared.energy_lanes import kinetic_energy, potential_energy


def energy(k: Kernel) -> None:
    """Write energy: potential, kinetic."""
    d, by_sensors = k.data, measured(k.frozen_model, SensorType.E_POTENTIAL)
    wanted = (k.model.opt.enableflags & int(EnableBit.ENERGY)) != 0
    with k.when(wanted):
        d.energy[0] = potential_energy(k)
        d.energy[1] = kinetic_energy(k)
    with k.otherwise():
        by_both = by_sensors and measured(k.frozen_model, SensorType.E_KINETIC)
        d.energy[0] = potential_energy(k) if by_sensors else 0.0
        d.energy[1] = kinetic_energy(k) if by_both else 0.0

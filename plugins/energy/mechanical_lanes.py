"""Potential and kinetic energy in lanes, where the energy flag asks for them; zero otherwise.

Potential energy is that of gravity, −Σ m·g·x, and of the springs of joints and tendons, ½·k·d²; kinetic energy is
½·vᵀ·M·v. Compare mj_energyPos and mj_energyVel.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import EnableBit
from dovetail.plugins.shared.energy_lanes import kinetic_energy, potential_energy


def energy(k: Kernel) -> None:
    """Write energy: potential, kinetic."""
    m, d = k.model, k.data
    d.energy[:] = 0.0
    with k.when((m.opt.enableflags & int(EnableBit.ENERGY)) != 0):
        d.energy[0] = potential_energy(k)
        d.energy[1] = kinetic_energy(k)

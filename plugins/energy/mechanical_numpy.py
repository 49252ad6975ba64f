"""Potential and kinetic energy, where the energy flag asks for them; zero otherwise.

Potential energy is that of gravity, −Σ m·g·x, and of the springs of joints, tendons and flex edges, ½·k·d²;
gravity compensation does not count. Kinetic energy is ½·vᵀ·M·v. Compare mj_energyPos and mj_energyVel.
"""

from __future__ import annotations

from dovetail.contracts.enums import EnableBit
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.energy_numpy import kinetic_energy, potential_energy


def energy(model: ModelLike, data: DataLike) -> None:
    """Write energy: potential, kinetic."""
    data.energy[:] = 0.0
    if model.opt.enableflags & EnableBit.ENERGY:
        data.energy[0] = potential_energy(model, data)
        data.energy[1] = kinetic_energy(model, data)

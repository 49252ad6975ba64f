"""Sensors of subtrees, of the energy, of time, and those a plugin or the user must fill.

Energies are computed here whether or not the energy flag is set. Sensors of type `user` read zero until a plugin
replaces their row. Compare the subtree, energy and clock cases of mj_computeSensorPos and …Vel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import SensorType
from dovetail.plugins.sensor.readings_numpy import sensors_of, write
from dovetail.plugins.shared.energy_numpy import kinetic_energy, potential_energy


def subtreecom(model: Any, data: Any) -> None:
    """Centre of mass of a body with all its descendants, world frame."""
    sensors = sensors_of(model, SensorType.SUBTREECOM)
    write(model, data, sensors, data.subtree_com[model.sensor_objid[sensors]])


def subtreelinvel(model: Any, data: Any) -> None:
    """Velocity of that centre of mass, world frame."""
    sensors = sensors_of(model, SensorType.SUBTREELINVEL)
    write(model, data, sensors, data.subtree_linvel[model.sensor_objid[sensors]])


def subtreeangmom(model: Any, data: Any) -> None:
    """Angular momentum about that centre of mass, world frame."""
    sensors = sensors_of(model, SensorType.SUBTREEANGMOM)
    write(model, data, sensors, data.subtree_angmom[model.sensor_objid[sensors]])


def e_potential(model: Any, data: Any) -> None:
    """Potential energy of the model."""
    sensors = sensors_of(model, SensorType.E_POTENTIAL)
    write(model, data, sensors, [potential_energy(model, data)] * len(sensors))


def e_kinetic(model: Any, data: Any) -> None:
    """Kinetic energy of the model."""
    sensors = sensors_of(model, SensorType.E_KINETIC)
    write(model, data, sensors, [kinetic_energy(model, data)] * len(sensors))


def clock(model: Any, data: Any) -> None:
    """Simulation time."""
    sensors = sensors_of(model, SensorType.CLOCK)
    write(model, data, sensors, [data.time] * len(sensors))


def user(model: Any, data: Any) -> None:
    """Nothing: zeros, where a plugin may put its own numbers."""
    sensors = sensors_of(model, SensorType.USER)
    write(model, data, sensors, np.zeros(len(sensors)))

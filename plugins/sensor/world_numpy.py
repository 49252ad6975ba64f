"""Sensors of subtrees, of the energy, of time, and those a plugin or the user must fill.

Energies are computed here whether or not the energy flag is set. Sensors of type `user` read zero until a plugin
replaces their row. Compare the subtree, energy and clock cases of mj_computeSensorPos and …Vel.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import SensorType
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.sensor.readings_numpy import sensors_of, write
from dovetail.plugins.shared.energy_numpy import kinetic_energy, potential_energy


def subtreecom(model: ModelLike, data: DataLike) -> None:
    """Centre of mass of a body with all its descendants, world frame."""
    sensors = sensors_of(model, SensorType.SUBTREECOM)
    write(model, data, sensors, data.subtree_com[model.sensor_objid[sensors]])


def subtreelinvel(model: ModelLike, data: DataLike) -> None:
    """Velocity of that centre of mass, world frame."""
    sensors = sensors_of(model, SensorType.SUBTREELINVEL)
    write(model, data, sensors, data.subtree_linvel[model.sensor_objid[sensors]])


def subtreeangmom(model: ModelLike, data: DataLike) -> None:
    """Angular momentum about that centre of mass, world frame."""
    sensors = sensors_of(model, SensorType.SUBTREEANGMOM)
    write(model, data, sensors, data.subtree_angmom[model.sensor_objid[sensors]])


def e_potential(model: ModelLike, data: DataLike) -> None:
    """Potential energy of the model."""
    sensors = sensors_of(model, SensorType.E_POTENTIAL)
    write(model, data, sensors, [potential_energy(model, data)] * len(sensors))


def e_kinetic(model: ModelLike, data: DataLike) -> None:
    """Kinetic energy of the model."""
    sensors = sensors_of(model, SensorType.E_KINETIC)
    write(model, data, sensors, [kinetic_energy(model, data)] * len(sensors))


def clock(model: ModelLike, data: DataLike) -> None:
    """Simulation time."""
    sensors = sensors_of(model, SensorType.CLOCK)
    write(model, data, sensors, [data.time] * len(sensors))


def user(model: ModelLike, data: DataLike) -> None:
    """Nothing: zeros, where a plugin may put its own numbers."""
    sensors = sensors_of(model, SensorType.USER)
    write(model, data, sensors, np.zeros(len(sensors)))

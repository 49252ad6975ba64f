"""Sensors of subtrees, of the energy, of time, and those a plugin or the user must fill, in lanes.

Energies are computed here whether or not the energy flag is set. Sensors of type `user` read zero until a plugin
replaces their row. Compare the subtree, energy and clock cases of mj_computeSensorPos and …Vel.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.contracts.enums import SensorType
from dovetail.plugins.sensor.readings_lanes import each_sensor, write
from dovetail.plugins.shared.energy_lanes import kinetic_energy, potential_energy


def subtreecom(k: Kernel) -> None:
    """Centre of mass of a body with all its descendants, world frame."""
    of_body(k, SensorType.SUBTREECOM, k.data.subtree_com)


def subtreelinvel(k: Kernel) -> None:
    """Velocity of that centre of mass, world frame."""
    of_body(k, SensorType.SUBTREELINVEL, k.data.subtree_linvel)


def subtreeangmom(k: Kernel) -> None:
    """Angular momentum about that centre of mass, world frame."""
    of_body(k, SensorType.SUBTREEANGMOM, k.data.subtree_angmom)


def of_body(k: Kernel, kind: SensorType, field: LaneField) -> None:
    """Read a field that has a vector per body."""
    with each_sensor(k, kind) as sensor:
        write(k, sensor, *field[k.model.sensor_objid[sensor]])


def e_potential(k: Kernel) -> None:
    """Potential energy of the model."""
    energy = potential_energy(k)
    with each_sensor(k, SensorType.E_POTENTIAL) as sensor:
        write(k, sensor, energy)


def e_kinetic(k: Kernel) -> None:
    """Kinetic energy of the model."""
    energy = kinetic_energy(k)
    with each_sensor(k, SensorType.E_KINETIC) as sensor:
        write(k, sensor, energy)


def clock(k: Kernel) -> None:
    """Simulation time."""
    with each_sensor(k, SensorType.CLOCK) as sensor:
        write(k, sensor, k.data.time)


def user(k: Kernel) -> None:
    """Nothing: zeros, where a plugin may put its own numbers."""
    with each_sensor(k, SensorType.USER) as sensor:
        start = k.model.sensor_adr[sensor]
        with k.loop(start, start + k.model.sensor_dim[sensor]) as at:
            k.data.sensordata[at] = 0.0

"""Sensors of joints, tendons and actuators: what the pipeline computed of them already, read out.

Positions and velocities of joints are their coordinates; a ball joint shows its quaternion, normalised, and its
angular velocity in the body frame. Forces of actuators are read along the transmission, at a joint as
generalised force after gears and limits, at a tendon as the sum over the actuators that pull it.
Compare the joint, tendon and actuator cases of mj_computeSensorPos, …Vel and …Acc.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import SensorType, TrnType
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.sensor.readings_numpy import sensors_of, write
from dovetail.plugins.shared.quaternions_numpy import quat_normalize


def jointpos(model: ModelLike, data: DataLike) -> None:
    """Angle of hinges, displacement of slides."""
    sensors = sensors_of(model, SensorType.JOINTPOS)
    write(model, data, sensors, data.qpos[model.jnt_qposadr[model.sensor_objid[sensors]]])


def jointvel(model: ModelLike, data: DataLike) -> None:
    """Velocity of hinges and slides."""
    sensors = sensors_of(model, SensorType.JOINTVEL)
    write(model, data, sensors, data.qvel[model.jnt_dofadr[model.sensor_objid[sensors]]])


def ballquat(model: ModelLike, data: DataLike) -> None:
    """Orientation of ball joints, as a unit quaternion."""
    sensors = sensors_of(model, SensorType.BALLQUAT)
    start = model.jnt_qposadr[model.sensor_objid[sensors]]
    write(model, data, sensors, map(quat_normalize, data.qpos[start[:, None] + np.arange(4)]))


def ballangvel(model: ModelLike, data: DataLike) -> None:
    """Angular velocity of ball joints, body frame."""
    sensors = sensors_of(model, SensorType.BALLANGVEL)
    start = model.jnt_dofadr[model.sensor_objid[sensors]]
    write(model, data, sensors, data.qvel[start[:, None] + np.arange(3)])


def jointactfrc(model: ModelLike, data: DataLike) -> None:
    """Generalised force of all actuators on a hinge or slide."""
    sensors = sensors_of(model, SensorType.JOINTACTFRC)
    write(model, data, sensors, data.qfrc_actuator[model.jnt_dofadr[model.sensor_objid[sensors]]])


def tendonpos(model: ModelLike, data: DataLike) -> None:
    """Length of tendons."""
    sensors = sensors_of(model, SensorType.TENDONPOS)
    write(model, data, sensors, data.ten_length[model.sensor_objid[sensors]])


def tendonvel(model: ModelLike, data: DataLike) -> None:
    """Rate of change of the length of tendons."""
    sensors = sensors_of(model, SensorType.TENDONVEL)
    write(model, data, sensors, data.ten_velocity[model.sensor_objid[sensors]])


def tendonactfrc(model: ModelLike, data: DataLike) -> None:
    """Sum of the forces of the actuators that pull a tendon."""
    sensors = sensors_of(model, SensorType.TENDONACTFRC)
    pulls = model.actuator_trntype == int(TrnType.TENDON)
    tendon = model.actuator_trnid[pulls, 0]
    total = np.bincount(tendon, data.actuator_force[pulls], minlength=model.ntendon)
    write(model, data, sensors, total[model.sensor_objid[sensors]])


def actuatorpos(model: ModelLike, data: DataLike) -> None:
    """Length of actuators, gear included."""
    sensors = sensors_of(model, SensorType.ACTUATORPOS)
    write(model, data, sensors, data.actuator_length[model.sensor_objid[sensors]])


def actuatorvel(model: ModelLike, data: DataLike) -> None:
    """Rate of change of the length of actuators."""
    sensors = sensors_of(model, SensorType.ACTUATORVEL)
    write(model, data, sensors, data.actuator_velocity[model.sensor_objid[sensors]])


def actuatorfrc(model: ModelLike, data: DataLike) -> None:
    """Force of actuators along their transmission."""
    sensors = sensors_of(model, SensorType.ACTUATORFRC)
    write(model, data, sensors, data.actuator_force[model.sensor_objid[sensors]])

"""Sensors mounted at a site, in the site's axes: inertial units, force and torque, the magnetic field.

Force and torque are those that the site's body receives from its parent (cfrc_int), the torque about the site;
accelerations include the upward one that stands for gravity. Compare the accelerometer, velocimeter, gyro, force,
torque and magnetometer cases of mj_computeSensorPos, …Vel and …Acc.
"""

from __future__ import annotations

from dovetail.contracts.enums import SensorType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.sensor.readings_numpy import sensors_of, write
from dovetail.plugins.shared.motion_numpy import (
    Frames,
    force_moved_to,
    local_accelerations,
    object_frames,
    turned_into,
    velocities,
)


def accelerometer(model: ModelLike, data: DataLike) -> None:
    """Linear acceleration."""
    sensors, frames = mounted(model, data, SensorType.ACCELEROMETER)
    write(model, data, sensors, local_accelerations(model, data, frames)[:, 3:])


def velocimeter(model: ModelLike, data: DataLike) -> None:
    """Linear velocity."""
    sensors, frames = mounted(model, data, SensorType.VELOCIMETER)
    write(model, data, sensors, turned_into(frames, velocities(model, data, frames))[:, 3:])


def gyro(model: ModelLike, data: DataLike) -> None:
    """Angular velocity."""
    sensors, frames = mounted(model, data, SensorType.GYRO)
    write(model, data, sensors, turned_into(frames, velocities(model, data, frames))[:, :3])


def force(model: ModelLike, data: DataLike) -> None:
    """Force of the parent on the site's body."""
    sensors, frames = mounted(model, data, SensorType.FORCE)
    write(model, data, sensors, turned_into(frames, interaction(model, data, frames))[:, 3:])


def torque(model: ModelLike, data: DataLike) -> None:
    """Torque, about the site, of the parent on the site's body."""
    sensors, frames = mounted(model, data, SensorType.TORQUE)
    write(model, data, sensors, turned_into(frames, interaction(model, data, frames))[:, :3])


def magnetometer(model: ModelLike, data: DataLike) -> None:
    """The model's magnetic flux."""
    sensors, (_, rotation, _) = mounted(model, data, SensorType.MAGNETOMETER)
    write(model, data, sensors, model.opt.magnetic @ rotation)


def mounted(model: ModelLike, data: DataLike, kind: SensorType) -> tuple[Array, Frames]:
    """The sensors of a type, and the frames of their sites."""
    sensors = sensors_of(model, kind)
    return sensors, object_frames(model, data, model.sensor_objtype[sensors], model.sensor_objid[sensors])


def interaction(model: ModelLike, data: DataLike, frames: Frames) -> Array:
    """Torque and force that the frames' bodies receive from their parents, about the frames' origins."""
    position, _, body = frames
    return force_moved_to(position - data.subtree_com[model.body_rootid[body]], data.cfrc_int[body])

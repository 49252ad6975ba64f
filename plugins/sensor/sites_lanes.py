"""Sensors mounted at a site, in the site's axes, in lanes: inertial units, force and torque, the magnetic field.

Force and torque are those that the site's body receives from its parent (cfrc_int), the torque about the site;
accelerations include the upward one that stands for gravity. Compare the accelerometer, velocimeter, gyro, force,
torque and magnetometer cases of mj_computeSensorPos, …Vel and …Acc.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import SensorType
from dovetail.plugins.sensor.readings_lanes import each_sensor, object_kinds, write
from dovetail.plugins.shared.motion_lanes import (
    ObjectFrame,
    force_moved_to,
    local_acceleration,
    object_frame,
    velocity,
)
from dovetail.plugins.shared.vectors_lanes import Vector


def accelerometer(k: Kernel) -> None:
    """Linear acceleration."""
    with mounted(k, SensorType.ACCELEROMETER) as (sensor, frame):
        write(k, sensor, *local_acceleration(k, frame)[3:])


def velocimeter(k: Kernel) -> None:
    """Linear velocity."""
    with mounted(k, SensorType.VELOCIMETER) as (sensor, frame):
        write(k, sensor, *(frame.rotation.T @ velocity(k, frame)[3:]))


def gyro(k: Kernel) -> None:
    """Angular velocity."""
    with mounted(k, SensorType.GYRO) as (sensor, frame):
        write(k, sensor, *(frame.rotation.T @ velocity(k, frame)[:3]))


def force(k: Kernel) -> None:
    """Force of the parent on the site's body."""
    with mounted(k, SensorType.FORCE) as (sensor, frame):
        write(k, sensor, *(frame.rotation.T @ interaction(k, frame)[3:]))


def torque(k: Kernel) -> None:
    """Torque, about the site, of the parent on the site's body."""
    with mounted(k, SensorType.TORQUE) as (sensor, frame):
        write(k, sensor, *(frame.rotation.T @ interaction(k, frame)[:3]))


def interaction(k: Kernel, frame: ObjectFrame) -> Vector:
    """Torque and force that a frame's body receives from its parent, about the frame's origin."""
    lever = frame.position - k.data.subtree_com[k.model.body_rootid[frame.body]]
    return force_moved_to(lever, k.data.cfrc_int[frame.body])


def magnetometer(k: Kernel) -> None:
    """The model's magnetic flux."""
    with mounted(k, SensorType.MAGNETOMETER) as (sensor, frame):
        write(k, sensor, *(frame.rotation.T @ k.model.opt.magnetic[:]))


@contextmanager
def mounted(k: Kernel, kind: SensorType) -> Iterator[tuple[Any, ObjectFrame]]:
    """Repeat for the sensors of a type: the sensor, and the frame of its site."""
    m = k.model
    kinds = object_kinds(k, kind, "obj")
    with each_sensor(k, kind) as sensor:
        yield sensor, object_frame(k, m.sensor_objtype[sensor], m.sensor_objid[sensor], kinds)

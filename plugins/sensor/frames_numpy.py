"""Sensors of the frames of bodies, geoms, sites and cameras: pose, axes, velocities, accelerations.

Without a reference object the reading is in world axes; with one it is what an observer fixed in the reference
frame would see, in that frame's axes, its own rotation subtracted. Accelerations know no reference, and include
the upward one that stands for gravity. Compare the frame cases of mj_computeSensorPos, …Vel and …Acc.
"""

from __future__ import annotations

from dovetail.contracts.enums import ObjType, SensorType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.sensor.readings_numpy import sensors_of, write
from dovetail.plugins.shared.motion_numpy import (
    Frames,
    accelerations,
    object_frames,
    turned_into,
    velocities,
)
from dovetail.plugins.shared.quaternions_numpy import IDENTITY, Quaternion, quat_conjugate, quat_multiply
from dovetail.plugins.shared.vectors_numpy import apply_rows, cross_rows


def framepos(model: ModelLike, data: DataLike) -> None:
    """Position of the object."""
    sensors, (position, _, _), (origin, axes, _) = observed(model, data, SensorType.FRAMEPOS)
    write(model, data, sensors, apply_rows(axes.transpose(0, 2, 1), position - origin))


def framexaxis(model: ModelLike, data: DataLike) -> None:
    """The object's x axis."""
    read_axis(model, data, SensorType.FRAMEXAXIS, 0)


def frameyaxis(model: ModelLike, data: DataLike) -> None:
    """The object's y axis."""
    read_axis(model, data, SensorType.FRAMEYAXIS, 1)


def framezaxis(model: ModelLike, data: DataLike) -> None:
    """The object's z axis."""
    read_axis(model, data, SensorType.FRAMEZAXIS, 2)


def read_axis(model: ModelLike, data: DataLike, kind: SensorType, axis: int) -> None:
    sensors, (_, rotation, _), (_, axes, _) = observed(model, data, kind)
    write(model, data, sensors, apply_rows(axes.transpose(0, 2, 1), rotation[:, :, axis]))


def framequat(model: ModelLike, data: DataLike) -> None:
    """Orientation of the object."""
    sensors = sensors_of(model, SensorType.FRAMEQUAT)
    readings = []
    for sensor in sensors:
        own = orientation(model, data, model.sensor_objtype[sensor], model.sensor_objid[sensor])
        reference = orientation(model, data, model.sensor_reftype[sensor], model.sensor_refid[sensor])
        readings.append(quat_multiply(quat_conjugate(reference), own))
    write(model, data, sensors, readings)


_FIXED_IN_BODY = {
    ObjType.GEOM: ("geom_bodyid", "geom_quat"),
    ObjType.SITE: ("site_bodyid", "site_quat"),
    ObjType.CAMERA: ("cam_bodyid", "cam_quat"),
}


def orientation(model: ModelLike, data: DataLike, objtype: int, objid: int) -> Quaternion:
    """Orientation of an object that is fixed in its body (a camera's tracking is ignored, as in MuJoCo)."""
    if objid < 0:
        return IDENTITY
    if objtype == ObjType.XBODY:
        return tuple(data.xquat[objid].tolist())
    if objtype == ObjType.BODY:
        return quat_multiply(data.xquat[objid], model.body_iquat[objid])
    body, local = (getattr(model, field)[objid] for field in _FIXED_IN_BODY[ObjType(objtype)])
    return quat_multiply(data.xquat[body], local)


def framelinvel(model: ModelLike, data: DataLike) -> None:
    """Linear velocity of the object's origin."""
    sensors, velocity = relative_velocities(model, data, SensorType.FRAMELINVEL)
    write(model, data, sensors, velocity[:, 3:])


def frameangvel(model: ModelLike, data: DataLike) -> None:
    """Angular velocity of the object."""
    sensors, velocity = relative_velocities(model, data, SensorType.FRAMEANGVEL)
    write(model, data, sensors, velocity[:, :3])


def framelinacc(model: ModelLike, data: DataLike) -> None:
    """Linear acceleration of the object's origin."""
    sensors, frames, _ = observed(model, data, SensorType.FRAMELINACC)
    write(model, data, sensors, accelerations(model, data, frames)[:, 3:])


def frameangacc(model: ModelLike, data: DataLike) -> None:
    """Angular acceleration of the object."""
    sensors, frames, _ = observed(model, data, SensorType.FRAMEANGACC)
    write(model, data, sensors, accelerations(model, data, frames)[:, :3])


def observed(model: ModelLike, data: DataLike, kind: SensorType) -> tuple[Array, Frames, Frames]:
    """The sensors of a type, the frames of their objects, and those of their references (else the world's)."""
    sensors = sensors_of(model, kind)
    frames = object_frames(model, data, model.sensor_objtype[sensors], model.sensor_objid[sensors])
    reference = object_frames(model, data, model.sensor_reftype[sensors], model.sensor_refid[sensors])
    return sensors, frames, reference


def relative_velocities(model: ModelLike, data: DataLike, kind: SensorType) -> tuple[Array, Array]:
    """The sensors of a type, and their objects' velocities (n, 6) as seen from their reference frames."""
    sensors, frames, reference = observed(model, data, kind)
    carrier = velocities(model, data, reference)
    seen = velocities(model, data, frames) - carrier
    seen[:, 3:] -= cross_rows(carrier[:, :3], frames[0] - reference[0])
    return sensors, turned_into(reference, seen)

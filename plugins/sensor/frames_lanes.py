"""Sensors of the frames of bodies, geoms, sites and cameras, in lanes: pose, axes, velocities, accelerations.

Without a reference object the reading is in world axes; with one it is what an observer fixed in the reference frame
would see, in that frame's axes, its own rotation subtracted. Accelerations know no reference, and include the upward
one that stands for gravity. Compare the frame cases of mj_computeSensorPos, …Vel and …Acc.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import ObjType, SensorType
from dovetail.plugins.sensor.readings_lanes import each_sensor, object_kinds, write
from dovetail.plugins.shared.motion_lanes import ObjectFrame, acceleration, object_frame, velocity
from dovetail.plugins.shared.quaternions_lanes import quat_conjugate, quat_multiply
from dovetail.plugins.shared.vectors_lanes import Vector, cross, vector


def framepos(k: Kernel) -> None:
    """Position of the object."""
    with observed(k, SensorType.FRAMEPOS) as (sensor, frame, reference):
        write(k, sensor, *(reference.rotation.T @ (frame.position - reference.position)))


def framexaxis(k: Kernel) -> None:
    """The object's x axis."""
    read_axis(k, SensorType.FRAMEXAXIS, 0)


def frameyaxis(k: Kernel) -> None:
    """The object's y axis."""
    read_axis(k, SensorType.FRAMEYAXIS, 1)


def framezaxis(k: Kernel) -> None:
    """The object's z axis."""
    read_axis(k, SensorType.FRAMEZAXIS, 2)


def read_axis(k: Kernel, kind: SensorType, axis: int) -> None:
    with observed(k, kind) as (sensor, frame, reference):
        write(k, sensor, *(reference.rotation.T @ frame.rotation[:, axis]))


def framequat(k: Kernel) -> None:
    """Orientation of the object."""
    m = k.model
    kinds, references = (object_kinds(k, SensorType.FRAMEQUAT, field) for field in ("obj", "ref"))
    with each_sensor(k, SensorType.FRAMEQUAT) as sensor:
        own = orientation(k, m.sensor_objtype[sensor], m.sensor_objid[sensor], kinds)
        reference = orientation(k, m.sensor_reftype[sensor], m.sensor_refid[sensor], references)
        write(k, sensor, *quat_multiply(quat_conjugate(reference), own))


_FIXED_IN_BODY = {
    ObjType.GEOM: ("geom_bodyid", "geom_quat"),
    ObjType.SITE: ("site_bodyid", "site_quat"),
    ObjType.CAMERA: ("cam_bodyid", "cam_quat"),
}


def orientation(k: Kernel, objtype: Any, objid: Any, kinds: Sequence[int]) -> Vector:
    """Orientation of an object that is fixed in its body (a camera's tracking is ignored, as in MuJoCo)."""
    found = k.local([1.0, 0.0, 0.0, 0.0])
    for kind in (ObjType(kind) for kind in kinds if kind >= 0):
        with k.when((objtype == int(kind)) & (objid >= 0)):
            found.set(_orientation_of(k, kind, objid))
    return found.value


def _orientation_of(k: Kernel, kind: ObjType, objid: Any) -> Vector:
    m, d = k.model, k.data
    if kind == ObjType.XBODY:
        return d.xquat[objid]
    if kind == ObjType.BODY:
        return quat_multiply(d.xquat[objid], m.body_iquat[objid])
    body, local = (getattr(m, field)[objid] for field in _FIXED_IN_BODY[kind])
    return quat_multiply(d.xquat[body], local)


def framelinvel(k: Kernel) -> None:
    """Linear velocity of the object's origin."""
    with observed(k, SensorType.FRAMELINVEL) as (sensor, frame, reference):
        write(k, sensor, *(reference.rotation.T @ relative_velocity(k, frame, reference)[3:]))


def frameangvel(k: Kernel) -> None:
    """Angular velocity of the object."""
    with observed(k, SensorType.FRAMEANGVEL) as (sensor, frame, reference):
        write(k, sensor, *(reference.rotation.T @ relative_velocity(k, frame, reference)[:3]))


def framelinacc(k: Kernel) -> None:
    """Linear acceleration of the object's origin."""
    with observed(k, SensorType.FRAMELINACC) as (sensor, frame, _):
        write(k, sensor, *acceleration(k, frame)[3:])


def frameangacc(k: Kernel) -> None:
    """Angular acceleration of the object."""
    with observed(k, SensorType.FRAMEANGACC) as (sensor, frame, _):
        write(k, sensor, *acceleration(k, frame)[:3])


@contextmanager
def observed(k: Kernel, kind: SensorType) -> Iterator[tuple[Any, ObjectFrame, ObjectFrame]]:
    """Repeat for the sensors of a type: the sensor, the frame of its object, and that of its reference (else the
    world's)."""
    m = k.model
    kinds, references = (object_kinds(k, kind, field) for field in ("obj", "ref"))
    with each_sensor(k, kind) as sensor:
        frame = object_frame(k, m.sensor_objtype[sensor], m.sensor_objid[sensor], kinds)
        reference = object_frame(k, m.sensor_reftype[sensor], m.sensor_refid[sensor], references)
        yield sensor, frame, reference


def relative_velocity(k: Kernel, frame: ObjectFrame, reference: ObjectFrame) -> Vector:
    """Velocity (6) of a frame as seen from another one, in world axes."""
    carrier, seen = velocity(k, reference), velocity(k, frame)
    carried = cross(carrier[:3], frame.position - reference.position)
    return vector(seen[:3] - carrier[:3], seen[3:] - carrier[3:] - carried)

"""Where bodies, geoms, sites and cameras are, and their velocities and accelerations at that point, in lanes.

A spatial vector is (angular, linear), in world axes. Accelerations include the upward one that stands for gravity;
what is fixed to the world shows none, as in MuJoCo 3.4. Compare mj_objectVelocity and mj_objectAcceleration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import ObjType
from dovetail.plugins.shared.vectors_lanes import Vector, cross, vector

_PLACES = {
    ObjType.BODY: ("xipos", "ximat", None),
    ObjType.XBODY: ("xpos", "xmat", None),
    ObjType.GEOM: ("geom_xpos", "geom_xmat", "geom_bodyid"),
    ObjType.SITE: ("site_xpos", "site_xmat", "site_bodyid"),
    ObjType.CAMERA: ("cam_xpos", "cam_xmat", "cam_bodyid"),
}
"""Objects that have a pose: Data fields of position and rotation, Model field of the body they are fixed in."""


class ObjectFrame(NamedTuple):
    """Position, rotation world←object (3, 3), and the body it moves with."""

    position: Vector
    rotation: Vector
    body: Any


def object_frame(k: Kernel, objtype: Any, objid: Any, kinds: Sequence[int]) -> ObjectFrame:
    """Pose of an object that is of one of `kinds` (types, -1 for the world itself, whose id is -1)."""
    if len(kinds) == 1 and kinds[0] >= 0:
        return _frame_of(k, ObjType(kinds[0]), objid)
    position, rotation, body = k.local([0.0] * 3), k.local(np.eye(3).tolist()), k.local(0)
    for kind in (ObjType(kind) for kind in kinds if kind >= 0):
        with k.when((objtype == int(kind)) & (objid >= 0)):
            found = _frame_of(k, kind, objid)
            position.set(found.position)
            rotation.set(found.rotation)
            body.set(found.body)
    return ObjectFrame(position.value, rotation.value, body.value)


def _frame_of(k: Kernel, kind: ObjType, objid: Any) -> ObjectFrame:
    position, rotation, body = _PLACES[kind]
    d = k.data
    return ObjectFrame(
        getattr(d, position)[objid],
        getattr(d, rotation)[objid].reshape(3, 3),
        objid if body is None else getattr(k.model, body)[objid],
    )


def velocity(k: Kernel, frame: ObjectFrame) -> Vector:
    """Velocity (6) at a frame's origin, world axes."""
    return moved_to(_lever(k, frame), k.data.cvel[frame.body])


def acceleration(k: Kernel, frame: ObjectFrame) -> Vector:
    """Acceleration (6) of the point that is at a frame's origin, world axes: as `cacc` is a rate of spatial velocity
    at a fixed place, a moving point adds ω × v."""
    return _of_moving_point(k, frame, _at_fixed_place(k, frame), velocity(k, frame))


def local_acceleration(k: Kernel, frame: ObjectFrame) -> Vector:
    """The same in the frame's own axes. ω × v is taken in these axes: with a quaternion that was edited and is not of
    length 1 it is another one than in world axes."""
    rate, motion = _at_fixed_place(k, frame), velocity(k, frame)
    return _of_moving_point(k, frame, turned_into(frame, rate), turned_into(frame, motion))


def _at_fixed_place(k: Kernel, frame: ObjectFrame) -> Vector:
    """The rate of spatial velocity where a frame's origin is, world axes."""
    return moved_to(_lever(k, frame), k.data.cacc[frame.body])


def _of_moving_point(k: Kernel, frame: ObjectFrame, rate: Vector, motion: Vector) -> Vector:
    """The acceleration of a point that moves along; what is fixed to the world has none."""
    total = vector(rate[:3], rate[3:] + cross(motion[:3], motion[3:]))
    return k.select(k.model.body_weldid[frame.body] == 0, 0.0, total)


def turned_into(frame: ObjectFrame, motion: Vector) -> Vector:
    """A spatial vector in the axes of a frame."""
    inverse = frame.rotation.T
    return vector(inverse @ motion[:3], inverse @ motion[3:])


def _lever(k: Kernel, frame: ObjectFrame) -> Vector:
    return frame.position - k.data.subtree_com[k.model.body_rootid[frame.body]]


def moved_to(offset: Vector, motion: Vector) -> Vector:
    """A motion vector at a point `offset` away from where it was given."""
    return vector(motion[:3], motion[3:] + cross(motion[:3], offset))


def force_moved_to(offset: Vector, force: Vector) -> Vector:
    """A force vector, torque first, at a point `offset` away from where it was given."""
    return vector(force[:3] - cross(offset, force[3:]), force[3:])

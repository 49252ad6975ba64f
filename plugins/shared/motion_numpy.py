"""Where bodies, geoms, sites and cameras are, and their velocities and accelerations at that point.

A spatial vector is (angular, linear), in world axes, or with `local` in the object's own axes. Accelerations
include the upward one that stands for gravity, so a body at rest shows +g, one in free fall 0; but what is fixed to
the world shows 0 too, as in MuJoCo 3.4. Velocities need cvel, accelerations cvel and cacc (stage body_forces).
Compare mj_objectVelocity and mj_objectAcceleration.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import ObjType
from dovetail.contracts.fields import Array
from dovetail.contracts.named import Which
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.vectors_numpy import apply_rows, cross_rows

_PLACES = {
    ObjType.BODY: ("xipos", "ximat", None),
    ObjType.XBODY: ("xpos", "xmat", None),
    ObjType.GEOM: ("geom_xpos", "geom_xmat", "geom_bodyid"),
    ObjType.SITE: ("site_xpos", "site_xmat", "site_bodyid"),
    ObjType.CAMERA: ("cam_xpos", "cam_xmat", "cam_bodyid"),
}
"""Objects that have a pose: Data fields of position and rotation, Model field of the body they are fixed in."""

Frames = tuple[Array, Array, Array]
"""Positions (n, 3), rotations world←object (n, 3, 3), and the bodies (n,) they move with."""


def object_velocity(
    model: ModelLike, data: DataLike, objtype: ObjType | int | str, objid: Which, local: bool = False
) -> Array:
    """Velocity (6,) of a body (its centre of mass), xbody (its frame), geom, site or camera."""
    frames = object_frames(model, data, *_one(objtype, objid))
    velocity = velocities(model, data, frames)
    return (turned_into(frames, velocity) if local else velocity)[0]


def object_acceleration(
    model: ModelLike, data: DataLike, objtype: ObjType | int | str, objid: Which, local: bool = False
) -> Array:
    """Acceleration (6,) of a body (its centre of mass), xbody (its frame), geom, site or camera."""
    frames = object_frames(model, data, *_one(objtype, objid))
    return (local_accelerations if local else accelerations)(model, data, frames)[0]


def _one(objtype: ObjType | int | str, objid: int) -> tuple[Array, Array]:
    """One object as arrays of kinds and ids."""
    kind = ObjType.from_keyword(objtype) if isinstance(objtype, str) else ObjType(objtype)
    return np.array([int(kind)]), np.array([objid])


# ---- many objects -----------------------------------------------------------------------------------------


def object_frames(model: ModelLike, data: DataLike, objtype: Array, objid: Array) -> Frames:
    """Poses of objects of any kinds; an id of -1 is the world itself."""
    count = len(objid)
    position, rotation = np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1))
    body = np.zeros(count, np.intp)
    for kind in np.unique(objtype[objid >= 0]):
        here = np.flatnonzero((objtype == kind) & (objid >= 0))
        pos_field, mat_field, body_field = _place(kind)
        ids = objid[here]
        position[here] = getattr(data, pos_field)[ids]
        rotation[here] = getattr(data, mat_field)[ids].reshape(-1, 3, 3)
        body[here] = ids if body_field is None else getattr(model, body_field)[ids]
    return position, rotation, body


def _place(kind: int) -> tuple[str, str, str | None]:
    try:
        return _PLACES[ObjType(kind)]
    except KeyError:
        known = ", ".join(k.keyword for k in _PLACES)
        raise ValueError(
            f"a {ObjType(kind).keyword} has no pose of its own; objects that have one: {known}"
        ) from None


def velocities(model: ModelLike, data: DataLike, frames: Frames) -> Array:
    """Velocities (n, 6) at the frames' origins, world axes."""
    position, _, body = frames
    return moved_to(position - _reference(model, data, body), data.cvel[body])


def accelerations(model: ModelLike, data: DataLike, frames: Frames) -> Array:
    """Accelerations (n, 6) of the points that are at the frames' origins, world axes: as `cacc` is a rate of
    spatial velocity at a fixed place, a moving point adds ω × v."""
    return _of_moving_points(
        model, frames, _at_fixed_places(model, data, frames), velocities(model, data, frames)
    )


def local_accelerations(model: ModelLike, data: DataLike, frames: Frames) -> Array:
    """The same in the axes of the frames. ω × v is taken in these axes: with a quaternion that was edited and is not
    of length 1 it is another one than in world axes."""
    rates = turned_into(frames, _at_fixed_places(model, data, frames))
    return _of_moving_points(model, frames, rates, turned_into(frames, velocities(model, data, frames)))


def _at_fixed_places(model: ModelLike, data: DataLike, frames: Frames) -> Array:
    """Rates (n, 6) of spatial velocity where the frames' origins are, world axes."""
    position, _, body = frames
    return moved_to(position - _reference(model, data, body), data.cacc[body])


def _of_moving_points(model: ModelLike, frames: Frames, rate: Array, velocity: Array) -> Array:
    """Accelerations of points that move along; what is fixed to the world has none."""
    acceleration = rate.copy()
    acceleration[:, 3:] += cross_rows(velocity[:, :3], velocity[:, 3:])
    acceleration[model.body_weldid[frames[2]] == 0] = 0.0
    return acceleration


def _reference(model: ModelLike, data: DataLike, body: Array) -> Array:
    """The point that a body's com-based quantities refer to."""
    point: Array = data.subtree_com[model.body_rootid[body]]
    return point


def moved_to(offset: Array, motion: Array) -> Array:
    """Motion vectors (n, 6) at points `offset` (n, 3) away from where they were given."""
    moved = motion.copy()
    moved[:, 3:] += cross_rows(motion[:, :3], offset)
    return moved


def force_moved_to(offset: Array, force: Array) -> Array:
    """Force vectors (n, 6), torque first, at points `offset` (n, 3) away from where they were given."""
    moved = force.copy()
    moved[:, :3] -= cross_rows(offset, force[:, 3:])
    return moved


def turned_into(frames: Frames, vectors: Array) -> Array:
    """Spatial vectors (n, 6) in the axes of the frames."""
    inverse = frames[1].transpose(0, 2, 1)
    return np.hstack([apply_rows(inverse, vectors[:, :3]), apply_rows(inverse, vectors[:, 3:])])

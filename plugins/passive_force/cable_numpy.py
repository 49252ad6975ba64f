"""MuJoCo's engine plugin `mujoco.elasticity.cable`: a chain of bodies that resists bending and twisting.

The bodies of an instance are one after another; each but the first turns on its predecessor by a ball joint (or
the ball of a free joint). The rotation between neighbours, less the one at rest, is a curvature in the frame of the
later one, which the material's stiffness turns into a torque; it acts on the earlier body as it is and on the
later one, in that body's frame, in reverse. Twist is about x, along the cable. At rest the cable is as in qpos0,
or straight if `flat`. Compare plugin/elasticity/cable.cc.
"""

from __future__ import annotations

from math import pi

import numpy as np

from dovetail.contracts.engine_plugins import leading_number, plugin_config, plugin_name
from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.errors import ValidationError
from dovetail.plugins.shared.passive_flags_numpy import all_off
from dovetail.plugins.shared.quaternions_numpy import (
    Quaternion,
    quat_conjugate,
    quat_difference,
    quat_multiply,
    quat_rotate,
    quat_to_rotation_vector,
)
from dovetail.plugins.shared.tree_numpy import BALL, FREE
from dovetail.plugins.shared.wrenches_numpy import joint_forces

CABLE = "mujoco.elasticity.cable"


def plugin(model: ModelLike, data: DataLike) -> None:
    """Add the forces of all cables to qfrc_passive."""
    if all_off(model):
        return
    torque = np.zeros((model.nbody, 3))
    for instance in range(int(model.nplugin)):
        bodies = np.flatnonzero(model.body_plugin == instance)
        if plugin_name(model, instance) == CABLE and len(bodies) > 1:
            add_cable(model, data, instance, bodies, torque)
    body = np.flatnonzero(torque.any(axis=1))
    nothing = np.zeros((len(body), 3))
    data.qfrc_passive[:] += joint_forces(model, data, body, data.xpos[body], nothing, torque[body])


def add_cable(model: ModelLike, data: DataLike, instance: int, bodies: Array, torque: Array) -> None:
    """Add the torques, in the world, between neighbouring bodies of one cable."""
    config = plugin_config(model, instance)
    twist, bend = (leading_number(config[key]) or 0.0 for key in ("twist", "bend"))
    rigidity = np.array([section_moments(model, body) for body in bodies.tolist()]) * [twist, bend, bend]
    flat = config["flat"] == "true"
    for k, (before, after) in enumerate(zip(bodies[:-1].tolist(), bodies[1:].tolist(), strict=True)):
        if after != before + 1:
            raise ValidationError(
                f"cable of body {before}", [f"its bodies must follow one another, body {after} does not"]
            )
        rest, turn = rotations(model, data, after, flat)
        spacing = np.linalg.norm(reference_place(model, after) - reference_place(model, before))
        stress = -rigidity[k + 1] * (np.array(quat_to_rotation_vector(turn)) - rest) / spacing
        if rigidity[k].any():
            torque[before] -= quat_rotate(data.xquat[before].tolist(), stress.tolist())
        if rigidity[k + 1].any():
            pulled_back = quat_rotate(quat_conjugate(turn), stress.tolist())
            torque[after] += quat_rotate(data.xquat[after].tolist(), pulled_back)


def section_moments(model: ModelLike, body: int) -> tuple[float, float, float]:
    """Second moments of area of a body's first geom: torsion about x, bending about y and z."""
    geom = int(model.body_geomadr[body])
    kind, size = model.geom_type[geom], model.geom_size[geom].tolist()
    if kind in (GeomType.CYLINDER, GeomType.CAPSULE):
        bending = pi * size[0] ** 4 / 4.0
        return 2.0 * bending, bending, bending
    if kind == GeomType.BOX:
        high, wide = size[1], size[2]
        long, short = max(high, wide), min(high, wide)
        slimness = short / long
        torsion = long * short**3 * (16.0 / 3.0 - 3.36 * slimness * (1.0 - slimness**4 / 12.0))
        return torsion, 4.0 / 3.0 * high * wide**3, 4.0 / 3.0 * wide * high**3
    return 0.0, 0.0, 0.0


def rotations(model: ModelLike, data: DataLike, body: int, flat: bool) -> tuple[Array, Quaternion]:
    """Curvature of a body against its predecessor at rest, and its present rotation against it."""
    at = ball_address(model, body)
    frame = model.body_quat[body].tolist()
    rest = (0.0, 0.0, 0.0) if flat else quat_difference(frame, model.qpos0[at : at + 4].tolist())
    return np.array(rest), quat_multiply(frame, data.qpos[at : at + 4].tolist())


def ball_address(model: ModelLike, body: int) -> int:
    """Where the quaternion of a body's ball or free joint is in qpos."""
    joint = int(model.body_jntadr[body] + model.body_jntnum[body]) - 1
    kind = int(model.jnt_type[joint]) if model.body_jntnum[body] else -1
    if kind not in (BALL, FREE):
        raise ValidationError(
            f"cable of body {body}", ["each body but the first needs a ball or free joint as its last joint"]
        )
    return int(model.jnt_qposadr[joint]) + (3 if kind == FREE else 0)


def reference_place(model: ModelLike, body: int) -> Array:
    """Where a body is in the world at qpos0; joints leave it where its frame says."""
    place = np.zeros(3)
    while body:
        place = model.body_pos[body] + np.array(quat_rotate(model.body_quat[body].tolist(), place.tolist()))
        body = int(model.body_parentid[body])
    return place

"""Sizes of things: bounding volume hierarchies of bodies, and the length scale of rotations.

The hierarchy is in each body's inertial frame: boxes around geoms that can collide, split at the median of
the longest side (`mjCBoundingVolumeHierarchy`). Body sizes are as in `setStat` of engine_setconst.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.enums import JointType, SameFrame
from dovetail.mjcf.elements.poses import world_poses
from dovetail.mjcf.elements.same_frames import body_sameframe, sameframe
from dovetail.mjcf.geometry.inertia import rotation_matrix
from dovetail.mjcf.geometry.rotation import ORIGIN, Pose, Vec, point, rotate
from dovetail.plugins.shared.constants import EPS, MINVAL
from dovetail.plugins.shared.quaternions_numpy import quat_conjugate, quat_multiply, quat_rotate

if TYPE_CHECKING:
    from dovetail.mjcf.elements.body import BodyItem
    from dovetail.mjcf.elements.geom import GeomItem
    from dovetail.mjcf.model.context import Context

_SMALLEST = 1e-5
"""Least size of a body, m."""
_CORNERS = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=np.float64)


def bounding_volumes(bodies: list[BodyItem]) -> dict[str, Any]:
    """body_bvh… and bvh_… arrays."""
    nodes = _Nodes()
    adr, num = [], []
    for body in bodies:
        leaves = [geom for geom in body.geoms if geom.contype or geom.conaffinity]
        start = len(nodes.depth)
        if leaves:
            nodes.split(*_in_inertial_frame(body, leaves), depth=0, start=start)
        count = len(nodes.depth) - start
        adr.append(start if count else -1)
        num.append(count)
    return {
        "body_bvhadr": np.array(adr, np.int32),
        "body_bvhnum": np.array(num, np.int32),
        "bvh_depth": np.array(nodes.depth, np.int32),
        "bvh_child": np.array(nodes.child, np.int32).reshape(-1, 2),
        "bvh_nodeid": np.array(nodes.nodeid, np.int32),
        "bvh_aabb": np.array(nodes.aabb, np.float64).reshape(-1, 6),
    }


def _in_inertial_frame(
    body: BodyItem, geoms: list[GeomItem]
) -> tuple[list[GeomItem], np.ndarray, np.ndarray]:
    """Geoms with their centres (n,3) and the corners of their boxes (n,8,3) in the body's inertial frame."""
    assert body.ipos is not None
    back, origin = quat_conjugate(body.iquat), np.array(body.ipos)
    centres = np.array([_turned(back, np.array(geom.pos) - origin) for geom in geoms])
    corners = []
    for geom in geoms:
        box = np.array(geom.aabb[:3]) + _CORNERS * geom.aabb[3:]
        corners.append(_turned(back, _turned(geom.quat, box) + geom.pos - origin))
    return geoms, centres, np.array(corners)


def _turned(quat: Vec, points: np.ndarray) -> np.ndarray:
    """Points (…,3) turned as `rotate_any` turns one."""
    coordinates: Any = (points[..., 0], points[..., 1], points[..., 2])
    turned: Any = quat_rotate(quat, coordinates)
    return np.stack(turned, axis=-1)


class _Nodes:
    """Growing arrays of one model's bounding volumes."""

    def __init__(self) -> None:
        self.depth: list[int] = []
        self.child: list[list[int]] = []
        self.nodeid: list[int] = []
        self.aabb: list[np.ndarray] = []

    def split(
        self, geoms: list[GeomItem], centres: np.ndarray, corners: np.ndarray, depth: int, start: int
    ) -> int:
        """Add the volume around some geoms and, below it, its two halves; returns its number in the body."""
        low, high = _box(corners)
        index = len(self.depth)
        self.depth.append(depth)
        self.child.append([-1, -1])
        self.nodeid.append(geoms[0].id if len(geoms) == 1 else -1)
        self.aabb.append(np.concatenate([(high + low) / 2, (high - low) / 2]))
        if len(geoms) > 1:
            order = _median_order(centres[:, _longest(high - low)])
            half = len(geoms) // 2
            for side, part in enumerate((sorted(order[:half]), sorted(order[half:]))):
                below = [geoms[i] for i in part]
                self.child[index][side] = self.split(below, centres[part], corners[part], depth + 1, start)
        return index - start


def _box(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    points = corners.reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    flat = np.abs(high - low) < EPS
    return low - flat * EPS, high + flat * EPS


def _longest(edges: np.ndarray) -> int:
    axis = 1 if edges[1] >= edges[0] + EPS else 0
    return 2 if edges[2] >= edges[axis] + EPS else axis


def _median_order(positions: np.ndarray) -> list[int]:
    """Numbers in ascending order of position; practically equal positions keep their order."""
    from functools import cmp_to_key

    def before(a: int, b: int) -> int:
        difference = positions[a] - positions[b]
        if abs(difference) <= EPS:
            return a - b
        return 1 if difference > 0 else -1

    return sorted(range(len(positions)), key=cmp_to_key(before))


def dof_lengths(context: Context) -> np.ndarray:
    """dof_length: 1 for translations; for rotations the size of the body, which turns angles into lengths [m]."""
    sizes = _body_sizes(context)
    lengths: list[float] = []
    for joint in context.joints:
        linear = {JointType.FREE: 3, JointType.SLIDE: 1}.get(JointType(joint.type), 0)
        lengths.extend([1.0] * linear + [float(sizes[joint.bodyid])] * (joint.nv - linear))
    return np.array(lengths, np.float64)


def reference_looks(context: Context) -> dict[str, Any]:
    """Where cameras and lights are at qpos0: relative to their body, and to the subtree they follow."""
    bodies = context.bodies
    poses = world_poses(bodies)
    subtrees = _subtree_centres(bodies, poses)
    fields: dict[str, Any] = {}
    for prefix, items in (("cam", context.objects["camera"]), ("light", context.objects["light"])):
        places = np.array([point(poses[i.bodyid], i.pos) for i in items]).reshape(-1, 3)
        followed = [i.targetbodyid if i.targetbodyid >= 0 else i.bodyid for i in items]
        own = np.array([poses[i.bodyid][0] for i in items]).reshape(-1, 3)
        fields[f"{prefix}_pos0"] = places - own
        fields[f"{prefix}_poscom0"] = places - subtrees[followed]
    turned = [rotation_matrix(quat_multiply(poses[c.bodyid][1], c.quat)) for c in context.objects["camera"]]
    fields["cam_mat0"] = np.array(turned, np.float64).reshape(-1, 9)
    directions = [rotate(poses[light.bodyid][1], light.dir) for light in context.objects["light"]]
    fields["light_dir0"] = np.array(directions, np.float64).reshape(-1, 3)
    return fields


def _subtree_centres(bodies: list[BodyItem], poses: list[Pose]) -> np.ndarray:
    """Centre of mass of each body's subtree; of a massless one, its own inertial frame."""
    centres = _centres(bodies, poses)
    masses = np.array([body.mass for body in bodies])
    moments = centres * masses[:, None]
    for body in reversed(bodies[1:]):
        masses[body.parentid] += masses[body.id]
        moments[body.parentid] += moments[body.id]
    heavy = masses > MINVAL
    centres[heavy] = moments[heavy] / masses[heavy, None]
    return centres


def _centres(bodies: list[BodyItem], poses: list[Pose]) -> np.ndarray:
    """Inertial origins in the world; one that is practically the body's own counts as that, as in kinematics."""
    local = [ORIGIN if body_sameframe(b) == SameFrame.BODY else b.ipos or ORIGIN for b in bodies]
    return np.array([point(pose, place) for pose, place in zip(poses, local, strict=True)])


def _body_sizes(context: Context) -> np.ndarray:
    """Reach of each body from its centre of mass, to geoms, to joints at both its ends, along flexes; at qpos0."""
    poses = world_poses(context.bodies)
    centres = _centres(context.bodies, poses)
    sizes = np.full(len(context.bodies), _SMALLEST)

    def reach(body: int, place: Vec, radius: float) -> None:
        sizes[body] = max(sizes[body], radius + float(np.linalg.norm(centres[body] - place)))

    for joint in context.joints:
        anchor = point(poses[joint.bodyid], joint.pos)
        reach(joint.bodyid, anchor, 0.0)
        reach(context.bodies[joint.bodyid].parentid, anchor, 0.0)
    for geom in context.geoms:
        if geom.rbound > 0:
            reach(geom.bodyid, _geom_place(geom, context.bodies[geom.bodyid], poses, centres), geom.rbound)
    for flex in context.objects["flex"]:
        for body, length in flex.built.reach.items():
            sizes[body] = max(sizes[body], length)
    return sizes


def _geom_place(geom: GeomItem, body: BodyItem, poses: list[Pose], centres: np.ndarray) -> Any:
    """Centre of a geom in the world; practically its body's, or the inertial one, counts as that."""
    shared = {SameFrame.BODY: poses[body.id][0], SameFrame.INERTIA: centres[body.id]}.get(
        SameFrame(sameframe(geom, body))
    )
    return point(poses[body.id], geom.pos) if shared is None else shared

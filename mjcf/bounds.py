"""Bounding volume hierarchies of bodies, and the model statistics that need only the reference pose.

The hierarchy is in each body's inertial frame: boxes around geoms that can collide, split at the median of
the longest side (`mjCBoundingVolumeHierarchy`). Statistics follow `setStat` in engine_setconst.c, in world
coordinates at qpos0; the mean inertia needs dynamics and is left to `finalize_model`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType, JointType

from .context import Context
from .inertia import rotation_matrix
from .kinds import Vec
from .rotation import EPS, IDENTITY, ORIGIN, Pose, accumulate, point
from .tree import Body, Geom

_SMALLEST = 1e-5
"""Least size of a body or model, m."""
_EMPTY_MASS, _EMPTY_SIZE, _EMPTY_EXTENT = 1.0, 0.2, 2.0
"""Statistics of a model in which there is nothing to measure; kg, m, m."""
_FAR = 1e10
_CORNERS = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=np.float64)


def bounding_volumes(bodies: list[Body]) -> dict[str, Any]:
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


def _in_inertial_frame(body: Body, geoms: list[Geom]) -> tuple[list[Geom], np.ndarray, np.ndarray]:
    """Geoms with their centres (n,3) and the corners of their boxes (n,8,3) in the body's inertial frame."""
    assert body.ipos is not None
    axes = rotation_matrix(body.iquat)
    centres = np.array([(np.array(geom.pos) - body.ipos) @ axes for geom in geoms])
    corners = []
    for geom in geoms:
        box = np.array(geom.aabb[:3]) + _CORNERS * geom.aabb[3:]
        corners.append((box @ rotation_matrix(geom.quat).T + geom.pos - np.array(body.ipos)) @ axes)
    return geoms, centres, np.array(corners)


class _Nodes:
    """Growing arrays of one model's bounding volumes."""

    def __init__(self) -> None:
        self.depth: list[int] = []
        self.child: list[list[int]] = []
        self.nodeid: list[int] = []
        self.aabb: list[np.ndarray] = []

    def split(
        self, geoms: list[Geom], centres: np.ndarray, corners: np.ndarray, depth: int, start: int
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


def statistics(context: Context) -> dict[str, Any]:
    """stat.… (written values, else computed ones) and dof_length."""
    world = _World(context)
    sizes = world.body_sizes(context)
    written = {name: np.array(v) if name == "center" else v for name, v in context.statistic.items()}
    computed = _computed(context, world, sizes)
    return {
        **{f"stat.{name}": value for name, value in {**computed, **written}.items()},
        "dof_length": _dof_lengths(context, sizes),
    }


def _computed(context: Context, world: _World, sizes: np.ndarray) -> dict[str, Any]:
    masses = [body.mass for body in context.bodies[1:]]
    meansize = float(sizes[1:].mean()) if masses else _EMPTY_SIZE
    low, high = world.box()
    extent = max(_SMALLEST, float((high - low).max())) if high[0] > low[0] else _EMPTY_EXTENT
    return {
        "meanmass": float(np.mean(masses)) if masses else _EMPTY_MASS,
        "meansize": meansize,
        "extent": max(extent, 2 * meansize),
        "center": (low + high) / 2 if high[0] >= low[0] else np.zeros(3),
    }


def _dof_lengths(context: Context, sizes: np.ndarray) -> np.ndarray:
    """1 for translations; for rotations the size of the body, which turns angles into lengths [m]."""
    lengths: list[float] = []
    for joint in context.joints:
        linear = {JointType.FREE: 3, JointType.SLIDE: 1}.get(joint.type, 0)
        lengths.extend([1.0] * linear + [float(sizes[joint.bodyid])] * (joint.nv - linear))
    return np.array(lengths, np.float64)


class _World:
    """Where everything is at qpos0, in world coordinates."""

    def __init__(self, context: Context) -> None:
        poses = _world_poses(context.bodies)
        self.bodies = _points(pose[0] for pose in poses)
        self.centres = _points(point(poses[b.id], b.ipos or ORIGIN) for b in context.bodies)
        self.anchors = _points(point(poses[joint.bodyid], joint.pos) for joint in context.joints)
        self.sites = _points(point(poses[site.bodyid], site.pos) for site in context.sites)
        self.geoms = _points(point(poses[geom.bodyid], geom.pos) for geom in context.geoms)
        self.radii = np.array([_radius(geom) for geom in context.geoms])

    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest corner of what there is; lowest above highest if there is nothing."""
        reach = self.radii[:, None]
        points = [self.bodies[1:], self.centres[1:], self.anchors, self.sites]
        low = np.concatenate([*points, self.geoms - reach])
        high = np.concatenate([*points, self.geoms + reach])
        return low.min(axis=0, initial=_FAR), high.max(axis=0, initial=-_FAR)

    def body_sizes(self, context: Context) -> np.ndarray:
        """Reach of each body from its centre of mass, to its geoms and to the joints at both its ends."""
        sizes = np.full(len(context.bodies), _SMALLEST)
        for joint, anchor in zip(context.joints, self.anchors, strict=True):
            for body in (joint.bodyid, context.bodies[joint.bodyid].parentid):
                sizes[body] = max(sizes[body], np.linalg.norm(self.centres[body] - anchor))
        for geom, centre in zip(context.geoms, self.geoms, strict=True):
            if geom.rbound > 0:
                reach = geom.rbound + np.linalg.norm(self.centres[geom.bodyid] - centre)
                sizes[geom.bodyid] = max(sizes[geom.bodyid], reach)
        return sizes


def _points(points: Iterable[Vec]) -> np.ndarray:
    return np.array(list(points), dtype=np.float64).reshape(-1, 3)


def _world_poses(bodies: list[Body]) -> list[Pose]:
    poses: list[Pose] = []
    for body in bodies:
        pos, quat = poses[body.parentid] if body.parent else (ORIGIN, IDENTITY)
        poses.append(accumulate(pos, quat, body.pos, body.quat))
    return poses


def _radius(geom: Geom) -> float:
    """Bounding radius; a plane counts with a tenth of its size, an infinite one with 1 m."""
    if geom.type != GeomType.PLANE:
        return geom.rbound
    return max(geom.size[:2]) * 0.1 if any(geom.size[:2]) else 1.0

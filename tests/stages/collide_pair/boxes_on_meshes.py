"""Boxes on convex meshes of 20 to 100 vertices, lying flat, on edges or anyhow, in MuJoCo and here at the same poses.

Mass is that of the hull, and the mesh has faces of its own in another order: where such a mesh is, and so which of
many nearly equal corners touches, hangs on the order of sums. Run as a script it prints how many poses agree, and in
how many of those that do not MuJoCo itself gives another contact when nudged: `python boxes_on_meshes.py [models]
[backend]`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

import dovetail

Array = NDArray[Any]

POSES = 12
NUDGES = 40
TOLERANCE = 1e-9
PARTS = ("dist", "pos", "frame")


def circle(count: int) -> Array:
    angle = 2 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(angle), np.sin(angle)])


def drum(rng: np.random.Generator, count: int) -> Array:
    """An elliptic drum, bevelled at both ends."""
    ring, height, bevel = (
        circle(count // 3) * rng.uniform(0.05, 0.2, 2),
        rng.uniform(0.02, 0.1),
        rng.uniform(0.7, 0.95),
    )
    levels = ((bevel, -height), (1.0, 0.0), (bevel, height))
    return np.vstack([np.column_stack([ring * factor, np.full(len(ring), z)]) for factor, z in levels])


def slab(rng: np.random.Generator, count: int) -> Array:
    """Points strewn over the sides of a box, of which the hull keeps nearly all, and its corners pulled in."""
    points, axis = rng.uniform(-1, 1, (count, 3)), rng.integers(0, 3, count)
    points[np.arange(count), axis] = np.sign(points[np.arange(count), axis])
    corners = 0.95 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return np.vstack([points, corners]) * rng.uniform(0.05, 0.2, 3)


def frustum(rng: np.random.Generator, count: int) -> Array:
    """Two polygons of unequal size."""
    angle = np.sort(rng.uniform(0, 2 * np.pi, count // 2))
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.uniform(0.05, 0.2, 2)
    height, top = rng.uniform(0.02, 0.1), rng.uniform(0.5, 1)
    levels = ((1.0, -height), (top, height))
    return np.vstack([np.column_stack([ring * factor, np.full(len(ring), z)]) for factor, z in levels])


SHAPES = (drum, slab, frustum)


def random_quat(rng: np.random.Generator) -> Array:
    quat = rng.standard_normal(4)
    unit: Array = quat / np.linalg.norm(quat)
    return unit


def numbers(values: Any) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(values))


def faces(vertices: Array) -> Array:
    """The hull's triangles, looking outward, in another order than the compiler's."""
    corners = ConvexHull(vertices).simplices[::-1]
    a, b, c = (vertices[corners[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - vertices.mean(axis=0)) < 0
    return np.where(inward[:, None], corners[:, ::-1], corners)


def xml(seed: int) -> str:
    """A box fixed in the world and a mesh that can fall on it, turned in its file and in its body."""
    rng = np.random.default_rng(seed)
    vertices = SHAPES[seed % len(SHAPES)](rng, int(rng.integers(20, 101)))
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, random_quat(rng))
    vertices = (vertices @ turn.reshape(3, 3).T + rng.normal(0, 0.1, 3)).astype(np.float32)
    corners = " ".join(map(str, faces(vertices).ravel()))
    margin = 0.0 if seed % 4 else 0.01
    scale = rng.uniform(0.5, 2, 3) if seed % 2 else np.ones(3)
    return f"""<mujoco><asset><mesh name="m" inertia="convex" scale="{numbers(scale)}" vertex="{numbers(vertices)}"
      face="{corners}"/></asset><worldbody>
      <geom type="box" size="{numbers(rng.uniform(0.2, 0.6, 2))} .1" margin="{margin}"/>
      <body pos="0 0 .3"><freejoint/>
        <geom type="mesh" mesh="m" pos="{numbers(rng.normal(0, 0.05, 3))}" quat="{numbers(random_quat(rng))}"/></body>
      </worldbody></mujoco>"""


def poses(mj_model: Any, seed: int) -> Iterator[Any]:
    """MuJoCo's results: where the mesh came to rest, while it slides, a little moved, and anyhow."""
    rng = np.random.default_rng(seed + 1_000_000)
    data = mujoco.MjData(mj_model)
    for pose in range(POSES):
        if pose % 4 in (0, 3):
            data.qpos[:] = [
                *rng.normal(0, 0.05, 2),
                0.4 if pose % 4 == 0 else rng.uniform(0.1, 0.3),
                *random_quat(rng),
            ]
            data.qvel[:] = 0
        if pose % 4 == 2:
            data.qpos[:3] += rng.normal(0, 1e-3, 3)
        mujoco.mj_step(mj_model, data, (300, int(rng.integers(1, 40)), 0, 0)[pose % 4])
        if not np.abs(data.qpos).max() < 5:
            continue
        yield at(mj_model, data.qpos)


def at(mj_model: Any, qpos: Array) -> Any:
    data = mujoco.MjData(mj_model)
    data.qpos[:] = qpos
    mujoco.mj_forward(mj_model, data)
    return data


class Contacts(NamedTuple):
    """Those that a Simulation has."""

    dist: Array
    pos: Array
    frame: Array


def distance(ours: Contacts, theirs: Any) -> float:
    """The largest difference of two sets of contacts; infinite if they are not equally many."""
    count = len(theirs.contact.dist)
    if len(ours.dist) != count:
        return float("inf")
    sides = ((np.array(getattr(ours, p)), getattr(theirs.contact, p)) for p in PARTS)
    return max(
        (float(np.abs(a.reshape(count, -1) - b.reshape(count, -1)).max()) for a, b in sides if count),
        default=0.0,
    )


def contacts(simulation: dovetail.Simulation, qpos: Array) -> Contacts:
    simulation.data.qpos[...] = qpos
    simulation.forward()
    count = simulation.data.ncon
    return Contacts(*(np.array(getattr(simulation.data.contact, part))[:count] for part in PARTS))


def steady(mj_model: Any, data: Any, seed: int) -> bool:
    """Whether MuJoCo gives the same contacts when it is nudged, at sizes from 1e-10 to 1e-16."""
    rng = np.random.default_rng(seed)
    for nudge in range(NUDGES):
        qpos = data.qpos.copy()
        mujoco.mj_integratePos(
            mj_model, qpos, 10.0 ** -(10 + nudge % 7) * rng.standard_normal(mj_model.nv), 1.0
        )
        moved = at(mj_model, qpos).contact
        if distance(Contacts(moved.dist, moved.pos, moved.frame.reshape(-1, 9)), data) > 1e-7:
            return False
    return True


def main(models: int, backend: str) -> None:
    looked, touch, apart, unsteady = 0, 0, 0, 0
    for seed in range(models):
        mj_model = mujoco.MjModel.from_xml_string(xml(seed))
        simulation = dovetail.Simulation(dovetail.loads(xml(seed)), backend=backend)
        for data in poses(mj_model, seed):
            looked, touch = looked + 1, touch + (data.ncon > 0)
            if distance(contacts(simulation, data.qpos), data) > TOLERANCE:
                apart += 1
                unsteady += not steady(mj_model, data, seed)
                print(
                    f"model {seed}: another contact, steady in MuJoCo: {steady(mj_model, data, seed)}",
                    flush=True,
                )
    print(f"{looked} poses, {touch} touch, {apart} differ, in {unsteady} of these MuJoCo differs when nudged")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, sys.argv[2] if len(sys.argv) > 2 else "numpy")

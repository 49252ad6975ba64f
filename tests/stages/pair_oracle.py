"""One pair of geoms in MuJoCo 3.4.0 and in a row of `collide_pair`, at the same poses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from dovetail.contracts.pairs import PairContacts
from dovetail.plugins.collide_pair import dovetail_implementations
from dovetail.plugins.shared.vectors_numpy import along, cross, dot, unit

Array = NDArray[Any]

TETRAHEDRON = "0 0 0  .3 0 0  0 .2 0  0 0 .25"
CUBE = " ".join(f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.2, 0.2))


def ball_of_points(count: int) -> str:
    """Points on an ellipsoid, for a mesh with many hull vertices."""
    points = np.random.default_rng(count).normal(size=(count, 3))
    points *= np.array([0.2, 0.25, 0.15]) / np.linalg.norm(points, axis=1, keepdims=True)
    return " ".join(f"{value:.6f}" for value in points.ravel())


MESHES = {"tetrahedron": TETRAHEDRON, "cube": CUBE, "round": ball_of_points(40)}

SIZES = {
    "plane": "0 0 1",
    "sphere": ".1",
    "capsule": ".1 .2",
    "ellipsoid": ".1 .2 .15",
    "cylinder": ".1 .2",
    "box": ".1 .2 .15",
}


class Pose(NamedTuple):
    """Where both geoms are and how large."""

    pos: Array
    """(2, 3)."""
    quat: Array
    """(2, 4)."""
    size: Array
    """(2, 3)."""


class Pair:
    """Two geoms that always meet the narrow phase, at poses set directly."""

    def __init__(self, key: str, margin: float, mesh: str = "cube") -> None:
        types = key.split("-")
        geoms = "".join(_geom(kind, number, mesh) for number, kind in enumerate(types))
        self.model = mujoco.MjModel.from_xml_string(
            f"""<mujoco><asset><mesh name="mesh" vertex="{MESHES[mesh]}"/></asset>
            <worldbody>{geoms}</worldbody>
            <contact><pair geom1="geom0" geom2="geom1" margin="{margin}"/></contact></mujoco>"""
        )
        self.data = mujoco.MjData(self.model)
        self.margin = margin
        record = next(record for record in dovetail_implementations() if record.key == key)
        self.collide = record.load()
        # a large bounding radius, so that only the pair's own function decides
        self.model.geom_rbound[[kind not in ("plane", "mesh") for kind in types]] = 1e4

    def place(self, pose: Pose) -> None:
        """Put both geoms where the pose says."""
        for geom in range(2):
            self.data.geom_xpos[geom] = pose.pos[geom]
            mujoco.mju_quat2Mat(self.data.geom_xmat[geom], pose.quat[geom])
            if self.model.geom_dataid[geom] < 0:
                self.model.geom_size[geom] = pose.size[geom]

    def theirs(self) -> Any:
        """MuJoCo's contacts."""
        mujoco.mj_collision(self.model, self.data)
        return self.data.contact

    def ours(self) -> PairContacts:
        """Our contacts."""
        contacts: PairContacts = self.collide(self.model, self.data, 0, 1, self.margin)
        return contacts

    def difference(self, pose: Pose) -> float:
        """Largest difference in distance, position or frame; infinite if the number of contacts differs."""
        self.place(pose)
        theirs, ours = self.theirs(), self.ours()
        if len(theirs.dist) != len(ours.dist):
            return np.inf
        if not len(ours.dist):
            return 0.0
        frames = np.array([frame(n, t) for n, t in zip(ours.normal, ours.tangent, strict=True)])
        return max(
            float(np.abs(theirs.dist - ours.dist).max()),
            float(np.abs(theirs.pos - ours.pos).max()),
            float(np.abs(theirs.frame - frames.reshape(-1, 9)).max()),
        )


def _geom(kind: str, number: int, mesh: str) -> str:
    shape = 'mesh="mesh"' if kind == "mesh" else f'size="{SIZES[kind]}"'
    geom = f'<geom name="geom{number}" type="{kind}" {shape} mass="1"/>'
    return geom if kind == "plane" else f"<body><freejoint/>{geom}</body>"


def frame(normal: Array, tangent: Array) -> Array:
    """A contact frame from its normal and the wished direction of its first tangent (mju_makeFrame)."""
    first_axis = unit(normal.tolist())
    wished = tangent.tolist()
    if dot(wished, wished) < 0.25:
        wished = (0.0, 1.0, 0.0) if abs(first_axis[1]) < 0.5 else (0.0, 0.0, 1.0)
    second_axis = unit(along(wished, -dot(first_axis, wished), first_axis))
    return np.array([first_axis, second_axis, cross(first_axis, second_axis)])


# ---- poses --------------------------------------------------------------------------------------------------


def right_angles() -> Array:
    """The 24 rotations that turn a cube into itself."""
    half = np.sqrt(0.5)
    axes = np.vstack([np.eye(3), -np.eye(3)])
    quats = [[1.0, 0, 0, 0]]
    quats += [[0.0, *axis] for axis in np.eye(3)]
    quats += [[half, *(half * axis)] for axis in axes]
    quats += [[0.0, *(half * (a + s * b))] for a, b in _pairs() for s in (1, -1)]
    quats += [[0.5, *(np.array(corner) - 0.5)] for corner in np.ndindex(2, 2, 2)]
    return np.array(quats)


def _pairs() -> Iterator[tuple[Array, Array]]:
    eye = np.eye(3)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        yield eye[i], eye[j]


def random_quat(rng: np.random.Generator) -> Array:
    quat = rng.normal(size=4)
    return quat / np.linalg.norm(quat)


def turned(quat: Array, axis: Array, angle: float) -> Array:
    """A rotation followed by a small one."""
    result = np.zeros(4)
    turn = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis / np.linalg.norm(axis))])
    mujoco.mju_mulQuat(result, turn, quat)
    return result


def poses(family: str, count: int, seed: int, reach: float = 0.55) -> Iterator[Pose]:
    """Relative poses of a family, from separate to concentric."""
    rng = np.random.default_rng([seed, *family.encode()])
    for _ in range(count):
        yield FAMILIES[family](rng, reach)


def scattered(rng: np.random.Generator, reach: float) -> Pose:
    """Anything: all positions, orientations and sizes."""
    direction = rng.normal(size=3)
    offset = direction / np.linalg.norm(direction) * rng.uniform(0, reach)
    first = rng.uniform(-1, 1, 3)
    quats = np.array([random_quat(rng), random_quat(rng)])
    return Pose(np.array([first, first + offset]), quats, rng.uniform(0.05, 0.3, (2, 3)))


def aligned(rng: np.random.Generator, reach: float) -> Pose:
    """Axes parallel, positions and sizes in round numbers: faces level, edges in line, surfaces just touching."""
    quats = right_angles()[rng.integers(24, size=2)]
    grid = rng.integers(-10, 11, 3) * 0.05 * (rng.random(3) < 0.7)
    return Pose(np.array([np.zeros(3), grid]), quats, rng.choice([0.1, 0.2, 0.25, 0.3], (2, 3)))


def nearly_aligned(rng: np.random.Generator, reach: float) -> Pose:
    """Aligned but for a rotation between rounding error and a degree."""
    pose = aligned(rng, reach)
    angle = 10.0 ** rng.uniform(-12, -2)
    quats = np.array([pose.quat[0], turned(pose.quat[1], rng.normal(size=3), angle)])
    return pose._replace(quat=quats, pos=pose.pos + rng.normal(size=(2, 3)) * 10.0 ** rng.uniform(-12, -2))


def about_one_axis(rng: np.random.Generator, reach: float) -> Pose:
    """One axis parallel: boxes on edge, cylinders lying down, capsules crossing at right angles to something."""
    pose = aligned(rng, reach)
    angle = rng.choice([np.pi / 4, np.pi / 6, rng.uniform(0, np.pi)])
    quats = np.array([pose.quat[0], turned(pose.quat[1], np.eye(3)[rng.integers(3)], angle)])
    return pose._replace(quat=quats, pos=np.array([np.zeros(3), rng.uniform(-reach, reach, 3)]))


def concentric(rng: np.random.Generator, reach: float) -> Pose:
    """The same centre, in any or in the same orientation."""
    pose = scattered(rng, reach)
    same = rng.random() < 0.5
    quats = right_angles()[rng.integers(24, size=2)] if same else pose.quat
    return pose._replace(pos=np.array([pose.pos[0]] * 2), quat=quats)


FAMILIES = {
    "scattered": scattered,
    "aligned": aligned,
    "nearly_aligned": nearly_aligned,
    "about_one_axis": about_one_axis,
    "concentric": concentric,
}

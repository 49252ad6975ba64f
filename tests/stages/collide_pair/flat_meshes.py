"""Meshes with flat sides, laid on each other by these sides at random, in MuJoCo and here.

Run as a script it prints the tables of `docs/explanation/collision.md`: `python flat_meshes.py [poses]`.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import mock

import mujoco
import numpy as np
from numpy.typing import NDArray

import dovetail
from dovetail.mjcf.geometry import hull
from dovetail.mjcf.geometry.qhull_lists import UnknownListsError
from dovetail.plugins.shared import principal_axes_numpy
from dovetail.plugins.shared.geometry import support_numpy

Array = NDArray[Any]
Poses = Callable[[Any, int, int], Iterator[Array]]

TOLERANCE = 1e-9
NUDGE = 1e-14
NUDGES = 4


# ---- meshes -------------------------------------------------------------------------------------------------


def box(x: float, y: float, z: float) -> Array:
    return np.array([[i * x, j * y, k * z] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])


def layers(outline: Array, *levels: tuple[float, float]) -> Array:
    """An outline (n, 2) at heights, each with a factor."""
    return np.vstack([np.column_stack([outline * factor, np.full(len(outline), z)]) for z, factor in levels])


def circle(count: int, radius: float = 0.1) -> Array:
    angle = 2 * np.pi * np.arange(count) / count
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def gear(teeth: int) -> Array:
    """Teeth around, each of four corners."""
    radius = np.where(np.arange(4 * teeth) % 4 < 2, 1.0, 0.8)
    return circle(4 * teeth) * radius[:, None]


def link(count: int) -> Array:
    """Two half circles joined by straight lines."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, count)
    half = 0.04 * np.column_stack([np.cos(angle), np.sin(angle)])
    end = np.array([0.1, 0.0])
    return np.vstack([half + end, -half - end])


BEVELLED = ((0.05, 0.9), (0.04, 1.0), (-0.04, 1.0), (-0.05, 0.9))
STRAIGHT = ((0.05, 1.0), (-0.05, 1.0))

MESHES: dict[str, Array] = {
    "cube": box(0.1, 0.1, 0.1),
    "brick": box(0.1, 0.07, 0.04),
    "prism of 5": layers(circle(5), *STRAIGHT),
    "prism of 6": layers(circle(6), *STRAIGHT),
    "frustum of 8": layers(circle(8), (0.05, 0.7), (-0.05, 1.0)),
    "gear of 8": layers(gear(8), *STRAIGHT),
    "gear of 24": layers(gear(24), *STRAIGHT),
    "bevelled drum of 32": layers(circle(32), *BEVELLED),
    "rounded link": layers(link(12), *BEVELLED),
    "fine rounded link": layers(link(62), *BEVELLED),
}
"""From 8 to 496 vertices."""


FREE = "<freejoint/>"
GUIDED = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1")) + (
    '<joint type="hinge" axis="0 0 1"/>'
)
"""Joints that keep a level side level, as those of arms and legs do."""


def scene(points: Array, joints: tuple[str, str], below: Array, above: Array) -> str:
    """Two bodies of a mesh, with the quaternions of their geoms."""
    bodies = "".join(
        f'<body>{joint}<geom type="mesh" mesh="m" mass="1" quat="{as_text(quat)}"/></body>'
        for joint, quat in zip(joints, (below, above), strict=True)
    )
    return f"""<mujoco><asset><mesh name="m" vertex="{as_text(points.astype(np.float32))}"/></asset>
    <worldbody>{bodies}</worldbody></mujoco>"""


def as_text(numbers: Array) -> str:
    return " ".join(f"{value:.17g}" for value in numbers.ravel().tolist())


def side_down(points: Array) -> Array:
    """The rotation (quaternion) that turns a side of the mesh that is not level down."""
    model = mujoco.MjModel.from_xml_string(scene(points, (FREE, FREE), UPRIGHT, UPRIGHT))
    normals = model.mesh_polynormal @ _matrix(model.mesh_quat[0]).T
    normal = normals[np.argmin(np.abs(normals[:, 2]))]
    axis = np.cross(normal, [0, 0, -1.0])
    angle = np.arccos(-normal[2])
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis / np.linalg.norm(axis))])


def _matrix(quat: Array) -> Array:
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, quat)
    return flat.reshape(3, 3)


UPRIGHT, UPSIDE_DOWN = np.array([1.0, 0, 0, 0]), np.array([0.0, 1, 0, 0])
TILTED = np.array([0.5, -0.1, 0.7, 0.5])
"""How a mesh is turned in its file; the geom turns it back."""


def tilted(points: Array) -> Array:
    return points @ _matrix(TILTED)


# ---- poses --------------------------------------------------------------------------------------------------


class Side(NamedTuple):
    """A flat side in the geom's frame, with axes whose third one is its normal."""

    centre: Array
    axes: Array


def sides(model: Any) -> list[Side]:
    """Flat sides of the first mesh."""
    found = []
    for polygon in range(model.mesh_polynum[0]):
        start, count = model.mesh_polyvertadr[polygon], model.mesh_polyvertnum[polygon]
        corners = model.mesh_vert[model.mesh_polyvert[start : start + count]].astype(float)
        normal = model.mesh_polynormal[polygon]
        first = corners[1] - corners[0]
        first = first / np.linalg.norm(first)
        found.append(Side(corners.mean(axis=0), np.column_stack([first, np.cross(normal, first), normal])))
    return found


def laid(rng: np.random.Generator, all_sides: list[Side], size: float) -> tuple[Array, Array, Array]:
    """Position and rotation of a geom that lies with a side on one of the other's, and the axes of that side."""
    below, above = (all_sides[rng.integers(len(all_sides))] for _ in range(2))
    angle = rng.choice([0.0, np.pi / 2, np.pi / 3, *rng.uniform(0, 2 * np.pi, 3)])
    turn = np.array([[np.cos(angle), np.sin(angle), 0], [np.sin(angle), -np.cos(angle), 0], [0, 0, -1.0]])
    rotation = below.axes @ turn @ above.axes.T
    shift = rng.choice([0.0, 0.25]) * size * rng.uniform(-1, 1, 2)
    depth = size * 10.0 ** rng.uniform(-5, -1.5)
    place = below.centre + below.axes @ np.array([*shift, -depth]) - rotation @ above.centre
    return place, rotation, below.axes


def stacked(model: Any, count: int, seed: int) -> Iterator[Array]:
    """Values of joints that guide the second body onto the first: moved and turned in the plane between them."""
    rng = np.random.default_rng(seed)
    size = float(np.abs(model.mesh_vert).max())
    heights = [_height(model, geom) for geom in range(2)]
    for _ in range(count):
        shift = rng.choice([0.0, 0.3, 0.8]) * size * rng.uniform(-1, 1, 2)
        depth = size * 10.0 ** rng.uniform(-5, -1.5)
        angle = rng.choice([0.0, np.pi / 2, np.pi / 3, *rng.uniform(-np.pi, np.pi, 3)])
        yield np.array([*shift, heights[0][1] - heights[1][0] - depth, angle])


def _height(model: Any, geom: int) -> tuple[float, float]:
    """How low and how high a geom reaches in its body's frame."""
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
        return 0.0, 0.0
    z = (model.mesh_vert @ _matrix(model.geom_quat[geom]).T)[:, 2] + model.geom_pos[geom, 2]
    return float(z.min()), float(z.max())


def loose(model: Any, count: int, seed: int) -> Iterator[Array]:
    """qpos of two free bodies that lie on each other; every other time both are turned at random."""
    rng = np.random.default_rng(seed)
    all_sides, size = sides(model), float(np.abs(model.mesh_vert).max())
    for number in range(count):
        place, rotation, axes = laid(rng, all_sides, size)
        frame = np.linalg.qr(rng.normal(size=(3, 3)))[0] if number % 2 else axes.T
        frame = frame * np.sign(np.linalg.det(frame))
        origin = rng.uniform(-1, 1, 3) * (number % 2)
        yield np.concatenate(
            [_qpos(model, origin, frame), _qpos(model, origin + frame @ place, frame @ rotation)]
        )


def _qpos(model: Any, place: Array, rotation: Array) -> Array:
    """The body's pose that puts its geom there."""
    body = rotation @ _matrix(model.geom_quat[0]).T
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, body.ravel())
    return np.concatenate([place - body @ model.geom_pos[0], quat])


# ---- comparison ---------------------------------------------------------------------------------------------


class Counts(NamedTuple):
    """Poses that touch in MuJoCo, those of them where it is stable under nudges, and where we agree."""

    touching: int
    stable: int
    equal: int
    """Of the stable ones."""
    all_equal: int
    """Of all that touch."""

    @property
    def share(self) -> float:
        return self.equal / max(self.stable, 1)


def apart(ours: Array, theirs: Array) -> float:
    """The largest difference of contacts (n, 13); infinite if there are more or fewer."""
    if ours.shape != theirs.shape:
        return float("inf")
    return float(np.abs(ours - theirs).max(initial=0.0))


def contacts(data: Any) -> Array:
    """Distance, position and frame of all contacts."""
    contact, count = data.contact, int(data.ncon)
    rows = [
        np.asarray(contact.dist)[:count, None],
        contact.pos[:count],
        contact.frame[:count].reshape(count, 9),
    ]
    return np.concatenate(rows, axis=1)


class Theirs:
    """A scene in MuJoCo."""

    def __init__(self, xml: str) -> None:
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.model)

    def at(self, qpos: Array) -> Array:
        self.data.qpos[:] = qpos
        mujoco.mj_forward(self.model, self.data)
        return contacts(self.data)

    def is_stable(self, qpos: Array, rng: np.random.Generator) -> bool:
        """Whether nudges do not move its contacts."""
        base = self.at(qpos)
        nudged = (self.at(qpos + NUDGE * rng.uniform(-1, 1, len(qpos))) for _ in range(NUDGES))
        return all(apart(base, moved) < TOLERANCE for moved in nudged)


class Ours:
    """The same scene here."""

    def __init__(self, xml: str) -> None:
        self.model = dovetail.loads(xml)
        self.simulation = dovetail.Simulation(self.model)

    def at(self, qpos: Array) -> Array:
        self.simulation.data.qpos[:] = qpos
        self.simulation.forward()
        return contacts(self.simulation.data)


def arrangements(points: Array) -> Iterator[tuple[str, Poses]]:
    """Scenes of a mesh on itself: guided with three sides down, tilted in its file, and free."""
    for quat in (UPRIGHT, UPSIDE_DOWN, side_down(points)):
        yield scene(points, ("", GUIDED), UPRIGHT, quat), stacked
    yield scene(tilted(points), ("", GUIDED), TILTED, TILTED), stacked
    yield scene(tilted(points), (FREE, FREE), UPRIGHT, UPRIGHT), loose


def on_a_plane(points: Array) -> Iterator[tuple[str, Poses]]:
    """Scenes of a mesh on a plane, upright and tilted in its file."""
    for vertices, quat in ((points, UPRIGHT), (tilted(points), TILTED)):
        xml = scene(vertices, ("", GUIDED), quat, quat)
        yield re.sub("<body><geom.*?</body>", '<geom type="plane" size="1 1 1"/>', xml, count=1), stacked


def compare(
    points: Array, count: int, ours: Callable[[str], Any] = Ours, arranged: Any = arrangements
) -> Counts:
    """How often contacts of a mesh equal MuJoCo's, in so many poses."""
    scenes, seed = list(arranged(points)), 1
    found = [_compare(xml, way, count // len(scenes), ours, seed) for xml, way in scenes]
    return Counts(*np.sum(found, axis=0).tolist())


def _compare(xml: str, way: Poses, count: int, ours: Callable[[str], Any], seed: int) -> Counts:
    theirs, mine = Theirs(xml), ours(xml)
    rng = np.random.default_rng(seed)
    counts = np.zeros(4, int)
    for qpos in way(theirs.model, count, seed):
        expected = theirs.at(qpos)
        if len(expected):
            stable, equal = theirs.is_stable(qpos, rng), apart(mine.at(qpos), expected) < TOLERANCE
            counts += [1, stable, stable and equal, equal]
    return Counts(*counts.tolist())


class Farthest(support_numpy.HullClimb):
    """The farthest vertex wherever there is one, instead of the end of the ascent."""

    __slots__ = ()

    def __call__(self, dx: float, dy: float, dz: float) -> tuple[tuple[float, float, float], int]:
        points = self.hull._vertices[self.hull.ids].astype(float)
        reach = points[:, 0] * dx + points[:, 1] * dy + points[:, 2] * dz
        best = int(reach.argmax())
        if np.count_nonzero(reach > reach[best] - 1e-9 * np.abs(points).max()) > 1:
            return super().__call__(dx, dy, dz)
        self.last = best
        x, y, z = points[best].tolist()
        return (x, y, z), int(self.hull.ids[best])


class OursWithout(Ours):
    """The scene with some of MuJoCo's habits left out."""

    def __init__(self, xml: str, ascent: bool = True, axes: bool = True) -> None:
        self.climb = support_numpy.HullClimb if ascent else Farthest
        quarter = principal_axes_numpy.QUARTER if axes else np.sqrt(0.5)
        unread = mock.patch.object(hull, "read_lists", side_effect=UnknownListsError("not looked for"))
        with unread, mock.patch.object(principal_axes_numpy, "QUARTER", quarter), warnings.catch_warnings():
            warnings.simplefilter("ignore", hull.HullOrderWarning)
            super().__init__(xml)

    def at(self, qpos: Array) -> Array:
        with mock.patch.object(support_numpy, "HullClimb", self.climb):
            return super().at(qpos)


VARIANTS: dict[str, Callable[[str], Any]] = {
    "before": lambda xml: OursWithout(xml, ascent=False, axes=False),
    "ascent": lambda xml: OursWithout(xml, axes=False),
    "and axes": OursWithout,
    "and order": Ours,
}
"""What of MuJoCo is followed: the end of the ascent, its fifteen digits of quarter turns, Qhull's lists."""


def table(count: int, arranged: Any) -> Iterator[str]:
    """Shares of equal poses by mesh and by what is followed; in the last column of all that touch."""
    heads = ["mesh", "vertices", "touch", "stable in MuJoCo", *VARIANTS, "of all"]
    yield _row(heads)
    yield _row(["---"] * len(heads))
    for name, points in MESHES.items():
        found = [compare(points, count, variant, arranged) for variant in VARIANTS.values()]
        shares = [*[counts.share for counts in found], found[-1].all_equal / max(found[-1].touching, 1)]
        yield _row([name, len(points), *found[0][:2], *[f"{100 * share:.1f} %" for share in shares]])


def _row(cells: list[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    for arranged in (arrangements, on_a_plane):
        for line in table(int(sys.argv[1]) if len(sys.argv) > 1 else 200, arranged):
            print(line, flush=True)

"""Rangefinders around height fields and a mesh: rays of every kind, and what each backend and MuJoCo read on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import dovetail

Array = NDArray[Any]
Rays = tuple[Array, Array]
"""Points (n, 3) and unit vectors (n, 3)."""

WORLDS, EYES = 11, 12
"""Worlds are no multiple of the lanes, so that a tile is only partly full."""
GRID = (13, 17)
"""Rows and columns of the first height field."""
HALF = np.array([1.6, 1.2])
TOP, BASE = 0.5, 0.2
OTHER = np.array([0.5, 4.0, 0.3])
"""Where the second height field is, turned."""
TORUS, WEDGE = np.array([4.0, 0.2, 0.1]), np.array([0.0, -4.0, 0.5])
"""Where the meshes are, both turned."""


def heights(rows: int, columns: int) -> Array:
    return np.random.default_rng(rows * columns).random((rows, columns))


def numbers(array: Array) -> str:
    return " ".join(f"{x:.4f}" for x in np.ravel(array))


def torus(around: int = 10, across: int = 6) -> str:
    """A mesh that is not convex."""
    a, b = (axis.ravel() for axis in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    turn, tilt = 2 * np.pi * a / around, 2 * np.pi * b / across
    reach = 0.5 + 0.2 * np.cos(tilt)
    vertices = np.column_stack([reach * np.cos(turn), reach * np.sin(turn), 0.2 * np.sin(tilt)])
    nexts = (a + 1) % around * across, a * across, (b + 1) % across
    first = np.column_stack([nexts[1] + b, nexts[0] + b, nexts[0] + nexts[2]])
    second = np.column_stack([nexts[1] + b, nexts[0] + nexts[2], nexts[1] + nexts[2]])
    faces = " ".join(map(str, np.vstack([first, second]).ravel()))
    return f'<mesh name="torus" vertex="{numbers(vertices)}" face="{faces}"/>'


def scene() -> str:
    """Eyes that look along the z axes of mocap bodies."""
    eyes = [f'<body mocap="true"><site name="eye{n}"/></body>' for n in range(EYES)]
    sensors = [f'<rangefinder site="eye{n}"/>' for n in range(EYES)]
    return f"""<mujoco>
      <asset>
        {torus()}
        <mesh name="wedge" vertex="0 0 0 .6 0 0 0 .5 0 0 0 .7 .4 .4 .4"/>
        <hfield name="hills" nrow="{GRID[0]}" ncol="{GRID[1]}" size="{HALF[0]} {HALF[1]} {TOP} {BASE}"
            elevation="{numbers(heights(*GRID))}"/>
        <hfield name="slope" nrow="2" ncol="3" size=".8 .5 .6 .1" elevation="{numbers(heights(2, 3))}"/>
      </asset>
      <worldbody>
        <geom type="hfield" hfield="hills"/>
        <body pos="{numbers(OTHER)}" euler="20 30 40"><geom type="hfield" hfield="slope"/></body>
        <body pos="{numbers(TORUS)}" euler="0 70 10"><geom type="mesh" mesh="torus"/></body>
        <body pos="{numbers(WEDGE)}" euler="10 0 50"><geom type="mesh" mesh="wedge"/></body>
        <body pos="-4 .2 .1" euler="0 70 10"><geom type="box" size=".3 .2 .4"/></body>
        {"".join(eyes)}
      </worldbody>
      <sensor>{"".join(sensors)}</sensor>
    </mujoco>"""


# ---- rays ---------------------------------------------------------------------------------------------------


def over(rng: np.random.Generator, count: int, share: float = 0.95) -> Array:
    """Places (n, 2) over the first height field."""
    return HALF * rng.uniform(-share, share, (count, 2))


def at(places: Array, height: Any) -> Array:
    return np.column_stack([places, np.broadcast_to(height, len(places))])


def towards(points: Array, targets: Array) -> Rays:
    away = targets - points
    return points, away / np.linalg.norm(away, axis=1)[:, None]


def from_above(rng: np.random.Generator, count: int) -> Rays:
    return towards(at(over(rng, count), rng.uniform(0.8, 2.0, count)), at(over(rng, count, 0.9), 0.0))


def straight_down(rng: np.random.Generator, count: int) -> Rays:
    places = over(rng, count)
    places[::2] = np.round(places[::2] / HALF * 8) * HALF / 8  # on grid lines, along edges of triangles
    return at(places, 1.0), np.tile([0.0, 0.0, -1.0], (count, 1))


def from_below(rng: np.random.Generator, count: int) -> Rays:
    return towards(at(over(rng, count), -1.0), at(over(rng, count, 0.9), 0.0))


def from_the_sides(rng: np.random.Generator, count: int) -> Rays:
    """Just over the base, into walls, and higher, where a wall may be too low."""
    side, way = np.arange(count) % 2, rng.choice([-1.0, 1.0], count)
    places = over(rng, count)
    places[np.arange(count), side] = way * (HALF[side] + 0.5)
    height = np.where(np.arange(count) % 3 == 0, -0.1, rng.uniform(0.02, TOP, count))
    inwards = np.zeros((count, 2))
    inwards[np.arange(count), side] = -way
    points = at(places, height)
    return towards(points, points + at(inwards, 0.0) + rng.normal(size=(count, 3)) * 0.05)


def from_inside(rng: np.random.Generator, count: int) -> Rays:
    """From the solid under the surface, and from the base."""
    points = at(over(rng, count, 0.9), np.where(np.arange(count) % 2, -0.1, 0.001))
    return towards(points, points + rng.normal(size=(count, 3)))


def across(rng: np.random.Generator, count: int) -> Rays:
    """Long and low, over many cells, in all directions."""
    places, angle = over(rng, count), rng.uniform(0, 2 * np.pi, count)
    ahead = np.column_stack([np.cos(angle), np.sin(angle)])
    points = at(places - 1.5 * ahead, TOP * rng.uniform(0.9, 1.4, count))
    return towards(points, points + at(ahead, rng.uniform(-0.3, 0.0, count)))


def level(rng: np.random.Generator, count: int) -> Rays:
    """Parallel to the ground, along an axis or the diagonal of cells, also on grid lines."""
    ways = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], *(HALF / np.array(GRID[::-1]))[None]])
    ahead = ways[np.arange(count) % len(ways)]
    places = over(rng, count)
    places[::3] = np.round(places[::3] / HALF * 6) * HALF / 6
    points = at(places, TOP * rng.uniform(0.0, 1.05, count))
    return towards(points, points + at(ahead, 0.0))


def misses(rng: np.random.Generator, count: int) -> Rays:
    """Upwards, away, and past the side."""
    points = at(over(rng, count), 1.0)
    return towards(points, points + at(rng.normal(size=(count, 2)) * 0.1, rng.uniform(0.1, 1.0, count)))


def at_the_other(rng: np.random.Generator, count: int) -> Rays:
    points = OTHER + rng.normal(size=(count, 3)) * 1.2
    return towards(points, OTHER + rng.normal(size=(count, 3)) * 0.2)


def at_the_mesh(rng: np.random.Generator, count: int) -> Rays:
    points = TORUS + rng.normal(size=(count, 3)) * rng.choice([0.3, 1.5], (count, 1))
    return towards(points, TORUS + rng.normal(size=(count, 3)) * 0.3)


def at_the_other_mesh(rng: np.random.Generator, count: int) -> Rays:
    points = WEDGE + rng.normal(size=(count, 3)) * rng.choice([0.05, 1.5], (count, 1))
    return towards(points, WEDGE + rng.normal(size=(count, 3)) * 0.1)


def anywhere(rng: np.random.Generator, count: int) -> Rays:
    points = rng.normal(size=(count, 3)) * [4.0, 3.0, 1.0]
    return towards(points, rng.normal(size=(count, 3)) * [2.0, 2.0, 0.3])


KINDS: dict[str, Callable[[np.random.Generator, int], Rays]] = {
    function.__name__: function
    for function in (
        *(from_above, straight_down, from_below, from_the_sides, from_inside, across, level, misses),
        *(at_the_other, at_the_mesh, at_the_other_mesh, anywhere),
    )
}


@cache
def eyes(kind: str) -> tuple[Array, Array]:
    """Poses of the eyes, (world, eye, 3) and (world, eye, 4), for rays of a kind."""
    points, vectors = KINDS[kind](np.random.default_rng(sorted(KINDS).index(kind)), WORLDS * EYES)
    quats = np.zeros((WORLDS * EYES, 4))
    for quat, vector in zip(quats, vectors, strict=True):
        mujoco.mju_quatZ2Vec(quat, vector)
    return points.reshape(WORLDS, EYES, 3), quats.reshape(WORLDS, EYES, 4)


# ---- readings -----------------------------------------------------------------------------------------------


@cache
def mujocos(kind: str) -> Array:
    """What MuJoCo reads, (world, eye)."""
    model = mujoco.MjModel.from_xml_string(scene())
    data, found = mujoco.MjData(model), []
    for data.mocap_pos[:], data.mocap_quat[:] in zip(*eyes(kind), strict=True):
        mujoco.mj_forward(model, data)
        found.append(data.sensordata.copy())
    return np.array(found)


@cache
def simulation(**options: Any) -> dovetail.Simulation:
    return dovetail.Simulation(dovetail.loads(scene()), nworld=WORLDS, keep="sensordata", **options)


@cache
def readings(kind: str, **options: Any) -> Array:
    """What a backend reads."""
    sim = simulation(**options)
    sim.reset()
    sim.data.mocap_pos[...], sim.data.mocap_quat[...] = eyes(kind)
    sim.forward()
    return np.array(sim.data.sensordata, dtype=float)

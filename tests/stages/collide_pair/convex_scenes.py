"""Pairs of convex geoms in poses of every kind, for comparing lane kernels with the reference."""

from __future__ import annotations

from functools import cache

import numpy as np
from collisions import Found, contacts
from poses import quarter_turn, rotation

import dovetail

GEOMS = {
    "plane": 'type="plane" size="1 1 1"',
    "hfield": 'type="hfield" hfield="hills"',
    "sphere": 'type="sphere" size="0.2"',
    "capsule": 'type="capsule" size="0.1 0.25"',
    "ellipsoid": 'type="ellipsoid" size="0.1 0.2 0.3"',
    "cylinder": 'type="cylinder" size="0.15 0.2"',
    "box": 'type="box" size="0.25 0.15 0.2"',
    "mesh": 'type="mesh" mesh="many"',
    "sdf": 'type="sdf" mesh="many"',
}
OTHERS = GEOMS | {
    "ellipsoid": 'type="ellipsoid" size="0.25 0.15 0.2"',
    "cylinder": 'type="cylinder" size="0.1 0.3"',
    "mesh": 'type="mesh" mesh="few"',
}
KINDS = ("general", "aligned", "inside")
REACH = {"general": 0.4, "aligned": 0.4, "inside": 0.1}


def cloud(rng: np.random.Generator, count: int, radius: float) -> str:
    """Vertices on a sphere, all on their hull."""
    points = rng.normal(size=(count, 3))
    points *= radius / np.linalg.norm(points, axis=1)[:, None]
    return " ".join(f"{x:.6g}" for x in points.ravel())


def assets() -> str:
    """A mesh whose hull is climbed, one whose vertices are all looked at, and a height field."""
    rng = np.random.default_rng(3)
    heights = " ".join(f"{x:.4f}" for x in rng.random(7 * 9))
    return f"""<asset>
      <mesh name="many" vertex="{cloud(rng, 40, 0.25)}"/>
      <mesh name="few" vertex="{cloud(rng, 8, 0.3)}"/>
      <hfield name="hills" nrow="7" ncol="9" size="0.8 0.6 0.3 0.1" elevation="{heights}"/>
    </asset>"""


@cache
def model(keys: tuple[str, ...]) -> dovetail.Model:
    """A pair of geoms for every key, which touch only each other; every second pair has a margin."""
    bodies = []
    for n, key in enumerate(keys):
        first, second = key.split("-")
        mask = f'contype="{1 << n}" conaffinity="{1 << n}" margin="{0.03 * (n % 2)}"'
        free = "" if first in ("plane", "hfield") else "<freejoint/>"
        bodies.append(
            f"<body>{free}<geom {GEOMS[first]} {mask}/></body>"
            f"<body><freejoint/><geom {OTHERS[second]} {mask}/></body>"
        )
    return dovetail.loads(f"<mujoco>{assets()}<worldbody>{''.join(bodies)}</worldbody></mujoco>")


def poses(keys: tuple[str, ...], kind: str, worlds: int, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Geom poses: `general`, `aligned` (axes parallel, offsets on a grid), `inside` (deep)."""
    rng = np.random.default_rng(seed)
    ngeom = 2 * len(keys)
    xpos, xmat = np.zeros((worlds, ngeom, 3)), np.zeros((worlds, ngeom, 3, 3))
    for world in range(worlds):
        for n, key in enumerate(keys):
            base = rotation(rng) if kind != "aligned" or rng.random() < 0.5 else np.eye(3)
            offset = rng.uniform(-REACH[kind], REACH[kind], 3)
            if kind == "aligned":
                offset = np.round(offset / 0.05) * 0.05
            if key.startswith("hfield"):
                offset = offset * [1.5, 1.5, 1.0] + [0.0, 0.0, 0.2]
            xmat[world, 2 * n] = base
            xmat[world, 2 * n + 1] = base @ quarter_turn(rng) if kind == "aligned" else rotation(rng)
            xpos[world, 2 * n] = rng.normal(size=3)
            xpos[world, 2 * n + 1] = xpos[world, 2 * n] + base @ offset
    return xpos, xmat.reshape(worlds, ngeom, 9)


@cache
def both(
    keys: tuple[str, ...], kind: str, worlds: int, precision: str = "f64", seed: int = 5
) -> tuple[list[Found], list[Found]]:
    """Contacts in lanes and of the reference, world by world; the same poses, rounded alike."""
    xpos, xmat = poses(keys, kind, worlds, seed)
    if precision == "f32":
        xpos, xmat = xpos.astype(np.float32).astype(float), xmat.astype(np.float32).astype(float)
    found = contacts(model(keys), xpos, xmat, precision=precision)
    return found, contacts(model(keys), xpos, xmat, "numpy")


def of_pair(found: Found, keys: tuple[str, ...], key: str) -> Found:
    """The contacts of one pair."""
    here = found.geoms[:, 0] == 2 * keys.index(key)
    return Found(found.geoms[here], {name: value[here] for name, value in found.fields.items()})

"""Robots like those that are published: a tree of links, each with several visual meshes and one that collides.

The links' surfaces are rounded boxes and tubes with grooves, of 500 to 5000 vertices, in OBJ with normals and texture
coordinates, or in binary STL. The same arguments give the same files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

COLLIDING = 4
"""One mesh of so many collides."""
_DECLARED = '<mesh name="m{0}" file="m{0}.{1}"/>'


def write_robot(folder: Path, count: int, suffix: str) -> Path:
    """Write a robot of `count` meshes, and return its main file."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(count)
    for number in range(count):
        corners, faces = link_surface(random, int(random.uniform(500, 5000)))
        write = write_obj if suffix == "obj" else write_stl
        write(folder / f"m{number}.{suffix}", corners, faces)
    path = folder / "robot.xml"
    path.write_text(robot(count, suffix))
    return path


def robot(count: int, suffix: str) -> str:
    """The model: links hang from one another, four branches after the third."""
    links = -(-count // COLLIDING)
    children: dict[int, list[int]] = {}
    for link in range(1, links):
        children.setdefault(link - 1 if link < 4 else link - 4, []).append(link)
    assets = "".join(_DECLARED.format(number, suffix) for number in range(count))
    actuators = "".join(f'<position joint="j{link}" kp="9"/>' for link in range(links))
    return (
        f'<mujoco model="robot"><compiler angle="radian" autolimits="true"/><asset>{assets}</asset>'
        '<default><default class="visual"><geom type="mesh" contype="0" conaffinity="0" group="2" mass="0"/>'
        '</default><default class="collision"><geom type="mesh" group="3" friction="1 .01 .001"/></default>'
        '<joint damping="1" armature=".1" range="-2 2"/></default>'
        f"<worldbody>{_link(0, count, children)}</worldbody>"
        f"<actuator>{actuators}</actuator></mujoco>"
    )


def _link(link: int, count: int, children: dict[int, list[int]]) -> str:
    axis = ("0 0 1", "0 1 0", "1 0 0")[link % 3]
    first = COLLIDING * link
    kinds = ["collision"] + ["visual"] * (COLLIDING - 1)
    geoms = "".join(
        f'<geom class="{kind}" mesh="m{first + k}" pos="0 {0.02 * k} 0"/>'
        for k, kind in enumerate(kinds[: count - first])
    )
    below = "".join(_link(child, count, children) for child in children.get(link, ()))
    return (
        f'<body name="b{link}" pos="{0.1 * (link % 4)} {0.05 * (link % 3)} .3"><joint name="j{link}" axis="{axis}"/>'
        f"{geoms}{below}</body>"
    )


def link_surface(random: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a closed surface with about `size` vertices: a rounded box or a grooved tube."""
    around = max(8, int(np.sqrt(size)))
    along = max(4, size // around)
    polar, turn = np.meshgrid(
        np.linspace(0, np.pi, along + 2)[1:-1],
        np.linspace(0, 2 * np.pi, around, endpoint=False),
        indexing="ij",
    )
    power = random.uniform(0.2, 1.0)
    half = random.uniform(0.03, 0.15, 3)
    groove = 1 + random.uniform(0, 0.1) * np.cos(random.integers(2, 12) * turn) * np.sin(
        random.integers(1, 9) * polar
    )
    grid = np.stack(
        [
            _power(np.sin(polar), power) * _power(np.cos(turn), power) * groove,
            _power(np.sin(polar), power) * _power(np.sin(turn), power) * groove,
            _power(np.cos(polar), power) * np.ones_like(turn),
        ],
        axis=-1,
    )
    vertices = np.concatenate([grid.reshape(-1, 3), [[0, 0, 1.0], [0, 0, -1.0]]]) * half
    return vertices, _closed_grid(along, around)


def _power(value: np.ndarray, power: float) -> np.ndarray:
    return np.sign(value) * np.abs(value) ** power


def _closed_grid(along: int, around: int) -> np.ndarray:
    """Triangles of rings of vertices, closed by two poles that come last."""
    row, column = np.meshgrid(np.arange(along - 1), np.arange(around), indexing="ij")
    beside = (column + 1) % around
    a, b = row * around + column, row * around + beside
    c, d = a + around, b + around
    rings = np.concatenate([np.stack([a, c, b], -1).reshape(-1, 3), np.stack([b, c, d], -1).reshape(-1, 3)])
    ring = np.arange(around)
    north = np.stack([np.full(around, along * around), ring, (ring + 1) % around], -1)
    last = (along - 1) * around
    south = np.stack([np.full(around, along * around + 1), last + (ring + 1) % around, last + ring], -1)
    return np.concatenate([north, rings, south])


def write_obj(path: Path, vertices: np.ndarray, faces: np.ndarray) -> None:
    """An OBJ file as modelling programs write it, with a normal and a texture coordinate per vertex."""
    normals = vertices / np.linalg.norm(vertices, axis=1, keepdims=True)
    lines = ["# exported", "mtllib link.mtl", "o link"]
    lines += [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in vertices]
    lines += [f"vn {x:.4f} {y:.4f} {z:.4f}" for x, y, z in normals]
    lines += [f"vt {x:.6f} {y:.6f}" for x, y in (normals[:, :2] + 1) / 2]
    lines += ["usemtl metal", "s off"]
    lines += ["f " + " ".join(f"{i}/{i}/{i}" for i in face) for face in faces + 1]
    path.write_text("\n".join(lines) + "\n")


def write_stl(path: Path, vertices: np.ndarray, faces: np.ndarray) -> None:
    """A binary STL file."""
    kind = [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")]
    records = np.zeros(len(faces), dtype=kind)
    records["corners"] = vertices[faces]
    path.write_bytes(bytes(80) + np.uint32(len(faces)).tobytes() + records.tobytes())

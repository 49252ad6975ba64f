"""Flex models for conformance: ways to make a flex, shapes it may meet, settings that change its numbers.

`CATALOGUE` has them by name. Each is small and stands 200 of MuJoCo's steps without a warning. A model that is about
contacts says which kinds it must have (`touches`), so that nothing is compared in vain: `geom`, `vertex` (planes),
`other` (two flexes), `self`, `internal` and `passive`. Files that flexcomps read are written into a folder of the
process, since MuJoCo reads them from the disk only.

`ours(name)` is dovetail's Model and `theirs(name)` MuJoCo's; both are compiled once, so treat them as read-only.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import dovetail
from dovetail.contracts.types import Model

FOLDER = "FOLDER"
"""Stands in the text of a model for the folder with its files."""

KINDS = ("geom", "vertex", "other", "self", "internal", "passive")


@attrs.frozen(kw_only=True)
class FlexModel:
    """A model and what its trajectory must show."""

    xml: str
    touches: tuple[str, ...] = ()
    """Kinds of contacts that must occur."""
    instead: str = ""
    """Options under which MuJoCo is right where under the model's own it is not (`EXCEPTIONS` says why)."""
    unlike: tuple[str, ...] = ()
    """Fields in which MuJoCo is not followed (`EXCEPTIONS` says why)."""


# ---- pieces of MJCF


def scene(*bodies: str, option: str = "", flags: str = "", before: str = "", after: str = "") -> str:
    """A model with energy on; `option` replaces attributes of it."""
    settings = {"timestep": ".002", "tolerance": "1e-14", "iterations": "500"}
    for part in option.split():
        name, _, value = part.partition("=")
        settings[name] = value
    attributes = " ".join(f'{name}="{value}"' for name, value in settings.items())
    return (
        f'<mujoco model="flex"><option {attributes}><flag energy="enable" {flags}/></option>{before}'
        f"<worldbody>{''.join(bodies)}</worldbody>{after}</mujoco>"
    )


def comp(attributes: str, *content: str, name: str = "f") -> str:
    return f'<flexcomp name="{name}" {attributes}>{"".join(content)}</flexcomp>'


def contact(**settings: object) -> str:
    return f"<contact {_attributes(settings)}/>"


def edge(**settings: object) -> str:
    return f"<edge {_attributes(settings)}/>"


def pin(ids: str) -> str:
    return f'<pin id="{ids}"/>'


def _attributes(settings: dict[str, object]) -> str:
    return " ".join(f'{name}="{value}"' for name, value in settings.items())


NO_SELF = contact(selfcollide="none")
SPRINGS = edge(stiffness=40, damping=".05")
HELD = edge(equality="true", damping=".01")
SOLID = '<elasticity young="3e3" poisson=".2" damping=".002"/>'
SOFT = '<elasticity young="200" poisson=".1" damping=".001"/>'
STIFF = '<elasticity young="2e4" poisson=".1" damping=".002"/>'


def sheet_of(kind: str, damping: str = ".002") -> str:
    return f'<elasticity young="2e3" poisson=".2" thickness=".01" elastic2d="{kind}" damping="{damping}"/>'


SHEET = sheet_of("both")
GRID = 'radius=".01" spacing=".05 .05 .05"'


def rope(*content: str, count: int = 6, name: str = "f", more: str = "") -> str:
    return comp(f'type="grid" dim="1" count="{count} 1 1" mass=".2" {GRID} {more}', *content, name=name)


def sheet(*content: str, count: str = "4 3 1", name: str = "f", more: str = "") -> str:
    return comp(f'type="grid" dim="2" count="{count}" mass=".3" {GRID} {more}', *content, name=name)


def block(*content: str, count: str = "3 3 2", name: str = "f", more: str = "") -> str:
    return comp(f'type="grid" dim="3" count="{count}" mass=".4" {GRID} {more}', *content, name=name)


def made(kind: str, dim: int, count: str, *content: str, more: str = "") -> str:
    return comp(f'type="{kind}" dim="{dim}" count="{count}" mass=".4" {GRID} {more}', *content)


def direct(dim: int, points: Any, elements: Any, *content: str, more: str = "", name: str = "f") -> str:
    return comp(
        f'type="direct" dim="{dim}" mass=".3" radius=".01" point="{_numbers(points)}" '
        f'element="{_numbers(elements)}" {more}',
        *content,
        name=name,
    )


def _numbers(values: Any) -> str:
    return " ".join(f"{value:.9g}" for value in np.asarray(values).reshape(-1).tolist())


FLOOR = '<geom type="plane" size="2 2 .1" euler="3 2 0"/>'
"""Not quite level, so that nothing is decided by ties."""

FLEX = {1: (rope, SPRINGS), 2: (sheet, SHEET), 3: (block, SOLID)}
"""By dimension: a flex that moves by itself, and what holds it together."""


def flex(dim: int, *content: str, name: str = "f", **more: Any) -> str:
    make, elasticity = FLEX[dim]
    return make(elasticity, *content, name=name, **more)


# ---- geoms that flexes meet

GEOMS = {
    "plane": '<geom type="plane" size="1 1 .1" euler="3 2 0"/>',
    "hfield": '<geom type="hfield" hfield="h"/>',
    "sphere": '<geom type="sphere" size=".1" pos=".013 .007 -.1"/>',
    "capsule": '<geom type="capsule" size=".05 .15" euler="3 88 11" pos="0 .013 -.05"/>',
    "ellipsoid": '<geom type="ellipsoid" size=".15 .12 .06" euler="4 7 2" pos=".01 .02 -.06"/>',
    "cylinder": '<geom type="cylinder" size=".12 .04" euler="5 3 0" pos=".01 0 -.05"/>',
    "box": '<geom type="box" size=".09 .07 .05" euler="4 3 21" pos=".01 .013 -.055"/>',
    "mesh": '<geom type="mesh" mesh="rock" euler="5 4 3" pos=".01 .01 -.07"/>',
    "sdf": '<geom type="sdf" mesh="rock" euler="5 4 3" pos=".01 .01 -.07"/>',
}
_HEIGHTS = " ".join(f"{(3 * i * i + 5 * j + i * j) % 7 / 7:.3f}" for i, j in product(range(6), repeat=2))
_ROCK = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * [0.11, 0.09, 0.06]
_ROCK_POINTS = _numbers(np.vstack([_ROCK, [[0, 0, 0.075], [0.14, 0.01, 0.0]]]))
SHAPES = (
    f'<asset><hfield name="h" nrow="6" ncol="6" size=".3 .3 .04 .05" elevation="{_HEIGHTS}"/>'
    f'<mesh name="rock" vertex="{_ROCK_POINTS}"/></asset>'
)


def dropped(dim: int, geom: str, height: float = 0.025, content: str = "", **settings: str) -> str:
    """A flex of a dimension just above a geom."""
    lifted = {"hfield": 0.05, "mesh": 0.02, "sdf": 0.02}.get(geom, 0.0) + {1: 0.0, 2: 0.0, 3: 0.025}[dim]
    more = f'pos="0 0 {height + lifted:.4g}" euler="2 3 5"'
    return scene(GEOMS[geom], flex(dim, content or NO_SELF, more=more), before=SHAPES, **settings)


# ---- flexes that meet themselves


def crossing(dim: int) -> tuple[Any, Any]:
    """Points and elements of two pieces of the same flex, the second just above the first and turned."""
    grid = np.array(list(product(range(3), range(3 if dim > 1 else 1), range(2 if dim > 2 else 1))), float)
    piece = 0.06 * (grid - grid.mean(axis=0))
    angle = 1.1 if dim == 1 else 0.4
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    above = piece @ turn.T + [0.011, 0.007, 0.024 + (0.06 if dim == 3 else 0.0)]
    if dim == 1:
        cells = np.array([[0, 1], [1, 2]])
    elif dim == 2:
        cells = _triangles(2, 2, 3)
    else:
        cells = np.array([t for i in range(2) for j in range(2) for t in _tetrahedra(6 * i + 2 * j)])
    return np.vstack([piece, above]), np.vstack([cells, cells + len(piece)])


def _tetrahedra(first: int) -> list[list[int]]:
    """Six tetrahedra of a cell of a 3 × 3 × 2 grid, around its diagonal."""
    step = (6, 2, 1)
    orders = [(a, b, c) for a in range(3) for b in range(3) for c in range(3) if len({a, b, c}) == 3]
    return [
        [first, first + step[a], first + step[a] + step[b], first + step[a] + step[b] + step[c]]
        for a, b, c in orders
    ]


def folded(dim: int, mode: str, **settings: str) -> str:
    points, elements = crossing(dim)
    held = {1: SPRINGS, 2: SHEET, 3: SOLID}[dim]
    own = contact(selfcollide=mode)
    ends = {1: pin("0 2"), 2: "", 3: pin("0 4 12")}[dim]
    floor = '<geom type="plane" size="2 2 .1" pos="0 0 -.06" euler="3 2 0"/>'
    return scene(floor, direct(dim, points, elements, held, own, ends), **settings)


def crumpled(dim: int, mode: str = "none") -> str:
    """Internal contacts: elements folded or squeezed to less than twice the radius."""
    within = contact(internal="true", selfcollide=mode)
    if dim == 1:
        points = np.array([[0.008 * i, 0.06 * (i % 2), 0.002 * i] for i in range(7)])
        cells = [[i, i + 1] for i in range(6)]
        held = edge(stiffness=20, damping=".1")
    elif dim == 2:
        points = np.array([[0.008 * i, 0.04 * j, 0.06 * (i % 2)] for i in range(4) for j in range(3)])
        cells = _triangles(3, 2, 3)
        held = SHEET
    else:
        points = 0.035 * np.array(list(product(range(3), range(3), range(2))), float) * [1, 1, 0.6]
        cells = [t for i in range(2) for j in range(2) for t in _tetrahedra(6 * i + 2 * j)]
        held = SOLID
    uneven = 0.0015 * np.sin(7.0 * np.arange(points.size)).reshape(points.shape)
    return scene(FLOOR_BELOW, direct(dim, points + uneven, cells, held, within))


def _triangles(rows: int, columns: int, stride: int) -> Any:
    """Two triangles for each cell of a grid of points numbered along columns."""
    first = np.array([stride * i + j for i in range(rows) for j in range(columns)])[:, None]
    return (first + np.array([0, stride, stride + 1, 0, stride + 1, 1])).reshape(-1, 3)


FLOOR_BELOW = '<geom type="plane" size="2 2 .1" pos="0 0 -.02" euler="3 2 0"/>'


# ---- files


def obj(points: Any, faces: Any) -> bytes:
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in points]
    return "\n".join(lines + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]).encode()


def gmsh(points: Any, elements: Any, dim: int) -> bytes:
    """A file of format 4.1, one block of nodes and one of elements."""
    kind = {1: 1, 2: 2, 3: 4}[dim]
    n, m = len(points), len(elements)
    rows = ["$MeshFormat", "4.1 0 8", "$EndMeshFormat", "$Nodes", f"1 {n} 1 {n}", f"{dim} 1 0 {n}"]
    rows += [str(i + 1) for i in range(n)] + [f"{x:.9g} {y:.9g} {z:.9g}" for x, y, z in points]
    rows += ["$EndNodes", "$Elements", f"1 {m} 1 {m}", f"{dim} 1 {kind} {m}"]
    rows += [" ".join(str(n + 1) for n in (i, *element)) for i, element in enumerate(elements)]
    return "\n".join([*rows, "$EndElements", ""]).encode()


_OCTAHEDRON = 0.1 * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 0.8], [0, 0, -0.8]])
_OCTANTS = list(product((0, 1), (2, 3), (4, 5)))


@cache
def files() -> dict[str, bytes]:
    """Content by name."""
    faces = [tuple(face) for face in _outward(_OCTAHEDRON, _OCTANTS)]
    return {
        "stone.obj": obj(_OCTAHEDRON, faces),
        "line.msh": gmsh(
            [[0.04 * i, 0.01 * (i % 3), 0] for i in range(6)], [[i, i + 1] for i in range(5)], 1
        ),
        "surface.msh": gmsh(_OCTAHEDRON, faces, 2),
        "solid.msh": gmsh(np.vstack([_OCTAHEDRON, np.zeros((1, 3))]), [(*face, 6) for face in faces], 3),
    }


def _outward(points: Any, faces: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Triangles around the origin, all seen anticlockwise from outside."""
    return [face if np.linalg.det(points[list(face)]) > 0 else (face[1], face[0], face[2]) for face in faces]


@cache
def folder() -> str:
    """Where this process has the files."""
    place = tempfile.TemporaryDirectory(prefix="flex_models_")
    _KEPT.append(place)
    for name, content in files().items():
        Path(place.name, name).write_bytes(content)
    return place.name


_KEPT: list[Any] = []
"""Folders that live as long as the process."""

FILES = f'<compiler meshdir="{FOLDER}"/>'


def _types() -> dict[str, FlexModel]:
    """Every type of flexcomp, with what may hold it together."""
    up = 'pos="0 0 .06" euler="4 3 2"'
    high = 'pos="0 0 .15" euler="4 3 2"'
    solid_box = made("box", 3, "3 3 3", NO_SELF, SOLID, more=high)
    models = {
        "rope springs pinned": scene(rope(SPRINGS, pin("0"))),
        "rope equality pinned": scene(rope(HELD, pin("0"))),
        "rope without forces": scene(rope()),
        "rope damping only": scene(rope(edge(damping=".3"), pin("0 5"))),
        "circle equality": scene(made("circle", 1, "9 1 1", HELD, more=high), FLOOR),
        "sheet none": scene(sheet(sheet_of("none"), pin("0"))),
        "sheet bend": scene(sheet(sheet_of("bend"))),
        "sheet bend edge damping": scene(sheet(sheet_of("bend", "0"), edge(damping=".05"))),
        "sheet stretch pinned": scene(sheet(sheet_of("stretch"), pin("0 2"))),
        "sheet both": scene(sheet(SHEET, count="5 4 1")),
        "sheet both undamped": scene(sheet(sheet_of("both", "0"))),
        "sheet equality pinned": scene(sheet(HELD, pin("0 9"))),
        "sheet equality bend": scene(sheet(HELD, sheet_of("bend"))),
        "sheet edge damping": scene(sheet(edge(damping=".2"), pin("0 2 9 11"))),
        "sheet pinned everywhere": scene(
            sheet('<pin gridrange="0 0 0 2"/>', '<pin grid="3 1"/>', sheet_of("stretch"), edge(damping=".1"))
        ),
        "block elastic": scene(block(SOLID)),
        "block pinned": scene(block(SOLID, '<pin gridrange="0 0 0 0 2 1"/>', edge(damping=".1"))),
        "block equality": scene(block(HELD, '<pin grid="0 0 0"/>')),
        "box wires": scene(made("box", 1, "2 2 3", SPRINGS, NO_SELF)),
        "gmsh line": scene(
            comp(f'type="gmsh" file="line.msh" dim="1" mass=".2" radius=".005" {up}', SPRINGS),
            FLOOR,
            before=FILES,
        ),
        "direct rope": scene(
            direct(
                1,
                [[0, 0, 0], [0.05, 0, 0.01], [0.05, 0.06, 0], [0.1, 0.06, 0]],
                [[0, 1], [1, 2], [1, 3]],
                SPRINGS,
                pin("0"),
                more='scale="1 1.5 2"',
            )
        ),
        "direct solid": scene(
            direct(
                3,
                [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1], [0.1, 0.1, 0.1]],
                [[0, 1, 2, 3], [1, 2, 3, 4]],
                SOLID,
                pin("0"),
            )
        ),
        "rigid in the world": scene(
            sheet(NO_SELF, more='rigid="true"'),
            '<body pos="0 0 .06"><freejoint/><geom size=".04"/></body>',
        ),
    }
    touching = {
        "circle springs": (scene(made("circle", 1, "9 1 1", SPRINGS, more=up), FLOOR), "vertex"),
        "square both": (scene(made("square", 2, "4 4 1", SHEET, more=up), FLOOR), "vertex"),
        "disc both": (
            scene(made("disc", 2, "5 5 1", SHEET, NO_SELF, more='pos="0 0 .02"'), GEOMS["sphere"]),
            "geom",
        ),
        "box shell": (scene(made("box", 2, "3 3 3", NO_SELF, SHEET, more=high), FLOOR), "vertex"),
        "box solid": (scene(solid_box, FLOOR), "vertex"),
        "cylinder shell": (scene(made("cylinder", 2, "3 3 3", NO_SELF, SHEET, more=high), FLOOR), "vertex"),
        "cylinder solid": (scene(made("cylinder", 3, "3 3 3", NO_SELF, SOLID, more=high), FLOOR), "vertex"),
        "ellipsoid shell": (scene(made("ellipsoid", 2, "3 4 3", NO_SELF, SHEET, more=high), FLOOR), "vertex"),
        "ellipsoid solid": (scene(made("ellipsoid", 3, "3 3 3", NO_SELF, SOLID, more=high), FLOOR), "vertex"),
        "ellipsoid radial": (
            scene(
                '<body name="core" pos="0 0 .12" euler="10 20 30"><freejoint/><geom size=".02" mass=".2"/>'
                + made("ellipsoid", 3, "3 3 3", NO_SELF, SOLID, more='dof="radial"')
                + "</body>",
                FLOOR,
            ),
            "vertex",
        ),
        "box radial": (
            scene(
                '<body name="core" pos="0 0 .12" euler="10 20 30"><freejoint/><geom size=".02" mass=".2"/>'
                + made("box", 3, "3 3 3", NO_SELF, SOLID, more='dof="radial"')
                + "</body>",
                GEOMS["box"],
            ),
            "geom",
        ),
        "mesh shell": (
            scene(
                comp(f'type="mesh" file="stone.obj" dim="2" mass=".3" radius=".005" {high}', SHEET, NO_SELF),
                FLOOR,
                before=FILES,
            ),
            "vertex",
        ),
        "mesh solid": (
            scene(
                comp(
                    f'type="mesh" file="stone.obj" dim="3" origin=".01 .02 0" mass=".3" radius=".005" {high}',
                    SOLID,
                    NO_SELF,
                ),
                FLOOR,
                before=FILES,
            ),
            "vertex",
        ),
        "gmsh surface": (
            scene(
                comp(f'type="gmsh" file="surface.msh" mass=".3" radius=".005" {high}', SHEET, NO_SELF),
                GEOMS["sphere"],
                before=FILES,
            ),
            "geom",
        ),
        "gmsh solid": (
            scene(
                comp(f'type="gmsh" file="solid.msh" mass=".3" radius=".005" {high}', SOLID, NO_SELF),
                GEOMS["box"],
                before=FILES,
            ),
            "geom",
        ),
        "direct sheet with unused points": (
            scene(
                direct(
                    2,
                    [[0, 0, 0], [9, 9, 9], [0.1, 0, 0], [0, 0.1, 0], [0.1, 0.1, 0.02]],
                    [[0, 2, 3], [2, 4, 3]],
                    SHEET,
                    more='pos="0 0 .06"',
                ),
                FLOOR,
            ),
            "vertex",
        ),
        "rigid on a free body": (
            scene(
                '<body name="raft" pos="0 0 .04" euler="5 4 0"><freejoint/><geom size=".01" mass=".2"/>'
                + block(NO_SELF, more='rigid="true"')
                + "</body>",
                FLOOR,
            ),
            "vertex",
        ),
        "all pinned on a free body": (
            scene(
                '<body name="raft" pos="0 0 .03" euler="5 4 0"><freejoint/><geom size=".01" mass=".2"/>'
                + sheet(NO_SELF, '<pin range="0 11"/>', edge(damping="1"))
                + "</body>",
                GEOMS["box"],
            ),
            "geom",
        ),
        "rigid under a ball": (
            scene(
                sheet(more='rigid="true"'),
                '<body pos=".013 .007 .06"><freejoint/><geom size=".04" mass=".1"/></body>',
                option="jacobian=sparse",
            ),
            "geom",
        ),
    }
    return {
        **{name: FlexModel(xml=xml) for name, xml in models.items()},
        **{name: FlexModel(xml=xml, touches=(kind,)) for name, (xml, kind) in touching.items()},
    }


def _interpolated() -> dict[str, FlexModel]:
    """Flexes whose vertices follow nodes."""
    tri = 'dof="trilinear" pos="0 0 .12" euler="5 4 3"'
    quad = 'dof="quadratic" pos="0 0 .16" euler="5 4 3"'
    hinge = (
        '<body name="arm" pos="0 0 .2"><joint axis="1 1 .2" damping=".05"/>'
        '<geom size=".02" mass=".3" pos=".013 .007 .065"/>{}</body>'
    )
    found = {
        "trilinear": (scene(block(NO_SELF, STIFF, count="3 3 4", more=tri), FLOOR), ("vertex",)),
        "trilinear undamped": (
            scene(block(NO_SELF, '<elasticity young="5e3" poisson=".3"/>', count="3 3 3", more=tri)),
            (),
        ),
        "trilinear without elasticity": (scene(block(NO_SELF, count="3 3 3", more=tri), FLOOR), ("vertex",)),
        "trilinear on a box": (
            scene(block(NO_SELF, STIFF, count="3 3 3", more=tri), GEOMS["box"]),
            ("geom",),
        ),
        "trilinear on a sphere, sparse": (
            scene(block(NO_SELF, STIFF, count="3 3 3", more=tri), GEOMS["sphere"], option="jacobian=sparse"),
            ("geom",),
        ),
        "trilinear shell": (
            scene(made("box", 2, "3 3 3", NO_SELF, STIFF, more=tri), GEOMS["sphere"], FLOOR),
            ("geom",),
        ),
        "trilinear pinned": (
            scene(block(NO_SELF, STIFF, pin("0 1"), count="3 3 3", more=tri), GEOMS["box"]),
            (),
        ),
        "trilinear pinned to a hinge": (
            scene(
                hinge.format(block(NO_SELF, STIFF, pin("0 3"), count="3 3 3", more='dof="trilinear"')),
                GEOMS["plane"],
            ),
            ("geom",),
        ),
        "quadratic": (scene(block(NO_SELF, SOFT, count="5 5 5", more=quad), FLOOR), ("vertex",)),
        "quadratic on a sphere": (
            scene(block(NO_SELF, SOFT, count="5 5 5", more=quad), GEOMS["sphere"]),
            ("geom",),
        ),
        "quadratic pinned to a hinge": (
            scene(
                hinge.format(
                    block(
                        NO_SELF,
                        SOFT,
                        '<pin range="0 4"/>',
                        count="5 5 5",
                        more='dof="quadratic" pos="0 0 -.05"',
                    )
                ),
                GEOMS["plane"],
            ),
            ("geom",),
        ),
        "trilinear vertcollide": (
            scene(
                block(contact(selfcollide="none", vertcollide="true"), STIFF, count="3 3 3", more=tri), FLOOR
            ),
            ("geom",),
        ),
    }
    return {name: FlexModel(xml=xml, touches=touches) for name, (xml, touches) in found.items()}


def _geoms() -> dict[str, FlexModel]:
    """Every geom under a flex of every dimension."""
    return {
        f"{geom} under dim {dim}": FlexModel(
            xml=dropped(dim, geom), touches=("vertex" if geom == "plane" else "geom",)
        )
        for geom, dim in product(GEOMS, (1, 2, 3))
    }


def _selves() -> dict[str, FlexModel]:
    """Flexes that meet themselves: every way of searching, and contacts within."""
    found = {
        f"self {mode} dim {dim}": FlexModel(
            xml=folded(dim, mode), touches=("self",) if mode != "none" else ()
        )
        for mode, dim in product(("none", "narrow", "bvh", "sap", "auto"), (1, 2, 3))
    }
    for dim in (1, 2, 3):
        found[f"internal dim {dim}"] = FlexModel(xml=crumpled(dim), touches=("internal",))
        found[f"self without midphase dim {dim}"] = FlexModel(
            xml=folded(dim, "auto", flags='midphase="disable"'), touches=("self",)
        )
        found[f"internal and self dim {dim}"] = FlexModel(
            xml=crumpled(dim, "auto"), touches=("internal", "self")
        )
    return found


def _between() -> dict[str, FlexModel]:
    """Two flexes that meet: every pair of dimensions in both orders, and interpolated ones on either side."""
    found = {}
    for first, second in product((1, 2, 3), repeat=2):
        lift = 0.026 + (0.025 if first == 3 else 0.0) + (0.025 if second == 3 else 0.0)
        low = flex(first, NO_SELF, name="low", more='pos="0 0 .05" euler="0 0 31"')
        top = flex(second, NO_SELF, name="top", more=f'pos=".007 .005 {0.05 + lift:.4g}" euler="3 2 0"')
        found[f"dim {first} under dim {second}"] = FlexModel(
            xml=scene(low, top, FLOOR.replace("<geom", '<geom pos="0 0 -.01"')), touches=("other",)
        )
    node = block(
        NO_SELF, STIFF, count="3 3 3", name="node", more='dof="trilinear" pos="0 0 .1" euler="0 0 31"'
    )
    above = block(NO_SELF, STIFF, count="3 3 3", name="above", more='dof="trilinear" pos=".01 .02 .222"')
    top = sheet(SHEET, NO_SELF, name="top", more='pos=".007 .005 .173" euler="3 2 0"')
    dense = "jacobian=dense"  # in sparse mode 3.4.0 ends with a fatal error on these
    found["interpolated second"] = FlexModel(xml=scene(top, node, FLOOR), touches=("other",))
    for name, pair in (("first", (node, top)), ("both", (node, above))):
        found[f"interpolated {name}"] = FlexModel(
            xml=scene(*pair, FLOOR, option=dense), touches=("other",), unlike=("efc_J", "efc_aref", "qacc")
        )
    return found


def _parents() -> dict[str, FlexModel]:
    """Flexes on bodies that move."""
    free = (
        '<body name="pole" pos="0 0 .2" euler="10 20 30"><freejoint/><geom type="capsule" size=".01 .05"/>{}'
        "</body>"
    )
    hinge = (
        '<body name="arm" pos="0 0 .2"><joint axis="1 2 .3" damping=".01"/><geom size=".02" pos="0 0 .05"/>{}'
        '<body name="hand" pos="0 .2 0"><joint type="ball"/><geom size=".02" pos=".05 0 0"/></body></body>'
    )
    held = edge(damping=".05", equality="true")
    corners = "".join(
        f'<body name="c{i}" pos="{0.2 * (i % 2)} {0.2 * (i // 2)} .1" euler="{20 * i} 10 0">{joint}'
        f'<geom size=".02" mass=".2"/></body>'
        for i, joint in enumerate(
            ("<freejoint/>", '<joint axis="1 2 3"/>', '<joint type="ball"/>', "<freejoint/>")
        )
    )
    shared = (
        '<deformable><flex name="f" dim="2" radius=".01" body="c0 c0 c1 c1 c2 c3" '
        'vertex="0 0 .03 .05 0 .03 0 0 .03 .04 0 0 0 0 .03 0 .02 .03" element="0 1 2 1 3 2 0 2 4 2 3 5 4 2 5">'
        '<elasticity young="1e3" poisson=".2" thickness=".01" elastic2d="stretch" damping=".002"/>'
        '<edge damping=".1"/><contact selfcollide="none"/></flex></deformable>'
    )
    chain = (
        '<deformable><flex name="f" dim="1" radius=".01" body="c0 c1 c2 c3" element="0 1 1 2 2 3">'
        '<edge stiffness="30" damping=".1"/></flex></deformable>'
        '<equality><flex flex="f" solref=".05 1"/></equality>'
    )
    tetra = (
        '<deformable><flex name="f" dim="3" radius=".01" body="c0 c1 c2 c3" '
        'vertex="0 0 .03 0 0 .03 0 0 .03 0 0 .08" element="0 1 2 3"><contact selfcollide="none"/>'
        '<elasticity young="50" poisson=".2" damping=".01"/></flex></deformable>'
    )
    mocap = '<body name="hand" mocap="true" pos="0 0 .2" euler="0 10 0">{}</body>'
    bodies = {
        "sheet on a free body": (
            scene(free.format(sheet(sheet_of("stretch"), pin("0 1 2"), NO_SELF)), FLOOR),
            (),
        ),
        "sheet equality on a free body": (scene(free.format(sheet(held, pin("0 2"), NO_SELF))), ()),
        "rope on a free body": (
            scene(free.format(rope(SPRINGS, pin("0"), more='pos=".004 .012 .003" euler="3 40 2"')), FLOOR),
            (),
        ),
        "bending sheet on a hinge": (scene(hinge.format(sheet(SHEET, NO_SELF))), ()),
        "block on a hinge": (scene(hinge.format(block(SOLID, NO_SELF, pin("0 1 2 3")))), ()),
        "rope equality on a hinge, sparse": (
            scene(hinge.format(rope(held, pin("0"))), option="jacobian=sparse"),
            (),
        ),
        "sheet on a mocap body": (
            scene(mocap.format(sheet(sheet_of("stretch"), pin("0 1 2"), edge(damping=".1")))),
            (),
        ),
        "rope on a mocap body over a box": (
            scene(mocap.replace(".2", ".05", 1).format(rope(HELD, pin("0"), NO_SELF)), GEOMS["box"]),
            ("geom",),
        ),
        "shared bodies": (scene(corners, FLOOR, after=shared), ()),
        "bodies with offsets under a ball": (
            scene(
                corners,
                '<body pos=".09 .08 .17"><freejoint/><geom size=".03" mass=".05"/></body>',
                after=shared,
            ),
            ("geom",),
        ),
        "chain of bodies": (scene(corners, after=chain, option="jacobian=sparse"), ()),
        "tetrahedron of bodies": (scene(corners, FLOOR, after=tetra), ()),
    }
    found = {name: FlexModel(xml=xml, touches=touches) for name, (xml, touches) in bodies.items()}
    found["shared bodies, sparse"] = FlexModel(
        xml=scene(corners, FLOOR, after=shared, option="jacobian=sparse"), instead="jacobian=dense"
    )
    ball = '<body name="ball" pos=".05 .1 -.1"><freejoint/><geom size=".03" mass=".1"/></body>'
    ties = {
        "weld to a vertex": '<weld body1="f_2" body2="ball"/>',
        "connect to a vertex": '<connect body1="f_2" body2="ball" anchor="0 0 0"/>',
        "connect a vertex to the world": '<connect body1="f_0" anchor="0 0 0"/>',
    }
    for name, tie in ties.items():
        both = sheet(sheet_of("stretch"), NO_SELF, pin("9")), ball
        found[name] = FlexModel(xml=scene(*both, after=f"<equality>{tie}</equality>"))
    found["tendon and sensors on vertices"] = FlexModel(
        xml=scene(
            sheet(HELD, pin("0")),
            '<site name="top" pos="0 0 .3"/>',
            after='<sensor><framepos objtype="body" objname="f_3"/><framelinvel objtype="body" objname="f_4"/>'
            '<subtreecom body="world"/></sensor>',
        )
    )
    return found


def _settings() -> dict[str, FlexModel]:
    """Integrators, solvers, cones, contact dimensions, flags."""
    both = (
        sheet(sheet_of("stretch"), edge(damping=".3"), NO_SELF, pin("0"), more='pos="0 0 .03"'),
        GEOMS["sphere"],
    )
    held = (
        rope(edge(equality="true", damping=".2"), pin("0"), NO_SELF, more='pos="0 0 .05"'),
        GEOMS["capsule"],
    )
    found = {}
    for integrator in ("Euler", "RK4", "implicit", "implicitfast"):
        found[f"integrator {integrator}"] = FlexModel(
            xml=scene(*both, option=f"integrator={integrator}"), touches=("geom",)
        )
        found[f"integrator {integrator} on a hinge"] = FlexModel(
            xml=scene(
                '<body name="arm"><joint axis="1 2 .3"/><geom size=".02" pos="0 0 .05"/>'
                + rope(edge(damping=".5", stiffness=30), pin("0 1"), NO_SELF)
                + "</body>",
                option=f"integrator={integrator} jacobian=sparse",
            )
        )
    for solver, cone in product(("PGS", "CG", "Newton"), ("pyramidal", "elliptic")):
        found[f"solver {solver} {cone}"] = FlexModel(
            xml=scene(*held, option=f"solver={solver} cone={cone}"), touches=("geom",)
        )
    for condim, cone in product((1, 3, 4, 6), ("pyramidal", "elliptic")):
        rough = contact(selfcollide="none", condim=condim, friction=".8 .02 .01")
        found[f"condim {condim} {cone}"] = FlexModel(
            xml=scene(
                sheet(SHEET, rough, more='pos="0 0 .03"'),
                GEOMS["box"],
                FLOOR.replace("<geom", '<geom pos="0 0 -.03"'),
                option=f"cone={cone} jacobian=dense",
                flags='island="disable"',  # else 3.4.0 ends with a fatal error: spin rows of slides are empty
            ),
            touches=("geom",),
        )
    found["condim 6 of the geom"] = FlexModel(
        xml=scene(
            flex(2, NO_SELF, more='pos="0 0 .03"'),
            '<body pos=".013 .007 -.1"><joint type="ball" damping=".1"/>'
            '<geom size=".1" condim="6" friction=".7 .03 .02"/></body>',
            option="jacobian=dense cone=elliptic",
        ),
        touches=("geom",),
    )
    found["condim 4, sparse"] = FlexModel(
        xml=scene(
            flex(2, contact(selfcollide="none", condim=4, friction=".8 .02 .01"), more='pos="0 0 .03"'),
            GEOMS["box"],
            option="jacobian=sparse",
        ),
        touches=("geom",),
        instead="jacobian=dense",
    )
    found.update(_flags())
    return found


def _flags() -> dict[str, FlexModel]:
    found = {}
    for off in (
        "spring",
        "damper",
        "contact",
        "equality",
        "constraint",
        "midphase",
        "nativeccd",
        "filterparent",
        "refsafe",
        "warmstart",
        "gravity",
    ):
        touches = () if off in ("contact", "constraint", "gravity") else ("geom",)
        found[f"without {off}"] = FlexModel(xml=_mixed(f'{off}="disable"'), touches=touches)
    for on in ("multiccd", "override", "invdiscrete", "fwdinv"):
        found[f"with {on}"] = FlexModel(
            xml=_mixed(f'{on}="enable"', "o_margin=.01" if on == "override" else ""), touches=("geom",)
        )
    found["without spring and damper"] = FlexModel(
        xml=_mixed('spring="disable" damper="disable"'), touches=("geom",)
    )
    found["without spring, nodes"] = FlexModel(xml=_nodes('spring="disable"'))
    found["without damper, nodes"] = FlexModel(xml=_nodes('damper="disable"'))
    for dim in (1, 2, 3):
        found[f"without midphase dim {dim}"] = FlexModel(
            xml=dropped(dim, "box", flags='midphase="disable"'), touches=("geom",)
        )
        found[f"without nativeccd dim {dim}"] = FlexModel(
            xml=dropped(dim, "cylinder", flags='nativeccd="disable"'), touches=("geom",)
        )
    found["plane without midphase"] = FlexModel(
        xml=dropped(2, "plane", flags='midphase="disable"'), touches=("vertex",)
    )
    found["hfield without midphase"] = FlexModel(
        xml=dropped(2, "hfield", flags='midphase="disable"'), touches=("geom",)
    )
    found["sleep beside"] = FlexModel(
        xml=scene(
            flex(2, NO_SELF, more='pos="0 0 .05"'),
            FLOOR,
            '<body pos=".4 0 .0505"><freejoint/><geom type="box" size=".05 .05 .05"/></body>',
            flags='sleep="enable"',
        ),
        touches=("vertex",),
    )
    return found


def _mixed(flags: str, option: str = "") -> str:
    """Three flexes: an elastic sheet, a rope held by rows and one by springs, over a box and a cylinder."""
    return scene(
        sheet(
            sheet_of("both"), edge(damping=".05"), NO_SELF, count="3 3 1", name="sheet", more='pos="0 0 .03"'
        ),
        rope(HELD, pin("0"), NO_SELF, count=4, name="held", more='pos="0 .2 .03"'),
        rope(SPRINGS, NO_SELF, count=4, name="sprung", more='pos="0 -.2 .025"'),
        GEOMS["box"],
        '<geom type="cylinder" size=".05 .1" euler="3 88 11" pos="0 .2 -.05"/>',
        '<geom type="capsule" size=".05 .1" euler="4 87 13" pos="0 -.2 -.05"/>',
        flags=flags,
        option=option,
    )


def _nodes(flags: str) -> str:
    return scene(block(NO_SELF, STIFF, count="3 3 3", more='dof="trilinear"'), flags=flags)


def _details() -> dict[str, FlexModel]:
    """Passive flexes, layers, margins, masks, several flexes in a model."""
    own = {"selfcollide": "none"}
    bump = '<geom type="box" size=".09 .07 .05" euler="4 3 21" pos=".01 .013 -.04"/>'
    solid = block(SOLID, contact(activelayers="2", **own), count="4 4 4", more='pos="0 0 .1"')
    skipped = (
        rope(edge(damping=".2"), pin("0"), NO_SELF, name="a"),
        sheet(sheet_of("both", "0"), NO_SELF, name="b", more='pos="0 0 .2"'),
        rope(edge(equality="true"), pin("0"), NO_SELF, name="c", more='pos="0 0 .4"'),
        rope(SPRINGS, pin("0"), NO_SELF, count=4, name="d", more='pos="0 0 .6"'),
    )
    found = {
        "passive sheet on a plane": (
            scene(sheet(SHEET, contact(passive="true", **own), more='pos="0 0 .03"'), FLOOR),
            ("passive", "vertex"),
        ),
        "passive block on a sphere": (
            scene(block(SOLID, contact(passive="true", **own), more='pos="0 0 .05"'), GEOMS["sphere"]),
            ("passive", "geom"),
        ),
        "passive rope on a rope": (
            scene(
                rope(SPRINGS, NO_SELF, pin("0 5"), name="low"),
                rope(
                    SPRINGS, contact(passive="true", **own), name="top", more='pos="0 0 .03" euler="0 0 70"'
                ),
            ),
            ("passive", "other"),
        ),
        "passive self": (
            scene(
                direct(2, *crossing(2), SHEET, contact(passive="true")),
                FLOOR.replace("<geom", '<geom pos="0 0 -.05"'),
            ),
            ("passive", "self"),
        ),
        "passive with margin": (
            scene(
                sheet(SHEET, contact(passive="true", margin=".01", gap=".005", **own), more='pos="0 0 .03"'),
                FLOOR,
            ),
            ("passive", "vertex"),
        ),
        "passive nodes": (
            scene(
                block(
                    STIFF,
                    contact(passive="true", **own),
                    count="3 3 3",
                    more='dof="trilinear" pos="0 0 .1" euler="5 4 3"',
                ),
                FLOOR,
            ),
            ("passive", "vertex"),
        ),
        "active layers": (scene(solid, bump), ("geom",)),
        "active layers without midphase": (scene(solid, bump, flags='midphase="disable"'), ("geom",)),
        "vertcollide sheet": (
            scene(sheet(SHEET, contact(vertcollide="true", **own), more='pos="0 0 .03"'), FLOOR),
            ("vertex",),
        ),
        "vertcollide beside masks": (
            scene(
                sheet(
                    SHEET,
                    contact(vertcollide="true", contype="0", conaffinity="0", **own),
                    more='pos="0 0 .03"',
                ),
                FLOOR,
            ),
            (),
        ),
        **{
            f"margin and gap dim {dim}": (
                scene(
                    flex(
                        dim,
                        contact(margin=".02", gap=".004", **own),
                        more=f'pos="0 0 {0.085 if dim == 3 else 0.06}" euler="2 3 5"',
                    ),
                    GEOMS[geom].replace("<geom", '<geom margin=".012" gap=".006"'),
                    before=SHAPES,
                ),
                ("geom",),
            )
            for dim, geom in ((1, "capsule"), (2, "sphere"), (3, "cylinder"))
        },
        "margin on a plane": (
            scene(
                flex(2, contact(margin=".02", gap=".004", **own), more='pos="0 0 .04" euler="2 3 5"'), FLOOR
            ),
            ("vertex",),
        ),
        "margin on a hfield": (
            scene(
                flex(2, contact(margin=".02", **own), more='pos="0 0 .06" euler="2 3 5"'),
                GEOMS["hfield"],
                before=SHAPES,
            ),
            ("geom",),
        ),
        "margin between sheets": (
            scene(
                flex(2, contact(margin=".02", **own), name="low", more='pos="0 0 .04"'),
                flex(2, NO_SELF, name="top", more='pos=".01 0 .075" euler="3 2 40"'),
                FLOOR,
            ),
            ("other",),
        ),
        "masks": (
            scene(
                flex(2, contact(contype="2", conaffinity="4", **own), more='pos="0 0 .03" euler="2 3 5"'),
                GEOMS["box"].replace("<geom", '<geom contype="4" conaffinity="0"'),
                GEOMS["sphere"],
                '<geom type="plane" size="1 1 .1" pos="0 0 -.02" contype="1" conaffinity="8"/>',
            ),
            ("geom",),
        ),
        "plane behind a mask": (
            scene(
                flex(2, contact(contype="2", conaffinity="2", **own), more='pos="0 0 .03" euler="2 3 5"'),
                '<geom type="plane" size="1 1 .1" contype="1" conaffinity="1"/>',
                '<geom type="sphere" size=".05" pos=".5 0 0" contype="2" conaffinity="2"/>',
            ),
            ("vertex",),
        ),
        "priority and mixing": (
            scene(
                flex(
                    2,
                    contact(
                        priority="1",
                        solmix="3",
                        solref=".03 .9",
                        solimp=".8 .9 .01",
                        friction=".3 .1 .01",
                        **own,
                    ),
                    more='pos="0 0 .03" euler="2 3 5"',
                ),
                GEOMS["sphere"].replace("<geom", '<geom solmix="2" friction=".2"'),
                GEOMS["box"].replace("<geom", '<geom priority="2" solref=".04 1" friction=".1"'),
            ),
            ("geom",),
        ),
        "geoms on a moving body": (
            scene(
                flex(2, NO_SELF, more='pos="0 0 .1"'),
                FLOOR,
                '<body pos="0 0 .16"><freejoint/><geom size=".03" mass=".05"/>'
                '<geom type="box" size=".02 .02 .02" pos=".05 0 0" mass=".05"/>'
                '<geom type="cylinder" size=".02 .02" pos="-.05 .01 0" mass=".05"/></body>',
            ),
            ("geom", "vertex"),
        ),
        "geom of the parent": (
            scene(
                '<body name="pole" pos="0 0 .2"><freejoint/><geom type="box" size=".04 .04 .005"'
                ' pos="-.05 -.03 .01"/>' + sheet(sheet_of("stretch"), pin("0 1"), NO_SELF) + "</body>"
            ),
            ("geom",),
        ),
        "static planes and bodies": (
            scene(
                '<body name="wall" pos="-.1 0 0"><geom type="plane" size="1 1 .1" zaxis="1 0 .2"/></body>',
                flex(2, NO_SELF, more='pos=".003 .002 .04" euler="2 3 5"'),
                FLOOR,
                '<body pos="0 0 -.02"><geom size=".05"/></body>',
            ),
            ("geom", "vertex"),
        ),
        "three flexes": (
            scene(
                flex(1, NO_SELF, name="a", more='pos="0 0 .03"'),
                flex(2, name="b", more='pos="0 .01 .06"'),
                flex(3, NO_SELF, name="c", more='pos="0 0 .12"'),
                FLOOR,
            ),
            ("vertex", "other"),
        ),
        "explicit pairs beside": (
            scene(
                flex(2, NO_SELF, more='pos="0 0 .03"'),
                FLOOR,
                '<body pos="0 0 .09"><freejoint/><geom name="p" size=".04" mass=".05"/></body>'
                '<body pos=".003 0 .1705"><freejoint/><geom name="q" size=".04" mass=".05" contype="0"'
                ' conaffinity="0"/></body>',
                after='<contact><pair geom1="p" geom2="q" condim="4"/></contact>',
            ),
            ("vertex", "geom"),
        ),
        "dense beyond sixty dofs": (
            scene(
                sheet(SHEET, edge(damping=".05"), NO_SELF, count="5 5 1", more='pos="0 0 .03"'),
                FLOOR,
                option="jacobian=dense",
            ),
            ("vertex",),
        ),
        "sparse below sixty dofs": (
            scene(
                sheet(SHEET, edge(damping=".05"), NO_SELF, more='pos="0 0 .03"'),
                FLOOR,
                GEOMS["sphere"],
                option="jacobian=sparse",
            ),
            ("vertex", "geom"),
        ),
        "no radius": (
            scene(
                comp(
                    'type="grid" dim="2" count="4 3 1" radius="0" spacing=".05 .05 .05" mass=".3" pos="0 0 .02"',
                    SHEET,
                    NO_SELF,
                ),
                GEOMS["sphere"],
                FLOOR.replace("<geom", '<geom pos="0 0 -.03"'),
            ),
            ("geom",),
        ),
        "fluid and gravcomp": (
            scene(
                '<body name="b" gravcomp="1"><joint damping="1"/><geom size=".02" pos=".01 .02 .05"/>'
                + sheet(sheet_of("stretch"), pin("0"))
                + "</body>",
                option="density=1.2 viscosity=.01",
            ),
            (),
        ),
        "skipped flex between, dense": (scene(*skipped, option="jacobian=dense"), ()),
    }
    result = {name: FlexModel(xml=xml, touches=touches) for name, (xml, touches) in found.items()}
    result["skipped flex between, sparse"] = FlexModel(
        xml=scene(*skipped, option="jacobian=sparse"), instead="jacobian=dense"
    )
    return result


CATALOGUE: dict[str, FlexModel] = {
    **_types(),
    **_interpolated(),
    **_geoms(),
    **_selves(),
    **_between(),
    **_parents(),
    **_settings(),
    **_details(),
}


_MIRRORED = (
    "3.4.0 takes the nodes of an interpolated flex on side 0 at mirrored coordinates; ours are at the contact"
)

EXCEPTIONS = {
    "interpolated first": _MIRRORED,
    "interpolated both": _MIRRORED,
    "skipped flex between, sparse": "3.4.0 overwrites rows of edge Jacobians when the flex before has none; "
    "ours are those of dense mode",
    "shared bodies, sparse": "3.4.0 lists the dofs of a free body twice, with garbage, in the row of an edge between "
    "two vertices of it; ours are those of dense mode",
    "condim 4, sparse": "3.4.0 has garbage in spin and roll rows of element contacts; ours are those of dense mode",
}
"""Models in which MuJoCo 3.4.0 is not followed, and why. All but `unlike` is compared, under options `instead`."""


def text(name: str, instead: bool = False) -> str:
    """A model's MJCF, the folder of its files filled in; `instead`: under the options in which MuJoCo is right."""
    model = CATALOGUE[name]
    found = model.xml.replace(FOLDER, folder())
    for part in model.instead.split() if instead else ():
        option, _, value = part.partition("=")
        found = re.sub(f'{option}="[^"]*"', f'{option}="{value}"', found, count=1)
    return found


@cache
def ours(name: str) -> Model:
    return dovetail.loads(text(name))


@cache
def theirs(name: str) -> Any:
    mujoco = pytest.importorskip("mujoco")
    return mujoco.MjModel.from_xml_string(text(name, instead=True))

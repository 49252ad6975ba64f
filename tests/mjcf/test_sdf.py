"""Geoms of type sdf: octrees of their meshes, and meshes in the shape of an engine plugin, as in MuJoCo 3.4.0."""

from __future__ import annotations

import comparing
import numpy as np
import pytest
from compiling import compile_text

from dovetail.errors import MJCFError
from dovetail.mjcf.geometry.marching_cubes import CORNERS, marching_cubes, triangles

TETRAHEDRON = 'vertex="0 0 0  .3 0 0  0 .2 0  0 0 .25"'
CUBE = 'vertex="{}"'.format(
    " ".join(f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.2, 0.2))
)
SDF = '<geom type="sdf" mesh="m"/>'


def scene(mesh: str, geoms: str = SDF, extension: str = "") -> str:
    return (
        f"<mujoco>{extension}<asset>{mesh}</asset>"
        f"<worldbody>\n<body><freejoint/>{geoms}</body></worldbody></mujoco>"
    )


# ---- octrees ----------------------------------------------------------------------------------------------

OCTREES = {
    "tetrahedron": scene(f'<mesh name="m" {TETRAHEDRON}/>'),
    "cube": scene(f'<mesh name="m" {CUBE}/>'),
    "hollow": scene('<mesh name="m" builtin="supertorus" params="12 .4 1 1"/>'),
    "scaled and turned": scene(
        f'<mesh name="m" {TETRAHEDRON} scale="1 -2 1" refquat="1 1 0 0" refpos="1 0 0"/>'
    ),
    "shell": scene(f'<mesh name="m" {TETRAHEDRON} inertia="shell"/>'),
    "not colliding": scene(
        f'<mesh name="m" {CUBE}/>', '<geom type="sdf" mesh="m" contype="0" conaffinity="0"/>'
    ),
    "placed": scene(
        f'<mesh name="m" {CUBE}/>', '<geom type="sdf" mesh="m" pos="1 2 3" euler="10 20 30" density="20"/>'
    ),
    "of two meshes the second": scene(
        f'<mesh name="o" {CUBE}/><mesh name="m" {TETRAHEDRON}/>', '<geom type="mesh" mesh="o"/>' + SDF
    ),
    "both": scene(
        f'<mesh name="o" {CUBE}/><mesh name="m" {TETRAHEDRON}/>', '<geom type="sdf" mesh="o"/>' + SDF
    ),
}


@pytest.mark.parametrize("name", OCTREES)
def test_octrees_as_mujoco(same_as_mujoco, name):
    compiled = same_as_mujoco(OCTREES[name])
    assert compiled.sizes["noct"] > 1000


def test_meshes_of_other_geoms_have_no_octree(same_as_mujoco):
    compiled = same_as_mujoco(scene(f'<mesh name="m" {CUBE}/>', '<geom type="mesh" mesh="m"/>'))
    assert compiled.sizes["noct"] == 0
    assert compiled.values["mesh_octadr"].tolist() == [-1]


def test_samples_of_a_cube_are_its_distances():
    """Corners of cells that are not in the middle of a coarser neighbour's side hold the exact distance."""
    values = compile_text(OCTREES["cube"]).values
    cells = np.flatnonzero(values["oct_depth"] == 1)
    half = values["geom_size"][0]
    for cell in cells:
        centre, size = values["oct_aabb"][cell, :3], values["oct_aabb"][cell, 3:]
        for corner in range(8):
            sign = np.array([2 * (corner >> axis & 1) - 1 for axis in range(3)])
            beyond = np.abs(centre + sign * size) - half
            exact = np.linalg.norm(np.maximum(beyond, 0)) + min(beyond.max(), 0)
            assert values["oct_coeff"][cell, corner] == pytest.approx(exact, abs=1e-9)


# ---- shapes of plugins ------------------------------------------------------------------------------------


def extension(shape: str, config: str = "") -> str:
    instance = f'<instance name="i">{config}</instance>'
    return f'<extension><plugin plugin="mujoco.sdf.{shape}">{instance}</plugin></extension>'


def shaped(shape: str, config: str = "", mesh: str = "", geom: str = 'type="sdf"') -> str:
    return scene(
        f'<mesh name="m" {mesh}><plugin instance="i"/></mesh>',
        f'<geom {geom} mesh="m"><plugin instance="i"/></geom>',
        extension(shape, config),
    )


SEEN_ONLY = 'type="sdf" contype="0" conaffinity="0"'
"""Without the hull of tens of thousands of vertices on a curved surface, which takes seconds."""

SHAPES = {
    "nut": shaped("nut"),
    "nut, exact": shaped("nut", mesh='inertia="exact"'),
    "nut, convex": shaped("nut", mesh='inertia="convex"'),
    "nut, shell": shaped("nut", mesh='inertia="shell"'),
    "nut, moved": shaped("nut", mesh='refpos="1 0 0" refquat="1 1 0 0"'),
    "nut, wider": shaped("nut", '<config key="radius" value=".3"/>'),
    "nut as mesh": shaped("nut", geom='type="mesh"'),
    "nut as box": shaped("nut", geom='type="box"'),
    "gear": shaped("gear"),
    "small gear": shaped("gear", '<config key="diameter" value="1"/><config key="teeth" value="12"/>'),
    "bolt": shaped("bolt"),
    "bolt, as wide as a nut": shaped("bolt", '<config key="radius" value=".255"/>', geom=SEEN_ONLY),
    "nut, as wide as it is long": shaped("nut", '<config key="radius" value=".5"/>', geom=SEEN_ONLY),
    "torus": shaped("torus", '<config key="radius2" value=".05"/>', geom=SEEN_ONLY),
    "bowl": shaped("bowl", '<config key="thickness" value=".006"/>', geom=SEEN_ONLY),
}

_TIED = {"bolt", "bolt, as wide as a nut", "bowl"}
"""Shapes with so many faces side by side that only MuJoCo's sorting decides their order in bounding volumes."""


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_as_mujoco(name):
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_string(SHAPES[name])
    found = comparing.differences(compile_text(SHAPES[name]), theirs)
    if name in _TIED:
        found = [line for line in found if line.split(":")[0] not in ("bvh_nodeid", "bvh_aabb")]
    assert [line[:200] for line in found] == []


def test_instances_are_numbered_from_meshes_on(same_as_mujoco):
    xml = """<mujoco><extension><plugin plugin="mujoco.sdf.nut"/><plugin plugin="mujoco.pid"/></extension>
    <asset><mesh name="m"><plugin plugin="mujoco.sdf.nut"/></mesh></asset>
    <worldbody><body><joint name="j"/><geom type="sdf" mesh="m"><plugin plugin="mujoco.sdf.nut"/></geom></body>
    </worldbody><actuator><plugin plugin="mujoco.pid" joint="j"/></actuator></mujoco>"""
    compiled = same_as_mujoco(xml)
    assert compiled.values["geom_plugin"].tolist() == [2]


PID = '<extension><plugin plugin="mujoco.pid"/></extension>'
BAD = {
    "no mesh": (scene("", '<geom type="sdf"/>'), "2: .*a geom of type sdf needs a mesh"),
    "scaled": (shaped("nut", mesh='scale="2 2 2"'), "cannot be scaled"),
    "file too": (shaped("nut", mesh='file="a.stl"'), "file and plugin both give the surface"),
    "no extent": (shaped("torus", '<config key="radius2" value="0"/>'), "has no extent"),
    "other plugin": (scene('<mesh name="m"><plugin plugin="mujoco.pid"/></mesh>', extension=PID), "offers no signed"),
    "neither": (scene('<mesh name="m"><plugin/></mesh>', extension=extension("nut")), "neither plugin nor instance"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_refused(name):
    xml, message = BAD[name]
    with pytest.raises(MJCFError, match=message):
        compile_text(xml)


# ---- marching cubes ---------------------------------------------------------------------------------------


def outline(faces: list[tuple[int, int, int]]) -> set[tuple[int, int]]:
    """Sides of triangles that no other triangle has the other way round."""
    sides = [(face[k], face[(k + 1) % 3]) for face in faces for k in range(3)]
    return {side for side in sides if side[::-1] not in sides}


SIDES = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
"""Corners of the sides of a cell, counter-clockwise seen from outside."""


def traced(combination: int) -> list[tuple[int, int, int]]:
    """Triangles by tracing where the sides of the cell are cut: round each loop of cuts, all from its first edge. On
    a side with inner corners at opposite ends these are cut off singly, so that neighbouring cells fit."""
    following = dict(cut for side in SIDES for cut in cuts_across(combination, side))
    loops = []
    while following:
        edge = min(following)
        loop = []
        while edge in following:
            loop.append(edge)
            edge = following.pop(edge)
        loops.append(loop)
    return [(loop[0], loop[k], loop[k + 1]) for loop in loops for k in range(1, len(loop) - 1)]


def cuts_across(combination: int, side: tuple[int, ...]) -> list[tuple[int, int]]:
    """Cuts across a side of the cell, from edge to edge, with what is inside to their right, seen from outside."""
    inner = [bool(combination >> corner & 1) for corner in side]
    cuts = []
    for last in (k for k in range(4) if inner[k] and not inner[(k + 1) % 4]):
        first = last
        while inner[(first - 1) % 4]:
            first -= 1
        into = edge_between(side[(first - 1) % 4], side[first % 4])
        cuts.append((into, edge_between(side[last], side[(last + 1) % 4])))
    return cuts


def edge_between(a: int, b: int) -> int:
    """The edge of a cell that joins two corners."""
    low, axis = min(a, b), {1: 0, 2: 1, 4: 2}[a ^ b]
    x, y, z = CORNERS[low].tolist()
    return 4 * axis + {0: y + 2 * z, 1: x + 2 * z, 2: x + 2 * y}[axis]


def test_every_combination_of_signs_has_its_triangles():
    assert [number for number in range(256) if not triangles(number)] == [0, 255]


@pytest.mark.parametrize("combination", range(256))
def test_cells_fit_together(combination):
    """Whatever triangles a cell has, on its sides they end where the tracing of cuts says, which neighbours share."""
    faces = triangles(combination)
    assert outline(faces) == outline(traced(combination))
    assert len(faces) == len(traced(combination))


def test_surface_of_noise_is_closed():
    field = np.ones((9, 8, 7), np.float32)
    field[1:-1, 1:-1, 1:-1] = np.random.default_rng(0).normal(size=(7, 6, 5))
    vertex, face = marching_cubes(field)
    sides = face[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    there, back = ({tuple(side) for side in some.tolist()} for some in (sides, sides[:, ::-1]))
    assert there == back
    assert len(there) == len(sides)
    assert np.unique(face).tolist() == list(range(len(vertex)))


def test_surface_without_sign_change_is_empty():
    vertex, face = marching_cubes(np.ones((3, 3, 3), np.float32))
    assert len(vertex) == len(face) == 0

"""Meshes give MuJoCo's values, all fields compared: sources, processing, inertia modes, and geoms that use them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from asset_files import CUBE, CUBE_FACES, LOPSIDED, msh, numbers, obj, stl, torus
from compiling import compile_text

from dovetail.errors import MJCFError

VERTICES, FACES = f'vertex="{numbers(LOPSIDED)}"', f'face="{numbers(CUBE_FACES)}"'
MODES = ("legacy", "exact", "convex", "shell")
VISUAL = 'contype="0" conaffinity="0"'
TOLERANCE = 1e-10


def scene(mesh: str, geom: str = 'type="mesh" mesh="m"', extra: str = "") -> str:
    """A mesh in a turned geom of a free body."""
    return (
        f'<mujoco>{extra}<asset><mesh name="m" {mesh}/></asset><worldbody><body pos="1 2 3" euler="10 20 30">'
        f'<freejoint/><geom {geom} pos=".1 .2 .3" euler="30 20 10"/></body></worldbody></mujoco>'
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("faces", ["hull", "own", "open"])
def test_inertia_modes(same_as_mujoco, mode, faces):
    own = {"hull": "", "own": FACES, "open": f'face="{numbers(CUBE_FACES[2:])}"'}[faces]
    same_as_mujoco(scene(f'{VERTICES} {own} inertia="{mode}"'), TOLERANCE)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "exact"])
def test_faces_may_look_inward_unless_exact(same_as_mujoco, mode):
    inward = numbers(CUBE_FACES[:, [0, 2, 1]])
    same_as_mujoco(scene(f'{VERTICES} face="{inward}" inertia="{mode}"'), TOLERANCE)


def test_l_shape_has_the_volume_of_its_mode():
    """Volumes of an L-shaped prism that fills three quarters of its hull."""
    outline = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 3), (0, 3)])
    prism = np.concatenate([np.c_[outline, np.zeros(6)], np.c_[outline, np.ones(6)]])
    base = [(0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 5, 4)]
    sides = [(i, (i + 1) % 6, (i + 1) % 6 + 6) for i in range(6)] + [
        (i, (i + 1) % 6 + 6, i + 6) for i in range(6)
    ]
    faces = [*base, *((a + 6, c + 6, b + 6) for a, b, c in base), *sides]
    masses = {}
    for mode in MODES:
        text = f'vertex="{numbers(prism)}" face="{numbers(np.array(faces))}" inertia="{mode}"'
        masses[mode] = compile_text(scene(text)).values["body_mass"][1] / 1000
    assert masses["exact"] == pytest.approx(4)
    assert masses["convex"] == pytest.approx(5)
    assert masses["shell"] == pytest.approx(18)
    assert 4 < masses["legacy"] < 5


@pytest.mark.parametrize(
    "attributes",
    [
        'scale="2 3 .5"',
        'scale="-1 2 1"',
        'refpos="1 2 3"',
        'refquat="1 2 3 4"',
        'refpos=".1 .2 .3" refquat="1 .2 .3 .4" scale="2 -1 1"',
        'smoothnormal="true"',
        'maxhullvert="6"',
        f'normal="{numbers(CUBE)}" texcoord="{numbers(np.arange(16.0))}"',
    ],
)
def test_attributes(same_as_mujoco, attributes):
    same_as_mujoco(scene(f"{VERTICES} {FACES} {attributes}"), TOLERANCE)
    same_as_mujoco(scene(f"{VERTICES} {FACES} {attributes}", f'type="mesh" mesh="m" {VISUAL}'), TOLERANCE)


@pytest.mark.parametrize("seed", range(6))
def test_random_hulls(same_as_mujoco, seed):
    rng = np.random.default_rng(seed)
    same_as_mujoco(scene(f'vertex="{numbers(0.1 * rng.normal(size=(30, 3)))}"'), TOLERANCE)


@pytest.mark.parametrize("seed", range(4))
def test_hulls_with_many_coplanar_points(same_as_mujoco, seed):
    points = 0.1 * np.random.default_rng(seed).integers(-3, 4, size=(60, 3))
    same_as_mujoco(scene(f'vertex="{numbers(points)}"'), TOLERANCE)


@pytest.mark.parametrize(
    "shape",
    [
        '"sphere" params="0"',
        '"sphere" params="2"',
        '"hemisphere" params="0"',
        '"hemisphere" params="4"',
        '"cone" params="6 .5"',
        '"cone" params="7 0"',
        '"supersphere" params="12 .5 .7"',
        '"supertorus" params="9 .4 .5 .7"',
        '"wedge" params="5 4 60 30 .3"',
        '"wedge" params="3 4 20 10 0"',
    ],
)
def test_built_in_shapes(same_as_mujoco, shape):
    same_as_mujoco(scene(f"builtin={shape}"), TOLERANCE)
    same_as_mujoco(scene(f"builtin={shape}", f'type="mesh" mesh="m" {VISUAL}'), TOLERANCE)


def test_built_in_plate(same_as_mujoco):
    asset = '<asset><mesh name="m" builtin="plate" params="3 4"/></asset>'
    same_as_mujoco(
        f'<mujoco>{asset}<worldbody><geom type="mesh" mesh="m" {VISUAL}/></worldbody></mujoco>', TOLERANCE
    )


@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "ellipsoid", "box", ""])
@pytest.mark.parametrize("compiler", ["", '<compiler fitaabb="true"/>'])
def test_primitives_fitted_to_a_mesh(same_as_mujoco, kind, compiler):
    geom = f'{kind and f"type={chr(34)}{kind}{chr(34)}"} mesh="m" fitscale="1.5"'
    same_as_mujoco(scene(VERTICES, geom, compiler), TOLERANCE)


def test_default_class(same_as_mujoco):
    same_as_mujoco(
        '<mujoco><default><mesh scale="3 3 3"/><default class="c"><mesh inertia="shell" maxhullvert="5"/></default>'
        f'</default><asset><mesh name="a" {VERTICES}/><mesh name="b" class="c" {VERTICES} {FACES}/></asset>'
        '<worldbody><body><geom type="mesh" mesh="a"/></body><body><geom type="mesh" mesh="b"/></body>'
        "</worldbody></mujoco>",
        TOLERANCE,
    )


def test_geoms_of_one_mesh_share_it_and_its_material(same_as_mujoco):
    same_as_mujoco(
        f'<mujoco><asset><material name="k"/><mesh name="m" {VERTICES} material="k"/></asset><worldbody>'
        '<geom type="mesh" mesh="m"/><geom type="box" mesh="m"/><geom size="1"/></worldbody></mujoco>',
        TOLERANCE,
    )


def test_hull_only_where_a_geom_collides(same_as_mujoco):
    """Also a geom that only an explicit pair makes collide."""
    same_as_mujoco(
        f'<mujoco><asset><mesh name="m" {VERTICES} {FACES}/><mesh name="n" {VERTICES} {FACES}/><mesh name="unused" '
        f'{VERTICES} {FACES}/></asset><worldbody><geom type="mesh" mesh="m" {VISUAL}/><geom name="g" type="mesh" '
        f'mesh="n" {VISUAL}/><body><freejoint/><geom name="h" size="1"/></body></worldbody><contact><pair geom1="g" '
        'geom2="h"/></contact></mujoco>',
        TOLERANCE,
    )


@pytest.mark.parametrize("place", [0, 12])
def test_faces_without_area(same_as_mujoco, place):
    faces = numbers(np.insert(CUBE_FACES, place, [0, 0, 1], axis=0))
    same_as_mujoco(scene(f'{VERTICES} face="{faces}"', f'type="mesh" mesh="m" {VISUAL}'), TOLERANCE)


# files


def file_scene(name: str, attributes: str = "") -> str:
    return (
        f'<mujoco><compiler meshdir="d" balanceinertia="true"/><asset><mesh file="{name}" {attributes}/></asset>'
        f'<worldbody><body><geom type="mesh" mesh="{name.partition(".")[0]}" {VISUAL}/></body></worldbody></mujoco>'
    )


@pytest.mark.parametrize("scale", ["", 'scale="1 -2 1"', 'scale="-1 -2 -.5"'])
@pytest.mark.parametrize("kind", ["stl", "msh", "full"])
def test_binary_files(same_as_mujoco, kind, scale):
    content = {
        "stl": stl(LOPSIDED, CUBE_FACES),
        "msh": msh(LOPSIDED, CUBE_FACES),
        "full": msh(LOPSIDED, CUBE_FACES, CUBE, np.arange(16).reshape(8, 2) / 16),
    }[kind]
    name = f"{kind}{len(scale)}.{'stl' if kind == 'stl' else 'msh'}"
    same_as_mujoco(file_scene(name, scale), TOLERANCE, {f"d/{name}": content})


def test_vertices_of_stl_are_merged():
    values = compile_text(file_scene("a.stl"), assets={"d/a.stl": stl(LOPSIDED, CUBE_FACES)}).values
    assert values["mesh_vertnum"].tolist() == [8]


OBJ_CUBE = [" ".join(str(i + 1) for i in q) for q in ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6))]
OBJ_REST = ["1 3 7 5", "-7 -3 -1 -5"]
NORMALS = "vt 0 .25\nvt 1 1\nvn 0 0 2\nvn 0 1 0"
OBJ_FILES = {
    "quads": obj(LOPSIDED, OBJ_CUBE + OBJ_REST),
    "triangles": obj(LOPSIDED, [" ".join(str(i + 1) for i in face) for face in CUBE_FACES]),
    "normals": obj(
        LOPSIDED, ["1/1/1 2/2/1 4/1/2 3/2/2", "5//1 7//1 8//2 6//2", *OBJ_CUBE[2:], *OBJ_REST], NORMALS
    ),
    "first_group": b"o a\n" + obj(LOPSIDED, OBJ_CUBE) + b"g b\nf 1 3 7 5\n",
    "comments": b"# hi\r\nmtllib x.mtl\r\nusemtl y\r\n" + obj(LOPSIDED, OBJ_CUBE).replace(b"\n", b"\r\n"),
    "points": obj(LOPSIDED, []),
    "lines": obj(LOPSIDED, ["1 2", *OBJ_CUBE], "l 1 2 3\ns off"),
    "colours": b"".join(b"v %f %f %f 1 0 0\n" % tuple(v) for v in LOPSIDED) + obj([], OBJ_CUBE),
}


@pytest.mark.parametrize("name", OBJ_FILES)
@pytest.mark.parametrize("scale", ["", 'scale="1 -2 1"'])
def test_obj_files(same_as_mujoco, name, scale):
    file = f"{name}{len(scale)}.obj"
    same_as_mujoco(file_scene(file, scale), TOLERANCE, {f"d/{file}": OBJ_FILES[name]})


@pytest.mark.parametrize("seed", range(6))
def test_obj_polygons(same_as_mujoco, seed):
    """Star-shaped polygons of many corners in any plane."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(5, 12))
    angle, radius = np.sort(rng.uniform(0, 2 * np.pi, count)), rng.uniform(0.3, 1, count)
    flat = np.c_[radius * np.cos(angle), radius * np.sin(angle), np.zeros(count)]
    points = flat @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + rng.normal(size=3)
    content = obj([*points, (0, 0, 3)], [" ".join(map(str, range(1, count + 1)))])
    name = f"polygon{seed}.obj"
    same_as_mujoco(file_scene(name, 'inertia="shell"'), TOLERANCE, {f"d/{name}": content})


def test_content_type_wins_over_the_suffix(same_as_mujoco):
    asset = '<asset><mesh name="a" file="odd.obj" content_type="model/stl"/></asset>'
    same_as_mujoco(f"<mujoco>{asset}</mujoco>", TOLERANCE, {"odd.obj": stl(LOPSIDED, CUBE_FACES)})


@pytest.mark.parametrize("key", ["d/p.stl", "p.stl", "elsewhere/P.STL"])
def test_given_files_are_found_by_name(key):
    compiled = compile_text(file_scene("p.stl"), assets={key: stl(LOPSIDED, CUBE_FACES)})
    assert bytes(compiled.values["paths"]) == b"p.stl\0"


def test_files_on_disk(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "p.stl").write_bytes(stl(LOPSIDED, CUBE_FACES))
    inside = compile_text(file_scene("p.stl"), filename=str(tmp_path / "m.xml"), asset_root=tmp_path)
    assert inside.sizes["nmeshvert"] == 8
    with pytest.raises(MJCFError, match="outside asset_root"):
        compile_text(file_scene("p.stl"), filename=str(tmp_path / "m.xml"), asset_root=tmp_path / "other")
    with pytest.raises(MJCFError, match="is a directory"):
        compile_text(
            '<mujoco><asset><mesh name="a" file="d" content_type="model/stl"/></asset></mujoco>',
            filename=str(tmp_path / "m.xml"),
        )


def test_a_hundred_thousand_faces_are_quick():
    vertices, faces = torus(224)
    content = msh(vertices, faces)
    start = time.process_time()
    compile_text(file_scene("t.msh"), assets={"t.msh": content})
    assert time.process_time() - start < 5.0


def test_a_curved_mesh_of_many_faces(same_as_mujoco):
    vertices, faces = torus(40)
    same_as_mujoco(file_scene("curved.msh"), TOLERANCE, {"curved.msh": msh(vertices, faces)})
    same_as_mujoco(file_scene("hull.stl").replace(VISUAL, ""), TOLERANCE, {"hull.stl": stl(vertices, faces)})


# errors


FLAT = f'vertex="{numbers(CUBE * [1, 1, 0])}" {FACES}'
FLIPPED = numbers(np.concatenate([CUBE_FACES[:1, [0, 2, 1]], CUBE_FACES[1:]]))
BAD_MESHES = {
    "too few vertices": ('vertex="0 0 0 1 0 0 0 1 0"', "at least 4 vertices"),
    "no vertices": ("", "at least 4 vertices"),
    "broken vertices": ('vertex="0 0 0 1"', "vertex has 4 numbers"),
    "broken faces": (f'{VERTICES} face="0 1"', "face has 2 numbers"),
    "unknown vertex": (f'{VERTICES} face="0 1 8"', "face 0 uses index 8"),
    "negative vertex": (f'{VERTICES} face="0 1 -1"', "face 0 uses index -1"),
    "texture coordinates": (f'{VERTICES} texcoord="0 0 1 1"', "2 texture coordinates for 8 vertices"),
    "flat and colliding": (FLAT, "no convex hull"),
    "flat without faces": (f'vertex="{numbers(CUBE * [1, 1, 0])}"', "no convex hull"),
    "inward": (f'{VERTICES} face="{numbers(CUBE_FACES[:, ::-1])}" inertia="exact"', "volume is negative"),
    "one face turned": (
        f'{VERTICES} face="{FLIPPED}" inertia="exact"',
        "oriented inconsistently at vertices",
    ),
    "one point": (f'vertex="{numbers(0 * CUBE)}" {FACES}', "no convex hull"),
    "hull limit": (f'{VERTICES} maxhullvert="3"', "maxhullvert must be at least 4"),
    "mode": (f'{VERTICES} inertia="nearly"', "not a keyword here"),
    "built-in without params": ('builtin="sphere"', "needs params"),
    "built-in with vertices": (f'builtin="sphere" params="1" {VERTICES}', "builtin and vertex"),
    "number of params": ('builtin="cone" params="1"', "takes 2 params (edges, radius), not 1"),
    "large param": ('builtin="sphere" params="5"', "subdivision of a sphere"),
    "huge built-in": ('builtin="supertorus" params="1e9 .5 1 1"', "the most is"),
    "no file": ('file="missing.stl"', "file not found"),
    "unknown file": ('file="a.dae"', "known suffixes: .msh, .obj, .stl"),
    "content type": ('file="a.stl" content_type="model/dae"', "unknown content type"),
}


@pytest.mark.parametrize("case", BAD_MESHES)
def test_bad_mesh(case):
    attributes, message = BAD_MESHES[case]
    xml = scene(attributes).replace("<asset>", "\n<asset>\n")
    start = time.process_time()
    with pytest.raises(MJCFError) as caught:
        compile_text(xml, filename="model.xml")
    assert time.process_time() - start < 1.0
    assert str(caught.value).startswith("model.xml:3: <mesh")
    assert message in str(caught.value)


def test_flat_mesh_without_collision_needs_shell(same_as_mujoco):
    visual = f'type="mesh" mesh="m" {VISUAL}'
    with pytest.raises(MJCFError, match='no volume; for a flat or open mesh use inertia="shell"'):
        compile_text(scene(FLAT, visual))
    same_as_mujoco(scene(f'{FLAT} inertia="shell"', visual, '<compiler balanceinertia="true"/>'), TOLERANCE)


BAD_GEOMS = {
    "no mesh": ('type="mesh"', "needs a mesh"),
    "unknown mesh": ('type="mesh" mesh="n"', "unknown mesh 'n'; mesh names: m"),
    "shell": ('type="mesh" mesh="m" shellinertia="true"', "is said in its asset"),
    "plane": ('type="plane" mesh="m"', "a plane cannot be fitted"),
    "fromto": ('type="capsule" mesh="m" size=".1" fromto="0 0 0 1 1 1"', "fromto cannot be used with a mesh"),
}


@pytest.mark.parametrize("case", BAD_GEOMS)
def test_bad_mesh_geom(case):
    geom, message = BAD_GEOMS[case]
    xml = (
        f'<mujoco><asset><mesh name="m" {VERTICES}/></asset><worldbody>\n<geom {geom}/></worldbody></mujoco>'
    )
    with pytest.raises(MJCFError) as caught:
        compile_text(xml)
    assert "<string>:2: <geom" in str(caught.value)
    assert message in str(caught.value)


STL = stl(LOPSIDED, CUBE_FACES)
NOT_FINITE = LOPSIDED.copy()
NOT_FINITE[3, 1] = np.nan
DAMAGED = {
    "a.stl": {
        "empty": (b"", "too short for an STL"),
        "four billion faces": (stl(LOPSIDED, CUBE_FACES, 2**32 - 1), "counts -1 faces"),
        "two hundred million faces": (stl(LOPSIDED, CUBE_FACES, 200_000_000), "possible are 1 to 200000"),
        "truncated": (STL[:-7], "but the file has"),
        "ascii": (b"solid cube\n facet normal 0 0 0\n" * 9, "converted to binary"),
        "not finite": (stl(NOT_FINITE, CUBE_FACES), "no number below"),
    },
    "a.msh": {
        "empty": (b"", "too short for an MSH"),
        "negative": (b"\xff\xff\xff\xff" + msh(LOPSIDED, CUBE_FACES)[4:], "at least 4 vertices"),
        "huge": (b"\x00\x00\x00\x40" + msh(LOPSIDED, CUBE_FACES)[4:], "by its header"),
        "not finite": (msh(NOT_FINITE, CUBE_FACES), "vertex 3 is not finite"),
        "huge index": (msh(LOPSIDED, CUBE_FACES + 2**30), "which does not exist"),
    },
    "a.obj": {
        "empty": (b"", "at least 4 vertices"),
        "zero index": (obj(LOPSIDED, ["0 1 2"]), "line 10: index 0 does not exist"),
        "unknown vertex": (obj(LOPSIDED, ["1 2 9"]), "line 10: vertex 9 does not exist"),
        "unknown vertex of a polygon": (obj(LOPSIDED, ["1 2 3 4 99"]), "vertex 99 does not exist"),
        "unknown normal": (obj(LOPSIDED, ["1//1 2//9 3//1"], "vn 0 0 1"), "facenormal 0 uses index 8"),
        "huge index": (obj(LOPSIDED, [f"1 2 {2**31 - 1}"]), "does not exist"),
        "no corner": (obj(LOPSIDED, ["1 2 x"]), "'x' is no corner"),
        "no number": (obj(LOPSIDED, OBJ_CUBE).replace(b"v 0.", b"v nan ", 1), "is not finite"),
        "noise": (bytes(range(256)) * 400, "at least 4 vertices"),
    },
}


@pytest.mark.parametrize(
    ("file", "case"), [(file, case) for file, cases in DAMAGED.items() for case in cases]
)
def test_damaged_file(file, case):
    content, message = DAMAGED[file][case]
    start = time.process_time()
    with pytest.raises(MJCFError) as caught:
        compile_text(f'<mujoco><asset>\n<mesh file="{file}"/></asset></mujoco>', assets={file: content})
    assert time.process_time() - start < 1.0
    assert "<string>:2: <mesh" in str(caught.value)
    assert message in str(caught.value)


def test_a_plugin_reads_another_format():
    rows = {".tet": lambda content, name: {"vertex": np.frombuffer(content, np.float32).reshape(-1, 3)}}
    content = LOPSIDED.astype(np.float32).tobytes()
    compiled = compile_text(
        '<mujoco><asset><mesh file="a.TET"/></asset></mujoco>',
        assets={"a.TET": content},
        rows={"load_mesh": rows},
    )
    assert compiled.names["mesh"] == ("a",)
    assert compiled.sizes["nmeshface"] == 12


def test_a_plugin_replaces_an_inertia_mode():
    rows = {"legacy": lambda vertices, faces: (2.0, np.zeros(3), np.eye(3))}
    compiled = compile_text(scene(VERTICES, extra=""), rows={"mesh_inertia": rows})
    assert compiled.values["body_mass"][1] == 2000.0
    assert compiled.values["body_inertia"][1] == pytest.approx([1000.0] * 3)

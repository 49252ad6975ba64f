"""Mesh files in every spelling: what is read, and what is refused, is what MuJoCo reads and refuses."""

from __future__ import annotations

import struct
import time
import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import dovetail
from dovetail.errors import MJCFError
from dovetail.mjcf.geometry import bvh
from dovetail.mjcf.geometry.bvh import build_tree
from dovetail.plugins.load_mesh import ear_clipping_numpy, obj_numpy, obj_tables_numpy

VERTICES = ["v 0 0 0", "v 1 0 0.1", "v 0 1.2 0", "v 0.3 0.2 1.5", "v 1 1 1", "v 2 -.5 .7"]
FACES = ["f 1 3 2", "f 1 2 4", "f 2 3 4", "f 3 1 4"]
TEXTURED = ["vt 0 .2", "vt 1 1", "vn 0 0 1", "vn 0 1 0"]
FIELDS = (
    "mesh_vert",
    "mesh_face",
    "mesh_normal",
    "mesh_texcoord",
    "mesh_facenormal",
    "mesh_facetexcoord",
    "mesh_pos",
)
SCENE = (
    '<mujoco><asset><mesh name="m" file="m.{0}" inertia="shell"/></asset><worldbody><body>'
    '<geom type="mesh" mesh="m" contype="0" conaffinity="0"/></body></worldbody></mujoco>'
)


def obj(
    vertices: list[str] = VERTICES, faces: list[str] = FACES, between: tuple[str, ...] | list[str] = ()
) -> bytes:
    return ("\n".join([*vertices, *between, *faces]) + "\n").encode("latin-1")


def fifth(line: str) -> bytes:
    """A file in which one vertex, which no face uses, is written as `line`."""
    return obj([*VERTICES[:4], line, VERTICES[5]])


def verdicts(content: bytes, suffix: str) -> tuple[Any, Any]:
    """What MuJoCo and dovetail make of a file: fields by name, or None if they refuse it."""
    mujoco.mj_clearCache(mujoco.mj_getCache())  # which knows files by their names
    scene, assets = SCENE.format(suffix), {f"m.{suffix}": content}
    try:
        model = mujoco.MjModel.from_xml_string(scene, assets)
        theirs = {name: np.array(getattr(model, name)) for name in FIELDS}
    except ValueError:
        theirs = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            own = dovetail.loads(scene, assets=assets)
        ours = {name: np.array(own.field(name)) for name in FIELDS}
    except MJCFError:
        ours = None
    return theirs, ours


SINGLE = 2e-6
"""Some roundings of numbers up to ten in single precision, in which meshes are kept."""


def assert_same(content: bytes, suffix: str = "obj") -> None:
    theirs, ours = verdicts(content, suffix)
    assert (ours is None) == (theirs is None), "MuJoCo refuses it" if theirs is None else "MuJoCo accepts it"
    for name in FIELDS if theirs else ():
        assert ours[name].size == theirs[name].size, name
        np.testing.assert_allclose(
            ours[name].ravel(), theirs[name].ravel(), rtol=SINGLE, atol=SINGLE, err_msg=name
        )


NUMBERS = [
    "1e0",
    "1E+0",
    "10e-1",
    "+1",
    ".5",
    "5.",
    ".",
    "e5",
    "1e",
    "1e+",
    "-inf",
    "infinity",
    "1e39",
    "1e999",
    "1e-999",
    "x",
    "1x",
    "1.5x",
    "1,5",
    "--1",
    "+-1",
    "1_0",
    "0x10",
    "0x.8p1",
    "1e5x",
    "0.1234567890123456789",
    "123456789012345678901e-20",
    "#",
    "1#",
    "1.2.3",
    "1e1e1",
    "1e1.5",
    "-",
    "+",
    "-.5",
    "1e+-1",
    "1e0000001",
    "1/2",
    "16777217",
    "-0.0",
]


@pytest.mark.parametrize("number", NUMBERS)
def test_number(number: str) -> None:
    assert_same(fifth(f"v 1 {number} .3"))


@pytest.mark.parametrize("number", ["nan", "NaN", "-nan", "nan(1)"])
def test_vertex_that_is_no_number_is_refused_by_both(number: str) -> None:
    content = fifth(f"v 1 {number} .3")
    assert verdicts(content, "obj") == (None, None)
    with pytest.raises(MJCFError, match="vertex 4 is not finite"):
        dovetail.loads(SCENE.format("obj"), assets={"m.obj": content})


CORNERS = [
    "0 1 2",
    "1 2 7",
    "1 2 3 7",
    "1 2 3 4 7",
    "1 2 99999999999",
    "1 2 2147483648",
    "1 2 -99999999999",
    "1 2 x",
    "1 2 3x",
    "1 2 3.5",
    "+1 +2 +3",
    "1/ 2/ 3/",
    "1// 2// 3//",
    "1/// 2/// 3///",
    "1/1/1/1 2/1/1/1 3/1/1/1",
    "/1 2 3",
    "//1 2 3",
    "1/x 2 3",
    "1//x 2 3",
    "1 / 2 3",
    "1/0 2/1 3/1",
    "1/1/0 2/1/1 3/1/1",
    "1//0 2//1 3//1",
    "1/-1 2/-1 3/-1",
    "1//-1 2//-1 3//-1",
    "1/1/1 2//1 3/1",
    "1 2/1 3//1",
    "-6/-2/-1 2/1/2 3//1",
    "01 02 03",
    "1e0 2 3",
    "1,2 3 4",
    "- 1 2 3",
    "--1 2 3",
    "1 2 # 3",
    "1 1 2",
    "1 2 3\\",
    "1/+1 2/1 3/1",
    "-0 1 2",
    "1-2 3 4",
    "1/1- 2/1 3/1",
    "1/1 2 3//1 4/2/2",
    "4294967297 3 2",
    "1 2",
    "1",
    "-7 1 2",
    "-6 3 -5",
    "1 2 3 4 5",
    "1 2 3 4 5 6",
    "1 1 1 1 1",
    "1 2 2 3 4",
    "1 5 2 6",
    "4 1 2 5",
]


@pytest.mark.parametrize("corners", CORNERS)
@pytest.mark.parametrize("between", [(), TEXTURED], ids=["plain", "textured"])
def test_corners(corners: str, between: tuple[str, ...]) -> None:
    assert_same(obj(faces=[f"f {corners}", *FACES], between=between))


@pytest.mark.parametrize("word", ["1/3 2/1 3/1", "1//3 2//1 3//1"])
def test_texture_coordinates_and_normals_that_do_not_exist_are_refused(word: str) -> None:
    """MuJoCo accepts them, and reads outside its arrays when it draws the mesh."""
    with pytest.raises(MJCFError, match="which does not exist"):
        dovetail.loads(SCENE.format("obj"), assets={"m.obj": obj(faces=[f"f {word}"], between=TEXTURED)})


STATEMENTS = [
    "g a",
    "o a",
    "g",
    "o",
    "g ",
    "g a b",
    "g\ta",
    "s 1",
    "usemtl a",
    "mtllib q",
    "l 1 2",
    "l 1",
    "p 1",
    "p ",
    "l",
    "t crease",
    "vp 1 2",
    "garbage",
    "v",
    "v ",
    "vn",
    "vt",
    "V 1 2 3",
    "F 1 2 3",
    "f1 2 3",
    "l 1 99",
    "l 1 x",
    "p x",
    "l 1 2;o b",
    "p 1;g b",
    "g a;p 1;o b",
    "usemtl b;f 1 2 6",
    "f 1 2;p 1;o b",
    "  # c",
    "v 1 2",
    "v 1",
    "g b;f 1 2 99",
    "g b;f 1 2 x",
]


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("place", [6, 8, 10])
def test_other_statements(statement: str, place: int) -> None:
    lines = [*VERTICES, *FACES]
    assert_same(obj([*lines[:place], *statement.split(";"), *lines[place:]], []))


WHOLE = {
    "no newline at the end": obj().rstrip(),
    "carriage returns and newlines": obj().replace(b"\n", b"\r\n"),
    "carriage returns": obj().replace(b"\n", b"\r"),
    "tabs": obj().replace(b" ", b"\t"),
    "vertical tabs": obj().replace(b"v ", b"v\v"),
    "leading blanks": b"\n".join(b" \t" + line for line in obj().splitlines()),
    "trailing blanks": obj().replace(b"\n", b" \t\n"),
    "many blanks": obj().replace(b" ", b"  \t "),
    "continued face": obj(faces=["f 1 3 \\", "2", *FACES]),
    "continued vertex": obj([*VERTICES[:4], "v 1 \\", "1 1", VERTICES[5]]),
    "comment after a vertex": obj([VERTICES[0] + " # hi", *VERTICES[1:]]),
    "comment after a face": obj(faces=[FACES[0] + " # hi"]),
    "byte order mark": b"\xef\xbb\xbf" + obj(),
    "NUL in a comment": b"# a\0b\n" + obj(),
    "NUL in a vertex": fifth("v 1\0 2 3"),
    "form feed": fifth("v 1\f2 3"),
    "file separator": fifth("v 1 1 1\x1cv 2 2 2"),
    "colours": obj([v + " .1 .2 .3" for v in VERTICES]),
    "weights": obj([v + " 1.0" for v in VERTICES]),
    "some colours": obj([VERTICES[0] + " 1 0 0", *VERTICES[1:]]),
    "faces before their vertices": obj(FACES, VERTICES),
    "relative to what comes before": obj([*VERTICES[:4], "f -1 -2 -3"], VERTICES[4:]),
    "no faces": obj(faces=[]),
    "three vertices": obj(VERTICES[:3], ["f 1 2 3"]),
    "nothing": b"",
    "far away": obj([*VERTICES[:5], "v 2000000000 1 1"]),
    "one texture coordinate per line": obj(faces=["f 1/1 3/2 2/1"], between=["vt .5", "vt .1"]),
    "three texture coordinates per line": obj(faces=["f 1/1 3/2 2/1"], between=["vt .5 .1 7", "vt .1 .2 9"]),
    "short normals": obj(faces=["f 1//1 3//2 2//1"], between=["vn 0 1", "vn 1"]),
    "normal that is no number": obj(faces=["f 1//1 3//2 2//1"], between=["vn 0 nan 1", "vn 1 0 0"]),
    "endless normal": obj(faces=["f 1//1 3//2 2//1"], between=["vn 0 0 1e99", "vn 1 0 0"]),
    "unused normals": obj(between=["vn 0 0 1"]),
}


@pytest.mark.parametrize("case", WHOLE)
def test_whole_files(case: str) -> None:
    assert_same(WHOLE[case])


@pytest.mark.parametrize("seed", range(24))
def test_polygons_are_cut_as_mujoco_cuts_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(4, 7 if seed % 2 else 30))
    angle = np.sort(random.uniform(0, 2 * np.pi, count))
    radius = random.uniform(0.2, 1, count)
    points = np.stack(
        [radius * np.cos(angle), radius * np.sin(angle), 0.01 * random.normal(size=count)], axis=1
    )
    points = np.roll(points, seed, axis=1)
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in points] + ["v 0 0 3", "v 1 2 3", "v 3 2 1"]
    polygon = "f " + " ".join(str(k + 1) for k in range(count))
    assert_same(
        obj(lines, [polygon, f"f {count + 1} {count + 2} {count + 3}", f"f {count + 1} 1 {count + 2}"])
    )


def large_file(count: int) -> bytes:
    """Vertices, normals, texture coordinates and faces as modelling programs write them."""
    random = np.random.default_rng(count)
    rows = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in random.normal(size=(count, 3))]
    rows += [f"vn {x:.4f} {y:.4f} {z:.4f}" for x, y, z in random.normal(size=(count, 3))]
    rows += [f"vt {x:.6f} {y:.6f}" for x, y in random.uniform(size=(count, 2))]
    rows += ["f " + " ".join(f"{k}/{k}/{k}" for k in face) for face in random.integers(1, count, (count, 3))]
    return ("\n".join(rows) + "\n").encode()


def test_usual_files_are_read_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No word is looked at by itself."""
    content = large_file(300)
    expected = obj_numpy.load_mesh(content, "")
    for name in ("real", "corner"):
        monkeypatch.setattr(obj_numpy, name, None)
    again = obj_numpy.load_mesh(content, "")
    assert all((again[name] == expected[name]).all() for name in expected)


def test_both_ways_to_read_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    content = large_file(300)
    together = obj_numpy.load_mesh(content, "")
    for name in ("number_table", "corner_table"):
        monkeypatch.setattr(obj_numpy, name, lambda *arguments: None)
    alone = obj_numpy.load_mesh(content, "")
    assert set(alone) == set(together)
    assert all((alone[name] == together[name]).all() for name in alone)


@pytest.mark.parametrize("text", ["0.1 1.00000005960464477 16777217 -0", "123456789.123456 .000001 5. +7"])
def test_numbers_read_together_are_rounded_once(text: str) -> None:
    words = text.split()
    table = obj_tables_numpy.number_table(f"v {text}\n".encode(), b"v", 1, len(words))
    assert table is not None
    assert [x.hex() for x in table[0]] == [float(word).hex() for word in words]


def polygon_file(corners: int) -> bytes:
    angle = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    lines = [f"v {x:.6f} {y:.6f} 0" for x, y in zip(np.cos(angle), np.sin(angle), strict=True)]
    return obj([*lines, "v 0 0 1"], ["f " + " ".join(str(k + 1) for k in range(corners))])


def test_face_with_many_corners() -> None:
    assert len(obj_numpy.load_mesh(polygon_file(500), "")["face"]) == 498


@pytest.mark.parametrize("corners", [20_000, 100_000])
def test_face_with_too_many_corners_is_refused_at_once(corners: int) -> None:
    content = polygon_file(corners)
    start = time.process_time()
    with pytest.raises(MJCFError, match="comparisons to be cut into triangles"):
        dovetail.loads(SCENE.format("obj"), assets={"m.obj": content})
    assert time.process_time() - start < 5


def test_cutting_polygons_has_a_limit_however_they_are_shaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ear_clipping_numpy, "MOST_COMPARISONS", 100)
    monkeypatch.setattr(ear_clipping_numpy, "PER_CORNER", 1)
    with pytest.raises(ValueError, match="comparisons"):
        obj_numpy.load_mesh(polygon_file(60), "")


# binary formats

POINTS = np.array(
    [[0, 0, 0], [1, 0, 0.1], [0, 1.2, 0], [0.3, 0.2, 1.5], [1, 1, 1], [2, -0.5, 0.7]], np.float32
)
TRIANGLES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], np.int32)


def msh(points: np.ndarray = POINTS, normals: np.ndarray | None = None) -> bytes:
    counts = len(points), 0 if normals is None else len(normals), 0, len(TRIANGLES)
    parts = [points, np.zeros((0, 3), np.float32) if normals is None else normals]
    data = b"".join(part.astype("<f4").tobytes() for part in parts)
    return struct.pack("<4i", *counts) + data + TRIANGLES.astype("<i4").tobytes()


def stl(points: np.ndarray = POINTS, count: int = len(TRIANGLES)) -> bytes:
    kind = [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")]
    records = np.zeros(len(TRIANGLES), dtype=kind)
    records["corners"] = points[TRIANGLES]
    return bytes(80) + struct.pack("<I", count) + records.tobytes()


def changed(array: np.ndarray, place: int, value: float) -> np.ndarray:
    array = array.copy()
    array.ravel()[place] = value
    return array


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e38, 2e9, 2.0**30, 1e-40, -0.0])
def test_odd_coordinates(value: float) -> None:
    assert_same(msh(changed(POINTS, 15, value)), "msh")
    assert_same(stl(changed(POINTS, 4, value)), "stl")


def test_normal_that_is_no_number_in_msh() -> None:
    normals = np.tile(np.array([0, 0, 1], np.float32), (6, 1))
    assert_same(msh(normals=changed(normals, 4, np.nan)), "msh")


BINARY = {
    "msh short": ("msh", msh()[:-1]),
    "msh long": ("msh", msh() + b"x"),
    "msh header": ("msh", msh()[:15]),
    "stl short": ("stl", stl()[:-1]),
    "stl long": ("stl", stl() + b"x"),
    "stl no faces": ("stl", stl(count=0)),
    "stl fewer": ("stl", stl(count=3)),
    "stl header": ("stl", stl()[:83]),
}


@pytest.mark.parametrize("case", BINARY)
def test_damaged_binary_files(case: str) -> None:
    suffix, content = BINARY[case]
    assert_same(content, suffix)


# bounding volumes


@pytest.mark.parametrize("noise", [0.0, 1e-15])
def test_bounding_volumes_are_those_of_sorting_each_by_itself(
    noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leaves are sorted once along each axis; what rounding does to equal places must not matter."""
    random = np.random.default_rng(0)
    centres = np.round(random.normal(size=(300, 3)), 1) + noise * random.normal(size=(300, 3))
    boxes = centres, centres - 0.1, centres + random.uniform(size=(300, 1))
    quick = build_tree(*boxes)
    monkeypatch.setattr(bvh, "_orders", lambda centres: None)
    slow = build_tree(*boxes)
    assert all((quick[name] == slow[name]).all() for name in slow)


# Gmsh

GMSH_22 = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
4
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
$EndNodes
$Elements
1
1 4 2 1 1 1 2 3 4
$EndElements
"""
GMSH_41 = """$MeshFormat
4.1 0 8
$EndMeshFormat
$Nodes
1 4 1 4
3 1 0 4
1
2
3
4
0 0 0
1 0 0
0 1 0
0 0 1
$EndNodes
$Elements
1 1 1 1
3 1 4 1
1 1 2 3 4
$EndElements
"""
GMSH = {
    "2.2": (GMSH_22, True),
    "4.1": (GMSH_41, True),
    "blank line before the count": (GMSH_22.replace("$Elements\n1\n", "$Elements\n\n1\n"), True),
    "no count of elements": (GMSH_22.replace("$Elements\n1\n", "$Elements\n"), False),
    "no count of nodes": (GMSH_22.replace("$Nodes\n4\n", "$Nodes\n"), False),
    "count and element in one line": (GMSH_22.replace("$Elements\n1\n", "$Elements\n1 "), False),
    "blank after the count": (GMSH_22.replace("$Elements\n1\n", "$Elements\n1 \n"), False),
    "fraction as a tag": (GMSH_41.replace("3 1 0 4", "3 1.5 0 4"), False),
    "fraction as a count": (GMSH_41.replace("1 1 1 1", "1 1.5 1 1"), False),
    "fraction as a corner": (GMSH_41.replace("1 1 2 3 4", "1 1.5 2 3 4"), False),
    "tag of 33 bits": (GMSH_41.replace("3 1 0 4", "3 2147483648 0 4"), False),
    "element of 33 bits": (GMSH_22.replace("1 4 2 1 1", "2147483648 4 2 1 1"), False),
    "last character of the end": (GMSH_22.rstrip(), False),
}


@pytest.mark.parametrize("case", GMSH)
def test_gmsh_counts_and_integers(case: str, tmp_path: Path) -> None:
    text, accepted = GMSH[case]
    (tmp_path / "a.msh").write_text(text)
    flex = f'<flexcomp name="f" type="gmsh" file="{tmp_path}/a.msh" dim="3" mass="1" radius=".01"/>'
    xml = f"<mujoco><worldbody><body name='b'>{flex}</body></worldbody></mujoco>"
    results = []
    for load, refusal in ((mujoco.MjModel.from_xml_string, ValueError), (dovetail.loads, MJCFError)):
        try:
            results.append(load(xml).flex_elem.tolist())
        except refusal:
            results.append(None)
    assert results[0] == results[1]
    assert (results[0] is not None) == accepted

"""Flexcomps made from files: mesh files and Gmsh files in every form that MuJoCo reads.

MuJoCo reads these files from the disk only, never from given assets.
"""

from __future__ import annotations

import struct
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from compiling import compile_text
from test_flex import SOLID, shell, unequal

import dovetail
from dovetail.errors import MJCFError

mujoco = pytest.importorskip("mujoco")

CUBE = np.array(list(product((0.0, 1.0), repeat=3)))
_SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
FACES = np.array([[a, b, c] for a, *rest in _SIDES for b, c in (rest[:2], rest[1:])])
TETRAHEDRA = np.array([[0, 1, 3, 7], [0, 2, 3, 7], [0, 1, 5, 7], [0, 4, 5, 7]])
CHAIN = np.array([[i, i + 1] for i in range(7)])


def _lattice(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and tetrahedra: MuJoCo refuses small binary files of format 2.2."""
    points = 0.1 * np.array(list(product(range(size), repeat=3)), float)
    first = np.array([[size * size * x + size * y + z for x, y, z in product(range(size - 1), repeat=3)]]).T
    corner = first + np.array([size * size * x + size * y + z for x, y, z in product((0, 1), repeat=3)])
    return points, corner[:, TETRAHEDRA].reshape(-1, 4)


POINTS, CELLS = _lattice(5)


def obj(textured: bool) -> bytes:
    lines = [f"v {x} {y} {z}" for x, y, z in CUBE]
    lines += [f"vt {u} {v}" for u, v in ((0, 0), (1, 0), (1, 1))] if textured else []
    mark = ("/1", "/2", "/3") if textured else ("", "", "")
    lines += ["f " + " ".join(f"{v + 1}{m}" for v, m in zip(face, mark, strict=True)) for face in FACES]
    return "\n".join(lines).encode()


def stl() -> bytes:
    rows = [struct.pack("<12fH", 0, 0, 0, *CUBE[face].reshape(-1), 0) for face in FACES]
    return bytes(80) + struct.pack("<I", len(rows)) + b"".join(rows)


def gmsh(version: str, binary: bool, nodes: bytes, elements: bytes) -> bytes:
    end = b"\n" if binary else b""
    head = f"$MeshFormat\n{version} {int(binary)} 8\n".encode() + (
        struct.pack("<i", 1) + b"\n" if binary else b""
    )
    sections = b"$Nodes\n" + nodes + end + b"$EndNodes\n$Elements\n" + elements + end + b"$EndElements\n"
    return head + b"$EndMeshFormat\n" + sections


def text_41(points: np.ndarray, elements: np.ndarray, dim: int, kind: int) -> bytes:
    n, m = len(points), len(elements)
    nodes = [f"1 {n} 1 {n}", f"{dim} 1 0 {n}", *map(str, range(1, n + 1))]
    nodes += [" ".join(map(repr, row)) for row in points.tolist()]
    rows = [f"1 {m} 1 {m}", f"{dim} 1 {kind} {m}"]
    rows += [" ".join(map(str, [i + 1, *(row + 1)])) for i, row in enumerate(elements)]
    return gmsh("4.1", False, ("\n".join(nodes) + "\n").encode(), ("\n".join(rows) + "\n").encode())


def binary_41(points: np.ndarray, elements: np.ndarray, dim: int, kind: int) -> bytes:
    n, m = len(points), len(elements)
    nodes = struct.pack("<4Q3iQ", 1, n, 1, n, dim, 1, 0, n)
    nodes += np.arange(1, n + 1, dtype="<u8").tobytes() + points.astype("<f8").tobytes()
    rows = np.column_stack([np.arange(1, m + 1), elements + 1]).astype("<u8")
    return gmsh("4.1", True, nodes, struct.pack("<4Q3iQ", 1, m, 1, m, dim, 1, kind, m) + rows.tobytes())


def text_22(points: np.ndarray, elements: np.ndarray, kind: int, tags: str) -> bytes:
    nodes = [str(len(points)), *(f"{i + 1} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(points.tolist()))]
    rows = [str(len(elements))]
    rows += [f"{i + 1} {kind} {tags} " + " ".join(map(str, row + 1)) for i, row in enumerate(elements)]
    return gmsh("2.2", False, ("\n".join(nodes) + "\n").encode(), ("\n".join(rows) + "\n").encode())


def binary_22(elements: np.ndarray, kind: int, header_each: bool) -> bytes:
    nodes = f"{len(POINTS)}\n".encode()
    nodes += b"".join(struct.pack("<i3d", i + 1, *row) for i, row in enumerate(POINTS))
    m = len(elements)
    rows = f"{m}\n".encode() + (b"" if header_each else struct.pack("<3i", kind, m, 0))
    for i, row in enumerate(elements):
        rows += struct.pack("<6i", kind, 1, 2, i + 1, 0, 1) if header_each else struct.pack("<i", i + 1)
        rows += (row + 1).astype("<i4").tobytes()
    return gmsh("2.2", True, nodes, rows)


MESHES = {"cube.obj": obj(False), "textured.obj": obj(True), "cube.stl": stl()}
GMSHES = {
    "4.1 text solid": text_41(CUBE, TETRAHEDRA, 3, 4),
    "4.1 text surface": text_41(CUBE, FACES, 2, 2),
    "4.1 text line": text_41(CUBE, CHAIN, 1, 1),
    "4.1 binary solid": binary_41(CUBE, TETRAHEDRA, 3, 4),
    "4.1 binary surface": binary_41(CUBE, FACES, 2, 2),
    "2.2 text solid": text_22(CUBE, TETRAHEDRA, 4, "2 0 1"),
    "2.2 text surface": text_22(CUBE, FACES, 2, "2 0 1"),
    "2.2 text without tags": text_22(CUBE, TETRAHEDRA, 4, "0"),
    "2.2 binary solid": binary_22(CELLS, 4, True),
    "2.2 binary surface": binary_22(CELLS[:, :3], 2, True),
    "2.2 binary, one header": binary_22(CELLS, 4, False),
}


def model(directory: Path, attributes: str, content: str = "") -> str:
    comp = f'<flexcomp name="f" {attributes} scale=".1 .2 .3" pos="1 0 0">{content}</flexcomp>'
    return f'<mujoco><compiler meshdir="{directory}"/><worldbody>\n{comp}</worldbody></mujoco>'


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("origin", ["", ".5 .4 .3", "1.5 .4 .3"])
def test_mesh(tmp_path: Path, name: str, origin: str) -> None:
    (tmp_path / name).write_bytes(MESHES[name])
    how = f'dim="3" origin="{origin}"' if origin else 'dim="2"'
    assert (
        unequal(model(tmp_path, f'type="mesh" file="{name}" {how}', SOLID if origin else shell("both"))) == []
    )


@pytest.mark.parametrize("content", GMSHES.values(), ids=GMSHES)
def test_gmsh(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.msh").write_bytes(content)
    assert unequal(model(tmp_path, 'type="gmsh" file="a.msh" dim="1"')) == []


SOLID_41 = text_41(CUBE, TETRAHEDRA, 3, 4)
BAD = {
    "empty": (b"", "the file is empty"),
    "other file": (b"solid", "begins with $MeshFormat"),
    "no version": (b"$MeshFormat\nx", "must give the version"),
    "version": (SOLID_41.replace(b"4.1 0", b"4.0 0"), "save the mesh as format 4.1 or 2.2"),
    "no nodes": (SOLID_41.replace(b"$Nodes", b"$Nodez"), "$Nodes is missing"),
    "no end": (SOLID_41.replace(b"$EndElements", b""), "$EndElements is missing"),
    "two blocks": (SOLID_41.replace(b"$Nodes\n1 8", b"$Nodes\n2 8"), "single block"),
    "no number": (SOLID_41.replace(b"0.0 0.0 1.0", b"0.0 x 1.0"), "not a number"),
    "few nodes": (
        SOLID_41.replace(b"1 8 1 8\n3 1 0 8", b"1 9 1 9\n3 1 0 9"),
        "announces 9 nodes but has fewer",
    ),
    "huge": (
        SOLID_41.replace(b"1 8 1 8\n3 1 0 8", b"1 999999999999 1 999999999999\n3 1 0 999999999999"),
        "has fewer",
    ),
    "tags": (SOLID_41.replace(b"\n7\n8\n", b"\n8\n7\n"), "must be sequential"),
    "kind": (SOLID_41.replace(b"3 1 4 4", b"3 1 5 4"), "do not have dimension 3"),
    "node outside": (SOLID_41.replace(b"1 1 2 4 8", b"1 1 2 4 9"), "outside 1 to 8"),
    "cut binary": (
        binary_41(CUBE, TETRAHEDRA, 3, 4).replace(b"\0\0\n$EndElements", b"\n$EndElements"),
        "has fewer",
    ),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_damaged_gmsh_is_refused_by_both(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.msh").write_bytes(content)
    xml = model(tmp_path, 'type="gmsh" file="a.msh"')
    with pytest.raises(MJCFError) as caught:
        compile_text(xml)
    assert message in str(caught.value)
    assert "a.msh" in str(caught.value)
    assert caught.value.line == 2
    with pytest.raises(ValueError, match=r"Error"):
        mujoco.MjModel.from_xml_string(xml)


def test_msh_is_not_a_mesh_for_flexcomp(tmp_path: Path) -> None:
    with pytest.raises(MJCFError, match="use STL or OBJ"):
        compile_text(model(tmp_path, 'type="mesh" file="a.msh" dim="2"'))


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MJCFError, match="file not found"):
        compile_text(model(tmp_path, 'type="gmsh" file="a.msh"'))


def test_asset_given_as_bytes() -> None:
    compiled = compile_text(
        '<mujoco><worldbody><flexcomp name="f" type="gmsh" file="a.msh"/></worldbody></mujoco>',
        assets={"a.msh": SOLID_41},
    )
    assert compiled.sizes["nflexelem"] == len(TETRAHEDRA)


@pytest.mark.parametrize("dof", ["full", "radial", "trilinear", "quadratic"])
@pytest.mark.parametrize("origin", ["", ".5 .4 .3"])
def test_points_of_a_mesh_in_one_place_are_merged(tmp_path: Path, dof: str, origin: str) -> None:
    """Each triangle brings its own corners, as exporters write them."""
    corners = [tuple(float(c) for c in row.split()[1:]) for row in CUBE_POINTS]
    points = [corners[i] for face in CUBE_FACES for i in face]
    lines = [f"v {x} {y} {z}" for x, y, z in points]
    lines += [f"f {3 * i + 1} {3 * i + 2} {3 * i + 3}" for i in range(len(CUBE_FACES))]
    (tmp_path / "soup.obj").write_text("\n".join(lines))
    how = f'dim="3" origin="{origin}"' if origin else 'dim="2"'
    apart = '<contact selfcollide="none" internal="false"/>'
    xml = model(tmp_path, f'type="mesh" file="soup.obj" dof="{dof}" {how}', apart)
    named = xml.replace("<flexcomp", '<body name="parent"><flexcomp').replace(
        "</flexcomp>", "</flexcomp></body>"
    )
    assert unequal(named) == []
    assert dovetail.loads(named).nflexvert == len(CUBE_POINTS) + bool(origin)


CUBE_POINTS = [f"v {x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1)]
CUBE_FACES = [
    *((0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)),
    *((2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)),
]

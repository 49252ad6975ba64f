"""Where files are looked for that main models, included files and attached models name, like in MuJoCo."""

from __future__ import annotations

import random
import struct

import both
import pytest
from compiling import compile_file, compile_text

from dovetail.errors import MJCFError

SOLID = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nv 0 0 {0}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


def solid(number: int) -> bytes:
    return SOLID.format(number + 1).encode()


def field(number: int) -> bytes:
    rows = number + 2
    return struct.pack("<ii", rows, 2) + struct.pack(f"<{2 * rows}f", *range(2 * rows))


def skin(number: int) -> bytes:
    count = number + 3
    vertices = struct.pack("<iiii", count, 0, 1, 1) + struct.pack(f"<{3 * count}f", *range(3 * count))
    bone = b"world".ljust(40, b"\0") + struct.pack("<7fi", 0, 0, 0, 1, 0, 0, 0, count)
    weights = struct.pack(f"<{count}i", *range(count)) + struct.pack(f"<{count}f", *[1] * count)
    return vertices + struct.pack("<3i", 0, 1, 2) + bone + weights


def image(number: int) -> bytes:
    width = number + 1
    return struct.pack("<ii", width, 1) + bytes(range(3 * width))


KINDS = {
    "mesh": (".obj", solid, '<asset><mesh name="t" file="{}"/></asset>'),
    "hfield": (".hf", field, '<asset><hfield name="t" size="1 1 1 1" file="{}"/></asset>'),
    "skin": (".skn", skin, '<deformable><skin name="t" file="{}"/></deformable>'),
    "texture": (
        ".bin",
        image,
        '<asset><texture name="t" type="2d" file="{}" content_type="image/vnd.mujoco.texture"/></asset>',
    ),
    "flexcomp": (
        ".obj",
        solid,
        '<worldbody><flexcomp name="f" type="mesh" dim="2" file="{}" mass="1" radius=".01"/></worldbody>',
    ),
}
FOLDERS = ["", "assets/", "sub/", "sub/assets/", "sub/deep/", "mdir/", "sub/mdir/", "other/"]
COMPILERS = ["", 'meshdir="mdir"', 'texturedir="mdir"', 'assetdir="assets"', 'strippath="true"']
COMPILERS += ['strippath="true" assetdir="assets"', 'assetdir="assets" meshdir="mdir"', 'meshdir="../mdir"']


def write(root, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def included(kind: str, name: str, compiler: str = "") -> dict[str, str | bytes]:
    """A main model, and the file that it includes from a folder, which names another file."""
    body = KINDS[kind][2].format(name + KINDS[kind][0])
    settings = f"<compiler {compiler}/>" if compiler else ""
    return {
        "m.xml": f'<mujoco>{settings}<include file="sub/p.xml"/></mujoco>',
        "sub/p.xml": f"<x>{body}</x>",
    }


def stored(kind: str, *folders: str) -> dict[str, str | bytes]:
    """Different files of the same name, one in each folder."""
    suffix, make, _ = KINDS[kind]
    return {f"{folder}a{suffix}": make(FOLDERS.index(folder)) for folder in folders}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["a", "../a", "assets/a", "../assets/a"])
def test_files_of_an_included_file(tmp_path, kind, name):
    write(tmp_path, included(kind, name))
    folders = ["", "sub/", "assets/", "sub/assets/"]
    while folders:
        write(tmp_path, stored(kind, *folders))
        assert both.disagreement_on_file(tmp_path / "m.xml") == []
        gone = folders.pop(0)
        (tmp_path / f"{gone}a{KINDS[kind][0]}").unlink()


def test_a_mesh_above_the_included_file_is_found(tmp_path):
    write(tmp_path, included("mesh", "../assets/a") | stored("mesh", "assets/"))
    assert compile_file(tmp_path / "m.xml").sizes["nmesh"] == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_directories_of_the_compiler(tmp_path, kind, compiler):
    write(tmp_path, included(kind, "a", compiler))
    for folders in (["mdir/"], ["assets/"], ["sub/"], [""], FOLDERS):
        write(tmp_path, stored(kind, *folders))
        assert both.disagreement_on_file(tmp_path / "m.xml") == []
        for folder in folders:
            (tmp_path / f"{folder}a{KINDS[kind][0]}").unlink()


ATTACH = '<worldbody><attach model="s" prefix="p"/></worldbody>'
ROBOT = KINDS["mesh"][2].format("a.obj") + '<worldbody><geom type="mesh" mesh="t"/></worldbody>'


@pytest.mark.parametrize("where", ["", "sub/"])
@pytest.mark.parametrize("compiler", ["", 'meshdir="assets"', 'strippath="true"'])
def test_models_of_an_included_file_are_beside_it(tmp_path, where, compiler):
    """Unlike other files, also if there is one beside the main model."""
    settings = f"<compiler {compiler}/>" if compiler else ""
    files: dict[str, str | bytes] = {
        "m.xml": f'<mujoco>{settings}<include file="sub/p.xml"/>{ATTACH}</mujoco>',
        "sub/p.xml": '<x><asset><model name="s" file="s.xml"/></asset></x>',
        f"{where}s.xml": f"<mujoco>{settings}{ROBOT}</mujoco>",
    }
    write(tmp_path, files | stored("mesh", *FOLDERS))
    assert both.disagreement_on_file(tmp_path / "m.xml") == []


def test_includes_of_includes(tmp_path):
    files: dict[str, str | bytes] = {
        "m.xml": '<mujoco><include file="sub/p.xml"/></mujoco>',
        "sub/p.xml": '<x><include file="deep/q.xml"/></x>',
        "sub/deep/q.xml": f"<x>{KINDS['mesh'][2].format('a.obj')}</x>",
        "sub/deep/a.obj": solid(1),
    }
    write(tmp_path, files)
    assert both.disagreement_on_file(tmp_path / "m.xml") == []
    write(tmp_path, {"deep/q.xml": f"<x>{KINDS['mesh'][2].format('../a.obj')}</x>", "a.obj": solid(2)})
    assert both.disagreement_on_file(tmp_path / "m.xml") == []


@pytest.mark.parametrize("seed", range(60))
def test_random_trees_of_files(tmp_path, seed):
    chance = random.Random(seed)
    kind = chance.choice(list(KINDS))
    suffix, _, text = KINDS[kind]
    name = (
        chance.choice(["a", "../a", "assets/a", "../assets/a", "mdir/a", "deep/a", "../other/a", "./a"])
        + suffix
    )
    chain = chance.choice([["m.xml"], ["m.xml", "sub/p.xml"], ["m.xml", "sub/p.xml", "sub/deep/q.xml"]])
    compiler = chance.choice(COMPILERS)
    files: dict[str, str | bytes] = {}
    for place, file in enumerate(chain):
        last = place == len(chain) - 1
        below = text.format(name) if last else f'<include file="{chain[place + 1]}"/>'
        settings = f"<compiler {compiler}/>" if compiler and chance.random() < 0.6 else ""
        files[file] = f"<{'x' if place else 'mujoco'}>{settings}{below}</{'x' if place else 'mujoco'}>"
    main = "m.xml"
    if chance.random() < 0.4:
        main = "t.xml"
        files[main] = f'<mujoco><asset><model name="s" file="m.xml"/></asset>{ATTACH}</mujoco>'
    write(tmp_path, files | stored(kind, *chance.sample(FOLDERS, 4)))
    (tmp_path / "sub" / "deep").mkdir(parents=True, exist_ok=True)
    assert both.disagreement_on_file(tmp_path / main) == []


GIVEN = {"p.xml": f"<x>{KINDS['mesh'][2].format('a.obj')}</x>", "a.obj": solid(1)}


@pytest.mark.parametrize("include", ["p.xml", "sub/p.xml", "./p.xml", "../p.xml", "SUB/P.xml"])
@pytest.mark.parametrize("folder", ["", "sub/", "other/"])
def test_given_assets_are_known_by_their_last_part(include, folder):
    assets = {f"{folder}{name}": content for name, content in GIVEN.items()}
    xml = f'<mujoco><include file="{include}"/></mujoco>'
    assert both.disagreement(xml, assets) == []
    assert compile_text(xml, assets=assets).sizes["nmesh"] == 1


@pytest.mark.parametrize("file", ["s.xml", "sub/s.xml"])
def test_given_models_are_known_by_their_last_part(file):
    xml = f'<mujoco><asset><model name="s" file="{file}"/></asset>{ATTACH}</mujoco>'
    for folder in ("", "sub/", "other/"):
        assets = {f"{folder}s.xml": f"<mujoco>{ROBOT}</mujoco>", f"{folder}a.obj": solid(1)}
        assert both.disagreement(xml, assets) == []


def test_a_jail_holds_for_both_places(tmp_path):
    inside = tmp_path / "inside"
    write(inside, included("mesh", "../assets/a") | stored("mesh", "assets/"))
    assert compile_file(inside / "m.xml", asset_root=inside).sizes["nmesh"] == 1
    write(inside, included("mesh", "../../a"))
    write(tmp_path, {"a.obj": solid(1)})
    with pytest.raises(MJCFError, match="asset_root"):
        compile_file(inside / "m.xml", asset_root=inside)


def test_a_file_that_is_nowhere(tmp_path):
    write(tmp_path, included("mesh", "a"))
    with pytest.raises(MJCFError, match=r"p\.xml:1: <mesh .*file not found, looked for .*sub.a\.obj"):
        compile_file(tmp_path / "m.xml")

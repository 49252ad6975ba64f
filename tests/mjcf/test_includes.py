"""Includes: where files are looked for, what is refused, and that errors name the included file."""

from __future__ import annotations

import pytest
from compiling import compile_file, compile_text

from dovetail.errors import MJCFError

PART = "<mujocoinclude>\n<worldbody><geom name='{}' size='.1'/></worldbody>\n</mujocoinclude>"


def write(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.xml").write_text(text)


def main(*files: str) -> str:
    return "<mujoco>" + "".join(f"<include file='{file}'/>" for file in files) + "</mujoco>"


def test_include_is_expanded_in_place(same_as_mujoco):
    assets = {
        "a.xml": "<mujoco><geom size='.1'/><body><include file='b.xml'/></body></mujoco>",
        "b.xml": "<x><joint/><geom size='.2'/></x>",
    }
    xml = "<mujoco><worldbody><geom size='.3'/><include file='a.xml'/><geom size='.4'/></worldbody></mujoco>"
    assert same_as_mujoco(xml, assets=assets).sizes["ngeom"] == 4


def test_nested_include_is_found_beside_the_including_file(tmp_path):
    (tmp_path / "sub").mkdir()
    write(tmp_path, m=main("sub/a.xml"))
    write(tmp_path / "sub", a=main("b.xml"), b=PART.format("deep"))
    assert compile_file(tmp_path / "m.xml").names["geom"] == ("deep",)


def test_directory_of_the_main_file_comes_first(tmp_path):
    (tmp_path / "sub").mkdir()
    write(tmp_path, m=main("sub/a.xml"), b=PART.format("beside main"))
    write(tmp_path / "sub", a=main("b.xml"), b=PART.format("beside a"))
    assert compile_file(tmp_path / "m.xml").names["geom"] == ("beside main",)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"m": main("gone.xml")}, "file not found, looked for"),
        ({"m": main("m.xml")}, "already included"),
        ({"m": main("a.xml"), "a": main("b.xml"), "b": main("a.xml")}, "already included"),
        ({"m": main("a.xml", "a.xml"), "a": PART.format("g")}, "include it once"),
        ({"m": main("a.xml", "./a.xml"), "a": PART.format("g")}, "include it once"),
        ({"m": main("a.xml"), "a": "<mujoco/>"}, "the included file has no elements"),
        ({"m": "<mujoco><include/></mujoco>"}, "required attribute missing"),
        ({"m": "<mujoco><include fil='a.xml'/></mujoco>"}, "required attribute missing"),
        ({"m": "<mujoco><include file='a.xml'><geom/></include></mujoco>"}, "cannot have children"),
        ({"m": main(".")}, "is a directory"),
    ],
)
def test_refused(tmp_path, files, message):
    write(tmp_path, **files)
    with pytest.raises(MJCFError, match=message) as caught:
        compile_file(tmp_path / "m.xml")
    assert ".xml:1: <include" in str(caught.value)


def test_error_names_the_included_file(tmp_path):
    write(tmp_path, m=main("a.xml"), a=PART.format("g").replace("size", "siez"))
    with pytest.raises(MJCFError, match=r"a\.xml:2: <geom name=\"g\" siez") as caught:
        compile_file(tmp_path / "m.xml")
    assert caught.value.file.endswith("a.xml")


def test_asset_root_jails_all_files(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    write(tmp_path, secret=PART.format("s"))
    write(inside, m=main("../secret.xml"), ok=main("part.xml"), part=PART.format("p"))
    assert compile_file(inside / "m.xml").names["geom"] == ("s",)
    assert compile_file(inside / "ok.xml", asset_root=inside).names["geom"] == ("p",)
    with pytest.raises(MJCFError, match="outside asset_root"):
        compile_file(inside / "m.xml", asset_root=inside)
    (inside / "link.xml").symlink_to(tmp_path / "secret.xml")
    write(inside, m=main("link.xml"))
    with pytest.raises(MJCFError, match="outside asset_root"):
        compile_file(inside / "m.xml", asset_root=inside)


def test_unknown_asset_lists_the_given_ones():
    with pytest.raises(MJCFError, match=r"assets given: part\.xml; did you mean 'part\.xml'"):
        compile_text(main("prt.xml"), assets={"part.xml": PART.format("g")})


def test_depth_counts_across_includes(tmp_path):
    deep = "<body>" * 300 + "{}" + "</body>" * 300
    write(
        tmp_path,
        m="<mujoco><worldbody>" + deep.format("<include file='a.xml'/>") + "</worldbody></mujoco>",
        a="<x>" + deep.format("") + "</x>",
    )
    with pytest.raises(MJCFError, match="500 deep"):
        compile_file(tmp_path / "m.xml")

"""`dovetail check` tells all mistakes of a file at once, and `dovetail info` what a model needs to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.mjcf.read.lint import schema_problems

SLOPPY = """<mujoco>
  <include file="more.xml"/>
  <worldbody>
    <geom siz="1"/>
    <body nam="b"><gem/><joint type="hinj" damping="a"/></body>
  </worldbody>
  <actuator><motor joint="x" gear="1 2 3 4 5 6 7"/></actuator>
</mujoco>
"""


@pytest.fixture
def sloppy(tmp_path: Path) -> Path:
    (tmp_path / "more.xml").write_text("<mujoco>\n<option gravity='0 0'/></mujoco>")
    path = tmp_path / "sloppy.xml"
    path.write_text(SLOPPY)
    return path


def test_every_mistake_is_found_with_its_place(sloppy: Path) -> None:
    found = schema_problems(sloppy)
    assert [(Path(p.file).name, p.line) for p in found] == [
        ("more.xml", 2),
        ("sloppy.xml", 4),
        ("sloppy.xml", 5),
        ("sloppy.xml", 5),
        ("sloppy.xml", 5),
        ("sloppy.xml", 5),
        ("sloppy.xml", 7),
    ]


def test_check_prints_them_all(run, sloppy: Path) -> None:
    answer = run("check", sloppy)
    assert answer.code == 1
    for mistake in (
        "'siz'",
        "'nam'",
        "<gem>",
        "'hinj'",
        "'a' is not a number",
        "has 7 values",
        "has 2 values",
    ):
        assert mistake in answer.out


def test_a_mistake_that_only_the_compiler_sees_is_told_too(run, tmp_path: Path) -> None:
    path = tmp_path / "dangling.xml"
    path.write_text("<mujoco>\n<actuator>\n<motor joint='x'/></actuator></mujoco>")
    answer = run("check", path)
    assert answer.code == 1
    assert f"{path}:3: " in answer.out
    assert schema_problems(path) == []


def test_a_file_that_is_not_xml_is_one_problem(run, tmp_path: Path) -> None:
    path = tmp_path / "broken.xml"
    path.write_text("<mujoco>\n<worldbody>\n</mujoco>")
    answer = run("check", path, "--json")
    [report] = answer.json["models"]
    assert [problem["line"] for problem in report["problems"]] == [3]


def test_info_lists_masses_features_and_stages(run, tmp_path: Path) -> None:
    path = tmp_path / "ball.xml"
    path.write_text(
        '<mujoco model="ball"><worldbody><geom name="floor" type="plane" size="1 1 1"/>'
        '<body pos="0 0 1"><freejoint/><geom name="ball" size="0.1"/></body></worldbody></mujoco>'
    )
    answer = run("info", path, "--json")
    assert answer.code == 0
    stages = {stage["slot"]: stage for stage in answer.json["stages"]}
    assert stages["narrowphase"]["reason"] == "geoms that can collide"
    assert any(feature.startswith("geom.") for feature in answer.json["features"])
    assert answer.json["bodies"][1]["subtree_mass"] >= answer.json["bodies"][1]["mass"] > 0
    text = run("info", path).out
    assert "principal moments" in text
    assert "features" in text

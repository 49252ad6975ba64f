"""`--asset-root` of every command that loads a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from dovetail.cli import main

PART = "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    (tmp_path / "part.xml").write_text(PART)
    (tmp_path / "root" / "out.xml").write_text("<mujoco><include file='../part.xml'/></mujoco>")
    (tmp_path / "root" / "in.xml").write_text(PART)
    return tmp_path


@pytest.mark.parametrize("command", ["info", "plan", "check", "run"])
def test_a_model_with_all_its_files_inside_is_loaded(folder: Path, command: str) -> None:
    words = [command, str(folder / "root" / "in.xml"), "--asset-root", str(folder / "root"), "--json"]
    done = CliRunner().invoke(main, [*words, "--steps", "1"] if command == "run" else words)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)


def test_check_tells_of_the_file_outside_and_does_not_read_it(folder: Path) -> None:
    (folder / "part.xml").write_text("<mujoco><secret/></mujoco>")
    root = folder / "root"
    done = CliRunner().invoke(main, ["check", str(root / "out.xml"), "--asset-root", str(root)])
    assert done.exit_code == 1
    assert "is outside asset_root" in done.output
    assert "secret" not in done.output

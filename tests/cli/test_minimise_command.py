"""`dovetail minimise`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dovetail.cli import main

WILD = """
<mujoco><option timestep="0.1"><flag constraint="disable" eulerdamp="disable"/></option>
  <worldbody>
    <body><joint type="slide"/><geom size=".1"/></body>
    <body><joint type="slide" damping="-2000"/><geom size=".01"/></body>
  </worldbody>
</mujoco>
"""


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["minimise", *words])
    return int(left.value.code or 0)


@pytest.fixture
def wild(tmp_path: Path) -> str:
    path = tmp_path / "wild.xml"
    path.write_text(WILD)
    return str(path)


def test_it_prints_the_model_and_writes_it(
    wild: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(wild, "--shows", "nan", "--steps", "30", "--out", str(tmp_path / "bug")) == 0
    assert "2 bodies became 1" in capsys.readouterr().out
    assert {p.name for p in (tmp_path / "bug").iterdir()} == {"model.xml", "state.npz", "README.txt"}


def test_json_has_the_model(wild: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(wild, "--shows", "nan", "--steps", "30", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bodies"] == 1
    assert "damping" in report["xml"]


def test_what_is_not_shown_or_not_said_is_refused(wild: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(wild, "--shows", "nan") == 2
    assert "does not show it" in capsys.readouterr().err
    assert run(wild, "--shows", "diff", "--stage", "kinematics", "--a", "tree@numpy") == 2
    assert "--shows diff needs --b" in capsys.readouterr().err

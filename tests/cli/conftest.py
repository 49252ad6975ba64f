"""Running commands in this process: `run("info", "arm")` gives exit code, stdout and stderr."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from without_stage import hide

from dovetail.cli import main


@attrs.frozen
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Stdout as JSON: fails if anything else is there."""
        return json.loads(self.out)


Run = Callable[..., Answer]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)  # no configuration file of the checkout takes part

    def invoke(*words: object) -> Answer:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in words], prog_name="dovetail")
        printed = capsys.readouterr()
        return Answer(int(left.value.code or 0), printed.out, printed.err)

    return invoke


@pytest.fixture
def bad_model(tmp_path: Path) -> Path:
    """A model with a misspelt element on line 3."""
    path = tmp_path / "bad.xml"
    path.write_text("<mujoco>\n  <worldbody>\n    <bodi/>\n  </worldbody>\n</mujoco>\n")
    return path


@pytest.fixture
def soft_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A valid model that needs a stage nothing implements: a soft cube, while nobody knows where its vertices are."""
    hide(monkeypatch, "flex_kinematics")
    path = tmp_path / "cube.xml"
    path.write_text(
        '<mujoco model="cube"><worldbody>'
        '<flexcomp name="cube" type="grid" count="2 2 2" spacing="1 1 1" mass="1" dim="3">'
        '<contact contype="0" conaffinity="0"/></flexcomp></worldbody></mujoco>'
    )
    return path

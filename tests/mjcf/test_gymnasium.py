"""Gymnasium's models compile to MuJoCo's values, in far less than a second."""

from __future__ import annotations

import time
from pathlib import Path

import comparing
import pytest
from compiling import compile_file, compile_text

MODELS = (
    "ant half_cheetah hopper inverted_pendulum inverted_double_pendulum point pusher pusher_v5 reacher swimmer "
    "walker2d walker2d_v5"
)


WITH_TENDONS = ("humanoid", "humanoidstandup")
"""Their springs have lengths that follow from a pose, so the finished models are compared."""


def path_of(name: str) -> Path:
    gymnasium = pytest.importorskip("gymnasium")
    return Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{name}.xml"


@pytest.mark.parametrize("name", MODELS.split())
def test_every_value_is_mujocos(name):
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_path(str(path_of(name)))
    assert comparing.differences(compile_file(path_of(name)), theirs) == []


@pytest.mark.parametrize("name", WITH_TENDONS)
def test_every_value_is_mujocos_with_tendons(name):
    pytest.importorskip("mujoco")
    from finished import different_fields

    text = path_of(name).read_text()
    assert "<tendon>" in text
    assert different_fields(text) == []


def test_loading_is_quick():
    body = '<body pos="0 0 1"><joint/><geom type="box" size=".1 .2 .3"/><geom size=".1" pos="1 0 0"/>'
    xml = f"<mujoco><worldbody>{body * 30}{'</body>' * 30}</worldbody></mujoco>"
    compile_text(xml)
    start = time.process_time()
    compile_text(xml)
    assert time.process_time() - start < 0.5

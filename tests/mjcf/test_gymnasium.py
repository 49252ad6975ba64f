"""Gymnasium's models compile to MuJoCo's values, in far less than a second."""

from __future__ import annotations

import time
from pathlib import Path

import comparing
import pytest
from compiling import compile_file, compile_text

WHOLE = (
    "ant half_cheetah hopper inverted_pendulum inverted_double_pendulum point pusher pusher_v5 reacher swimmer "
    "walker2d walker2d_v5"
)
STRIPPED = ("humanoid", "humanoidstandup")


def path_of(name: str) -> Path:
    gymnasium = pytest.importorskip("gymnasium")
    return Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{name}.xml"


def stripped(name: str) -> str:
    """The model without tendons, which are not supported yet."""
    from lxml import etree

    tree = etree.parse(path_of(name))
    for element in list(tree.iter("fixed")):
        element.getparent().remove(element)
    return etree.tostring(tree, encoding="unicode")


@pytest.mark.parametrize("name", WHOLE.split())
def test_whole_model(name):
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_path(str(path_of(name)))
    assert comparing.differences(compile_file(path_of(name)), theirs) == []


@pytest.mark.parametrize("name", STRIPPED)
def test_model_without_unsupported_elements(name, same_as_mujoco):
    same_as_mujoco(stripped(name))


def test_loading_is_quick():
    body = '<body pos="0 0 1"><joint/><geom type="box" size=".1 .2 .3"/><geom size=".1" pos="1 0 0"/>'
    xml = f"<mujoco><worldbody>{body * 30}{'</body>' * 30}</worldbody></mujoco>"
    compile_text(xml)
    start = time.process_time()
    compile_text(xml)
    assert time.process_time() - start < 0.5

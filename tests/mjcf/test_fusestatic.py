"""`<compiler fusestatic>`: the same bodies are fused as in MuJoCo, with the same poses and inertia."""

from __future__ import annotations

import re

import comparing
import pytest
from compiling import compile_text

from dovetail.mjcf import Compiled

ARM = '<body name="a" pos="1 0 0"><joint name="ja"/><geom name="ga" size=".1"/>{}</body>'
PART = '<body name="s" pos="0 .2 1" euler="10 20 30"><geom name="gs" type="box" size=".2 .1 .3"/>{}</body>'
OTHER = '<body name="c" pos="0 1 1"><joint name="jc"/><geom name="gc" size=".1"/></body>'
INERTIAL = '<inertial mass="3" pos="0 1 0" diaginertia="2 2.5 3" euler="40 0 0"/>'


def model(tree: str, rest: str = "") -> str:
    return f'<mujoco><compiler fusestatic="true"/><worldbody>{tree}</worldbody>{rest}</mujoco>'


def check(xml: str) -> Compiled:
    """Compare with MuJoCo all but bounding volumes, of which it leaves unused rows behind."""
    mujoco = pytest.importorskip("mujoco")
    compiled = compile_text(xml)
    found = comparing.differences(compiled, mujoco.MjModel.from_xml_string(xml), relative=1e-10)
    assert [line for line in found if not re.match("nbvh|bvh_|body_bvh", line)] == []
    return compiled


@pytest.mark.parametrize(
    "tree",
    [
        ARM.format(PART.format("")),
        ARM.format(PART.format(INERTIAL)),
        ARM.format(PART.format('<body name="s2" pos="1 0 0"><geom type="capsule" size=".1 .3"/></body>')),
        ARM.format(PART.format(OTHER) + '<geom name="last" size=".1"/>'),
        PART.format('<site name="si" pos="1 0 0"/>') + ARM.format(""),
        PART.format(ARM.format("")),
        '<body name="mo" mocap="true" pos="0 0 1"><geom size=".1"/></body>' + PART.format(""),
        '<body name="s"><freejoint align="true"/><geom size=".2"/><body pos="0 0 1"><geom size=".1"/></body></body>',
        '<body gravcomp="1"><geom size=".1"/></body>' + ARM.format(""),
        ARM.format(PART.format("") + '<camera mode="targetbody" target="s"/>'),
    ],
)
def test_tree(tree):
    check(model(tree))


@pytest.mark.parametrize(
    "rest",
    [
        '<sensor><framepos objtype="body" objname="s"/></sensor>',
        '<sensor><framepos objtype="geom" objname="gs"/></sensor>',
        '<contact><exclude body1="s" body2="a"/></contact>',
        '<custom><tuple name="t"><element objtype="body" objname="s"/></tuple></custom>',
    ],
)
def test_named_bodies_are_kept(rest):
    compiled = check(model(ARM.format(PART.format("")), rest))
    assert ("s" in compiled.names["body"]) == ("gs" not in rest)


def test_cameras_and_lights_move_to_the_parent():
    """MuJoCo 3.4.0 itself crashes here."""
    looks = '<camera name="c" pos="1 0 0"/><light name="l" pos="0 0 1" dir="1 0 0"/>'
    fused = compile_text(model(f'<body pos="1 2 3" euler="0 0 90">{looks}</body>'))
    assert fused.sizes["nbody"] == 1
    assert fused.values["cam_pos"][0] == pytest.approx([1, 3, 3])
    assert fused.values["light_dir"][0] == pytest.approx([0, 1, 0])

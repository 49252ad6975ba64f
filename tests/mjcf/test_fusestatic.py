"""`<compiler fusestatic>`: the same bodies are fused as in MuJoCo, with the same poses and inertia."""

from __future__ import annotations

import re

import comparing
import pytest
import whole_model
from compiling import compile_text

import dovetail
from dovetail.errors import MJCFError
from dovetail.mjcf import Compiled
from dovetail.mjcf.model.fuse import OtherObjectWarning

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


# ---- what keeps a body

JOINTED = '<body name="{0}" pos="{1}"><joint axis="1 0 0"/><geom name="g{0}" size=".1"/><site name="s{0}"/>{2}</body>'
STATIC = '<body name="{0}" pos="{1}"><geom name="g{0}" size=".2"/><site name="s{0}" pos=".1 0 0"/>{2}</body>'
UNNAMED = STATIC.replace('body name="{0}"', "body")


def jointed(name: str, inside: str = "") -> str:
    return JOINTED.format(name, "0 1 1", inside)


def static(name: str, inside: str = "") -> str:
    return STATIC.format(name, "0 .2 1", inside)


def unnamed(name: str) -> str:
    return UNNAMED.format(name, "0 2 .5", "")


TREES = {
    "in a body": jointed("a", static("x")) + jointed("c"),
    "in the last body": jointed("a") + jointed("c", static("x")),
    "in the world": static("x") + jointed("a") + jointed("c"),
    "after one that is fused": static("u") + jointed("a", static("x")) + jointed("c"),
    "after three that are fused": unnamed("v")
    + unnamed("w")
    + static("u")
    + jointed("a")
    + jointed("c", static("x")),
    "after a sibling": jointed("a", jointed("c") + static("x")),
    "around another": jointed("a", jointed("c", static("x", static("u")))),
    "after geoms that change places": jointed("a", jointed("d") + unnamed("v")) + jointed("c") + static("x"),
}
_FRAME = '<sensor><framepos objtype="{}" objname="{}"/></sensor>'
_SEEN = '<sensor><framepos objtype="geom" objname="ga" reftype="{}" refname="x"/></sensor>'
_VERTICES = 'vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 2 0 2 3"'
_BONE = '<bone body="x" bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2 3" vertweight="1 1 1 1"/>'
REFERENCES = {
    "nothing": "",
    "camera": '@<camera mode="targetbody" target="x"/>',
    "light": '@<light mode="targetbody" target="x"/>',
    "skin": f'<asset><skin name="k" {_VERTICES}>{_BONE}</skin></asset>',
    "exclude": '<contact><exclude body1="c" body2="x"/></contact>',
    "pair": '<contact><pair geom1="gx" geom2="gc"/></contact>',
    "connect": '<equality><connect body1="x" anchor="0 0 0"/></equality>',
    "weld": '<equality><weld body1="c" body2="x"/></equality>',
    "weld of sites": '<equality><weld site1="sx" site2="sc"/></equality>',
    "tendon": '<tendon><spatial><site site="sx"/><geom geom="ga"/><site site="sc"/></spatial></tendon>',
    "adhesion": '<actuator><adhesion body="x" ctrlrange="0 1"/></actuator>',
    "actuator of sites": '<actuator><general site="sc" refsite="sx"/></actuator>',
    "tuple": '<custom><tuple name="t"><element objtype="body" objname="x"/></tuple></custom>',
    "tuple of a geom": '<custom><tuple name="t"><element objtype="geom" objname="gx"/></tuple></custom>',
    "text": '<custom><text name="x" data="x"/></custom>',
    "key": '<keyframe><key name="x"/></keyframe>',
    "frame": _FRAME.format("body", "x"),
    "reference frame": _SEEN.format("body"),
    "frame of another body": _FRAME.format("body", "c"),
    "frame of a geom": _FRAME.format("geom", "gx"),
    "force": '<sensor><force site="sx"/></sensor>',
    "torque": '<sensor><torque site="sx"/></sensor>',
    "touch": '<sensor><touch site="sx"/></sensor>',
    "accelerometer": '<sensor><accelerometer site="sx"/></sensor>',
    "subtree": '<sensor><subtreecom body="x"/></sensor>',
    "user": '<sensor><user dim="1" objtype="body" objname="x"/></sensor>',
    "distance": '<sensor><distance body1="x" body2="c"/></sensor>',
    "contact": '<sensor><contact geom1="ga" body2="x" data="force"/></sensor>',
    "insidesite": '<sensor><insidesite site="sc" objtype="body" objname="x"/></sensor>',
}
"""An element that refers to x, to something in it or beside it; @ stands in the world."""
REFUSED = {
    "xbody": _FRAME.format("xbody", "x"),
    "reference frame": _SEEN.format("xbody"),
    "user": '<sensor><user dim="1" objtype="xbody" objname="x"/></sensor>',
    "subtree": '<sensor><contact subtree1="x" data="force"/></sensor>',
    "tuple": '<custom><tuple name="t"><element objtype="xbody" objname="x"/></tuple></custom>',
    "flex": '<deformable><flex name="f" dim="2" body="x" vertex="0 0 0 1 0 0 0 1 0" element="0 1 2"/></deformable>',
}


def with_reference(tree: str, reference: str) -> str:
    return model(tree + reference[1:]) if reference.startswith("@") else model(tree, reference)


@pytest.mark.filterwarnings("ignore::dovetail.mjcf.model.fuse.OtherObjectWarning")
@pytest.mark.parametrize("what", REFERENCES)
def test_the_same_bodies_are_kept(what: str) -> None:
    """Every field of the Model, wherever the body stands; bounding volumes as above."""
    mujoco = pytest.importorskip("mujoco")
    for where, tree in TREES.items():
        xml = with_reference(tree, REFERENCES[what])
        found = whole_model.differences(dovetail.loads(xml), mujoco.MjModel.from_xml_string(xml))
        assert [line for line in found if not re.match("nbvh|bvh_|body_bvh", line)] == [], where


@pytest.mark.filterwarnings("ignore::dovetail.mjcf.model.fuse.OtherObjectWarning")
@pytest.mark.parametrize("what", REFUSED)
def test_a_fused_body_cannot_be_found(what: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    for tree in TREES.values():
        xml = with_reference(tree, REFUSED[what])
        with pytest.raises(ValueError, match=r"unrecognized|unknown"):
            mujoco.MjModel.from_xml_string(xml)
        with pytest.raises(MJCFError, match="'x' is fused with its parent"):
            dovetail.loads(xml)


def test_a_body_without_a_name_is_fused_even_if_a_force_is_measured_there() -> None:
    compiled = check(model(jointed("a", unnamed("v")), '<sensor><force site="sv"/></sensor>'))
    assert compiled.names["body"] == ("world", "a")


def test_a_body_of_a_force_sensor_stays() -> None:
    compiled = check(model(jointed("a", static("u") + static("x")), '<sensor><force site="sx"/></sensor>'))
    assert compiled.names["body"] == ("world", "a", "x")


def test_a_name_that_leads_elsewhere_is_warned_of() -> None:
    tree = jointed("a", jointed("c") + static("x"))
    with pytest.warns(OtherObjectWarning, match="takes geom 1 .'gx'. instead"):
        compiled = check(model(tree, _FRAME.format("geom", "gc")))
    assert compiled.names["geom"] == ("ga", "gx", "gc")
    assert compiled.values["sensor_objid"] == [1]


def test_cameras_and_lights_move_to_the_parent():
    """MuJoCo 3.4.0 itself crashes here."""
    looks = '<camera name="c" pos="1 0 0"/><light name="l" pos="0 0 1" dir="1 0 0"/>'
    fused = compile_text(model(f'<body pos="1 2 3" euler="0 0 90">{looks}</body>'))
    assert fused.sizes["nbody"] == 1
    assert fused.values["cam_pos"][0] == pytest.approx([1, 3, 3])
    assert fused.values["light_dir"][0] == pytest.approx([0, 1, 0])

"""Every kind of bad input gives a typed error with file, line and element, and says what would be right."""

from __future__ import annotations

import time

import pytest
from compiling import compile_file, compile_text

from dovetail.errors import MJCFError, UnsupportedMJCFError

MASS = '<geom size=".1"/>'


def world(content: str, extra: str = "") -> str:
    return f"<mujoco>\n<worldbody>\n{content}\n</worldbody>\n{extra}</mujoco>"


def moving(content: str = "", extra: str = "", attributes: str = "") -> str:
    return world(f'<body {attributes}>{MASS}<joint name="j"/>{content}</body>', extra)


BAD = {
    "malformed": ("<mujoco>\n<worldbody>\n</mujoco>", "malformed XML", 3),
    "empty": ("", "empty", 1),
    "blank": ("  \n ", "empty", 1),
    "wrong root": ("<sdf/>", "root element must be <mujoco>", 1),
    "unknown element": (world("<gem/>"), "unknown element in <worldbody>; did you mean 'geom'?", 3),
    "unknown attribute": (world('<geom siz=".1"/>'), "unknown attribute 'siz'; did you mean 'size'?", 3),
    "unknown section": ("<mujoco><actuators/></mujoco>", "did you mean 'actuator'?", 1),
    "unknown class": (
        world('<geom size="1" class="a"/>'),
        "unknown default class 'a'; defined classes: main",
        3,
    ),
    "unknown childclass": (world('<body childclass="a"/>'), "unknown default class 'a'", 3),
    "unknown joint type": (world('<body><joint type="hinj"/></body>'), "did you mean 'hinge'?", 3),
    "too many values": (world('<geom size="1" pos="1 2 3 4"/>'), "'pos': has 4 values; write 3 values", 3),
    "too few values": (world('<geom size="1" pos="1 2"/>'), "has 2 values; write 3 values", 3),
    "too many of a partial vector": (
        world('<geom size="1 2 3 4"/>'),
        "has 4 values; write at most 3 values",
        3,
    ),
    "no value": (world('<geom size="1" group=""/>'), "has 0 values; write 1 value", 3),
    "not a number": (world('<geom size="1" pos="1 2 x"/>'), "'x' is not a number", 3),
    "comma": (world('<geom size=".1,"/>'), "'.1,' is not a number", 3),
    "too large": (world('<geom size="1e400"/>'), "'1e400' is too large", 3),
    "too small": (world('<geom size="1e-400"/>'), "'1e-400' is too small", 3),
    "not an integer": (world('<geom size="1" condim="3.0"/>'), "'3.0' is not an integer", 3),
    "integer too large": (world('<geom size="1" group="2147483648"/>'), "must fit in 32 bits", 3),
    "not a bool": (world('<geom size="1" shellinertia="yes"/>'), "choose from false, true", 3),
    "missing attribute": (
        world('<body><inertial pos="0 0 0"/></body>'),
        "required attribute 'mass' is missing",
        3,
    ),
    "twice": (
        world('<body><inertial pos="0 0 0" mass="1"/><inertial pos="0 0 0" mass="1"/></body>'),
        "appears 2 times",
        3,
    ),
    "zero mass moving body": (world("<body>\n<joint/></body>"), "must have mass and inertia", 3),
    "massless geoms": (
        world('<body><joint/><geom size="1" mass="0"/></body>'),
        "must have mass and inertia",
        3,
    ),
    "negative mass": (world('<body><geom size="1" mass="-1"/></body>'), "mass cannot be negative", 3),
    "negative density": (
        world('<body><geom size="1" density="-1"/></body>'),
        "density cannot be negative",
        3,
    ),
    "impossible inertia": (
        world('<body><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>'),
        "no moment can exceed the sum of the others",
        3,
    ),
    "fullinertia and diaginertia": (
        world('<body><inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/></body>'),
        "exclude each other",
        3,
    ),
    "fullinertia not positive": (
        world('<body><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 5 0 0"/></body>'),
        "positive principal moments",
        3,
    ),
    "duplicate names": (
        world(f'<body name="a">{MASS}</body>\n<body name="a"/>'),
        "body name 'a' is used twice",
        4,
    ),
    "body called world": (world('<body name="world"/>'), "used twice", 3),
    "duplicate frames": (world('<frame name="f"/><frame name="f"/>'), "frame name 'f' is used twice", 3),
    "attribute of the world": ('<mujoco><worldbody name="x"/></mujoco>', "unknown attribute 'name'", 1),
    "joint in the world": (world("<joint/>"), "the world cannot move", 3),
    "inertia of the world": (world('<inertial pos="0 0 0" mass="1"/>'), "the world has no inertia", 3),
    "zero quaternion": (world('<body quat="0 0 0 0"/>'), "zero quaternion", 3),
    "zero axis": (world('<body axisangle="0 0 0 1"/>'), "the axis has no direction", 3),
    "zero z axis": (world('<geom size="1" zaxis="0 0 0"/>'), "the z axis has no direction", 3),
    "parallel axes": (world('<geom size="1" xyaxes="1 0 0 2 0 0"/>'), "the y axis has no direction", 3),
    "two orientations": (world('<body quat="1 0 0 0" euler="0 0 0"/>'), "several orientations", 3),
    "zero joint axis": (world(f'<body>{MASS}<joint axis="0 0 0"/></body>'), "the axis has no direction", 3),
    "decreasing range": (
        world(f'<body>{MASS}<joint range="1 0" limited="true"/></body>'),
        "range must increase",
        3,
    ),
    "ball range": (world(f'<body>{MASS}<joint type="ball" range="1 2"/></body>'), "must start at 0", 3),
    "autolimits": (
        '<mujoco><compiler autolimits="false"/>' + moving().replace('"j"', '"j" range="0 1"')[8:],
        "range is given but not limited",
        3,
    ),
    "free joint deep down": (
        moving(f"<body>{MASS}<freejoint/></body>"),
        "only possible in a child of the world",
        3,
    ),
    "free joint with others": (moving("<freejoint/>"), "must be the only joint", 3),
    "too many dofs": (moving('<joint type="slide"/>' * 6), "at most 6 degrees of freedom", 3),
    "rotation after ball": (
        world(f'<body>{MASS}<joint type="ball"/><joint/></body>'),
        "cannot follow a ball",
        3,
    ),
    "mocap deep down": (world('<body><body mocap="true"/></body>'), "fixed child of the world", 3),
    "mocap with joint": (moving(attributes='mocap="true"'), "fixed child of the world", 3),
    "sleep policy": (world('<body sleep="never"/>'), "only possible for a moving root body", 3),
    "plane that moves": (moving('<geom type="plane" size="1 1 1"/>'), "body that cannot move", 3),
    "plane without size": (world('<geom type="plane"/>'), "a plane needs three sizes", 3),
    "box without size": (world('<geom type="box" size="1 1"/>'), "a box needs 3 positive size numbers", 3),
    "negative size": (world('<geom size="-1"/>'), "a sphere needs 1 positive size number", 3),
    "condim": (world('<geom size="1" condim="2"/>'), "it is 1, 3, 4 or 6", 3),
    "fromto of a sphere": (world('<geom size="1" fromto="0 0 0 1 1 1"/>'), "fromto is for capsule", 3),
    "fromto and pos": (world('<geom type="box" size="1" pos="1 0 0" fromto="0 0 0 1 1 1"/>'), "write one", 3),
    "fromto of no length": (world('<geom type="box" size="1" fromto="0 0 0 0 0 0"/>'), "coincide", 3),
    "site plane": (world('<site type="plane"/>'), "a site cannot be a plane", 3),
    "too much user data": (
        '<mujoco><size nuser_geom="1"/><worldbody><geom size="1" user="1 2"/></worldbody></mujoco>',
        "raise nuser_geom",
        1,
    ),
    "unknown joint of an actuator": (
        moving(extra='<actuator>\n<motor joint="k"/></actuator>'),
        "unknown joint 'k'",
        6,
    ),
    "actuator without target": (moving(extra="<actuator><motor/></actuator>"), "no transmission target", 5),
    "actuator with two targets": (
        moving(extra='<actuator><motor joint="j" jointinparent="j"/></actuator>'),
        "several transmission targets",
        5,
    ),
    "actuator range": (
        moving(extra='<actuator><motor joint="j" ctrlrange="1 0" ctrllimited="true"/></actuator>'),
        "ctrlrange must increase",
        5,
    ),
    "activation range without activation": (
        moving(extra='<actuator><general joint="j" actrange="0 1"/></actuator>'),
        "actrange needs an activation",
        5,
    ),
    "actdim": (
        moving(extra='<actuator><general joint="j" actdim="2"/></actuator>'),
        "actdim 2 does not fit",
        5,
    ),
    "inheritrange without range": (
        moving(extra='<actuator><position joint="j" inheritrange="1"/></actuator>'),
        "needs a joint that has a range",
        5,
    ),
    "negative gain": (
        moving(extra='<actuator><position joint="j" kv="-1"/></actuator>'),
        "cannot be negative",
        5,
    ),
    "keyframe size": (
        moving(extra='<keyframe>\n<key qpos="1 2"/></keyframe>'),
        "qpos has 2 numbers; this model needs 1",
        6,
    ),
    "keyframe controls": (moving(extra='<keyframe><key ctrl="1"/></keyframe>'), "ctrl has 1 numbers", 5),
    "default renamed": ('<mujoco><default class="a"/></mujoco>', "the top-level default class is 'main'", 1),
    "default without class": ("<mujoco><default><default/></default></mujoco>", "needs a name", 1),
    "default class twice": (
        '<mujoco><default><default class="a"/><default class="a"/></default></mujoco>',
        "exists already",
        1,
    ),
    "attribute of a default": (
        '<mujoco><default><geom name="a"/></default></mujoco>',
        "unknown attribute 'name'",
        1,
    ),
    "attribute of an unsupported default": (
        '<mujoco><default><tendon widht="1"/></default></mujoco>',
        "did you mean 'width'?",
        1,
    ),
    "value of an unsupported default": (
        '<mujoco><default><mesh scale="1 2"/></default></mujoco>',
        "has 2 values",
        1,
    ),
    "numeric size": ('<mujoco><custom><numeric name="a"/></custom></mujoco>', "1 to 500 numbers", 1),
    "numeric data": (
        '<mujoco><custom><numeric name="a" size="1" data="1 2"/></custom></mujoco>',
        "size is 1",
        1,
    ),
    "empty text": ('<mujoco><custom><text name="a" data=""/></custom></mujoco>', "empty", 1),
    "empty tuple": ('<mujoco><custom><tuple name="a"/></custom></mujoco>', "empty", 1),
    "tuple of nothing": (
        '<mujoco><custom><tuple name="a"><element objtype="body" objname="b"/></tuple></custom></mujoco>',
        "unknown body 'b'; body names: world",
        1,
    ),
    "tuple type": (
        '<mujoco><custom><tuple name="a"><element objtype="bod" objname="b"/></tuple></custom></mujoco>',
        "Did you mean 'body'?",
        1,
    ),
    "eulerseq": ('<mujoco><compiler eulerseq="xyw"/></mujoco>', "three of x y z X Y Z", 1),
    "global coordinates": ('<mujoco><compiler coordinate="global"/></mujoco>', "no longer MJCF", 1),
    "memory": ('<mujoco><size memory="lots"/></mujoco>', "512K, 10M or 1G", 1),
    "memory twice": ('<mujoco><size memory="1M" nstack="1"/></mujoco>', "write one", 1),
    "absurd size": ('<mujoco><size nuserdata="2000000000"/></mujoco>', "absurdly large", 1),
    "negative number of keys": ('<mujoco><size nkey="-1"/></mujoco>', "cannot be below 0", 1),
    "extent": ('<mujoco><statistic extent="0"/></mujoco>', "extent must be positive", 1),
    "actuator group": ('<mujoco><option actuatorgroupdisable="31"/></mujoco>', "groups are 0 to 30", 1),
    "camera too wide": (world('<camera fovy="180"/>'), "below 180 degrees", 3),
    "camera without sensor": (world('<camera focal="1 1"/>'), "focal needs sensorsize", 3),
    "camera without resolution": (world('<camera sensorsize="1 1"/>'), "sensorsize needs resolution", 3),
    "camera target": (world('<camera target="x"/>'), "unknown body 'x'", 3),
    "light without direction": (world('<light dir="0 0 0"/>'), "direction has no length", 3),
    "light of two types": (world('<light type="spot" directional="true"/>'), "write type", 3),
    "texture without width": (
        '<mujoco><asset><texture name="a" builtin="flat"/></asset></mujoco>',
        "needs a positive width",
        1,
    ),
    "texture of nothing": (
        '<mujoco><asset><texture name="a"/></asset></mujoco>',
        "neither builtin nor a file",
        1,
    ),
    "texture too large": (
        '<mujoco><asset><texture name="a" builtin="flat" width="1000000"/></asset></mujoco>',
        "absurdly large",
        1,
    ),
    "texture without name": (
        '<mujoco><asset><texture builtin="flat" width="1"/></asset></mujoco>',
        "needs a name",
        1,
    ),
    "material without name": ("<mujoco><asset><material/></asset></mujoco>", "needs a name", 1),
    "unknown texture": (
        '<mujoco><asset><material name="m" texture="t"/></asset></mujoco>',
        "unknown texture 't'",
        1,
    ),
    "texture and layers": (
        '<mujoco><asset><material name="m" texture="t"><layer role="rgb" texture="t"/></material></asset></mujoco>',
        "exclude each other",
        1,
    ),
    "unknown material": (
        world('<geom size="1" material="m"/>'),
        "unknown material 'm'; material names: none",
        3,
    ),
    "znear": ('<mujoco><visual><map znear="0"/></visual></mujoco>', "znear must be positive", 1),
    "realtime": ('<mujoco><visual><global realtime="0"/></visual></mujoco>', "realtime must be positive", 1),
    "doctype with entities": (
        '<?xml version="1.0"?>\n<!-- hi -->\n<!DOCTYPE m [<!ENTITY a "b">]><mujoco model="&a;"/>',
        "DOCTYPE with declarations is refused",
        3,
    ),
    "external doctype": ('<!DOCTYPE m SYSTEM "http://example.org/x.dtd"><mujoco/>', "is refused", 1),
    "nul": ("<mujoco>\0</mujoco>", "malformed XML", 1),
    "600 deep": (
        "<mujoco>" + "<worldbody>" + "<body>" * 600 + "</body>" * 600 + "</worldbody></mujoco>",
        "498 deep",
        1,
    ),
    "100 000 deep": ("<mujoco>" + "<a>" * 100_000 + "</a>" * 100_000 + "</mujoco>", "malformed XML", 1),
    "huge attribute": (world(f'<geom size="{"1 " * 500_000}"/>'), "has 500000 values; write at most 3", 3),
    "huge keyword": (world(f'<geom type="{"x" * 1_000_000}"/>'), "is not a keyword here", 3),
    "huge number": (world(f'<geom size="{"1" * 100_000}"/>'), "is too large", 3),
}


def explained(xml: str) -> MJCFError:
    start = time.process_time()
    with pytest.raises(MJCFError) as caught:
        compile_text(xml, filename="model.xml")
    assert time.process_time() - start < 1.0
    assert len(str(caught.value)) < 2000
    return caught.value


@pytest.mark.parametrize("case", BAD)
def test_bad_model(case):
    xml, message, line = BAD[case]
    error = explained(xml)
    assert message in str(error)
    assert str(error).startswith(f"model.xml:{line}: ")
    assert not isinstance(error, UnsupportedMJCFError)


def test_message_shows_element_and_attribute():
    error = explained(world('<geom name="g" pos="1 2"/>'))
    assert str(error) == (
        'model.xml:3: <geom name="g" pos="1 2">: attribute \'pos\': has 2 values; write 3 values'
    )
    assert (error.file, error.line, error.element) == ("model.xml", 3, '<geom name="g" pos="1 2">')


def test_entities_cannot_hide_behind_a_declared_encoding():
    text = '<?xml version="1.0" encoding="utf-7"?><mujoco model="+ADw-"/>'
    assert compile_text(text).modelname == "+ADw-"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        (b"", "empty"),
        (b"<mujoco>\n\xff\xfe</mujoco>", "not UTF-8"),
        ("<mujoco/>".encode("utf-16"), "not UTF-8"),
        (b"\x7fELF\x02\x01\x01\x00", "malformed XML"),
    ],
)
def test_bad_file(tmp_path, content, message):
    path = tmp_path / "m.xml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(MJCFError, match=message) as caught:
        compile_file(path)
    assert str(caught.value).startswith(str(path))


def test_directory_instead_of_file(tmp_path):
    with pytest.raises(MJCFError, match="is a directory; give the path of a"):
        compile_file(tmp_path)


def test_bytes_and_byte_order_mark_are_fine():
    assert compile_text(b"\xef\xbb\xbf<mujoco model='x'/>").modelname == "x"

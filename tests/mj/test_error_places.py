"""Errors of models say where as MuJoCo does, in the words that programs look for: element, name, number, line."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dovetail import mj

mujoco = pytest.importorskip("mujoco")

MODEL = """<mujoco>
  <worldbody>
    <body name="b">
      <body name="c">
        <geom name="g" size=".1"/>
      </body>
      <joint name="j"/>
      {inside}
      <geom name="h" size=".1"/>
      <frame>
        {framed}
      </frame>
    </body>
    {world}
  </worldbody>
  {end}
</mujoco>
"""
INSIDE = (
    *('<joint name="k" axis="0 0 0"/>', '<joint axis="0 1"/>', '<joint axis="0 0 1 0"/>'),
    *('<joint axis="0 x 1"/>', '<joint foo="1"/>', "<jint/>", '<joint type="foo"/>', '<joint class="foo"/>'),
    *('<joint name="j"/>', '<geom name="i" size="-1"/>', '<geom type="mesh" mesh="m"/>'),
    *('<site size="-1"/>', '<body name="z"><joint name="y"/></body>', '<include file="nowhere.xml"/>'),
    *('<geom size="1" material="foo"/>', '<replicate count="2"><geom name="i" size="-1"/></replicate>'),
    '<body><inertial mass="-1" pos="0 0 0" diaginertia="1 1 1"/><joint/></body>',
    '<body name="z"><inertial mass="1" pos="0 0 0" fullinertia="1 1 1 4 5 6"/><joint/></body>',
    '<geom name="i" size="1"><plugin plugin="x"/></geom>',
    '<body><geom size="1"/></body><body><geom size="1"/></body><body name="z"><joint/></body>',
)
END = (
    '<actuator><motor joint="j"/><velocity name="a" joint="x"/></actuator>',
    "<actuator><position/></actuator>",
    '<actuator><motor joint="j" ctrllimited="true"/></actuator>',
    '<sensor><jointpos joint="j"/><jointvel name="s" joint="x"/></sensor>',
    '<sensor><jointpos joint="j"/></sensor><sensor><jointpos joint="j" cutoff="-1"/></sensor>',
    '<tendon><fixed name="t"><joint joint="j" coef="1"/><joint joint="x" coef="1"/></fixed></tendon>',
    '<equality><weld name="t" body1="x"/></equality>',
    '<contact><exclude body1="b" body2="c"/><exclude body1="x" body2="b"/></contact>',
    '<contact><exclude body1="b" body2="c"/><pair geom1="x" geom2="g"/></contact>',
    '<asset><texture name="t" builtin="flat" width="1" height="1"/><material name="u" texture="x"/></asset>',
    '<asset><texture builtin="flat" width="1" height="1"/><texture builtin="flat" width="-1" height="1"/></asset>',
    '<custom><text name="s" data="s"/><tuple name="t"><element objtype="body" objname="x"/></tuple></custom>',
    '<default><geom size="1"/><default class="k"/><default class="k"/></default>',
    '<compiler angle="foo"/>',
)
BROKEN = [
    *({"inside": text} for text in INSIDE),
    *({"framed": text} for text in INSIDE[:4]),
    *(
        {"world": text}
        for text in ('<geom name="i" size="-1"/>', '<camera name="k" mode="targetbody" target="x"/>')
    ),
    *({"end": text} for text in END),
]


def told(module: Any, xml: str) -> str:
    """The error that a text brings."""
    with pytest.raises(ValueError, match=r".") as problem:
        module.MjModel.from_xml_string(xml)
    return str(problem.value)


def place(text: str) -> tuple[str, list[str]]:
    """What kind of error it is, and how it says where."""
    return text.partition("Error: ")[0], re.findall(r"^Element .*?line \d+", text, re.MULTILINE)


@pytest.mark.parametrize("parts", BROKEN, ids=lambda parts: next(iter(parts.values()))[:40])
def test_the_place_of_an_error_is_mujocos(parts: dict[str, str]) -> None:
    xml = MODEL.format(**{name: parts.get(name, "") for name in ("inside", "framed", "world", "end")})
    theirs = place(told(mujoco, xml))
    assert len(theirs[1]) == 1
    assert place(told(mj, xml)) == theirs


def test_a_keyframe_is_named_with_its_number_and_also_its_line() -> None:
    xml = MODEL.format(
        inside="", framed="", world="", end='<keyframe><key/><key name="k" qpos="1 2"/></keyframe>'
    )
    assert "Element name 'k', id 1" in told(mujoco, xml)
    assert "Element name 'k', id 1, line 16" in told(mj, xml)


def test_a_text_that_is_no_xml_has_its_line() -> None:
    assert re.search(r"line 3$", told(mj, "<mujoco>\n<worldbody>\n</mujoco>"))


def test_specs_say_the_place_when_they_are_read() -> None:
    xml = MODEL.format(inside='<joint foo="1"/>', framed="", world="", end="")
    found = []
    for module in (mj, mujoco):
        with pytest.raises(ValueError, match="foo") as problem:
            module.MjSpec.from_string(xml)
        found.append(place(str(problem.value)))
    assert found[0] == found[1]
    assert found[0] == ("XML ", ["Element 'joint', line 8"])


def test_an_axis_without_direction_is_refused_where_mujoco_refuses_it() -> None:
    for kind, refused in (("hinge", True), ("slide", True), ("ball", False)):
        for axis in ("0 0 0", "0 0 1e-20"):
            for module in (mj, mujoco):
                spec = module.MjSpec()
                body = spec.worldbody.add_body()
                body.add_geom(size=[1, 1, 1])
                joint = body.add_joint(name="j", type=getattr(module.mjtJoint, f"mjJNT_{kind.upper()}"))
                joint.axis = [float(word) for word in axis.split()]
                if refused:
                    with pytest.raises(ValueError, match=r"Element name 'j', id 0"):
                        spec.compile()
                else:
                    assert spec.compile().jnt_axis.tolist() == [[0, 0, 1]]

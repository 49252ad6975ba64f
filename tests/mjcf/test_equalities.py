"""Equality constraints: eq_data exactly as MuJoCo has it, and which ones are refused."""

from __future__ import annotations

import pytest
from finished import assert_refused, assert_same

WORLD = """<mujoco><default><equality solref=".05"/>
<default class="off"><equality solref=".3 .4" solimp=".5" active="false"/></default></default>
<worldbody><site name="w" pos="1 0 1"/>
<body name="a" pos=".1 .2 .3" euler="10 20 30"><joint name="jx" axis="1 0 0" ref="20"/>
  <joint name="js" type="slide" ref=".3"/>
  <geom size=".1"/><site name="s1" pos=".1 0 .3" euler="0 20 0"/></body>
<body name="b" pos="0 1 0" euler="40 0 0"><joint name="ball" type="ball"/><geom size=".1"/>
  <site name="s2" pos=".3 .2 0"/></body>
<body name="fixed" pos="3 1 0" euler="40 0 0"><geom size=".1"/></body>
  <body name="mocap" pos="3 1 0" mocap="true"/>
<body name="free" pos="5 0 0" euler="40 0 7"><freejoint name="fj"/><geom size=".1" pos=".1 .2 .3"/></body>
</worldbody><tendon><spatial name="t"><site site="s1"/><site site="s2"/></spatial>
<fixed name="f"><joint joint="jx" coef="2"/></fixed></tendon>
<equality>
%s
</equality></mujoco>"""

LINE = WORLD[: WORLD.index("%s")].count("\n") + 1

GOOD = """
<connect body1="a" anchor="1 2 3"/>
<connect name="c" body1="a" body2="b" anchor="1 2 3"/>
<connect class="off" body1="a" body2="world" anchor="1 2 3" active="true"/>
<connect class="off" body1="b" body2="a" anchor="0 0 0"/>
<connect site1="s1" site2="s2"/>
<connect site1="s1" site2="w" solref="1" solimp=".1 .2 .3"/>
<connect body1="fixed" body2="world" anchor="0 0 1"/>
<weld body1="a" body2="b"/>
<weld body1="a"/>
<weld body1="a" body2="b" anchor="1 2 3" torquescale="2"/>
<weld body1="a" body2="b" relpose="1 2 3 1 2 3 4"/>
<weld body1="a" body2="b" relpose="1 2 3 0 0 0 0" anchor=".1 .2 .3"/>
<weld body1="a" body2="b" relpose="1 2 3 1 0 0 0" anchor=".1 .2 .3"/>
<weld site1="s1" site2="s2" torquescale="3"/>
<weld body1="free" body2="mocap"/>
<joint joint1="jx"/>
<joint joint1="jx" joint2="js" polycoef="1 2 3"/>
<tendon tendon1="t" tendon2="f" polycoef="1 2 3 4 5"/>
<tendon tendon1="t"/>
""".strip().splitlines()


@pytest.mark.parametrize("equality", GOOD)
def test_equality(equality: str) -> None:
    assert_same(WORLD % equality)


def test_all_together() -> None:
    assert_same(WORLD % "".join(GOOD))


BAD = {
    '<connect site1="s1"/>': "write body1 and anchor",
    '<connect body1="a"/>': "write body1 and anchor",
    '<weld body2="a"/>': "write body1",
    '<connect body1="a" site1="s1" anchor="0 0 0"/>': "exclude each other",
    '<weld site1="s1" site2="s2" relpose="1 2 3 1 0 0 0"/>': "site1 and relpose exclude",
    '<connect body1="a" body2="a" anchor="0 0 1"/>': "two different objects",
    '<connect body1="zz" anchor="0 0 1"/>': "unknown body 'zz'",
    '<connect site1="s1" site2="s1"/>': "two different objects",
    '<joint joint1="ball"/>': "only hinge and slide",
    '<joint joint1="jx" joint2="fj"/>': "only hinge and slide",
    '<joint joint1="jx" joint2="jx"/>': "two different objects",
    '<joint joint2="jx"/>': "'joint1' is missing",
    '<joint joint1="q"/>': "unknown joint 'q'",
    '<tendon tendon1="q"/>': "unknown tendon 'q'",
    '<flex flex="x"/>': "unknown flex 'x'",
    '<connect class="zz" body1="a" anchor="0 0 0"/>': "unknown default class",
}


@pytest.mark.parametrize("equality", BAD)
def test_bad_equality(equality: str) -> None:
    assert_refused(WORLD % equality, BAD[equality], LINE)

"""Actuators of every kind and target: numbers, activations, lengths and accelerations; and which are refused."""

# ruff: noqa: E501 - one element per line reads better than wrapped ones

from __future__ import annotations

import pytest
from finished import assert_refused, assert_same

import dovetail
from dovetail.errors import MJCFError

WORLD = """<mujoco><option jacobian="%s" cone="elliptic"/><worldbody><geom type="plane" size="5 5 1"/><site name="w" pos="1 0 1" euler="20 30 40"/>
<body name="a" pos="0 0 .5" euler="10 20 30"><joint name="jx" axis="1 0 0"/>
  <joint name="js" type="slide"/><geom size=".1" name="g" contype="0" conaffinity="0"/>
  <site name="s1" pos=".1 0 .3" euler="0 20 0"/>
 <body name="a2" pos="0 .3 0"><joint name="jz" axis="0 0 1"/>
  <geom size=".1" contype="0" conaffinity="0"/><site name="s3" pos=".2 .3 0" euler="4 5 60"/></body>
 <body name="a3" pos="0 .3 0"><joint name="jz3" axis="0 1 1"/>
  <geom size=".1"  contype="0" conaffinity="0"/><site name="s4" pos=".2 .3 0" euler="4 5 60"/>
  </body></body>
<body name="b" pos="0 1 .095"><joint name="jy" type="ball"/><geom size=".1" gap=".1" margin=".1"/>
  <geom size=".1" pos=".05 0 0"/><site name="s2" pos=".3 .2 0"/></body>
<body name="f" pos="5 0 3" euler="40 0 7"><freejoint name="fj"/><geom size=".1" pos=".1 .2 .3"/></body>
</worldbody><tendon><spatial name="t"><site site="s1"/><site site="s3"/></spatial>
  <fixed name="tl" range="-1 2"><joint joint="jx" coef="2"/></fixed><spatial name="two">
  <site site="s1"/><site site="s2"/></spatial><fixed name="fx"><joint joint="jx" coef="2"/>
  <joint joint="jz" coef="3"/></fixed></tendon>
<actuator>
%s
</actuator></mujoco>"""


def world(actuators: str, jacobian: str = "auto", defaults: str = "") -> str:
    return (WORLD % (jacobian, actuators)).replace("<mujoco>", f"<mujoco>{defaults}")


GOOD = """
<general tendon="t" gear="2"/>
<general tendon="fx" gear="2"/>
<general site="s3" gear="1 2 3 4 5 6"/>
<general site="w" gear="1 2 3 4 5 6"/>
<general site="s3" refsite="s1" gear="1 2 3 4 5 6"/>
<general site="s3" refsite="s4" gear="1 2 3 4 5 6"/>
<general site="s3" refsite="w" gear="1 2 3 0 0 0"/>
<general site="s3" refsite="s2" gear="0 0 0 4 5 6"/>
<general site="s3" refsite="s3" gear="1 2 3 4 5 6"/>
<general cranksite="s3" slidersite="s1" cranklength="2" gear="3"/>
<general cranksite="s3" slidersite="s2" cranklength=".01"/>
<general cranksite="s3" slidersite="w" cranklength="3"/>
<adhesion body="b" ctrlrange="0 1" gain="3"/>
<adhesion body="a" ctrlrange="0 1" gain="3"/>
<general body="b" gear="2"/>
<general joint="jy" gear="1 2 3"/>
<general jointinparent="fj" gear="1 2 3 4 5 6"/>
<general joint="fj" gear="1 0 3 4 0 6"/>
<muscle joint="jx" lengthrange="0 1"/>
<muscle tendon="t" lengthrange="0 1"/>
<muscle tendon="t" lengthrange="0 1" timeconst=".02 .03" tausmooth=".1" range=".8 1.1" force="100" scale="300" lmin=".4" lmax="1.7" vmax="1.4" fpmax="1.2" fvmax="1.1"/>
<muscle tendon="t" lengthrange="0 1" ctrlrange="0 2"/>
<muscle tendon="t" lengthrange="0 1" ctrllimited="false"/>
<muscle tendon="t" lengthrange="0 1" force="-1"/>
<muscle tendon="t" lengthrange="0 1" timeconst="0 1"/>
<muscle joint="fj" lengthrange="0 1"/>
<muscle joint="jy" lengthrange="0 1"/>
<adhesion body="b" ctrlrange="0 1"/>
<adhesion body="world" ctrlrange="0 1" gain="3"/>
<adhesion body="b" ctrlrange="0 1" forcerange="0 1" user="1"/>
<general dyntype="user" gaintype="user" biastype="user" joint="jx"/>
<general dyntype="user" actdim="3" joint="jx"/>
<general dyntype="user" actdim="-1" joint="jx"/>
<general dyntype="user" actdim="-2" joint="jx"/>
<general dyntype="none" actdim="0" joint="jx"/>
<general dyntype="filter" actdim="1" joint="jx"/>
<general dyntype="muscle" joint="jx"/>
<general dyntype="user" actdim="3" actlimited="true" actrange="0 1" joint="jx"/>
<motor cranksite="s1" slidersite="s2" cranklength="1"/>
<general body="b"/>
<motor jointinparent="jy" gear="1 2 3"/>
<motor joint="fj"/>
<position joint="jy" kp="2"/>
<position tendon="fx" kp="2" dampratio="1"/>
<position joint="fj" kp="2" dampratio="1" gear="1 2 0 1 1 1"/>
<position site="s3" kp="2" dampratio="1" gear="1 2 0 1 1 1"/>
<motor joint="jx" lengthrange="0 1"/>
<motor joint="jx" lengthrange="1 0"/>
<motor joint="jx" lengthrange="1 1"/>
<cylinder joint="jx" lengthrange="1 1"/>
<damper tendon="t" ctrlrange="0 1" kv="2"/>
<motor joint="jx" gear="0"/>
<motor joint="jx" gear="0 0 0 0 0 0"/>
<intvelocity joint="jx" kp="2" actrange="0 1"/>
<intvelocity tendon="t" kp="2" actrange="0 1"/>
<muscle joint="jx" lengthrange="0 1" force="-5" scale="-3"/>
<muscle joint="jx" lengthrange="0 1" range="-1 2"/>
<muscle joint="jx" lengthrange="0 1" timeconst="-1 2" lmin="-2"/>
<general site="s3" refsite="s2"/>
<motor cranksite="s2" slidersite="s1" cranklength="1"/>
<general gaintype="muscle" gainprm=".75 1.05 -1 200 .5 1.6 1.5 1.3 1.2" joint="jx" lengthrange="0 1"/>
<general gaintype="muscle" gainprm=".75 1.05 -1 200 .5 1.6 1.5 1.3 1.2" site="s1" lengthrange="0 1"/>
<general dyntype="user" gaintype="muscle" gainprm=".75 1.05 -1 200 .5 1.6 1.5 1.3 1.2" actdim="3" joint="jx" lengthrange="0 1"/>
<general gaintype="user" joint="jx"/>
<general tendon="tl" gainprm="2" biasprm="0 -2" biastype="affine"/>
<position tendon="tl" kp="2" inheritrange=".5"/>
<general joint="jx" gaintype="affine" biastype="muscle" biasprm=".75 1.05 -1 200 .5 1.6 1.5 1.3 1.2" lengthrange="0 1"/>
<motor tendon="two"/>
<motor site="s1" refsite=""/>
<intvelocity tendon="tl" kp="2" inheritrange="1"/>
""".strip().splitlines()


@pytest.mark.parametrize("actuator", GOOD)
def test_actuator(actuator: str) -> None:
    assert_same(world(actuator))


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_all_together(jacobian: str) -> None:
    assert_same(world("".join(GOOD), jacobian))


DEFAULTS = [
    '<muscle force="7" timeconst=".3 .4"/>',
    '<general gainprm=".5"/><muscle range=".1 8"/>',
    '<adhesion gain=".4" ctrlrange="0 2"/>',
    "<motor/>",
    '<general dynprm="1 2 3"/>',
]


@pytest.mark.parametrize("defaults", DEFAULTS)
@pytest.mark.parametrize(
    "actuator",
    ['<muscle joint="jx" lengthrange="0 1"/>', '<adhesion body="b" ctrlrange="0 1"/>', '<motor joint="jx"/>'],
)
def test_shortcuts_share_one_set_of_defaults(actuator: str, defaults: str) -> None:
    assert_same(world(actuator, defaults=f"<default>{defaults}</default>"))


BAD = {
    '<muscle tendon="t" lengthrange="0 1" tausmooth="-1"/>': "tausmooth cannot be negative",
    '<muscle tendon="t" lengthrange="0 1" range="1 .5"/>': "a muscle's range must increase",
    '<muscle tendon="t" lengthrange="0 1" lmin="2"/>': "a muscle needs lmin below 1 and lmax above 1",
    '<muscle tendon="t" lengthrange="0 1" vmax="0"/>': "a muscle needs positive scale",
    '<adhesion body="b"/>': "ctrlrange must increase",
    '<adhesion body="b" ctrlrange="-1 1"/>': "the control range of adhesion cannot be negative",
    '<adhesion body="b" ctrlrange="0 1" gain="-3"/>': "gain cannot be negative",
    '<adhesion body="zz" ctrlrange="0 1" gain="3"/>': "unknown body 'zz'",
    '<adhesion ctrlrange="0 1" gain="3"/>': "has no transmission target",
    '<general dyntype="muscle" gaintype="muscle" biastype="muscle" joint="jx" lengthrange="0 1"/>': "a muscle's range must increase",
    '<general dyntype="user" actdim="0" joint="jx"/>': "actdim 0 does not fit",
    '<general dyntype="none" actdim="1" joint="jx"/>': "actdim 1 does not fit",
    '<general dyntype="filter" actdim="2" joint="jx"/>': "actdim 2 does not fit",
    '<general gaintype="muscle" joint="jx"/>': "a muscle's range must increase",
    '<general biastype="muscle" joint="jx" lengthrange="0 1"/>': "a muscle's range must increase",
    '<general site="s1" gaintype="muscle"/>': "a muscle's range must increase",
    '<general site="s1" gaintype="muscle" lengthrange="0 1"/>': "a muscle's range must increase",
    "<motor/>": "has no transmission target",
    '<motor joint="jx" tendon="t"/>': "has several transmission targets",
    '<motor cranksite="s1"/>': "a slider-crank needs two sites",
    '<motor slidersite="s1"/>': "has no transmission target",
    '<motor cranksite="s1" slidersite="s2"/>': "a slider-crank needs a rod",
    '<motor cranksite="s1" slidersite="s2" cranklength="-1"/>': "a slider-crank needs a rod",
    '<motor cranksite="s1" slidersite="zz" cranklength="1"/>': "unknown site 'zz'",
    '<motor site="s1" refsite="zz"/>': "unknown site 'zz'",
    '<motor refsite="s1"/>': "has no transmission target",
    '<motor joint="jx" refsite="s1"/>': "refsite needs a target given as site",
    '<motor joint="jx" slidersite="s1"/>': "slidersite needs a target given as cranksite",
    '<motor site="zz"/>': "unknown site 'zz'",
    '<motor tendon="zz"/>': "unknown tendon 'zz'",
    '<motor site="s1" cranksite="s1"/>': "has several transmission targets",
    '<motor body="b"/>': "unknown attribute 'body'",
    '<general body="b" joint="jx"/>': "has several transmission targets",
    '<motor site="s1" slidersite="s1"/>': "slidersite needs a target given as cranksite",
    '<motor joint="jx" cranklength="-1"/>': "cranklength needs a target given as cranksite",
    '<position tendon="fx" kp="2" inheritrange="1"/>': "inheritrange needs a tendon that has a range",
    '<damper body="b" ctrlrange="0 1" kv="2"/>': "unknown attribute 'body'",
    '<motor joint="jx" class="zz"/>': "unknown default class 'zz'",
    '<motor joint="" />': "has no transmission target",
    '<muscle joint="jx" lengthrange="0 1" lmax="0" />': "a muscle needs lmin below 1 and lmax above 1",
    '<position joint="jx" kp="2" inheritrange="1"/>': "inheritrange needs a joint that has a range",
    '<position jointinparent="jx" kp="2" inheritrange="1"/>': "inheritrange needs a target given as joint or tendon",
    '<muscle body="b"/>': "unknown attribute 'body'",
    '<position tendon="t" kp="2" inheritrange="1"/>': "inheritrange needs a tendon that has a range",
    '<position tendon="tl" kp="2" inheritrange=".5" ctrlrange="0 1"/>': "ctrlrange and inheritrange both give the range",
    '<position site="s1" kp="2" inheritrange=".5"/>': "inheritrange needs a target given as joint or tendon",
    '<muscle joint="jx" site="s1" lengthrange="0 1"/>': "unknown attribute 'site'",
    '<motor joint="jx" cranksite=""/>': "has several transmission targets",
    '<motor cranksite="s1" slidersite="" cranklength="1"/>': "a slider-crank needs two sites",
    '<motor joint="" tendon="t"/>': "has several transmission targets",
    '<intvelocity tendon="tl" kp="2"/>': "actrange must increase",
    '<muscle joint="jx" lengthrange="0 1" actrange="0 1"/>': "unknown attribute 'actrange'",
    '<adhesion body="b" ctrlrange="0 1" gain="3" gear="1"/>': "unknown attribute 'gear'",
    '<general joint="jx" actrange="0 1"/>': "actrange needs an activation",
}
LINE = WORLD[: WORLD.rindex("%s")].count("\n") + 1


@pytest.mark.parametrize("actuator", BAD)
def test_bad_actuator(actuator: str) -> None:
    assert_refused(world(actuator), BAD[actuator], LINE)


def test_activations_are_counted_before_anything_is_allocated() -> None:
    with pytest.raises(MJCFError, match="activation variables"):
        dovetail.loads(world('<general dyntype="user" actdim="1000000000" joint="jx"/>'))

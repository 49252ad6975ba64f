"""Length ranges by simulation, springs given as time constants, and the fluid coefficients of geoms."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from finished import assert_refused, assert_same

import dovetail
from dovetail.errors import MJCFError
from dovetail.mjcf.model.after_constants import LENGTH_RANGE
from dovetail.plugins.length_range import batch_numpy, simulation_numpy

WORLD = """<mujoco><compiler><lengthrange {settings}/></compiler>
<worldbody><site name="w" pos="1 0 1"/>
<body name="a" pos="0 0 .5" euler="10 20 30"><joint name="h" axis="1 0 0"/><joint name="s" type="slide" {limit}/>
<geom size=".1" contype="0"/><site name="s1" pos=".1 0 .3" euler="0 20 0"/>
<body name="b" pos="0 .3 0"><joint name="z" axis="0 0 1"/><geom size=".1" contype="0"/>
<site name="s2" pos=".2 .3 0"/></body>
</body></worldbody><tendon><spatial name="t"><site site="s1"/><site site="s2"/></spatial></tendon>
<sensor><actuatorpos actuator="m"/></sensor>
<actuator>
{actuator}
</actuator></mujoco>"""
LINE = WORLD[: WORLD.index("{actuator}")].count("\n") + 1
MUSCLE = '<muscle name="m" joint="h"/>'


def world(actuator: str, settings: str = "", limit: str = "") -> str:
    for quick in ('inttotal="3"', 'interval=".1"'):
        settings += "" if quick.partition("=")[0] in settings else f" {quick}"
    return WORLD.format(actuator=actuator, settings=settings, limit=limit)


RANGES = {
    "joint": (MUSCLE, "", ""),
    "tendon": ('<muscle name="m" tendon="t"/>', 'inttotal="10"', ""),
    "maximal force": (MUSCLE, 'maxforce="1"', ""),
    "time constant": (MUSCLE, 'timeconst=".5" accel="10"', ""),
    "time step": (MUSCLE, 'timestep=".02"', ""),
    "given range": ('<muscle name="m" joint="h" lengthrange="1 2"/>', "", ""),
    "given range is not used": ('<muscle name="m" joint="h" lengthrange="1 2"/>', 'useexisting="false"', ""),
    "limit": ('<muscle name="m" joint="s" gear="3"/>', 'uselimit="true"', 'range="-1 2"'),
    "no mode": (MUSCLE, 'mode="none"', ""),
    "motor": ('<motor name="m" joint="h"/>', "", ""),
    "motor in mode all": ('<motor name="m" joint="h"/>', 'mode="all"', ""),
    "user bias": ('<general name="m" joint="h" biastype="user"/>', 'mode="muscleuser"', ""),
}


@pytest.mark.parametrize("case", RANGES)
def test_range(case: str) -> None:
    assert_same(world(*RANGES[case]))


def test_range_that_does_not_settle() -> None:
    assert_refused(world(MUSCLE, 'interval="2"'), "did not converge", LINE)


def test_target_without_length() -> None:
    assert_refused(world('<motor name="m" site="s1"/>', 'mode="all"'), "does not increase", LINE)


def test_absurd_number_of_steps_is_refused_at_once() -> None:
    with pytest.raises(MJCFError, match="more than 1000000 steps"):
        dovetail.loads(world(MUSCLE, 'timestep="1e-9"'))


def test_model_is_left_as_it_was() -> None:
    model = dovetail.loads(world(MUSCLE))
    assert model.opt.disableflags == 0
    assert model.opt.timestep == 0.002
    assert model.actuator_gaintype.tolist() == [2]


# many at once

QUICK = '<lengthrange inttotal="3" interval=".1" tolrange=".5"/>'
HINGES = (
    '<joint name="j1" axis="1 0 0" range="-60 70"/>',
    '<joint name="j2" axis="0 0 1" range="-50 60"/>',
    '<joint name="j3" axis="0 1 0" range="-40 80"/>',
)
ARM = """<mujoco><compiler autolimits="true">{quick}</compiler>{option}<worldbody><site name="w" pos=".1 0 1"/>
<body name="a" pos="0 0 .5" euler="10 20 30">{0}<geom size=".1 .2 .15" type="box" contype="0"/>
<site name="s1" pos=".1 0 .3"/><geom name="ball" size=".08" pos=".05 .1 .1" contype="0"/>
<geom name="rod" type="cylinder" size=".06 .1" pos=".0 .2 .1" euler="30 80 0" contype="0"/>
<site name="side" pos=".3 .2 .1"/><site name="inner" pos=".06 .1 .1"/>
<body name="b" pos="0 .3 0">{1}<geom size=".1" pos=".1 0 .05" contype="0"/><site name="s2" pos=".2 .3 0"/>
<site name="s3" pos="-.1 .2 0"/><body name="c" pos=".1 .3 0">{2}<geom size=".07" pos=".1 .1 .05" contype="0"/>
<site name="s4" pos=".1 .2 .1"/></body></body></body></worldbody>
<tendon>{tendon}</tendon><actuator>{actuator}</actuator>{extra}</mujoco>"""
ON_TENDON = '<muscle name="m" tendon="t"/>'


def arm(
    tendon: str,
    actuator: str = ON_TENDON,
    joints: tuple[str, ...] = HINGES,
    extra: str = "",
    option: str = "",
) -> str:
    return ARM.format(*joints, tendon=tendon, actuator=actuator, extra=extra, option=option, quick=QUICK)


def path(*parts: str, attributes: str = "") -> str:
    """A tendon through sites, around geoms (`ball`, `ball past side`) and over pulleys."""
    return f'<spatial name="t" {attributes}>{"".join(map(_part, parts))}</spatial>'


def _part(text: str) -> str:
    geom, _, side = text.partition(" past ")
    if text == "pulley":
        return '<pulley divisor="2"/>'
    if geom in ("ball", "rod"):
        return f'<geom geom="{geom}"' + (f' sidesite="{side}"/>' if side else "/>")
    return f'<site site="{text}"/>'


def each(joints: tuple[str, ...], attributes: str) -> tuple[str, ...]:
    return tuple(joint.replace("/>", f" {attributes}/>") for joint in joints)


SOFT = 'margin=".1" solreflimit=".05 .7" solimplimit=".8 .95 .01 .3 3"'
SLIDE = '<joint name="j1" type="slide" axis="1 1 0" range="-1 1"/><joint axis="0 1 0" range="-30 30"/>'
SUM = '<fixed name="{}" {}><joint joint="j1" coef="2"/><joint joint="j3" coef="-1"/></fixed>'
STRAIGHT = path("w", "s2")
TOGETHER = {
    "joints": arm("", '<muscle joint="j1"/><muscle joint="j2" gear="2"/>'),
    "sites": arm(path("w", "s2", "s4"), ON_TENDON + '<muscle tendon="t" gear="-2"/>'),
    "around a sphere": arm(path("w", "ball", "s2")),
    "around a cylinder": arm(path("w", "rod", "s2", "s4")),
    "past a side": arm(path("w", "ball past side", "s2")),
    "inside": arm(path("w", "ball past inner", "s2")),
    "pulleys": arm(path("w", "s2", "pulley", "s1", "s3", "pulley", "s1", "s4")),
    "one body": arm(path("s2", "s3", "s1")),
    "fixed": arm(SUM.format("t", "")),
    "slides": arm(path("s1", "s4"), ON_TENDON + '<muscle joint="j1"/>', (SLIDE, *HINGES[1:])),
    "ball joint": arm(path("s1", "s2"), joints=(HINGES[0], '<joint type="ball"/>', HINGES[2])),
    "free joint": arm(path("s1", "s4"), joints=("<freejoint/>", *HINGES[1:])),
    "joint that follows": arm(
        STRAIGHT,
        extra='<equality><joint joint1="j2" joint2="j1" polycoef="0 .5 .1 0 0"/><joint joint1="j3"/></equality>',
    ),
    "limited tendon": arm(path("w", "s4", attributes='range=".5 1.2"')),
    "other limited tendon": arm(STRAIGHT + SUM.format("u", 'range="-.5 .7"')),
    "soft limits": arm(STRAIGHT, joints=each(HINGES, SOFT)),
    "damped joints": arm(STRAIGHT, joints=each(HINGES, 'armature=".3" damping="1" stiffness="4"')),
    "sparse Jacobian": arm(STRAIGHT, option='<option jacobian="sparse"/>'),
    "implicitfast": arm(STRAIGHT, option='<option integrator="implicitfast"/>'),
    "RK4": arm(STRAIGHT, option='<option integrator="RK4"/>'),
}
ONE_BY_ONE = {
    "connected": arm(
        STRAIGHT, extra='<equality><connect body1="c" body2="world" anchor="0 0 0"/></equality>'
    ),
    "limited ball joint": arm(
        path("s1", "s2"), joints=(HINGES[0], '<joint type="ball" range="0 60"/>', HINGES[2])
    ),
    "another solver": arm(STRAIGHT, option='<option solver="PGS"/>'),
}


def largest_error(xml: str) -> float:
    ours, theirs = dovetail.loads(xml), mujoco.MjModel.from_xml_string(xml)
    return float(np.abs(ours.actuator_lengthrange - theirs.actuator_lengthrange).max())


@pytest.mark.parametrize("case", TOGETHER)
def test_actuators_are_pulled_together(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One step moves all of them: 2 · nu copies of the model take as many steps as one."""
    steps = []
    step = batch_numpy.Pulls.step
    monkeypatch.setattr(batch_numpy.Pulls, "step", lambda pulls: steps.append(1) or step(pulls))
    monkeypatch.setattr(simulation_numpy, "simulated_range", None)
    assert largest_error(TOGETHER[case]) < 1e-12
    assert len(steps) in (300, 301)


@pytest.mark.slow
@pytest.mark.parametrize("case", ONE_BY_ONE)
def test_what_cannot_be_pulled_together_is_pulled_one_by_one(case: str) -> None:
    assert largest_error(ONE_BY_ONE[case]) < 1e-12


def test_both_ways_to_simulate_agree() -> None:
    model = dovetail.loads(TOGETHER["around a cylinder"])
    settings = {**LENGTH_RANGE, "inttotal": 0.5, "interval": 0.1, "tolrange": 10.0}
    together = simulation_numpy.length_ranges(model, [0], settings)[0]
    alone = simulation_numpy.simulated_range(model, 0, settings)
    assert together == pytest.approx(alone, abs=1e-13)


def test_ranges_are_the_same_in_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    xml = TOGETHER["sites"]
    expected = dovetail.loads(xml).actuator_lengthrange
    monkeypatch.setattr(batch_numpy, "_MOST_NUMBERS", 1)
    assert dovetail.loads(xml).actuator_lengthrange == pytest.approx(expected, abs=1e-14)


def test_the_actuator_that_does_not_settle_is_named() -> None:
    actuators = '<muscle name="good" joint="j1"/>\n<muscle name="bad" joint="j2"/>'
    xml = arm("", actuators, (HINGES[0], '<joint name="j2" axis="0 0 1"/>', HINGES[2]))
    with pytest.raises(
        MJCFError, match=r'<muscle name="bad">: its lengthrange cannot be computed: did not converge'
    ):
        dovetail.loads(xml.replace('tolrange=".5"', 'tolrange="1e-4"'))


SPRINGS = """<mujoco><worldbody><body><joint axis="0 1 0" {0}/><geom size=".1 .2" type="capsule" pos=".3 0 0"/>
<body pos="0 0 1"><joint type="slide" {0}/><geom size=".1" pos=".1 0 0"/>
<body><joint type="ball" {0}/><geom size=".1 .2 .3" type="box" pos=".1 0 0"/></body></body></body>
<body pos="5 5 5"><joint type="free" {0}/><geom size=".1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("attributes", ["", 'armature="2"', 'stiffness="3" damping="4"'])
def test_spring_from_time_constant(attributes: str) -> None:
    assert_same(SPRINGS.format(f'springdamper=".1 .5" {attributes}'))


@pytest.mark.parametrize("numbers", [".1 0", "0 .5", "-.1 .5", ".1 -.5"])
def test_spring_needs_positive_numbers(numbers: str) -> None:
    assert_refused(SPRINGS.format(f'springdamper="{numbers}"'), "two positive numbers", 1)


SHAPES = {
    "sphere": ".1",
    "capsule": ".1 .3",
    "cylinder": ".1 .3",
    "ellipsoid": ".1 .2 .3",
    "box": ".3 .002 .5",
    "plane": "1 2 1",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_fluid_coefficients(shape: str) -> None:
    geom = f'<geom type="{shape}" size="{SHAPES[shape]}"'
    assert_same(
        '<mujoco><default><geom fluidcoef=".1 .2"/></default><worldbody>'
        f'{geom} fluidshape="ellipsoid" fluidcoef="1 2 3 4 5"/>{geom} fluidshape="ellipsoid"/>{geom}/>'
        "</worldbody></mujoco>"
    )


def test_the_range_is_found_by_a_stage_that_can_be_replaced() -> None:
    def fixed(model, actuator, settings):
        return settings["accel"], settings["accel"] + 1

    model = dovetail.loads(world(MUSCLE), stages={"length_range": fixed})
    assert model.actuator_lengthrange.tolist() == [[20, 21]]


def test_a_stage_that_finds_none_is_told_with_the_actuators_place() -> None:
    def none(model, actuator, settings):
        raise ValueError("too short")

    with pytest.raises(MJCFError, match="its lengthrange cannot be computed: too short; write lengthrange"):
        dovetail.loads(world(MUSCLE), stages={"length_range": none})

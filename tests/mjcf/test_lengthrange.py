"""Length ranges by simulation, springs given as time constants, and the fluid coefficients of geoms."""

from __future__ import annotations

import pytest
from finished import assert_refused, assert_same

import dovetail
from dovetail.errors import MJCFError

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

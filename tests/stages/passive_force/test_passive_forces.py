"""Gravity compensation, forces of a medium, cables and the flags that switch passive forces off, as in MuJoCo."""

# ruff: noqa: E501 - one element per line reads better than wrapped ones

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from beside_mujoco import Pair
from implementations import How, assert_mujocos, implementations
from limb_models import IN_WATER, TENDONS
from smooth_models import EVERYTHING

import dovetail
from dovetail.errors import ValidationError
from dovetail.plugins.shared.fluid import box_numpy, ellipsoid_numpy

FIELDS = (
    "qfrc_spring",
    "qfrc_damper",
    "qfrc_gravcomp",
    "qfrc_fluid",
    "qfrc_passive",
    "qfrc_actuator",
    "qacc",
)

TREE = """<mujoco><option {option}><flag constraint="disable" {flags}/></option><worldbody>
<body pos="0 0 1" euler="10 20 30" gravcomp="{gravcomp}"><freejoint name="root"/><geom type="box" size=".1 .2 .3" pos=".1 0 0" {fluid}/><geom type="sphere" size=".1" pos="0 .3 .1" euler="5 6 7" {fluid}/>
 <body pos=".3 0 .1" gravcomp=".4"><joint name="ball" type="ball" stiffness="3" damping=".4"/><geom type="capsule" size=".05 .2" pos="0 0 .2" {fluid}/>
  <body pos="0 .1 .4"><joint name="h" axis="1 2 0" stiffness="2" damping=".3" springref="40" actuatorgravcomp="{joint}" actuatorfrcrange="-1 1"/><joint name="s" type="slide" axis="0 1 1" damping="1" actuatorgravcomp="{joint}"/><geom type="cylinder" size=".07 .15" {fluid}/><geom type="ellipsoid" size=".03 .1 .2" pos=".2 0 0" euler="0 30 0" {fluid}/>
   <body pos=".2 0 0" gravcomp="-1.5"><joint axis="0 0 1"/><geom size=".1" pos=".2 .1 0"/></body></body></body></body>
<body pos="2 0 0" gravcomp="1"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="0"/><inertial pos="0 0 0" mass="2" diaginertia=".1 .1 .1"/></body></worldbody>
<tendon><fixed stiffness="2" damping=".5" springlength=".1 .2"><joint joint="h" coef="2"/><joint joint="s" coef="-1"/></fixed></tendon>
<actuator><motor joint="h"/><motor joint="s" gear="2"/></actuator></mujoco>"""


def tree(
    option: str = "", flags: str = "", fluid: str = "", gravcomp: str = "0", joint: str = "false"
) -> str:
    return TREE.format(option=option, flags=flags, fluid=fluid, gravcomp=gravcomp, joint=joint)


WATER = 'density="1000" viscosity=".9" wind="1 -2 .5"'
ELLIPSOIDS = 'fluidshape="ellipsoid" fluidcoef=".6 .3 1.2 .9 1.1"'


@pytest.mark.parametrize("gravcomp", ["0", "1", "-.3"])
@pytest.mark.parametrize("joint", ["false", "true"])
def test_gravity_compensation_is_mujocos(gravcomp: str, joint: str) -> None:
    Pair(tree('gravity="1 2 -9"', gravcomp=gravcomp, joint=joint)).compare(*FIELDS)


def test_compensation_by_actuators_needs_an_actuator() -> None:
    xml = tree(joint="true", gravcomp="1")
    pair = Pair(xml[: xml.index("<actuator>")] + "</mujoco>")
    pair.compare(*FIELDS)
    assert pair.ours.qfrc_gravcomp.any()


def test_negative_compensation_alone_does_nothing() -> None:
    """MuJoCo counts bodies with positive gravcomp, and without any it compensates nothing."""
    pair = Pair(tree(gravcomp="-1").replace('gravcomp=".4"', "").replace('gravcomp="1"', ""))
    pair.compare(*FIELDS, states=3)
    assert pair.model.ngravcomp == pair.theirs_model.ngravcomp == 0
    assert not pair.ours.qfrc_gravcomp.any()


@pytest.mark.parametrize("fluid", ["", ELLIPSOIDS])
@pytest.mark.parametrize(
    "option", [WATER, 'density="1.2"', 'viscosity=".1"', 'viscosity=".1" wind="3 0 0"', 'wind="3 0 0"']
)
def test_forces_of_a_medium_are_mujocos(option: str, fluid: str) -> None:
    Pair(tree(option, fluid=fluid)).compare(*FIELDS)


@pytest.mark.parametrize("fluid", ["", ELLIPSOIDS])
@pytest.mark.parametrize("option", ['density="-1"', 'viscosity="-.3"', 'density="-1" viscosity="-.3"'])
def test_a_medium_may_push_what_moves(option: str, fluid: str) -> None:
    """Negative numbers are a medium for ellipsoids; boxes do not feel them."""
    Pair(tree(option, fluid=fluid)).compare(*FIELDS)


@pytest.mark.parametrize("coefficient", range(5))
def test_each_coefficient_of_ellipsoids(coefficient: int) -> None:
    values = " ".join("1" if i == coefficient else "0" for i in range(5))
    Pair(tree(WATER, fluid=f'fluidshape="ellipsoid" fluidcoef="{values}"')).compare(*FIELDS, states=5)


def test_one_ellipsoid_takes_the_box_away_from_its_body_only() -> None:
    xml = tree(WATER).replace('type="cylinder"', 'type="cylinder" fluidshape="ellipsoid"')
    Pair(xml).compare(*FIELDS)


def test_a_medium_at_rest_with_the_body_exerts_nothing() -> None:
    pair = Pair(tree('density="1000" viscosity="1"', fluid=ELLIPSOIDS))
    pair.randomise()
    pair.set(qvel=0.0)
    pair.forward()
    assert not pair.ours.qfrc_fluid.any()


FLAGS = ("spring", "damper", "gravity", "actuation", "clampctrl")


@pytest.mark.parametrize(
    "off", [(), *((f,) for f in FLAGS), ("spring", "damper"), ("spring", "gravity"), FLAGS], ids=" ".join
)
def test_flags_switch_off_what_they_do_in_mujoco(off: tuple[str, ...]) -> None:
    flags = " ".join(f'{flag}="disable"' for flag in off)
    pair = Pair(tree(WATER, flags, ELLIPSOIDS, gravcomp="1", joint="true"))
    pair.compare(*FIELDS)
    expected = not {"spring", "damper"} <= set(off)
    assert bool(pair.ours.qfrc_fluid.any()) == expected


CABLE = """<mujoco><extension><plugin plugin="mujoco.elasticity.cable"/></extension>
<option timestep=".0005"><flag constraint="disable" {flags}/></option><worldbody>
<composite type="cable" curve="{curve}" count="8 1 1" size="1 .3 2" offset="0 0 1" initial="{initial}">
<plugin plugin="mujoco.elasticity.cable"><config key="twist" value="4e5"/><config key="bend" value="7e6"/>{config}</plugin>
<joint kind="main" damping=".01"/><geom {geom}/></composite></worldbody></mujoco>"""


@pytest.mark.parametrize(
    "geom", ['type="capsule" size=".02"', 'type="box" size=".04 .02 .01"', 'type="cylinder" size=".02"']
)
@pytest.mark.parametrize("initial", ["ball", "free", "none"])
@pytest.mark.parametrize(
    ("curve", "flat"), [("s 0 0", ""), ("cos(s) sin(s) s", ""), ("cos(s) sin(s) s", "true")]
)
def test_forces_of_cables_are_mujocos(curve: str, flat: str, initial: str, geom: str) -> None:
    config = f'<config key="flat" value="{flat}"/>' if flat else ""
    pair = Pair(CABLE.format(curve=curve, config=config, initial=initial, geom=geom, flags=""))
    pair.compare("qfrc_passive", "qacc", states=2, scale=0.5)
    assert np.abs(pair.ours.qfrc_passive).max() > 0.1


CHAIN = """<mujoco><extension><plugin plugin="mujoco.elasticity.cable"><instance name="c"><config key="twist" value="1e3"/><config key="bend" value="2e3"/></instance></plugin></extension>
<option><flag constraint="disable"/></option><worldbody><body name="first" pos="1 2 3" euler="10 20 30"><joint axis="1 0 1"/><geom type="box" size=".1 .05 .02"/><plugin instance="c"/>
<body pos=".2 0 .1" euler="5 0 7"><joint type="slide" axis="0 1 0"/><joint type="ball" pos="-.1 0 0"/><geom type="box" size=".1 .05 .02"/><plugin instance="c"/>
<body pos=".2 0 .1" euler="5 0 7"><joint type="ball"/><geom size=".1"/><plugin instance="c"/>
<body pos=".3 .1 0" quat="1 .2 0 0">{joint}<geom type="capsule" size=".1 .2"/><plugin instance="c"/></body></body></body></body></worldbody></mujoco>"""


def test_chain_of_unlike_bodies() -> None:
    """Some have no stiffness; the first may hang on any joint; a slide may come before a ball."""
    Pair(CHAIN.format(joint='<joint type="ball"/>')).compare("qfrc_passive", states=10)


def test_a_link_without_ball_is_refused() -> None:
    model = dovetail.loads(CHAIN.format(joint="<joint/>"))
    with pytest.raises(ValidationError, match=r"body 4.*\n.*needs a ball or free joint"):
        dovetail.forward(model, dovetail.make_data(model))


def test_cable_follows_mujoco_and_stops_with_the_flags() -> None:
    parts = {"curve": "s 0 0", "config": "", "initial": "ball", "geom": 'type="capsule" size=".02"'}
    pair = Pair(CABLE.format(**parts, flags=""))
    pair.step(100)
    pair.check("qpos", "qvel", tolerance=1e-9)
    off = Pair(CABLE.format(**parts, flags='spring="disable" damper="disable"'))
    off.compare("qfrc_passive", states=3)
    assert not off.ours.qfrc_passive.any()


@pytest.mark.parametrize("fluid", ["", ELLIPSOIDS])
def test_drag_takes_power_away(fluid: str) -> None:
    """Without wind, lift and added mass do no work and drag works against the motion."""
    model = dovetail.loads(tree('density="1000" viscosity=".9"', fluid=fluid))
    data = dovetail.make_data(model)
    random = np.random.default_rng(1)
    for _ in range(20):
        data.qvel = random.normal(size=model.nv)
        dovetail.forward(model, data)
        assert data.qfrc_fluid @ data.qvel < 0.0


def test_lift_and_added_mass_do_no_work() -> None:
    random = np.random.default_rng(2)
    turning, moving = random.normal(size=(2, 50, 3))
    coefficient: Any = np.hstack([np.ones((50, 1)), np.zeros((50, 3)), random.uniform(size=(50, 8))])
    torque, force = ellipsoid_numpy.forces(
        turning, moving, random.uniform(0.1, 1.0, size=(50, 3)), coefficient, 1000.0, 0.0
    )
    power = np.einsum("ij,ij->i", torque, turning) + np.einsum("ij,ij->i", force, moving)
    np.testing.assert_allclose(power, 0.0, atol=1e-10 * np.abs(force).max())


def test_equivalent_box_of_a_box_is_the_box() -> None:
    size: Any = np.array([[0.2, 0.5, 0.9]])
    squares = np.square(size)
    inertia = 3.0 / 12.0 * (squares.sum() - squares)
    np.testing.assert_allclose(box_numpy.equivalent_box(inertia, np.array([3.0])), size, rtol=1e-12)


ROWS = {
    "spring": EVERYTHING,
    "damper": EVERYTHING,
    "tendon_spring": TENDONS["shortest"],
    "tendon_damper": TENDONS["shortest"],
    "gravcomp": IN_WATER,
    "fluid": IN_WATER,
}
"""A model in which each row has something to do."""


@pytest.mark.parametrize(
    ("row", "how"),
    [
        pytest.param(row, *case.values, id=f"{row}-{case.id}", marks=case.marks)
        for row in ROWS
        for case in implementations(f"passive_force:{row}")
    ],
)
def test_every_implementation_has_mujocos_forces(row: str, how: How) -> None:
    assert_mujocos(ROWS[row], f"passive_force:{row}", how)

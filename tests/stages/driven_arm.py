"""An arm of three joints and two tendons for actuators of every law, those of mujoco.pid included."""

# ruff: noqa: E501 - one element per line reads better than wrapped ones

from __future__ import annotations

from typing import Any

import pytest
from implementations import How, assert_mujocos, implementations

from dovetail.registry import default_registry

FIELDS = ("actuator_length", "actuator_velocity", "act_dot", "actuator_force", "qfrc_actuator", "qacc")


ARM = """<mujoco><extension><plugin plugin="mujoco.pid"/></extension><option timestep=".004" {option}><flag constraint="disable" {flags}/></option><worldbody>
<site name="w" pos=".2 .3 1"/>
<body pos="0 0 1"><joint name="a" axis="0 1 0" {joint}/><geom type="capsule" size=".04" fromto="0 0 0 .4 0 0"/><site name="s" pos=".3 0 .05"/>
<body pos=".4 0 0" gravcomp=".5"><joint name="b" axis="0 1 .3" range="-100 100" actuatorgravcomp="true"/><joint name="c" type="slide" axis="1 0 0"/><geom type="capsule" size=".04" fromto="0 0 0 .3 .1 0"/></body></body></worldbody>
<tendon><spatial name="t" {tendon}><site site="w"/><site site="s"/></spatial><fixed name="f" {tendon}><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed></tendon>
<actuator>{actuators}</actuator></mujoco>"""


def arm(actuators: str, option: str = "", flags: str = "", joint: str = "", tendon: str = "") -> str:
    return ARM.format(actuators=actuators, option=option, flags=flags, joint=joint, tendon=tendon)


LIMITED = 'actuatorfrclimited="true" actuatorfrcrange="-.5 .7"'


def servo(target: str = 'joint="a"', dyntype: str = "none", more: str = "", **config: str) -> str:
    dynamic = dyntype in ("integrator", "filter", "filterexact")
    count = ("ki" in config) + ("slewmax" in config) + dynamic
    rows = "".join(f'<config key="{key}" value="{value}"/>' for key, value in config.items())
    return f'<plugin plugin="mujoco.pid" {target} actdim="{count}" dyntype="{dyntype}" dynprm=".1" {more}>{rows}</plugin>'


CONFIGS = [
    {"kp": "10"},
    {"kp": "10", "kd": "2"},
    {"ki": "5", "imax": ".01"},
    {"kp": "1e1x", "ki": "5", "kd": "0x1p1", "imax": "", "slewmax": "2"},
    {"kp": "3", "slewmax": "0"},
    {"kp": "10", "ki": "4", "kd": "1", "imax": ".3", "slewmax": "5"},
]


MUSCLE = ".75 1.05 -1 200 .5 1.6 1.5 1.3 1.2"


GAINS = {
    "fixed": 'gainprm="3"',
    "affine": 'gaintype="affine" gainprm="1 2 3"',
    "muscle": f'gaintype="muscle" gainprm="{MUSCLE}" lengthrange="-.5 1.5"',
    "muscle of given force": 'gaintype="muscle" gainprm=".6 1.2 30 200 .7 1.3 3 1.1 1.7" lengthrange="-2 2"',
    "user": 'gaintype="user"',
}


BIASES = {
    "none": "",
    "affine": 'biastype="affine" biasprm=".1 -2 -.3"',
    "muscle": f'biastype="muscle" biasprm="{MUSCLE}" lengthrange="-.5 1.5"',
    "user": 'biastype="user"',
}


def laws(table: str) -> list[Any]:
    """Parameters of a test: every law of a part table that MuJoCo knows too, under every implementation of it."""
    return [
        pytest.param(key, *case.values, id=f"{key}-{case.id}", marks=case.marks)
        for key in default_registry().keys(table)
        if key != "user"
        for case in implementations(f"{table}:{key}")
    ]


def assert_law(text: str, slot: str, how: How) -> None:
    """Actuation gives MuJoCo's numbers with this implementation of a law, on its own backend."""
    actuation = How(f"gain_bias@{how.label.partition('@')[2]}")
    assert_mujocos(text, "actuation", actuation, others={slot: how.label})

"""Corners of MuJoCo 3.4.0's compiler that random documents brought to light, one model each."""

from __future__ import annotations

import pytest
import whole_model

import dovetail
from dovetail.errors import MJCFError

SERVO = '<general joint="j" gaintype="{}" biastype="{}" gainprm="1" biasprm="0 -1 1"/>'


def model(joint: str = "", extra: str = "", world: str = "") -> str:
    return (
        f'<mujoco><worldbody>{world}<body name="b"><joint name="j" {joint}/><geom name="g" size=".1"/></body>'
        '<body name="c" pos="1 0 0"><joint name="k" ref="10"/><geom size=".1"/>'
        '<body pos="1 0 0"><joint type="ball"/><geom size=".1"/></body></body>'
        '<body mocap="true" pos="1 2 3"/><body pos="3 3 3"><freejoint/><geom size=".1"/></body></worldbody>'
        f"{extra}</mujoco>"
    )


def tendon(attributes: str) -> str:
    return (
        f'<tendon><fixed {attributes}><joint joint="j" coef="1"/><joint joint="k" coef="1"/></fixed></tendon>'
    )


MODELS = {
    "empty numbers are not given": model('axis="" damping=" " range=""'),
    "short qpos": model(extra='<keyframe><key qpos="1"/></keyframe>'),
    "qpos that ends within a quaternion": model(extra='<keyframe><key qpos="1 2 3 4"/></keyframe>'),
    "long quaternion of a flexcomp": model(
        world='<flexcomp name="f" type="grid" dim="3" count="3 2 2" spacing=".1 .2 .1" pos="0 3 0" quat="1 .5 .1 2">'
        '<pin id="0 1"/></flexcomp>'
    ),
    "short qvel": model(extra='<keyframe><key qvel="1 2 3"/></keyframe>'),
    "mocap pose that ends within a quaternion": model(extra='<keyframe><key mquat="2 1 0"/></keyframe>'),
    "damping ratio whatever the types": model(
        extra=f"<actuator>{SERVO.format('affine', 'none')}{SERVO.format('fixed', 'affine')}</actuator>"
    ),
    "negative diameter": model(extra='<actuator><cylinder joint="j" diameter="-1"/></actuator>'),
    "tendon force range is no limit": model(extra=tendon('actuatorfrcrange="-1 1"')),
    "tendon force range with auto is a limit": model(
        extra=tendon('actuatorfrcrange="-1 1" actuatorfrclimited="auto"')
    ),
    "trees on a spring stay awake": model(extra=tendon('stiffness="1"')),
    "distance to a body with a height field": (
        '<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset><worldbody><body name="a">'
        '<geom type="hfield" hfield="h"/></body><body name="b"><geom size=".1"/></body></worldbody>'
        '<sensor><distance body1="a" body2="b"/></sensor></mujoco>'
    ),
}


@pytest.mark.parametrize("xml", MODELS.values(), ids=MODELS)
def test_same_as_mujoco(xml: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    assert whole_model.differences(dovetail.loads(xml), mujoco.MjModel.from_xml_string(xml)) == []


BAD = {
    "required numbers cannot be empty": (
        '<mujoco><worldbody><body><inertial pos="" mass="1"/></body></worldbody></mujoco>',
        "required attribute 'pos' is missing",
    ),
    "integers cannot be empty": (model('group=""'), "has 0 values"),
    "a tree on a spring cannot sleep": (
        model(extra=tendon('damping="1"')).replace('name="b"', 'name="b" sleep="allowed"'),
        "it cannot sleep",
    ),
    "distance to a height field": (
        '<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset><worldbody>'
        '<geom name="a" type="hfield" hfield="h"/><geom name="b" size=".1"/></worldbody>'
        '<sensor><distance geom1="a" geom2="b"/></sensor></mujoco>',
        "no distance to a height field",
    ),
}


@pytest.mark.parametrize(("xml", "says"), BAD.values(), ids=BAD)
def test_refused_as_by_mujoco(xml: str, says: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    with pytest.raises(MJCFError, match=says):
        dovetail.loads(xml)
    with pytest.raises(ValueError, match="Error"):
        mujoco.MjModel.from_xml_string(xml)


def test_adhesion_refuses_a_negative_gain_that_its_class_took_from_another_shortcut() -> None:
    xml = """<mujoco>
      <default><general gainprm="-2"/></default>
      <worldbody><body name="b"><geom size="1"/></body></worldbody>
      <actuator><adhesion body="b" ctrlrange="0 1"/></actuator>
    </mujoco>"""
    mujoco = pytest.importorskip("mujoco")
    with pytest.raises(ValueError, match="adhesion gain cannot be negative"):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(MJCFError, match=r":4: <adhesion>.*that of this adhesion is -2"):
        dovetail.loads(xml)

"""Vectors and quaternions of practically no length: which ones MuJoCo refuses, and what the others become."""

from __future__ import annotations

import pytest
from comparing import differences
from compiling import compile_text

from dovetail.errors import MJCFError

BALL = '<body name="b"><joint type="ball"/><geom size=".1"/></body>'
MODELS = {
    "joint axis": '<worldbody><body><joint axis="{} 0 0"/><geom size=".1"/></body></worldbody>',
    "light dir": '<worldbody><light dir="{} 0 0"/></worldbody>',
    "zaxis": '<worldbody><site zaxis="0 {} 0"/></worldbody>',
    "x of xyaxes": '<worldbody><camera xyaxes="{} 0 0 0 1 0"/></worldbody>',
    "y of xyaxes": '<worldbody><body xyaxes="1 0 0 1 {} 0"/></worldbody>',
    "axisangle": '<worldbody><site axisangle="{} 0 0 30"/></worldbody>',
    "frame": '<worldbody><frame zaxis="{} 0 0"><geom size=".1"/></frame></worldbody>',
    "geom fromto": '<worldbody><geom type="capsule" size=".1" fromto="0 0 0 {} 0 0"/></worldbody>',
    "site fromto": '<worldbody><site type="capsule" size=".1" fromto="0 0 0 0 {} 0"/></worldbody>',
    "site quat": '<worldbody><site quat="0 {} 0 0"/></worldbody>',
    "body quat": '<worldbody><body quat="{} 0 0 0"/></worldbody>',
    "inertial quat": (
        '<worldbody><body><joint/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1.5" quat="{} 0 0 0"/>'
        "</body></worldbody>"
    ),
    "relpose": (
        f'<worldbody>{BALL}</worldbody><equality><weld body1="b" relpose="0 0 0 0 {{}} 0 0"/></equality>'
    ),
    "key qpos": f'<worldbody>{BALL}</worldbody><keyframe><key qpos="{{}} 0 0 0"/></keyframe>',
    "key mquat": '<worldbody><body mocap="true"/></worldbody><keyframe><key mquat="{} 0 0 0"/></keyframe>',
    "refquat": (
        '<asset><mesh name="m" refquat="{} 0 0 0" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'
        '<worldbody><geom type="mesh" mesh="m"/></worldbody>'
    ),
    "cable": (
        '<worldbody><composite type="cable" prefix="c" vertex="0 0 0 {} 0 0 1 0 0"><joint kind="main"/>'
        '<geom type="sphere" size=".1"/></composite></worldbody>'
    ),
    "bent cable": (
        '<worldbody><composite type="cable" prefix="c" vertex="0 0 0 1 0 0 2 0 {}"><joint kind="main"/>'
        '<geom type="sphere" size=".1"/></composite></worldbody>'
    ),
}


@pytest.mark.parametrize("length", ["1e-6", "1.01e-7", "0.99e-7", "1e-8", "1.01e-14", "1e-15", "1e-16", "0"])
@pytest.mark.parametrize("place", MODELS)
def test_as_mujoco(place, length):
    mujoco = pytest.importorskip("mujoco")
    xml = f"<mujoco>{MODELS[place].format(length)}</mujoco>"
    try:
        theirs = mujoco.MjModel.from_xml_string(xml)
    except ValueError:
        with pytest.raises(MJCFError, match="<string>:1"):
            compile_text(xml)
    else:
        ours = compile_text(xml)
        if not any(ours.values["eq_data"][:, 6:10].flat):  # a zero quaternion asks for the pose at qpos0
            ours.values.pop("eq_data")
        assert differences(ours, theirs) == []

"""Attaching specs and parts of them: the drop-in compiles the model that MuJoCo's MjSpec does."""
# ruff: noqa: E501 - lines of scripts and models

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mj.spec_pair import model_differences, names, run, same

import dovetail.mj as mj
from dovetail.mj.spec.problems import SpecError

KID = '''
XML = """<mujoco model="kid"><compiler angle="radian" autolimits="true"/>
<default><geom rgba="1 0 0 1"/><default class="limb"><geom material="skin" type="capsule"/><joint range="-1 1" damping=".5"/></default></default>
<asset><texture name="tex" type="2d" builtin="checker" width="4" height="4"/><material name="skin" texture="tex"/><material name="bone"/></asset>
<worldbody><geom name="base" size=".3"/><site name="port"/>
<body name="upper" pos="0 0 1" childclass="limb" euler=".1 .2 .3"><joint name="shoulder" axis="0 1 0"/>
<geom name="upper" fromto="0 0 0 0 0 .5" size=".1"/><site name="mark" pos="0 0 .2"/>
<body name="lower" pos="0 0 .5"><joint name="elbow" axis="1 0 0"/><geom name="lower" fromto="0 0 0 0 0 .4" size=".08"/>
<camera name="eye"/><light name="lamp" mode="targetbody" target="lower"/><site name="tip" pos="0 0 .4"/></body></body>
<body name="other" pos="1 0 0"><joint name="loose" type="ball"/><geom size=".1" material="bone"/></body></worldbody>
<contact><exclude body1="upper" body2="lower"/><pair geom1="base" geom2="lower"/></contact>
<tendon><spatial name="cord"><site site="mark"/><site site="tip"/></spatial></tendon>
<equality><joint joint1="elbow" joint2="shoulder"/><weld body1="lower" body2="other"/></equality>
<actuator><motor name="drive" joint="elbow"/><general name="pull" tendon="cord"/></actuator>
<sensor><jointpos name="bend" joint="elbow"/><framepos objtype="site" objname="tip" reftype="body" refname="other"/><clock/></sensor>
<keyframe><key name="home" qpos=".1 .2 1 0 0 0" ctrl=".5 .6"/></keyframe>
<custom><numeric name="num" data="1 2"/></custom></mujoco>"""
kid = mujoco.MjSpec.from_string(XML)
spec = mujoco.MjSpec()
pole = spec.worldbody.add_body(name='pole', pos=[0, 0, 1])
pole.add_geom(name='pole', size=[.1, 0, 0]); pole.add_joint(name='turn')
frame = pole.add_frame(name='frame', pos=[1, 0, 0], euler=[0, 0, 90])
site = pole.add_site(name='site', pos=[0, 1, 0], quat=[1, 1, 0, 0])
'''
CASES = {
    "a spec in a frame": "spec.attach(kid, prefix='k-', frame=frame)",
    "a spec in a frame by name": "spec.attach(kid, prefix='k-', suffix='-z', frame='frame')",
    "a spec at a site": "spec.attach(kid, suffix='-k', site=site)",
    "without prefix": "spec.attach(kid, frame=frame)",
    "an empty prefix": "spec.attach(kid, prefix='', site='site')",
    "edited afterwards": """
upper = kid.body('upper')
spec.attach(kid, prefix='k-', frame=frame)
upper.pos = [1, 2, 3]; upper.first_geom().rgba = [0, 1, 0, 1]; upper.add_site(name='new'); frame.pos[0] = 5
""",
    "a body": "frame.attach_body(kid.body('lower'), 'k-')",
    "a body at a site": "site.attach_body(kid.body('upper'), 'k-', '-z')",
    "a frame": """
part = kid.worldbody.add_frame(name='part', pos=[0, 0, 2])
part.add_body(name='in part').add_geom(size=[.2, 0, 0])
pole.attach_frame(part, 'k-')
""",
    "copies": """
spec.copy_during_attach = True
spec.attach(kid, prefix='a-', frame=frame); spec.attach(kid, prefix='b-', site=site); frame.attach_body(kid.body('lower'), 'c-')
""",
    "a spec that has one attached": """
middle = mujoco.MjSpec()
middle.compiler.degree = False
hand = middle.worldbody.add_body(name='hand', euler=[.5, 0, 0]); hand.add_geom(size=[.1, 0, 0])
middle.attach(kid, prefix='k-', frame=hand.add_frame(euler=[0, .5, 0]))
middle.compile()
spec.attach(middle, prefix='m-', frame=frame)
""",
    "keys of both": "spec.add_key(name='own', qpos=[.7]); spec.attach(kid, prefix='k-', frame=frame)",
    "other rules for inertia": """
kid.compiler.inertiafromgeom = 1; kid.compiler.balanceinertia = 1; kid.compiler.boundmass = 2
spec.attach(kid, prefix='k-', frame=frame)
""",
}


@pytest.mark.parametrize("name", CASES)
def test_an_attached_spec_compiles_to_the_model_that_mujoco_makes(name: str) -> None:
    same(KID + CASES[name])


@pytest.mark.parametrize("name", [n for n in CASES if n != "other rules for inertia"])
def test_the_text_with_attached_parts_brings_the_model_back(name: str) -> None:
    spec = run(KID + CASES[name], mj)["spec"]
    model = spec.compile()
    assert model_differences(model, mj.MjModel.from_xml_string(spec.to_xml()), 1e-12) == []


def test_other_rules_for_inertia_have_no_place_in_one_text() -> None:
    spec = run(KID + CASES["other rules for inertia"], mj)["spec"]
    with pytest.raises(SpecError, match=r"compiler\.inertiafromgeom"):
        spec.to_xml()


def test_files_of_an_attached_spec_are_known_under_new_names() -> None:
    cube = "\n".join(f"v {x} {y} {z}" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
    script = (
        "kid = mujoco.MjSpec()\n"
        "kid.add_mesh(name='cube', file='cube.obj')\n"
        f"kid.assets = {{'cube.obj': {cube!r}}}\n"
        "kid.worldbody.add_body().add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname='cube')\n"
        "spec = mujoco.MjSpec()\n"
        "spec.attach(kid, prefix='k-', frame=spec.worldbody.add_frame())\n"
    )
    ours = run(script, mj)["spec"]
    assert ours.compile().nmeshvert == 8
    assert list(ours.assets) == ["k-cube.obj"]
    assert ours.mesh("k-cube").file == "k-cube.obj"


def _pair() -> tuple[Any, Any, Any]:
    found = run(KID, mj)
    return found["spec"], found["kid"], found["frame"]


def test_a_spec_is_not_attached_to_itself() -> None:
    spec, kid, frame = _pair()
    with pytest.raises(SpecError, match="cannot be attached to itself"):
        spec.attach(spec, prefix="x-", frame=frame)
    inside = kid.body("lower").add_frame()
    spec.attach(kid, prefix="k-", frame=frame)
    with pytest.raises(SpecError, match="cannot be attached to itself"):
        inside.attach_body(spec.body("pole"), "y-") if inside._spec is kid else kid.attach(
            spec, prefix="y-", frame=kid.worldbody.add_frame()
        )


def test_a_spec_is_attached_once_unless_it_is_copied() -> None:
    spec, kid, frame = _pair()
    spec.attach(kid, prefix="k-", frame=frame)
    with pytest.raises(SpecError, match="copy_during_attach"):
        spec.attach(kid, prefix="z-", frame=frame)
    with pytest.raises(SpecError, match="attached by reference"):
        kid.compile()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({}, "One of frame or site must be specified."),
        ({"frame": "frame", "site": "site"}, "Only one of frame or site can be specified."),
        ({"frame": "nowhere"}, "Frame not found."),
        ({"site": "nowhere"}, "Site not found."),
    ],
)
def test_the_place_must_be_there(place: dict[str, str], message: str) -> None:
    spec, kid, _ = _pair()
    with pytest.raises(ValueError, match=message):
        spec.attach(kid, **place)


def test_names_that_clash_are_an_error_when_compiled() -> None:
    spec, kid, frame = _pair()
    spec.worldbody.add_body(name="upper")
    spec.attach(kid, prefix="", frame=frame)
    with pytest.raises(ValueError, match="repeated name 'upper' in body"):
        spec.compile()


def test_the_world_and_things_of_other_specs_are_refused() -> None:
    spec, kid, frame = _pair()
    with pytest.raises(SpecError, match="world itself"):
        frame.attach_body(kid.worldbody)
    with pytest.raises(SpecError, match="another spec's"):
        spec.attach(mj.MjSpec(), frame=kid.worldbody.add_frame())
    with pytest.raises(TypeError):
        spec.attach("robot.xml", frame=frame)


def test_a_copy_shares_nothing() -> None:
    spec, kid, frame = _pair()
    spec.attach(kid, prefix="k-", frame=frame)
    other = spec.copy()
    assert model_differences(spec.compile(), other.compile(), 0) == []
    assert names(spec.compile()) == names(other.compile())
    text = spec.to_xml()
    other.body("pole").pos = [9, 9, 9]
    other.delete(other.body("k-upper"))
    other.find_default("k-limb").geom.rgba = [0, 0, 0, 1]
    other.option.timestep = 1
    assert spec.to_xml() == text
    assert not np.array_equal(other.compile().body_pos, spec.compile().body_pos)


def test_a_body_of_the_same_spec_is_attached_as_a_copy() -> None:
    _, kid, _ = _pair()
    inside = kid.body("other").add_frame(pos=[0, 0, 1])
    twin = inside.attach_body(kid.body("upper"), "twin-")
    assert twin is not kid.body("upper")
    model = kid.compile()
    assert [b.name for b in kid.bodies] == ["world", "upper", "lower", "other", "twin-upper", "twin-lower"]
    assert model.nu == 4  # the actuators of the copied part are copied with it
    assert model.nmat == 2  # its assets are not

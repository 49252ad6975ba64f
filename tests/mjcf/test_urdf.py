"""URDF: the models that MuJoCo makes of robot descriptions, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import random_urdf
import whole_model
from compiling import compile_text

import dovetail
from dovetail.errors import DovetailError, MJCFError, UnsupportedMJCFError

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
BALL = '<collision><geometry><sphere radius=".1"/></geometry></collision>'
KEEP = '<mujoco><compiler fusestatic="false" discardvisual="false"/></mujoco>'
NOT_OURS = ("bvh_", "nbvh", "body_bvh", "mesh_poly", "nmeshpoly")
"""MuJoCo 3.4 leaves unused rows of bounding volumes behind when it fuses bodies, and its cache of mesh files makes
polygons depend on the scales of models loaded before."""


def link(name: str, content: str = INERTIAL + BALL) -> str:
    return f'<link name="{name}">{content}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", content: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{content}</joint>'


def robot(content: str, attributes: str = 'name="r"') -> str:
    return f"<robot {attributes}>{content}</robot>"


def moved(content: str = "", kind: str = "revolute") -> str:
    return robot(KEEP + link("a") + link("b") + joint("j", "a", "b", kind, content))


def shaped(content: str) -> str:
    return robot(KEEP + link("a", INERTIAL + content))


def visual(material: str = "", shape: str = '<sphere radius=".2"/>') -> str:
    return f"<visual><geometry>{shape}</geometry>{material}</visual>"


def colour(name: str, red: float) -> str:
    return f'<material name="{name}"><color rgba="{red} 0 0 1"/></material>'


def mesh(file: str, attributes: str = "") -> str:
    return f'<collision><geometry><mesh filename="{file}" {attributes}/></geometry></collision>'


ZERO = INERTIAL.replace('="1"', '="0"').replace('value="0"', 'value="1"')
ROBOTS = {
    "nothing": robot(""),
    "without name": robot(link("a"), ""),
    "other case": moved().replace("robot", "Robot"),
    "namespace": robot(KEEP + link("a"), 'name="r" xmlns:xacro="http://ros.org"'),
    "one link": robot(link("a")),
    "two roots": robot(KEEP + link("a") + link("b")),
    "children before parents": robot(
        KEEP + link("b") + link("a") + link("d") + link("c") + joint("j", "c", "a") + joint("k", "a", "b")
    ),
    "order of joints": robot(
        KEEP + "".join(map(link, "abcd")) + joint("j", "a", "d") + joint("k", "a", "c") + joint("l", "a", "b")
    ),
    "fused": robot(
        "".join(map(link, "abc"))
        + joint("j", "a", "b")
        + joint("k", "b", "c", "fixed", '<origin xyz="1 2 3" rpy=".1 .2 .3"/>')
    ),
    "world": robot(KEEP + link("c") + link("world", "") + link("a") + link("d") + joint("j", "world", "a")),
    "floating": robot(
        link("world", "")
        + link("a")
        + joint("j", "world", "a", "floating", '<origin xyz="1 2 3" rpy="1 0 0"/><dynamics damping="1"/>')
    ),
    "revolute": moved(
        '<origin xyz="0 0 1" rpy="0 .5 0"/><axis xyz="0 1 1"/><limit lower="-1" upper="2" effort="9"/>'
    ),
    "continuous": moved('<limit effort="5" velocity="3"/>', "continuous"),
    "prismatic": moved('<axis xyz="0 0 1"/><limit lower="0" upper="0" effort="0"/>', "prismatic"),
    "fixed": moved('<axis xyz="0 0 0"/>', "fixed"),
    "planar": moved(
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="4"/><dynamics damping="2"/>', "planar"
    ),
    "planar across x": moved("", "planar"),
    "dynamics": moved('<dynamics damping=".5" friction=".2"/>'),
    "half a limit": moved('<limit upper="1"/>'),
    "limit the wrong way round": moved('<limit lower="2" upper="1"/>'),
    "negative effort": moved('<limit lower="-1" upper="1" effort="-4"/>'),
    "mimic and others": moved(
        '<mimic joint="x"/><safety_controller k_velocity="1"/><calibration rising="1"/>'
    ),
    "full inertia, turned": shaped("").replace(
        INERTIAL,
        '<inertial><origin rpy=".1 .2 .3" xyz="1 2 3"/><mass value="2"/>'
        '<inertia ixx="1" ixy=".1" ixz="0" iyy="1.2" iyz=".05" izz="1.5"/></inertial>',
    ),
    "no inertia": robot(KEEP + link("a", ZERO + BALL)),
    "mass from geoms": robot(KEEP + link("a") + link("b", BALL) + joint("j", "a", "b")),
    "shapes": shaped(
        '<collision name="x"><origin xyz="1 2 3" rpy=".3 .2 .1"/><geometry><box size="1 2 3"/></geometry></collision>'
        '<collision name="x"><geometry><cylinder radius=".1" length="2"/></geometry></collision>'
        '<collision><geometry><capsule radius=".1" length="1"/></geometry></collision>'
        '<collision><geometry><sphere radius="1"/><box size="1 1 1"/></geometry></collision>'
    ),
    "colours": shaped(
        BALL
        + visual(colour("m", 0.1))
        + BALL
        + visual()
        + visual('<material name="unknown"/>')
        + visual(colour("m", 0.3))
    ),
    "colours by name": robot(
        KEEP + link("a", INERTIAL + visual('<material name="m"/>')) + colour("m", 0.2) + colour("m", 0.4)
    ),
    "discarded visuals": robot(
        link("a", INERTIAL + visual(colour("m", 0.1), '<mesh filename="gone.obj"/>') + BALL)
    ),
    "meshes": shaped(
        mesh("cube.obj")
        + mesh("package://p/cube.obj", 'scale="2 1 1"')
        + mesh("wedge.obj")
        + mesh("cube.obj", 'scale="3 1 1"')
        + mesh("cube.obj", 'scale="2 1 1"')
    ),
    "settings": robot(
        '<mujoco unknown="1"><compiler angle="degree" fusestatic="false" foo="1"/><option timestep=".01"><flag '
        'gravity="disable"/></option><size nuserdata="3"/><asset><material name="x"/></asset></mujoco>'
        + link("a")
    ),
    "other programs' elements": robot(
        KEEP + '<gazebo reference="a"/><transmission/><include file="x"/>' + link("a")
    ),
}
REFUSED = {
    "link without name": robot("<link/>"),
    "two links of one name": robot(link("a") + link("a")),
    "two joints of one name": robot(
        KEEP + "".join(map(link, "abc")) + joint("j", "a", "b") + joint("j", "a", "c")
    ),
    "joint without name": moved().replace('name="j" ', ""),
    "joint without type": moved().replace('type="revolute"', ""),
    "unknown type": moved("", "foo"),
    "no parent": moved().replace('<parent link="a"/>', ""),
    "unknown parent": moved().replace('<parent link="a"/>', '<parent link="x"/>'),
    "two parents": robot(KEEP + "".join(map(link, "abc")) + joint("j", "a", "c") + joint("k", "b", "c")),
    "loop": robot(KEEP + link("a") + link("b") + joint("j", "a", "b") + joint("k", "b", "a")),
    "moving world": robot(KEEP + link("world", "") + link("a") + joint("j", "a", "world")),
    "floating on a link": moved("", "floating"),
    "no geometry": shaped("<collision/>"),
    "unknown shape": shaped("<collision><geometry><cone/></geometry></collision>"),
    "no radius": shaped("<collision><geometry><sphere/></geometry></collision>"),
    "negative radius": shaped('<collision><geometry><sphere radius="-1"/></geometry></collision>'),
    "mesh without file": shaped("<collision><geometry><mesh/></geometry></collision>"),
    "no mass": shaped("").replace('<mass value="1"/>', ""),
    "moment missing": shaped("").replace('ixy="0"', ""),
    "negative moment": moved().replace('ixx="1"', 'ixx="-1"'),
    "two inertials": shaped(INERTIAL),
    "massless": robot(KEEP + link("a") + link("b", ZERO) + joint("j", "a", "b")),
    "two coordinates": moved('<origin xyz="1 2"/>'),
    "no direction": moved('<axis xyz="0 0 0"/>'),
    "material without name": shaped(visual("<material/>")),
    "two extensions": robot("<mujoco/><mujoco/>" + link("a")),
    "bad setting": robot('<mujoco><option timestep="x"/></mujoco>' + link("a")),
}


def differences(ours: Any, theirs: Any) -> list[str]:
    return [line for line in whole_model.differences_but_axes(ours, theirs) if not line.startswith(NOT_OURS)]


def compare(xml: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    try:
        theirs = mujoco.MjModel.from_xml_string(xml, random_urdf.ASSETS)
    except ValueError:
        with pytest.raises(DovetailError):
            dovetail.loads(xml, assets=random_urdf.ASSETS)
        return
    assert differences(dovetail.loads(xml, assets=random_urdf.ASSETS), theirs) == []


@pytest.mark.parametrize("case", ROBOTS)
def test_same_model_as_mujocos(case):
    dovetail.loads(ROBOTS[case], assets=random_urdf.ASSETS)
    compare(ROBOTS[case])


@pytest.mark.parametrize("seed", range(25))
def test_random_robot(seed):
    compare(random_urdf.robot(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25, 400))
def test_more_random_robots(seed):
    compare(random_urdf.robot(seed))


@pytest.mark.parametrize("case", REFUSED)
def test_refused_as_by_mujoco(case):
    mujoco = pytest.importorskip("mujoco")
    with pytest.raises(MJCFError, match=r"^<string>:1: <"):
        dovetail.loads(REFUSED[case])
    with pytest.raises(ValueError, match="Error"):
        mujoco.MjModel.from_xml_string(REFUSED[case])


def test_a_file_with_its_meshes_beside_it(tmp_path: Path):
    (tmp_path / "cube.obj").write_bytes(random_urdf.ASSETS["cube.obj"])
    file = tmp_path / "robot.urdf"
    file.write_text(shaped(mesh("package://robot/meshes/cube.obj")))
    assert dovetail.load(file).nmesh == 1


def test_a_mass_of_the_world_is_said_to_be_unsupported():
    with pytest.raises(UnsupportedMJCFError, match="remove it"):
        dovetail.loads(robot(link("world") + link("a") + joint("j", "world", "a")))


def test_problems_name_the_place_in_the_robot():
    ends = '<parent link="b"/><child link="a"/>'
    text = f'<robot>\n<link name="a"/>\n<joint name="j" type="fixed">\n{ends}</joint></robot>'
    with pytest.raises(MJCFError, match=r'robot\.urdf:4: <parent link="b">: unknown link'):
        compile_text(text, filename="robot.urdf")

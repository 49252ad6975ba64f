"""Cameras, lights, textures and materials give MuJoCo's values, all fields compared."""

from __future__ import annotations

import pytest

import dovetail
from dovetail.mjcf.read import kinds
from dovetail.mjcf.read.schema import MUJOCO

VISUAL_SAMPLES = {
    kinds.Float: ".7",
    kinds.Int: "3",
    kinds.Keyword: "true",
    kinds.Floats: "0.1 .2 .3 .4",
}
"""A value for each kind of attribute in `<visual>`."""

MASS = '<geom size=".1" pos=".1 0 0"/>'
CAMERAS = {
    "plain": "",
    "pose": 'pos="1 2 3" euler="10 20 30" fovy="60" ipd=".1" resolution="640 480" user="1 2"',
    "orthographic": 'orthographic="true" fovy="2" xyaxes="0 -1 0 .1 0 1"',
    "tracking": 'mode="trackcom" pos="1 0 0"',
    "target": 'mode="targetbody" target="b" pos="1 0 0"',
    "lengths": 'sensorsize=".03 .02" focal=".04 .05" principal=".001 .002" resolution="300 200"',
    "pixels": 'sensorsize=".03 .02" focalpixel="400 500" principalpixel="3 4" resolution="300 200"',
    "only a sensor": 'sensorsize=".03 .02" resolution="300 200"',
}
LIGHTS = {
    "plain": "",
    "pose": 'pos="1 2 3" dir="1 2 -3" mode="track"',
    "old directional": 'directional="true" castshadow="false" active="false"',
    "point": 'type="point" bulbradius=".1" intensity="3" range="4" attenuation="1 2 3" cutoff="20" exponent="5"',
    "colours": 'ambient=".1 .2 .3" diffuse=".4 .5 .6" specular=".7 .8 .9"',
    "target": 'mode="targetbodycom" target="b" pos="1 0 0"',
}
TEXTURES = [
    'type="2d" builtin="checker" width="7" height="6" rgb1="1 0 .3" rgb2=".1 .2 .3"',
    'type="2d" builtin="gradient" width="9" height="8" rgb1="1 0 .3" rgb2=".1 .2 .3"',
    'type="2d" builtin="flat" width="5" height="6" mark="edge" markrgb="1 1 1" colorspace="sRGB"',
    'type="2d" builtin="checker" width="8" height="9" mark="cross" markrgb=".2 1 1"',
    'type="cube" builtin="flat" width="5" mark="cross" random=".01"',
    'builtin="checker" width="6" mark="edge"',
    'type="skybox" builtin="gradient" width="12" height="7" rgb1=".3 .5 .7" rgb2="0 0 0"',
]
MATERIALS = [
    'specular="1" shininess=".3" reflectance=".2" emission=".1" metallic=".4" roughness=".6" rgba="1 0 0 .5"',
    'texture="t0" texrepeat="3 4" texuniform="true"',
]
FRAME = '<frame pos="1 0 2" euler="10 20 30">'


@pytest.mark.parametrize("case", CAMERAS)
@pytest.mark.parametrize("frame", ["", FRAME])
def test_camera(same_as_mujoco, case, frame):
    camera = f"{frame}<camera {CAMERAS[case]}/>{frame and '</frame>'}"
    same_as_mujoco(scene(camera))


@pytest.mark.parametrize("case", LIGHTS)
@pytest.mark.parametrize("frame", ["", FRAME])
def test_light(same_as_mujoco, case, frame):
    light = f"{frame}<light {LIGHTS[case]}/>{frame and '</frame>'}"
    same_as_mujoco(scene(light))


def scene(item: str) -> str:
    """The item in the world, in a moving body, and in a body without mass."""
    child = f'<body name="b" pos="0 2 0"><joint/>{MASS}</body>'
    moving = f'<body pos="1 2 3" euler="10 20 30"><joint/>{MASS}{item}{child}</body>'
    return f'<mujoco><worldbody>{item}{moving}<body pos="1 0 0">{item}</body></worldbody></mujoco>'


def test_free_alignment_moves_cameras_and_lights(same_as_mujoco):
    box = '<geom type="box" size=".1 .2 .3" pos="1 0 0" euler="20 0 0"/>'
    item = '<camera pos="1 2 3" euler="0 30 0"/><light pos="1 2 3" dir="1 2 3"/>'
    same_as_mujoco(
        f'<mujoco><worldbody><body pos="1 2 3"><freejoint align="true"/>{box}{item}</body></worldbody></mujoco>'
    )


def test_textures_and_materials(same_as_mujoco):
    textures = "".join(f'<texture name="t{i}" {text}/>' for i, text in enumerate(TEXTURES))
    materials = "".join(f'<material name="m{i}" {text}/>' for i, text in enumerate(MATERIALS))
    layers = (
        '<material name="l"><layer role="normal" texture="t1"/><layer role="orm" texture="t2"/></material>'
    )
    same_as_mujoco(
        f'<mujoco><asset>{textures}{materials}{layers}</asset><worldbody><geom size="1" material="m1"/>'
        '<geom size="1" material="l" rgba="0 1 0 1"/><site material="m0"/><light texture="t3"/></worldbody></mujoco>'
    )


def test_defaults_of_looks(same_as_mujoco):
    same_as_mujoco(
        '<mujoco><default><camera fovy="20" pos="1 0 0"/><light directional="true" diffuse="1 0 0"/>'
        '<material texture="t" rgba="1 0 0 1"/><geom material="m" size="1"/><default class="a">'
        '<light type="point"/><camera euler="10 0 0"/><material><layer role="normal" texture="t"/></material>'
        '</default></default><asset><texture name="t" builtin="flat" width="4"/><material name="m"/>'
        '<material name="n" class="a"/></asset><worldbody><geom/><camera/><camera class="a"/><light/>'
        '<light class="a"/></worldbody></mujoco>'
    )


def test_near_plane_is_the_focal_length_without_a_sensor(same_as_mujoco):
    same_as_mujoco('<mujoco><visual><map znear=".3"/></visual><worldbody><camera/></worldbody></mujoco>')


def test_later_visual_sections_add_to_earlier_ones(same_as_mujoco):
    xml = '<mujoco><visual><map znear=".02"/><rgba haze="1 0 0 1"/></visual><visual><map zfar="9"/></visual></mujoco>'
    visual = {name: value for name, value in same_as_mujoco(xml).values.items() if name.startswith("vis.")}
    assert list(visual) == ["vis.map.znear", "vis.map.zfar", "vis.rgba.haze"]


@pytest.mark.parametrize("tag", ["global", "quality", "headlight", "map", "scale", "rgba"])
def test_every_visual_setting(same_as_mujoco, tag):
    row = MUJOCO.children["visual"].children[tag]
    texts = {
        name: " ".join(VISUAL_SAMPLES[type(kind)].split()[: getattr(kind, "size", 1)])
        for name, kind in row.attributes.items()
    }
    written = " ".join(f'{name}="{text}"' for name, text in texts.items() if not name.startswith("bv"))
    model = f"<mujoco><visual><{tag} {written}/></visual></mujoco>"
    assert len(same_as_mujoco(model).values) > len(texts)


def test_visual_settings_are_in_the_model():
    model = dovetail.loads('<mujoco><visual><map znear=".02"/><global fovy="60"/></visual></mujoco>')
    assert model.vis.map.znear == pytest.approx(0.02)
    assert model.vis.global_.fovy == 60
    assert model.vis.quality.shadowsize == 4096

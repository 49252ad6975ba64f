"""What the fuzzer found, each with the rule behind it, in cases beside the one that was found."""

from __future__ import annotations

import warnings

import pytest
import whole_model

import dovetail

mujoco = pytest.importorskip("mujoco")


def same(xml: str, assets: dict[str, bytes] | None = None) -> None:
    """Both accept a document and agree in every field."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = dovetail.loads(xml, assets=assets)
    assert whole_model.differences_but_axes(ours, mujoco.MjModel.from_xml_string(xml, assets or {})) == []


@pytest.mark.parametrize("kind", ["2d", "cube", "skybox"])
@pytest.mark.parametrize(("width", "height"), [(4, 1), (1, 4), (1, 1), (3, 3)])
@pytest.mark.parametrize("builtin", ["gradient", "checker", "flat"])
def test_textures_of_a_single_pixel(kind: str, width: int, height: int, builtin: str) -> None:
    """A gradient over one pixel divides zero by zero, and is black."""
    texture = f'<texture name="t" type="{kind}" width="{width}" height="{height}" builtin="{builtin}" '
    same(f'<mujoco><asset>{texture} rgb1="1 .5 .2" rgb2=".1 .2 .3"/></asset></mujoco>')


@pytest.mark.parametrize("channels", [3, 4, 5, 7, 16])
def test_a_built_in_texture_with_more_channels_than_colours(channels: int) -> None:
    same(
        '<mujoco><asset><texture name="t" type="2d" width="4" height="3" builtin="checker" '
        f'nchannel="{channels}" rgb1="1 .5 .2"/></asset></mujoco>'
    )


@pytest.mark.parametrize("file", [".", "..", ".png", "a.b.png", "sky", "x."])
def test_a_texture_is_called_like_its_file_without_the_suffix(file: str) -> None:
    """Whatever the file is called; a built-in texture does not read it."""
    same(
        f'<mujoco><asset><texture type="skybox" width="4" builtin="flat" file="{file}"/>'
        '<texture name="later" type="2d" width="4" height="4" builtin="flat"/></asset></mujoco>'
    )


@pytest.mark.parametrize(
    "place", ["<camera user='1 2'/>", "<default class='c'><camera user='1 2'/></default>"]
)
def test_user_data_of_a_camera_is_not_inherited(place: str) -> None:
    world = '<worldbody><camera class="{}"/><camera user="5"/><geom size="1"/></worldbody>'
    same(f"<mujoco><default>{place}</default>{world.format('c' if 'class' in place else 'main')}</mujoco>")


@pytest.mark.parametrize("size", ["", 'size=".1 .2 .3"', 'size="-1"', 'size="0"'])
def test_a_site_may_be_a_distance_field_of_any_size(size: str) -> None:
    same(f'<mujoco><worldbody><site type="sdf" {size}/></worldbody></mujoco>')


def test_only_spatial_tendons_have_their_armature_checked() -> None:
    body = '<worldbody><body><joint name="j"/><geom size="1"/></body></worldbody>'
    same(f'<mujoco>{body}<tendon><fixed armature="-.2"><joint joint="j" coef="1"/></fixed></tendon></mujoco>')


def test_faces_of_an_obj_without_some_of_their_normals() -> None:
    points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nvt 0 0\n"
    faces = "f 1/1/1 3//1 2\nf 1 2 4/1\nf 1//1 4 3\nf 2 3 4\n"
    same(
        '<mujoco><asset><mesh name="m" file="m.obj"/></asset>'
        '<worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>',
        {"m.obj": (points + faces).encode()},
    )


@pytest.mark.parametrize(
    ("default", "material"),
    [
        ("", '<material name="m" texture=""/>'),
        ('<default><material texture="t"/></default>', '<material name="m" texture=""/>'),
        ("", '<material name="m"><layer role="rgb" texture=""/></material>'),
    ],
)
def test_an_empty_texture_of_a_material_says_nothing(default: str, material: str) -> None:
    texture = '<texture name="t" type="2d" width="4" height="4" builtin="flat"/>'
    same(f"<mujoco>{default}<asset>{texture}{material}</asset></mujoco>")


@pytest.mark.parametrize("margins", [(-1.0,), (-1.0, -2.0), (-1.0, 0.5), (0.5, -1.0)])
def test_a_bodys_margin_is_not_negative(margins: tuple[float, ...]) -> None:
    geoms = "".join(f'<geom size="1" margin="{margin}"/>' for margin in margins)
    same(f"<mujoco><worldbody><body>{geoms}</body></worldbody></mujoco>")


@pytest.mark.parametrize("tag", ["geom", "site"])
@pytest.mark.parametrize("kind", ["sphere", "capsule", "box"])
def test_a_fromto_that_begins_with_nan_is_not_there(tag: str, kind: str) -> None:
    same(
        f'<mujoco><worldbody><{tag} type="{kind}" size=".1 .2 .3" fromto="nan 0 0 1 1 1" pos="1 2 3"/>'
        "</worldbody></mujoco>"
    )


@pytest.mark.parametrize("inner", ["", '<default><joint damping="3"/></default>'])
@pytest.mark.parametrize("outer", ["", '<default><joint damping="7"/></default>'])
def test_a_flexcomp_of_an_attached_world_has_its_own_models_defaults(inner: str, outer: str) -> None:
    grid = '<flexcomp name="f" type="grid" count="2 2 1" dim="2" spacing=".1 .1 .1" radius=".01"/>'
    attached = f"<mujoco>{inner}<worldbody>{grid}</worldbody></mujoco>"
    same(
        f'<mujoco>{outer}<asset><model name="a" file="a.xml"/></asset>'
        '<worldbody><attach model="a" prefix="p_"/></worldbody></mujoco>',
        {"a.xml": attached.encode()},
    )


def test_a_model_that_says_its_inertia_is_zero_moves_as_in_mujoco() -> None:
    xml = (
        '<mujoco><statistic meaninertia="0"/><worldbody><body><geom size=".5"/>'
        '<body><joint type="slide"/><geom size="1"/></body></body></worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 3)
    simulation = dovetail.Simulation(dovetail.loads(xml))
    simulation.step(3)
    assert simulation.data.qpos == pytest.approx(data.qpos, abs=1e-9)


def test_a_touch_sensor_in_a_distance_field_feels_nothing() -> None:
    """MuJoCo stops the process there."""
    simulation = dovetail.Simulation(
        dovetail.loads(
            '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .09"><freejoint/><geom size=".1"/>'
            '<site name="s" type="sdf" size=".2"/></body></worldbody><sensor><touch site="s"/></sensor></mujoco>'
        )
    )
    simulation.step(3)
    assert simulation.data.sensordata.tolist() == [0.0]


@pytest.mark.parametrize(
    "inside", ["", '<geom rgba="1 0 0 1"/>', '<geom rgba="1 0 0 1"/><default class="x"/>']
)
def test_a_default_class_without_a_name_is_the_main_one(inside: str) -> None:
    same(
        f'<mujoco><default class="">{inside}</default><worldbody><geom size="1"/></worldbody></mujoco>',
    )


@pytest.mark.parametrize(
    "orientation", ['axisangle="1e300 .5 -1 -.3"', 'axisangle="1e155 0 1 30"', 'quat="1e200 1e200 0 0"']
)
def test_orientations_that_overflow_turn_nothing(orientation: str) -> None:
    """The length is infinite, and the vector divided by it nothing."""
    same(
        "<mujoco><worldbody><body><joint/><geom size='1'/>"
        f"<geom type='box' size='.3 .1 1' {orientation}/></body></worldbody></mujoco>"
    )


@pytest.mark.parametrize("axes", ["1e300 0 0 0 1 0", "1 0 0 0 1e300 0", "1e160 1e160 0 0 1 0"])
def test_axes_that_overflow_are_refused(axes: str) -> None:
    xml = f'<mujoco><worldbody><geom type="box" size=".3 .1 1" xyaxes="{axes}"/></worldbody></mujoco>'
    with pytest.raises(ValueError, match="orientation specification error"):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(dovetail.errors.MJCFError, match="the z axis"):
        dovetail.loads(xml)


@pytest.mark.parametrize("camera", [0, 1, 5, -2])
def test_a_viewer_may_start_with_a_camera_that_is_not_there(camera: int) -> None:
    """It takes the free one then."""
    world = '<worldbody><camera/><geom size="1"/></worldbody>'
    same(f'<mujoco><visual><global cameraid="{camera}"/></visual>{world}</mujoco>')

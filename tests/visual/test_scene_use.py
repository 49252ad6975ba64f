"""Using scenes: options, batches, mistakes, and growth."""

from __future__ import annotations

import numpy as np
import pytest
from against_mjv import mujoco, mujocos_scene, stepped
from everything import RICH

import dovetail
from dovetail import visual
from dovetail.errors import (
    ArgumentError,
    NotKeptError,
    UnknownFieldError,
    UnknownIndexError,
    UnknownNameError,
)
from dovetail.visual import Perturb, Scene, VisFlag, VisualOptions, appearance, geom_poses, texture_image

FALLING = '<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom size=".1"/></body></worldbody></mujoco>'


def test_defaults_are_mujocos() -> None:
    theirs = mujoco.MjvOption()
    own = VisualOptions()
    for name in (
        "geomgroup",
        "sitegroup",
        "jointgroup",
        "tendongroup",
        "actuatorgroup",
        "flexgroup",
        "skingroup",
    ):
        np.testing.assert_array_equal(getattr(own, name), getattr(theirs, name))
    np.testing.assert_array_equal(own.flags.values, theirs.flags)
    assert (own.frame, own.label, own.flex_layer, own.bvh_depth) == (
        0,
        0,
        theirs.flex_layer,
        theirs.bvh_depth,
    )
    assert VisualOptions.of(theirs) == own
    assert [f"mjVIS_{flag.name}" for flag in VisFlag] == list(mujoco.mjtVisFlag.__members__)[:-1]


def test_options_are_given_by_name() -> None:
    options = VisualOptions.of({"flags": {"contactpoint": True}, "frame": "body", "label": "site"})
    assert options.flags["contactpoint"]
    assert options.flags[VisFlag.TENDON]
    assert options.frame == visual.Frame.BODY
    with pytest.raises(UnknownNameError, match=r"contactpoin.*'contactpoint'"):
        options.flags["contactpoin"]
    with pytest.raises(ArgumentError, match=r"no visual option.*'geomgrup'.*'geomgroup'"):
        VisualOptions.of({"geomgrup": 1})
    with pytest.raises(ArgumentError, match="6 truth values"):
        VisualOptions(geomgroup=(1, 1))
    with pytest.raises(ArgumentError, match="frame = 'bodies'"):
        VisualOptions(frame="bodies")
    with pytest.raises(ArgumentError, match="there is no geomgroup"):
        VisualOptions.of(3)


def test_a_world_of_a_batch() -> None:
    model = dovetail.loads(FALLING)
    sim = dovetail.Simulation(model, nworld=3, backend="numpy", keep="all")
    sim.data.qpos[:, 2] = [1, 2, 3]
    sim.forward()
    scene = Scene(model)
    with pytest.raises(ArgumentError, match=r"3 worlds.*world=, 0 to 2"):
        scene.update(sim.data)
    assert scene.update(sim.data, world=1).geoms.pos[0, 2] == 2
    assert [one.geoms.pos[0, 2] for one in scene.update_batch(sim.data)] == [1, 2, 3]
    pos, mat = geom_poses(sim.data)
    assert pos.shape == (3, 1, 3)
    assert mat.shape == (3, 1, 3, 3)
    np.testing.assert_array_equal(pos[:, 0, 2], [1, 2, 3])


def test_fields_that_a_plan_keeps_to_itself_are_named() -> None:
    model = dovetail.loads(FALLING)
    with pytest.raises(NotKeptError, match=r"keep=dovetail.visual.FIELDS"):
        Scene(model).update(_Bare())
    assert set(visual.FIELDS) <= set(dovetail.make_data(model).specs)


class _Bare:
    """A Data that keeps nothing."""

    nworld = None

    def __getattr__(self, name: str) -> None:
        raise NotKeptError(f"{name} is not kept by this plan")


def test_nothing_is_left_out_of_a_crowded_scene() -> None:
    geoms = "".join(f'<geom size=".01" pos="{i} 0 0"/>' for i in range(300))
    model = dovetail.loads(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    scene = Scene(model, maxgeom=100).update(data)
    assert scene.ngeom == 300
    assert scene.crowded


def test_elements_are_arrays_and_records() -> None:
    model, data = stepped(RICH, 1)
    geoms = Scene(model).update(data, options={"label": "geom"}).geoms
    assert geoms.pos.shape == (len(geoms), 3)
    assert geoms[4]["objtype"] == 5
    assert "floor" in geoms.labels.values()
    assert geoms.transparent[6]
    assert len(list(geoms)) == len(geoms)
    with pytest.raises(UnknownFieldError, match=r"no 'positon'"):
        _ = geoms.positon


def test_lights_are_mujocos() -> None:
    model, data = stepped(RICH, 5)
    theirs = mujocos_scene(model, data)
    own = Scene(model).update(data).lights
    assert [light.id for light in own] == [theirs.lights[i].id for i in range(theirs.nlight)] == [-1, 0, 2, 3]
    vectors = [
        "pos",
        "dir",
        "type",
        "texid",
        "attenuation",
        "cutoff",
        "exponent",
        "ambient",
        "diffuse",
        "specular",
    ]
    for index, light in enumerate(own):
        for name in vectors:
            np.testing.assert_allclose(getattr(light, name), getattr(theirs.lights[index], name), atol=1e-6)
        for name in ("headlight", "castshadow", "bulbradius", "intensity", "range"):
            assert getattr(light, name) == pytest.approx(getattr(theirs.lights[index], name))


def test_a_perturbation_names_a_body() -> None:
    model, data = stepped(FALLING, 1)
    with pytest.raises(ArgumentError, match=r"perturb.select = 7.*1 to 1"):
        Scene(model).update(data, perturb=Perturb(select=7))
    with pytest.raises(ArgumentError, match="should be a Perturb"):
        Scene(model).update(data, perturb=3)


MATERIALS = """<mujoco><asset>
  <texture name="t" type="2d" builtin="checker" width="4" height="2" rgb1="1 0 0" rgb2="0 1 0"/>
  <texture name="c" type="cube" builtin="gradient" width="8" height="8" rgb1="1 1 1" rgb2="0 0 0"/>
  <texture name="s" type="skybox" builtin="gradient" width="8" height="48" rgb1="1 1 1" rgb2="0 0 0"/>
  <material name="m" texture="t" rgba=".1 .2 .3 .4" texrepeat="3 4" texuniform="true" specular=".7"/>
</asset><worldbody><geom size="1" material="m"/></worldbody></mujoco>"""


def test_a_stated_colour_overrides_that_of_the_material() -> None:
    model = dovetail.loads(MATERIALS)
    plain, stated = appearance(model, 0), appearance(model, 0, (1, 0, 0, 1))
    np.testing.assert_allclose(plain.rgba, (0.1, 0.2, 0.3, 0.4))
    np.testing.assert_allclose(stated.rgba, (1, 0, 0, 1))
    assert plain.transparent
    assert not stated.transparent
    assert stated.specular == pytest.approx(0.7)
    assert (stated.texid, stated.texuniform, stated.texrepeat.tolist()) == (0, True, [3, 4])
    assert appearance(model, -1).texid == -1
    with pytest.raises(UnknownIndexError, match="no material 5"):
        appearance(model, 5)


def test_textures_are_images_and_cubes_have_six_faces() -> None:
    model = dovetail.loads(MATERIALS)
    assert texture_image(model, "t").shape == (2, 4, 3)
    assert visual.cube_faces(model, "c").shape == (6, 8, 8, 3)
    assert visual.skybox(model) == 2
    with pytest.raises(ArgumentError, match="it is no cube"):
        visual.cube_faces(model, "t")
    with pytest.raises(UnknownNameError, match="no texture is named 'x'"):
        texture_image(model, "x")


def test_a_2d_texture_is_laid_over_a_shape_and_repeats() -> None:
    """Measured in MuJoCo's pictures of a box of half sides 0.8 and 0.5 with an image of known pixels."""
    look = visual.Appearance(np.ones(4), texrepeat=np.array([2.0, 3.0]))
    point = np.array([0.305, 0.195, 0.3])
    uv = visual.planar_texcoords(6, (0.8, 0.5, 0.3), point, look) % 1
    np.testing.assert_allclose(uv, (0.881, 0.915), atol=1e-3)
    uniform = visual.Appearance(np.ones(4), texrepeat=np.array([2.0, 3.0]), texuniform=True)
    uv = visual.planar_texcoords(6, (0.8, 0.5, 0.3), point, uniform) % 1
    np.testing.assert_allclose(uv, (0.805, 0.208), atol=1e-3)


def test_a_cube_texture_is_looked_up_from_the_middle_of_a_shape() -> None:
    """Measured in MuJoCo's pictures, to the half of a pixel of 64."""
    plain, uniform = visual.Appearance(np.ones(4)), visual.Appearance(np.ones(4), texuniform=True)
    points = np.array([[0.205, 0.095, 0.3], [0.8, 0.205, 0.095], [0.205, -0.5, 0.095], [0.205, -0.095, -0.3]])
    face, uv = visual.cube_lookup(visual.cube_directions(6, (0.8, 0.5, 0.3), points, plain))
    assert face.tolist() == [4, 0, 3, 5]
    np.testing.assert_allclose(
        uv, [(0.621, 0.398), (0.332, 0.289), (0.621, 0.332), (0.363, 0.586)], atol=0.012
    )
    face, uv = visual.cube_lookup(visual.cube_directions(6, (0.8, 0.5, 0.3), points, uniform))
    assert face.tolist() == [4, 0, 3, 5]
    np.testing.assert_allclose(
        uv, [(0.832, 0.332), (0.434, 0.363), (0.695, 0.398), (0.152, 0.652)], atol=0.012
    )

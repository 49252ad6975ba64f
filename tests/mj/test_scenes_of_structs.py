"""Functions of scenes in the drop-in, beside MuJoCo's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import mujoco
import numpy as np
import pytest

import dovetail.mj as ours

XML = """
<mujoco>
  <visual><global azimuth="30" elevation="-20"/></visual>
  <worldbody>
    <light name="lamp" pos="0 0 3" dir="0 0 -1"/><camera name="eye" pos="0 -2 1" xyaxes="1 0 0 0 1 2"/>
    <geom type="plane" size="3 3 1"/>
    <body pos="0 0 0.09"><freejoint/><geom type="box" size="0.1 0.1 0.1" rgba="1 0 0 0.5"/><site name="s"/></body>
    <body pos="1 0 0.5"><joint axis="0 1 0"/><geom type="capsule" size="0.05 0.2"/></body>
  </worldbody>
</mujoco>
"""


def scene_of(package: Any, maxgeom: int = 100, camera: str = "free") -> Any:
    model = package.MjModel.from_xml_string(XML)
    data = package.MjData(model)
    package.mj_forward(model, data)
    scene, cam, option = package.MjvScene(model, maxgeom), package.MjvCamera(), package.MjvOption()
    if camera == "free":
        package.mjv_defaultFreeCamera(model, cam)
    else:
        cam.type, cam.fixedcamid = package.mjtCamera.mjCAMERA_FIXED, 0
    option.flags[package.mjtVisFlag.mjVIS_CONTACTPOINT] = 1
    package.mjv_updateScene(
        model, data, option, package.MjvPerturb(), cam, package.mjtCatBit.mjCAT_ALL, scene
    )
    return scene


@pytest.mark.parametrize("camera", ["free", "fixed"])
def test_a_scene_is_filled_as_mujocos(camera: str) -> None:
    mine, theirs = scene_of(ours, camera=camera), scene_of(mujoco, camera=camera)
    assert (mine.ngeom, mine.nlight, mine.status) == (theirs.ngeom, theirs.nlight, theirs.status)
    assert mine.ngeom > 6
    for found, real in zip(mine.geoms[: mine.ngeom], theirs.geoms, strict=False):
        for name in ["type", "dataid", "objtype", "objid", "category", "segid", "matid", "transparent"]:
            assert getattr(found, name) == getattr(real, name), name
        for name in ("size", "pos", "mat", "rgba"):
            np.testing.assert_allclose(getattr(found, name), getattr(real, name), atol=1e-5, err_msg=name)
    for found, real in zip(mine.camera, theirs.camera, strict=True):
        for name in ("forward", "up", "frustum_top", "frustum_near", "frustum_far"):
            np.testing.assert_allclose(getattr(found, name), getattr(real, name), atol=1e-5, err_msg=name)
    for found, real in zip(mine.lights[: mine.nlight], theirs.lights, strict=False):
        for name in ("dir", "diffuse", "headlight", "castshadow"):
            np.testing.assert_allclose(getattr(found, name), getattr(real, name), atol=1e-5, err_msg=name)


def test_a_scene_without_room_says_so() -> None:
    scene = scene_of(ours, maxgeom=2)
    assert (scene.ngeom, scene.status) == (2, 1)


SHAPES = ["PLANE", "SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX", "ARROW", "LINE"]


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_are_made_as_in_mujoco(shape: str) -> None:
    made = []
    for package in (ours, mujoco):
        geom = package.MjvGeom()
        geom.objid, geom.label = 5, "old"
        kind = getattr(package.mjtGeom, f"mjGEOM_{shape}")
        turned = np.array([0, -1, 0, 1, 0, 0, 0, 0, 1.0])
        package.mjv_initGeom(geom, kind, [0.1, 0.2, 0.3], [1, 2, 3], turned, [1, 0, 0, 1])
        made.append(repr(geom))
    assert made[0] == made[1]


@pytest.mark.parametrize("shape", ["CAPSULE", "CYLINDER", "ARROW", "LINE"])
@pytest.mark.parametrize("to", [(0, 1, 2), (0.3, -0.2, -1), (0, 0, -1), (0, 0, 1)])
def test_connectors_go_from_point_to_point(shape: str, to: tuple[float, ...]) -> None:
    made = []
    for package in (ours, mujoco):
        geom = package.MjvGeom()
        package.mjv_connector(geom, getattr(package.mjtGeom, f"mjGEOM_{shape}"), 0.02, [0, 0, 0.5], to)
        made.append(geom)
    for name in ("size", "pos"):
        np.testing.assert_allclose(getattr(made[0], name), getattr(made[1], name), atol=1e-6)
    np.testing.assert_allclose(made[0].mat[:, 2], made[1].mat[:, 2], atol=1e-6)
    np.testing.assert_allclose(made[0].mat @ made[0].mat.T, np.eye(3), atol=1e-6)
    with pytest.raises(ours.FatalError, match="invalid geom type 6"):
        ours.mjv_connector(ours.MjvGeom(), ours.mjtGeom.mjGEOM_BOX, 0.1, [0, 0, 0], [1, 0, 0])


def test_defaults_come_back() -> None:
    for name, change in (
        ("Camera", "distance"),
        ("Option", "bvh_depth"),
        ("Perturb", "select"),
        ("Figure", "subplot"),
    ):
        struct = getattr(ours, f"Mjv{name}")()
        setattr(struct, change, 7)
        getattr(ours, f"mjv_default{name}")(struct)
        assert getattr(struct, change) == getattr(getattr(ours, f"Mjv{name}")(), change)


def test_pictures_are_made_with_mujocos_interface() -> None:
    model = ours.MjModel.from_xml_string(XML)
    data = ours.MjData(model)
    ours.mj_forward(model, data)
    camera = ours.MjvCamera()
    ours.mjv_defaultFreeCamera(model, camera)
    with ours.Renderer(model, 24, 32) as renderer:
        assert renderer.model is model
        renderer.update_scene(data, "eye")
        named = renderer.render()
        renderer.update_scene(data, camera, ours.MjvOption())
        free = renderer.render()
        assert named.shape == free.shape == (24, 32, 3)
        assert not np.array_equal(named, free)
        with pytest.raises(AttributeError, match="mjv_updateScene"):
            renderer.scene  # noqa: B018


def test_a_subclass_of_a_scene_shows_shapes_in_its_own_way() -> None:
    class Cut(ours.MjvScene):  # type: ignore[misc]
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.mine = 3

        @property
        def geoms(self) -> Any:
            return super().geoms[: super().ngeom]

    model = ours.MjModel.from_xml_string(
        '<mujoco><worldbody><geom size="1"/><geom size="2"/></worldbody></mujoco>'
    )
    data = ours.MjData(model)
    ours.mj_forward(model, data)
    scene = Cut(model, 20)
    assert len(scene.geoms) == 0
    ours.mjv_updateScene(
        model, data, ours.MjvOption(), None, ours.MjvCamera(), int(ours.mjtCatBit.mjCAT_ALL), scene
    )
    assert len(scene.geoms) == scene.ngeom == 2
    assert (scene.mine, scene.maxgeom, len(copy.copy(scene).geoms)) == (3, 20, 20)
    assert len(pickle.loads(pickle.dumps(scene)).geoms) == 20
    scene.flexvert = scene.flexvert
    for name in ("maxgeom", "lights"):
        with pytest.raises(AttributeError, match="fixed when it is made"):
            setattr(scene, name, 1)
    with pytest.raises(AttributeError):
        ours.MjvScene().mine = 1

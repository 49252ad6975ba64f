"""Cameras see what MuJoCo's do, and pixels, points and rays belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from against_mjv import mujoco, stepped
from everything import RICH

import dovetail
from dovetail.errors import ArgumentError, UnknownIndexError, UnknownNameError
from dovetail.visual import FreeCamera, TrackingCamera, View, default_free_camera, view

MODEL, DATA = stepped(RICH)


def mujocos(camera: Any, model: Any = MODEL, data: Any = DATA) -> Any:
    scene = mujoco.MjvScene(model, 1000)
    mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, camera, 7, scene)
    return mujoco.mjv_averageCamera(scene.camera[0], scene.camera[1])


def fixed(number: int) -> Any:
    camera = mujoco.MjvCamera()
    camera.type, camera.fixedcamid = 2, number
    return camera


def free(**values: Any) -> Any:
    camera = mujoco.MjvCamera()
    for name, value in values.items():
        setattr(camera, name, value)
    return camera


def assert_same(own: View, theirs: Any) -> None:
    for name in ("pos", "forward", "up"):
        np.testing.assert_allclose(getattr(own, name), getattr(theirs, name), atol=1e-6, rtol=1e-6)
    for name in ("frustum_center", "frustum_width", "frustum_bottom", "frustum_top"):
        assert getattr(own, name) == pytest.approx(getattr(theirs, name), abs=1e-6, rel=1e-6)
    assert own.znear == pytest.approx(theirs.frustum_near, rel=1e-6)
    assert own.zfar == pytest.approx(theirs.frustum_far, rel=1e-6)
    assert own.orthographic == bool(theirs.orthographic)


@pytest.mark.parametrize("number", range(4))
def test_cameras_of_the_model(number: int) -> None:
    assert_same(view(MODEL, DATA, number), mujocos(fixed(number)))
    assert_same(view(MODEL, DATA, MODEL.camera(number).name), mujocos(fixed(number)))
    assert_same(view(MODEL, DATA, fixed(number)), mujocos(fixed(number)))


def test_the_default_free_camera() -> None:
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(MODEL, camera)
    assert_same(view(MODEL, DATA), mujocos(camera))
    assert_same(view(MODEL, DATA, default_free_camera(MODEL)), mujocos(camera))


def test_free_and_tracking_cameras() -> None:
    angles = {"azimuth": 33.0, "elevation": 12.0, "distance": 3.0}
    theirs = mujocos(free(lookat=[1, 2, 3], **angles))
    assert_same(view(MODEL, DATA, FreeCamera((1, 2, 3), **angles)), theirs)
    assert_same(view(MODEL, DATA, free(lookat=[1, 2, 3], **angles)), theirs)
    tracking = mujocos(free(type=1, trackbodyid=2, **angles))
    assert_same(view(MODEL, DATA, TrackingCamera("box2", **angles)), tracking)


def test_the_model_says_whether_a_free_camera_projects_in_parallel() -> None:
    look = '<visual><global orthographic="true" fovy="3"/></visual>'
    xml = f'<mujoco>{look}<worldbody><geom size="1"/></worldbody></mujoco>'
    model, data = stepped(xml, 1)
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    assert_same(view(model, data), mujocos(camera, model, data))
    assert view(model, data).fovy == pytest.approx(3)
    assert not view(model, data, FreeCamera(orthographic=False)).orthographic


@pytest.mark.parametrize("camera", [-1, "f", "i", "o", "mov"])
def test_points_on_the_rays_of_pixels_fall_on_these_pixels(camera: int | str) -> None:
    seen = view(MODEL, DATA, camera)
    origins, directions = seen.rays(7, 5)
    column, row = np.meshgrid(np.arange(7) + 0.5, np.arange(5) + 0.5)
    pixels = seen.project(origins + 3 * directions, 7, 5)
    np.testing.assert_allclose(pixels[..., 0], column, atol=1e-9)
    np.testing.assert_allclose(pixels[..., 1], row, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=-1), 1)
    points = np.einsum("ij,...j->...i", seen.xmat.T, origins + 3 * directions - seen.pos)
    clip = np.concatenate([points, np.ones((5, 7, 1))], axis=-1) @ seen.projection(7, 5).T
    np.testing.assert_allclose((clip[..., 0] / clip[..., 3] + 1) / 2 * 7, column, atol=1e-9)
    matrix = np.stack([points[..., 0], -points[..., 1], -points[..., 2]], axis=-1)
    if seen.orthographic:
        matrix[..., 2] = 1
    through = matrix @ seen.intrinsics(7, 5).T
    np.testing.assert_allclose(through[..., 0] / through[..., 2], column, atol=1e-9)
    np.testing.assert_allclose(through[..., 1] / through[..., 2], row, atol=1e-9)


def test_what_is_behind_has_no_pixel() -> None:
    seen = view(MODEL, DATA)
    assert np.isnan(seen.project(seen.pos - seen.forward, 10, 10)[:2]).all()


def test_mistakes_are_told() -> None:
    with pytest.raises(UnknownNameError, match=r"no camera is named 'mow'.*'mov'.*-1 is the free"):
        view(MODEL, DATA, "mow")
    with pytest.raises(UnknownIndexError, match="no camera number 9: the model has 4, and -1 is the free"):
        view(MODEL, DATA, 9)
    with pytest.raises(ArgumentError, match="name or a number, a FreeCamera"):
        view(MODEL, DATA, 0.5)
    with pytest.raises(UnknownNameError, match="no body is named"):
        view(MODEL, DATA, TrackingCamera("bax"))
    with pytest.raises(ArgumentError, match="three numbers"):
        FreeCamera(lookat=(1, 2))


def test_a_batch_needs_the_number_of_a_world() -> None:
    model = dovetail.load("pendulum")
    data = dovetail.make_data(model, nworld=3)
    with pytest.raises(ArgumentError, match=r"has 3 worlds.*world="):
        view(model, data, TrackingCamera(1))

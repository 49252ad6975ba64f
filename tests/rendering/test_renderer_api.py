"""The Renderer as users meet it: arguments, modes, mistakes, edited models, odd scenes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_scenes import LENSES, TERRAIN

import dovetail
from dovetail.backends.native.compilers import choose_compiler
from dovetail.errors import ArgumentError, CapacityError, NotKeptError, UnknownIndexError, UnknownNameError
from dovetail.rendering.renderer import ClosedRendererError
from dovetail.visual import FreeCamera, TrackingCamera, VisualOptions

BACKENDS = [
    pytest.param(
        "native", marks=pytest.mark.skipif(choose_compiler() is None, reason="there is no C compiler")
    ),
    "numpy",
]

BALL = """<mujoco><asset><material name='m' rgba='1 0 0 1'/></asset><worldbody>
  <geom name='ball' size='.4' material='m'/><camera name='front' pos='0 -2 0' xyaxes='1 0 0 0 0 1'/>
  <camera name='inside' pos='0 0 0' xyaxes='1 0 0 0 0 1'/></worldbody></mujoco>"""


def _still(xml: str) -> tuple[Any, Any]:
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    return model, data


def _seen(xml: str, backend: str, camera: Any = -1, mode: str = "colour", size: int = 24) -> Any:
    model, data = _still(xml)
    return dovetail.render(model, data, size, size, camera=camera, mode=mode, backend=backend)


# ---- pictures ---------------------------------------------------------------------------------------------


def test_each_mode_has_its_shape_and_type() -> None:
    model, data = _still(BALL)
    with dovetail.Renderer(model, 12, 16, backend="numpy") as renderer:
        renderer.update_scene(data, "front")
        colour = renderer.render()
        assert (colour.shape, colour.dtype) == ((12, 16, 3), np.uint8)
        renderer.enable_depth_rendering()
        depth = renderer.render()
        assert (depth.shape, depth.dtype) == ((12, 16), np.float32)
        assert depth[6, 8] == pytest.approx(1.6, abs=0.01)
        renderer.enable_segmentation_rendering()
        objects = renderer.render()
        assert (objects.shape, objects.dtype) == ((12, 16, 2), np.int32)
        assert objects[6, 8].tolist() == [0, 5]
        assert objects[0, 0].tolist() == [-1, -1]
        renderer.disable_depth_rendering()  # it is not on
        assert renderer.render().shape == (12, 16, 2)
        renderer.disable_segmentation_rendering()
        np.testing.assert_array_equal(renderer.render(), colour)


def test_out_is_filled() -> None:
    model, data = _still(BALL)
    renderer = dovetail.Renderer(model, 12, 16, backend="numpy")
    renderer.update_scene(data, "front")
    out = np.zeros((12, 16, 3))
    assert renderer.render(out=out) is out
    np.testing.assert_array_equal(out, renderer.render())
    with pytest.raises(ArgumentError, match=r"out has shape \(16, 12, 3\).*\(12, 16, 3\)"):
        renderer.render(out=np.zeros((16, 12, 3)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "camera",
    [
        "front",
        0,
        FreeCamera(lookat=(0, 0, 0), distance=2, elevation=-10),
        TrackingCamera("world", distance=2),
    ],
    ids=["name", "number", "free", "tracking"],
)
def test_cameras_of_every_kind_see_the_ball(backend: str, camera: Any) -> None:
    objects = _seen(BALL, backend, camera, "segmentation")
    assert objects[12, 12].tolist() == [0, 5]


def test_what_is_drawn_can_be_chosen() -> None:
    model, data = _still(BALL)
    hidden = VisualOptions(geomgroup=[0] * 6)
    picture = dovetail.render(model, data, 8, 8, camera="front", scene_option=hidden, backend="numpy")
    assert not picture.any()


def test_edits_of_the_model_are_seen() -> None:
    model, data = _still(BALL)
    renderer = dovetail.Renderer(model, 16, 16, backend="numpy")

    def middle() -> list[int]:
        renderer.update_scene(data, "front")
        return renderer.render()[8, 8].tolist()

    red = middle()
    model.mat_rgba[0] = (0, 1, 0, 1)
    green = middle()
    assert red[0] > green[0]
    assert green[1] > red[1]
    model.geom_rgba[0] = (0, 0, 1, 1)
    assert middle()[2] > green[2]
    model.geom_size[0] = 1e-3
    assert middle() == [0, 0, 0]


def test_edited_heights_are_seen() -> None:
    model, data = _still(TERRAIN)
    renderer = dovetail.Renderer(model, 16, 24, backend="numpy")
    renderer.enable_depth_rendering()
    renderer.update_scene(data, "c")
    before = renderer.render()
    model.hfield_data[:] = 0
    renderer.update_scene(data, "c")
    assert (renderer.render() > before).any()


# ---- odd scenes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_empty_world_is_black(backend: str) -> None:
    assert not _seen("<mujoco/>", backend).any()
    assert (_seen("<mujoco/>", backend, mode="segmentation") == -1).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_without_lights_there_is_only_glow(backend: str) -> None:
    dark = BALL.replace("<asset>", "<visual><headlight active='0'/></visual><asset>")
    assert not _seen(dark, backend, "front").any()
    glowing = dark.replace("rgba='1 0 0 1'", "rgba='1 0 0 1' emission='1'")
    assert _seen(glowing, backend, "front")[12, 12].tolist() == [255, 0, 0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_camera_inside_a_geom_sees_through_it(backend: str) -> None:
    assert (_seen(BALL, backend, "inside", "segmentation") == -1).all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_what_is_nowhere_is_not_drawn(backend: str, bad: float) -> None:
    model, data = _still(LENSES)
    data.geom_xpos[1] = bad
    data.geom_xmat[2] = bad
    picture = dovetail.render(model, data, 16, 16, camera="lens", mode="segmentation", backend=backend)
    assert (picture[..., 0] == 0).any()
    assert not np.isin(picture[..., 0], (1, 2)).any()
    assert dovetail.render(model, data, 16, 16, camera="lens", backend=backend).any()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_picture_may_be_one_pixel(backend: str) -> None:
    assert _seen(BALL, backend, "front", size=1).shape == (1, 1, 3)
    assert _seen(BALL, backend, "front", "segmentation", size=1)[0, 0].tolist() == [0, 5]


@pytest.mark.slow
def test_ten_thousand_geoms_are_all_drawn() -> None:
    side = 100
    geoms = "".join(
        f"<geom size='.3' pos='{x - side / 2} {y - side / 2} 0'/>" for x in range(side) for y in range(side)
    )
    model, data = _still(
        f"<mujoco><worldbody>{geoms}<camera name='up' pos='0 0 150' fovy='40'/></worldbody></mujoco>"
    )
    objects = dovetail.render(model, data, 256, 256, camera="up", mode="segmentation")
    assert np.unique(objects[..., 0]).size > 0.95 * side * side


def test_a_picture_may_be_larger_than_the_buffer_that_mujoco_has() -> None:
    model, data = _still(BALL)
    assert model.vis.global_.offwidth < 700
    assert dovetail.render(model, data, 2, 700, backend="numpy").shape == (2, 700, 3)


# ---- mistakes ---------------------------------------------------------------------------------------------


def test_a_wrong_camera_is_named() -> None:
    model, data = _still(BALL)
    renderer = dovetail.Renderer(model, 8, 8, backend="numpy")
    with pytest.raises(UnknownNameError, match=r"fornt.*front"):
        renderer.update_scene(data, "fornt")
    with pytest.raises(UnknownIndexError, match="no camera number 7: the model has 2"):
        renderer.update_scene(data, 7)
    with pytest.raises(ArgumentError, match="camera"):
        renderer.update_scene(data, 1.5)


def test_a_closed_renderer_says_so() -> None:
    model, data = _still(BALL)
    with dovetail.Renderer(model, 8, 8, backend="numpy") as renderer:
        renderer.update_scene(data)
    with pytest.raises(ClosedRendererError, match="was closed"):
        renderer.render()
    with pytest.raises(ClosedRendererError, match="was closed"):
        renderer.update_scene(data)
    renderer.close()  # twice is no harm


def test_a_picture_needs_a_scene() -> None:
    model, _ = _still(BALL)
    with pytest.raises(ArgumentError, match="update_scene"):
        dovetail.Renderer(model, 8, 8, backend="numpy").render()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"height": 0}, "height"),
        ({"width": 2.5}, "width"),
        ({"backend": "opengl"}, "'auto', 'native', 'numpy'"),
        ({"threads": 0}, "threads"),
    ],
)
def test_wrong_arguments_are_errors(arguments: dict[str, Any], message: str) -> None:
    model, _ = _still(BALL)
    with pytest.raises(ArgumentError, match=message):
        dovetail.Renderer(model, **arguments)


def test_no_model_and_too_large_pictures_are_errors() -> None:
    with pytest.raises(ArgumentError, match="should be a Model"):
        dovetail.Renderer("humanoid")
    model, _ = _still(BALL)
    with pytest.raises(CapacityError, match="too large"):
        dovetail.Renderer(model, 100_000, 100_000)


@pytest.mark.skipif(choose_compiler() is None, reason="there is no C compiler")
def test_a_batch_that_keeps_no_poses_says_what_to_keep() -> None:
    model = dovetail.load("pendulum")
    sim = dovetail.Simulation(model, nworld=2, backend="native")
    sim.step()
    with pytest.raises(NotKeptError, match=r"keep=dovetail\.visual\.FIELDS"):
        dovetail.Renderer(model, 8, 8, backend="numpy").update_scene(sim.data)

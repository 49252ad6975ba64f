"""The ray caster in C beside the one in NumPy, pixel by pixel; and the same bits for any threads and worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_scenes import OWN, SHAPES, unlike

import dovetail
from dovetail.backends.native.compilers import choose_compiler

compiled = pytest.mark.skipif(choose_compiler() is None, reason="there is no C compiler")

HEIGHT, WIDTH = 36, 50
"""Neither is a multiple of a tile."""


def _pictures(model: Any, data: Any, camera: int | str = -1, **options: Any) -> tuple[Any, Any, Any]:
    with dovetail.Renderer(model, HEIGHT, WIDTH, **options) as renderer:
        renderer.update_scene(data, camera)
        colour = renderer.render()
        renderer.enable_depth_rendering()
        depth = renderer.render()
        renderer.enable_segmentation_rendering()
        return colour, depth, renderer.render()


def _still(xml: str) -> tuple[Any, Any]:
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    return model, data


def _batch(model: Any, nworld: int) -> Any:
    sim = dovetail.Simulation(model, nworld=nworld, backend="numpy", keep="all")
    sim.data.qpos[:, :3] += np.linspace(0, 0.5, nworld)[:, None]
    sim.forward()
    return sim.data


BODY = """<mujoco><worldbody><light pos='0 0 3'/><geom type='plane' size='2 2 .1'/>
  <body pos='0 0 .5'><freejoint/><geom type='box' size='.2 .2 .2' rgba='1 0 0 1'/><site pos='0 0 .3' size='.05'/>
  <camera name='own' pos='0 -2 .5' xyaxes='1 0 0 0 .2 1'/></body></worldbody></mujoco>"""


@compiled
@pytest.mark.parametrize("name", OWN)
def test_both_ray_casters_make_the_same_picture(name: str) -> None:
    model, data = _still(OWN[name][0])
    colour, depth, objects = _pictures(model, data, OWN[name][1], backend="native")
    by_numpy = _pictures(model, data, OWN[name][1], backend="numpy")
    assert (unlike(colour, by_numpy[0]) <= 2).mean() >= 0.998
    np.testing.assert_allclose(depth, by_numpy[1], rtol=1e-5)
    assert (objects == by_numpy[2]).all(axis=-1).mean() >= 0.998


@compiled
def test_the_number_of_threads_changes_no_bit() -> None:
    model, data = _still(SHAPES)
    alone, several = (_pictures(model, data, threads=threads, backend="native") for threads in (1, 3))
    for one, other in zip(alone, several, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("backend", [pytest.param("native", marks=compiled), "numpy"])
@pytest.mark.parametrize("camera", [-1, "own"])
def test_a_world_of_a_batch_looks_as_it_does_alone(backend: str, camera: int | str) -> None:
    model = dovetail.loads(BODY)
    data = _batch(model, 3)
    with dovetail.Renderer(model, HEIGHT, WIDTH, backend=backend) as renderer:
        renderer.update_scene(data, camera)
        together = renderer.render()
        assert together.shape == (3, HEIGHT, WIDTH, 3)
        for world in range(3):
            renderer.update_scene(data, camera, world=world)
            np.testing.assert_array_equal(together[world], renderer.render())
    assert (together[0] != together[2]).any()


def test_worlds_that_differ_in_what_is_drawn_get_their_own_scenes() -> None:
    model = dovetail.loads(OWN["tendons"][0])
    sim = dovetail.Simulation(model, nworld=2, backend="numpy", keep="all")
    sim.data.qpos[1] = 1.0
    sim.forward()
    with dovetail.Renderer(model, HEIGHT, WIDTH, backend="numpy") as renderer:
        renderer.enable_segmentation_rendering()
        renderer.update_scene(sim.data, "c")
        together = renderer.render()
        renderer.update_scene(sim.data, "c", world=1)
        np.testing.assert_array_equal(together[1], renderer.render())
    assert (together[0] != together[1]).any()

"""`dovetail.to_xml`: the text of a Model, read by dovetail and by MuJoCo, gives the same numbers."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from mj.spec_cases import CASES
from mj.spec_pair import model_differences, run

import dovetail
import dovetail.mj
from dovetail.errors import ArgumentError, CannotWriteError
from dovetail.mjcf.write.whole import differences

MESHED = ("meshes",)
"""Cases with numbers in single precision."""
NOT_WRITTEN = {"flex": "material constants", "textures and materials": "tex_colorspace"}


def check(model: dovetail.Model, tolerance: float = 1e-9) -> None:
    """Write a Model, and read the text with both."""
    files: dict[str, bytes] = {}
    text = dovetail.to_xml(model, assets=files)
    assert differences(model, dovetail.loads(text, assets=files)) == []
    theirs = mujoco.MjModel.from_xml_string(text, files)
    assert model_differences(theirs, dovetail.mj.MjModel.of(model), tolerance) == []


@pytest.mark.parametrize("name", dovetail.builtin_models())
def test_models_that_come_along_are_brought_back(name: str) -> None:
    check(dovetail.load(name))


@pytest.mark.parametrize("name", [name for name in CASES if name not in NOT_WRITTEN])
def test_every_kind_of_element_is_brought_back(name: str) -> None:
    model = run(CASES[name], dovetail.mj)["spec"].compile()._model
    check(model, 1e-6 if name in MESHED else 1e-9)


def _folder(package: str, inside: str) -> list[Path]:
    found = find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    return sorted((Path(found.origin).parent / inside).glob("*.xml"))


def test_models_of_gymnasium_are_brought_back() -> None:
    for path in _folder("gymnasium", "envs/mujoco/assets")[::4]:
        check(dovetail.load(path))


@pytest.mark.slow
def test_all_models_of_gymnasium_and_dm_control_are_brought_back() -> None:
    paths = _folder("gymnasium", "envs/mujoco/assets") + _folder("dm_control", "suite")
    for path in paths:
        if path.stem != "dog":
            check(dovetail.load(path))


def test_a_spec_is_written_as_it_stands() -> None:
    spec = dovetail.mj.MjSpec()
    spec.worldbody.add_geom(name="g", size=[1, 0, 0])
    assert dovetail.to_xml(spec) == spec.to_xml()
    assert dovetail.to_xml(spec.compile()) == dovetail.to_xml(spec.compile()._model)


TEXTURED = '<mujoco><asset><texture name="t" {} width="16" height="16"/></asset></mujoco>'


@pytest.mark.parametrize(
    "pattern",
    [
        'type="2d" builtin="flat" rgb1=".12 .5 1"',
        'type="2d" builtin="checker" rgb1=".1 .2 .3" rgb2=".4 .5 .65"',
        'type="2d" builtin="checker" rgb1=".1 .2 .3" rgb2=".4 .5 .6" mark="edge" markrgb=".8 .8 .8"',
        'type="2d" builtin="flat" mark="cross" markrgb="1 1 1"',
        'type="2d" builtin="gradient" rgb1=".2 .3 .4" rgb2=".9 .1 0"',
        'type="cube" builtin="gradient" rgb1=".3 .5 .7" rgb2="0 0 0"',
        'type="skybox" builtin="gradient" rgb1=".4 .6 .8" rgb2="0 0 0" mark="random" markrgb="1 1 1"',
        'type="cube" builtin="flat" rgb1=".8 .6 .4" rgb2=".8 .6 .4" mark="cross" markrgb="1 1 1"',
    ],
)
def test_the_pattern_of_a_texture_is_found_in_its_pixels(pattern: str) -> None:
    model = dovetail.loads(TEXTURED.format(pattern))
    text = dovetail.to_xml(model)
    assert "builtin" in text
    np.testing.assert_array_equal(dovetail.loads(text).tex_data, model.tex_data)


def test_an_image_needs_a_place_for_its_file() -> None:
    from dovetail.mjcf.geometry.images import encode_png

    pixels = np.random.default_rng(0).integers(0, 255, (4, 4, 3), np.uint8)
    given = {"noise.png": encode_png(pixels)}
    model = dovetail.loads(
        '<mujoco><asset><texture name="noise" type="2d" file="noise.png"/></asset></mujoco>', assets=given
    )
    with pytest.raises(CannotWriteError, match=r"texture 'noise'.*assets=\{\}"):
        dovetail.to_xml(model)
    check(model)
    with pytest.raises(ArgumentError):
        dovetail.to_xml(model, assets=[])


def test_a_mesh_in_the_coordinates_of_its_file_has_the_same_bits() -> None:
    corners = " ".join(f"{x} {y} {z}" for x in (0.1, 0.52) for y in (-0.3, 0.21) for z in (0, 0.07))
    text = (
        f'<mujoco><asset><mesh name="m" vertex="{corners}" scale="1 2 .5"/></asset><worldbody><body><freejoint/>'
        '<geom type="mesh" mesh="m" pos="1 2 3" euler="10 20 30"/></body></worldbody></mujoco>'
    )
    model = dovetail.loads(text)
    again = dovetail.loads(dovetail.to_xml(model))
    np.testing.assert_array_equal(again.mesh_vert, model.mesh_vert)
    np.testing.assert_array_equal(again.mesh_graph, model.mesh_graph)
    np.testing.assert_allclose(again.geom_pos, model.geom_pos, rtol=0, atol=1e-15)
    check(model, 1e-9)


# what cannot be written


def _free_body() -> dovetail.Model:
    return dovetail.loads(
        '<mujoco><worldbody><body><joint name="j" type="free"/><geom size=".1"/></body></worldbody></mujoco>'
    )


def test_numbers_that_were_edited_apart_are_named() -> None:
    model = _free_body()
    model.dof_damping[2] = 1.0  # MJCF has one damping for all six
    with pytest.raises(CannotWriteError, match="dof_damping"):
        dovetail.to_xml(model)
    model = _free_body()
    model.body_subtreemass[0] = 7.0
    with pytest.raises(CannotWriteError, match="body_subtreemass"):
        dovetail.to_xml(model)


def test_edited_numbers_that_mjcf_knows_are_written() -> None:
    model = _free_body()
    model.geom_friction[0] = [0.3, 0.1, 0.2]
    model.opt.gravity[:] = [1, 2, 3]
    assert dovetail.loads(dovetail.to_xml(model)).geom_friction[0].tolist() == [0.3, 0.1, 0.2]
    check(model)


@pytest.mark.parametrize("name", NOT_WRITTEN)
def test_what_mjcf_cannot_say_is_named(name: str) -> None:
    with pytest.raises(CannotWriteError, match=NOT_WRITTEN[name]):
        dovetail.to_xml(run(CASES[name], dovetail.mj)["spec"].compile()._model, assets={})


def test_something_else_is_refused() -> None:
    thing: Any = "model.xml"
    with pytest.raises(ArgumentError, match="takes a Model or an MjSpec"):
        dovetail.to_xml(thing)

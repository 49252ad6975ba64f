"""Skins and flexes have MuJoCo's vertices and normals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from against_mjv import mujoco, mujocos_scene, options_with, stepped
from everything import RICH

from dovetail.visual import Scene, flex_surface
from dovetail.visual.catenary import catenary

FLEXES = """<mujoco><worldbody>
<flexcomp name="cloth" type="grid" count="3 4 1" spacing=".1 .1 .1" dim="2" radius=".02" flatskin="FLAT"/>
<flexcomp name="soft" type="grid" count="4 4 4" spacing=".1 .1 .1" pos="-4 0 1" dim="3" radius=".01"/>
<flexcomp name="rope" type="grid" count="5 1 1" spacing=".1 .1 .1" pos="-5 0 1" dim="1" radius=".03"/>
</worldbody></mujoco>"""


def bent(flat: str = "false") -> tuple[Any, Any]:
    model, data = stepped(FLEXES.replace("FLAT", flat), 0)
    data.qpos[:] = 0.01 * np.random.default_rng(0).normal(size=model.nq)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("flags", [(), ("FLEXSKIN",), ("FLEXSKIN", "FLEXFACE"), ("FLEXFACE",)])
def test_triangles_of_flexes(flags: tuple[str, ...], layer: int) -> None:
    model, data = bent()
    options = options_with(*flags)
    options.flex_layer = layer
    theirs = mujocos_scene(model, data, options)
    flexes = Scene(model).update(data, options=options).flexes
    assert [flex.flexid for flex in flexes] == [0, 1, 2]
    for flex in flexes:
        first, count = theirs.flexfaceadr[flex.flexid], theirs.flexfaceused[flex.flexid]
        faces = slice(first, first + count)
        surface = flex.surface
        np.testing.assert_allclose(surface.triangles, theirs.flexface.reshape(-1, 3, 3)[faces], atol=3e-7)
        normals = theirs.flexnormal.reshape(-1, 3, 3)[faces]
        np.testing.assert_allclose(surface.normals[surface.faces], normals, atol=1e-5)
        start, number = theirs.flexvertadr[flex.flexid], theirs.flexvertnum[flex.flexid]
        np.testing.assert_array_equal(flex.vertices, theirs.flexvert.reshape(-1, 3)[start : start + number])
        edge, edges = theirs.flexedgeadr[flex.flexid], theirs.flexedgenum[flex.flexid]
        np.testing.assert_array_equal(flex.edges, theirs.flexedge.reshape(-1, 2)[edge : edge + edges])


def test_the_back_of_a_flat_shaded_cloth_faces_away() -> None:
    """MuJoCo gives it the normals of the front."""
    model, data = bent("true")
    surface = flex_surface(model, data, 0).surface
    corners = surface.triangles
    turned = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("ij,ij->i", turned, surface.normals[surface.faces[:, 0]]) > 0).all()
    theirs = mujocos_scene(model, data)
    np.testing.assert_allclose(surface.normals[:3], theirs.flexnormal.reshape(-1, 3)[:3], atol=1e-6)


def test_vertices_of_skins() -> None:
    model, data = stepped(RICH, 40)
    theirs = mujocos_scene(model, data)
    (skin,) = Scene(model).update(data).skins
    np.testing.assert_allclose(skin.surface.vertices, theirs.skinvert.reshape(-1, 3), atol=1e-6)
    np.testing.assert_allclose(skin.surface.normals, theirs.skinnormal.reshape(-1, 3), atol=1e-5)
    assert len(Scene(model).update(data, options={"flags": {"skin": False}}).skins) == 0


def test_a_rope_that_hangs_is_as_long_as_it_is() -> None:
    start, end = np.array([0.0, 0, 1]), np.array([1.0, 1, 2])
    points = catenary(start, end, np.array([0, 0, -9.81]), 2.5)
    length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    assert length == pytest.approx(2.5, rel=1e-3)
    np.testing.assert_array_equal(points[[0, -1]], [start, end])
    steep = catenary(start, start + np.array([0.001, 0, 1]), np.array([0, 0, -9.81]), 1.5)
    assert np.linalg.norm(np.diff(steep, axis=0), axis=1).sum() == pytest.approx(1.5)
    assert len(catenary(start, end, np.zeros(3), 2.5)) == 2
    assert len(catenary(start, end, np.array([0, 0, -9.81]), 1.0)) == 2

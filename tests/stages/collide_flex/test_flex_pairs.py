"""Every kind of pair with a flex against MuJoCo 3.4.0: the same contacts in the same order, where both see the same
vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from flex_oracle import Scene, difference, parts  # noqa: E402
from flex_scenes import DIMS, GEOMS, on_geom, two_flexes  # noqa: E402

from dovetail.plugins.model_rules.flexes import every_meeting, meeting  # noqa: E402

FORMULA = 1e-13
"""Measured: 6e-15."""
ITERATION = 1e-10
"""Of normals by portal refinement; all else is equal to 1e-12. Measured: 1.3e-11."""


def assert_mujocos(
    scene: Scene, tolerance: float, *, seeds: int = 3, least: int = 1, spread: float = 0.02
) -> None:
    """In random states; there must be contacts to compare."""
    total = 0
    for seed in range(seeds):
        scene.throw(seed, spread)
        data = scene.ours()
        total += int(data.ncon)
        errors = difference(scene, data)
        assert max(errors.values()) <= tolerance, errors
    assert total >= least


@pytest.mark.covering(2)
@pytest.mark.parametrize("margin", [0.0, 0.02])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kind", GEOMS)
def test_a_geom_touches_a_flex_as_in_mujoco(kind: str, dim: int, margin: float) -> None:
    scene = Scene(on_geom(kind, dim, margin=margin, contact=f'margin="{margin / 2}"'))
    assert_mujocos(scene, FORMULA, least=3)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kind", ["plane", "hfield", "capsule", "box", "mesh"])
def test_without_midphase_all_elements_count(kind: str, dim: int) -> None:
    assert_mujocos(Scene(on_geom(kind, dim, flags='midphase="disable"')), FORMULA, seeds=2)


@pytest.mark.covering
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize(
    "kind", ["hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"]
)
def test_portal_refinement_where_nativeccd_is_off(kind: str, dim: int) -> None:
    scene = Scene(on_geom(kind, dim, flags='nativeccd="disable"', margin=0.01))
    assert_mujocos(scene, ITERATION, seeds=2)


@pytest.mark.covering(2)
@pytest.mark.parametrize("flags", ["", 'midphase="disable"', 'nativeccd="disable"'])
@pytest.mark.parametrize("dim2", DIMS)
@pytest.mark.parametrize("dim1", DIMS)
def test_two_flexes_touch_as_in_mujoco(dim1: int, dim2: int, flags: str) -> None:
    scene = Scene(two_flexes(dim1, dim2, margin=0.01, flags=flags))
    assert_mujocos(scene, FORMULA, seeds=1 if dim1 == dim2 == 3 else 2)


def test_multiccd_makes_no_difference() -> None:
    assert_mujocos(Scene(on_geom("box", 3, flags='multiccd="enable"')), FORMULA, seeds=1)


def test_the_override_flag_gives_all_one_margin() -> None:
    text = on_geom("capsule", 2, flags='override="enable"').replace("<option>", '<option o_margin=".03">')
    assert_mujocos(Scene(text), FORMULA, seeds=2)


def test_every_kind_of_pair_has_a_row() -> None:
    assert sorted(parts()["collide_flex"]) == sorted(every_meeting())


def test_a_model_needs_the_rows_of_the_shapes_that_can_meet_in_it() -> None:
    assert meeting(Scene(on_geom("box", 2)).model) == {"box-triangle"}
    assert meeting(Scene(two_flexes(3, 1)).model) == {"segment-tetrahedron"}


# ---- degenerate shapes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("kind", ["sphere", "capsule", "box", "cylinder"])
def test_vertices_in_one_place_are_no_obstacle(kind: str, dim: int) -> None:
    """All vertices of the flex in the middle of the geom, then two of each element. MuJoCo's contacts are NaN where a
    capsule meets a segment of no length; here they are those of a ball."""
    scene = Scene(on_geom(kind, dim))
    scene.throw(0)
    scene.data.flexvert_xpos[:] = [0.01, 0.02, 0.05]
    assert_same_at(scene)
    scene.data.flexvert_xpos[::2] += [0.03, 0.0, 0.0]
    assert_same_at(scene)


def assert_same_at(scene: Scene) -> None:
    """Contacts where the vertices have been put."""
    m, d = scene.theirs, scene.data
    for element in range(m.nflexelem):
        size = m.flex_dim[0] + 1
        corner = d.flexvert_xpos[m.flex_elem[element * size : (element + 1) * size]]
        low, high = corner.min(axis=0), corner.max(axis=0)
        d.flexelem_aabb[element] = np.concatenate([(low + high) / 2, (high - low) / 2 + m.flex_radius[0]])
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    scene.model.opt.disableflags = int(m.opt.disableflags)
    mujoco.mj_collision(m, d)
    data: Any = scene.ours()
    assert int(data.ncon) == int(d.ncon) > 0
    assert np.isfinite(data.contact.frame[: data.ncon]).all()
    if np.isfinite(d.contact.dist).all():
        assert max(difference(scene, data).values()) < FORMULA

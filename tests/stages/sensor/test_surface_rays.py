"""Rangefinders that look at height fields and meshes, in lanes: MuJoCo's readings, and the reference's."""

from __future__ import annotations

from typing import Any

import pytest

mujoco = pytest.importorskip("mujoco")

import numpy as np  # noqa: E402
from surface_rays import BASE, EYES, KINDS, WORLDS, eyes, mujocos, readings, scene  # noqa: E402

import dovetail  # noqa: E402
from dovetail.backends.native.compilers import choose_compiler  # noqa: E402

needs_compiler = pytest.mark.skipif(choose_compiler() is None, reason="there is no compiler")
TOLERANCE = 1e-10
"""Metres: the rays are a few metres long."""
ROUNDING = 1e-12
NEVER = {"misses"}
"""Kinds of rays that meet nothing."""


@needs_compiler
@pytest.mark.parametrize("kind", KINDS)
def test_rays_in_lanes_meet_surfaces_where_mujocos_do(kind: str) -> None:
    found = readings(kind, backend="native", lanes=8)
    assert np.abs(found - mujocos(kind)).max() < TOLERANCE
    assert np.abs(found - readings(kind, backend="numpy")).max() < ROUNDING
    hits = np.count_nonzero(found >= 0)
    assert hits == 0 if kind in NEVER else hits >= WORLDS * EYES / 3


@needs_compiler
def test_rays_from_below_meet_the_base() -> None:
    points, quats = eyes("from_below")
    rise = 1.0 - 2.0 * (quats[..., 1] ** 2 + quats[..., 2] ** 2)  # of the z axis
    expected = (-BASE - points[..., 2]) / rise
    assert readings("from_below", backend="native", lanes=8) == pytest.approx(expected, abs=TOLERANCE)


@needs_compiler
@pytest.mark.parametrize("kind", KINDS)
def test_a_ray_has_the_same_bits_however_many_worlds_are_beside_it(kind: str) -> None:
    wide, alone = (readings(kind, backend="native", lanes=lanes) for lanes in (8, 1))
    assert np.array_equal(wide, alone)


@pytest.mark.slow
@needs_compiler
def test_the_runtimes_give_the_same_bits() -> None:
    pytest.importorskip("dovetail.backends.taichi")
    for kind in KINDS:
        assert np.array_equal(
            readings(kind, backend="taichi", lanes=8), readings(kind, backend="native", lanes=8)
        )


@needs_compiler
@pytest.mark.parametrize("kind", ["from_above", "from_below", "at_the_mesh", "across"])
def test_rays_in_single_precision_are_nearly_the_same(kind: str) -> None:
    """All but a few, which just meet or just miss an edge."""
    apart = np.abs(readings(kind, backend="native", precision="f32") - mujocos(kind))
    assert np.quantile(apart, 0.97) < 1e-5


@needs_compiler
def test_an_eye_that_is_nowhere_reads_nothing_and_harms_no_other_world() -> None:
    sim = dovetail.Simulation(dovetail.loads(scene()), nworld=WORLDS, keep="sensordata", backend="native")
    sim.data.mocap_pos[...], sim.data.mocap_quat[...] = eyes("from_above")
    sim.data.mocap_pos[2, :] = np.nan
    sim.forward()
    others = np.arange(WORLDS) != 2
    found = np.array(sim.data.sensordata)
    assert np.array_equal(found[others], readings("from_above", backend="native", lanes=8)[others])
    assert (found[2] == -1.0).all()


@needs_compiler
def test_heights_and_sizes_may_be_edited_while_it_runs() -> None:
    """They are read at run time: no other kernel is needed."""
    model, theirs = dovetail.loads(scene()), mujoco.MjModel.from_xml_string(scene())
    sim = dovetail.Simulation(model, keep="sensordata", backend="native")
    points, quats = eyes("from_above")
    before = sim.plan
    for edit in range(2):
        if edit:
            for edited in (model, theirs):
                edited.hfield_data[:] = np.asarray(edited.hfield_data) * 0.5 + 0.1
                edited.hfield_size[:, 2] *= 1.5
        sim.data.mocap_pos[...], sim.data.mocap_quat[...] = points[0], quats[0]
        sim.forward()
        expected = forwarded(theirs, points[0], quats[0])
        assert np.abs(sim.data.sensordata - expected).max() < TOLERANCE
    assert sim.plan is before


@needs_compiler
def test_a_mesh_may_be_edited_too() -> None:
    """The tree of boxes is made anew."""
    model, theirs = dovetail.loads(scene()), mujoco.MjModel.from_xml_string(scene())
    sim = dovetail.Simulation(model, keep="sensordata", backend="native")
    points, quats = (poses[0] for poses in eyes("at_the_mesh"))
    unedited = forwarded(theirs, points, quats).copy()
    for edited in (model, theirs):
        edited.mesh_vert[:] = np.asarray(edited.mesh_vert)[:, [1, 0, 2]] * np.float32(0.75)
    theirs.bvh_aabb[:] = [0, 0, 0, 9, 9, 9]  # their boxes are the old ones
    sim.data.mocap_pos[...], sim.data.mocap_quat[...] = points, quats
    sim.forward()
    expected = forwarded(theirs, points, quats)
    assert np.abs(sim.data.sensordata - expected).max() < TOLERANCE
    assert np.abs(expected - unedited).max() > 0.01


def forwarded(model: Any, points: Any, quats: Any) -> Any:
    data = mujoco.MjData(model)
    data.mocap_pos[:], data.mocap_quat[:] = points, quats
    mujoco.mj_forward(model, data)
    return data.sensordata


def test_no_rangefinder_falls_back_for_a_mesh_or_a_height_field() -> None:
    sim = dovetail.Simulation(dovetail.loads(scene()), backend="native", keep="all")
    assert not [line for line in sim.plan.lines() if line.fallback]

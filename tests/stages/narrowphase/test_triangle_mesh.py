"""Meshes that collide by their triangles: each shape against a mesh, hollows stay hollow, bodies come to rest."""

from __future__ import annotations

import numpy as np
import pytest
from triangle_models import FIXED_ELL, contacts, ell_distance, free, world

import dovetail
from dovetail.plugins.narrowphase import surfaces_numpy
from dovetail.plugins.narrowphase.surfaces_numpy import mesh_surface
from dovetail.plugins.narrowphase.triangle_numpy import TRIANGLE_ROWS

SINGLE = 1e-6
"""Metres: mesh vertices are stored in single precision."""
TRIANGLE = {"narrowphase": "triangle"}


def ncon(model: dovetail.Model, narrowphase: str = "triangle") -> int:
    simulation = dovetail.Simulation(model, stages={"narrowphase": narrowphase})
    simulation.forward()
    return int(simulation.data.ncon)


# ---- what the mesh collision specification asks for -------------------------------------------------------


def test_mesh_loads_with_its_faces_and_its_geom() -> None:
    model = world(free('type="mesh" mesh="inward"', "0 0 1"))
    mesh = int(model.geom_dataid[0])
    assert model.object_names["mesh"][mesh] == "inward"
    assert model.mesh_facenum[mesh] == 12


def test_a_mesh_touches_a_plane_with_each_corner_below() -> None:
    model = world(
        '<geom type="plane" size="10 10 0.1"/>' + free('type="mesh" mesh="tetra" mass="1"', "0 0 -0.001")
    )
    found = contacts(model, "plane-mesh", 0, 1)
    np.testing.assert_allclose(found.dist, -0.001, atol=SINGLE)
    np.testing.assert_allclose(found.normal, [[0, 0, 1]] * 3, atol=1e-15)
    assert ncon(model) == 3


def test_a_sphere_touches_a_mesh_at_its_nearest_point() -> None:
    found = contacts(world(FIXED_ELL + free('size="0.2"', "0.5 0 2.1")), "sphere-mesh", 1, 0)
    np.testing.assert_allclose(found.dist, [-0.1], atol=SINGLE)
    np.testing.assert_allclose(found.pos, [[0.5, 0, 1.95]], atol=SINGLE)
    np.testing.assert_allclose(found.normal, [[0, 0, -1]], atol=SINGLE)


def test_a_box_touches_a_mesh_where_they_overlap() -> None:
    found = contacts(world(FIXED_ELL + free('type="box" size="0.2 0.2 0.2"', "0.5 0 2.19")), "box-mesh", 1, 0)
    np.testing.assert_allclose(found.dist, [-0.01] * 4, atol=SINGLE)
    np.testing.assert_allclose(found.normal, [[0, 0, -1]] * 4, atol=SINGLE)


def test_a_capsule_on_a_mesh_touches_with_both_ends() -> None:
    capsule = free('type="capsule" size="0.1 0.3"', "0.5 0 2.09", "90 0 0")
    found = contacts(world(FIXED_ELL + capsule), "capsule-mesh", 1, 0)
    np.testing.assert_allclose(found.dist, [-0.01] * 2, atol=SINGLE)
    np.testing.assert_allclose(np.sort(found.pos[:, 1]), [-0.3, 0.3], atol=SINGLE)


@pytest.mark.parametrize("mesh", ["cube", "inward"])
def test_meshes_touch_whichever_way_their_faces_are_wound(mesh: str) -> None:
    """Whichever way the faces are wound."""
    geom = f'type="mesh" mesh="{mesh}" mass="1"'
    model = world(free(geom) + free(geom, "0.2 0.1 0.99"))
    found = contacts(model, "mesh-mesh", 0, 1)
    np.testing.assert_allclose(found.dist, -0.01, atol=SINGLE)
    np.testing.assert_allclose(found.normal, [[0, 0, 1]] * len(found.dist), atol=SINGLE)
    corners = {(round(x, 3), round(y, 3)) for x, y, _ in found.pos}
    assert corners == {(0.2, 0.1), (1.0, 0.1), (0.2, 1.0), (1.0, 1.0)}
    assert ncon(world(free(geom) + free(geom, "0.5 0 0"))) > 0


def test_meshes_are_shared_by_their_geoms_and_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    make = surfaces_numpy.make_surface
    monkeypatch.setattr(surfaces_numpy, "make_surface", lambda *a: made.append(1) or make(*a))
    cube = 'type="mesh" mesh="cube"'
    model = world(free(cube) + free(cube, "0.5 0 0") + free(cube, "0 0.5 0"))
    simulation = dovetail.Simulation(model, stages=TRIANGLE)
    simulation.step(3)
    assert len(made) == 1
    assert mesh_surface(model, int(model.geom_dataid[0])) is mesh_surface(model, int(model.geom_dataid[2]))


@pytest.mark.parametrize(("mesh", "radius"), [("cube", 0.8660254), ("tetra", 0.91048)])
def test_the_bounding_radius_of_a_mesh_is_mujocos(mesh: str, radius: float) -> None:
    """Around the box in the mesh's own frame, as MuJoCo has it."""
    np.testing.assert_allclose(world(free(f'type="mesh" mesh="{mesh}"')).geom_rbound[0], radius, atol=1e-5)


def test_far_meshes_are_culled_before_their_triangles_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surfaces_numpy, "descend", lambda *_: pytest.fail("looked at triangles"))
    assert ncon(world(FIXED_ELL + free('size="0.1"', "5 0 5"))) == 0


# ---- hollows ----------------------------------------------------------------------------------------------


def test_a_ball_fits_into_the_hollow_that_the_convex_hull_fills() -> None:
    model = world(FIXED_ELL + free('size="0.2"', "1.3 0 1.3"))
    assert ncon(model, "triangle") == 0
    assert ncon(model, "convex") == 1


def test_both_ways_agree_where_the_surface_is_convex() -> None:
    model = world(FIXED_ELL + free('size="0.2"', "-0.1 0.1 0.3"))
    by_hull = dovetail.Simulation(model)
    by_triangle = dovetail.Simulation(model, stages=TRIANGLE)
    by_hull.forward()
    by_triangle.forward()
    for name in ("dist", "pos", "frame", "geom"):
        ours, theirs = (np.array(getattr(s.data.contact, name)[:1]) for s in (by_triangle, by_hull))
        np.testing.assert_allclose(ours, theirs, atol=1e-5, err_msg=name)


def test_a_ball_in_the_corner_touches_both_walls() -> None:
    found = contacts(world(FIXED_ELL + free('size="0.2"', "1.19 0 1.19")), "sphere-mesh", 1, 0)
    np.testing.assert_allclose(found.dist, [-0.01] * 2, atol=SINGLE)
    np.testing.assert_allclose(np.sort(found.normal, axis=0), [[-1, 0, -1], [0, 0, 0]], atol=SINGLE)


def test_a_ball_over_an_edge_between_flat_triangles_touches_once() -> None:
    """The face's diagonal runs through the point of contact."""
    found = contacts(world(FIXED_ELL + free('size="0.1"', "0.5 0 2.09")), "sphere-mesh", 1, 0)
    assert len(found.dist) == 1


@pytest.mark.parametrize("seed", range(3))
def test_a_balls_deepest_contact_is_the_distance_to_the_surface(seed: int) -> None:
    random = np.random.default_rng(seed)
    model = world(FIXED_ELL + free('size="0.3"'))
    data = dovetail.make_data(model)
    data.geom_xmat[:] = np.eye(3).ravel()
    dovetail.forward(model, data)
    for point in random.uniform([-0.5, -0.9, -0.5], [2.5, 0.9, 2.5], (40, 3)):
        data.geom_xpos[1] = point
        found = TRIANGLE_ROWS["sphere-mesh"](model, data, 1, 0, 0.1)
        distance = ell_distance(point[None])[0]
        assert bool(len(found.dist)) == (distance <= 0.4)
        if len(found.dist):
            np.testing.assert_allclose(found.dist.min(), distance - 0.3, atol=SINGLE)


def test_margins_reach_beyond_the_surface() -> None:
    for shape, key in (
        ('size="0.2"', "sphere-mesh"),
        ('type="box" size="0.2 0.2 0.2"', "box-mesh"),
        ('type="capsule" size="0.1 0.1"', "capsule-mesh"),
    ):
        model = world(FIXED_ELL + free(shape, "0.5 0 2.205"))
        assert len(contacts(model, key, 1, 0, 0.0).dist) == 0
        np.testing.assert_allclose(contacts(model, key, 1, 0, 0.01).dist, 0.005, atol=SINGLE)


def test_a_rod_across_touches_with_its_edges_alone() -> None:
    rod = free('type="box" size="2 0.05 0.05"', "0.5 0 2.049")
    found = contacts(world(FIXED_ELL + rod), "box-mesh", 1, 0)
    np.testing.assert_allclose(found.dist, [-0.001] * 4, atol=SINGLE)
    places = sorted((round(x, 3), round(y, 3)) for x, y, _ in found.pos)
    assert places == [(0.0, -0.05), (0.0, 0.05), (1.0, -0.05), (1.0, 0.05)]


def test_two_ells_interlock() -> None:
    model = world(FIXED_ELL + free('type="mesh" mesh="ell"', "2.999 0 2.999", "0 180 0"))
    found = contacts(model, "mesh-mesh", 0, 1)
    assert len(found.dist) == 8
    np.testing.assert_allclose(found.dist, -0.001, atol=SINGLE)
    nested = world(FIXED_ELL + free('type="mesh" mesh="ell"', "3.01 0 2.5", "0 180 0"))
    assert ncon(nested, "triangle") == 0
    assert ncon(nested, "convex") == 1


# ---- at rest ----------------------------------------------------------------------------------------------

RESTING = {
    "ball in the hollow": (FIXED_ELL, 'size="0.2"', "1.5 0 1.21", [1.5, 0, 1.2]),
    "box in the hollow": (FIXED_ELL, 'type="box" size="0.3 0.3 0.2"', "1.5 0 1.21", [1.5, 0, 1.2]),
    "cube mesh on the ell": (FIXED_ELL, 'type="mesh" mesh="cube"', "1.2 -0.4 1.01", [1.2, -0.4, 1.0]),
    "ell on the ground": (
        '<geom type="plane" size="5 5 1"/>',
        'type="mesh" mesh="ell"',
        "0 0 0.01",
        [0, 0, 0],
    ),
    "cube on a cube": ('<geom type="mesh" mesh="cube"/>', 'type="mesh" mesh="cube"', "0 0 1.01", [0, 0, 1]),
    "rod across": (FIXED_ELL, 'type="box" size="1 0.05 0.05"', "0.5 0 2.06", [0.5, 0, 2.05]),
}


@pytest.mark.by_default("cube on a cube", "ball in the hollow", "rod across")
@pytest.mark.parametrize("case", RESTING)
def test_bodies_come_to_rest(case: str) -> None:
    scenery, geom, start, end = RESTING[case]
    simulation = dovetail.Simulation(world(scenery + free(geom, start)), stages=TRIANGLE)
    simulation.step(120)
    np.testing.assert_allclose(simulation.data.qpos[:3], end, atol=2e-3)
    assert np.abs(simulation.data.qvel).max() < 0.02


def test_a_ball_rolls_off_the_hull_that_fills_the_hollow() -> None:
    """The same start as in the hollow, by convex hull: it is pushed out."""
    simulation = dovetail.Simulation(world(FIXED_ELL + free('size="0.2"', "1.5 0 1.21")))
    simulation.step(120)
    assert np.linalg.norm(simulation.data.qpos[:3] - [1.5, 0, 1.2]) > 0.2


# ---- the rest ---------------------------------------------------------------------------------------------


def test_shapes_without_triangle_rows_take_the_hull_and_say_so() -> None:
    model = world(FIXED_ELL + free('name="can" type="cylinder" size="0.1 0.1"', "1.3 0 1.3"))
    with pytest.warns(RuntimeWarning, match=r"no row 'cylinder-mesh'.*\"can\".*convex hull"):
        assert ncon(model) == 1


def test_pairs_without_a_mesh_are_collided_as_ever() -> None:
    model = world('<geom type="plane" size="1 1 1"/>' + free('type="box" size="0.1 0.1 0.1"', "0 0 0.099"))
    assert ncon(model, "triangle") == ncon(model, "convex") == 4


def test_a_point_inside_far_from_the_surface_is_pushed_the_nearest_way_out() -> None:
    found = contacts(world(FIXED_ELL + free('size="0.01"', "0.3 0 1.2")), "sphere-mesh", 1, 0)
    np.testing.assert_allclose(found.dist, [-0.31], atol=SINGLE)
    np.testing.assert_allclose(found.normal, [[1, 0, 0]], atol=SINGLE)

"""Terrain: heights are those that rays and collisions of the engine find; patches are where they are said to be."""

import numpy as np
import pytest

import dovetail
from dovetail.envs import terrain
from dovetail.envs.terrain import Terrain

FLAT = """
<mujoco><worldbody><geom name="ground" type="plane" size="1 1 .1"/>
<body name="ball" pos="0 0 5"><freejoint/><geom type="sphere" size=".01"/></body></worldbody></mujoco>
"""


def bumpy():
    """More columns than rows, nothing symmetrical, below and above zero."""
    return Terrain(np.random.default_rng(3).uniform(-0.4, 0.9, (9, 13)), 0.25)


def test_heights_are_where_rays_end():
    ground = bumpy()
    model = ground.load(FLAT)
    sim = dovetail.Simulation(model)
    sim.forward()
    data = sim.data
    points = np.random.default_rng(0).uniform(-1, 1, (300, 2)) * ground.half
    points[:40] = np.round(points[:40] / 0.25 * 2) * 0.125  # on vertices, edges and diagonals
    points[:40] *= 1 - 1e-9  # not beyond the rim
    for point, height in zip(points, ground.height(points), strict=True):
        distance, geom = dovetail.ray(model, data, [*point, 3.0], [0, 0, -1], bodyexclude=1)
        assert geom == 0
        assert 3.0 - distance == pytest.approx(height, abs=1e-6)


def test_heights_are_where_small_balls_touch():
    ground = Terrain(np.random.default_rng(3).uniform(0.0, 0.1, (9, 13)), 0.25)
    sim = dovetail.Simulation(ground.load(FLAT))
    for point in np.random.default_rng(1).uniform(-0.9, 0.9, (20, 2)) * ground.half:
        for above, touches in ((0.013, False), (0.007, True)):  # the radius is 0.01
            sim.data.qpos[:3] = (*point, ground.height(point) + above)
            sim.forward()
            assert (sim.data.ncon > 0) is touches


def test_a_plane_is_level_and_heights_beyond_the_rim_are_the_rims():
    level = Terrain(np.full((3, 4), 0.25), 1.0)
    np.testing.assert_array_equal(level.height(np.array([[0.0, 0.0], [9.0, -9.0]])), 0.25)
    assert level.load(FLAT).ngeom == 2
    ground = bumpy()
    x, y = ground.half
    assert ground.height(np.array([x + 5, y + 5])) == ground.heights[-1, -1]
    assert ground.height(np.array([-x - 5, y])) == ground.heights[-1, 0]


def test_a_scan_turns_with_the_one_who_looks():
    ground = bumpy()
    place, offsets = np.array([[0.1, 0.2, 0.0], [-0.5, 0.3, 1.0]]), np.array([[0.3, 0.0], [0.0, 0.2]])
    got = ground.scan(place, np.array([0.0, np.pi / 2]), offsets)
    np.testing.assert_allclose(got[0], ground.height(np.array([[0.4, 0.2], [0.1, 0.4]])))
    np.testing.assert_allclose(got[1], ground.height(np.array([[-0.5, 0.6], [-0.7, 0.3]])))


def test_patches_grow_harder_along_x_and_start_flat():
    kinds = (
        lambda d, g: terrain.stairs(41, 0.1, height=0.1 * d),
        lambda d, g: terrain.slope(41, 0.1, tangent=-0.5 * d),
        lambda d, g: terrain.blocks(41, 0.1, g, height=0.2 * d),
        lambda d, g: terrain.rough(41, 0.1, g, deviation=0.05 * d),
    )
    ground = terrain.patches(kinds, levels=3, cell=0.1, seed=1)
    assert ground.heights.shape == (4 * 41, 3 * 41)
    assert ground.centres.shape == (3, 4, 2)
    spread = np.array(
        [
            [np.std(ground.height(c + np.random.default_rng(0).uniform(-2, 2, (200, 2)))) for c in row]
            for row in ground.centres
        ]
    )
    assert (np.diff(spread, axis=0) > 0).all()
    np.testing.assert_allclose(ground.height(ground.centres[:, :3]), 0.0, atol=1e-6)
    assert ground.height(ground.centres[2, 0] + [1.9, 0.0]) == pytest.approx(
        -0.5, abs=1e-6
    )  # five stairs down
    assert ground.height(ground.centres[2, 1] + [0.0, 1.5]) == pytest.approx(0.5, abs=1e-6)
    again = terrain.patches(kinds, levels=3, cell=0.1, seed=1)
    np.testing.assert_array_equal(ground.heights, again.heights)
    assert not np.array_equal(ground.heights, terrain.patches(kinds, levels=3, cell=0.1, seed=2).heights)


def test_what_is_wrong_is_said():
    with pytest.raises(dovetail.DovetailError, match="at least two each"):
        Terrain(np.zeros((1, 5)), 0.1)
    with pytest.raises(dovetail.DovetailError, match="finite"):
        Terrain(np.full((3, 3), np.nan), 0.1)
    with pytest.raises(dovetail.DovetailError, match="no geom named 'earth'"):
        bumpy().load(FLAT, geom="earth")


def test_worlds_share_one_terrain():
    with pytest.raises(dovetail.DovetailError, match="hfield_data cannot differ between worlds"):
        dovetail.Simulation(bumpy().load(FLAT), nworld=2, per_world=("hfield_data",))


@pytest.mark.parametrize(
    ("source", "text"),
    [("<mujoco><worldbody>", "never closed"), ("no_such_file.xml", "no_such_file.xml: cannot be read")],
)
def test_what_is_no_model_is_an_error_of_loading(source, text):
    with pytest.raises(dovetail.DovetailError, match=text):
        bumpy().load(source)

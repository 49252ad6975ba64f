"""Collision beside MuJoCo: robots along trajectories, and folded up so that they touch themselves."""

from __future__ import annotations

import numpy as np
import pytest
import robots
from collisions import assert_same, contacts
from lane_backend import LANES
from robot_contacts import contacts_of, states

mujoco = pytest.importorskip("mujoco")

ROBOTS = [
    "gymnasium/ant",
    "gymnasium/half_cheetah",
    "gymnasium/hopper",
    "gymnasium/humanoid",
    "gymnasium/walker2d",
    "suite/humanoid",
    "suite/stacker",
]
TOLERANCE = 1e-12
"""Metres, and for directions and parameters without unit, relative to their size."""


@pytest.mark.covering
@pytest.mark.parametrize("name", [name for name in ROBOTS if name in robots.FILES])
@pytest.mark.parametrize("backend", ["numpy", LANES])
def test_contacts_of_robots_are_mujocos(name: str, backend: str) -> None:
    data = states(robots.theirs(name), seed=4)
    poses = np.array([d.geom_xpos for d in data]), np.array([d.geom_xmat for d in data])
    ours = contacts(robots.ours(name), *poses, backend)
    for found, oracle in zip(ours, data, strict=True):
        assert_same(found, contacts_of(oracle), TOLERANCE)
    assert sum(len(found.geoms) for found in ours) >= len(data) / 4

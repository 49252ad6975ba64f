"""Collision in lanes beside MuJoCo: robots along trajectories, and folded up so that they touch themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import robots
from lane_contacts import WIDTHS, Found, assert_same, compile_collision

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


def states(model: Any, seed: int) -> list[Any]:
    """Copies of MjData along a trajectory and at random joint angles near the floor."""
    found = []
    rng = np.random.default_rng(seed)
    for data in robots.trajectory(model, 300, every=25, seed=seed):
        moved = mujoco.MjData(model)
        moved.qpos[:] = data.qpos
        found.append(moved)
    for _ in range(20):
        data = mujoco.MjData(model)
        mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv) * 0.8, 1.0)
        found.append(data)
    for data in found:
        mujoco.mj_fwdPosition(model, data)
    return found


def contacts_of(data: Any) -> Found:
    """MuJoCo's contacts."""
    fields = {name: np.array(getattr(data.contact, name)) for name in WIDTHS}
    return Found(np.array(data.contact.geom).reshape(-1, 2), fields)


@pytest.mark.parametrize("name", [name for name in ROBOTS if name in robots.FILES])
def test_contacts_of_robots_are_mujocos(name: str) -> None:
    collision = compile_collision(robots.ours(name))
    data = states(robots.theirs(name), seed=4)
    ours = collision(np.array([d.geom_xpos for d in data]), np.array([d.geom_xmat for d in data]))
    for found, oracle in zip(ours, data, strict=True):
        assert_same(found, contacts_of(oracle), TOLERANCE)
    assert sum(len(found.geoms) for found in ours) >= len(data) / 4

"""States of robots that touch the ground or themselves, and MuJoCo's contacts there."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import robots
from collisions import FIELDS, Found


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
    fields = {name: np.array(getattr(data.contact, name)) for name in FIELDS}
    return Found(np.array(data.contact.geom).reshape(-1, 2), fields)

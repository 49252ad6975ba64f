"""Stages work on one world of a batch, whose fields are strided views, and write nothing beside it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
from smooth_reference import STAGES, WithExtra, data_with, load, step, worst_error
from trees import random_state, random_tree

WORLDS, WORLD = 3, 1
STATE = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")
OUTPUTS = (*(name for _, names in STAGES.values() for name in names), "qacc_warmstart")


def batch_of(data: Any) -> dict[str, Any]:
    """Every field with a trailing axis of worlds, as in a tile of the arena."""
    return {
        name: np.repeat(np.asarray(getattr(data, name))[..., None], WORLDS, axis=-1)
        for name in (*STATE, *OUTPUTS)
    }


def test_a_step_in_one_world_of_a_batch() -> None:
    model = load(random_tree(seed=3, nbody=5))
    data = data_with(model, random_state(model, np.random.default_rng(0)))
    batch = batch_of(data)
    before = {name: values.copy() for name, values in batch.items()}
    views = SimpleNamespace(**{name: values[..., WORLD] for name, values in batch.items()}, time=0.0)
    step(model, WithExtra(model, views))
    mujoco.mj_step(model, data)
    for name in ("qpos", "qvel", "act", "xpos", "xmat", "cinert", "M", "qLD", "qacc"):
        assert worst_error(batch[name][..., WORLD], getattr(data, name)) < 1e-10, name
    for name, values in batch.items():
        others = [world for world in range(WORLDS) if world != WORLD]
        np.testing.assert_array_equal(values[..., others], before[name][..., others])

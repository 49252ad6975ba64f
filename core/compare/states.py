"""Random states of a model: inside what joints allow a rotation to be, otherwise anything a user might set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.enums import JointType
from dovetail.contracts.fields import Array

if TYPE_CHECKING:
    from dovetail.contracts.types import Data

SPREAD = 0.5
"""Standard deviation of positions about qpos0, in metres and radians."""


def random_state(model: Any, rng: np.random.Generator) -> dict[str, Array]:
    """Values of everything a user may set, for one world; the same for the same generator state."""
    return {
        "qpos": random_positions(model, rng),
        "qvel": rng.normal(0.0, 1.0, model.nv),
        "act": rng.normal(0.0, 0.5, model.na),
        "ctrl": rng.normal(0.0, 1.0, model.nu),
        "qfrc_applied": rng.normal(0.0, 1.0, model.nv),
        "xfrc_applied": rng.normal(0.0, 1.0, (model.nbody, 6)) * (rng.random((model.nbody, 1)) < 0.3),
        "qacc_warmstart": np.zeros(model.nv),
        "mocap_pos": rng.normal(0.0, 1.0, (model.nmocap, 3)),
        "mocap_quat": unit_quaternions(rng, model.nmocap),
    }


def random_positions(model: Any, rng: np.random.Generator) -> Array:
    """qpos0 moved at random; rotations are turned anywhere and stay unit quaternions."""
    qpos = np.array(model.qpos0) + rng.normal(0.0, SPREAD, model.nq)
    for kind, address in zip(model.jnt_type.tolist(), model.jnt_qposadr.tolist(), strict=True):
        start = {JointType.FREE: address + 3, JointType.BALL: address}.get(kind)
        if start is not None:
            qpos[start : start + 4] = unit_quaternions(rng, 1)[0]
    return qpos


def unit_quaternions(rng: np.random.Generator, count: int) -> Array:
    """Rotations, uniformly distributed."""
    quats = rng.normal(size=(count, 4))
    norms: Array = np.linalg.norm(quats, axis=1, keepdims=True)
    return quats / norms


def set_state(data: Data, state: Mapping[str, Array]) -> None:
    """Write one world's state fields."""
    for name, value in state.items():
        data.field(name)[...] = value


def randomize(data: Data, rng: np.random.Generator) -> None:
    """A random state in every world of a Data, another one in each."""
    for world in data.worlds():
        set_state(world, random_state(data.model, rng))

"""A humanoid that gets up from the ground."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.envs import rotations
from dovetail.envs.task import Task
from dovetail.envs.worlds import Worlds
from dovetail.loading import load

STANDING = 1.42
"""Height of the middle of the head when the built-in humanoid stands."""


class HumanoidGetUp(Task):
    """Raise the head and keep it up, from lying on the back, the belly or a side, with limbs anywhere."""

    frame_skip = 5
    max_episode_steps = 300
    keep = ("xpos",)

    def load(self) -> Model:
        model = load("humanoid")
        self.head = model.body("head").id
        hinges = model.jnt_range[1:]
        self.middle, self.reach = hinges.mean(axis=1), np.ptp(hinges, axis=1) / 2
        return model

    def start(self, w: Worlds) -> None:
        qpos = np.zeros((len(w), w.model.nq))
        qpos[:, 2] = 0.45
        roll, yaw = w.uniform(-np.pi, np.pi, 2).T  # which side is up, and where the head points
        along, up = np.array([0.0, 0.5 * np.pi, 0.0]), np.array([0.0, 0.0, 1.0])
        lying = rotations.product(rotations.from_vector(yaw[:, None] * up), rotations.from_vector(along))
        qpos[:, 3:7] = rotations.product(lying, rotations.from_vector(roll[:, None] * up))
        qpos[:, 7:] = np.clip(0.4 * w.uniform(-1, 1, 21), -1, 1) * self.reach + 0.4 * self.middle
        w.qpos = qpos

    def height(self, w: Worlds) -> Array:
        """Of the head, as a share of that of standing."""
        return np.clip(w.xpos[:, self.head, 2] / STANDING, 0.0, 1.0)

    def observe(self, w: Worlds) -> Array:
        quat = w.qpos[:, 3:7]
        up = rotations.rotate_back(quat, np.broadcast_to([0.0, 0.0, 1.0], (len(w), 3)))
        velocity = rotations.rotate_back(quat, w.qvel[:, :3])
        parts = [w.qpos[:, 2:3], up, w.qpos[:, 7:], velocity, 0.25 * w.qvel[:, 3:], self.height(w)[:, None]]
        return np.concatenate(parts, axis=1)

    def reward(self, w: Worlds, action: Array) -> Array:
        height = self.height(w)
        return height + 2.0 * (height > 0.9) - 0.01 * np.square(action).sum(axis=1)

    def info(self, w: Worlds) -> dict[str, Array]:
        return {"height": self.height(w), "standing": self.height(w) > 0.9}

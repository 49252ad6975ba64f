"""Reacher and Pusher: an arm, and where its tip or an object shall be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.envs.checks import with_checked_arguments
from dovetail.envs.task import Outcome
from dovetail.envs.v5.common import GymnasiumTask, norm, squares
from dovetail.envs.worlds import Worlds

SLOWEST = 0.005
"""Largest velocity of joints at the start."""
REACH = 0.2
"""How far from its base Reacher's target may be [m]."""
NEAREST = 0.17
"""How close to the goal Pusher's object may not start [m]."""


class _Arm(GymnasiumTask):
    keep = ("xpos",)
    bodies: tuple[str, ...] = ()

    def load(self) -> Model:
        model = super().load()
        self._ids = [int(model.body(name).id) for name in self.bodies]
        return model

    def places(self, w: Worlds) -> list[Array]:
        """Where the bodies are that the task is about."""
        return [w.xpos[:, body] for body in self._ids]


class Reacher(_Arm):
    """Bring the fingertip to the target."""

    bodies = ("fingertip", "target")

    @with_checked_arguments
    def __init__(
        self,
        xml_file: str = "reacher.xml",
        frame_skip: int = 2,
        default_camera_config: Mapping[str, Any] | None = {"trackbodyid": 0},
        reward_dist_weight: float = 1,
        reward_control_weight: float = 1,
    ) -> None:
        super().__init__(xml_file, frame_skip, default_camera_config)
        self._dist, self._ctrl = reward_dist_weight, reward_control_weight

    def start(self, w: Worlds) -> None:
        qpos, qvel = np.empty((len(w), self.nq)), np.empty((len(w), self.nv))
        for row, generator in enumerate(w.generators):
            qpos[row] = generator.uniform(-0.1, 0.1, self.nq) + self.init_qpos
            goal = generator.uniform(-REACH, REACH, 2)
            while np.linalg.norm(goal) >= REACH:
                goal = generator.uniform(-REACH, REACH, 2)
            qpos[row, -2:] = goal
            qvel[row] = self.init_qvel + generator.uniform(-SLOWEST, SLOWEST, self.nv)
            qvel[row, -2:] = 0
        w.qpos, w.qvel = qpos, qvel

    def observe(self, w: Worlds) -> Array:
        angles, (tip, target) = w.qpos[:, :2], self.places(w)
        parts = (np.cos(angles), np.sin(angles), w.qpos[:, 2:], w.qvel[:, :2], (tip - target)[:, :2])
        return np.concatenate(parts, axis=1)

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        tip, target = self.places(w)
        distance, ctrl = -norm(tip - target) * self._dist, -squares(action) * self._ctrl
        info = {"reward_dist": distance, "reward_ctrl": ctrl}
        return self.observe(w), distance + ctrl, np.zeros(len(w), bool), info


class Pusher(_Arm):
    """Push the object to the goal."""

    bodies = ("tips_arm", "object", "goal")

    @with_checked_arguments
    def __init__(
        self,
        xml_file: str = "pusher_v5.xml",
        frame_skip: int = 5,
        default_camera_config: Mapping[str, Any] | None = {"trackbodyid": -1, "distance": 4.0},
        reward_near_weight: float = 0.5,
        reward_dist_weight: float = 1,
        reward_control_weight: float = 0.1,
    ) -> None:
        super().__init__(xml_file, frame_skip, default_camera_config)
        self._near, self._dist, self._ctrl = reward_near_weight, reward_dist_weight, reward_control_weight

    def start(self, w: Worlds) -> None:
        qpos, qvel = np.tile(self.init_qpos, (len(w), 1)), np.empty((len(w), self.nv))
        for row, generator in enumerate(w.generators):
            place = self._object(generator)
            while np.linalg.norm(place) <= NEAREST:
                place = self._object(generator)
            qpos[row, -4:-2], qpos[row, -2:] = place, 0.0
            qvel[row] = self.init_qvel + generator.uniform(-SLOWEST, SLOWEST, self.nv)
            qvel[row, -4:] = 0
        w.qpos, w.qvel = qpos, qvel

    @staticmethod
    def _object(generator: np.random.Generator) -> Array:
        return np.concatenate([generator.uniform(-0.3, 0, 1), generator.uniform(-0.2, 0.2, 1)])

    def observe(self, w: Worlds) -> Array:
        return np.concatenate((w.qpos[:, :7], w.qvel[:, :7], *self.places(w)), axis=1)

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        tip, thing, goal = self.places(w)
        near, distance = -norm(thing - tip) * self._near, -norm(thing - goal) * self._dist
        ctrl = -squares(action) * self._ctrl
        info = {"reward_dist": distance, "reward_ctrl": ctrl, "reward_near": near}
        return self.observe(w), distance + ctrl + near, np.zeros(len(w), bool), info

"""InvertedPendulum and InvertedDoublePendulum: keep poles upright on a cart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.envs.checks import with_checked_arguments
from dovetail.envs.task import Outcome
from dovetail.envs.v5.common import GymnasiumTask
from dovetail.envs.worlds import Worlds

STEEPEST = 0.2
"""Angle of the single pole beyond which it has fallen [rad]."""
LOWEST = 1.0
"""Height of the double pole's tip at which it has fallen [m]."""
LIMIT = 10.0
"""Velocities and forces beyond this are not seen."""


class InvertedPendulum(GymnasiumTask):
    """One pole."""

    @with_checked_arguments
    def __init__(
        self,
        xml_file: str = "inverted_pendulum.xml",
        frame_skip: int = 2,
        default_camera_config: Mapping[str, Any] | None = {"trackbodyid": 0, "distance": 2.04},
        reset_noise_scale: float = 0.01,
    ) -> None:
        super().__init__(xml_file, frame_skip, default_camera_config)
        self._noise = reset_noise_scale

    def start(self, w: Worlds) -> None:
        self.start_near(w, self._noise)

    def observe(self, w: Worlds) -> Array:
        return np.concatenate((w.qpos, w.qvel), axis=1)

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        seen = self.observe(w)
        fallen = ~np.isfinite(seen).all(axis=1) | (np.abs(seen[:, 1]) > STEEPEST)
        reward = (~fallen).astype(int)
        return seen, reward, fallen, {"reward_survive": reward}


class InvertedDoublePendulum(GymnasiumTask):
    """Two poles, one on the other."""

    keep = ("site_xpos", "qfrc_constraint")

    @with_checked_arguments
    def __init__(
        self,
        xml_file: str = "inverted_double_pendulum.xml",
        frame_skip: int = 5,
        default_camera_config: Mapping[str, Any] | None = None,
        healthy_reward: float = 10.0,
        reset_noise_scale: float = 0.1,
    ) -> None:
        super().__init__(xml_file, frame_skip, default_camera_config)
        self._healthy, self._noise = healthy_reward, reset_noise_scale

    def start(self, w: Worlds) -> None:
        self.start_near(w, self._noise, normal=True)

    def observe(self, w: Worlds) -> Array:
        angles = w.qpos[:, 1:]
        return np.concatenate(
            (
                w.qpos[:, :1],
                np.sin(angles),
                np.cos(angles),
                np.clip(w.qvel, -LIMIT, LIMIT),
                np.clip(w.qfrc_constraint[:, :1], -LIMIT, LIMIT),
            ),
            axis=1,
        )

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        tip, speed = w.site_xpos[:, 0], w.qvel[:, 1:3]
        fallen = tip[:, 2] <= LOWEST
        distance = 0.01 * tip[:, 0] ** 2 + (tip[:, 2] - 2) ** 2
        velocity = 1e-3 * speed[:, 0] ** 2 + 5e-3 * speed[:, 1] ** 2
        alive = self._healthy * (~fallen).astype(int)
        info = {"reward_survive": alive, "distance_penalty": -distance, "velocity_penalty": -velocity}
        return self.observe(w), alive - distance - velocity, fallen, info

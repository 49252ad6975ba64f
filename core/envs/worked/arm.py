"""An arm that reaches for a point."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import ClassVar

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.envs.task import Task
from dovetail.envs.worlds import Worlds
from dovetail.loading import loads

BALL = """<body name="target" mocap="true"><geom type="sphere" size="0.025" contype="0" conaffinity="0"
rgba="0.20 0.47 0.62 1"/></body></worldbody>"""
SHOULDER = np.array([0.0, 0.0, 0.26])


class ArmReach(Task):
    """Bring the hand of the built-in `arm` to the ball; actions are targets of the servos."""

    frame_skip = 10
    max_episode_steps = 100
    unit_actions = True
    keep = ("site_xpos",)
    memory: ClassVar[Mapping[str, int]] = {"last": 6}

    def load(self) -> Model:
        model = loads((files("dovetail") / "models" / "arm.xml").read_text().replace("</worldbody>", BALL))
        self.grip = model.site("grip").id
        return model

    def start(self, w: Worlds) -> None:
        qpos = np.tile(w.model.qpos0, (len(w), 1))
        qpos[:, :4] += w.uniform(-0.3, 0.3, 4)
        w.qpos, w.ctrl = qpos, np.pad(qpos[:, :4], ((0, 0), (0, 2)))
        azimuth, height, radius = w.uniform([-2.5, -0.2, 0.35], [2.5, 0.9, 0.70]).T
        away = np.stack((np.cos(azimuth) * np.cos(height), np.sin(azimuth) * np.cos(height), np.sin(height)))
        w.mocap_pos = (SHOULDER + radius[:, None] * away.T)[:, None]

    def offset(self, w: Worlds) -> Array:
        """From the hand to the ball."""
        return np.asarray(w.mocap_pos[:, 0] - w.site_xpos[:, self.grip])

    def observe(self, w: Worlds) -> Array:
        hinges = w.qpos[:, :4]
        parts = [np.sin(hinges), np.cos(hinges), 0.1 * w.qvel, w.mocap_pos[:, 0], self.offset(w)]
        return np.concatenate(parts, axis=1)

    def reward(self, w: Worlds, action: Array) -> Array:
        away = np.linalg.norm(self.offset(w), axis=1)
        jerk = np.square(action - w.last).sum(axis=1)
        w.last = action
        return np.exp(-5.0 * away) + (away < 0.05) - 0.02 * jerk

    def info(self, w: Worlds) -> dict[str, Array]:
        away = np.linalg.norm(self.offset(w), axis=1)
        return {"distance": away, "reached": away < 0.05}

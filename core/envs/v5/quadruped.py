"""Ant: four legs, contact forces among what it sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.envs.checks import with_checked_arguments
from dovetail.envs.task import Outcome
from dovetail.envs.v5.common import GymnasiumTask, flat, norm, squares
from dovetail.envs.worlds import Worlds


class Ant(GymnasiumTask):
    """Walk along x."""

    keep = ("xpos", "cfrc_ext")
    unknown_after_reset = ("cfrc_ext",)  # Gymnasium computes it after steps only
    memory: ClassVar[Mapping[str, int]] = {"place": 2}

    @with_checked_arguments
    def __init__(
        self,
        xml_file: str = "ant.xml",
        frame_skip: int = 5,
        default_camera_config: Mapping[str, Any] | None = {"distance": 4.0},
        forward_reward_weight: float = 1,
        ctrl_cost_weight: float = 0.5,
        contact_cost_weight: float = 5e-4,
        healthy_reward: float = 1.0,
        main_body: int | str = 1,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: tuple[float, float] = (0.2, 1.0),
        contact_force_range: tuple[float, float] = (-1.0, 1.0),
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
    ) -> None:
        super().__init__(xml_file, frame_skip, default_camera_config)
        self._forward, self._ctrl, self._contact = (
            forward_reward_weight,
            ctrl_cost_weight,
            contact_cost_weight,
        )
        self._healthy, self._main = healthy_reward, main_body
        self._terminates, self._heights, self._forces = (
            terminate_when_unhealthy,
            healthy_z_range,
            contact_force_range,
        )
        self._noise = reset_noise_scale
        self._skip = 2 if exclude_current_positions_from_observation else 0
        self._sees_forces = include_cfrc_ext_in_observation

    def load(self) -> Model:
        model = super().load()
        self._body = int(model.body(self._main).id)
        return model

    def start(self, w: Worlds) -> None:
        self.start_near(w, self._noise, normal=True)

    def settled(self, w: Worlds) -> None:
        w.place = w.xpos[:, self._body, :2]

    def forces(self, w: Worlds) -> Array:
        """Forces on bodies, limited."""
        return np.clip(w.cfrc_ext, *self._forces)

    def observe(self, w: Worlds) -> Array:
        parts = [w.qpos[:, self._skip :], w.qvel]
        if self._sees_forces:
            parts.append(flat(self.forces(w), 1))
        return np.concatenate(parts, axis=1)

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        place = w.xpos[:, self._body, :2]
        velocity = (place - w.place) / self.dt
        w.place = place
        height, finite = w.qpos[:, 2], np.isfinite(w.qpos).all(axis=1) & np.isfinite(w.qvel).all(axis=1)
        healthy = finite & (self._heights[0] <= height) & (height <= self._heights[1])
        forward, survive = velocity[:, 0] * self._forward, healthy * self._healthy
        ctrl, contact = self._ctrl * squares(action), self._contact * squares(self.forces(w))
        info = self.start_info(w) | {
            "x_velocity": velocity[:, 0],
            "y_velocity": velocity[:, 1],
            "reward_forward": forward,
            "reward_ctrl": -ctrl,
            "reward_contact": -contact,
            "reward_survive": survive,
        }
        return self.observe(w), forward + survive - (ctrl + contact), ~healthy & self._terminates, info

    def start_info(self, w: Worlds) -> dict[str, Array]:
        place = w.qpos[:, :2]
        return {"x_position": place[:, 0], "y_position": place[:, 1], "distance_from_origin": norm(place)}

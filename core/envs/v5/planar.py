"""HalfCheetah, Hopper, Walker2d and Swimmer: their first coordinates are where they are, and going is rewarded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.envs.checks import with_checked_arguments
from dovetail.envs.task import Outcome
from dovetail.envs.v5.common import GymnasiumTask, norm, squares
from dovetail.envs.worlds import Worlds

FASTEST = 10.0
"""Hopper and Walker2d see no velocity beyond this."""


class _Planar(GymnasiumTask):
    """Forward reward, cost of controls, position left out of the observation."""

    skipped = 1
    """Coordinates that tell the position."""
    normal_start = False
    memory: ClassVar[Mapping[str, int]] = {"place": 1}

    def _say(
        self, forward_reward_weight: float, ctrl_cost_weight: float, reset_noise_scale: float, exclude: bool
    ) -> None:
        self._forward, self._ctrl = forward_reward_weight, ctrl_cost_weight
        self._noise, self._skip = reset_noise_scale, self.skipped if exclude else 0

    def start(self, w: Worlds) -> None:
        self.start_near(w, self._noise, normal=self.normal_start)

    def settled(self, w: Worlds) -> None:
        w.place = w.qpos[:, : self.skipped]

    def observe(self, w: Worlds) -> Array:
        return np.concatenate((w.qpos[:, self._skip :], w.qvel), axis=1)

    def moved(self, w: Worlds) -> Array:
        """Mean velocity during the step; where the worlds are now is remembered."""
        now = w.qpos[:, : self.skipped]
        velocity = (now - w.place) / self.dt
        w.place = now
        return velocity


class HalfCheetah(_Planar):
    """Run."""

    normal_start = True

    @with_checked_arguments
    def __init__(
        self,
        xml_file: str = "half_cheetah.xml",
        frame_skip: int = 5,
        default_camera_config: Mapping[str, Any] | None = {"distance": 4.0},
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.1,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
    ) -> None:
        super().__init__(xml_file, frame_skip, default_camera_config)
        self._say(
            forward_reward_weight,
            ctrl_cost_weight,
            reset_noise_scale,
            exclude_current_positions_from_observation,
        )

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        x_velocity = self.moved(w)[:, 0]
        forward, ctrl = self._forward * x_velocity, self._ctrl * squares(action)
        info = {
            "x_position": w.qpos[:, 0],
            "x_velocity": x_velocity,
            "reward_forward": forward,
            "reward_ctrl": -ctrl,
        }
        return self.observe(w), forward - ctrl, np.zeros(len(w), bool), info

    def start_info(self, w: Worlds) -> dict[str, Array]:
        return {"x_position": w.qpos[:, 0]}


class Swimmer(_Planar):
    """Swim."""

    skipped = 2
    memory: ClassVar[Mapping[str, int]] = {"place": 2}

    @with_checked_arguments
    def __init__(
        self,
        xml_file: str = "swimmer.xml",
        frame_skip: int = 4,
        default_camera_config: Mapping[str, Any] | None = None,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 1e-4,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
    ) -> None:
        super().__init__(xml_file, frame_skip, default_camera_config)
        self._say(
            forward_reward_weight,
            ctrl_cost_weight,
            reset_noise_scale,
            exclude_current_positions_from_observation,
        )

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        velocity = self.moved(w)
        forward, ctrl = self._forward * velocity[:, 0], self._ctrl * squares(action)
        info = self.start_info(w) | {
            "x_velocity": velocity[:, 0],
            "y_velocity": velocity[:, 1],
            "reward_forward": forward,
            "reward_ctrl": -ctrl,
        }
        return self.observe(w), forward - ctrl, np.zeros(len(w), bool), info

    def start_info(self, w: Worlds) -> dict[str, Array]:
        place = w.qpos[:, :2]
        return {"x_position": place[:, 0], "y_position": place[:, 1], "distance_from_origin": norm(place)}


class _Upright(_Planar):
    """Also rewarded for staying upright, and over when it does not."""

    def observe(self, w: Worlds) -> Array:
        return np.concatenate((w.qpos[:, self._skip :], np.clip(w.qvel, -FASTEST, FASTEST)), axis=1)

    def _stay(
        self,
        healthy_reward: float,
        terminate_when_unhealthy: bool,
        healthy_z_range: tuple[float, float],
        healthy_angle_range: tuple[float, float],
    ) -> None:
        self._healthy, self._terminates = healthy_reward, terminate_when_unhealthy
        self._ranges = np.array((healthy_z_range, healthy_angle_range)).T

    def healthy(self, w: Worlds) -> Array:
        """Whether height and angle are in their ranges."""
        pose, (low, high) = w.qpos[:, 1:3], self._ranges
        return ((low < pose) & (pose < high)).all(axis=1)

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        x_velocity, healthy = self.moved(w)[:, 0], self.healthy(w)
        forward, ctrl = self._forward * x_velocity, self._ctrl * squares(action)
        survive = healthy * self._healthy
        info = self.start_info(w) | {
            "x_velocity": x_velocity,
            "reward_forward": forward,
            "reward_ctrl": -ctrl,
            "reward_survive": survive,
        }
        return self.observe(w), forward + survive - ctrl, ~healthy & self._terminates, info

    def start_info(self, w: Worlds) -> dict[str, Array]:
        return {"x_position": w.qpos[:, 0], "z_distance_from_origin": w.qpos[:, 1] - self.init_qpos[1]}


def _camera(distance: float) -> dict[str, Any]:
    return {"trackbodyid": 2, "distance": distance, "lookat": (0.0, 0.0, 1.15), "elevation": -20.0}


class Hopper(_Upright):
    """Hop on one leg."""

    @with_checked_arguments
    def __init__(
        self,
        xml_file: str = "hopper.xml",
        frame_skip: int = 4,
        default_camera_config: Mapping[str, Any] | None = _camera(3.0),
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 1e-3,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_state_range: tuple[float, float] = (-100.0, 100.0),
        healthy_z_range: tuple[float, float] = (0.7, float("inf")),
        healthy_angle_range: tuple[float, float] = (-0.2, 0.2),
        reset_noise_scale: float = 5e-3,
        exclude_current_positions_from_observation: bool = True,
    ) -> None:
        super().__init__(xml_file, frame_skip, default_camera_config)
        self._say(
            forward_reward_weight,
            ctrl_cost_weight,
            reset_noise_scale,
            exclude_current_positions_from_observation,
        )
        self._stay(healthy_reward, terminate_when_unhealthy, healthy_z_range, healthy_angle_range)
        self._states = healthy_state_range

    def healthy(self, w: Worlds) -> Array:
        low, high = self._states
        state = np.concatenate((w.qpos[:, 2:], w.qvel), axis=1)
        return super().healthy(w) & ((low < state) & (state < high)).all(axis=1)


class Walker2d(_Upright):
    """Walk on two legs."""

    @with_checked_arguments
    def __init__(
        self,
        xml_file: str = "walker2d_v5.xml",
        frame_skip: int = 4,
        default_camera_config: Mapping[str, Any] | None = _camera(4.0),
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 1e-3,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: tuple[float, float] = (0.8, 2.0),
        healthy_angle_range: tuple[float, float] = (-1.0, 1.0),
        reset_noise_scale: float = 5e-3,
        exclude_current_positions_from_observation: bool = True,
    ) -> None:
        super().__init__(xml_file, frame_skip, default_camera_config)
        self._say(
            forward_reward_weight,
            ctrl_cost_weight,
            reset_noise_scale,
            exclude_current_positions_from_observation,
        )
        self._stay(healthy_reward, terminate_when_unhealthy, healthy_z_range, healthy_angle_range)

"""Humanoid and HumanoidStandup: inertias, velocities and forces of all bodies among what they see."""

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

ROOT_DOFS = 6
"""Of the free joint, on which no actuator acts."""


class _Humanoid(GymnasiumTask):
    unknown_after_reset = ("cfrc_ext",)  # Gymnasium computes it after steps only

    def _see(self, noise: float, exclude: bool, **seen: bool) -> None:
        self._noise, self._skip, self._seen = noise, 2 if exclude else 0, seen
        self.keep = ("cinert", "cvel", "qfrc_actuator", "cfrc_ext", "xipos", "ten_length", "ten_velocity")

    def start(self, w: Worlds) -> None:
        self.start_near(w, self._noise)

    def observe(self, w: Worlds) -> Array:
        parts = [w.qpos[:, self._skip :], w.qvel]
        for name, skip in (("cinert", 1), ("cvel", 1), ("qfrc_actuator", ROOT_DOFS), ("cfrc_ext", 1)):
            if self._seen[name]:
                parts.append(flat(getattr(w, name), skip))
        return np.concatenate(parts, axis=1)

    def tendons(self, w: Worlds) -> dict[str, Array]:
        """What infos tell of tendons."""
        return {"tendon_length": w.ten_length, "tendon_velocity": w.ten_velocity}


def _camera(height: float) -> dict[str, Any]:
    return {"trackbodyid": 1, "distance": 4.0, "lookat": (0.0, 0.0, height), "elevation": -20.0}


class Humanoid(_Humanoid):
    """Walk along x without falling."""

    memory: ClassVar[Mapping[str, int]] = {"place": 2}

    @with_checked_arguments
    def __init__(
        self,
        xml_file: str = "humanoid.xml",
        frame_skip: int = 5,
        default_camera_config: Mapping[str, Any] | None = _camera(2.0),
        forward_reward_weight: float = 1.25,
        ctrl_cost_weight: float = 0.1,
        contact_cost_weight: float = 5e-7,
        contact_cost_range: tuple[float, float] = (-np.inf, 10.0),
        healthy_reward: float = 5.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: tuple[float, float] = (1.0, 2.0),
        reset_noise_scale: float = 1e-2,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
    ) -> None:
        super().__init__(xml_file, frame_skip, default_camera_config)
        self._forward, self._ctrl, self._contact = (
            forward_reward_weight,
            ctrl_cost_weight,
            contact_cost_weight,
        )
        self._contact_range, self._healthy = contact_cost_range, healthy_reward
        self._terminates, self._heights = terminate_when_unhealthy, healthy_z_range
        self._see(
            reset_noise_scale,
            exclude_current_positions_from_observation,
            cinert=include_cinert_in_observation,
            cvel=include_cvel_in_observation,
            qfrc_actuator=include_qfrc_actuator_in_observation,
            cfrc_ext=include_cfrc_ext_in_observation,
        )

    def load(self) -> Model:
        model = super().load()
        self._mass = np.array(model.body_mass)
        return model

    def centre(self, w: Worlds) -> Array:
        """The centre of mass, x and y."""
        return np.einsum("b,nbj->nj", self._mass, w.xipos[:, :, :2]) / self._mass.sum()

    def settled(self, w: Worlds) -> None:
        w.place = self.centre(w)

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        place, height = self.centre(w), w.qpos[:, 2]
        velocity = (place - w.place) / self.dt
        w.place = place
        healthy = (self._heights[0] < height) & (height < self._heights[1])
        forward, survive = self._forward * velocity[:, 0], healthy * self._healthy
        ctrl = self._ctrl * squares(w.ctrl)
        contact = np.clip(self._contact * squares(w.cfrc_ext), *self._contact_range)
        info = self.start_info(w) | {
            "x_velocity": velocity[:, 0],
            "y_velocity": velocity[:, 1],
            "reward_survive": survive,
            "reward_forward": forward,
            "reward_ctrl": -ctrl,
            "reward_contact": -contact,
        }
        return self.observe(w), forward + survive - (ctrl + contact), ~healthy & self._terminates, info

    def start_info(self, w: Worlds) -> dict[str, Array]:
        place = w.qpos[:, :2]
        return {
            "x_position": place[:, 0],
            "y_position": place[:, 1],
            **self.tendons(w),
            "distance_from_origin": norm(place),
        }


class HumanoidStandup(_Humanoid):
    """Get up from lying."""

    @with_checked_arguments
    def __init__(
        self,
        xml_file: str = "humanoidstandup.xml",
        frame_skip: int = 5,
        default_camera_config: Mapping[str, Any] | None = _camera(0.8925),
        uph_cost_weight: float = 1,
        ctrl_cost_weight: float = 0.1,
        impact_cost_weight: float = 0.5e-6,
        impact_cost_range: tuple[float, float] = (-np.inf, 10.0),
        reset_noise_scale: float = 1e-2,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
    ) -> None:
        super().__init__(xml_file, frame_skip, default_camera_config)
        self.uph_cost_weight = uph_cost_weight  # Gymnasium takes it, and does not use it either
        self._ctrl, self._impact, self._impact_range = ctrl_cost_weight, impact_cost_weight, impact_cost_range
        self._see(
            reset_noise_scale,
            exclude_current_positions_from_observation,
            cinert=include_cinert_in_observation,
            cvel=include_cvel_in_observation,
            qfrc_actuator=include_qfrc_actuator_in_observation,
            cfrc_ext=include_cfrc_ext_in_observation,
        )

    def load(self) -> Model:
        model = super().load()
        self._timestep = float(model.opt.timestep)
        return model

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        up, ctrl = w.qpos[:, 2] / self._timestep, self._ctrl * squares(w.ctrl)
        impact = np.clip(self._impact * squares(w.cfrc_ext), *self._impact_range)
        info = self.start_info(w) | {"reward_linup": up, "reward_quadctrl": -ctrl, "reward_impact": -impact}
        return self.observe(w), up - ctrl - impact + 1, np.zeros(len(w), bool), info

    def start_info(self, w: Worlds) -> dict[str, Array]:
        return {
            "x_position": w.qpos[:, 0],
            "y_position": w.qpos[:, 1],
            "z_distance_from_origin": w.qpos[:, 2] - self.init_qpos[2],
            **self.tendons(w),
        }

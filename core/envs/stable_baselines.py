"""Vector environments as Stable-Baselines3 wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv

from dovetail.contracts.fields import Array
from dovetail.errors import ArgumentError


class StableBaselinesVecEnv(VecEnv):
    """A vector environment of dovetail's, in the mode SAME_STEP, for `PPO(policy, StableBaselinesVecEnv(env))`."""

    def __init__(self, env: Any) -> None:
        if env.metadata.get("autoreset_mode") != AutoresetMode.SAME_STEP:
            raise ArgumentError(
                "Stable-Baselines3 starts episodes in the step that ends the last one: make the environment with "
                'autoreset_mode="SameStep"'
            )
        self.env = env
        self.render_mode = env.render_mode
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self._actions: Array | None = None

    def reset(self) -> Array:
        """Begin everywhere; `seed` was told before, if at all."""
        seeds = None if all(seed is None for seed in self._seeds) else list(self._seeds)
        observation, _ = self.env.reset(seed=seeds)
        self._reset_seeds()
        self._reset_options()
        return np.asarray(observation)

    def step_async(self, actions: Array) -> None:
        """Say what to do."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Do it."""
        observation, reward, terminated, truncated, info = self.env.step(self._actions)
        done = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(done):
            infos[row]["terminal_observation"] = info["final_obs"][row]
            infos[row]["TimeLimit.truncated"] = bool(truncated[row] and not terminated[row])
        return observation, reward.astype(np.float32), done, infos

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute, once for each chosen environment."""
        return [self.env.call(attr_name)[0]] * len(self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the task, of all environments."""
        if len(self._chosen(indices)) != self.num_envs:
            raise ArgumentError(f"{attr_name} is the same for all environments: leave indices out")
        setattr(self.env.task, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """What a method gives, once for each chosen environment."""
        return [self.env.call(method_name, *args, **kwargs)[0]] * len(self._chosen(indices))

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Nothing is."""
        return [False] * len(self._chosen(indices))

    def get_images(self) -> Sequence[Array]:
        """Pictures of all worlds."""
        return list(self.env.render() or ())

    def _chosen(self, indices: Any) -> list[int]:
        return list(self._get_indices(indices))

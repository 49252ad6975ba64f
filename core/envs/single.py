"""One environment by Gymnasium's interface: a batch of one world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.envs.checks import checked_limit, checked_options, checked_seed
from dovetail.envs.engine import Engine
from dovetail.envs.errors import ClosedEnvError, ResetNeededError
from dovetail.envs.pictures import Pictures, checked_render_mode, metadata_of
from dovetail.envs.task import Task
from dovetail.envs.vector import spaces_of


class DovetailEnv(gymnasium.Env[Array, Array]):
    """A task in one world. Time limits are Gymnasium's `TimeLimit`, which `gymnasium.make` adds, or the task's."""

    def __init__(
        self,
        task: Task,
        *,
        max_episode_steps: int | None = None,
        physics: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
        **picture: Any,
    ) -> None:
        self.render_mode, limit = checked_render_mode(render_mode), checked_limit(max_episode_steps)
        self.engine = Engine(task, 1, physics)
        self.task = task
        self.metadata = metadata_of(self.engine)
        self.action_space, self.observation_space = spaces_of(self.engine)
        self._limit = task.max_episode_steps if limit is None else limit
        self._elapsed = 0
        self._started = self._closed = False
        self._pictures = Pictures(self.engine, **picture)

    @property
    def sim(self) -> Any:
        """The Simulation, of one world in a batch."""
        return self.engine.sim

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode; `options` may give `qpos`, `qvel` and `act`."""
        self._check_open("reset")
        seed = checked_seed(seed)
        alone = {name: [value] for name, value in checked_options(options).items()}
        given = self.engine.given_state(alone, np.array([0]))
        super().reset(seed=seed)
        if self.engine.generators[0] is not self.np_random:
            self.engine.seed(0, self.np_random)
        observation, info = self.engine.restart(np.array([0]), given)
        self._elapsed, self._started = 0, True
        return observation[0], {name: value[0] for name, value in info.items()}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Advance the world by one step."""
        self._check_open("step")
        if not self._started:
            raise ResetNeededError("step before the first reset: call reset() first")
        checked = self.engine.checked_action(action, single=True)
        self._started = False  # until all went well
        observation, reward, terminated, info = self.engine.step(checked)
        self._elapsed += 1
        truncated = bool(self.engine.truncated(np.array([self._elapsed]), self._limit)[0])
        self._started = True
        return (
            np.array(observation[0]),
            reward[0],
            bool(terminated[0]),
            truncated,
            {name: value[0] for name, value in info.items()},
        )

    def get_state(self) -> dict[str, Any]:
        """Everything that the next step depends on; `set_state` goes on from it bit for bit."""
        return {**self.engine.state(), "elapsed": self._elapsed, "started": self._started}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `get_state` gave, of this environment or of one like it."""
        self._check_open("set_state")
        self.engine.take_state(state)
        self._np_random = self.engine.generators[0]
        self._elapsed, self._started = state["elapsed"], state["started"]

    def render(self) -> Any:
        """A picture, as `render_mode` says."""
        self._check_open("render")
        return None if self.render_mode is None else self._pictures.take(0, self.render_mode)

    def close(self) -> None:
        """Let go of what draws pictures."""
        self._closed = True
        self._pictures.close()

    def _check_open(self, what: str) -> None:
        if self._closed:
            raise ClosedEnvError(f"{what} of an environment that is closed: make a new one")

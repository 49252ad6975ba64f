"""What an environment is about: a model, how it starts, what is observed and rewarded, when it is over.

Everything is said of all worlds at once, as functions from arrays to arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.envs.errors import TaskError
from dovetail.envs.worlds import Worlds
from dovetail.errors import ArgumentError
from dovetail.loading import load, loads

Outcome = tuple[Array, Array, Array, dict[str, Array]]
"""Observation, reward, terminated, info."""


class Task:
    """Subclass it, name the model, write `observe` and `reward`; everything else has a default."""

    model: Any = None
    """A built-in model's name, a file, MJCF as text, or a Model."""
    frame_skip: int = 1
    """Steps of physics for one of the environment."""
    keep: tuple[str, ...] = ()
    """Data fields besides the state that the functions read."""
    per_world: tuple[str, ...] = ()
    """Model fields that every world has for itself; `start` sets them with `w.set_model`."""
    memory: ClassVar[Mapping[str, int | tuple[int, ...]]] = {}
    """Numbers that a task remembers of each world: name and width. Read and written as `w.name`; zero when an
    episode starts."""
    lasting: tuple[str, ...] = ()
    """Names of `memory` that stay as they are from one episode to the next, until the world is seeded anew."""
    max_episode_steps: int | None = None
    """After so many steps an episode is truncated."""
    unit_actions: bool = False
    """Whether actions go from -1 to 1 and are scaled to the actuators' ranges."""
    control_delay: int = 0
    """Steps of the environment between an action and its effect. The first ones have the `ctrl` of the start."""
    observation_noise: float | Array = 0.0
    """Standard deviation of normal noise on observations, one or one for each."""
    unknown_after_reset: tuple[str, ...] = ()
    """Kept fields that read zero until the first step."""
    default_camera_config: Mapping[str, Any] | None = None
    """Where pictures are taken from: distance, azimuth, elevation, lookat, trackbodyid."""

    def load(self) -> Model:
        """The model; called once."""
        if isinstance(self.model, Model):
            return self.model
        if self.model is None:
            raise ArgumentError(f"{type(self).__name__}.model is not set: name a model, a file or MJCF text")
        text = str(self.model)
        return loads(text) if text.lstrip().startswith("<") else load(self.model)

    # ---- how it goes

    def start(self, w: Worlds) -> None:
        """Put worlds that begin an episode where they shall begin; they stand at qpos0."""

    def settled(self, w: Worlds) -> None:
        """After worlds have started and everything that follows from their state was computed."""

    def controls(self, w: Worlds, action: Array) -> Array:
        """Controls for actions, (n, nu)."""
        return action

    def observe(self, w: Worlds) -> Array:
        """What the policy sees, (n, k)."""
        raise TaskError(f"{type(self).__name__} needs a function observe(self, w)")

    def reward(self, w: Worlds, action: Array) -> Array:
        """The reward of the step that ended here, (n,)."""
        raise TaskError(f"{type(self).__name__} needs a function reward(self, w, action)")

    def terminated(self, w: Worlds) -> Array:
        """Which worlds have come to an end that is no matter of time, (n,)."""
        return np.zeros(len(w), bool)

    def truncated(self, w: Worlds) -> Array:
        """Which worlds are cut off, (n,): they could go on, but shall not. Time limits are asked besides."""
        return np.zeros(len(w), bool)

    def info(self, w: Worlds) -> dict[str, Array]:
        """What else there is to know, by name, each (n, …)."""
        return {}

    def start_info(self, w: Worlds) -> dict[str, Array]:
        """The same of worlds that have just started."""
        return {}

    def outcome(self, w: Worlds, action: Array) -> Outcome:
        """Everything about a step; override it if observation and reward share work."""
        return self.observe(w), self.reward(w, action), self.terminated(w), self.info(w)

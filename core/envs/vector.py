"""Many environments as one, by Gymnasium's interface: all worlds are one batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from dovetail.contracts.fields import Array
from dovetail.envs.checks import checked_limit, checked_options, checked_seeds
from dovetail.envs.engine import Engine
from dovetail.envs.errors import ClosedEnvError, ResetNeededError
from dovetail.envs.pictures import Pictures, checked_render_mode, metadata_of
from dovetail.envs.task import Task
from dovetail.errors import ArgumentError, shown


class DovetailVectorEnv(VectorEnv[Array, Array, Array]):
    """A task in `num_envs` worlds.

    `autoreset_mode` is one of Gymnasium's three. `physics` are options of `dovetail.Simulation` (`threads`,
    `backend`, `precision`, `stages`, …). `reset(options={"reset_mask": mask})` resets some; `options` may also give
    `qpos`, `qvel` and `act` of those that are reset.
    """

    def __init__(
        self,
        task: Task,
        num_envs: int = 1,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        physics: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
        **picture: Any,
    ) -> None:
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            raise ArgumentError(
                f"autoreset_mode = {shown(autoreset_mode)} should be one of "
                f"{', '.join(m.value for m in AutoresetMode)}"
            ) from None
        self.render_mode, limit = checked_render_mode(render_mode), checked_limit(max_episode_steps)
        self.engine = Engine(task, num_envs, physics)
        self.num_envs = num_envs = self.engine.num_envs
        self.task = task
        self.metadata = {**metadata_of(self.engine), "autoreset_mode": self.autoreset_mode}
        self.max_episode_steps = task.max_episode_steps if limit is None else limit
        self.single_action_space, self.single_observation_space = spaces_of(self.engine)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._elapsed = np.zeros(num_envs, int)
        self._over = np.zeros(num_envs, bool)
        self._seeds: list[int | None] = [None] * num_envs
        self._ready = False
        self._pictures = Pictures(self.engine, **picture)

    @property
    def sim(self) -> Any:
        """The Simulation of all worlds."""
        return self.engine.sim

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:
        """The generators of the worlds."""
        return tuple(self.engine.generators)

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:
        """What they were seeded with."""
        return tuple(self._seeds)

    # ---- reset

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin episodes in all worlds, or where `options["reset_mask"]` says; world i is seeded with `seed` + i."""
        self._check_open("reset")
        seeds, given = checked_seeds(seed, self.num_envs), dict(checked_options(options))
        mask = self._mask(given.pop("reset_mask", None))
        rows = np.flatnonzero(mask)
        state = self.engine.given_state(given, rows, also=("reset_mask",))
        self._seed(seeds, rows)
        observation, info = self.engine.restart(rows, state)
        self._elapsed[rows], self._over[rows] = 0, False
        if not self._ready or len(rows) == self.num_envs:
            self._observation = np.zeros((self.num_envs, observation.shape[1]), observation.dtype)
        self._observation[rows] = observation
        self._ready = True
        return self._observation.copy(), self._infos(info, mask, rows)

    def _mask(self, mask: Any) -> Array:
        if mask is None:
            return np.ones(self.num_envs, bool)
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != bool:
            raise ArgumentError(
                f'options["reset_mask"] = {shown(mask)} should be a boolean array of shape ({self.num_envs},)'
            )
        if not mask.any():
            raise ArgumentError('options["reset_mask"] chooses no environment')
        if not self._ready and not mask.all():
            raise ResetNeededError("reset all environments before some of them")
        return mask

    def _seed(self, seeds: Sequence[int | None], rows: Array) -> None:
        for row in rows:
            wanted = seeds[row]
            if wanted is not None or not self._ready:
                generator, self._seeds[row] = seeding.np_random(wanted)
                self.engine.seed(int(row), generator)

    # ---- step

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Advance all worlds; what becomes of those that are over is said by `autoreset_mode`."""
        self._check_open("step")
        if not self._ready:
            raise ResetNeededError("step before the first reset: call reset() first")
        action = self.engine.checked_action(actions)
        over = self._over
        if self.autoreset_mode == AutoresetMode.DISABLED and over.any():
            which = np.flatnonzero(over)
            raise ResetNeededError(
                f"{len(which)} environment(s) are over, the first is {which[0]}: with autoreset disabled reset them, "
                'reset(options={"reset_mask": terminated | truncated}), before the next step'
            )
        self._ready = False  # until all went well
        undo = self.engine.set_aside(np.flatnonzero(over)) if over.any() else None
        try:
            observation, reward, terminated, step_info = self.engine.step(action)
        finally:
            if undo is not None:
                undo()
        self._elapsed += 1
        truncated = self.engine.truncated(self._elapsed, self.max_episode_steps)
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            result = self._same_step(observation, reward, terminated, truncated, step_info)
        elif over.any():
            result = self._next_step(over, observation, reward, terminated, truncated, step_info)
        else:
            result = observation, reward, terminated, truncated, self._all(step_info)
            self._over = terminated | truncated
        self._observation, self._ready = result[0], True
        return (result[0].copy(), *result[1:])

    def _next_step(
        self,
        over: Array,
        observation: Array,
        reward: Array,
        terminated: Array,
        truncated: Array,
        info: dict[str, Any],
    ) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Worlds that were over begin anew in place of the step."""
        rows = np.flatnonzero(over)
        first, start_info = self.engine.restart(rows)
        observation, reward = np.array(observation), np.array(reward)
        terminated, truncated = np.array(terminated), np.array(truncated)
        observation[rows], reward[rows], terminated[rows], truncated[rows] = first, 0.0, False, False
        self._elapsed[rows] = 0
        self._over = terminated | truncated
        return observation, reward, terminated, truncated, self._merged(info, ~over, start_info, over, rows)

    def _same_step(
        self, observation: Array, reward: Array, terminated: Array, truncated: Array, info: dict[str, Any]
    ) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Worlds that are over begin anew at once; their last observation goes into the info."""
        over = terminated | truncated
        if not over.any():
            return observation, reward, terminated, truncated, self._all(info)
        rows = np.flatnonzero(over)
        last = np.full(self.num_envs, None, object)
        for row in rows:
            last[row] = observation[row].copy()
        final = self._infos({name: np.asarray(value)[rows] for name, value in info.items()}, over, rows)
        first, start_info = self.engine.restart(rows)
        observation = np.array(observation)
        observation[rows] = first
        self._elapsed[rows] = 0
        merged = self._merged(info, ~over, start_info, over, rows)
        merged |= {"final_obs": last, "_final_obs": over, "final_info": final, "_final_info": over.copy()}
        return observation, reward, terminated, truncated, merged

    # ---- infos, as Gymnasium arranges them

    def _all(self, info: dict[str, Any]) -> dict[str, Any]:
        """Infos that all environments have."""
        result: dict[str, Any] = {}
        for name, value in info.items():
            result[name], result[f"_{name}"] = value, np.ones(self.num_envs, bool)
        return result

    def _infos(self, info: dict[str, Array], mask: Array, rows: Array) -> dict[str, Any]:
        """Infos of some environments, zero elsewhere."""
        result: dict[str, Any] = {}
        for name, value in info.items():
            values = np.zeros((self.num_envs, *value.shape[1:]), value.dtype)
            values[rows] = value
            result[name], result[f"_{name}"] = values, mask.copy()
        return result

    def _merged(
        self, info: dict[str, Any], stepped: Array, start: dict[str, Array], started: Array, rows: Array
    ) -> dict[str, Any]:
        """Infos of the environments that stepped, with those of the ones that started."""
        result: dict[str, Any] = {}
        for name, value in info.items() if stepped.any() else ():
            values = np.array(value)
            values[rows] = start.get(name, 0)
            result[name] = values
            result[f"_{name}"] = np.ones(self.num_envs, bool) if name in start else stepped.copy()
        more = {name: value for name, value in start.items() if name not in result}
        return result | self._infos(more, started, rows)

    # ---- states, pictures, the end

    def get_state(self) -> dict[str, Any]:
        """Everything that the next step depends on; `set_state` goes on from it bit for bit."""
        return {
            **self.engine.state(),
            "elapsed": self._elapsed.copy(),
            "over": self._over.copy(),
            "seeds": list(self._seeds),
            "observation": self._observation.copy() if self._ready else None,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `get_state` gave, of this environment or of one like it."""
        self._check_open("set_state")
        self.engine.take_state(state)
        self._elapsed, self._over = state["elapsed"].copy(), state["over"].copy()
        self._seeds = list(state["seeds"])
        self._ready = state["observation"] is not None
        if self._ready:
            self._observation = state["observation"].copy()

    def render(self) -> tuple[Any, ...] | None:
        """A picture of each world."""
        self._check_open("render")
        if self.render_mode is None:
            return None
        return tuple(self._pictures.take(world, self.render_mode) for world in range(self.num_envs))

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """An attribute of the task for each environment, or what calling it gives."""
        value = getattr(self if hasattr(self, name) else self.task, name)
        value = value(*args, **kwargs) if callable(value) else value
        return (value,) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """The same as `call` without arguments."""
        return self.call(name)

    def close_extras(self, **kwargs: Any) -> None:
        """Let go of what draws pictures."""
        if hasattr(self, "_pictures"):  # not if making it failed
            self._pictures.close()

    def _check_open(self, what: str) -> None:
        if self.closed:
            raise ClosedEnvError(f"{what} of an environment that is closed: make a new one")


def spaces_of(engine: Engine) -> tuple[Box, Box]:
    """Spaces of one environment's actions and observations."""
    low, high = np.array(engine.model.actuator_ctrlrange, np.float32).T
    unlimited = ~np.array(engine.model.actuator_ctrllimited, bool) & (low == high)
    low, high = np.where(unlimited, -np.inf, low), np.where(unlimited, np.inf, high)
    if engine.task.unit_actions:
        if unlimited.any():
            name = engine.model.actuator(int(np.flatnonzero(unlimited)[0])).name
            raise ArgumentError(f"unit_actions: actuator {name!r} has no ctrlrange to scale to")
        low, high = -np.ones_like(low), np.ones_like(high)
    like = engine.observation_like
    return (
        Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32),
        Box(-np.inf, np.inf, like.shape, like.dtype.type),
    )

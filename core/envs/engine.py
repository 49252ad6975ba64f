"""Many worlds of one task: physics, starting over, random numbers, and what makes actions into controls.

Worlds that start over do so in a small batch beside the others, the nursery: there their start is evaluated as
`mj_forward` does it, then all their numbers move into the large batch. So it costs what it takes for those worlds,
and no other world is touched.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dovetail.arguments import controls_misfit, texts_by_name, whole
from dovetail.contracts.fields import GROWING, Array
from dovetail.envs.checks import checked_task
from dovetail.envs.errors import BadActionError, TaskError
from dovetail.envs.task import Outcome, Task
from dovetail.envs.worlds import Worlds
from dovetail.errors import ArgumentError, DovetailError
from dovetail.simulation import Simulation

NOISE_AHEAD = 64
"""Steps for which noise is drawn at once."""
NURSERIES = (1, 8)
"""How many tiles of worlds start over at once: a few worlds are quickest in a small nursery, many in a large one."""


class Engine:
    """The worlds of an environment."""

    def __init__(self, task: Task, num_envs: int, physics: Mapping[str, Any] | None = None) -> None:
        self.task = task = checked_task(task)
        self.num_envs = num_envs = whole("num_envs", num_envs, 1, "WORLDS")
        physics = {} if physics is None else texts_by_name("physics", physics)
        taken = sorted({"nworld", "keep", "per_world"} & set(physics))
        if taken:
            raise ArgumentError(f"physics names {', '.join(taken)}: the task and num_envs say that")
        self.model = task.load()
        options = {"keep": task.keep or "state", "per_world": task.per_world, **physics}
        self.sim = Simulation(self.model, nworld=num_envs, **options)
        self._options = {**options, "threads": 1}
        self._nurseries: dict[int, Simulation] = {}
        self.memory = {name: np.zeros((num_envs, *_shape(width))) for name, width in task.memory.items()}
        self.generators: list[np.random.Generator] = [np.random.default_rng() for _ in range(num_envs)]
        self._unused = np.random.default_rng(0)
        self.worlds = Worlds(self.sim, num_envs, self.memory, slice(None), self.generators)
        self._ctrl_range = np.array(self.model.actuator_ctrlrange, float)
        self._delayed = np.zeros((task.control_delay, num_envs, self.model.nu))
        self._freezes = self.sim.plan.bad_states.policy == "freeze"
        self._noise: Array | None = None
        self._noise_used = np.full(num_envs, NOISE_AHEAD)
        self.observation_like = self._first_observation()

    def _first_observation(self) -> Array:
        """What an observation of one world looks like, found by making one."""
        state = self.state()
        self.generators[0] = np.random.default_rng(0)
        observation, _ = self.restart(np.array([0]))
        self.take_state(state)
        return observation[0]

    # ---- starting

    def seed(self, world: int, generator: np.random.Generator) -> None:
        """Draw everything random of a world from this, beginning now: nothing of before lasts."""
        self.generators[world] = generator
        self._noise_used[world] = NOISE_AHEAD
        for name in self.task.lasting:
            self.memory[name][world] = 0.0

    def given_state(
        self, options: Mapping[str, Any], rows: Array, also: Sequence[str] = ()
    ) -> dict[str, Array] | None:
        """Options of a reset, checked: fields of the state, a row for each world or for each of `rows`. `also`: what
        else messages say there is."""
        model = self.model
        widths = {"qpos": model.nq, "qvel": model.nv, "act": model.na}
        state = {}
        for name, value in options.items():
            if name not in widths:
                raise ArgumentError(f"reset has no option {name!r}; there are {', '.join((*also, *widths))}")
            try:
                array = np.asarray(value)
                if array.dtype.kind == "c":
                    raise TypeError("it has complex numbers")
                array = array.astype(float)
            except (ValueError, TypeError) as problem:
                raise ArgumentError(f'options["{name}"] is no array of numbers: {problem}') from None
            if array.shape == (self.num_envs, widths[name]):
                array = array[rows]
            if array.shape != (len(rows), widths[name]):
                raise ArgumentError(
                    f'options["{name}"] has shape {array.shape}; it should be ({self.num_envs}, {widths[name]}): '
                    "an environment a row"
                )
            state[name] = array
        return state or None

    def restart(
        self, rows: Array, given: Mapping[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        """Begin an episode in chosen worlds: their first observations and infos. `given`: state fields of these
        worlds in place of what the task draws."""
        observations, infos = [], []
        nursery = self._nursery(len(rows))
        step = len(nursery.data.qpos)
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            part = None if given is None else {k: v[first : first + step] for k, v in given.items()}
            observation, info = self._restart(nursery, some, part)
            observations.append(observation)
            infos.append(info)
        self.worlds.forget()
        return np.concatenate(observations), {
            k: np.concatenate([info[k] for info in infos]) for k in infos[0]
        }

    def _nursery(self, count: int) -> Simulation:
        """The smallest one with room for so many worlds, or the largest."""
        tile = self.sim.data.arena.lanes
        sizes = sorted({min(self.num_envs, tiles * tile) for tiles in NURSERIES})
        size = next((size for size in sizes if size >= count), sizes[-1])
        if size not in self._nurseries:
            self._nurseries[size] = Simulation(self.model, nworld=size, **self._options)
        return self._nurseries[size]

    def _restart(
        self, nursery: Simulation, rows: Array, given: Mapping[str, Array] | None
    ) -> tuple[Array, dict[str, Array]]:
        task, beside = self.task, np.arange(len(rows))
        if task.per_world:
            nursery.data.copy_worlds(beside, self.sim.data, rows)
        nursery.reset()
        w = Worlds(nursery, len(rows), self.memory, rows, [self.generators[row] for row in rows])
        for name in set(task.memory) - set(task.lasting):
            self.memory[name][rows] = 0.0
        self._call("start", task.start, w)
        self._delayed[:, rows] = w.ctrl
        for name, value in (given or {}).items():
            setattr(w, name, value)
        if w._constants:
            nursery.set_constants(worlds=sorted(w._constants))
        nursery.forward()
        for name in task.unknown_after_reset:
            setattr(w, name, 0.0)
        w.forget()
        self._call("settled", task.settled, w)
        observation = self._observed(self._call("observe", task.observe, w), len(rows))
        info = self._call("start_info", task.start_info, w)
        self.sim.data.copy_worlds(rows, nursery.data, beside)
        return self._noisy(observation, rows), info

    # ---- stepping

    def checked_action(self, action: Any, single: bool = False) -> Array:
        """Actions as an array (num_envs, nu); an error that says what is wrong otherwise."""
        shape = (self.num_envs, self.model.nu)
        try:
            given = np.asarray(action)
        except (ValueError, TypeError) as problem:
            raise BadActionError(f"the action is no array of numbers: {problem}") from None
        if single:
            given = given[None]
        if given.dtype.kind not in "fiu":
            raise BadActionError(
                f"the action has dtype {given.dtype}; it should be numbers, as {np.dtype(np.float32)} of shape "
                f"{shape[1:] if single else shape}"
            )
        if given.shape != shape:
            wanted, got = (shape[1:], given.shape[1:]) if single else (shape, given.shape)
            raise BadActionError(
                f"the action has shape {got}; it should have {wanted}: "
                f"{'' if single else 'an environment a row, '}an actuator a column"
            )
        bad = np.isnan(given)
        if bad.any():
            where, which = (int(i) for i in np.argwhere(bad)[0])
            name = self.model.actuator(which).name or str(which)
            raise BadActionError(
                f"{'the action' if single else f'the action of environment {where}'} for actuator {name!r} is nan"
                f"{'' if bad.sum() == 1 else f', and {bad.sum() - 1} more are'}; nothing was stepped"
            )
        return given

    def step(self, action: Array) -> Outcome:
        """All worlds go on by one step of the environment."""
        task, w = self.task, self.worlds
        self.sim.data.ctrl = self._controls(action)
        before = np.array(self.sim.data.time) if self._freezes else None
        self.sim.step(task.frame_skip)
        w.forget()
        observation, reward, terminated, info = self._call("outcome", task.outcome, w, action)
        count = self.num_envs
        terminated = self._each("terminated", terminated, count, bool)
        if before is not None:
            broken = self._broken(before)
            terminated, info = terminated | broken, {**info, "broken": broken}
        return (
            self._noisy(self._observed(observation, count), slice(None)),
            self._each("reward", reward, count, float),
            terminated,
            info,
        )

    def _broken(self, before: Array) -> Array:
        """Worlds whose numbers went bad in a step: they were frozen, so their clocks stand."""
        own = "opt.timestep" in self.task.per_world
        period = np.asarray(self.sim.per_world["opt.timestep"]) if own else float(self.model.opt.timestep)
        return np.asarray(np.asarray(self.sim.data.time) < before + (self.task.frame_skip - 0.5) * period)

    def truncated(self, elapsed: Array, limit: int | None) -> Array:
        """Which worlds are cut off after that many steps, by the limit or by the task."""
        late = np.zeros(self.num_envs, bool) if limit is None else elapsed >= limit
        if type(self.task).truncated is Task.truncated and "truncated" not in vars(self.task):
            return late
        cut = self._call("truncated", self.task.truncated, self.worlds)
        return late | self._each("truncated", cut, self.num_envs, bool)

    def _controls(self, action: Array) -> Array:
        task = self.task
        if task.unit_actions:
            low, high = self._ctrl_range.T
            action = low + (np.asarray(action, float) + 1.0) * 0.5 * (high - low)
        ctrl = self._call("controls", task.controls, self.worlds, action)
        problem = controls_misfit(ctrl, self.num_envs, self.model.nu)
        if problem:
            raise TaskError(
                f"controls of the task {type(task).__name__} gave {problem}; it should be numbers "
                f"{(self.num_envs, self.model.nu)}, a world a row"
            )
        if not task.control_delay:
            return ctrl
        now = self._delayed[0].copy()
        self._delayed[:-1] = self._delayed[1:]
        self._delayed[-1] = ctrl
        return now

    def _noisy(self, observation: Array, rows: Any) -> Array:
        """With the task's noise; a world draws it from a generator of its own, some steps ahead."""
        if not np.any(self.task.observation_noise):
            return observation
        if np.shape(self.task.observation_noise) not in ((), (1,), observation.shape[1:]):
            raise TaskError(
                f"{type(self.task).__name__}.observation_noise has shape {np.shape(self.task.observation_noise)}; "
                f"it should be a number, or one for each of the {observation.shape[1]} that are observed"
            )
        if not isinstance(rows, slice):  # a start: noise of its own
            drawn = np.array([self.generators[row].standard_normal(observation.shape[1]) for row in rows])
            return observation + self.task.observation_noise * drawn
        shape = (NOISE_AHEAD, observation.shape[1])
        if self._noise is None:
            self._noise = np.zeros((self.num_envs, *shape))
        for row in np.flatnonzero(self._noise_used == NOISE_AHEAD):
            self._noise[row], self._noise_used[row] = self.generators[row].standard_normal(shape), 0
        drawn = self._noise[np.arange(self.num_envs), self._noise_used]
        self._noise_used += 1
        return observation + self.task.observation_noise * drawn

    def set_aside(self, rows: Array) -> Callable[[], None]:
        """Remember what a step of these worlds must not change, because it will not count; the answer undoes it."""
        own = [self.generators[row] for row in rows]
        used, lasting = self._noise_used[rows], {n: self.memory[n][rows] for n in self.task.lasting}
        noise = None if self._noise is None else self._noise[rows]
        for row in rows:
            self.generators[row] = self._unused

        def undo() -> None:
            for row, generator in zip(rows, own, strict=True):
                self.generators[row] = generator
            self._noise_used[rows] = used
            for name, values in lasting.items():
                self.memory[name][rows] = values
            if noise is not None and self._noise is not None:
                self._noise[rows] = noise

        return undo

    # ---- what tasks give

    def _call(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except DovetailError:
            raise
        except Exception as error:
            line = traceback.extract_tb(error.__traceback__)[-1]
            raise TaskError(
                f"{name} of the task {type(self.task).__name__} raised {type(error).__name__}: {error} "
                f"({line.filename}:{line.lineno}). Reset the environment before the next step"
            ) from error

    def _observed(self, observation: Any, count: int) -> Array:
        array = np.asarray(observation)
        if array.ndim != 2 or len(array) != count or array.dtype.kind not in "fiu":
            raise TaskError(
                f"observe of the task {type(self.task).__name__} gave shape {array.shape} of {array.dtype}; it "
                f"should be numbers ({count}, k), a world a row"
            )
        return array

    def _each(self, name: str, value: Any, count: int, kind: type) -> Array:
        array = np.asarray(value)
        if array.shape != (count,) or (kind is bool and array.dtype != bool):
            raise TaskError(
                f"{name} of the task {type(self.task).__name__} gave shape {array.shape} of {array.dtype}; it "
                f"should be ({count},) of {kind.__name__}"
            )
        return array.astype(kind, copy=False)

    # ---- to keep and to go on from

    def state(self) -> dict[str, Any]:
        """Everything that the next step depends on, as plain arrays and dictionaries."""
        arena = self.sim.data.arena
        return {
            "buffers": {name: buffer.copy() for name, buffer in _lasting(arena)},
            "memory": {name: values.copy() for name, values in self.memory.items()},
            "generators": [g.bit_generator.state for g in self.generators],
            "delayed": self._delayed.copy(),
            "noise": (None if self._noise is None else self._noise.copy(), self._noise_used.copy()),
        }

    def take_state(self, state: Mapping[str, Any]) -> None:
        """Go on from there, bit for bit."""
        arena = self.sim.data.arena
        shapes = {name: buffer.shape for name, buffer in _lasting(arena)}
        if {name: buffer.shape for name, buffer in state["buffers"].items()} != shapes:
            raise ArgumentError(f"the state is of other worlds than these: arrays should have {shapes}")
        arena.late.settle()
        for name, buffer in state["buffers"].items():
            arena.buffers[name][...] = buffer
        arena.resets.count += 1
        for name, values in state["memory"].items():
            self.memory[name][...] = values
        for number, inside in enumerate(state["generators"]):
            generator = np.random.default_rng(0)
            generator.bit_generator.state = inside
            self.generators[number] = generator
        self._delayed[...] = state["delayed"]
        noise, used = state["noise"]
        self._noise, self._noise_used = None if noise is None else noise.copy(), used.copy()
        self.worlds.forget()


def _lasting(arena: Any) -> list[tuple[str, Array]]:
    """The buffers of what does not grow; lists of contacts and rows are made anew in every step."""
    return [(name, buffer) for name, buffer in arena.buffers.items() if not name.endswith(GROWING)]


def _shape(width: int | Sequence[int]) -> tuple[int, ...]:
    return (width,) if isinstance(width, int) else tuple(width)

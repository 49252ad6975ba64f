"""A Gymnasium vector environment whose environments live on workers.

Every worker makes a vector environment of its share; to a learner they are one. Environment i is seeded with
`seed + i`, whatever the share. An environment that has `get_state()` and `set_state(state)` (a mapping of arrays with
all that the next step depends on, random generators included) is checkpointed: after the loss of a worker it is made
again, put into the last checkpoint, and given the actions since then, so that nobody notices. Others start anew after
a loss, and are reported as truncated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dovetail.arguments import whole
from dovetail.contracts.fields import Array
from dovetail.distributed import runtime
from dovetail.distributed.blocks import shares
from dovetail.distributed.errors import WorkerError
from dovetail.distributed.extra import require_gymnasium
from dovetail.distributed.pool import ATTEMPTS, PATIENCE
from dovetail.distributed.rolling import CHECKPOINT, FOREVER
from dovetail.distributed.worker import told
from dovetail.errors import ArgumentError, shown

require_gymnasium()

from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402  (imported when it is first used)
from gymnasium.vector.utils import batch_space  # noqa: E402

LOST = "worker_lost"
"""The key of `info` that says which environments had to start anew with their worker."""


class EnvironmentWorker:
    """The environments of one share. Answers are pairs of an error, as text or None, and a result."""

    def make(self, make: Sequence[Any], count: int, first: int) -> tuple[str | None, Any]:
        """Make the environments, also after a restart; their spaces and metadata."""

        def made() -> dict[str, Any]:
            import ray

            self._env = ray.get(make[0])(count, first)
            if self._env.num_envs != count:
                raise ArgumentError(f"make_env({count}, {first}) made {self._env.num_envs} environments")
            return {
                "observations": self._env.single_observation_space,
                "actions": self._env.single_action_space,
                "metadata": dict(self._env.metadata),
                "stateful": all(callable(getattr(self._env, n, None)) for n in ("get_state", "set_state")),
            }

        return _answer(made)

    def reset(self, seeds: list[int] | None, options: Mapping[str, Any] | None) -> tuple[str | None, Any]:
        return _answer(lambda: self._env.reset(seed=seeds, options=options))

    def step(self, actions: Any) -> tuple[str | None, Any]:
        return _answer(lambda: self._env.step(actions))

    def state(self) -> tuple[str | None, Any]:
        return _answer(self._env.get_state)

    def replay(self, state: Any, actions: Sequence[Any]) -> tuple[str | None, Any]:
        """Go to a checkpoint and do again what came after it."""

        def done() -> None:
            self._env.set_state(state)
            for action in actions:
                self._env.step(action)

        return _answer(done)

    def close(self) -> tuple[str | None, Any]:
        return _answer(self._env.close)


def _answer(call: Callable[[], Any]) -> tuple[str | None, Any]:
    try:
        return None, call()
    except Exception as problem:
        return told(problem), None


class VectorWorkers(VectorEnv):  # type: ignore[misc]
    """`num_envs` environments on workers, as one `gymnasium.vector.VectorEnv`.

    - `make_env(count, first)` makes a vector environment of so many, of which the first has this number. It is called
      on workers.
    - `workers`: how many; as many as Ray has processors if nobody says. `threads`: processors of each.
    - `checkpoint`: steps between two checkpoints, for environments with `get_state` and `set_state`.
    - `address`: of a Ray cluster.
    """

    def __init__(
        self,
        make_env: Callable[[int, int], Any],
        num_envs: int,
        *,
        workers: int | None = None,
        checkpoint: int = CHECKPOINT,
        threads: int = 1,
        address: str | None = None,
    ) -> None:
        if not callable(make_env):
            raise ArgumentError(f"make_env = {shown(make_env)} should be a function make_env(count, first)")
        self.num_envs = whole("num_envs", num_envs, 1, "WORLDS")
        count = None if workers is None else whole("workers", workers, 1, None, ", or None for all there are")
        self._interval = whole("checkpoint", checkpoint, 1)
        width = whole("threads", threads, 1)
        self._ray = runtime.connect(None if count is None else count * width, address=address)
        room = max(1, int(self._ray.cluster_resources().get("CPU", 1)) // width)
        self._shares = shares(self.num_envs, min(count or room, self.num_envs))
        self._make = runtime.sent(self._ray, make_env, [make_env])
        kind = self._ray.remote(EnvironmentWorker).options(
            num_cpus=width, max_restarts=FOREVER, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        self._actors = [kind.remote() for _ in self._shares]
        self.restarts = 0
        self.repeated_steps = 0
        self._checkpoints: list[Any] = [None] * len(self._shares)
        self._since: list[list[Any]] = [[] for _ in self._shares]
        self._fresh: dict[int, Any] = {}
        self._seed = 0
        self._last: Any = None
        self._describe()

    def _describe(self) -> None:
        """Make the environments, and take over what they say of themselves."""
        try:
            about = self._all(lambda number: self._made(number))[0]
        except BaseException:
            self._kill()
            raise
        self._stateful: bool = about["stateful"]
        self.metadata = about["metadata"]
        self._mode = self.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        self.single_observation_space, self.single_action_space = about["observations"], about["actions"]
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    # ---- Gymnasium's calls

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """All environments, or those of `options["reset_mask"]`; environment i has the seed `seed + i`."""
        seeds = _seeds(seed, self.num_envs)
        self._seed = seed if isinstance(seed, int) else self._seed
        self._fresh.clear()

        def call(number: int) -> Any:
            part = self._shares[number]
            mine = None if seeds is None else seeds[part.rows]
            chosen = {k: v[part.rows] if k == "reset_mask" else v for k, v in (options or {}).items()}
            return self._actors[number].reset.remote(mine, chosen or None)

        partly = bool(options) and "reset_mask" in (options or {})
        found = self._all(call, replay=partly)
        self._keep()
        self._last = joined([observation for observation, _ in found])
        return self._last, self._infos([info for _, info in found])

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """One step of all environments."""
        mine = [cut(actions, part.rows, self.num_envs) for part in self._shares]
        found = self._all(
            lambda number: self._stepped(number, mine[number]), replay=True, lost=self._began_anew
        )
        for number, done in enumerate(mine):
            self._since[number].append(done)
        if self._stateful and len(self._since[0]) >= self._interval:
            self._keep()
        elif not self._stateful:
            self._since = [[] for _ in self._shares]
        columns = list(zip(*found, strict=True))
        self._last = joined(columns[0])
        rewards, terminated, truncated = (np.concatenate(column) for column in columns[1:4])
        return self._last, rewards, terminated, truncated, self._infos(columns[4])

    def close_extras(self, **kwargs: Any) -> None:
        """Close the environments and end the workers."""
        if self._actors:
            self._ray.wait(
                [actor.close.remote() for actor in self._actors], num_returns=len(self._actors), timeout=10
            )
            self._kill()

    def _kill(self) -> None:
        for actor in self._actors:
            self._ray.kill(actor, no_restart=True)
        self._actors = []

    # ---- workers

    def _made(self, number: int) -> Any:
        part = self._shares[number]
        return self._actors[number].make.remote([self._make], part.count, part.first)

    def _stepped(self, number: int, actions: Any) -> Any:
        if number in self._fresh:
            return self._fresh.pop(number)
        return self._actors[number].step.remote(actions)

    def _keep(self) -> None:
        """A checkpoint of every share, kept here."""
        self._since = [[] for _ in self._shares]
        if self._stateful:
            self._checkpoints = self._all(lambda number: self._actors[number].state.remote(), replay=True)

    def _all(
        self, call: Callable[[int], Any], *, replay: bool = False, lost: Callable[[int], Any] | None = None
    ) -> list[Any]:
        """The results of a call on all workers at once; those that are lost are brought back, and asked again."""
        numbers = range(len(self._shares))
        asked: dict[int, Any] = {number: call(number) for number in numbers}
        return [self._answer(number, asked[number], call, replay, lost) for number in numbers]

    def _answer(
        self,
        number: int,
        answer: Any,
        call: Callable[[int], Any],
        replay: bool,
        lost: Callable[[int], Any] | None,
    ) -> Any:
        for attempt in range(ATTEMPTS):
            try:
                if attempt:
                    self._back(number, replay)
                    answer = call(number) if lost is None or self._stateful else lost(number)
                return self._value(number, answer)
            except self._ray.exceptions.RayActorError:
                self.restarts += 1
        self._kill()
        raise WorkerError(
            f"{self._name(number)}: {ATTEMPTS} workers were lost with them, one after the other"
        )

    def _value(self, number: int, answer: Any) -> Any:
        if not isinstance(answer, self._ray.ObjectRef):
            return answer  # there already
        problem, value = self._ray.get(answer)
        if problem is not None:
            self._kill()
            raise WorkerError(f"{self._name(number)}: {problem}")
        return value

    def _back(self, number: int, replay: bool = False) -> None:
        """Wait until Ray has restarted a worker, make its environments, and do again what they did since the last
        checkpoint."""
        errors = self._ray.exceptions
        while True:
            making = self._made(number)
            ready, _ = self._ray.wait([making], timeout=PATIENCE)
            if not ready:
                raise WorkerError(
                    f"{self._name(number)}: their worker was lost, and no other began in {PATIENCE:g} s"
                )
            try:
                self._value(number, making)
                break
            except errors.ActorUnavailableError:
                continue
        if replay and self._stateful and self._checkpoints[number] is not None:
            self._value(
                number, self._actors[number].replay.remote(self._checkpoints[number], self._since[number])
            )
            self.repeated_steps += len(self._since[number]) * self._shares[number].count

    def _began_anew(self, number: int) -> Any:
        """What a step gives for environments without checkpoints whose worker was lost: the end of their episodes."""
        part = self._shares[number]
        seeds = [
            int(np.random.default_rng([self._seed, int(i), self.restarts]).integers(1 << 31))
            for i in part.worlds
        ]
        first, info = self._value(number, self._actors[number].reset.remote(seeds, None))
        last = first if self._last is None else cut(self._last, part.rows, self.num_envs)
        yes, no, none = np.ones(part.count, bool), np.zeros(part.count, bool), np.zeros(part.count)
        if self._mode == AutoresetMode.SAME_STEP:
            return first, none, no, yes, {**info, "final_obs": last, "_final_obs": yes, LOST: yes}
        if self._mode == AutoresetMode.NEXT_STEP:
            self._fresh[number] = first, none, no, no, info
        return last, none, no, yes, {LOST: yes}

    def _name(self, number: int) -> str:
        part = self._shares[number]
        return f"environments {part.first} to {part.first + part.count - 1}"

    def _infos(self, infos: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return joined_infos(infos, [part.count for part in self._shares])


def _seeds(seed: Any, count: int) -> list[int] | None:
    if seed is None:
        return None
    if isinstance(seed, list | tuple | np.ndarray):
        if len(seed) != count:
            raise ArgumentError(f"seed has {len(seed)} entries; there are {count} environments")
        return list(seed)
    first = whole("seed", seed, 0)
    return [first + i for i in range(count)]


def cut(tree: Any, rows: slice, count: int) -> Any:
    """Some environments' part of actions or observations, which may be nested."""
    if isinstance(tree, Mapping):
        return {name: cut(value, rows, count) for name, value in tree.items()}
    if isinstance(tree, tuple) and len(tree) != count:
        return tuple(cut(value, rows, count) for value in tree)
    if len(tree) != count:
        raise ArgumentError(f"actions have {len(tree)} rows; there are {count} environments")
    return tree[rows]


def joined(trees: Sequence[Any]) -> Any:
    """The parts of all workers as one."""
    first = trees[0]
    if isinstance(first, Mapping):
        return {name: joined([tree[name] for tree in trees]) for name in first}
    if isinstance(first, tuple):
        return tuple(joined(parts) for parts in zip(*trees, strict=True))
    return np.concatenate(trees)


def joined_infos(infos: Sequence[Mapping[str, Any]], counts: Sequence[int]) -> dict[str, Any]:
    """Infos with one row per environment; where a worker has none of a name there are zeros."""
    names = dict.fromkeys(name for info in infos for name in info)
    return {name: _joined_info([info.get(name) for info in infos], counts) for name in names}


def _joined_info(values: Sequence[Any], counts: Sequence[int]) -> Any:
    there = next(value for value in values if value is not None)
    if isinstance(there, Mapping):
        return joined_infos([value or {} for value in values], counts)
    if not isinstance(there, np.ndarray) or there.ndim == 0:
        return there  # the same for all
    parts = [
        np.zeros((count, *there.shape[1:]), there.dtype) if value is None else value
        for value, count in zip(values, counts, strict=True)
    ]
    return np.concatenate(parts)

"""A Gymnasium vector environment whose environments live on workers.

Every worker makes a vector environment of its share; to a learner they are one. Environment i is seeded with
`seed + i`, whatever the share. An environment that has `get_state()` and `set_state(state)` (with all that the next
step depends on, random generators included; those of `dovetail.envs` have them) is checkpointed: after the loss of a
worker it is made again, put into the last checkpoint, and does again what it did since then, so that nobody notices.
Others start anew after a loss, and are reported as truncated.

What is wrong with actions is seen before anything is sent, so that no environment has stepped. An environment that
raises an error leaves the others where they are after the step; all are reset before the next one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dovetail.arguments import whole
from dovetail.contracts.fields import Array
from dovetail.distributed import runtime
from dovetail.distributed.blocks import Block, shares
from dovetail.distributed.errors import WorkerError
from dovetail.distributed.extra import require_gymnasium
from dovetail.distributed.pool import ATTEMPTS, PATIENCE
from dovetail.distributed.rolling import FOREVER
from dovetail.distributed.worker import told
from dovetail.errors import ArgumentError, DovetailError, shown

require_gymnasium()

from gymnasium import Space, spaces  # noqa: E402  (imported when it is first used)
from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402

from dovetail.envs.errors import BadActionError, ClosedEnvError, ResetNeededError, TaskError  # noqa: E402

LOST = "worker_lost"
"""The key of `info` that says which environments had to start anew with their worker."""
CHECKPOINT = 100
"""Steps between two checkpoints where nobody says."""
THREADS_VARIABLE = "DOVETAIL_THREADS"
KNOWN: dict[str, type[DovetailError]] = {
    kind.__name__: kind for kind in (ArgumentError, BadActionError, ResetNeededError, TaskError)
}
"""Errors that arrive as what they were raised as; all others are a WorkerError."""

FORGOT = "forgot"
"""In place of the name of a class: the worker is another than the one that made the environments."""

Answer = tuple[tuple[str, str] | None, Any]
"""An error, as the name of its class and text, or None; and a result."""


class EnvironmentWorker:
    """The environments of one share."""

    _env: Any = None

    def make(self, make: Sequence[Any], count: int, first: int, threads: int) -> Answer:
        """Make the environments, also after a restart; what they say of themselves."""

        def made() -> dict[str, Any]:
            import ray

            os.environ[THREADS_VARIABLE] = str(threads)
            self._env = env = ray.get(make[0])(count, first)
            if getattr(env, "num_envs", None) != count:
                raise ArgumentError(
                    f"make_env({count}, {first}) made {getattr(env, 'num_envs', 'no')} environments: it should be a "
                    f"vector environment of {count}"
                )
            return {
                "observations": env.single_observation_space,
                "actions": env.single_action_space,
                "metadata": dict(env.metadata),
                "render_mode": env.render_mode,
                "spec": env.spec,
                # Of the class: what a wrapper hands on is not all of its own state.
                "stateful": all(callable(getattr(type(env), name, 0)) for name in ("get_state", "set_state")),
            }

        return _answer(made)

    def do(self, name: str, args: Sequence[Any], words: Mapping[str, Any]) -> Answer:
        """Call a method, or read an attribute."""
        if self._env is None:
            return (FORGOT, ""), None

        def called() -> Any:
            found = getattr(self._env, name)
            return found(*args, **words) if callable(found) else found

        return _answer(called)

    def replay(self, state: Any, calls: Sequence[Call]) -> Answer:
        """Go to a checkpoint and do again what came after it; the answer of the last call."""
        problem, value = (None, None) if state is None else _answer(lambda: self._env.set_state(state))
        for name, args, words, failed in calls:
            if problem is not None:
                break
            problem, value = self.do(name, args, words)
            if failed:  # as it did the first time
                problem = None
        return problem, value


Call = tuple[str, Sequence[Any], Mapping[str, Any], bool]
"""Of an environment: the method, its arguments, and whether it failed."""


def _answer(call: Callable[[], Any]) -> Answer:
    try:
        return None, call()
    except Exception as problem:
        name = type(problem).__name__
        if type(problem) is KNOWN.get(name):
            return (name, str(problem)), None
        return (WorkerError.__name__, told(problem)), None


class Share:
    """Some environments, their worker, and what brings them back should it be lost."""

    def __init__(self, ray: Any, actor: Any, part: Block, make: Any, threads: int) -> None:
        self.actor, self.part = actor, part
        self.restarts = self.repeated_steps = 0
        self.checkpoint: Any = None
        self.since: list[Call] = []
        self.observation: Any = None
        """The last one, for who asks again without a step."""
        self.stateful = False
        self._ray, self._make, self._threads = ray, make, threads

    def __str__(self) -> str:
        part = self.part
        last = part.first + part.count - 1
        return f"environments {part.first} to {last}" if part.count > 1 else f"environment {part.first}"

    def make(self) -> Any:
        return self.actor.make.remote([self._make], self.part.count, self.part.first, self._threads)

    def begin(self, name: str, *args: Any, **words: Any) -> Any:
        """Start a call that changes the environments, and remember it."""
        if self.stateful:
            self.since.append((name, args, words, False))
        return self.actor.do.remote(name, args, words)

    def ask(self, name: str, *args: Any, **words: Any) -> Any:
        """Start a call that changes nothing."""
        return self.actor.do.remote(name, args, words)

    def answer(self, asked: Any, again: Callable[[], Any]) -> Answer:
        """Wait for an answer. If the worker is lost it is brought back, and `again` asks again."""
        errors = self._ray.exceptions
        for attempt in range(ATTEMPTS):
            try:
                if attempt:
                    self._back()
                    asked = again()
                found: Answer = asked if isinstance(asked, tuple) else self._ray.get(asked)
                if found[0] is None or found[0][0] != FORGOT:
                    return found
                self.restarts += 1  # it was lost while nobody asked
            except (
                errors.RayActorError, errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError,
                errors.OutOfMemoryError,
            ):  # fmt: skip
                self.restarts += 1
        raise WorkerError(
            f"{self}: {ATTEMPTS} workers were lost with them, one after the other. Is there too little memory, or "
            "does something of yours end the process?"
        )

    def replayed(self, done: int | None = -1) -> Any:
        """Do again everything since the last checkpoint; the answer is that of the last call. So many were done."""
        steps = [name for name, *_ in self.since[:done]].count("step")
        self.repeated_steps += steps * self.part.count
        return self.actor.replay.remote(self.checkpoint, self.since)

    def failed(self) -> None:
        """The last call raised an error, and will when it is repeated."""
        if self.since:
            name, args, words, _ = self.since[-1]
            self.since[-1] = name, args, words, True

    def keep(self) -> Any:
        """Start to make a checkpoint."""
        return self.ask("get_state")

    def keep_again(self) -> Any:
        problem, _ = self._ray.get(self.replayed(None))
        return (problem, None) if problem is not None else self.keep()

    def _back(self) -> None:
        """Wait until Ray has restarted the worker, and make its environments."""
        for _ in range(ATTEMPTS):
            making = self.make()
            if not self._ray.wait([making], timeout=PATIENCE)[0]:
                raise WorkerError(f"{self}: their worker was lost, and no other began in {PATIENCE:g} s")
            try:
                problem, _ = self._ray.get(making)
            except self._ray.exceptions.ActorUnavailableError:
                continue  # asked before Ray noticed
            if problem is not None:
                raise WorkerError(
                    f"{self}: their worker was lost, and they cannot be made again: {problem[1]}"
                )
            return


class VectorWorkers(VectorEnv[Any, Any, Any]):
    """`num_envs` environments on workers, as one `gymnasium.vector.VectorEnv`.

    - `make_env(count, first)` makes a vector environment of so many, of which the first has this number. It is called
      on workers.
    - `workers`: how many; as many as Ray has processors if nobody says. `threads`: processors of each.
    - `checkpoint`: steps between two checkpoints, for environments with `get_state` and `set_state`.
    - `address`: of a Ray cluster.

    `restarts` counts workers that were lost, `repeated_steps` the steps of environments that were done again for it.
    """

    _shares: Sequence[Share] = ()

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
        self._ray = ray = runtime.connect(None if count is None else count * width, address=address)
        self._session = runtime.session(ray)
        room = runtime.room(ray, width)
        parts = shares(self.num_envs, min(count or room, self.num_envs))
        if len(parts) > room and runtime.only_here(ray):
            raise ArgumentError(
                f"workers = {len(parts)} of {width} processor(s): the Ray of this process has room for {room}. Ask "
                "for fewer, or call dovetail.distributed.shutdown() first: the next one is as large as needed"
            )
        make = runtime.sent(ray, make_env, [make_env, *_tasks(make_env)])
        kind = ray.remote(EnvironmentWorker).options(
            num_cpus=width, max_restarts=FOREVER, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        self._shares = [Share(ray, kind.remote(), part, make, width) for part in parts]
        self._seed = int(np.random.SeedSequence().generate_state(1)[0])
        self._over = np.zeros(self.num_envs, bool)
        self._fresh: dict[int, Any] = {}
        self._seeded = self._ready = False
        try:
            self._describe()
        except BaseException:
            self._kill()
            raise

    def _describe(self) -> None:
        """Make the environments, and take over what they say of themselves."""
        asked = {share: share.make() for share in self._shares}
        began, _ = self._ray.wait(list(asked.values()), num_returns=len(asked), timeout=PATIENCE)
        if len(began) < len(asked):
            raise WorkerError(
                f"{len(asked) - len(began)} of {len(asked)} workers did not begin in {PATIENCE:g} s: Ray has "
                f"{self._ray.cluster_resources().get('CPU', 0):g} processors, of which others may have taken "
                "some. Ask for fewer workers, close other environments, or add machines"
            )
        about = self._all(self._shares, asked.__getitem__, Share.make)[0]
        for share in self._shares:
            share.stateful = about["stateful"]
        self._stateful: bool = about["stateful"]
        self.metadata, self.render_mode, self.spec = about["metadata"], about["render_mode"], about["spec"]
        self._mode = self.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        self.single_observation_space, self.single_action_space = about["observations"], about["actions"]
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    @property
    def workers(self) -> int:
        """How many there are."""
        return len(self._shares)

    @property
    def restarts(self) -> int:
        """How often a worker was lost."""
        return sum(share.restarts for share in self._shares)

    @property
    def repeated_steps(self) -> int:
        """Steps of environments that were done again."""
        return sum(share.repeated_steps for share in self._shares)

    # ---- Gymnasium's calls

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """All environments, or those of `options["reset_mask"]`; environment i has the seed `seed + i`. What else has
        one row for each environment goes to its environments."""
        self._check_open("reset")
        mask = self._mask((options or {}).get("reset_mask"))
        seeds = self._seeds(seed)

        def call(share: Share) -> Any:
            mine = None if seeds is None else seeds[share.part.rows]
            return share.begin("reset", seed=mine, options=self._options(options, mask, share.part))

        def again(share: Share) -> Any:
            if self._stateful:
                return share.replayed()
            if mask is not None:
                raise WorkerError(
                    f"{share}: their worker was lost while some of them were reset; reset all of them"
                )
            return call(share)

        chosen = [share for share in self._shares if mask is None or mask[share.part.rows].any()]
        infos: dict[Share, Mapping[str, Any]] = {}
        for share, (observation, info) in zip(chosen, self._changed(chosen, call, again), strict=True):
            share.observation, infos[share] = observation, info
            self._fresh.pop(share.part.number, None)
        self._over = np.zeros(self.num_envs, bool) if mask is None else self._over & ~mask
        self._keep()
        return self._observed(), self._infos([infos.get(share, {}) for share in self._shares])

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """One step of all environments."""
        self._check_open("step")
        if not self._ready:
            raise ResetNeededError("step before reset: call reset() first, also after an error")
        checked = checked_actions(self.action_space, actions, self.num_envs)
        if self._mode == AutoresetMode.DISABLED and self._over.any():
            which = np.flatnonzero(self._over)
            raise ResetNeededError(
                f"{len(which)} environment(s) are over, the first is {which[0]}: with autoreset disabled reset them, "
                'reset(options={"reset_mask": terminated | truncated}), before the next step'
            )

        def call(share: Share) -> Any:
            if share.part.number in self._fresh:
                return None, self._fresh.pop(share.part.number)
            return share.begin("step", cut(self.single_action_space, checked, share.part.rows))

        found = self._changed(
            self._shares, call, lambda share: share.replayed() if self._stateful else self._began_anew(share)
        )
        columns = list(zip(*found, strict=True))
        for share, observation in zip(self._shares, columns[0], strict=True):
            share.observation = observation
        rewards, terminated, truncated = (np.concatenate(column) for column in columns[1:4])
        self._over = terminated | truncated
        self._keep()
        return self._observed(), rewards, terminated, truncated, self._infos(columns[4])

    def render(self) -> tuple[Any, ...] | None:
        """A picture of each environment."""
        self._check_open("render")
        return None if self.render_mode is None else self.call("render")

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """An attribute of the environments, or what calling it gives: one for each. What changes environments is lost
        with their worker, unless it is in `get_state`."""
        self._check_open(name)

        def again(share: Share) -> Any:
            if self._stateful and share.since:
                self._answers([self._ray.get(share.replayed(None))], [share])
            return share.ask(name, *args, **kwargs)

        found = self._all(self._shares, lambda share: share.ask(name, *args, **kwargs), again)
        parts = [
            value if isinstance(value, list | tuple | np.ndarray) and len(value) == share.part.count
            else (value,) * share.part.count
            for share, value in zip(self._shares, found, strict=True)
        ]  # fmt: skip
        return tuple(value for part in parts for value in part)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """The same as `call` without arguments."""
        return self.call(name)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the environments and end the workers."""
        if self._shares and self._session == runtime.session(self._ray):
            closing = [share.ask("close") for share in self._shares]
            self._ray.wait(closing, num_returns=len(closing), timeout=10)
            self._kill()
        self._shares = ()

    def _kill(self) -> None:
        for share in self._shares:
            self._ray.kill(share.actor, no_restart=True)

    # ---- what is asked of all workers

    def _all(
        self, chosen: Sequence[Share], call: Callable[[Share], Any], again: Callable[[Share], Any]
    ) -> list[Any]:
        """The results of a call on workers at once; those that are lost are brought back."""
        asked = [(share, call(share)) for share in chosen]
        return self._answers([share.answer(answer, partial(again, share)) for share, answer in asked], chosen)

    def _changed(
        self, chosen: Sequence[Share], call: Callable[[Share], Any], again: Callable[[Share], Any]
    ) -> list[Any]:
        """The same of calls that change environments. Until they went well nobody may step."""
        self._ready = False
        asked = [(share, call(share)) for share in chosen]
        answers = [share.answer(answer, partial(again, share)) for share, answer in asked]
        for share, (problem, _) in zip(chosen, answers, strict=True):
            if problem is not None:
                share.failed()
        results = self._answers(answers, chosen)
        self._ready = True
        return results

    def _answers(self, answers: Sequence[Answer], chosen: Sequence[Share]) -> list[Any]:
        """Results, or the first error; who caught it can reset, and go on."""
        for share, (problem, _) in zip(chosen, answers, strict=True):
            if problem is not None:
                kind, text = problem
                inside = " (counted from 0 within them)" if kind != WorkerError.__name__ else ""
                raise KNOWN.get(kind, WorkerError)(f"{share}{inside}: {text}")
        return [value for _, value in answers]

    def _keep(self) -> None:
        """A checkpoint of every share that has not had one for long, kept here."""
        due = [share for share in self._shares if len(share.since) >= self._interval]
        if due:
            states = self._all(due, Share.keep, Share.keep_again)
            for share, state in zip(due, states, strict=True):
                share.checkpoint, share.since = state, []

    def _began_anew(self, share: Share) -> Answer:
        """What a step gives for environments without checkpoints whose worker was lost: the end of their episodes."""
        part = share.part
        seeds = [
            int(np.random.default_rng([self._seed, int(i), self.restarts]).integers(1 << 31))
            for i in part.worlds
        ]
        problem, value = self._ray.get(share.ask("reset", seed=seeds, options=None))
        if problem is not None:
            return problem, None
        first, info = value
        yes, no, none = np.ones(part.count, bool), np.zeros(part.count, bool), np.zeros(part.count)
        lost = {LOST: yes, f"_{LOST}": yes.copy()}
        if self._mode == AutoresetMode.SAME_STEP:
            final: dict[str, Any] = {
                "final_obs": _objects(self.single_observation_space, share.observation, part.count)
            }
            final |= {"_final_obs": yes.copy(), "final_info": {}, "_final_info": yes.copy()}
            return None, (first, none, no, yes, {**info, **final, **lost})
        if self._mode == AutoresetMode.NEXT_STEP:
            self._fresh[part.number] = first, none, no, no.copy(), info
        return None, (share.observation, none, no, yes, lost)

    # ---- what goes to workers, and what comes back

    def _check_open(self, what: str) -> None:
        if self.closed:
            raise ClosedEnvError(f"{what} of an environment that is closed: make a new one")
        if self._session != runtime.session(self._ray):
            raise ClosedEnvError(f"{what} of an environment whose Ray was shut down: make a new one")

    def _mask(self, mask: Any) -> Array | None:
        if mask is None:
            return None
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != bool:
            raise ArgumentError(
                f'options["reset_mask"] = {shown(mask)} should be a boolean array of shape ({self.num_envs},)'
            )
        if not mask.any():
            raise ArgumentError('options["reset_mask"] chooses no environment')
        if mask.all():
            return None
        if not self._ready:
            raise ResetNeededError("reset all environments before some of them")
        return mask

    def _seeds(self, seed: Any) -> list[int | None] | None:
        """Of all environments. The first ones are drawn here if nobody says, so that a lost worker finds them."""
        if seed is None:
            if self._seeded:
                return None
            drawn = np.random.SeedSequence(self._seed).generate_state(self.num_envs)
            seeds: list[int | None] = [int(value) for value in drawn]
        elif isinstance(seed, list | tuple | np.ndarray):
            if len(seed) != self.num_envs:
                raise ArgumentError(f"seed has {len(seed)} entries; there are {self.num_envs} environments")
            seeds = [None if one is None else whole("seed", one, 0) for one in seed]
        else:
            self._seed = whole("seed", seed, 0)
            seeds = [self._seed + i for i in range(self.num_envs)]
        self._seeded = True
        return seeds

    def _options(
        self, options: Mapping[str, Any] | None, mask: Array | None, part: Block
    ) -> dict[str, Any] | None:
        """Of some environments. Rows may also be of those alone that are reset."""
        mine = dict(options or {})
        mine.pop("reset_mask", None)
        for name, value in mine.items():
            table = isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim > 0)
            rows = len(value) if table else None
            if rows == self.num_envs:
                mine[name] = value[part.rows]
            elif mask is not None and rows == mask.sum():
                before = int(mask[: part.first].sum())
                mine[name] = value[before : before + int(mask[part.rows].sum())]
        if mask is not None:
            mine["reset_mask"] = mask[part.rows]
        return mine or None

    def _observed(self) -> Any:
        return joined(self.single_observation_space, [share.observation for share in self._shares])

    def _infos(self, infos: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return joined_infos(infos, [share.part.count for share in self._shares])


def make_vec(
    what: Any,
    num_envs: int,
    *,
    workers: int | None = None,
    checkpoint: int = CHECKPOINT,
    threads: int = 1,
    address: str | None = None,
    **options: Any,
) -> VectorWorkers:
    """`gymnasium.make_vec` on workers: `what` is the name of a registered environment, as `"dovetail/Ant-v5"`, or a
    `dovetail.envs.Task`. `options` are those of `gymnasium.make_vec`, or of `DovetailVectorEnv` for a Task."""
    return VectorWorkers(
        Made(what, options),
        num_envs,
        workers=workers,
        checkpoint=checkpoint,
        threads=threads,
        address=address,
    )


class Made:
    """Makes environments on workers."""

    def __init__(self, what: Any, options: Mapping[str, Any]) -> None:
        from dovetail.envs import Task

        if not isinstance(what, str | Task):
            raise ArgumentError(
                f"{shown(what)} should be the name of an environment, or a dovetail.envs.Task"
            )
        self.what, self.options = what, dict(options)

    def __call__(self, count: int, first: int) -> Any:
        import gymnasium

        from dovetail.envs import DovetailVectorEnv  # which registers its environments

        if isinstance(self.what, str):
            return gymnasium.make_vec(self.what, num_envs=count, **self.options)
        return DovetailVectorEnv(self.what, count, **self.options)


def _tasks(make_env: Any) -> list[Any]:
    """The class of a task, which workers may not have."""
    return [type(make_env.what)] if isinstance(make_env, Made) and not isinstance(make_env.what, str) else []


def checked_actions(space: Space[Any], actions: Any, count: int) -> Any:
    """Actions as they go to workers. What is plainly wrong is an error here, before anybody steps."""
    if not isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        return actions
    try:
        given = np.asarray(actions)
    except (ValueError, TypeError) as problem:
        raise BadActionError(f"the action is no array of numbers: {problem}") from None
    if given.dtype.kind not in "fiub":
        raise BadActionError(
            f"the action has dtype {given.dtype}; it should be numbers, as {space.dtype} of shape {space.shape}"
        )
    if given.shape != space.shape:
        raise BadActionError(
            f"the action has shape {given.shape}; it should have {space.shape}: an environment a row"
        )
    bad = np.isnan(given)
    if bad.any():
        where = np.argwhere(bad)[0]
        more = "" if bad.sum() == 1 else f", and {bad.sum() - 1} more are"
        raise BadActionError(
            f"the action of environment {where[0]} has nan at {tuple(int(i) for i in where[1:])}{more}; nothing was "
            "stepped"
        )
    return given


def cut(space: Space[Any], tree: Any, rows: slice) -> Any:
    """Some environments' part of actions; `space` is that of one environment."""
    if isinstance(space, spaces.Dict) and isinstance(tree, Mapping):
        return {name: cut(space[name], value, rows) for name, value in tree.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(cut(one, value, rows) for one, value in zip(space.spaces, tree, strict=True))
    return tree[rows]


def joined(space: Space[Any], trees: Sequence[Any]) -> Any:
    """The observations of all workers as one; `space` is that of one environment."""
    first = trees[0]
    if isinstance(space, spaces.Dict):
        return {name: joined(space[name], [tree[name] for tree in trees]) for name in first}
    if isinstance(space, spaces.Tuple):
        return tuple(
            joined(one, parts) for one, parts in zip(space.spaces, zip(*trees, strict=True), strict=True)
        )
    if isinstance(first, tuple):  # of a space whose members have no common shape
        return tuple(value for tree in trees for value in tree)
    return np.concatenate(trees)


def joined_infos(infos: Sequence[Mapping[str, Any]], counts: Sequence[int]) -> dict[str, Any]:
    """Infos with one row per environment; where a worker has none of a name there are zeros, or None for objects."""
    names = dict.fromkeys(name for info in infos for name in info)
    return {name: _joined_info([info.get(name) for info in infos], counts) for name in names}


def _joined_info(values: Sequence[Any], counts: Sequence[int]) -> Any:
    there = [value for value in values if value is not None]
    if any(isinstance(value, Mapping) for value in there):
        return joined_infos([value if isinstance(value, Mapping) else {} for value in values], counts)
    arrays = [value for value in there if isinstance(value, np.ndarray) and value.ndim]
    if not arrays:
        return there[0] if there else None  # the same for all
    like = next((value for value in arrays if value.dtype == object), arrays[0])
    return np.concatenate(
        [_none(like, count) if value is None else value for value, count in zip(values, counts, strict=True)]
    )


def _none(like: Array, count: int) -> Array:
    shape = (count, *like.shape[1:])
    return np.full(shape, None, object) if like.dtype == object else np.zeros(shape, like.dtype)


def _objects(space: Space[Any], observation: Any, count: int) -> Array:
    """Observations one by one, as Gymnasium gives last ones."""
    result = np.full(count, None, object)
    for row in range(count):
        result[row] = _row(space, observation, row)
    return result


def _row(space: Space[Any], tree: Any, row: int) -> Any:
    if isinstance(space, spaces.Dict):
        return {name: _row(space[name], value, row) for name, value in tree.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_row(one, value, row) for one, value in zip(space.spaces, tree, strict=True))
    return tree[row]

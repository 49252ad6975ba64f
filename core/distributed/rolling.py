"""Rollouts on many machines.

Worlds are cut into blocks, and time into chunks that end at checkpoints. One task is one chunk of one block: it
begins at a checkpoint, and whoever is free takes it. The cut does not depend on the workers,
and random numbers only on the seed and the number of the world; so the results have the same bits for any number of
workers.

Records stay in Ray's store, where they were computed, until they are fetched. Checkpoints are kept by whoever asked
for the rollout: a worker or machine that is lost costs its worlds what they did since the last one. Records that went
with a machine are computed again from the checkpoint before them when they are fetched.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail.arguments import whole
from dovetail.contracts.derive import OF_MODEL
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.distributed import runtime
from dovetail.distributed.blocks import Block, usual_interval
from dovetail.distributed.errors import WorkerError
from dovetail.distributed.extra import require_ray
from dovetail.distributed.job import Asked, asked
from dovetail.distributed.pool import ATTEMPTS, Pool, Task
from dovetail.distributed.worker import Inputs, Policy, RolloutWorker, Summary
from dovetail.errors import UnknownFieldError, listing, nearest
from dovetail.once import Once
from dovetail.planning.costs import Cost, costs

SMALL = 16_384
"""Bytes of inputs that are sent with every task; larger ones are fetched from Ray's store."""
FOREVER = -1
"""Ray's word for restarting an actor as often as it is lost; `pool.ATTEMPTS` ends what is hopeless."""


def rollout(
    model: Model | str | Path,
    controls: Any | Policy | None = None,
    *,
    nstep: int,
    nworld: int | None = None,
    workers: int | None = None,
    start: Mapping[str, Any] | None = None,
    keyframe: int | str | None = None,
    noise: float = 0.0,
    seed: int = 0,
    values: Mapping[str, Any] | None = None,
    record: str | Iterable[str] = ("qpos", "qvel"),
    every: int = 1,
    checkpoint: int | None = None,
    block: int | None = None,
    threads: int = 1,
    address: str | None = None,
    **options: Any,
) -> Rollout:
    """Step many worlds on many machines, or on the processors of this one.

    - `controls`: an array (nstep, nu) or (nworld, nstep, nu), or a function `policy(data, step, worlds)` that
      returns those of a block of worlds. It runs on workers and must keep nothing from one call to the next.
    - `workers`: how many; as many as Ray has processors if nobody says. `threads`: processors of each.
    - `start`: fields of the state, one row per world or the same for all; `keyframe` comes before it, `noise` (sigma
      of random velocities, from `seed` and the number of the world) after it.
    - `values`: Model fields that differ between worlds, (nworld, …), as `per_world` of `Simulation`.
    - `record`, `every`: fields to keep, after every so many steps.
    - `checkpoint`: steps that a lost worker's worlds may lose; if nobody says, such that their computation takes
      fractions of a second. `block`: worlds in a batch.
    - `address`: of a Ray cluster. Without one, Ray is started on this machine if it does not run.
    - `options`: of `Simulation`, as `backend`, `precision`, `stages`, `on_nan`.
    """
    run = _prepared(
        model, controls, nstep, nworld, workers, start, keyframe, noise, seed, values, record, every,
        checkpoint, block, threads, address, None, options,
    )  # fmt: skip
    run.compute()
    return Rollout(run)


class Rollout:
    """What a rollout left: references to its records, which `fetch` turns into arrays."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.nworld: int = run.asked.nworld
        self.nstep: int = run.nstep

    @property
    def refs(self) -> dict[str, list[list[Any]]]:
        """Ray's references by field, block of worlds and chunk of time: arrays (worlds, samples, …)."""
        return self._run.refs()

    @property
    def workers(self) -> int:
        """Workers that had something to do."""
        return self._run.served

    @property
    def restarts(self) -> int:
        """How often a worker was lost."""
        return self._run.restarts

    @property
    def repeated_steps(self) -> int:
        """Steps of worlds that were computed again, at the most: a lost worker does not tell how far it was."""
        return self._run.repeated

    @property
    def seconds(self) -> float:
        """From when the first worker was ready to the last step, checkpoints and losses included."""
        return self._run.seconds

    @property
    def startup_seconds(self) -> float:
        """Before that: until the first worker was there and had its kernels. Starting Ray itself is in neither."""
        return self._run.startup

    @property
    def busy_seconds(self) -> float:
        """Wall time of all workers in tasks that ended well; what is missing to `workers * seconds` they waited."""
        return self._run.busy

    @property
    def processor_seconds(self) -> float:
        """Processor time of all workers in tasks that ended well."""
        return self._run.processor

    @property
    def costs(self) -> tuple[Cost, ...]:
        """Choices that keep steps from being one kernel and took more than a third of the processor time."""
        return costs(self._run.asked.plan, self._run.spent)

    def fetch(self, field: str) -> Array:
        """One recorded field of all worlds, (nworld, samples, …)."""
        return self._run.fetch(field)

    def arrays(self) -> dict[str, Array]:
        """All recorded fields."""
        return {name: self.fetch(name) for name in self._run.asked.job.record}

    def state(self) -> dict[str, Array]:
        """The state of all worlds after the last step; as `start` of another rollout it goes on from there."""
        return self._run.state()

    def __repr__(self) -> str:
        lost = f", {self.restarts} workers lost" if self.restarts else ""
        return f"<dovetail rollout: {self.nworld} worlds, {self.nstep} steps{lost}>"


@attrs.define(eq=False)
class Advance:
    """The task of stepping a block from a checkpoint to the next."""

    run: Run
    block: Block
    chunk: int
    follow: Sequence[Task] | None = None
    """What comes after it; the next chunk if nobody says."""
    lost: int = 0

    def submit(self, actor: Any) -> list[Any]:
        run, first, last = self.run, *self.run.span(self.chunk)
        state = run.checkpoints[self.block.number, self.chunk]
        fields = len(run.asked.job.record)
        call = actor.advance.options(num_returns=1 + fields)
        refs = call.remote(self.block, run.inputs[self.block.number], state, first, last, fields)
        return refs if isinstance(refs, list) else [refs]

    def done(self, report: Any, refs: list[Any]) -> None:
        self.run.finished(self, report, refs[1:])

    def repeat(self, queue: deque[Task], inputs_lost: bool = False) -> None:
        self.run.repeated += self.run.steps(self)
        queue.appendleft(self)

    def __str__(self) -> str:
        first, last = self.run.span(self.chunk)
        return f"{self.block}, steps {first} to {last - 1}"


@attrs.define(eq=False)
class Summarise:
    """The task of reducing the records of a block, once it has all."""

    run: Run
    block: Block
    lost: int = 0

    def submit(self, actor: Any) -> list[Any]:
        chunks = [self.run.records[self.block.number, chunk] for chunk in range(self.run.chunks)]
        return [actor.summarise.remote(self.block, *(ref for refs in chunks for ref in refs))]

    def done(self, report: Any, refs: list[Any]) -> None:
        self.run.summarised(self, report)

    def repeat(self, queue: deque[Task], inputs_lost: bool = False) -> None:
        if not inputs_lost:
            queue.appendleft(self)
            return
        again = [Advance(self.run, self.block, chunk) for chunk in range(self.run.chunks)]
        following: list[Task] = [*again[1:], self]
        for part, after in zip(again, following, strict=True):
            part.follow = [after]
        again[0].repeat(queue)
        self.run.repeated += sum(self.run.steps(part) for part in again[1:])

    def __str__(self) -> str:
        return f"summary of {self.block}"


class Run:
    """A rollout while it runs, and what is needed to compute lost parts of it again."""

    def __init__(self, ray: Any, wanted: Asked, nstep: int, checkpoint: int, workers: int | None) -> None:
        self.ray, self.asked, self.nstep, self.checkpoint = ray, wanted, nstep, checkpoint
        self.chunks = max(1, -(-nstep // checkpoint))
        self.threads: int = wanted.job.options["threads"]
        room = runtime.room(ray, self.threads)
        self.workers = min(room if workers is None else workers, len(wanted.blocks))
        self.job = runtime.sent(ray, wanted.job, wanted.job.functions)
        self.inputs = [self._sent(wanted.inputs(block)) for block in wanted.blocks]
        self.checkpoints: dict[tuple[int, int], Any] = {(b.number, 0): None for b in wanted.blocks}
        self.records: dict[tuple[int, int], list[Any]] = {}
        self.summaries: dict[int, dict[str, Array]] = {}
        self.queue: deque[Task] = deque()
        self.restarts = self.repeated = self.served = 0
        self.seconds = self.startup = self.busy = self.processor = 0.0
        self.spent: Counter[str] = Counter()
        self.session = runtime.session(ray)
        self._told = Once()

    def _sent(self, inputs: Inputs) -> Any:
        return inputs if inputs.nbytes <= SMALL else self.ray.put(inputs)

    def span(self, chunk: int) -> tuple[int, int]:
        """First step of a chunk, and the one behind its last."""
        return chunk * self.checkpoint, min((chunk + 1) * self.checkpoint, self.nstep)

    def steps(self, task: Advance) -> int:
        """Steps of worlds in a chunk of a block."""
        first, last = self.span(task.chunk)
        return (last - first) * task.block.count

    def compute(self) -> None:
        """All of it."""
        self.queue.extend(Advance(self, block, 0) for block in self.asked.blocks)
        began = time.perf_counter()
        pool = self._work()
        first = began if pool.first_answer is None else pool.first_answer
        self.served, self.startup, self.seconds = len(pool.served), first - began, time.perf_counter() - first

    def _work(self) -> Pool:
        """Empty the list."""
        pool = Pool(
            self.ray,
            self._actor,
            lambda actor: actor.ready.remote([self.job]),
            min(self.workers, len(self.queue)),
        )
        try:
            pool.run(self.queue)
        finally:
            self.restarts += pool.restarts
            self.queue.clear()
            pool.close()
        return pool

    def _actor(self) -> Any:
        kind = self.ray.remote(RolloutWorker).options(
            num_cpus=self.threads, max_restarts=FOREVER, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        return kind.remote()

    def finished(self, task: Advance, report: Any, refs: list[Any]) -> None:
        """A chunk is done: its records stay where they are, its state comes here."""
        number, after = task.block.number, task.chunk + 1
        self.records[number, task.chunk] = refs
        self.processor += report["processor"]
        self.busy += report["seconds"]
        self.spent.update(report["spent"])
        self._warn(task.block, report["warnings"])
        if task.follow is not None:
            self.queue.extend(task.follow)
            return
        # Fetched and put again, so that it is in the store of this machine and not only in that of the worker.
        self.checkpoints[number, after] = self.ray.put(report["state"])
        if after < self.chunks:
            self.queue.append(Advance(self, task.block, after))
        elif self.asked.job.summary is not None:
            self.queue.append(Summarise(self, task.block))

    def summarised(self, task: Summarise, report: Any) -> None:
        """A block is reduced: its records and checkpoints are needed no more."""
        number = task.block.number
        self.summaries[number] = report["summary"]
        self._warn(task.block, report["warnings"])
        for chunk in range(self.chunks):
            del self.records[number, chunk], self.checkpoints[number, chunk]

    def _warn(self, block: Block, found: Iterable[tuple[type[Warning], str]]) -> None:
        for kind, text in found:
            with self._told.new(text) as new:
                if new:
                    warnings.warn(f"{block} (counted from 0 within them): {text}", kind, stacklevel=2)

    # ---- afterwards

    def refs(self) -> dict[str, list[list[Any]]]:
        self._check_session()
        return {
            name: [[self.records[b.number, c][i] for c in range(self.chunks)] for b in self.asked.blocks]
            for i, name in enumerate(self.asked.job.record)
        }

    def fetch(self, field: str) -> Array:
        names = self.asked.job.record
        if field not in names:
            raise UnknownFieldError(
                f"{field!r} was not recorded{nearest(field, names) or '.'} Recorded: {listing(names)}; ask for more "
                "with record="
            )
        self._check_session()
        column = names.index(field)
        for _ in range(ATTEMPTS):
            parts, gone = self._parts(column)
            if not gone:
                break
            self._compute_again(gone)
        else:
            raise WorkerError(f"{field}: records were lost {ATTEMPTS} times, one after the other")
        rows = [[parts[b.number, c] for c in range(self.chunks)] for b in self.asked.blocks]
        return np.concatenate([np.concatenate(row, axis=1) for row in rows])

    def _parts(self, column: int) -> tuple[dict[tuple[int, int], Array], list[tuple[int, int]]]:
        """A field by block and chunk, and which of them went with a machine."""
        parts: dict[tuple[int, int], Array] = {}
        gone = []
        for place, refs in self.records.items():
            try:
                parts[place] = self.ray.get(refs[column])
            except self.ray.exceptions.ObjectLostError:
                gone.append(place)
        return parts, gone

    def _compute_again(self, places: Iterable[tuple[int, int]]) -> None:
        for number, chunk in sorted(places, reverse=True):
            Advance(self, self.asked.blocks[number], chunk, follow=()).repeat(self.queue)
        self._work()

    def _check_session(self) -> None:
        if self.session != runtime.session(self.ray):
            raise WorkerError(
                "the Ray that computed this was shut down, and what was not fetched went with it: fetch before "
                "shutdown()"
            )

    def state(self) -> dict[str, Array]:
        self._check_session()
        last = [self.ray.get(self.checkpoints[b.number, self.chunks]) for b in self.asked.blocks]
        return {n: np.concatenate([part[n] for part in last]) for n in last[0] if not n.startswith(OF_MODEL)}


def _prepared(
    model: Any,
    controls: Any,
    nstep: int,
    nworld: int | None,
    workers: int | None,
    start: Mapping[str, Any] | None,
    keyframe: int | str | None,
    noise: float,
    seed: int,
    values: Mapping[str, Any] | None,
    record: Any,
    every: int,
    checkpoint: int | None,
    block: int | None,
    threads: int,
    address: str | None,
    summary: Summary | None,
    options: Mapping[str, Any],
) -> Run:
    """A run, checked and sent, before anything is computed."""
    require_ray()
    steps = whole("nstep", nstep, 0, "STEPS")
    interval = None if checkpoint is None else whole("checkpoint", checkpoint, 1, "STEPS")
    count = None if workers is None else whole("workers", workers, 1, None, ", or None for all there are")
    width = whole("threads", threads, 1)
    wanted = asked(
        model, controls, nworld=nworld, nstep=steps, start=start, keyframe=keyframe, noise=noise, seed=seed,
        values=values, record=record, every=every, block=block, threads=width, summary=summary, options=options,
    )  # fmt: skip
    ray = runtime.connect(None if count is None else count * width, address=address)
    return Run(ray, wanted, steps, interval or usual_interval(steps, wanted.blocks[0].count), count)

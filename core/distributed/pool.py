"""Workers as Ray actors, and a list of tasks that they take from.

A task belongs to no worker: it carries all it needs (the last checkpoint among it), so that whoever is free takes the
next one, and one whose worker was lost is handed out again. A worker is given its next task before it is done with
the one it has, so that it need not wait for an answer. Ray restarts lost actors, elsewhere if their machine is gone;
they are given work again when they answer.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Protocol

from dovetail.distributed.errors import WorkerError

ATTEMPTS = 4
"""How often one task may lose its worker before that is taken for the task's fault."""
AHEAD = 2
"""Tasks that a worker has at once: it does the first, the others wait there."""
FORGOT = "forgot"
"""The error of a worker that does not know what it is for, since Ray restarted it while nobody looked."""
PATIENCE = 120.0
"""Seconds to wait for a first worker, or for one to come back when all are gone."""


class Task(Protocol):
    """Something that a worker does at once."""

    lost: int
    """How many workers were lost with it."""

    def submit(self, actor: Any) -> list[Any]:
        """Start it there; the first reference is a small report, a mapping with an `error` or None."""

    def done(self, report: Any, refs: list[Any]) -> None:
        """Take the results."""

    def repeat(self, queue: deque[Task], inputs_lost: bool) -> None:
        """Put it back at the head of the list, since its worker was lost with it, or what it was given went with a
        machine."""

    def __str__(self) -> str: ...


class Pool:
    """Actors that take tasks from a list: `make` makes one, `begin` tells it what it is for."""

    def __init__(
        self,
        ray: Any,
        make: Callable[[], Any],
        begin: Callable[[Any], Any],
        count: int,
        patience: float = PATIENCE,
    ) -> None:
        self._ray, self._start, self._patience = ray, begin, patience
        self._tasks: dict[Any, dict[Any, tuple[Task, list[Any]]]] = {}
        """Of the workers that are there: what they have to do, in order, by the reference of its report."""
        self._busy: dict[Any, Any] = {}
        """Workers by reference of a report."""
        self._actors = [make() for _ in range(count)]
        self._starting = {begin(actor): actor for actor in self._actors}
        self._failed_starts: Counter[Any] = Counter()
        self.restarts = 0
        self.first_answer: float | None = None
        """When the first worker was ready, by `time.perf_counter`."""
        self.served: set[Any] = set()
        """Workers that had something to do."""

    def run(self, queue: deque[Task]) -> None:
        """Until the list is empty and nobody works; tasks that are done may add to it."""
        while queue or self._busy:
            while queue and (actor := self._free(queue)) is not None:
                self._hand_out(queue.popleft(), actor)
            waiting = [*self._busy, *self._starting]
            ready, _ = self._ray.wait(waiting, timeout=self._patience) if waiting else ([], [])
            if not ready and not self._busy:
                raise WorkerError(self._nobody())
            for ref in ready:
                if ref in self._starting:
                    self._begin(ref)
                elif ref in self._busy:
                    self._end(ref, queue)

    def _free(self, queue: deque[Task]) -> Any | None:
        """Who has least to do, if that is not enough. The last tasks are left to those who are free first."""
        actor = min(self._tasks, key=lambda actor: len(self._tasks[actor]), default=None)
        enough = AHEAD if len(queue) > len(self._tasks) else 1
        return None if actor is None or len(self._tasks[actor]) >= enough else actor

    def _hand_out(self, task: Task, actor: Any) -> None:
        refs = task.submit(actor)
        self.served.add(actor)
        self._busy[refs[0]] = actor
        self._tasks[actor][refs[0]] = task, refs

    def _begin(self, ref: Any) -> None:
        actor = self._starting.pop(ref)
        try:
            report = self._ray.get(ref)
        except self._ray.exceptions.RayError as problem:
            self._failed_starts[actor] += 1
            if self._failed_starts[actor] < ATTEMPTS:  # Ray restarts it
                self._starting[self._start(actor)] = actor
                return
            self._actors.remove(actor)
            if not self._actors:
                raise WorkerError(
                    f"no worker begins: each ended {ATTEMPTS} times before it was ready, at last with "
                    f"{type(problem).__name__}. Is there too little memory?"
                ) from problem
        else:
            if report["error"]:
                raise WorkerError(f"a worker cannot begin: {report['error']}")
            self._failed_starts[actor] = 0
            self._tasks[actor] = {}
            self.first_answer = self.first_answer or time.perf_counter()

    def _end(self, ref: Any, queue: deque[Task]) -> None:
        actor = self._busy[ref]
        task, refs = self._tasks[actor][ref]
        errors = self._ray.exceptions
        try:
            report = self._ray.get(ref)
        except (
            errors.RayActorError, errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError
        ):  # fmt: skip
            self._lost(actor, queue)
            return
        except errors.ObjectLostError:
            self._again(task, queue, inputs_lost=True)
        except errors.RayTaskError as problem:
            if not isinstance(problem.cause, errors.ObjectLostError):
                raise WorkerError(f"{task}: {problem.cause}") from problem
            self._again(task, queue, inputs_lost=True)
        else:
            if report["error"] == FORGOT:  # lost between two tasks
                self._lost(actor, queue)
                return
            self._done(task, report, refs)
        del self._busy[ref], self._tasks[actor][ref]

    def _done(self, task: Task, report: Any, refs: list[Any]) -> None:
        if report["error"]:
            raise WorkerError(f"{task}: {report['error']}")
        task.done(report, refs)

    def _lost(self, actor: Any, queue: deque[Task]) -> None:
        """A worker is gone: it was at the first of its tasks that is not done. The others had not begun, and wait for
        another worker."""
        tasks = self._tasks.pop(actor)
        left = [task for ref, (task, refs) in tasks.items() if not self._was_done(ref, task, refs)]
        self._busy = {ref: worker for ref, worker in self._busy.items() if ref not in tasks}
        self.restarts += 1
        self._starting[self._start(actor)] = actor
        queue.extendleft(reversed(left[1:]))
        for task in left[:1]:
            self._again(task, queue)

    def _was_done(self, ref: Any, task: Task, refs: list[Any]) -> bool:
        try:
            report = self._ray.get(ref, timeout=0)
        except self._ray.exceptions.RayError:  # not ready, or lost
            return False
        if report["error"] == FORGOT:
            return False
        self._done(task, report, refs)
        return True

    def _again(self, task: Task, queue: deque[Task], inputs_lost: bool = False) -> None:
        task.lost += 1
        if task.lost >= ATTEMPTS:
            raise WorkerError(
                f"{task}: {task.lost} workers were lost with it, one after the other. Is there too little memory, or "
                "does a function of yours end the process?"
            )
        task.repeat(queue, inputs_lost)

    def _nobody(self) -> str:
        room = self._ray.cluster_resources().get("CPU", 0) if self._ray.is_initialized() else 0
        return (
            f"no worker answered for {self._patience:g} s: Ray has {room:g} processors, of which others may have "
            "taken all. Ask for fewer threads per worker, wait for others, or add machines"
        )

    def close(self) -> None:
        """End the workers. What they computed stays in Ray's store."""
        for actor in self._actors:
            self._ray.kill(actor, no_restart=True)
        self._actors = []

"""Workers as Ray actors, and a list of tasks that they take from.

A task belongs to no worker: it carries all it needs (the last checkpoint among it), so that whoever is free takes the
next one, and one whose worker was lost is handed out again. Ray restarts lost actors, elsewhere if their machine is
gone; they are given work again when they answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from dovetail.distributed.errors import WorkerError

ATTEMPTS = 4
"""How often one task may lose its worker before that is taken for the task's fault."""
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
        """Put it back at the head of the list, since its worker was lost, or what it was given went with a
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
        self._idle: list[Any] = []
        self._busy: dict[Any, tuple[Any, Task, list[Any]]] = {}
        self._actors = [make() for _ in range(count)]
        self._starting = {begin(actor): actor for actor in self._actors}
        self.restarts = 0
        self.served: set[Any] = set()
        """Workers that had something to do."""

    def run(self, queue: deque[Task]) -> None:
        """Until the list is empty and nobody works; tasks that are done may add to it."""
        while queue or self._busy:
            while queue and self._idle:
                self._hand_out(queue.popleft())
            waiting = [*self._busy, *self._starting]
            ready, _ = self._ray.wait(waiting, timeout=self._patience) if waiting else ([], [])
            if not ready and not self._busy:
                raise WorkerError(self._nobody())
            for ref in ready:
                if ref in self._starting:
                    self._begin(ref)
                else:
                    self._end(ref, queue)

    def _hand_out(self, task: Task) -> None:
        actor = self._idle.pop()
        refs = task.submit(actor)
        self.served.add(actor)
        self._busy[refs[0]] = actor, task, refs

    def _begin(self, ref: Any) -> None:
        actor = self._starting.pop(ref)
        try:
            report = self._ray.get(ref)
        except self._ray.exceptions.ActorUnavailableError:
            self._starting[self._start(actor)] = actor
        except self._ray.exceptions.RayActorError:
            self._actors.remove(actor)  # for good: Ray restarts others by itself
        else:
            if report["error"]:
                raise WorkerError(f"a worker cannot begin: {report['error']}")
            self._idle.append(actor)

    def _end(self, ref: Any, queue: deque[Task]) -> None:
        actor, task, refs = self._busy.pop(ref)
        errors = self._ray.exceptions
        try:
            report = self._ray.get(ref)
        except (errors.RayActorError, errors.WorkerCrashedError, errors.NodeDiedError):
            self.restarts += 1
            self._starting[self._start(actor)] = actor
            self._again(task, queue)
        except errors.ObjectLostError:
            self._idle.append(actor)
            self._again(task, queue, inputs_lost=True)
        except errors.RayTaskError as problem:
            if not isinstance(problem.cause, errors.ObjectLostError):
                raise WorkerError(f"{task}: {problem.cause}") from problem
            self._idle.append(actor)
            self._again(task, queue, inputs_lost=True)
        else:
            self._idle.append(actor)
            if report["error"]:
                raise WorkerError(f"{task}: {report['error']}")
            task.done(report, refs)

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

"""Parts of the environments take turns: one part steps while the learner works on another, as in EnvPool."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from dovetail.arguments import whole
from dovetail.contracts.fields import Array
from dovetail.envs.checks import checked_seed
from dovetail.envs.errors import ClosedEnvError, ResetNeededError
from dovetail.errors import ArgumentError


class Turns:
    """`parts` vector environments, each with a thread. `send(actions, part)` starts a step and returns at once;
    `recv()` waits for the part that was sent first and gives what `step` gives, with `info["part"]` and
    `info["env_id"]`. The order is that of sending, so runs repeat."""

    def __init__(self, make: Callable[[int], Any], num_envs: int, parts: int = 2) -> None:
        parts, num_envs = whole("parts", parts, 1), whole("num_envs", num_envs, 1, "WORLDS")
        if num_envs % parts:
            raise ArgumentError(f"num_envs = {num_envs} cannot be shared out to {parts} parts of one size")
        self.num_envs, self.size = num_envs, num_envs // parts
        self.envs = [make(self.size) for _ in range(parts)]
        self._threads = [ThreadPoolExecutor(1) for _ in range(parts)]
        self._sent: deque[tuple[int, Future[Any]]] = deque()
        self._closed = False

    def reset(self, seed: int | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin everywhere; environment i is seeded with `seed` + i. Steps under way are waited for."""
        self._check_open()
        seed = checked_seed(seed)
        while self._sent:
            self._sent.popleft()[1].result()
        starts = range(0, self.num_envs, self.size)
        results = [
            env.reset(seed=None if seed is None else seed + first)
            for env, first in zip(self.envs, starts, strict=True)
        ]
        return np.concatenate([observation for observation, _ in results]), {}

    def send(self, actions: Array, part: int) -> None:
        """Start a step of one part."""
        self._check_open()
        part = whole("part", part, 0)
        if part >= len(self.envs):
            raise ArgumentError(f"part {part} does not exist: there are {len(self.envs)}, from 0")
        if any(sent == part for sent, _ in self._sent):
            raise ArgumentError(f"part {part} is under way: recv() what it does before you send again")
        checked = np.array(self.envs[part].engine.checked_action(actions))
        self._sent.append((part, self._threads[part].submit(self.envs[part].step, checked)))

    def recv(self) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """What came of the step that was sent first."""
        self._check_open()
        if not self._sent:
            raise ResetNeededError("nothing is under way: send() first")
        part, future = self._sent.popleft()
        observation, reward, terminated, truncated, info = future.result()
        ids = np.arange(part * self.size, (part + 1) * self.size)
        return observation, reward, terminated, truncated, {**info, "part": part, "env_id": ids}

    def close(self) -> None:
        """Wait for what is under way, and end the threads; a second time changes nothing."""
        if self._closed:
            return
        self._closed = True
        for thread in self._threads:
            thread.shutdown()
        for env in self.envs:
            env.close()

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedEnvError("these environments are closed: make new ones")

"""Environment steps per second of a core beside EnvPool: `python tests/bench/environments.py [TASK …]`.

Both step the same number of environments on one thread with the same kind of random actions, in alternation, f64,
observation, reward and automatic resets included. Processor time, the median of some rounds, so that a busy machine
changes both alike. The last column is the share of dovetail's time that is not physics: actions in, observations,
rewards, infos and resets out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

TASKS = ("HalfCheetah", "Ant", "Hopper", "Walker2d", "Humanoid")


class Physics:
    """A clock around everything that Simulations compute: steps, and the evaluation of starts."""

    def __init__(self) -> None:
        from dovetail.simulation import Simulation

        self.seconds = 0.0
        for name in ("step", "forward"):
            setattr(Simulation, name, self._timed(getattr(Simulation, name)))

    def _timed(self, call: Callable[..., None]) -> Callable[..., None]:
        def timed(*given: Any) -> None:
            began = time.process_time()
            call(*given)
            self.seconds += time.process_time() - began

        return timed


class Ours:
    """A vector environment of dovetail's."""

    def __init__(self, task: str, num_envs: int, precision: str = "f64") -> None:
        import gymnasium

        import dovetail.envs  # noqa: F401  (registers)

        physics = {"threads": 1, "precision": precision}
        self.env: Any = gymnasium.make_vec(f"dovetail/{task}-v5", num_envs=num_envs, physics=physics)
        self.env.reset(seed=0)

    def step(self, action: Any) -> None:
        self.env.step(action)


class Theirs:
    """The same of EnvPool's."""

    def __init__(self, task: str, num_envs: int) -> None:
        import envpool

        self.env = envpool.make_gymnasium(f"{task}-v5", num_envs=num_envs, num_threads=1, seed=0)
        self.env.reset()

    def step(self, action: Any) -> None:
        self.env.step(action)


def seconds(step: Callable[[Any], None], actions: Any) -> float:
    """Processor time of the whole process for a step with each of the actions."""
    began = time.process_time()
    for action in actions:
        step(action)
    return time.process_time() - began


def compared(task: str, num_envs: int, physics: Physics, asked: argparse.Namespace) -> dict[str, Any]:
    """Steps of environments per second of both, and the share of ours that is not physics."""
    ours, theirs = Ours(task, num_envs, asked.precision), Theirs(task, num_envs)
    space = ours.env.single_action_space
    rng = np.random.default_rng(0)

    def drawn(count: int) -> Any:
        return rng.uniform(space.low, space.high, (count, num_envs, *space.shape)).astype(theirs_dtype)

    theirs_dtype = theirs.env.action_space.dtype
    for side in (ours, theirs):
        seconds(side.step, drawn(asked.roll_in))
    mine, other, rest = [], [], []
    for _ in range(asked.rounds):
        actions = drawn(asked.steps)
        physics.seconds = 0.0
        spent = seconds(ours.step, actions)
        mine.append(spent)
        rest.append(1.0 - physics.seconds / spent)
        other.append(seconds(theirs.step, actions))
    done = asked.steps * num_envs
    return {
        "task": task,
        "num_envs": num_envs,
        "dovetail": done / statistics.median(mine),
        "envpool": done / statistics.median(other),
        "ratio": statistics.median(b / a for a, b in zip(mine, other, strict=True)),
        "rest": statistics.median(rest),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument("--num-envs", type=int, nargs="+", default=(256, 1024))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--roll-in", type=int, default=100)
    parser.add_argument("--precision", choices=("f64", "f32"), default="f64")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found, physics = [], Physics()
    if not asked.json:
        print(f"{'task':14} {'envs':>5} {'dovetail/s':>11} {'EnvPool/s':>10} {'ratio':>6} {'rest':>5}")
    for task in asked.tasks:
        for count in asked.num_envs:
            row = compared(task, count, physics, asked)
            found.append(row)
            if not asked.json:
                print(
                    f"{task:14} {count:5} {row['dovetail']:11,.0f} {row['envpool']:10,.0f} {row['ratio']:6.1f}"
                    f" {row['rest']:5.0%}",
                    flush=True,
                )
    if asked.json:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

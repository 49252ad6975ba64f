"""Environments for reinforcement learning: Gymnasium's eleven MuJoCo tasks, and one's own.

After `import dovetail.envs`, `gymnasium.make("dovetail/Ant-v5")` and `gymnasium.make_vec("dovetail/Ant-v5",
num_envs=1024)` make them; `Task` is the class to write one's own with, which `DovetailEnv(task)` and
`DovetailVectorEnv(task, num_envs)` run. Needs the extra `rl`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dovetail.distribution import requirement
from dovetail.envs.registration import register
from dovetail.errors import MissingDependencyError

if TYPE_CHECKING:
    from dovetail.envs.errors import BadActionError, BadSeedError, ClosedEnvError, ResetNeededError, TaskError
    from dovetail.envs.single import DovetailEnv
    from dovetail.envs.stable_baselines import StableBaselinesVecEnv
    from dovetail.envs.task import Task
    from dovetail.envs.tensors import TorchVectorEnv
    from dovetail.envs.turns import Turns
    from dovetail.envs.vector import DovetailVectorEnv
    from dovetail.envs.worlds import Worlds

_PLACES = {
    "BadActionError": "errors",
    "BadSeedError": "errors",
    "ClosedEnvError": "errors",
    "DovetailEnv": "single",
    "DovetailVectorEnv": "vector",
    "ResetNeededError": "errors",
    "StableBaselinesVecEnv": "stable_baselines",
    "Task": "task",
    "TaskError": "errors",
    "TorchVectorEnv": "tensors",
    "Turns": "turns",
    "Worlds": "worlds",
}

__all__ = [
    "BadActionError",
    "BadSeedError",
    "ClosedEnvError",
    "DovetailEnv",
    "DovetailVectorEnv",
    "ResetNeededError",
    "StableBaselinesVecEnv",
    "Task",
    "TaskError",
    "TorchVectorEnv",
    "Turns",
    "Worlds",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if find_spec("gymnasium") is None:
        raise MissingDependencyError(
            "environments need the package 'gymnasium', which is not installed; "
            f'run: pip install "{requirement("rl")}"'
        )
    return getattr(import_module(f"dovetail.envs.{_PLACES[name]}"), name)


if find_spec("gymnasium") is not None:
    register()

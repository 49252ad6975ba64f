"""Tells Gymnasium of the environments, when `dovetail.envs` is imported: since 1.0 it looks for none by itself."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

EPISODES = {
    "Ant": (1000, 6000.0),
    "HalfCheetah": (1000, 4800.0),
    "Hopper": (1000, 3800.0),
    "Humanoid": (1000, None),
    "HumanoidStandup": (1000, None),
    "InvertedDoublePendulum": (1000, 9100.0),
    "InvertedPendulum": (1000, 950.0),
    "Pusher": (100, 0.0),
    "Reacher": (50, -3.75),
    "Swimmer": (1000, 360.0),
    "Walker2d": (1000, None),
}
"""Steps of an episode, and the return at which a task counts as solved: Gymnasium's."""

WORKED = {"ArmReach": 100, "HumanoidGetUp": 300, "QuadrupedVelocity": 500}
"""The worked examples, version 0, and the steps of an episode."""

OF_ENVIRONMENTS = (
    "max_episode_steps",
    "physics",
    "render_mode",
    "width",
    "height",
    "camera_id",
    "camera_name",
    "max_geom",
    "visual_options",
)
"""Arguments that are the environment's, not the task's."""


def register() -> None:
    """Register the tasks under `dovetail/`; a second time changes nothing."""
    import gymnasium

    known = [(name, 5, *episode) for name, episode in EPISODES.items()]
    known += [(name, 0, steps, None) for name, steps in WORKED.items()]
    for name, version, steps, threshold in known:
        if f"dovetail/{name}-v{version}" in gymnasium.registry:
            continue
        gymnasium.register(
            id=f"dovetail/{name}-v{version}",
            entry_point=f"dovetail.envs.registration:{name}Env",
            vector_entry_point=f"dovetail.envs.registration:{name}VectorEnv",
            max_episode_steps=steps,
            reward_threshold=threshold,
        )


def __getattr__(name: str) -> Callable[..., Any]:
    """Makers of the environments, by the names that `register` gives."""
    for ending, vector in (("VectorEnv", True), ("Env", False)):
        task = name.removesuffix(ending)
        if name.endswith(ending) and (task in EPISODES or task in WORKED):
            return _maker(task, vector)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _maker(name: str, vector: bool) -> Callable[..., Any]:
    def make(**arguments: Any) -> Any:
        from dovetail.envs.single import DovetailEnv
        from dovetail.envs.vector import DovetailVectorEnv

        names = (*OF_ENVIRONMENTS, *(("num_envs", "autoreset_mode") if vector else ()))
        own = {key: arguments.pop(key) for key in names if key in arguments}
        group = "worked" if name in WORKED else "v5"
        task = import_module(f"dovetail.envs.{group}").TASKS[name](**arguments)
        return DovetailVectorEnv(task, **own) if vector else DovetailEnv(task, **own)

    make.metadata = {"render_modes": ["rgb_array", "depth_array", "rgbd_tuple"]}  # type: ignore[attr-defined]
    return make

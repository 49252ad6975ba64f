"""The eleven MuJoCo tasks of Gymnasium, version 5, as array functions over worlds.

Models are the files of the installed gymnasium. Arguments, observations, rewards, infos and draws of random numbers
are those of `gymnasium.envs.mujoco.*_v5`: with the same seed an environment starts where Gymnasium's does.
"""

from __future__ import annotations

from dovetail.envs.v5.arms import Pusher, Reacher
from dovetail.envs.v5.humanoids import Humanoid, HumanoidStandup
from dovetail.envs.v5.pendulums import InvertedDoublePendulum, InvertedPendulum
from dovetail.envs.v5.planar import HalfCheetah, Hopper, Swimmer, Walker2d
from dovetail.envs.v5.quadruped import Ant

TASKS = {
    task.__name__: task
    for task in (
        Ant,
        HalfCheetah,
        Hopper,
        Humanoid,
        HumanoidStandup,
        InvertedDoublePendulum,
        InvertedPendulum,
        Pusher,
        Reacher,
        Swimmer,
        Walker2d,
    )
}

__all__ = ["TASKS", *TASKS]

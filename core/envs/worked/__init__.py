"""Tasks that show how tasks are written, one file each."""

from __future__ import annotations

from dovetail.envs.worked.arm import ArmReach
from dovetail.envs.worked.humanoid import HumanoidGetUp
from dovetail.envs.worked.quadruped import QuadrupedVelocity

TASKS = {task.__name__: task for task in (ArmReach, HumanoidGetUp, QuadrupedVelocity)}

__all__ = ["TASKS", *TASKS]

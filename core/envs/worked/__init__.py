"""Tasks that show how tasks are written, one file each."""

from __future__ import annotations

from dovetail.envs.worked.quadruped import QuadrupedVelocity

TASKS = {"QuadrupedVelocity": QuadrupedVelocity}

__all__ = ["TASKS", *TASKS]

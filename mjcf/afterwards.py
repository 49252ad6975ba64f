"""What the compiler settles once the model's constants are known: springs given as time constants, length ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.errors import PlanError

from .context import Context
from .tree import Joint

_MINVAL = 1e-15


def afterwards(context: Context) -> tuple[Callable[[Any], None], ...]:
    """Functions that complete a loaded model, in order."""
    springs = [joint for joint in context.joints if any(joint.springdamper)]
    return (lambda model: set_springs(model, springs), lambda model: set_length_ranges(model, context))


def set_springs(model: Any, joints: list[Joint]) -> None:
    """springdamper: stiffness and damping of a joint from a time constant and a ratio (mjCModel::AutoSpringDamper).

    The joint's inertia is the inverse of its mean inverse weight.
    """
    for joint in joints:
        time, ratio = joint.springdamper
        dofs = slice(joint.dofadr, joint.dofadr + joint.nv)
        inertia = 1.0 / max(_MINVAL, float(np.mean(model.dof_invweight0[dofs])))
        model.jnt_stiffness[joint.id] = inertia / max(_MINVAL, (time * ratio) ** 2)
        model.dof_damping[dofs] = 2.0 * inertia / max(_MINVAL, time)


def set_length_ranges(model: Any, context: Context) -> None:
    """actuator_lengthrange of the actuators that `<compiler><lengthrange>` is about: muscles, unless it says else."""
    if not model.nu:
        return
    from dovetail.lengthrange import DEFAULTS, LengthRangeError, length_range, needs_range

    settings = {**DEFAULTS, **context.compiler.lengthrange}
    for actuator in context.actuators:
        if not needs_range(model, actuator.id, settings):
            continue
        try:
            model.actuator_lengthrange[actuator.id] = length_range(model, actuator.id, settings)
        except (LengthRangeError, PlanError) as problem:
            raise actuator.place.error(
                f"its lengthrange cannot be computed: {problem}; write lengthrange, or switch the computation off "
                'with <compiler><lengthrange mode="none"/>'
            ) from None

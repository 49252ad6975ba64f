"""What the compiler settles once the model's constants are known: springs given as time constants, length ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from dovetail.contracts.enums import BiasType, GainType, LengthRangeMode
from dovetail.errors import PlanError
from dovetail.mjcf.elements.actuator import ActuatorItem
from dovetail.mjcf.elements.joint import JointItem
from dovetail.mjcf.model.context import Context
from dovetail.mjcf.model.first_step import check_first_step
from dovetail.plugins.shared.constants import MINVAL

Completion = Callable[[Any, Callable[[str], Callable[..., Any]]], None]
"""Completes a loaded Model, given a function that finds what fills a slot of loading."""


LENGTH_RANGE: Mapping[str, Any] = {
    "mode": int(LengthRangeMode.MUSCLE),
    "useexisting": True,
    "uselimit": False,
    "accel": 20.0,
    "maxforce": 0.0,
    "timeconst": 1.0,
    "timestep": 0.01,
    "inttotal": 10.0,
    "interval": 2.0,
    "tolrange": 0.05,
}
"""mj_defaultLROpt of MuJoCo 3.4; seconds, and rad/s² or m/s²."""


def afterwards(context: Context) -> tuple[Completion, ...]:
    """Functions that complete a loaded model, in order."""
    springs = [joint for joint in context.joints if any(joint.springdamper)]
    return (
        lambda model, filler: set_springs(model, springs),
        lambda model, filler: set_length_ranges(model, context, filler),
        lambda model, filler: check_first_step(model, context),
    )


def set_springs(model: Any, joints: list[JointItem]) -> None:
    """springdamper: stiffness and damping of a joint from a time constant and a ratio (mjCModel::AutoSpringDamper).

    The joint's inertia is the inverse of its mean inverse weight.
    """
    for joint in joints:
        time, ratio = joint.springdamper
        dofs = slice(joint.dofadr, joint.dofadr + joint.nv)
        inertia = 1.0 / max(MINVAL, float(np.mean(model.dof_invweight0[dofs])))
        model.jnt_stiffness[joint.id] = inertia / max(MINVAL, time * ratio * time * ratio)
        model.dof_damping[dofs] = 2.0 * inertia / max(MINVAL, time)


def set_length_ranges(model: Any, context: Context, filler: Callable[[str], Callable[..., Any]]) -> None:
    """actuator_lengthrange of the actuators that `<compiler><lengthrange>` is about: muscles, unless it says else."""
    settings = {**LENGTH_RANGE, **context.compiler.lengthrange}
    wanted = [actuator for actuator in context.actuators if needs_range(model, actuator.id, settings)]
    if not wanted:
        return
    row = filler("length_range")
    with _told(wanted[0]):  # a row that can do them all at once says so by an attribute
        together: Callable[..., Mapping[int, Any]] = getattr(row, "together", lambda *arguments: {})
        ahead = together(model, [actuator.id for actuator in wanted], settings)
    for actuator in wanted:
        with _told(actuator):
            found = ahead[actuator.id] if actuator.id in ahead else row(model, actuator.id, settings)
        model.actuator_lengthrange[actuator.id] = found


@contextmanager
def _told(actuator: ActuatorItem) -> Iterator[None]:
    """Say with the actuator's place why its range cannot be found."""
    try:
        yield
    except (ValueError, PlanError) as problem:
        raise actuator.place.error(
            f"its lengthrange cannot be computed: {problem}; write lengthrange, or switch the computation off "
            'with <compiler><lengthrange mode="none"/>'
        ) from None


def needs_range(model: Any, actuator: int, settings: Mapping[str, Any]) -> bool:
    """Whether the settings ask for this actuator's range."""
    types = int(model.actuator_gaintype[actuator]), int(model.actuator_biastype[actuator])
    muscle = types[0] == GainType.MUSCLE or types[1] == BiasType.MUSCLE
    user = types[0] == GainType.USER or types[1] == BiasType.USER
    wanted = {
        LengthRangeMode.NONE: False,
        LengthRangeMode.MUSCLE: muscle,
        LengthRangeMode.MUSCLEUSER: muscle or user,
        LengthRangeMode.ALL: True,
    }[LengthRangeMode(settings["mode"])]
    low, high = model.actuator_lengthrange[actuator]
    return wanted and not (settings["useexisting"] and low < high)

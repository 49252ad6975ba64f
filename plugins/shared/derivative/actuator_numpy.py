"""How actuator forces change with velocity: affine biases, affine gains and muscles, through the moment arms.

MuJoCo 3.4 differentiates gain × input + bias and nothing around it: the input is the control as it was set, not
clamped, or the activation as it is, even with `actearly`; forcerange and actuatorfrcrange are ignored. Laws of
other types count as independent of velocity. Compare mjd_actuator_vel.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import BiasType, DisableBit, DynType, GainType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.activation_numpy import disabled_actuators
from dovetail.plugins.shared.derivative.muscle_numpy import gain_velocity as muscle_gain_velocity
from dovetail.plugins.shared.derivative.pattern import add_along

SLOPE = 2
"""Place of the velocity's coefficient in gainprm and biasprm."""


def add_actuators(model: ModelLike, data: DataLike, deriv: Array) -> None:
    """Add ∂qfrc_actuator/∂qvel to the pattern D."""
    if not model.nu or model.opt.disableflags & DisableBit.ACTUATION:
        return
    slope = force_velocity(model, data)
    slope[disabled_actuators(model)] = 0.0
    actuator = np.repeat(np.arange(model.nu), data.moment_rownnz)
    # The rows follow one another from address 0.
    arms = actuator, data.moment_colind[: len(actuator)], data.actuator_moment[: len(actuator)]
    add_along(model, deriv, arms, slope)


def force_velocity(model: ModelLike, data: DataLike) -> Array:
    """Derivative of each actuator's force with respect to its velocity."""
    affine_bias = model.actuator_biastype == BiasType.AFFINE
    gain = gain_velocity(model, data)
    of_gain = np.where(gain != 0.0, gain * inputs(model, data), 0.0)  # the input may be NaN
    return np.where(affine_bias, model.actuator_biasprm[:, SLOPE], 0.0) + of_gain


def gain_velocity(model: ModelLike, data: DataLike) -> Array:
    """Derivative of each actuator's gain with respect to its velocity."""
    affine = model.actuator_gaintype == GainType.AFFINE
    slope = np.where(affine, model.actuator_gainprm[:, SLOPE], 0.0)
    muscles = np.flatnonzero(model.actuator_gaintype == GainType.MUSCLE)
    if len(muscles):
        slope[muscles] = muscle_gain_velocity(model, data, muscles)
    return slope


def inputs(model: ModelLike, data: DataLike) -> Array:
    """What multiplies the gain in the derivative: the control, or the last activation."""
    value = np.array(data.ctrl)
    stateful = np.flatnonzero(model.actuator_dyntype != DynType.NONE)
    last = (model.actuator_actadr + model.actuator_actnum - 1)[stateful]
    value[stateful] = data.act[last]
    return value

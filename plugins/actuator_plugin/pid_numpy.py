"""MuJoCo's engine plugin `mujoco.pid`: force = kp·error + kd·(rate of error) + ki·(integral of error).

The error is setpoint − actuator_length. The setpoint is the control within ctrlrange (whatever flag clampctrl
says), or where the actuator has a dyntype its last activation; with slewmax it moves no faster than that from
the setpoint of the step before. The actuator's activations are, as far as it has them: the integral, whose force
stays within imax; the last setpoint; the activation of its dyntype. The first two jump to their new values in
one time step, so their rates are differences divided by the time step. Compare plugin/actuator/pid.cc.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np

from dovetail.contracts.engine_plugins import leading_number
from dovetail.contracts.enums import DynType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.activation_numpy import next_activation


@attrs.frozen
class Gains:
    """The configuration as numbers."""

    kp: float
    ki: float
    kd: float
    most_integral: float
    """Largest integral of the error: imax/ki."""
    slewmax: float | None

    @classmethod
    def of(cls, config: Mapping[str, str]) -> Gains:
        kp, ki, kd = (leading_number(config[key]) or 0.0 for key in ("kp", "ki", "kd"))
        limited = ki != 0.0 and config["imax"] != ""
        most = (leading_number(config["imax"]) or 0.0) / ki if limited else np.inf
        slewmax = (leading_number(config["slewmax"]) or 0.0) if config["slewmax"] else None
        return cls(kp, ki, kd, most, slewmax)


def pid(model: ModelLike, data: DataLike, actuator: int, config: Mapping[str, str]) -> tuple[Array, float]:
    """Rates of the actuator's activations, and its force."""
    gains = Gains.of(config)
    span = activations(model, actuator)
    act, rates = np.array(data.act[span]), np.array(data.act_dot[span])
    timestep = float(model.opt.timestep)
    setpoint = slewed(gains, model, data, wanted(model, data, actuator, act), act)
    place = 0
    if gains.ki:
        rates[place] = (integral(gains, model, data, actuator, setpoint, act) - act[place]) / timestep
        place += 1
    if gains.slewmax is not None:
        rates[place] = (setpoint - act[place]) / timestep
    return rates, force(gains, model, data, actuator, act, rates)


def force(gains: Gains, model: ModelLike, data: DataLike, actuator: int, act: Array, rates: Array) -> float:
    """The servo's force; with actearly it aims at the activation of the next step."""
    goal = wanted(model, data, actuator, act)
    if model.actuator_actearly[actuator] and has_dynamics(model, actuator):
        goal = activation_ahead(model, data, actuator, rates)
    setpoint = slewed(gains, model, data, goal, act)
    drift = float(rates[-1]) if has_dynamics(model, actuator) else 0.0
    total = gains.kp * (setpoint - float(data.actuator_length[actuator]))
    total += gains.kd * (drift - float(data.actuator_velocity[actuator]))
    if gains.ki:
        total += gains.ki * integral(gains, model, data, actuator, setpoint, act)
    return total


def activations(model: ModelLike, actuator: int) -> slice:
    """Where the actuator's activations are."""
    first = int(model.actuator_actadr[actuator])
    return slice(first, first + int(model.actuator_actnum[actuator])) if first >= 0 else slice(0, 0)


def has_dynamics(model: ModelLike, actuator: int) -> bool:
    """Whether a dyntype drives the last activation."""
    return bool(model.actuator_dyntype[actuator] != DynType.NONE and model.actuator_actnum[actuator])


def wanted(model: ModelLike, data: DataLike, actuator: int, act: Array) -> float:
    """The setpoint before its rate is limited."""
    if has_dynamics(model, actuator):
        return float(act[-1])
    control = float(data.ctrl[actuator])
    if model.actuator_ctrllimited[actuator]:
        low, high = model.actuator_ctrlrange[actuator]
        return float(np.clip(control, low, high))
    return control


def activation_ahead(model: ModelLike, data: DataLike, actuator: int, rates: Array) -> float:
    """The actuator's last activation after this step."""
    all_rates = np.array(data.act_dot)
    span = activations(model, actuator)
    all_rates[span] = rates
    return float(next_activation(model, data.act, all_rates)[span][-1])


def slewed(gains: Gains, model: ModelLike, data: DataLike, goal: float, act: Array) -> float:
    """The setpoint, near enough to the one before; at time 0 there was none before."""
    if gains.slewmax is None or data.time <= 0.0:
        return goal
    before = float(act[1 if gains.ki else 0])
    reach = gains.slewmax * float(model.opt.timestep)
    return float(np.clip(goal, before - reach, before + reach))


def integral(
    gains: Gains, model: ModelLike, data: DataLike, actuator: int, setpoint: float, act: Array
) -> float:
    """The integral of the error after this step, within its limit."""
    error = setpoint - float(data.actuator_length[actuator])
    most = gains.most_integral
    return float(np.clip(float(act[0]) + error * float(model.opt.timestep), -most, most))

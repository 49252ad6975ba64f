"""Actuator forces and the joint forces they make.

Control is clamped, turned into the rate of change of activations, then into force: gain × (control, or the
activation where the actuator has one) + bias, clamped again, and mapped through the moment arms. The laws
themselves are rows of the tables actuator_dynamics, actuator_gain and actuator_bias, found by type; actuators
of MuJoCo's engine plugins get their force from actuator_plugin. Actuators of disabled groups still report
act_dot, but give no force; those of plugins do even then. Joints with actuatorgravcomp get their share of
gravity compensation here, within their force limit. Compare mj_fwdActuation.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from dovetail.bad_states import Event, describe_control, is_heard
from dovetail.contracts.enums import BiasType, DisableBit, DynType, GainType, TrnType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.actuation.rows_numpy import Parts, by_type, of_plugin
from dovetail.plugins.shared.activation_numpy import disabled_actuators, next_activation
from dovetail.plugins.shared.constants import MAXVAL
from dovetail.plugins.shared.ordered_numpy import clip


def actuation(model: ModelLike, data: DataLike, parts: Parts) -> None:
    """Write act_dot, actuator_force and qfrc_actuator."""
    data.actuator_force[:] = 0.0
    data.qfrc_actuator[:] = 0.0
    if not model.nu or model.opt.disableflags & DisableBit.ACTUATION:
        return
    ctrl = clamped_controls(model, data)
    if model.na:
        data.act_dot[:] = activation_rates(model, data, ctrl, parts)
    foreign = plugin_forces(model, data, parts)
    force = actuator_forces(model, data, ctrl, parts)
    force[list(foreign)] = list(foreign.values())
    force = limit_tendon_forces(model, force)
    force = clamp(force, model.actuator_forcelimited, model.actuator_forcerange)
    data.actuator_force[:] = force
    data.qfrc_actuator[:] = joint_forces(model, data, force)


def clamped_controls(model: Any, data: DataLike) -> Array:
    """Controls within ctrlrange; all zero if any is broken, as MuJoCo does, with a warning."""
    ctrl = np.array(data.ctrl)
    if not model.opt.disableflags & DisableBit.CLAMPCTRL:
        ctrl = clamp(ctrl, model.actuator_ctrllimited, model.actuator_ctrlrange)
    broken = ~(np.abs(ctrl) <= MAXVAL)
    if broken.any():
        first = int(np.argmax(broken))
        tell_of_control(model, data, first, float(ctrl[first]))
        return np.zeros(model.nu)
    return ctrl


def tell_of_control(model: Any, data: DataLike, actuator: int, value: float) -> None:
    """Tell the owner of the data of a broken control, or warn of it."""
    number = getattr(data, "number", None)  # mjData has none
    time = float(data.time)
    if not is_heard(data, [Event(number or 0, "ctrl", actuator, value, time, 1)]):
        warnings.warn(describe_control(model, actuator, value, time, number), RuntimeWarning, stacklevel=2)


def clamp(values: Array, limited: Array, bounds: Array) -> Array:
    """Values within their bounds (n, 2) where they are limited."""
    return np.where(limited.astype(bool), clip(values, bounds[:, 0], bounds[:, 1]), values)


def activation_rates(model: ModelLike, data: DataLike, ctrl: Array, parts: Parts) -> Array:
    """Rate of change of every activation; an actuator's law drives its last one."""
    rates = np.zeros(model.na)
    ids = np.flatnonzero(model.actuator_actadr >= 0)
    last = model.actuator_actadr[ids] + model.actuator_actnum[ids] - 1
    rates[last] = by_type(
        model, data, parts, "actuator_dynamics", model.actuator_dyntype, DynType, ids, ctrl[ids]
    )
    return rates


def plugin_forces(model: ModelLike, data: DataLike, parts: Parts) -> dict[int, float]:
    """Forces of the actuators that engine plugins drive; also writes the rates of their activations."""
    forces = {}
    for actuator in np.flatnonzero(model.actuator_plugin >= 0).tolist():
        rates, forces[actuator] = of_plugin(model, data, parts, actuator)
        first = int(model.actuator_actadr[actuator])
        if first >= 0:
            data.act_dot[first : first + len(rates)] = rates
    return forces


def actuator_forces(model: ModelLike, data: DataLike, ctrl: Array, parts: Parts) -> Array:
    """gain × input + bias of the engine's own actuators; zero in disabled groups."""
    force = np.zeros(model.nu)
    ids = np.flatnonzero(native_and_enabled(model))
    gain = by_type(model, data, parts, "actuator_gain", model.actuator_gaintype, GainType, ids)
    bias = by_type(model, data, parts, "actuator_bias", model.actuator_biastype, BiasType, ids)
    force[ids] = gain * driving_inputs(model, data, ctrl)[ids] + bias
    return force


def native_and_enabled(model: ModelLike) -> Array:
    """Which actuators have laws of the engine's own and are in no disabled group."""
    return (model.actuator_plugin < 0) & ~disabled_actuators(model)


def driving_inputs(model: ModelLike, data: DataLike, ctrl: Array) -> Array:
    """What the gain multiplies: control, the activation, or with actearly the activation after this step."""
    if not model.na:
        return ctrl
    value = ctrl.copy()
    stateful = np.flatnonzero(model.actuator_actadr >= 0)
    last = (model.actuator_actadr + model.actuator_actnum - 1)[stateful]
    early = model.actuator_actearly[stateful].astype(bool)
    value[stateful] = data.act[last]
    if early.any():
        value[stateful[early]] = next_activation(model, data.act, data.act_dot)[last[early]]
    return value


def limit_tendon_forces(model: ModelLike, force: Array) -> Array:
    """Forces scaled down where all actuators of a tendon together exceed its actuatorfrcrange.

    MuJoCo 3.4 looks for limited tendons only among those of enabled actuators without engine plugin; if there is
    none, no tendon is limited.
    """
    if not model.tendon_actfrclimited.any():
        return force
    on_tendon = model.actuator_trntype == TrnType.TENDON
    tendon = np.where(on_tendon, model.actuator_trnid[:, 0], 0)
    limited = on_tendon & (model.tendon_actfrclimited[tendon] != 0)
    if not (limited & native_and_enabled(model)).any():
        return force
    total = np.zeros(model.ntendon)
    np.add.at(total, tendon[limited], force[limited])
    low, high = model.tendon_actfrcrange.T
    exceeds = ((total < low) | (total > high)) & (total != 0.0)
    scale = np.divide(clip(total, low, high), total, out=np.ones_like(total), where=exceeds)
    return np.where(limited, force * scale[tendon], force)


def joint_forces(model: ModelLike, data: DataLike, force: Array) -> Array:
    """Momentsᵀ·force plus gravity compensation, within the actuatorfrcrange of joints, of each in its first dof."""
    actuator = np.repeat(np.arange(model.nu), data.moment_rownnz)
    used = len(actuator)
    entries = data.actuator_moment[:used] * force[actuator]
    qfrc = np.zeros(model.nv)
    np.add.at(qfrc, data.moment_colind[:used], entries)
    if model.ngravcomp:
        qfrc += np.where(model.jnt_actgravcomp[model.dof_jntid] != 0, data.qfrc_gravcomp, 0.0)
    limited = np.flatnonzero(model.jnt_actfrclimited)
    if len(limited):
        dof = model.jnt_dofadr[limited]
        bounds = model.jnt_actfrcrange[limited]
        qfrc[dof] = clip(qfrc[dof], bounds[:, 0], bounds[:, 1])
    return qfrc

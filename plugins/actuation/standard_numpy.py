"""Actuator forces and the joint forces they make.

Control is clamped, turned into the rate of change of activations, then into force: gain × (control, or the
activation where the actuator has one) + bias, clamped again, and mapped through the moment arms. The laws
themselves are rows of the tables actuator_dynamics, actuator_gain and actuator_bias, found by type.
Actuators of disabled groups still report act_dot, but give no force. Compare mj_fwdActuation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

import numpy as np

from dovetail.contracts.enums import BiasType, DisableBit, DynType, GainType
from dovetail.plugins.integrate.activation_numpy import disabled_actuators, next_activation
from dovetail.plugins.spatial import Array, single_dof

MAXVAL = 1e10
"""A control beyond this is taken as broken (mjMAXVAL, MuJoCo 3.4)."""

Rows = Mapping[str, Callable[..., Array]]


def actuation(model: Any, data: Any, parts: Mapping[str, Rows]) -> None:
    """Write act_dot, actuator_force and qfrc_actuator."""
    data.actuator_force[:] = 0.0
    data.qfrc_actuator[:] = 0.0
    if not model.nu or model.opt.disableflags & DisableBit.ACTUATION:
        return
    ctrl = clamped_controls(model, data.ctrl)
    if model.na:
        data.act_dot[:] = activation_rates(model, data, ctrl, parts["actuator_dynamics"])
    force = actuator_forces(model, data, ctrl, parts)
    data.actuator_force[:] = force
    data.qfrc_actuator[:] = joint_forces(model, data, force)


def clamped_controls(model: Any, ctrl: Array) -> Array:
    """Controls within ctrlrange; all zero if any is broken, as MuJoCo does, with a warning."""
    if not model.opt.disableflags & DisableBit.CLAMPCTRL:
        ctrl = clamp(ctrl, model.actuator_ctrllimited, model.actuator_ctrlrange)
    broken = ~(np.abs(ctrl) <= MAXVAL)
    if broken.any():
        first = int(np.argmax(broken))
        warnings.warn(
            f"ctrl of actuator {first} is {ctrl[first]}: every control is taken as 0 in this evaluation",
            RuntimeWarning,
            stacklevel=2,
        )
        return np.zeros(model.nu)
    return ctrl


def clamp(values: Array, limited: Array, bounds: Array) -> Array:
    """Values within their bounds (n, 2) where they are limited."""
    return np.where(limited.astype(bool), np.clip(values, bounds[:, 0], bounds[:, 1]), values)


def activation_rates(model: Any, data: Any, ctrl: Array, dynamics: Rows) -> Array:
    """Rate of change of every activation; an actuator's law drives its last one."""
    rates = np.zeros(model.na)
    last = model.actuator_actadr + model.actuator_actnum - 1
    for kind in set(model.actuator_dyntype.tolist()):
        ids = np.flatnonzero((model.actuator_dyntype == kind) & (model.actuator_actadr >= 0))
        if len(ids):
            law = row_of(dynamics, "actuator_dynamics", DynType(kind), ids)
            rates[last[ids]] = law(model, data, ids, ctrl[ids])
    return rates


def actuator_forces(model: Any, data: Any, ctrl: Array, parts: Mapping[str, Rows]) -> Array:
    """gain × input + bias, within forcerange; zero in disabled groups."""
    gain = by_type(model, data, parts, "actuator_gain", model.actuator_gaintype, GainType)
    bias = by_type(model, data, parts, "actuator_bias", model.actuator_biastype, BiasType)
    force = gain * inputs(model, data, ctrl) + bias
    force[disabled_actuators(model)] = 0.0
    return clamp(force, model.actuator_forcelimited, model.actuator_forcerange)


def inputs(model: Any, data: Any, ctrl: Array) -> Array:
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


def joint_forces(model: Any, data: Any, force: Array) -> Array:
    """Momentsᵀ·force, within the actuatorfrcrange of hinges and slides."""
    actuator = np.repeat(np.arange(model.nu), data.moment_rownnz)
    used = len(actuator)
    entries = data.actuator_moment[:used] * force[actuator]
    qfrc = np.zeros(model.nv)
    np.add.at(qfrc, data.moment_colind[:used], entries)
    limited = np.flatnonzero(single_dof(model.jnt_type) & model.jnt_actfrclimited.astype(bool))
    if len(limited):
        dof = model.jnt_dofadr[limited]
        bounds = model.jnt_actfrcrange[limited]
        qfrc[dof] = np.clip(qfrc[dof], bounds[:, 0], bounds[:, 1])
    return qfrc


def by_type(
    model: Any, data: Any, parts: Mapping[str, Rows], table: str, types: Array, names: type[IntEnum]
) -> Array:
    """One number per actuator from the rows of a table, each called once for the actuators of its type."""
    value = np.empty(model.nu)
    for kind in set(types.tolist()):
        ids = np.flatnonzero(types == kind)
        value[ids] = row_of(parts[table], table, names(kind), ids)(model, data, ids)
    return value


def row_of(rows: Rows, table: str, kind: IntEnum, ids: Array) -> Callable[..., Array]:
    """The row for a type; the error says which actuator wanted it and which rows there are."""
    key = kind.name.lower()
    if key not in rows:
        raise KeyError(
            f"actuator {int(ids[0])} needs {table} {key!r}; there are: {', '.join(sorted(rows))}. "
            f"A plugin can add a row {key!r} to the table {table}."
        )
    return rows[key]

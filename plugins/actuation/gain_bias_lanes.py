"""Actuator forces and the joint forces they make, in lanes.

Control is clamped, turned into the rate of change of activations, then into force: gain × (control, or the
activation where the actuator has one) + bias, clamped again, and mapped through the moment arms. The laws
themselves are rows of the tables actuator_dynamics, actuator_gain and actuator_bias, found by type. Actuators of
disabled groups still report act_dot, but give no force. Joints with actuatorgravcomp get their share of gravity
compensation here, within their force limit. Compare mj_fwdActuation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from dovetail.backends.lanes.controls import record_broken
from dovetail.backends.lanes.kernel import Int, Kernel, LaneField
from dovetail.backends.lanes.scopes import walk
from dovetail.contracts.enums import BiasType, DisableBit, DynType, GainType, TrnType
from dovetail.plugins.shared.activation_lanes import disabled_actuators, next_activation
from dovetail.plugins.shared.constants import MAXVAL
from dovetail.plugins.shared.moments.rows_lanes import moment_entries

Rows = Mapping[str, Callable[..., Any]]


def actuation(k: Kernel, parts: Mapping[str, Rows]) -> None:
    """Write act_dot, actuator_force and qfrc_actuator."""
    m, d = k.model, k.data
    for field in (d.qfrc_actuator, d.actuator_force, d.act_dot):
        with k.loop(0, field.shape[0]) as i:
            field[i] = 0.0
    if not m.nu:
        return
    with k.when(~k.disabled(DisableBit.ACTUATION)):
        ctrl = clamped_controls(k)
        if m.na:
            activation_rates(k, ctrl, parts["actuator_dynamics"])
        actuator_forces(k, ctrl, parts)
        if k.has("tendon.actfrcrange") and k.has("trn.tendon"):
            limit_tendon_forces(k)
        limit_actuators(k)
        joint_forces(k)


def clamped_controls(k: Kernel) -> LaneField:
    """Controls within ctrlrange; all zero in a world where any is broken, as MuJoCo does."""
    m, d = k.model, k.data
    ctrl = k.scratch("ctrl", m.nu)
    clamps = ~k.disabled(DisableBit.CLAMPCTRL)
    sound, which, wrong = k.local(1.0), k.local(0.0), k.local(0.0)
    with k.loop(0, m.nu) as i:
        given = d.ctrl[i]
        low, high = m.actuator_ctrlrange[i]
        limited = (m.actuator_ctrllimited[i] != 0) & clamps
        value = k.select(limited, k.clip(given, low, high), given)
        ctrl[i] = value
        sound.set(k.select((value <= MAXVAL) & (value >= -MAXVAL), sound.value, 0.0))
    with k.when(k.any(sound.value < 0.5)):
        with k.loop(0, m.nu, reverse=True) as i:
            fit = (ctrl[i] <= MAXVAL) & (ctrl[i] >= -MAXVAL)
            which.set(k.select(fit, which.value, i * 1.0))
            wrong.set(k.select(fit, wrong.value, ctrl[i]))
        record_broken(k, sound.value < 0.5, which.value, wrong.value)
        with k.loop(0, m.nu) as i:
            ctrl[i] = k.select(sound.value < 0.5, 0.0, ctrl[i])
    return ctrl


def activation_rates(k: Kernel, ctrl: LaneField, dynamics: Rows) -> None:
    """Rate of change of every activation; an actuator's law drives its last one."""
    m, d = k.model, k.data
    with k.loop(0, m.nu) as i:
        first = m.actuator_actadr[i]
        with k.when(first >= 0):
            last = first + m.actuator_actnum[i] - 1
            for law in each_row(k, dynamics, DynType, m.actuator_dyntype[i]):
                d.act_dot[last] = law(k, i, ctrl[i])


def actuator_forces(k: Kernel, ctrl: LaneField, parts: Mapping[str, Rows]) -> None:
    """gain × input + bias; zero in disabled groups."""
    m, d = k.model, k.data
    with k.loop(0, m.nu) as i:
        gain, bias = k.local(0.0), k.local(0.0)
        for law in each_row(k, parts["actuator_gain"], GainType, m.actuator_gaintype[i]):
            gain.set(law(k, i))
        for law in each_row(k, parts["actuator_bias"], BiasType, m.actuator_biastype[i]):
            bias.set(law(k, i))
        force = gain.value * driving_input(k, i, ctrl) + bias.value
        d.actuator_force[i] = k.select(disabled_actuators(k, i), 0.0, force)


def limit_tendon_forces(k: Kernel) -> None:
    """Scale forces down where all actuators of a tendon together exceed its actuatorfrcrange.

    MuJoCo 3.4 looks for limited tendons only among those of enabled actuators; without any, no tendon is limited.
    """
    m, d = k.model, k.data
    total = k.scratch("tendon_force", m.ntendon)
    enabled = k.local(0)
    with k.loop(0, m.ntendon) as tendon:
        total[tendon] = 0.0
    with on_limited_tendons(k) as (actuator, tendon):
        total[tendon] += d.actuator_force[actuator]
        enabled.set(k.select(disabled_actuators(k, actuator), enabled.value, 1))
    with k.when(enabled.value > 0), on_limited_tendons(k) as (actuator, tendon):
        low, high = m.tendon_actfrcrange[tendon]
        sum_ = total[tendon]
        exceeds = ((sum_ < low) | (sum_ > high)) & (sum_ != 0.0)
        scale = k.select(exceeds, k.clip(sum_, low, high) / k.select(exceeds, sum_, 1.0), 1.0)
        d.actuator_force[actuator] = d.actuator_force[actuator] * scale


@contextmanager
def on_limited_tendons(k: Kernel) -> Iterator[tuple[Int, Any]]:
    """Repeat for each actuator of a tendon with limited force: the actuator, the tendon."""
    m = k.model
    with k.loop(0, m.nu) as actuator, k.when(m.actuator_trntype[actuator] == TrnType.TENDON):
        tendon = m.actuator_trnid[actuator, 0]
        with k.when(m.tendon_actfrclimited[tendon] != 0):
            yield actuator, tendon


def limit_actuators(k: Kernel) -> None:
    """Forces within forcerange."""
    m, d = k.model, k.data
    with k.loop(0, m.nu) as i:
        low, high = m.actuator_forcerange[i]
        force = d.actuator_force[i]
        d.actuator_force[i] = k.select(m.actuator_forcelimited[i] != 0, k.clip(force, low, high), force)


def driving_input(k: Kernel, actuator: Int, ctrl: LaneField) -> Any:
    """What the gain multiplies: control, the activation, or with actearly the activation after this step."""
    m, d = k.model, k.data
    if not m.na:
        return ctrl[actuator]
    value = k.local(ctrl[actuator])
    first = m.actuator_actadr[actuator]
    with k.when(first >= 0):
        last = first + m.actuator_actnum[actuator] - 1
        value.set(d.act[last])
        with k.when(m.actuator_actearly[actuator] != 0):
            value.set(next_activation(k, actuator, d.act[last], d.act_dot[last]))
    return value.value


def joint_forces(k: Kernel) -> None:
    """Momentsᵀ·force plus gravity compensation, within the actuatorfrcrange of joints, of each in its first dof."""
    m, d = k.model, k.data
    with k.loop(0, m.nu) as actuator:
        force = d.actuator_force[actuator]
        with moment_entries(k, actuator) as (at, dof, _):
            d.qfrc_actuator[dof] += d.actuator_moment[at] * force
    if k.has("actuator.gravcomp"):
        with k.loop(0, m.nv) as dof, k.when(m.jnt_actgravcomp[m.dof_jntid[dof]] != 0):
            d.qfrc_actuator[dof] += d.qfrc_gravcomp[dof]
    with k.loop(0, m.njnt) as joint:
        dof = m.jnt_dofadr[joint]
        with k.when(m.jnt_actfrclimited[joint] != 0):
            low, high = m.jnt_actfrcrange[joint]
            d.qfrc_actuator[dof] = k.clip(d.qfrc_actuator[dof], low, high)


@walk
def each_row(k: Kernel, rows: Rows, names: type[IntEnum], of: Any) -> Iterator[Callable[..., Any]]:
    """The rows of a table, which are those the model uses, each inside the branch of its type."""
    for key, row in rows.items():
        with k.when(of == int(names[key.upper()])):
            yield row

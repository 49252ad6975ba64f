"""How actuator forces change with velocity, in lanes: affine biases, affine gains, muscles, through the moment arms.

MuJoCo 3.4 differentiates gain × input + bias and nothing around it: the input is the control as it was set, not
clamped, or the activation as it is, even with `actearly`; forcerange and actuatorfrcrange are ignored. Laws of other
types count as independent of velocity. Compare mjd_actuator_vel.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel, LaneField
from dovetail.contracts.enums import BiasType, DisableBit, DynType, GainType
from dovetail.plugins.shared.activation_lanes import disabled_actuators
from dovetail.plugins.shared.derivative.muscle_lanes import gain_velocity as muscle_gain_velocity
from dovetail.plugins.shared.mass_pairs_lanes import Stored, each_pair
from dovetail.plugins.shared.moments.layout import moment_rows

SLOPE = 2
"""Place of the velocity's coefficient in gainprm and biasprm."""


def add_actuators(k: Kernel, matrix: LaneField, scale: Any, stored: Stored | None = None) -> None:
    """Add scale·∂qfrc_actuator/∂qvel to a matrix with M's layout, or with the one that `stored` knows."""
    m, d = k.model, k.data
    if not m.nu:
        return
    rows = arms(k)
    with (
        k.when(~k.disabled(DisableBit.ACTUATION)),
        k.loop(0, m.nu) as actuator,
        k.when(depends_on_velocity(k, actuator) & ~disabled_actuators(k, actuator)),
    ):
        slope = scale * force_velocity(k, actuator)
        with each_pair(k, "actuator", rows, actuator, stored) as (one, other, at):
            matrix[at] += slope * d.actuator_moment[one] * d.actuator_moment[other]


def arms(k: Kernel) -> list[list[tuple[int, int]]]:
    """(dof, address in actuator_moment) of every actuator's entries."""
    rows, first = [], 0
    for row in moment_rows(k.frozen_model):
        rows.append([(entry.dof, first + n) for n, entry in enumerate(row)])
        first += len(row)
    return rows


def depends_on_velocity(k: Kernel, i: Int) -> Any:
    """Whether the actuator's force can change with velocity at all."""
    m = k.model
    bias = (m.actuator_biastype[i] == BiasType.AFFINE) & k.any(m.actuator_biasprm[i, SLOPE] != 0.0)
    gain = (m.actuator_gaintype[i] == GainType.AFFINE) & k.any(m.actuator_gainprm[i, SLOPE] != 0.0)
    return bias | gain | (m.actuator_gaintype[i] == GainType.MUSCLE)


def force_velocity(k: Kernel, i: Int) -> Any:
    """Derivative of an actuator's force with respect to its velocity."""
    m = k.model
    total = k.local(0.0)
    with k.when(m.actuator_biastype[i] == BiasType.AFFINE):
        total.set(m.actuator_biasprm[i, SLOPE])
    if k.has("gain.affine"):
        with k.when(m.actuator_gaintype[i] == GainType.AFFINE):
            total += of_gain(k, i, m.actuator_gainprm[i, SLOPE])
    if k.has("gain.muscle"):
        with k.when(m.actuator_gaintype[i] == GainType.MUSCLE):
            total += of_gain(k, i, muscle_gain_velocity(k, i))
    return total.value


def of_gain(k: Kernel, i: Int, slope: Any) -> Any:
    """What a gain adds that has a derivative with respect to velocity: nothing without one, also if the input is
    NaN."""
    return k.select(slope != 0.0, slope * driving(k, i), 0.0)


def driving(k: Kernel, i: Int) -> Any:
    """What multiplies the gain in the derivative: the control, or the last activation."""
    m, d = k.model, k.data
    value = k.local(d.ctrl[i])
    if m.na:
        with k.when(m.actuator_dyntype[i] != DynType.NONE):
            value.set(d.act[m.actuator_actadr[i] + m.actuator_actnum[i] - 1])
    return value.value

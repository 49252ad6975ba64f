"""Sensors of joint and tendon limits, in lanes: distance and velocity, from positions, and the solver's forces.

A limit out of reach of its margin reads zero; with both ends in reach the lower one counts. The distance is to the
limit, less its margin. A ball joint has one end: its angle from the reference orientation. A tendon that no dof moves
has no limit. Forces are those of the limits' rows in the memory of the kernel. Compare the limit cases of
mj_computeSensorPos, …Vel and …Acc, and mj_instantiateLimit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.contracts.enums import DisableBit, JointType, SensorType
from dovetail.plugins.sensor.readings_lanes import each_sensor, numbered_sensor, write
from dovetail.plugins.sensor.readings_numpy import sensors_of
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.quaternions_lanes import quat_normalize, quat_to_rotation_vector
from dovetail.plugins.shared.rows.rows_lanes import DofRows
from dovetail.plugins.shared.tendons.rows_lanes import entry, row_entries
from dovetail.plugins.shared.vectors_lanes import dot, norm

_OFF = DisableBit.CONSTRAINT | DisableBit.LIMIT


class LimitSide(NamedTuple):
    """The end of a range that is in reach, if any: distance to it less the margin, and how fast that grows."""

    distance: Any
    rate: Any


def jointlimitpos(k: Kernel) -> None:
    """Distance of joints to their limit, minus the margin."""
    write_limits(k, SensorType.JOINTLIMITPOS, k.model.jnt_limited, joint_side, 0)


def jointlimitvel(k: Kernel) -> None:
    """Velocity of joints away from their limit."""
    write_limits(k, SensorType.JOINTLIMITVEL, k.model.jnt_limited, joint_side, 1)


def tendonlimitpos(k: Kernel) -> None:
    """Distance of tendons to their limit, minus the margin."""
    write_limits(k, SensorType.TENDONLIMITPOS, k.model.tendon_limited, tendon_side, 0)


def tendonlimitvel(k: Kernel) -> None:
    """Velocity of tendons away from their limit."""
    write_limits(k, SensorType.TENDONLIMITVEL, k.model.tendon_limited, tendon_side, 1)


def jointlimitfrc(k: Kernel) -> None:
    """Force of joint limits."""
    write_rows(k, SensorType.JOINTLIMITFRC, "scalar_limits", "ball_limits")


def tendonlimitfrc(k: Kernel) -> None:
    """Force of tendon limits."""
    write_rows(k, SensorType.TENDONLIMITFRC, "tendon_limits")


def write_rows(k: Kernel, kind: SensorType, *sources: str) -> None:
    """Write, for each sensor of a type, the force of the first row that its joint or tendon has in a world."""
    rows, model = DofRows(k), k.frozen_model
    places = {
        int(obj): [rows.first(source) + n for n in np.flatnonzero(rows.tables[source].ids == obj)]
        for source in sources
        for obj in rows.tables[source].ids
    }
    ends = [places.get(int(obj), []) for obj in model.sensor_objid[sensors_of(model, kind)]]
    padded = np.array([[*own, -1, -1][:2] for own in ends]).reshape(-1, 2)
    table = k.table(f"sensor/{kind.name.lower()}_rows", padded)
    with numbered_sensor(k, kind) as (n, sensor):
        force = k.local(0.0)
        for side in (1, 0):  # the lower end, if it has a row, replaces the upper one
            row = table[n, side]
            with k.when(row >= 0):
                force.set(k.select(rows.D[row] != 0.0, rows.force[row], force.value))
        write(k, sensor, force.value)


def write_limits(
    k: Kernel, kind: SensorType, limited: Any, side: Callable[[Kernel, Any], LimitSide], part: int
) -> None:
    """Write one number of the side in reach for each sensor of a type; zero if limits are off."""
    with each_sensor(k, kind) as sensor:
        reading = k.local(0.0)
        obj = k.model.sensor_objid[sensor]
        with k.when((limited[obj] != 0) & ~k.disabled(_OFF)):
            reading.set(side(k, obj)[part])
        write(k, sensor, reading.value)


def joint_side(k: Kernel, joint: Int) -> LimitSide:
    """The end of a joint's range that is in reach."""
    m, d = k.model, k.data
    found = k.local([0.0, 0.0])
    margin, kind = m.jnt_margin[joint], m.jnt_type[joint]
    at, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
    with k.when(kind >= JointType.SLIDE):
        found.set(nearer_side(k, d.qpos[at], d.qvel[dof], m.jnt_range[joint], margin))
    if k.has("joint.ball"):
        with k.when(kind == JointType.BALL):
            turn = quat_to_rotation_vector(k, quat_normalize(k, d.qpos[at : at + 4]))
            angle = norm(k, turn)
            # no rotation is about x
            spin = k.select(
                angle < MINVAL, d.qvel[dof], dot(turn, d.qvel[dof : dof + 3]) / k.max(MINVAL, angle)
            )
            distance = k.max(*m.jnt_range[joint]) - angle
            reached = distance < margin
            found.set([k.select(reached, distance - margin, 0.0), k.select(reached, -spin, 0.0)])
    return LimitSide(*found.value)


def tendon_side(k: Kernel, tendon: Int) -> LimitSide:
    """The end of a tendon's range that is in reach."""
    m, d = k.model, k.data
    found = nearer_side(
        k, d.ten_length[tendon], d.ten_velocity[tendon], m.tendon_range[tendon], m.tendon_margin[tendon]
    )
    moved = k.local(0.0)
    with row_entries(k, tendon) as (_, place):
        # MuJoCo asks a sparse Jacobian whether it has entries, and a dense one whether they are all zero
        moved += 1.0 if is_sparse(k.frozen_model) else k.abs(entry(k, place))
    return LimitSide(*(k.select(moved.value > 0.0, number, 0.0) for number in found))


def nearer_side(k: Kernel, value: Any, rate: Any, bounds: Any, margin: Any) -> list[Any]:
    """Distance less margin, and its rate, of the lower bound if it is in reach, else of the upper one if that is."""
    low, high = value - bounds[0], bounds[1] - value
    at_low, at_high = low < margin, high < margin
    distance = k.select(at_low, low - margin, k.select(at_high, high - margin, 0.0))
    return [distance, k.select(at_low, rate, k.select(at_high, -rate, 0.0))]

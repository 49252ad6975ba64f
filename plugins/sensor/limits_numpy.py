"""Sensors of joint and tendon limits: distance, velocity and force of the limit's constraint row.

A limit out of reach has no row and reads zero; with a row at either end the lower one counts. The distance is
to the limit, less its margin. Compare the limit cases of mj_computeSensorPos, …Vel and …Acc.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import ConstraintType, SensorType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.sensor.readings_numpy import sensors_of, write


def jointlimitpos(model: ModelLike, data: DataLike) -> None:
    """Distance of joints to their limit, minus the margin."""
    write_rows(
        model,
        data,
        SensorType.JOINTLIMITPOS,
        ConstraintType.LIMIT_JOINT,
        data.efc_pos - data.efc_margin,
    )


def jointlimitvel(model: ModelLike, data: DataLike) -> None:
    """Velocity of joints away from their limit."""
    write_rows(model, data, SensorType.JOINTLIMITVEL, ConstraintType.LIMIT_JOINT, data.efc_vel)


def jointlimitfrc(model: ModelLike, data: DataLike) -> None:
    """Force of joint limits."""
    write_rows(model, data, SensorType.JOINTLIMITFRC, ConstraintType.LIMIT_JOINT, data.efc_force)


def tendonlimitpos(model: ModelLike, data: DataLike) -> None:
    """Distance of tendons to their limit, minus the margin."""
    write_rows(
        model,
        data,
        SensorType.TENDONLIMITPOS,
        ConstraintType.LIMIT_TENDON,
        data.efc_pos - data.efc_margin,
    )


def tendonlimitvel(model: ModelLike, data: DataLike) -> None:
    """Velocity of tendons away from their limit."""
    write_rows(model, data, SensorType.TENDONLIMITVEL, ConstraintType.LIMIT_TENDON, data.efc_vel)


def tendonlimitfrc(model: ModelLike, data: DataLike) -> None:
    """Force of tendon limits."""
    write_rows(model, data, SensorType.TENDONLIMITFRC, ConstraintType.LIMIT_TENDON, data.efc_force)


def write_rows(
    model: ModelLike, data: DataLike, kind: SensorType, row_type: ConstraintType, values: Array
) -> None:
    """Write, for each sensor of a type, the value of the first row of its joint or tendon."""
    sensors = sensors_of(model, kind)
    rows = np.flatnonzero(data.efc_type[: data.nefc] == int(row_type))
    row_of = {int(data.efc_id[row]): row for row in rows[::-1]}
    found = [row_of.get(int(obj)) for obj in model.sensor_objid[sensors]]
    write(model, data, sensors, [0.0 if row is None else values[row] for row in found])

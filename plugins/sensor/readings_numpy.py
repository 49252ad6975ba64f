"""What all sensor rows share: which sensors are of a type, and how readings get into sensordata.

A sensor's cutoff clamps its reading: to ±cutoff if its numbers are real, from above only if they are positive.
Axes and quaternions have none; fromto sensors use it as the largest distance only. Compare mj_computeSensor.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dovetail.contracts.enums import DataType, SensorType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.ordered_numpy import clip, lesser


def sensors_of(model: ModelLike, kind: SensorType) -> Array:
    """Ids of the sensors of one type, ascending."""
    return np.flatnonzero(model.sensor_type == int(kind))


def write(model: ModelLike, data: DataLike, sensors: Array, readings: Iterable[Any]) -> None:
    """Put one reading per sensor, clamped, at its address in sensordata."""
    for sensor, reading in zip(sensors.tolist(), readings, strict=True):
        start, count = int(model.sensor_adr[sensor]), int(model.sensor_dim[sensor])
        data.sensordata[start : start + count] = clamped(model, sensor, reading)


def clamped(model: ModelLike, sensor: int, reading: Any) -> Any:
    """A reading within its sensor's cutoff."""
    cutoff = model.sensor_cutoff[sensor]
    if not cutoff > 0 or model.sensor_type[sensor] == SensorType.GEOMFROMTO:
        return reading
    if model.sensor_datatype[sensor] == DataType.REAL:
        return clip(np.asarray(reading), -cutoff, cutoff)
    if model.sensor_datatype[sensor] == DataType.POSITIVE:
        return lesser(cutoff, np.asarray(reading))
    return reading

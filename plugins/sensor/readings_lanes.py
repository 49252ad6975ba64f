"""What all sensor rows share in lanes: going through the sensors of a type, and putting readings into sensordata.

A sensor's cutoff clamps its reading: to ±cutoff if its numbers are real, from above only if they are positive. Axes
and quaternions have none. Compare mj_computeSensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.contracts.enums import DataType, SensorType
from dovetail.plugins.sensor.readings_numpy import sensors_of


@contextmanager
def each_sensor(k: Kernel, kind: SensorType) -> Iterator[Any]:
    """Repeat for the sensors of one type, ascending."""
    with numbered_sensor(k, kind) as (_, sensor):
        yield sensor


@contextmanager
def numbered_sensor(k: Kernel, kind: SensorType) -> Iterator[tuple[Int, Any]]:
    """The same, with the place of each among the sensors of its type."""
    ids = sensors_of(k.frozen_model, kind)
    table = k.table(f"sensor/{kind.name.lower()}", ids)
    with k.loop(0, len(ids)) as n:
        yield n, table[n]


def write(k: Kernel, sensor: Int, *reading: Any) -> None:
    """Put the numbers of one sensor, clamped, at its address in sensordata."""
    start = k.model.sensor_adr[sensor]
    for n, number in enumerate(reading):
        k.data.sensordata[start + n] = clamped(k, sensor, number)


def clamped(k: Kernel, sensor: Int, number: Any) -> Any:
    """A number of a sensor's reading within its cutoff."""
    cutoff, kind = k.model.sensor_cutoff[sensor], k.model.sensor_datatype[sensor]
    both = (cutoff > 0.0) & (kind == DataType.REAL)
    above = both | ((cutoff > 0.0) & (kind == DataType.POSITIVE))
    number = k.select(above, k.min(cutoff, number), number)
    return k.select(both, k.max(-cutoff, number), number)


def object_kinds(k: Kernel, kind: SensorType, field: str) -> Sequence[int]:
    """The types of objects that the sensors of a type look at (`obj`), or relate to (`ref`); -1 for the world."""
    model = k.frozen_model
    ids = sensors_of(model, kind)
    types, objects = getattr(model, f"sensor_{field}type")[ids], getattr(model, f"sensor_{field}id")[ids]
    return sorted({int(t) if i >= 0 else -1 for t, i in zip(types, objects, strict=True)})

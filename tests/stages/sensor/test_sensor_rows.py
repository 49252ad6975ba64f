"""Every implementation of every type of sensor beside MuJoCo, all of one backend in one kernel."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from implementations import How, Scene, computed, error, implementations, scene
from lane_backend import LANES
from limb_models import LIMITED, SENSORS
from observed_scene import CONTACT_SENSORS
from observed_scene import scene as observed_scene

from dovetail.contracts.enums import SensorType
from dovetail.registry import default_registry

TOLERANCE = 1e-11
"""Relative to the largest reading of a sensor, or to one; forces follow from a solver. Measured: 1e-12."""
SINGLE = 2e-4
"""The same in single precision."""

MODELS = {
    "contacts": observed_scene(CONTACT_SENSORS).replace("<option ", '<option tolerance="1e-14" '),
    "motion": SENSORS,
    "limits": LIMITED,
}


def some_upright(data: Any, world: int) -> None:
    """A ball joint turned at random is hardly ever inside of its limit."""
    if world % 3 == 0:
        data.qpos[2:6] = 1.0, 0.0, 0.0, 0.0


def given(name: str) -> Scene:
    """Worlds of which those that may touch have moved for a while."""
    return scene(MODELS[name], 0, 60 if name == "contacts" else 0, some_upright if name == "limits" else None)


def kinds_of(name: str) -> list[str]:
    return [SensorType(kind).name.lower() for kind in np.unique(given(name).model.sensor_type)]


def rows_of(name: str, backend: str) -> dict[str, str]:
    """The rows that a model needs, by the backend's first implementation of each."""
    slots = {f"sensor:{kind}": default_registry().of(f"sensor:{kind}") for kind in kinds_of(name)}
    labels = {slot: [r.label for r in records if r.backend == backend] for slot, records in slots.items()}
    return {slot: found[0] for slot, found in labels.items() if found}


@cache
def readings(name: str, rows: tuple[tuple[str, str], ...], precision: str) -> np.ndarray:
    """Of all sensors, all rows in one go."""
    (slot, label), *others = rows
    found = computed(given(name), slot, How(label), precision=precision, others=dict(others))
    return np.array(found[1].sensordata)


def sensors(
    name: str, kind: str, how: How, precision: str = "f64"
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Readings of one type, ours and MuJoCo's, sensor by sensor."""
    rows = {**rows_of(name, how.label.partition("@")[2]), f"sensor:{kind}": how.label}
    found = readings(name, tuple(rows.items()), precision)
    wanted = np.array([data.sensordata for data in given(name).worlds])
    m = given(name).mujoco_model
    for sensor in np.flatnonzero(m.sensor_type == int(SensorType[kind.upper()])):
        place = slice(m.sensor_adr[sensor], m.sensor_adr[sensor] + m.sensor_dim[sensor])
        yield found[:, place], wanted[:, place]


CASES = [
    pytest.param(name, kind, *case.values, id=f"{name}-{kind}-{case.id}", marks=case.marks)
    for name in MODELS
    for kind in kinds_of(name)
    for case in implementations(f"sensor:{kind}")
]


@pytest.mark.parametrize(("name", "kind", "how"), CASES)
def test_readings_are_mujocos(name: str, kind: str, how: How) -> None:
    for place, (ours, wanted) in enumerate(sensors(name, kind, how)):
        assert max(map(error, ours, wanted)) <= TOLERANCE, place


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind", "how"), [case for case in CASES if case.values[0] == "contacts"])
def test_readings_in_single_precision_stay_close(name: str, kind: str, how: How) -> None:
    for place, (ours, wanted) in enumerate(sensors(name, kind, how, "f32")):
        assert error(ours, wanted) <= SINGLE, place


def test_every_type_has_readings_that_differ() -> None:
    """Else there would be nothing to see for the tests above."""
    seen: dict[str, set[float]] = {}
    for name in MODELS:
        for kind in kinds_of(name):
            for _, wanted in sensors(name, kind, How(rows_of(name, "numpy")[f"sensor:{kind}"])):
                seen.setdefault(kind, set()).update(wanted.ravel().tolist())
    assert {kind for kind, numbers in seen.items() if len(numbers) < 2} <= {"user"}


def test_every_row_in_lanes_has_a_sensor_to_read() -> None:
    seen = {kind for name in MODELS for kind in kinds_of(name)}
    in_lanes = {
        r.key for r in default_registry().implementations if r.stage == "sensor" and r.backend == LANES
    }
    assert in_lanes <= seen


def test_limits_are_tried_in_reach_and_out_of_it() -> None:
    readings = np.array([data.sensordata[:3] for data in given("limits").worlds])
    assert (readings != 0.0).any(axis=0).all()
    assert (readings == 0.0).any(axis=0).all()

"""Sensors beside MuJoCo: a Data filled with MuJoCo's own results, and the rows run on it through their records.

Rows see only the fields that their records declare, everything else is out of reach; what they write is spoilt
beforehand.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np
from smooth_reference import spoil, worst_error

import dovetail
from dovetail.compare.oracle import model_from_mujoco, read
from dovetail.compare.states import random_state
from dovetail.contracts.enums import SensorType
from dovetail.contracts.types import DATA_SPECS
from dovetail.features import need
from dovetail.implementation import Implementation
from dovetail.registry import default_registry

OBSERVERS = ("subtree_velocity", "body_forces")
TOLERANCE = {"pos": 1e-10, "vel": 1e-10, "acc": 1e-8}
"""Relative, by the stage a sensor needs."""


class Declared:
    """Data of which only declared fields can be reached."""

    def __init__(self, data: Any, fields: Iterable[str], prefix: str = "") -> None:
        object.__setattr__(self, "_inner", (data, frozenset(fields), prefix))

    def __getattr__(self, name: str) -> Any:
        data, fields, prefix = self._inner
        full = prefix + name
        if any(field.startswith(f"{full}.") for field in fields):
            return Declared(getattr(data, name), fields, f"{full}.")
        assert full in fields, f"{full} is touched but not declared"
        return getattr(data, name)


def run_record(record: Implementation, model: Any, data: Any) -> None:
    """One implementation, with nothing but its declared fields."""
    writes = record.writes or [s.name for s in DATA_SPECS.values() if s.writer == record.stage]
    record.load()(model, Declared(data, (*(record.reads or ()), *writes)))


def reference(slot: str) -> Implementation:
    """The NumPy record of a slot."""
    (record,) = [r for r in default_registry().of(slot) if r.backend == "numpy" and r.provider == "dovetail"]
    return record


def row_of(kind: int) -> Implementation:
    return reference(f"sensor:{SensorType(kind).name.lower()}")


def filled(model: dovetail.Model, mj_data: Any) -> dovetail.Data:
    """A Data with everything that MuJoCo computed; room for more rows than there are."""
    room = {"ncon_max": mj_data.ncon + 3, "nefc_max": mj_data.nefc + 5}
    data = dovetail.make_data(model, capacity=room)
    for name, spec in DATA_SPECS.items():
        if name in ("efc_J", "efc_J_colind") or "nA_max" in spec.shape or "nisland_max" in spec.shape:
            continue
        try:
            theirs = np.asarray(read(mj_data, name))
        except AttributeError:
            continue
        take_over(data, name, theirs)
    return data


def take_over(data: dovetail.Data, name: str, theirs: Any) -> None:
    if not data.field(name).shape:
        data.field(name)[...] = theirs
        return
    ours = data.field(name)
    theirs = theirs.reshape(-1) if ours.ndim == 1 else theirs
    count = min(len(ours), len(theirs))
    ours[:count] = theirs[:count].reshape(count, *ours.shape[1:])


def observe(model: Any, data: Any) -> None:
    """Subtree velocities, body forces and every sensor that the model has."""
    for stage in OBSERVERS:
        if need(model, stage):
            record = reference(stage)
            for spec in DATA_SPECS.values():
                if spec.writer == stage:
                    spoil(data.field(spec.name))
            run_record(record, model, data)
    spoil(data.sensordata)
    for kind in np.unique(model.sensor_type):
        run_record(row_of(kind), model, data)


def forward(xml: str | Any, seed: int, **overrides: Any) -> tuple[Any, Any]:
    """MuJoCo's model, and its data after forward at a random state."""
    mj_model = mujoco.MjModel.from_xml_string(xml) if isinstance(xml, str) else xml
    mj_data = mujoco.MjData(mj_model)
    rng = np.random.default_rng(seed)
    for name, value in {**random_state(mj_model, rng), **overrides}.items():
        getattr(mj_data, name)[...] = value
    mj_data.time = rng.random()
    mujoco.mj_forward(mj_model, mj_data)
    return mj_model, mj_data


def errors(mj_model: Any, mj_data: Any, model: dovetail.Model | None = None) -> dict[str, float]:
    """The largest error of each type of sensor after `mj_forward`, relative to its largest reading."""
    model = model or model_from_mujoco(mj_model)
    data = filled(model, mj_data)
    observe(model, data)
    found: dict[str, float] = {}
    for sensor in range(mj_model.nsensor):
        start, count = int(mj_model.sensor_adr[sensor]), int(mj_model.sensor_dim[sensor])
        ours, theirs = data.sensordata[start : start + count], mj_data.sensordata[start : start + count]
        key = SensorType(mj_model.sensor_type[sensor]).name.lower()
        found[key] = max(found.get(key, 0.0), worst_error(ours, theirs))
    return found


def assert_readings(mj_model: Any, mj_data: Any, model: dovetail.Model | None = None) -> dict[str, float]:
    """Every reading is MuJoCo's, to the tolerance of its stage."""
    found = errors(mj_model, mj_data, model)
    stage = {
        SensorType(kind).name.lower(): ("pos", "pos", "vel", "acc")[needstage]
        for kind, needstage in zip(mj_model.sensor_type, mj_model.sensor_needstage, strict=True)
    }
    assert {k: e for k, e in found.items() if not e < TOLERANCE[stage[k]]} == {}
    return found

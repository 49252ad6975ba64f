"""Body forces and the sensors that read contacts, limits and geometry, in lanes, against the reference and mujoco."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np
import pytest
from lane_observed import (
    ADHESION,
    CONTACT_SENSORS,
    OBSERVED_KINDS,
    run_lanes,
    run_reference,
    scene,
    worlds_in_contact,
)

from dovetail.compare.oracle import model_from_mujoco
from dovetail.contracts.enums import SensorType
from dovetail.plugins.shared.moments.layout import moment_structure

NWORLD = 11
"""More than a tile holds, and no multiple of it."""

TOLERANCE = 1e-11
"""Relative to the largest number of a field; what was measured is below 3e-13."""

SINGLE = 2e-4
"""The same in single precision."""

BODY_FIELDS = ("cacc", "cfrc_ext", "cfrc_int")
SLOTS = [f"sensor:{kind}" for kind in OBSERVED_KINDS]


def error(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize(("cone", "condim"), [("pyramidal", 6), ("elliptic", 3)])
def test_body_forces(cone: str, condim: int) -> None:
    m, datas = worlds_in_contact(scene(cone=cone, condim=condim), NWORLD)
    assert min(d.ncon for d in datas) != max(d.ncon for d in datas)
    found = run_lanes(m, datas, ["body_forces"], BODY_FIELDS)
    reference = run_reference(m, datas, ["body_forces"], BODY_FIELDS)
    for name in BODY_FIELDS:
        assert error(found[name], reference[name]) <= TOLERANCE, name
        assert error(found[name], np.array([getattr(d, name) for d in datas])) <= TOLERANCE, name


def test_adhesion_pulls_along_the_normals_of_contacts() -> None:
    m, datas = worlds_in_contact(
        scene(ADHESION).replace('size=".14"', 'size=".14" gap=".02" margin=".03"'), NWORLD
    )
    found = run_lanes(m, datas, ["transmission"], ("actuator_length", "actuator_moment"))
    layout = moment_structure(model_from_mujoco(m))
    for world, data in enumerate(datas):
        ours, theirs = np.zeros((m.nu, m.nv)), np.zeros((m.nu, m.nv))
        mujoco.mju_sparse2dense(
            theirs, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind
        )
        mujoco.mju_sparse2dense(
            ours,
            found["actuator_moment"][world],
            layout["moment_rownnz"],
            layout["moment_rowadr"],
            layout["moment_colind"],
        )
        assert error(ours, theirs) <= TOLERANCE
        assert not found["actuator_length"][world, 0]
    assert any(contact.exclude == 1 for data in datas for contact in data.contact), "no contact in the gap"


class Readings(NamedTuple):
    model: Any
    lanes: np.ndarray
    reference: np.ndarray
    mujoco: np.ndarray

    def of(self, kind: str) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Readings of the sensors of one type, one entry per sensor."""
        m = self.model
        mine = np.flatnonzero(m.sensor_type == int(SensorType[kind.upper()]))
        spans = [slice(m.sensor_adr[s], m.sensor_adr[s] + m.sensor_dim[s]) for s in mine]
        return [(self.lanes[:, at], self.reference[:, at], self.mujoco[:, at]) for at in spans]


@cache
def readings(precision: str = "f64") -> Readings:
    m, datas = worlds_in_contact(scene(CONTACT_SENSORS), NWORLD)
    (found,) = run_lanes(m, datas, SLOTS, ("sensordata",), precision).values()
    (reference,) = run_reference(m, datas, SLOTS, ("sensordata",)).values()
    return Readings(m, found, reference, np.array([d.sensordata for d in datas]))


@pytest.mark.parametrize("kind", OBSERVED_KINDS)
def test_sensors(kind: str) -> None:
    sensors = readings().of(kind)
    assert len(np.unique(np.concatenate([wanted for _, _, wanted in sensors], axis=1))) > 1, "nothing to see"
    for place, (found, reference, wanted) in enumerate(sensors):
        assert error(found, reference) <= TOLERANCE, place
        assert error(found, wanted) <= TOLERANCE, place


@pytest.mark.slow
@pytest.mark.parametrize("kind", OBSERVED_KINDS)
def test_sensors_in_single_precision(kind: str) -> None:
    for place, (found, _, wanted) in enumerate(readings("f32").of(kind)):
        assert error(found, wanted) <= SINGLE, place

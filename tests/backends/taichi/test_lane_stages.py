"""Lane stages beyond the plain smooth step against their NumPy siblings, one by one, at random states."""

from __future__ import annotations

import numpy as np
import pytest
from lane_observed import OBSERVED_KINDS
from lane_stage_models import ARMATURE, DRIVEN, IN_SYRUP, IN_WATER, LIMITED, SENSORS, SPINNING, TENDONS
from lane_stages import both, errors, loaded

from dovetail.contracts.enums import WrapType
from dovetail.registry import default_registry

SEEDS = range(5)
TOLERANCE = 1e-12
"""Relative to the largest number of a field; what was measured is below 3e-15."""

SINGLE = 2e-4
"""The same in single precision; the arc around a geom follows from an arc cosine, which is sensitive near 0."""


def check(text: str, slot: str, name: str | None = None) -> None:
    for seed in SEEDS:
        found = errors(*both(text, slot, seed=seed, name=name))
        assert found
        assert max(found.values()) <= TOLERANCE, found


@pytest.mark.parametrize("kind", TENDONS)
def test_tendons(kind: str) -> None:
    check(TENDONS[kind], "tendon")


@pytest.mark.parametrize("kind", ["shortest", "sided"])
def test_tendons_are_tried_both_touching_geoms_and_not(kind: str) -> None:
    """The claim above is about wrapping only if the states at hand make tendons wrap, and pass by."""
    touched = []
    for seed in SEEDS:
        wanted, _, _ = both(TENDONS[kind], "tendon", seed=seed)
        for world in wanted.worlds():
            used = np.asarray(world.wrap_obj).reshape(-1)[: int(np.sum(world.ten_wrapnum))]
            touched.append(set(used[used >= 0].tolist()))
    model = loaded(TENDONS[kind])
    geoms = set(model.wrap_objid[np.isin(model.wrap_type, (WrapType.SPHERE, WrapType.CYLINDER))].tolist())
    assert set().union(*touched) == geoms
    assert any(len(some) < len(geoms) for some in touched)
    assert any(some == geoms for some in touched)


def test_tendons_in_single_precision() -> None:
    for seed in SEEDS:
        found = errors(*both(TENDONS["shortest"], "tendon", seed=seed, precision="f32"))
        assert max(found.values()) <= SINGLE, found


@pytest.mark.parametrize("layout", DRIVEN)
@pytest.mark.parametrize("slot", ["transmission", "transmission_velocity", "actuation"])
def test_transmissions_and_actuators(layout: str, slot: str) -> None:
    check(DRIVEN[layout], slot)


@pytest.mark.parametrize("layout", DRIVEN)
def test_implicit_integration(layout: str) -> None:
    check(DRIVEN[layout], "integrate", "implicitfast")


@pytest.mark.parametrize("integrator", IN_SYRUP)
def test_implicit_integration_in_a_medium(integrator: str) -> None:
    check(IN_SYRUP[integrator], "integrate", integrator)


def test_implicit_integration_of_coriolis_forces() -> None:
    check(SPINNING["implicit"], "integrate", "implicit")


@pytest.mark.parametrize("models", [IN_SYRUP, SPINNING])
def test_integrators_are_tried_where_coriolis_forces_matter(models: dict[str, str]) -> None:
    found = [both(models[name], "integrate", name=name)[1].qvel for name in ("implicitfast", "implicit")]
    assert np.abs(found[0] - found[1]).max() > 1e-5


@pytest.mark.parametrize("slot", ["tendon_spring", "tendon_damper"])
def test_springs_and_dampers_of_tendons(slot: str) -> None:
    check(TENDONS["shortest"], f"passive_force:{slot}")


@pytest.mark.parametrize("layout", ARMATURE)
@pytest.mark.parametrize("slot", ["mass_matrix", "bias_force", "energy"])
def test_tendons_with_armature_and_springs(layout: str, slot: str) -> None:
    check(ARMATURE[layout], slot)


@pytest.mark.parametrize("slot", ["passive_force:gravcomp", "passive_force:fluid", "actuation"])
def test_forces_of_a_medium_and_against_gravity(slot: str) -> None:
    check(IN_WATER, slot)


@pytest.mark.parametrize("slot", ["camera_light", "subtree_velocity", "body_forces"])
def test_what_sensors_read(slot: str) -> None:
    check(SENSORS, slot)


ALL_SENSOR_ROWS = {
    r.slot for r in default_registry().implementations if r.stage == "sensor" and r.backend == "taichi"
}
SENSOR_ROWS = sorted(ALL_SENSOR_ROWS - {f"sensor:{kind}" for kind in OBSERVED_KINDS})
"""Those that are not tried with given contacts, in test_lane_observers."""
LIMIT_ROWS = [slot for slot in SENSOR_ROWS if "limit" in slot]


@pytest.mark.parametrize("slot", SENSOR_ROWS)
def test_sensors(slot: str) -> None:
    text = LIMITED if slot in LIMIT_ROWS else SENSORS
    for seed in range(2):
        wanted, found, fields = both(text, slot, seed=seed)
        assert fields == {"sensordata"}
        np.testing.assert_allclose(found.sensordata, wanted.sensordata, rtol=1e-12, atol=1e-12)


def test_every_sensor_row_has_a_sensor_to_read() -> None:
    used = [*loaded(SENSORS).sensor_type, *loaded(LIMITED).sensor_type]
    assert len(set(used)) == len(SENSOR_ROWS)


def test_limits_are_tried_in_reach_and_out_of_it() -> None:
    readings = np.array(both(LIMITED, "sensor:jointlimitpos")[0].sensordata)
    assert (readings[:, :3] != 0.0).any(axis=0).all()
    assert (readings[:, :3] == 0.0).any(axis=0).all()

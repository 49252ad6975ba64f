"""When sensors run: rows for the types a model has, what they need before them, flags, rows of plugins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.config import Config
from dovetail.contracts.enums import DisableBit, SensorType
from dovetail.errors import MissingStageError
from dovetail.features import need
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan
from dovetail.registry import Registry, build_registry

ARM = """<mujoco><option {option}/><worldbody><body pos="0 0 1"><joint name="j" axis="0 1 0"/>
<geom name="g" size=".1" pos=".3 0 0" contype="0" conaffinity="0"/><site name="s" pos=".2 0 0"/>
<body name="tip" pos=".3 0 0"><joint axis="0 1 1"/><geom size=".05" pos=".2 0 0" contype="0"
conaffinity="0"/></body></body></worldbody><sensor>{sensors}</sensor></mujoco>"""


def arm(sensors: str, option: str = "") -> dovetail.Model:
    return dovetail.loads(ARM.format(sensors=sensors, option=option))


@pytest.fixture
def registry() -> Registry:
    """The built-in records alone, in a registry that a test may change."""
    return build_registry(third_party=False)


def compiled(
    model: dovetail.Model, registry: Registry, stages: dict[str, str] | None = None, **said: Any
) -> Plan:
    return compile_plan(model, Config.of_call(stages), registry=registry, **said)


def labels(plan: Plan) -> list[str]:
    return [slot.label for slot in plan.slots]


def test_only_the_rows_of_types_that_the_model_has_run(registry: Registry) -> None:
    model = arm('<gyro site="s"/><clock/><gyro site="s"/>')
    plan = compiled(model, registry)
    assert {label for label in labels(plan) if label.startswith("sensor")} == {"sensor:gyro", "sensor:clock"}
    assert need(model, "sensor:gyro") == "2 gyro sensors"
    assert need(model, "sensor:clock") == "1 clock sensor"
    assert need(model, "sensor:touch") == ""


def test_a_model_without_sensors_skips_the_stage_as_a_whole(registry: Registry) -> None:
    plan = compiled(arm(""), registry)
    assert not any(label.startswith("sensor") for label in labels(plan))
    assert "sensor" in plan.skipped


def test_a_type_without_row_is_missing(registry: Registry) -> None:
    registry.implementations = [r for r in registry.implementations if r.slot != "sensor:gyro"]
    model = arm('<gyro site="s"/><gyro site="s"/><clock/>')
    with pytest.raises(MissingStageError, match="sensor:gyro: needed by 2 gyro sensors"):
        compiled(model, registry)
    assert [m.slot for m in compiled(model, registry, missing="report").missing] == ["sensor:gyro"]


OBSERVED = {
    "subtree_velocity": [
        '<subtreelinvel body="tip"/>',
        '<subtreeangmom body="world"/>',
        '<user dim="1" needstage="vel"/>',
    ],
    "body_forces": [
        '<accelerometer site="s"/>',
        '<force site="s"/>',
        '<torque site="s"/>',
        '<framelinacc objtype="site" objname="s"/>',
        '<frameangacc objtype="geom" objname="g"/>',
        '<user dim="1" needstage="acc"/>',
    ],
}


@pytest.mark.parametrize(
    ("stage", "sensor"), [(stage, s) for stage, sensors in OBSERVED.items() for s in sensors]
)
def test_what_a_sensor_observes_is_computed_before(stage: str, sensor: str, registry: Registry) -> None:
    order = labels(compiled(arm(f"{sensor}<clock/>"), registry))
    assert order.index(stage) < min(i for i, label in enumerate(order) if label.startswith("sensor:"))
    other = ({*OBSERVED} - {stage}).pop()
    assert other not in order


def test_nobody_asks_for_body_forces_without_such_a_sensor(registry: Registry) -> None:
    order = labels(compiled(arm('<clock/><gyro site="s"/><user dim="1" needstage="pos"/>'), registry))
    assert {*OBSERVED}.isdisjoint(order)


def test_the_disable_flag_leaves_readings_as_they_were() -> None:
    sim = dovetail.Simulation(arm('<clock/><accelerometer site="s"/>'))
    sim.data.sensordata[:] = 7.0
    sim.model.opt.disableflags |= int(DisableBit.SENSOR)
    sim.step()
    assert sim.data.sensordata.tolist() == [7.0] * 4
    assert not any(slot.label.startswith(("sensor", "body_forces")) for slot in sim.plan.slots)


def double_time(model: Any, data: Any) -> None:
    """A user's own sensor: twice the time."""
    for sensor in np.flatnonzero(model.sensor_type == SensorType.USER):
        data.sensordata[model.sensor_adr[sensor]] = 2.0 * data.time


def test_a_function_replaces_the_row_of_user_sensors() -> None:
    sim = dovetail.Simulation(arm('<user dim="1"/><clock/>'), stages={"sensor:user": double_time})
    sim.data.time = 3.0
    sim.forward()
    assert sim.data.sensordata.tolist() == [6.0, 3.0]


def test_user_sensors_read_zero_without_a_plugin() -> None:
    sim = dovetail.Simulation(arm('<user dim="3" cutoff="1"/>'))
    sim.data.sensordata[:] = 7.0
    sim.forward()
    assert not sim.data.sensordata.any()


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_readings_of_a_step_are_those_of_its_beginning(integrator: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    sensors = '<clock/><accelerometer site="s"/><subtreeangmom body="world"/><e_kinetic/><e_potential/>'
    text = ARM.format(sensors=sensors, option=f'integrator="{integrator}"')
    mj_model = mujoco.MjModel.from_xml_string(text)
    mj_data = mujoco.MjData(mj_model)
    sim = dovetail.Simulation(dovetail.loads(text))
    mj_data.qvel[:] = sim.data.qvel[:] = [2.0, -3.0]
    for _ in range(5):
        mujoco.mj_step(mj_model, mj_data)
        sim.step()
        np.testing.assert_allclose(sim.data.sensordata, mj_data.sensordata, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("lanes", [1, 4])
def test_each_world_of_a_batch_has_its_own_readings(lanes: int) -> None:
    model = arm('<jointpos joint="j"/><accelerometer site="s"/>')
    batch = dovetail.Simulation(model, nworld=3, lanes=lanes)
    single = dovetail.Simulation(model)
    batch.data.qpos[:, 0] = [0.1, 0.2, 0.3]
    batch.forward()
    for world, angle in enumerate([0.1, 0.2, 0.3]):
        single.data.qpos[0] = angle
        single.forward()
        np.testing.assert_allclose(batch.data.sensordata[world], single.data.sensordata, rtol=1e-14)

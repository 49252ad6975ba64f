"""States that go bad: reset exactly as MuJoCo resets them, or stopped, or frozen; always with a name."""

from __future__ import annotations

import warnings
from typing import Any

import attrs
import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.backends.numpy import NumpyBackend
from dovetail.bad_states import StateWarning
from dovetail.config import Config
from dovetail.errors import BadStateError, ConfigError
from dovetail.planning.planner import compile_plan
from dovetail.registry import Registry

XML = """
<mujoco model="swing">
  <option timestep="0.01" integrator="{integrator}"><flag constraint="disable" {flags}/></option>
  <worldbody>
    <body>
      <joint name="swing" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
      <body pos="0.3 0 0"><joint name="knee" type="ball"/><geom type="box" size="0.1 0.02 0.03"/></body>
    </body>
  </worldbody>
  <actuator><motor name="pull" joint="swing"/></actuator>
</mujoco>
"""


def xml(integrator: str = "Euler", flags: str = "") -> str:
    return XML.format(integrator=integrator, flags=flags)


def spoil(data: Any, field: str, value: float) -> None:
    getattr(data, field)[1] = value


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 2e10])
@pytest.mark.parametrize("field", ["qpos", "qvel", "qfrc_applied"])
def test_a_bad_state_is_reset_as_mujoco_resets_it(field: str, value: float, integrator: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    theirs_model = mujoco.MjModel.from_xml_string(xml(integrator))
    theirs = mujoco.MjData(theirs_model)
    ours_model = dovetail.loads(xml(integrator))
    ours = dovetail.make_data(ours_model)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in range(6):
            if step == 3:
                spoil(theirs, field, value * (1e20 if field == "qfrc_applied" else 1))
                spoil(ours, field, value * (1e20 if field == "qfrc_applied" else 1))
            mujoco.mj_step(theirs_model, theirs)
            dovetail.step(ours_model, ours)
    assert [w for w in caught if issubclass(w.category, StateWarning)]
    assert ours.time == theirs.time
    for name in ("qpos", "qvel", "qacc", "qfrc_applied"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10, atol=1e-12)


def test_without_autoreset_it_only_warns() -> None:
    model = dovetail.loads(xml(flags='autoreset="disable"'))
    data = dovetail.make_data(model)
    data.qvel[0] = np.nan
    with pytest.warns(StateWarning, match="autoreset is disabled"):
        dovetail.step(model, data)
    assert np.isnan(data.qvel[0])
    assert data.time > 0


def test_the_warning_names_joint_and_time() -> None:
    sim = dovetail.Simulation(dovetail.loads(xml()))
    sim.step(2)
    sim.data.qvel[2] = np.nan
    with pytest.warns(StateWarning, match=r'qvel\[2\] \(joint "knee"\) is nan at time 0.02'):
        sim.step()


def test_raise_stops_and_leaves_the_state() -> None:
    sim = dovetail.Simulation(dovetail.loads(xml()), on_nan="raise")
    sim.step(2)
    sim.data.qpos[0] = np.inf
    with pytest.raises(BadStateError, match="swing"):
        sim.step()
    assert sim.data.time == 0.02
    assert sim.data.qpos[0] == np.inf


@pytest.mark.parametrize("backend", ["numpy", LANES])
def test_only_the_bad_world_of_a_batch_is_reset(backend: str) -> None:
    sim = dovetail.Simulation(dovetail.loads(xml()), nworld=5, backend=backend, keep="all")
    twin = dovetail.Simulation(dovetail.loads(xml()), nworld=5, backend=backend, keep="all")
    for s in (sim, twin):
        s.data.qvel[:] = np.arange(20).reshape(5, 4) * 0.1
        s.step(2)
    sim.data.qvel[3, 1] = np.nan
    with pytest.warns(StateWarning, match="world 3"):
        sim.step()
    twin.step()
    others = [0, 1, 2, 4]
    assert np.array_equal(np.asarray(sim.data.qpos)[others], np.asarray(twin.data.qpos)[others])
    assert np.allclose(np.asarray(sim.data.time), [0.03, 0.03, 0.03, 0.01, 0.03])


@pytest.mark.parametrize("backend", ["numpy", LANES])
def test_a_frozen_world_stays_where_it_is(backend: str) -> None:
    sim = dovetail.Simulation(dovetail.loads(xml()), nworld=3, backend=backend, on_nan="freeze", keep="all")
    sim.step(2)
    before = np.array(sim.data.qpos)[1]
    sim.data.qfrc_applied[1, 0] = np.nan
    with pytest.warns(StateWarning, match="world 1.*stays where it is"):
        sim.step(3)
    assert np.array_equal(np.asarray(sim.data.qpos)[1], before)
    assert np.isfinite(np.asarray(sim.data.qpos)).all()
    assert np.asarray(sim.data.time)[0] == pytest.approx(0.05)


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ConfigError, match="reset, raise, freeze"):
        dovetail.Simulation(dovetail.loads(xml()), on_nan="explode")


class _Blind(NumpyBackend):
    """A backend whose runners take one step at a time and look at nothing."""

    name = "blind"
    takes_whole_steps = False


@pytest.fixture
def blind(registry: Registry) -> Registry:
    registry.add_backend(_Blind())
    for record in [r for r in registry.implementations if r.backend == "numpy"]:
        registry.add(attrs.evolve(record, backend="blind"))
    return registry


@pytest.mark.parametrize("on_nan", ["reset", "raise"])
def test_the_plan_looks_where_a_backend_does_not(blind: Registry, on_nan: str) -> None:
    plan = compile_plan(dovetail.loads(xml()), Config.of_call(backend="blind", on_nan=on_nan), registry=blind)
    assert {line.implementation.split("@")[1] for line in plan.lines()} == {"blind"}
    data = plan.make_data()
    plan.step(data, 2)
    spoil(data, "qpos", np.nan)
    if on_nan == "raise":
        with pytest.raises(BadStateError, match="qpos"):
            plan.step(data, 3)
    else:
        with pytest.warns(StateWarning, match="qpos"):
            plan.step(data, 3)
        assert np.isfinite(data.qpos).all()


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
@pytest.mark.parametrize("on_nan", ["reset", "raise", "freeze"])
@pytest.mark.parametrize("value", [np.nan, 1e20])
def test_the_plan_looks_at_accelerations_too(
    blind: Registry, value: float, on_nan: str, integrator: str
) -> None:
    """A mixed plan does with its worlds what a backend does that looks itself."""
    model = dovetail.loads(xml(integrator))
    ends = []
    for backend in ("blind", "numpy"):
        plan = compile_plan(model, Config.of_call(backend=backend, on_nan=on_nan), nworld=3, registry=blind)
        data = plan.make_data()
        data.qvel[:] = np.arange(12).reshape(3, 4) * 0.1
        plan.step(data, 2)
        data.qfrc_applied[1, 2] = value
        told = (
            pytest.raises(BadStateError, match=r"world 1: qacc.*time 0.02")
            if on_nan == "raise"
            else pytest.warns(StateWarning, match=r"world 1: qacc.*time 0.02")
        )
        with told:
            plan.step(data)
        bad = data.world(1) if on_nan == "raise" else data
        ends.append({name: np.array(bad.field(name)) for name in ("time", "qpos", "qvel", "qfrc_applied")})
    for name, values in ends[0].items():
        np.testing.assert_array_equal(values, ends[1][name], name)

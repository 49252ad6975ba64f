"""Worlds that go bad in the middle of a launch: handled there as MuJoCo would, alone, and told by name afterwards."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.bad_states import StateWarning
from dovetail.errors import BadStateError

SWING = """
<mujoco model="swing">
  <option timestep="0.01" integrator="{integrator}"><flag constraint="disable" {flags}/></option>
  <worldbody>
    <body name="hand" mocap="true" pos="0 1 0" quat="2 0 0 0"/>
    <body>
      <joint name="swing" axis="0 1 0" damping="0.1" ref="0.2"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
      <body pos="0.3 0 0"><joint name="knee" type="ball"/><geom type="box" size="0.1 0.02 0.03"/></body>
    </body>
  </worldbody>
  <actuator>
    <motor name="pull" joint="swing"/>
    <general name="burst" joint="swing" dyntype="integrator" gainprm="1e9"/>
  </actuator>
</mujoco>
"""
"""The second actuator's activation grows by its control each second: with a large control, its force soon exceeds
all bounds in the middle of a launch."""

NWORLD, BAD = 11, 9
STEPS = 12


def model_of(integrator: str = "Euler", flags: str = "") -> dovetail.Model:
    return dovetail.loads(SWING.format(integrator=integrator, flags=flags))


def prepared(
    on_nan: str = "reset", nworld: int = NWORLD, spoil: bool = True, **more: Any
) -> dovetail.Simulation:
    """Worlds that differ; one of them will explode in the middle of a launch."""
    sim = dovetail.Simulation(
        more.pop("model", None) or model_of(), nworld, backend=LANES, on_nan=on_nan, **more
    )
    assert len(sim.plan.segments()) == 1
    sim.data.qvel[...] = np.linspace(0, 1, nworld)[:, None]
    sim.data.mocap_pos[...] = 3.0
    if spoil:
        sim.data.ctrl[BAD] = 0.3, 2e4
    return sim


def quietly(sim: dovetail.Simulation, nstep: int) -> list[str]:
    """Step, and return what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim.step(nstep)
    return [str(w.message) for w in caught if issubclass(w.category, StateWarning)]


def mujoco_after(nstep: int, integrator: str = "Euler", flags: str = "") -> Any:
    """The bad world as MuJoCo steps it."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(SWING.format(integrator=integrator, flags=flags))
    data = mujoco.MjData(model)
    data.qvel[:] = np.linspace(0, 1, NWORLD)[BAD]
    data.mocap_pos[:] = 3.0
    data.ctrl[:] = 0.3, 2e4
    for _ in range(nstep):
        mujoco.mj_step(model, data)
    return data


def others(values: Any) -> np.ndarray:
    return np.delete(np.asarray(values), BAD, axis=0)


def assert_others_untouched(sim: dovetail.Simulation) -> None:
    twin = prepared(spoil=False)
    assert quietly(twin, STEPS) == []
    for name in ("qpos", "qvel", "act", "time", "mocap_pos"):
        assert np.array_equal(others(sim.data.field(name)), others(twin.data.field(name))), name


def test_a_world_is_reset_in_the_step_in_which_it_goes_bad() -> None:
    sim = prepared()
    told = quietly(sim, STEPS)
    theirs = mujoco_after(STEPS)
    assert 0 < theirs.time < 0.01 * STEPS  # it was reset on the way
    here = sim.data.world(BAD)
    assert here.time == pytest.approx(theirs.time, abs=1e-15)
    for name in ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat"):
        np.testing.assert_allclose(
            here.field(name), getattr(theirs, name), rtol=1e-9, atol=1e-12, err_msg=name
        )
    assert len(told) == 1
    assert told[0].startswith(f'world {BAD}: qacc[0] (joint "swing") is ')
    assert told[0].endswith("the world is reset")
    assert_others_untouched(sim)


def test_it_can_happen_more_than_once_in_a_launch() -> None:
    """Where a reset does not help, a world is told of once, with how often it went bad; all else is as step by
    step."""
    model = model_of()
    model.opt.gravity[2] = -1e13
    sim, reference = prepared(model=model, spoil=False), dovetail.Simulation(model, NWORLD)
    told = quietly(sim, 4)
    by_step = [text for text in quietly(reference, 4) if text.startswith(f"world {BAD}:")]
    assert len(told) == NWORLD
    assert len(by_step) > 2
    assert told[BAD].endswith(f"the world is reset, {len(by_step)} times in this call")
    np.testing.assert_allclose(sim.data.qvel, reference.data.qvel, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_with_runge_kutta_too(precision: str) -> None:
    sim = prepared(model=model_of("RK4"), precision=precision)
    assert len(quietly(sim, STEPS)) == 1
    theirs = mujoco_after(STEPS, "RK4")
    bound = 1e-9 if precision == "f64" else 2e-4
    np.testing.assert_allclose(sim.data.qpos[BAD], theirs.qpos, rtol=bound, atol=bound)
    assert sim.data.time[BAD] == pytest.approx(theirs.time, rel=1e-6)


def test_a_frozen_world_keeps_the_state_it_had_before() -> None:
    sim = prepared("freeze")
    told = quietly(sim, STEPS)
    assert len(told) == 1
    assert told[0].endswith("the world stays where it is")
    when = float(told[0].partition(" at time ")[2].partition(":")[0])
    here = sim.data.world(BAD)
    assert 0 < when < 0.01 * STEPS
    assert here.time == pytest.approx(when)
    alone = prepared("freeze")
    assert quietly(alone, round(when / 0.01)) == []
    for name in ("qpos", "qvel", "act", "ctrl", "time"):
        assert np.array_equal(here.field(name), alone.data.world(BAD).field(name)), name
    assert_others_untouched(sim)
    assert len(quietly(sim, 2)) == 1  # it is still bad, and still stays
    assert here.time == pytest.approx(when)


def test_raise_is_told_after_the_launch_and_leaves_the_bad_state() -> None:
    sim = prepared("raise")
    with pytest.raises(BadStateError, match=rf'world {BAD}: qacc\[0\] \(joint "swing"\)'):
        sim.step(STEPS)
    assert sim.data.time[BAD] < 0.01 * STEPS
    assert_others_untouched(sim)


def test_without_autoreset_it_only_warns() -> None:
    sim = prepared(model=model_of(flags='autoreset="disable"'))
    told = quietly(sim, STEPS)
    assert len(told) == 1
    assert "autoreset is disabled" in told[0]
    assert sim.data.time[BAD] == pytest.approx(0.01 * STEPS)
    theirs = mujoco_after(STEPS, flags='autoreset="disable"')
    assert np.array_equal(np.isfinite(sim.data.qvel[BAD]), np.isfinite(theirs.qvel))


def test_very_many_bad_worlds_are_told_together() -> None:
    sim = dovetail.Simulation(model_of(), 40, backend=LANES)
    sim.data.qvel[5:, 2] = np.nan
    told = quietly(sim, 1)
    assert len(told) == 21
    assert 'world 5: qvel[2] (joint "knee") is nan' in told[0]
    assert told[-1].endswith(", ".join(map(str, range(25, 40))))
    assert np.isfinite(np.asarray(sim.data.qvel)).all()


def test_a_single_world_is_watched_too() -> None:
    sim = dovetail.Simulation(model_of(), backend=LANES)
    sim.data.qvel[2] = np.nan
    told = quietly(sim, 3)
    assert told[0].startswith('qvel[2] (joint "knee") is nan at time 0')
    assert sim.data.time == pytest.approx(0.03)

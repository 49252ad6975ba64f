"""Batches: reset of chosen worlds, odd numbers of worlds, and runs saved and resumed bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.errors import ValidationError

XML = """
<mujoco model="drop">
  <option timestep="0.004"/>
  <worldbody>
    <geom type="plane" size="2 2 1"/>
    <body pos="0 0 0.12">
      <joint name="lift" type="slide" axis="0 0 1"/><joint name="push" type="slide" axis="1 0 0"/>
      <geom type="sphere" size="0.1"/>
    </body>
  </worldbody>
  <actuator><motor joint="push" gear="3"/></actuator>
  <keyframe><key name="high" qpos="0.3 0.1" qvel="0 1" ctrl="0.5"/></keyframe>
</mujoco>
"""
NWORLD = 11


def simulation(backend: str, precision: str = "f64", nworld: int = NWORLD) -> dovetail.Simulation:
    return dovetail.Simulation(
        dovetail.loads(XML), nworld, backend=backend, precision=precision, keep=("ncon",)
    )


def spread(sim: dovetail.Simulation) -> None:
    rng = np.random.default_rng(3)
    sim.data.qvel[...] = rng.normal(size=(NWORLD, 2))
    sim.data.ctrl[...] = rng.normal(size=(NWORLD, 1))


def state(sim: dovetail.Simulation) -> dict[str, np.ndarray]:
    return {name: np.array(sim.data.field(name)) for name in sim.data.state}


def assert_equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray], worlds: Any = slice(None)) -> None:
    for name, values in one.items():
        assert np.array_equal(values[worlds], other[name][worlds]), name


@pytest.mark.by_default("native")
@pytest.mark.parametrize("backend", ["numpy", LANES])
def test_a_resumed_run_with_contacts_goes_on_bit_for_bit(backend: str, tmp_path: Path) -> None:
    sim = simulation(backend)
    spread(sim)
    sim.step(40)
    assert np.asarray(sim.data.ncon).any()
    assert np.asarray(sim.data.qacc_warmstart).any()
    sim.save(tmp_path / "run.npz")
    sim.step(25)
    resumed = simulation(backend)
    resumed.load(tmp_path / "run.npz")
    resumed.step(25)
    assert_equal(state(sim), state(resumed))
    assert np.array_equal(sim.data.ncon, resumed.data.ncon)


@pytest.mark.parametrize("backend", ["numpy", LANES])
@pytest.mark.parametrize("chosen", ["ids", "mask"])
def test_chosen_worlds_are_reset_and_no_other(backend: str, chosen: str) -> None:
    sim = simulation(backend)
    start = state(sim)
    spread(sim)
    sim.step(5)
    before = state(sim)
    ids = [1, 8, 10]
    mask = np.isin(np.arange(NWORLD), ids)
    sim.reset(worlds=ids if chosen == "ids" else mask)
    assert_equal(state(sim), start, mask)
    assert_equal(state(sim), before, ~mask)
    sim.reset("high", worlds=mask)
    assert np.array_equal(np.asarray(sim.data.qpos)[mask], np.tile([0.3, 0.1], (3, 1)))
    assert np.array_equal(np.asarray(sim.data.ctrl)[mask], np.full((3, 1), 0.5))
    assert_equal(state(sim), before, ~mask)


def test_worlds_that_do_not_exist_are_refused() -> None:
    sim = simulation("numpy")
    with pytest.raises(ValidationError, match=r"world 11 does not exist: there are 11"):
        sim.reset(worlds=[3, NWORLD])
    with pytest.raises(ValidationError, match=r"the mask has shape \(3,\), should be \(11,\)"):
        sim.reset(worlds=np.array([True, False, True]))


@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.parametrize("nworld", [1, 7, 17])
def test_state_arrays_go_in_and_out(precision: str, nworld: int) -> None:
    sim = simulation(LANES, precision, nworld)
    values = np.arange(2.0 * nworld).reshape(nworld, 2)
    sim.data.qvel = values
    sim.data.qpos[...] = values + 0.5
    sim.data.ctrl[:, 0] = np.arange(nworld)
    assert sim.data.qvel.dtype == np.dtype("f8" if precision == "f64" else "f4")
    assert np.array_equal(sim.data.qvel, values)
    assert np.array_equal(sim.data.qpos, values + 0.5)
    assert np.array_equal(sim.data.ctrl[nworld - 1], [nworld - 1])
    with pytest.raises(ValueError, match="qvel has shape"):
        sim.data.qvel = np.zeros((nworld + 1, 2))

"""One thread, one world: every world of a batch on a device does what it does on the processor."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from device import DEVICE, largest_difference, numbers, on_processor, simulation, spread

import dovetail
from dovetail import interrupts
from dovetail.backends.taichi import device_memory
from dovetail.backends.taichi.device_errors import DeviceError, DeviceMemoryError
from dovetail.bad_states import StateWarning

pytestmark = pytest.mark.device

PENDULUMS = """
<mujoco model="pendulums">
  <option timestep="0.005"><flag constraint="disable"/></option>
  <worldbody>
    <body name="arm">
      <joint name="hinge" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="0.3"/>
      <body pos="0.3 0 0">
        <joint name="elbow" type="ball"/>
        <geom type="box" size="0.1 0.03 0.02" pos="0.1 0 0" mass="0.2"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="turn" joint="hinge" ctrlrange="-1 1"/></actuator>
  <sensor><jointpos joint="hinge"/><framepos objtype="body" objname="arm"/></sensor>
</mujoco>
"""


def pendulums() -> dovetail.Model:
    return dovetail.loads(PENDULUMS)


def program_of(sim: Any) -> Any:
    """What the first segment of a simulation that has stepped runs."""
    return sim.plan.execution._programs["step"].runners[0]._program


# ---- every world moves


def test_pendulums_started_alike_all_move() -> None:
    """With one kernel for tiles, 5 of 16 moved and 11 stood still."""
    model = dovetail.load("pendulum")
    sim = simulation(model, 16)
    sim.data.qpos[...] = 0.3
    sim.step(10)
    positions = numbers(sim, "qpos")
    assert (positions != 0.3).all()
    assert (positions == positions[0]).all()


@pytest.mark.parametrize("nworld", [1, 7, 32, 64, 1000])
def test_any_number_of_worlds(nworld: int) -> None:
    device, processor = simulation(pendulums(), nworld), on_processor(pendulums(), nworld)
    for sim in (device, processor):
        spread(sim)
        sim.step(20)
    assert largest_difference(device, processor) < 1e-12


def test_any_order_of_worlds_gives_the_same_bits() -> None:
    order = np.random.default_rng(1).permutation(70)
    one, other = simulation(pendulums(), 70), simulation(pendulums(), 70)
    spread(one)
    for name in ("qvel", "ctrl"):
        other.data.field(name)[...] = numbers(one, name)[order]
    one.step(20)
    other.step(20)
    for name in ("qpos", "qvel", "time"):
        assert np.array_equal(numbers(one, name)[order], numbers(other, name))


def test_single_precision() -> None:
    device, processor = (
        simulation(pendulums(), 40, precision="f32"),
        on_processor(pendulums(), 40, precision="f32"),
    )
    for sim in (device, processor):
        spread(sim)
        sim.step(20)
    assert numbers(device, "qpos").dtype == np.float32
    assert largest_difference(device, processor) < 1e-4


@pytest.mark.slow
def test_one_world_without_a_batch() -> None:
    one = dovetail.Simulation(pendulums(), backend="taichi", arch=DEVICE)
    other = dovetail.Simulation(pendulums(), backend="native")
    for sim in (one, other):
        sim.data.qvel[:] = 0.2
        sim.step(5)
    assert np.abs(one.data.qpos - other.data.qpos).max() < 1e-13


def test_lanes_are_nobodys_business() -> None:
    sim = simulation(pendulums(), 40, lanes=8)
    assert sim.plan.lanes == 1
    sim.step(1)


# ---- memory


def test_more_worlds_than_fit_are_run_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = simulation(pendulums(), 100)
    spread(whole)
    whole.step(5)
    per_world = device_memory.world_bytes(program_of(whole).fused)
    monkeypatch.setenv(device_memory.MEMORY, str(per_world * 40))
    parts = simulation(pendulums(), 100)
    spread(parts)
    parts.step(5)
    traffic = program_of(parts).traffic
    assert traffic.worlds_at_once == 32
    assert traffic.scratch_bytes == 32 * per_world
    assert np.array_equal(numbers(whole, "qpos"), numbers(parts, "qpos"))


def test_too_little_memory_is_an_error_that_says_how_much_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(device_memory.MEMORY, "1000")
    with pytest.raises(DeviceMemoryError, match=r"need .* MiB of scratch memory .* DOVETAIL_DEVICE_MEMORY"):
        simulation(pendulums(), 4).step(1)


def test_an_allocation_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = simulation(pendulums(), 4)
    sim.step(1)
    memory = program_of(sim)._device

    def fail(*_: Any) -> None:
        raise RuntimeError("out of device memory")

    monkeypatch.setattr(memory, "_ti", type("Full", (), {"ndarray": fail, "f64": 1, "f32": 2, "i32": 3}))
    with pytest.raises(DeviceMemoryError, match=r"no .* MiB for S of 4 worlds"):
        memory._new("S", 1 << 20)


def test_nonsense_for_the_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(device_memory.MEMORY, "plenty")
    with pytest.raises(dovetail.DovetailError, match="should be a number of bytes"):
        simulation(pendulums(), 4).step(1)


def test_two_simulations_on_one_device() -> None:
    alone = simulation(pendulums(), 40)
    spread(alone)
    alone.step(10)
    one, other = simulation(pendulums(), 40), simulation(pendulums(), 33)
    spread(one)
    spread(other, seed=3)
    for _ in range(10):
        one.step(1)
        other.step(1)
    assert np.array_equal(numbers(one, "qpos"), numbers(alone, "qpos"))


# ---- what is copied


def test_only_what_changed_is_brought_over() -> None:
    sim = simulation(pendulums(), 64)
    spread(sim)
    sim.step(1)
    traffic = program_of(sim).traffic
    before = traffic.bytes_in
    sim.step(1)
    unchanged = traffic.bytes_in - before
    sim.data.ctrl[...] = 0.25
    before = traffic.bytes_in
    sim.step(1)
    assert traffic.bytes_in - before == unchanged + 64 * 8


def test_many_steps_are_one_round_trip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts.Pace, "slices", lambda _self, nstep: iter((nstep,)))
    sim = simulation(pendulums(), 64)
    sim.step(1)
    traffic = program_of(sim).traffic
    counts = []
    for steps in (1, 10):
        before = traffic.copies_in + traffic.copies_out, traffic.launches
        sim.step(steps)
        counts.append((traffic.copies_in + traffic.copies_out - before[0], traffic.launches - before[1]))
    (copies, launches), (copies_of_ten, launches_of_ten) = counts
    assert copies == copies_of_ten
    per_pass = len(program_of(sim).text.steps)
    assert launches_of_ten - launches == 9 * per_pass


def test_what_the_user_writes_is_seen() -> None:
    device, processor = simulation(pendulums(), 40), on_processor(pendulums(), 40)
    for sim in (device, processor):
        spread(sim)
        sim.step(3)
        sim.data.qpos[5] = [0.5, 1.0, 0.0, 0.0, 0.0]
        sim.data.ctrl[...] = 0.1
        sim.step(3)
        sim.reset(worlds=np.arange(40) % 3 == 0)
        sim.step(3)
        sim.model.dof_damping[:] = 0.5
        sim.step(3)
    assert largest_difference(device, processor) < 1e-12


@pytest.mark.slow
def test_values_per_world() -> None:
    results = []
    for make in (simulation, on_processor):
        sim = make(pendulums(), 40, per_world=("dof_damping",))
        spread(sim)
        sim.per_world["dof_damping"][...] = np.linspace(0.0, 1.0, 40)[:, None]
        sim.step(10)
        results.append(sim)
    assert largest_difference(*results) < 1e-12
    assert np.ptp(numbers(results[0], "qvel")[:, 0]) > 0


@pytest.mark.slow
def test_kept_fields_come_back() -> None:
    device, processor = (
        make(pendulums(), 40, keep=("sensordata", "xpos")) for make in (simulation, on_processor)
    )
    for sim in (device, processor):
        spread(sim)
        sim.step(4)
    assert largest_difference(device, processor, ("sensordata", "xpos")) < 1e-12


@pytest.mark.slow
def test_a_numpy_stage_between_device_segments() -> None:
    settings = {"stages": {"passive_force": "@numpy"}}
    device, processor = simulation(pendulums(), 6, **settings), on_processor(pendulums(), 6, **settings)
    for sim in (device, processor):
        spread(sim)
        sim.step(4)
    assert largest_difference(device, processor) < 1e-12
    assert "numbers of each world are copied to the device and back in every step" in device.plan.explain()
    assert "6 worlds, a thread each" in device.plan.headline()


# ---- what goes wrong


@pytest.mark.parametrize("policy", ["reset", pytest.param("freeze", marks=pytest.mark.slow)])
def test_a_world_that_explodes_is_dealt_with_as_on_the_processor(policy: str) -> None:
    found = []
    for make in (simulation, on_processor):
        sim = make(pendulums(), 70, on_nan=policy)
        spread(sim)
        sim.data.qvel[40, 0] = 1e12
        sim.data.qvel[3, 0] = np.nan
        sim.data.qvel[66, 1] = 9e9
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            sim.step(6)
        told = [str(w.message) for w in seen if issubclass(w.category, StateWarning)]
        found.append((sim, [re.sub(r" is [-\d.e+]+ at", " at", text) for text in told]))
    (device, told), (processor, expected) = found
    assert told == expected
    assert len(told) >= 3
    assert largest_difference(device, processor) < 1e-12


@pytest.mark.slow
def test_ten_thousand_worlds_of_which_one_explodes() -> None:
    device, processor = simulation(pendulums(), 10_000), on_processor(pendulums(), 10_000)
    for sim in (device, processor):
        spread(sim)
        sim.data.qvel[7777, 1] = 9e9
        with pytest.warns(StateWarning, match="world 7777"):
            sim.step(5)
    assert largest_difference(device, processor) < 1e-12


def test_a_device_that_fails_is_an_error_and_leaves_data_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = simulation(pendulums(), 40)
    spread(sim)
    sim.step(1)
    before = numbers(sim, "qpos")

    def lost(*_: Any) -> None:
        raise RuntimeError("[vulkan_device.cpp:submit] VK_ERROR_DEVICE_LOST")

    monkeypatch.setattr(program_of(sim).module, "end", lost)
    with pytest.raises(DeviceError, match=r"DEVICE_LOST.*start a new process"):
        sim.step(1)
    assert np.array_equal(numbers(sim, "qpos"), before)


NO_VULKAN = """
import dovetail
try:
    dovetail.Simulation(dovetail.load("pendulum"), nworld=4, backend="taichi", arch="vulkan").step(1)
except dovetail.DovetailError as error:
    print(error)
"""


def test_a_machine_without_vulkan_is_told_so() -> None:
    environment = {**os.environ, "VK_ICD_FILENAMES": os.devnull, "VK_DRIVER_FILES": os.devnull}
    done = subprocess.run(
        [sys.executable, "-c", NO_VULKAN],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "finds no vulkan on this machine" in done.stdout
    assert "cpu" in done.stdout

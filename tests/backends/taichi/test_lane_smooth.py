"""The fused smooth step against mujoco: every field, all joint types, both integrators, both precisions."""

from __future__ import annotations

from functools import cache

import mujoco
import numpy as np
import pytest
from lane_harness import COMPUTED, INPUTS, STATE, Batch, make_batch, random_states, run_mujoco, set_states
from lane_models import everything, real

NWORLD = 13
FIELDS = (*STATE, *COMPUTED)
TOLERANCE = {"f64": 1e-10, "f32": 3e-4}
"""Largest error relative to the largest number of a field; the mass matrix has a condition of about 1e3."""


@cache
def batch(
    name: str, precision: str = "f64", keep: bool = True, runtime: str = "auto", lanes: int | None = None
) -> Batch:
    m = everything(name) if name in ("Euler", "RK4") else real(name)
    return make_batch(
        m, NWORLD, precision=precision, keep=COMPUTED if keep else (), runtime=runtime, lanes=lanes
    )


def start(b: Batch, seed: int = 0) -> dict[str, np.ndarray]:
    states = random_states(b.model, b.nworld, seed)
    set_states(b, states | {"time": np.zeros(b.nworld), "qacc_warmstart": np.zeros((b.nworld, b.model.nv))})
    return states


def check(b: Batch, wanted: dict[str, np.ndarray], tolerance: float) -> None:
    for name, value in wanted.items():
        scale = max(1.0, float(np.abs(value).max(initial=0.0)))
        error = np.abs(b[name] - value).max(initial=0.0) / scale
        assert error <= tolerance, f"{name} differs by {error:.1e}"


@pytest.mark.parametrize("nstep", [1, 20])
@pytest.mark.parametrize("name", ["Euler", "RK4", "humanoid", "half_cheetah"])
def test_every_field_is_mujocos(name: str, nstep: int) -> None:
    b = batch(name)
    states = start(b)
    b.run(nstep)
    check(b, run_mujoco(b.model, states, nstep, FIELDS), TOLERANCE["f64"])


@pytest.mark.parametrize("name", ["Euler", "humanoid"])
def test_single_precision_stays_close(name: str) -> None:
    b = batch(name, "f32")
    states = start(b)
    b.run()
    check(b, run_mujoco(b.model, states, 1, FIELDS), TOLERANCE["f32"])


def test_keeping_the_state_only_changes_no_bit() -> None:
    whole, state = batch("Euler"), batch("Euler", keep=False)
    for b in (whole, state):
        start(b)
        b.run(10)
    for name in STATE:
        np.testing.assert_array_equal(whole[name], state[name])
    assert "geom_xpos" not in state.program.live


@pytest.mark.parametrize("runtime", ["taichi", "quadrants"])
def test_runtimes_agree_to_the_bit(runtime: str) -> None:
    pytest.importorskip(runtime)
    one, other = batch("Euler", keep=False), batch("Euler", keep=False, runtime=runtime)
    for b in (one, other):
        start(b)
        b.run(10)
    np.testing.assert_array_equal(one["qpos"], other["qpos"])


def test_a_single_world_per_tile_gives_the_same_numbers() -> None:
    one, other = batch("Euler", keep=False), batch("Euler", keep=False, lanes=1)
    for b in (one, other):
        start(b)
        b.run(5)
    np.testing.assert_array_equal(one["qpos"], other["qpos"])


def test_a_world_does_not_depend_on_its_neighbours() -> None:
    b = batch("Euler")
    states = start(b)
    b.run(5)
    alone = b["qpos"][7].copy()
    for name, value in random_states(b.model, NWORLD, seed=5).items():
        value[7] = states[name][7]
        b[name] = value
    b["qpos"] = np.where(np.arange(NWORLD)[:, None] == 3, np.nan, b["qpos"])
    b.run(5)
    np.testing.assert_array_equal(b["qpos"][7], alone)


DISABLE = mujoco.mjtDisableBit
FLAGS = {
    "gravity": DISABLE.mjDSBL_GRAVITY,
    "spring": DISABLE.mjDSBL_SPRING,
    "damper": DISABLE.mjDSBL_DAMPER,
    "actuation": DISABLE.mjDSBL_ACTUATION,
    "clampctrl": DISABLE.mjDSBL_CLAMPCTRL,
    "eulerdamp": DISABLE.mjDSBL_EULERDAMP,
}
STALE_WITHOUT_ACTUATION = {"act_dot"}
"""mujoco leaves the last rates of activations standing when actuation is off."""


@pytest.mark.parametrize("flag", FLAGS)
def test_flags_are_read_at_run_time(flag: str) -> None:
    b = batch("Euler")
    before = b.model.opt.disableflags
    b.model.opt.disableflags |= FLAGS[flag]
    try:
        states = start(b)
        b.run(2)
        fields = [f for f in FIELDS if f not in STALE_WITHOUT_ACTUATION]
        check(b, run_mujoco(b.model, states, 2, fields), TOLERANCE["f64"])
    finally:
        b.model.opt.disableflags = before


def test_the_model_may_be_edited_between_launches() -> None:
    b = batch("Euler")
    m = b.model
    m.body_mass[3] *= 1.5
    m.opt.gravity[2], before = -3.0, m.opt.gravity[2]
    m.dof_damping[2] = 0.7
    m.opt.disableactuator = 1 << 2
    try:
        states = start(b)
        b.run(3)
        check(b, run_mujoco(m, states, 3, FIELDS), TOLERANCE["f64"])
    finally:
        m.opt.gravity[2] = before
        m.opt.disableactuator = 0


def test_a_broken_control_switches_off_the_controls_of_its_world_only() -> None:
    b = batch("Euler")
    states = start(b)
    states["ctrl"][2, 1] = np.nan
    b["ctrl"] = states["ctrl"]
    b.run()
    off = states["ctrl"].copy()
    off[2] = 0.0
    check(b, run_mujoco(b.model, states | {"ctrl": off}, 1, ("qfrc_actuator", "qvel")), TOLERANCE["f64"])


def test_inputs_are_left_alone() -> None:
    b = batch("Euler")
    states = start(b)
    b.run(3)
    for name in INPUTS:
        np.testing.assert_array_equal(b[name], states[name])

"""The smooth step in one kernel against MuJoCo: every field, all joint types, both integrators, both precisions."""

from __future__ import annotations

from functools import cache
from typing import Any

import mujoco
import numpy as np
import pytest
from implementations import both_of, error
from lane_backend import LANES
from smooth_models import everything, real

import dovetail
from dovetail.compare.oracle import model_from_mujoco
from dovetail.compare.states import random_state

NWORLD = 13
TOLERANCE = {"f64": 1e-10, "f32": 3e-4}
"""Largest error relative to the largest number of a field; the mass matrix has a condition of about 1e3."""
STATE = ("time", "qpos", "qvel", "act", "qacc_warmstart")
INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")


class Batch:
    """Worlds in one kernel, and MuJoCo's model of them."""

    def __init__(self, name: str, **settings: Any) -> None:
        self.theirs = everything(name) if name in ("Euler", "RK4") else real(name)
        model = model_from_mujoco(self.theirs)
        settings = {"keep": "computed", **settings}
        self.sim = dovetail.Simulation(model, nworld=NWORLD, backend=LANES, **settings)
        assert {slot.record.backend for slot in self.sim.plan.slots} == {LANES}

    def start(self, seed: int = 0) -> None:
        """A random state in each world."""
        rng = np.random.default_rng(seed)
        for world in self.sim.data.worlds():
            for name, value in {**random_state(self.sim.model, rng), "time": 0.0}.items():
                world.field(name)[...] = value

    def run(self, steps: int) -> list[Any]:
        """Take steps in both engines; MuJoCo's worlds."""
        datas = [self._theirs(world) for world in self.sim.data.worlds()]
        for data in datas:
            mujoco.mj_step(self.theirs, data, steps)
        self.sim.step(steps)
        return datas

    def _theirs(self, world: Any) -> Any:
        data = mujoco.MjData(self.theirs)
        for name in (*STATE, *INPUTS):
            if name == "time":
                data.time = float(world.time)
            else:
                getattr(data, name)[...] = (
                    np.nan_to_num(world.field(name)) if name == "ctrl" else world.field(name)
                )
        return data

    def errors(self, datas: list[Any]) -> dict[str, float]:
        """The largest of every field that the kernel has computed and MuJoCo has."""
        written = set().union(*(slot.in_data for slot in self.sim.plan.slots))
        found: dict[str, float] = {}
        for world, data in zip(self.sim.data.worlds(), datas, strict=True):
            for name in {*written, *STATE}:
                pair = both_of(name, world, data) if name in self.sim.data else None
                if pair is not None:
                    found[name] = max(found.get(name, 0.0), error(*pair))
        return found


@cache
def batch(name: str = "Euler", **settings: Any) -> Batch:
    return Batch(name, **settings)


def assert_mujocos(b: Batch, steps: int, precision: str = "f64", but: tuple[str, ...] = ()) -> None:
    found = {name: error for name, error in b.errors(b.run(steps)).items() if name not in but}
    assert len(found) > 30
    assert max(found.values()) <= TOLERANCE[precision], found


@pytest.mark.parametrize("steps", [1, 20])
@pytest.mark.parametrize(
    "name", ["Euler", "RK4", "half_cheetah", pytest.param("humanoid", marks=pytest.mark.slow)]
)
def test_every_field_is_mujocos(name: str, steps: int) -> None:
    batch(name).start()
    assert_mujocos(batch(name), steps)


@pytest.mark.parametrize("name", ["Euler", pytest.param("humanoid", marks=pytest.mark.slow)])
def test_single_precision_stays_close(name: str) -> None:
    b = batch(name, precision="f32")
    b.start()
    assert_mujocos(b, 1, "f32")


def states_after(b: Batch, steps: int) -> dict[str, np.ndarray]:
    b.start()
    b.sim.step(steps)
    return {name: np.array(b.sim.data.field(name)) for name in STATE}


@pytest.mark.parametrize(
    "settings",
    [{"keep": ()}, {"lanes": 1}, {"threads": 2}],
    ids=["state only", "one lane", "two threads"],
)
def test_bits_do_not_depend_on_how_the_kernel_is_built(settings: dict[str, Any]) -> None:
    usual, other = states_after(batch(), 10), states_after(Batch("Euler", **settings), 10)
    for name, value in usual.items():
        np.testing.assert_array_equal(other[name], value)


def test_a_world_does_not_depend_on_its_neighbours() -> None:
    b, mine = batch(), 7
    alone = states_after(b, 5)["qpos"][mine]
    b.start()
    kept = {name: np.array(b.sim.data.field(name)[mine]) for name in (*STATE, *INPUTS)}
    b.start(seed=5)
    for name, value in kept.items():
        b.sim.data.field(name)[mine] = value
    b.sim.step(5)
    np.testing.assert_array_equal(np.array(b.sim.data.qpos[mine]), alone)


FLAGS = ("gravity", "spring", "damper", "actuation", "clampctrl", "eulerdamp")


@pytest.mark.parametrize("flag", FLAGS)
def test_flags_are_read_at_run_time(flag: str) -> None:
    """MuJoCo leaves the last rates of activations standing when actuation is off."""
    b = batch()
    before = int(b.theirs.opt.disableflags)
    try:
        for model in (b.theirs, b.sim.model):
            model.opt.disableflags = before | int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag.upper()}"))
        b.start()
        assert_mujocos(b, 2, but=("act_dot",))
    finally:
        for model in (b.theirs, b.sim.model):
            model.opt.disableflags = before


def test_the_model_may_be_edited_between_launches() -> None:
    b = Batch("Euler")
    for model in (b.theirs, b.sim.model):
        model.body_mass[3] *= 1.5
        model.dof_damping[2] = 0.7
        model.opt.gravity[2] = -3.0
        model.opt.disableactuator = 1 << 2
    b.start()
    assert_mujocos(b, 3)


@pytest.mark.filterwarnings("ignore")
def test_a_broken_control_switches_off_the_controls_of_its_world_only() -> None:
    b = batch()
    b.start()
    b.sim.data.ctrl[2] = 0.0
    wanted = b.run(1)
    b.start()
    b.sim.data.ctrl[2, 1] = np.nan
    b.sim.step()
    assert max(b.errors(wanted).values()) <= TOLERANCE["f64"]


def test_inputs_are_left_alone() -> None:
    b = batch()
    b.start()
    before = {name: np.array(b.sim.data.field(name)) for name in INPUTS}
    b.sim.step(3)
    for name, value in before.items():
        np.testing.assert_array_equal(np.array(b.sim.data.field(name)), value)

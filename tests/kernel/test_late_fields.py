"""Fields of one world that a kernel keeps to itself: they are the reference's, and computed when somebody looks."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail import Model, Simulation
from dovetail.compare.errors import getter, meaningful, relative_error
from dovetail.contracts.enums import DisableBit
from dovetail.contracts.types import DATA_SPECS, Data
from dovetail.errors import StaleFieldError
from dovetail.planning.dependencies import SMALL
from dovetail.planning.replay import Replayer

TIED = """
<mujoco>
  <option timestep="0.004"/>
  <worldbody>
    <geom type="plane" size="3 3 1"/>
    <site name="post" pos="0 0 1.2"/>
    <body name="upper" pos="0 0 0.8">
      <joint name="a" axis="0 1 0" limited="true" range="-40 40" frictionloss="0.05"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/><site name="mid" pos="0.3 0 0"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="b" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/><site name="tip" pos="0.3 0 0"/>
      </body>
    </body>
    <body name="ball" pos="0.5 0 0.12"><freejoint/><geom size="0.1"/></body>
    <body name="held" pos="-0.5 0 0.5"><freejoint/><geom size="0.05"/></body>
    <body name="hand" pos="-0.5 0 0.8" mocap="true"><geom size="0.02" contype="0" conaffinity="0"/></body>
  </worldbody>
  <tendon>
    <spatial name="cord" limited="true" range="0 0.9" stiffness="5" frictionloss="0.1">
      <site site="post"/><site site="mid"/><site site="tip"/>
    </spatial>
    <fixed name="pair"><joint joint="a" coef="1"/><joint joint="b" coef="-1"/></fixed>
  </tendon>
  <equality>
    <weld name="grip" body1="held" body2="hand"/>
    <joint joint1="a" joint2="b" polycoef="0 0.5 0 0 0" active="false"/>
    <tendon tendon1="pair" polycoef="0.2 0 0 0 0"/>
  </equality>
  <actuator><motor joint="a"/><general joint="b" dyntype="filter" dynprm="0.05"/></actuator>
</mujoco>
"""
ELLIPTIC = """
<mujoco>
  <option timestep="0.004" cone="elliptic" impratio="2"/>
  <worldbody>
    <geom type="plane" size="3 3 1"/>
    <body pos="0 0 0.098"><freejoint/><geom size="0.1" condim="6"/></body>
    <body pos="0.12 0 0.28"><freejoint/><geom type="box" size="0.1 0.1 0.1" condim="4"/></body>
    <body pos="0.8 0 0.3"><joint name="hinge" axis="0 1 0"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 -0.25"/></body>
  </worldbody>
  <actuator><motor joint="hinge" gear="3"/></actuator>
</mujoco>
"""
MODELS: dict[str, Callable[[], Model]] = {
    "humanoid": lambda: dovetail.load("humanoid"),
    "tied": lambda: dovetail.loads(TIED),
    "elliptic": lambda: dovetail.loads(ELLIPTIC),
}


def simulation(name: str = "elliptic", backend: str = LANES, **settings: Any) -> Simulation:
    """One world, in motion."""
    sim = Simulation(MODELS[name](), backend=backend, **settings)
    rng = np.random.default_rng(3)
    sim.data.qvel[:] = 0.3 * rng.normal(size=sim.model.nv)
    if name == "elliptic":
        sim.data.qvel[0] = 2.0  # it slides, so that the cone's Hessian is asked for
    sim.data.ctrl[:] = 0.2 * rng.normal(size=sim.model.nu)
    if name == "humanoid":
        sim.data.qpos[2] -= 0.02  # the feet touch the floor
    return sim


def hidden(sim: Simulation) -> tuple[str, ...]:
    assert sim.plan.replay is not None
    return sim.plan.replay.fields


def values(data: Data, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Fields as far as they mean something."""
    found = {}
    for name in names:
        array = np.asarray(data.field(name))
        found[name] = np.array(meaningful(DATA_SPECS[name], array, getter(data)) if array.ndim else array)
    return found


def assert_same(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray], bound: float) -> None:
    assert {name: array.shape for name, array in found.items()} == {n: a.shape for n, a in wanted.items()}
    far = {name: float(relative_error(found[name], wanted[name])) for name in wanted}
    assert max(far.values()) <= bound, {name: error for name, error in far.items() if not error <= bound}


TOLD_NOT_ASKED = ("solver.", "bvh_active")
"""How the solver went, by the last bits of where it began; and a field that nobody fills."""


def compared(sim: Simulation) -> tuple[str, ...]:
    return tuple(name for name in hidden(sim) if not name.startswith(TOLD_NOT_ASKED))


# ---- what they hold


@pytest.mark.parametrize("name", MODELS)
def test_every_hidden_field_is_the_references(name: str) -> None:
    sim, reference = simulation(name), simulation(name, "numpy")
    names = compared(sim)
    assert len(names) > 40
    for run in (
        lambda s: s.forward(),
        lambda s: s.step(1),
        lambda s: s.step(1),  # kept ready from here on
        lambda s: s.step(7),
        lambda s: s.forward(),
    ):
        run(sim)
        run(reference)
        assert int(reference.data.nefc) > 0
        assert_same(values(sim.data, names), values(reference.data, names), 1e-7)


def test_there_is_something_to_see() -> None:
    sim = simulation()
    sim.step(7)
    assert np.abs(np.asarray(sim.data.efc_J)).max() > 0
    assert np.abs(np.asarray(sim.data.efc_force)).max() > 0
    assert np.abs(np.asarray(sim.data.contact.H)).max() > 0


def one_at_a_time(data: Data) -> dict[str, Callable[[], Any]]:
    """Ways to look at a hidden field."""
    return {
        "attribute": lambda: data.efc_force,
        "group": lambda: data.contact.H,
        "field": lambda: data.field("efc_J"),
        "fields": lambda: dict(data.fields()),
        "pickle": lambda: pickle.dumps(data),
        "writing": lambda: setattr(data, "efc_force", 0.0),
    }


# ---- when they are computed


@pytest.fixture
def fills(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """A list that grows by one for each repetition of a step."""
    counted: list[int] = []
    run = Replayer.run

    def counting(self: Replayer, *arguments: Any) -> None:
        counted.append(1)
        run(self, *arguments)

    monkeypatch.setattr(Replayer, "run", counting)
    return counted


@pytest.mark.parametrize("way", one_at_a_time(None))  # type: ignore[arg-type]
@pytest.mark.parametrize("before", [0, 2], ids=["first step", "kept ready"])
def test_a_step_is_repeated_once_and_only_if_somebody_looks(way: str, before: int, fills: list[int]) -> None:
    sim = simulation()
    for _ in range(before):
        sim.step()
    sim.step(3)
    assert np.isfinite(sim.data.qpos).all()
    assert sim.data.ncon >= 0
    assert fills == []
    one_at_a_time(sim.data)[way]()
    assert fills == [1]
    for look in one_at_a_time(sim.data).values():
        look()
    assert fills == [1]
    sim.step()
    assert fills == [1]
    sim.data.efc_J  # noqa: B018
    assert fills == [1, 1]


@pytest.mark.parametrize("before", [0, 2], ids=["first step", "kept ready"])
def test_a_copy_repeats_the_step_of_its_original_when_somebody_looks(before: int, fills: list[int]) -> None:
    sim, twin = simulation(), simulation()
    for each in (sim, twin):
        for _ in range(before):
            each.step()
        each.step(3)
    copied = sim.data.copy()
    assert fills == []
    sim.step(5)  # the original goes on, and what it was before that step is gone there
    assert np.array_equal(copied.efc_force, twin.data.efc_force)
    assert fills == [1, 1]
    assert not np.array_equal(copied.efc_force, sim.data.efc_force)


def test_forward_is_repeated_once_too(fills: list[int]) -> None:
    sim = simulation()
    sim.step()
    sim.forward()
    assert fills == []
    sim.data.efc_J  # noqa: B018
    sim.data.efc_force  # noqa: B018
    assert fills == [1]


# ---- who sees them


def test_copies_files_and_groups_see_what_was_filled(tmp_path: Path) -> None:
    sim, twin = simulation(), simulation()
    for each in (sim, twin):
        each.step()
        each.step(4)
    expected = values(twin.data, compared(twin))
    copied = sim.data.copy()
    assert_same(values(copied, compared(sim)), expected, 0.0)
    sim.step()
    twin.step()
    sim.save(tmp_path / "run.npz", fields=("efc_J", "contact.H", "qpos"))
    with np.load(tmp_path / "run.npz") as saved:
        found = [key for key in saved.files if "efc_J" in key]
        assert found, saved.files
        assert np.array_equal(saved[found[0]].reshape(-1), np.asarray(twin.data.field("efc_J")).reshape(-1))
    sim.step()
    twin.step()
    assert np.array_equal(dict(sim.data.fields())["efc_D"], np.asarray(twin.data.efc_D))
    assert np.array_equal(np.asarray(sim.data.contact.H), np.asarray(twin.data.field("contact.H")))
    assert np.abs(np.asarray(sim.data.contact.H)).max() > 0


def test_views_of_them_are_not_remembered() -> None:
    """Else the next read would be the last step's numbers."""
    sim, twin = simulation(), simulation()
    sim.step()
    sim.data.efc_pos  # noqa: B018
    sim.data.contact.H  # noqa: B018
    sim.step()
    by_attribute = {"efc_pos": np.array(sim.data.efc_pos), "contact.H": np.array(sim.data.contact.H)}
    twin.step()
    twin.step()
    names = tuple(by_attribute)
    assert_same(values(sim.data, names), values(twin.data, names), 0.0)
    for name, found in by_attribute.items():
        assert np.array_equal(found, np.asarray(sim.data.field(name))), name


def test_a_reset_forgets_the_step(fills: list[int]) -> None:
    sim = simulation()
    sim.step()
    sim.step()
    sim.reset()
    fresh = Simulation(MODELS["elliptic"](), backend=LANES)
    assert np.array_equal(np.asarray(sim.data.efc_force), np.asarray(fresh.data.efc_force))
    assert fills == []


EDITS: dict[str, Callable[[Any], None]] = {
    "ctrl": lambda d: d.ctrl.__setitem__(slice(None), 3.0),
    "qpos": lambda d: d.qpos.__setitem__(slice(None), d.qpos + 0.1),
    "qvel": lambda d: d.qvel.__setitem__(slice(None), 0.0),
    "qfrc_applied": lambda d: d.qfrc_applied.__setitem__(0, 5.0),
    "xfrc_applied": lambda d: d.xfrc_applied.__setitem__((1, 2), 5.0),
    "mocap_pos": lambda d: d.mocap_pos.__setitem__(0, [0.0, 0.3, 0.9]),
    "eq_active": lambda d: d.eq_active.__setitem__(slice(None), [0, 1, 0]),
    "act": lambda d: d.act.__setitem__(0, 0.4),
    "time": lambda d: setattr(d, "time", 5.0),
    "qacc_warmstart": lambda d: d.qacc_warmstart.__setitem__(slice(None), 0.0),
}


@pytest.mark.covering
@pytest.mark.parametrize("before", [0, 2], ids=["first step", "kept ready"])
@pytest.mark.parametrize("edit", EDITS)
def test_what_is_edited_after_a_step_does_not_change_what_the_step_computed(edit: str, before: int) -> None:
    sim, twin = simulation("tied"), simulation("tied")
    for each in (sim, twin):
        for _ in range(before):
            each.step()
        each.step(2)
    EDITS[edit](sim.data)
    assert_same(values(sim.data, compared(sim)), values(twin.data, compared(twin)), 0.0)


HILLS = """
<mujoco>
  <asset><hfield name="hills" nrow="70" ncol="60" size="1 1 .1 .1"/></asset>
  <worldbody>
    <geom type="hfield" hfield="hills"/>
    <body pos=".01 .02 .095"><freejoint/><geom size=".1" condim="1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize("steps", [1, 3], ids=["first step", "kept ready"])
def test_a_field_too_large_to_be_copied_must_be_as_the_step_used_it(steps: int) -> None:
    sim = Simulation(dovetail.loads(HILLS), backend=LANES)
    heights = sim.model.hfield_data
    assert heights.size > SMALL
    for _ in range(steps):
        sim.step()
    heights[17] = 0.5
    with pytest.raises(StaleFieldError, match=r"efc_J cannot be computed .* edited since .*\(hfield_data\)"):
        _ = sim.data.efc_J
    heights[17] = 0.0
    assert np.any(sim.data.efc_J)
    heights[17] = 0.5
    sim.forward()
    assert np.any(sim.data.efc_J)


def test_the_state_is_not_changed_by_looking() -> None:
    sim, twin = simulation("tied"), simulation("tied")
    for _ in range(4):
        sim.step()
        sim.data.efc_J  # noqa: B018
        twin.step()
    for name in sim.data.state:
        assert np.array_equal(np.asarray(sim.data.field(name)), np.asarray(twin.data.field(name))), name


def test_what_was_written_into_one_stays_until_the_next_step() -> None:
    sim = simulation()
    sim.step()
    sim.step()
    sim.data.efc_force = 7.0
    assert (np.asarray(sim.data.efc_force) == 7.0).all()


@pytest.mark.filterwarnings("ignore::dovetail.bad_states.StateWarning")
@pytest.mark.parametrize("before", [0, 2], ids=["first step", "kept ready"])
def test_of_a_world_that_was_reset_they_are_the_references(before: int) -> None:
    sim, reference = simulation(), simulation(backend="numpy")
    for each in (sim, reference):
        for _ in range(before):
            each.step()
        each.data.qfrc_applied[0] = np.nan
        each.step()
    assert_same(values(sim.data, compared(sim)), values(reference.data, compared(sim)), 1e-7)


@pytest.mark.covering
@pytest.mark.filterwarnings("ignore::dovetail.bad_states.StateWarning")
@pytest.mark.filterwarnings("ignore:.*the reference has:RuntimeWarning")
@pytest.mark.parametrize("before", [0, 2], ids=["first step", "kept ready"])
@pytest.mark.parametrize("on_nan", ["freeze", "raise"])
def test_of_a_world_that_stopped_they_can_be_read_and_it_goes_on(on_nan: str, before: int) -> None:
    sim, twin = simulation(on_nan=on_nan), simulation(on_nan=on_nan)
    for each in (sim, twin):
        for _ in range(before):
            each.step()
    sim.data.qfrc_applied[0] = np.nan
    with pytest.raises(dovetail.DovetailError) if on_nan == "raise" else nullcontext():
        sim.step()
    sim.data.efc_J  # noqa: B018
    if on_nan == "freeze":
        sim.data.qfrc_applied[0] = 0.0
        for each in (sim, twin):
            each.step()
        assert_same(values(sim.data, compared(sim)), values(twin.data, compared(twin)), 0.0)


def test_rows_that_the_reference_does_not_find_are_not_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Something that touches by its last bit may have rows in the kernel and none in the reference, or the other way
    round: the fields by row say that they are not known, whatever was read before."""
    sim = Simulation(dovetail.loads(ELLIPTIC), backend=LANES)
    sim.step()
    assert np.isfinite(sim.data.efc_pos[: sim.data.nefc]).all()
    sim.step()
    repeat = Replayer._ready_for

    def without_contacts(self: Replayer, *arguments: Any) -> Any:
        plan, single = repeat(self, *arguments)
        plan.model.opt.disableflags |= int(DisableBit.CONTACT)
        return self._replay.plan, single

    monkeypatch.setattr(Replayer, "_ready_for", without_contacts)
    rows, contacts = sim.data.nefc, sim.data.ncon
    with pytest.warns(
        RuntimeWarning, match=rf"ncon is {contacts}, the reference has 0; nefc is {rows}, .* NaN"
    ):
        found = sim.data.efc_pos
    assert np.isnan(found[:rows]).all()
    assert (sim.data.efc_type[:rows] == -1).all()
    assert (sim.data.nefc, sim.data.ncon) == (rows, contacts)

"""A shadow around steps: it finds what a stage does wrong, names it, and takes no kernel apart."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.compare.dump import replay
from dovetail.compare.shadow import DeviationError, DeviationWarning, Shadow, chosen_worlds
from dovetail.compare.states import randomize
from dovetail.errors import ArgumentError, BadStateError, SelectionError
from dovetail.implementation import Implementation
from dovetail.plugins.mass_matrix import crb_numpy
from dovetail.registry import Registry, build_registry
from dovetail.testing.samples import sample

OFF = 1e-4
LATE = 0.011
"""Time from which the wrong implementation is wrong."""


def wrong_later(model: Any, data: Any) -> None:
    """The reference, but from some time on one entry is a little too large."""
    crb_numpy.mass_matrix(model, data)
    if data.time > LATE:
        data.M[0] *= 1.0 + OFF


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    module = ModuleType("wrong_later_stages")
    module.mass_matrix = wrong_later  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wrong_later_stages", module)
    registry = build_registry(third_party=False)
    registry.add(
        Implementation(
            stage="mass_matrix",
            name="wrong_later",
            backend="numpy",
            target="wrong_later_stages:mass_matrix",
            reads="cinert cdof time",
            writes="crb qM M",
            summary="Wrong from some time on",
        )
    )
    monkeypatch.setattr("dovetail.registry._cached", ("", registry))
    monkeypatch.delenv("DOVETAIL_DISABLED_PLUGINS", raising=False)
    return registry


WRONG = {"mass_matrix": "wrong_later"}


def run(shadow: Shadow, steps: int = 12, nworld: int | None = 5, **options: Any) -> dovetail.Simulation:
    sim = dovetail.Simulation(sample("chain"), nworld=nworld, wrap=[shadow], **options)
    randomize(sim.data, np.random.default_rng(1))
    sim.step(steps)
    return sim


def test_a_kernel_stays_whole_and_its_numbers_the_same() -> None:
    shadow = Shadow(every=4, worlds=2)
    watched = run(shadow, backend=LANES)
    assert len(watched.plan.segments()) == 1
    assert watched.plan.execution._program("step").whole_step
    assert shadow.ok
    assert shadow.comparisons == 3
    plain = dovetail.Simulation(sample("chain"), nworld=5, backend=LANES)
    randomize(plain.data, np.random.default_rng(1))
    plain.step(12)
    assert np.asarray(watched.data.qpos).tobytes() == np.asarray(plain.data.qpos).tobytes()


def test_steps_are_counted_over_calls() -> None:
    shadow = Shadow(every=5)
    sim = run(shadow, steps=4)
    assert shadow.comparisons == 0
    assert "nothing was compared" in shadow.table()
    for _ in range(6):
        sim.step()
    assert shadow.comparisons == 2


@pytest.mark.usefixtures("registry")
def test_the_first_divergence_is_kept_with_slot_field_and_world() -> None:
    shadow = Shadow("mass_matrix", "crb@numpy", every=3, worlds=[1, 4])
    run(shadow, stages=WRONG)
    assert shadow.first is not None
    assert (shadow.first.step, shadow.first.world) == (5, 1)
    assert (shadow.first.slot, shadow.first.field, shadow.first.where) == ("mass_matrix", "M", "[0]")
    assert shadow.first.ours == pytest.approx(shadow.first.theirs * (1 + OFF))
    assert (shadow.first.first, shadow.first.second) == ("wrong_later@numpy", "crb@numpy")
    assert not shadow.ok
    assert "first divergence: step 5" in shadow.table()
    assert json.loads(json.dumps(shadow.to_dict()))["first"]["slot"] == "mass_matrix"


@pytest.mark.usefixtures("registry")
def test_a_dump_reproduces_it(tmp_path: Path, registry: Registry) -> None:
    path = tmp_path / "first.npz"
    run(Shadow("mass_matrix", "crb@numpy", every=3, worlds=2, dump=path), stages=WRONG)
    report = replay(path)
    assert report.reproduced
    assert report.headline().startswith("reproduced: step 5")
    assert json.loads(json.dumps(report.to_dict()))["reproduced"] is True


@pytest.mark.usefixtures("registry")
def test_around_its_slot_it_keeps_the_first_divergence_too(tmp_path: Path) -> None:
    shadow = Shadow("mass_matrix", "crb@numpy", dump=tmp_path / "slot.npz")
    run(shadow, stages=WRONG, nworld=2)
    assert shadow.first is not None
    assert (shadow.first.slot, shadow.first.field) == ("mass_matrix", "M")
    assert shadow.first.step == 3
    assert replay(tmp_path / "slot.npz").reproduced


@pytest.mark.usefixtures("registry")
def test_it_raises_or_warns_if_asked() -> None:
    with pytest.raises(DeviationError, match="mass_matrix deviates: step 11"):
        run(Shadow("mass_matrix", "crb@numpy", every=12, on_deviation="raise"), stages=WRONG)
    with pytest.warns(DeviationWarning, match="mass_matrix deviates: step 11"):
        run(Shadow("mass_matrix", "crb@numpy", every=12, on_deviation="warn"), stages=WRONG)


def test_two_integrators_are_told_apart() -> None:
    shadow = Shadow("integrate", "rk4@numpy", every=4)
    run(shadow, steps=4)
    assert shadow.first is not None
    assert shadow.first.slot == "integrate"


UNSTABLE = """
<mujoco model="unstable">
  <option timestep="0.1" gravity="0 0 0"><flag constraint="disable" eulerdamp="disable"/></option>
  <worldbody>
    <body name="calm"><joint name="c" type="slide"/><geom size=".1"/></body>
    <body name="wild"><joint name="w" type="slide" damping="-2000"/><geom size=".01"/></body>
  </worldbody>
</mujoco>
"""


def unstable(shadow: Shadow, **options: Any) -> dovetail.Simulation:
    sim = dovetail.Simulation(dovetail.loads(UNSTABLE), nworld=3, wrap=[shadow], **options)
    sim.data.qvel[1] = [0.0, 1.0]
    return sim


def test_a_bad_state_is_repeated_in_its_world() -> None:
    shadow = Shadow(every=None, on_guard=True)
    sim = unstable(shadow)
    with pytest.warns(RuntimeWarning, match="the world is reset"):
        sim.step(20)
    assert (shadow.trips[0].world, shadow.trips[0].agrees) == (1, True)
    assert shadow.comparisons == len(shadow.trips)
    assert "in the shadow too" in shadow.table()


def test_a_guard_that_raises_leaves_a_dump(tmp_path: Path) -> None:
    shadow = Shadow(every=None, on_guard=True, dump=tmp_path / "bad.npz")
    with pytest.raises(BadStateError):
        unstable(shadow, on_nan="raise").step(20)
    assert shadow.trips[0].world == 1
    report = replay(tmp_path / "bad.npz")
    assert report.reproduced
    assert 'joint "w"' in report.headline()


def test_worlds_are_spread_over_the_batch() -> None:
    assert chosen_worlds(3, 9) == (0, 4, 8)
    assert chosen_worlds(3, 9, turn=1) == (1, 5, 0)
    assert chosen_worlds(5, 2) == (0, 1)
    assert chosen_worlds((2, 1), 3) == (2, 1)
    assert chosen_worlds(None, None) == (0,)
    with pytest.raises(ArgumentError, match="there is no world 7; there are 3"):
        chosen_worlds((7,), 3)


def test_what_could_never_compare_is_refused() -> None:
    with pytest.raises(ArgumentError, match="would never compare anything"):
        Shadow(every=None)
    with pytest.raises(ArgumentError, match="names no world"):
        Shadow(worlds=[])
    with pytest.raises(ArgumentError, match="a whole step is compared with the reference"):
        Shadow("step", "crb@numpy")
    with pytest.raises(SelectionError, match="mass_matrx cannot be checked: this plan has no such slot"):
        run(Shadow("mass_matrx", "crb@numpy", every=2))

"""A choice that keeps a step from being one kernel is told of with its share of the time; time is counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.planning import costs

ROOT = Path(__file__).parents[3]
SLIDING = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.09"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2"/></body>
  </worldbody>
</mujoco>
"""


class Time:
    """Passes when somebody says so."""

    now = 0.0

    def process_time(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    passing = Time()
    monkeypatch.setattr(costs, "time", passing)
    return passing


def taking(time: Time, seconds: float, **touched: str) -> Any:
    """A force that takes so long."""

    def wind(model: Any, data: Any) -> None:
        time.now += seconds

    return dovetail.touches(**touched)(wind) if touched else wind


def stepped(model: Any = "pendulum", steps: int = 3, **said: Any) -> tuple[Any, tuple[costs.Cost, ...]]:
    sim = dovetail.Simulation(model, **{"backend": LANES, "nworld": 2, **said})
    clock = costs.watch(sim.plan)
    for _ in range(steps):
        sim.step(1)
    return clock, costs.told(clock)


OWN = {"reads": "qfrc_passive", "writes": "qfrc_passive"}


def test_a_function_is_told_of_by_name_with_the_way_out(time: Time) -> None:
    _, (cost,) = stepped(stages={"passive_force:wind": taking(time, 1.0, **OWN)})
    assert (cost.slot, cost.provider, cost.share) == ("passive_force:wind", "the call", 1.0)
    assert cost.text == (
        "passive_force:wind (your function) runs on NumPy and takes 100 % of the time; write a lane version "
        "(docs/howto/lane-stage.md)"
    )


def test_the_first_call_which_compiles_does_not_count(time: Time) -> None:
    stages = {"passive_force:wind": taking(time, 1.0, **OWN), "integrate": "euler"}
    clock, found = stepped(stages=stages, steps=1)
    assert (dict(clock.seconds), found) == ({"": 0.0}, ())


def test_two_choices_are_told_apart(time: Time) -> None:
    stages = {"passive_force:wind": taking(time, 1.0, **OWN), "passive_force:tide": taking(time, 3.0, **OWN)}
    clock, found = stepped(stages=stages)
    assert [cost.slot for cost in found] == ["passive_force:tide"]
    shares = {cause: seconds / clock.seconds[""] for cause, seconds in clock.seconds.items()}
    assert shares == pytest.approx({"": 1.0, "passive_force:wind": 0.25, "passive_force:tide": 0.75})


def test_what_gives_way_to_a_choice_counts_as_its_own(time: Time) -> None:
    sim = dovetail.Simulation(
        "humanoid", backend=LANES, nworld=2, stages={"passive_force:wind": taking(time, 1.0)}
    )
    moved = [slot for slot in sim.plan.slots if slot.label in sim.plan.gave_way]
    assert moved
    assert {costs.cause_of(sim.plan, slot) for slot in moved} == {"passive_force:wind"}
    (cost,) = costs.costs(sim.plan, {"": 1.0, "passive_force:wind": 0.9})
    assert "takes 90 % of the time; write @dovetail.touches(...) or a lane version" in cost.text


def one_by_one(first: Any, second: Any) -> Any:
    return np.array(
        [
            [min(float(a), float(b)) for a, b in zip(p, q, strict=True)]
            for p, q in zip(first, second, strict=True)
        ]
    )


def test_a_rule_counts_for_the_stages_that_call_it() -> None:
    sim = dovetail.Simulation(
        dovetail.loads(SLIDING), backend=LANES, nworld=2, stages={"combine_friction": one_by_one}
    )
    slot = next(slot for slot in sim.plan.slots if slot.label == "contact_params")
    assert costs.cause_of(sim.plan, slot) == "combine_friction"
    (cost,) = costs.costs(sim.plan, {"": 1.0, "combine_friction": 0.5})
    assert "write it so that it can be traced (docs/howto/replace-a-contact-rule.md)" in cost.text


def test_another_algorithm_is_named_that_has_a_kernel() -> None:
    sim = dovetail.Simulation("arm", backend=LANES, nworld=2, stages={"solve_constraints": "sequential"})
    (cost,) = costs.costs(sim.plan, {"": 1.0, "solve_constraints": 0.99})
    assert (
        f"solve_constraints (sequential) runs on NumPy and takes 99 % of the time; newton runs on {LANES}"
        in (cost.text)
    )


def test_fields_that_only_numpy_fills_are_told_of() -> None:
    sim = dovetail.Simulation(dovetail.loads(SLIDING), backend=LANES, nworld=2, keep=("qpos", "efc_J"))
    assert costs.watch(sim.plan) is not None
    (cost,) = costs.costs(sim.plan, {"": 1.0, costs.REPEATED: 0.9})
    assert cost.text.startswith("kept fields that only NumPy fills (efc_J) take 90 % of the time; keep none")


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"nworld": None},
        {"backend": "numpy"},
        {"backend": "numpy", "stages": {"solve_constraints": "sequential"}},
        {"wrap": dovetail.Profiler(), "stages": {"solve_constraints": "sequential"}},
    ],
    ids=["one kernel", "one world", "numpy", "numpy and a choice", "profiled"],
)
def test_nothing_is_watched_where_no_choice_costs_anything(said: dict[str, Any]) -> None:
    sim = dovetail.Simulation("arm", **{"backend": LANES, "nworld": 2, **said})
    assert costs.watch(sim.plan) is None
    assert sim.plan.execution.clock is None


def test_a_third_of_the_time_is_not_told_of() -> None:
    sim = dovetail.Simulation("arm", backend=LANES, nworld=2, stages={"solve_constraints": "sequential"})
    assert costs.costs(sim.plan, {"": 3.0, "solve_constraints": 1.0}) == ()
    assert costs.costs(sim.plan, {"": 3.0, "solve_constraints": 1.01})
    assert costs.costs(sim.plan, {"": 0.0}) == ()


def test_a_clock_changes_no_bit() -> None:
    def run(watched: bool) -> Any:
        sim = dovetail.Simulation(
            "pendulum", backend=LANES, nworld=2, stages={"solve_constraints": "sequential"}
        )
        if watched:
            assert costs.watch(sim.plan) is not None
        sim.data.qvel = np.ones((2, 2))
        sim.step(5)
        return np.array(sim.data.qpos)

    assert np.array_equal(run(watched=True), run(watched=False))


@pytest.mark.parametrize(
    "page", [costs.IN_LANES, costs.AS_FUNCTION, costs.AS_RULE, costs.KEEPING, costs.SPEED]
)
def test_the_pages_are_there(page: str) -> None:
    assert (ROOT / page).is_file()

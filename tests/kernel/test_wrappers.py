"""Profiler and NaN guard: they see what they wrap, and cost only those slots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import Model, NanGuard, Profiler
from dovetail.backend import Slot
from dovetail.bad_states import StateWarning
from dovetail.config import Config
from dovetail.contracts.types import Data
from dovetail.errors import BadStateError
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan
from dovetail.registry import Registry


def labels(plan: Plan) -> list[list[str]]:
    return [[slot.label for slot in group] for group in plan.segments()]


def test_only_the_wrapped_slot_becomes_a_segment_of_its_own(pendulum: Model) -> None:
    plan = dovetail.Simulation(pendulum, wrap=[Profiler(stages="bias_force")]).plan
    before, wrapped, after = labels(plan)
    assert wrapped == ["bias_force"]
    assert before[-1] == "passive_force:damper"
    assert after[0] == "actuation"


def test_wrapping_changes_no_numbers(zoo: Model) -> None:
    plain = dovetail.Simulation(zoo)
    wrapped = dovetail.Simulation(zoo, wrap=[Profiler(), NanGuard()], stages={"integrate": "euler"})
    for sim in (plain, wrapped):
        sim.reset("home")
        sim.step(5)
    assert np.array_equal(plain.data.qpos, wrapped.data.qpos)


def test_the_profiler_counts_calls_and_time(pendulum: Model) -> None:
    profiler = Profiler()
    sim = dovetail.Simulation(pendulum, stages={"integrate": "rk4"}, wrap=[profiler])
    sim.step(3)
    assert profiler.timings["kinematics"].calls == 12
    assert profiler.timings["integrate"].calls == 12
    assert profiler.timings["kinematics"].microseconds > 0
    profiler.reset()
    assert profiler.timings["kinematics"].calls == 0
    assert profiler.timings["kinematics"].microseconds == 0.0


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("passive_force", {"passive_force:spring", "passive_force:damper"}),
        ("passive_force:spring", {"passive_force:spring"}),
        (("com_*", "integrate"), {"com_position", "com_velocity", "integrate"}),
    ],
)
def test_slots_are_chosen_by_stage_row_or_pattern(pendulum: Model, pattern: Any, wanted: set[str]) -> None:
    profiler = Profiler(stages=pattern)
    dovetail.Simulation(pendulum, wrap=[profiler]).step()
    assert set(profiler.timings) == wanted


def poison(model: Any, data: Any) -> None:
    data.qfrc_bias[:] = 0.0
    data.qfrc_bias[10] = np.nan


def test_the_guard_names_stage_implementation_field_and_joint(
    zoo: Model, registry: Registry, record: Callable[..., object]
) -> None:
    record("bias_force", poison, name="poison", reads="qvel")
    config = Config.of_call({"bias_force": "poison"})
    plan = compile_plan(zoo, config, registry=registry, wrappers=[NanGuard()])
    with pytest.raises(BadStateError) as caught:
        plan.step(plan.make_data())
    assert str(caught.value) == 'after bias_force (poison@numpy): qfrc_bias[10] (joint "bend") is nan'


def test_the_guard_names_the_world(zoo: Model) -> None:
    sim = dovetail.Simulation(zoo, nworld=3, wrap=[NanGuard(stages="kinematics")])
    sim.data.world(1).mocap_pos[0] = np.inf
    with pytest.raises(BadStateError, match=r"after kinematics \(tree@numpy\): world 1: "):
        sim.step()


def test_a_guard_elsewhere_sees_nothing(
    zoo: Model, registry: Registry, record: Callable[..., object]
) -> None:
    record("bias_force", poison, name="poison", reads="qvel")
    config = Config.of_call({"bias_force": "poison"})
    plan = compile_plan(zoo, config, registry=registry, wrappers=[NanGuard(stages="kinematics")])
    with pytest.warns(StateWarning, match="qacc"):
        plan.step(plan.make_data())


class Log:
    """A wrapper of one's own."""

    name = "log"

    def __init__(self, mark: str, entries: list[str]) -> None:
        self.mark, self.entries, self.wrapped = mark, entries, 0

    def wants(self, label: str) -> bool:
        return label == "bias_force"

    def wrap(self, slot: Slot, call: Callable[[Data], None]) -> Callable[[Data], None]:
        self.wrapped += 1

        def logged(data: Data) -> None:
            self.entries.append(f"{self.mark} before {slot.label}")
            call(data)
            self.entries.append(f"{self.mark} after")

        return logged


def test_wrappers_nest_in_the_order_given_and_are_asked_once(pendulum: Model) -> None:
    entries: list[str] = []
    inner, outer = Log("inner", entries), Log("outer", entries)
    sim = dovetail.Simulation(pendulum, wrap=[inner, outer])
    sim.step(2)
    assert entries[:4] == ["outer before bias_force", "inner before bias_force", "inner after", "outer after"]
    assert len(entries) == 8
    assert inner.wrapped == 1

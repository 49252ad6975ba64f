"""Any implementation in any slot of any plan: the motion is the reference's, or the plan says why it cannot be.

The default part swaps every slot of a ball on the floor once, in two worlds, and repeats the mixes that once fell
through the floor. `pytest -m slow tests/swapping` goes through every slot, way, model and two sizes of batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES, lanes_missing
from swap_models import DOCUMENTS, NAMES, model
from swap_ways import (
    IN_LANES,
    KEEP,
    OWN_ROWS,
    WAYS,
    Way,
    check,
    own_record_in_lanes,
    own_row_in_lanes,
    planned,
    reference_motion,
    refusal,
    simulated,
    slots,
)

import dovetail
from dovetail import pipeline
from dovetail.planning.plan import Plan

pytestmark = pytest.mark.skipif(bool(lanes_missing()), reason=f"the lane backend needs {lanes_missing()}")

RULES = ("combine_margin", "contact_range", "combine_friction", "resolve_priority", "mix_solver")

CHAIN = (
    *("broadphase", "narrowphase", "collide_pair", "contact_params", *RULES),
    *("constraint_rows", "islands", "constraint_reference", "solve_constraints", "noslip"),
)
"""Stages whose lane implementations hand each other lists of contacts and rows."""

OWN_WAYS: Mapping[str, Way] = {"own_row": own_row_in_lanes, "own_record": own_record_in_lanes}


def is_part(slot: str) -> bool:
    return pipeline.stage(slot.partition(":")[0]).part_of is not None


def may_refuse(way: str, slot: str) -> bool:
    """Lane stages may lack what they read; a part runs on its dispatcher's backend. All else has to work."""
    return way == "lanes_in_numpy" or (way == "numpy_in_lanes" and is_part(slot))


def applies(way: str, slot: str) -> bool:
    """Only small rules are functions of numbers that could become lanes, or not."""
    return way != "opaque_in_lanes" or slot in RULES


EXAMPLES = {
    ("sdf", "contact_params", "lanes_in_numpy"),
    ("multiccd", "constraint_reference", "function_in_lanes"),
}
"""Mixes of other models that went wrong once: contacts that only pass through. (A sparse field between two kernels is
in tests/backends/lanes/test_lane_stage_plans.py.)"""


def cheap(name: str, way: str, slot: str, nworld: int) -> bool:
    """Whether a mix belongs to the default part: those of the ball whose kernels are small or shared. (Stages on
    NumPy in a plan of lanes are below, as far as they once lost contacts, and in test_single_stage_swap.py.)"""
    if nworld == 2 and (name, slot, way) in EXAMPLES:
        return True
    return (name, nworld) == ("ball", 2) and (
        way.endswith("numpy") or (way == "thirdparty_in_lanes" and slot.partition(":")[0] in CHAIN)
    )


def mixes() -> Iterator[Any]:
    """Every model, size of batch, slot and way."""
    for name in NAMES:
        for nworld in (2, 64):
            for slot in slots(name):
                for way in (way for way in WAYS if applies(way, slot)):
                    marks = () if cheap(name, way, slot, nworld) else pytest.mark.slow
                    yield pytest.param(name, nworld, slot, way, marks=marks)


@pytest.mark.parametrize(("name", "nworld", "slot", "way"), list(mixes()))
def test_any_mix_moves_as_the_reference(name: str, nworld: int, slot: str, way: str) -> None:
    plan, why = refusal(WAYS[way], name, slot, nworld)
    if plan is None:
        assert may_refuse(way, slot), why
        assert slot.partition(":")[0] in why
    else:
        check(plan, name, nworld)


def own_mixes() -> Iterator[Any]:
    """Rows that only a plugin has, in every model that has such a table."""
    for name in NAMES:
        running = {slot.partition(":")[0] for slot in slots(name)} | {"step_begin"}
        for nworld in (2, 64):
            for slot in (slot for slot in OWN_ROWS if slot.partition(":")[0] in running):
                for way in OWN_WAYS:
                    quick = (name, nworld) == ("ball", 2) and slot != "step_begin"
                    yield pytest.param(name, nworld, slot, way, marks=() if quick else pytest.mark.slow)


@pytest.mark.parametrize(("name", "nworld", "slot", "way"), list(own_mixes()))
def test_a_plugins_own_row_acts_in_a_plan_of_lanes(name: str, nworld: int, slot: str, way: str) -> None:
    check(OWN_WAYS[way](name, slot, nworld), name, nworld, slot)


@pytest.mark.parametrize("slot", OWN_ROWS)
def test_a_plugins_own_row_makes_a_difference(slot: str) -> None:
    """Otherwise the test above would see nothing."""
    without, with_row = reference_motion("ball", 2), reference_motion("ball", 2, slot)
    assert np.abs(without["qvel"] - with_row["qvel"]).max() > 1e-5


# ---- several at once

_CONTACTS_ON_NUMPY = {"broadphase": "@numpy", "narrowphase": "@numpy", "contact_params": "@numpy"}
SEVERAL: Mapping[str, Mapping[str, str]] = {
    "contacts on NumPy, rows in lanes": {**_CONTACTS_ON_NUMPY, "constraint_rows": f"@{LANES}"},
    "rows on NumPy, solver in lanes": {"constraint_rows": "@numpy", "solve_constraints": f"@{LANES}"},
    "parameters in lanes between": {
        "narrowphase": "@numpy",
        "contact_params": f"@{LANES}",
        "islands": "@numpy",
    },
    "some rows here, some there": {"constraint_rows:limit": "@numpy", "constraint_rows:contact": f"@{LANES}"},
    "reference on NumPy between": {"constraint_reference": "@numpy", "solve_constraints": f"@{LANES}"},
    "every other stage": dict.fromkeys([s for s in slots("ball") if not is_part(s)][::2], "@numpy"),
}


@pytest.mark.parametrize("mix", SEVERAL)
@pytest.mark.parametrize(
    "name", ["ball", *(pytest.param(n, marks=pytest.mark.slow) for n in ("boxes", "tendons"))]
)
def test_several_swaps_together(name: str, mix: str) -> None:
    plan, why = planned(lambda: simulated(name, 2, SEVERAL[mix]))
    if plan is None:
        assert any(slot in why for slot in SEVERAL[mix])
    else:
        check(plan, name, 2)


# ---- mixes that once lost their contacts


def larger(first: Any, second: Any) -> Any:
    """MuJoCo's rule for friction and margins, as a user would write it."""
    return np.maximum(first, second)


def larger_one_by_one(first: Any, second: Any) -> Any:
    """The same, number by number: nothing that could become lanes."""
    pairs = zip(np.ravel(first), np.ravel(second), strict=True)
    return np.array([float(a) if a > b else float(b) for a, b in pairs]).reshape(np.shape(first))


def settled(
    document: str, stages: Mapping[str, str | Callable[..., Any]], **settings: Any
) -> tuple[float, Plan]:
    """The height of a lone body after a hundred steps."""
    # The same fields are kept as in the other tests, so that they share kernels.
    sim = dovetail.Simulation(
        dovetail.loads(document), nworld=2, stages=stages, keep=KEEP, **{**IN_LANES, **settings}
    )
    sim.step(100)
    heights = np.asarray(sim.data.qpos)[:, 2]
    assert heights[0] == heights[1]
    return float(heights[0]), sim.plan


FALLING = DOCUMENTS["ball"].replace(".0999", ".1002")
SEEN: Mapping[str, Mapping[str, str | Callable[..., Any]]] = {
    "narrowphase on NumPy": {"narrowphase": "@numpy"},
    "triangle": {"narrowphase": "triangle"},
    "contact_params on NumPy": {"contact_params": "@numpy"},
    "margin by a function": {"combine_margin": larger},
    "margin by a loop": {"combine_margin": larger_one_by_one},
    "friction by a function": {"combine_friction": larger},
    "friction by a loop": {"combine_friction": larger_one_by_one},
}


@pytest.mark.parametrize("mix", SEEN)
def test_a_ball_stays_on_the_floor(mix: str) -> None:
    height, plan = settled(FALLING, SEEN[mix])
    assert height == pytest.approx(0.0996, abs=1e-4), plan.explain()


@pytest.mark.slow
def test_multiccd_alone_does_not_drop_a_cube() -> None:
    height, plan = settled(DOCUMENTS["multiccd"], {})
    assert height == pytest.approx(0.4998, abs=3e-4), plan.explain()


@pytest.mark.parametrize(
    ("slot", "way"), [("narrowphase", "function_in_lanes"), ("combine_friction", "opaque_in_lanes")]
)
@pytest.mark.slow
def test_boxes_stay_on_each_other(slot: str, way: str) -> None:
    check(WAYS[way]("boxes", slot, 2), "boxes", 2)


@pytest.mark.slow
@pytest.mark.parametrize("nworld", [2, 64])
@pytest.mark.parametrize("name", NAMES)
def test_lanes_alone_move_as_the_reference(name: str, nworld: int) -> None:
    sim = dovetail.Simulation(model(name), nworld=nworld, keep=KEEP, **IN_LANES)  # type: ignore[arg-type]
    check(sim.plan, name, nworld)

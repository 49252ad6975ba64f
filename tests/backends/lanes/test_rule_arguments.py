"""A contact rule that does not take its stage's arguments is refused, in the same words on every backend.

A rule is called by position, so one that has the same names in another order would silently get the other geom's
numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.errors import PluginError

BALL = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 1" friction=".3"/>
    <body pos="0 0 0.099"><freejoint/><geom size="0.1" friction=".7"/></body>
  </worldbody>
</mujoco>
"""


class Swapped:
    def __call__(self, second: Any, first: Any) -> Any:
        return second

    def method(self, second: Any, first: Any) -> Any:
        return second


class Plain:
    def __call__(self, first: Any, second: Any) -> Any:
        return np.maximum(first, second)


def swapped(second: Any, first: Any) -> Any:
    return second


def swapped_with_more(second: Any, first: Any, *more: Any) -> Any:
    return second


def swapped_names_only(*, second: Any, first: Any) -> Any:
    return second


def swapped_with_default(second: Any, first: Any = None, /) -> Any:
    return second


def other_names(a: Any, b: Any) -> Any:
    return a


def other_first_name(a: Any, *more: Any) -> Any:
    return a


def half_named(first: Any, *, second: Any) -> Any:
    return first


def wants_more(first: Any, second: Any, third: Any) -> Any:
    return first


def wants_a_named_one(*both: Any, third: Any) -> Any:
    return both[0]


def default_between(first: Any, scale: Any = 1.0, second: Any = None) -> Any:
    return first


def one(first: Any) -> Any:
    return first


def scaled(scale: Any, second: Any, first: Any) -> Any:
    return scale * second


def swapped_range(gap: Any, margin: Any) -> tuple[Any, Any]:
    return gap, gap - margin


def swapped_mix(solmix: Any, solimp: Any, solref: Any) -> tuple[Any, Any]:
    return solimp[:, 0, :2], solref[:, 0]


OF_TWO_GEOMS = [
    swapped,
    swapped_with_more,
    swapped_names_only,
    swapped_with_default,
    Swapped(),
    Swapped().method,
    partial(swapped),
    partial(scaled, 2.0),
    lambda second, first: second,
    other_names,
    other_first_name,
    half_named,
    wants_more,
    wants_a_named_one,
    default_between,
    one,
]
WRONG: dict[str, list[Callable[..., Any]]] = {
    "combine_friction": OF_TWO_GEOMS,
    "combine_margin": OF_TWO_GEOMS,
    "resolve_priority": OF_TWO_GEOMS,
    "contact_range": [swapped_range, partial(swapped_range), other_names, one],
    "mix_solver": [swapped_mix, partial(swapped_mix), other_names, one],
}


def refusal(backend: str, stage: str, rule: Callable[..., Any], nworld: int | None = None) -> str:
    with pytest.raises(PluginError) as told:
        dovetail.Simulation(dovetail.loads(BALL), backend=backend, nworld=nworld, stages={stage: rule})
    return str(told.value)


@pytest.mark.parametrize("stage", WRONG)
def test_a_rule_with_other_arguments_is_refused_in_the_same_words(stage: str) -> None:
    for rule in WRONG[stage]:
        expected = refusal("numpy", stage, rule)
        assert "does not fit the stage, whose arguments are (" in expected
        assert refusal(LANES, stage, rule) == expected, rule
        assert refusal(LANES, stage, rule, nworld=2) == expected, rule


def with_a_default(first: Any, second: Any, scale: float = 1.0) -> Any:
    return scale * np.maximum(first, second)


def with_a_named_default(first: Any, second: Any, *, scale: float = 1.0) -> Any:
    return scale * np.maximum(first, second)


def of_any_number(*both: Any) -> Any:
    return np.maximum(*both)


def of_any_names(*both: Any, **named: Any) -> Any:
    return np.maximum(*both)


def first_and_rest(first: Any, *rest: Any) -> Any:
    return np.maximum(first, rest[0])


RIGHT = [
    with_a_default,
    with_a_named_default,
    partial(with_a_named_default, scale=1.0),
    of_any_number,
    of_any_names,
    first_and_rest,
    Plain(),
    lambda first, second: np.maximum(first, second),
]


@pytest.mark.parametrize("backend", ["numpy", LANES])
def test_a_rule_with_the_same_arguments_in_another_form_is_taken(backend: str) -> None:
    for rule in RIGHT:
        sim = dovetail.Simulation(dovetail.loads(BALL), backend=backend, stages={"combine_friction": rule})
        chosen = sim.plan.choices["combine_friction"]
        assert chosen.record.provider == "the call", rule


@pytest.mark.parametrize("rule", [with_a_default, partial(with_a_named_default, scale=2.0), of_any_number])
def test_a_rule_in_another_form_gives_the_same_as_the_reference(rule: Callable[..., Any]) -> None:
    found = []
    for backend in ("numpy", LANES):
        sim = dovetail.Simulation(dovetail.loads(BALL), backend=backend, stages={"combine_friction": rule})
        sim.step()
        found.append(np.asarray(sim.data.contact.friction[0]))
    assert np.array_equal(*found)

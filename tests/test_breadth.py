"""Which cases of a parametrisation the default suite runs."""

from __future__ import annotations

from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import breadth
import pytest

COLOURS, SIZES, FORMS = ("red", "green", "blue"), (1, True), ([0.0], [1.0])


class Case:
    """What `breadth` asks of a case."""

    originalname = "test_something"

    def __init__(self, marks: list[Any], **params: Any) -> None:
        self.marks = {mark.name: mark for mark in marks}
        self.callspec = SimpleNamespace(id="-".join(map(str, params.values())), params=params)

    def get_closest_marker(self, name: str) -> Any:
        return self.marks.get(name)

    def add_marker(self, mark: Any) -> None:
        self.marks[mark.name] = mark


def cases(mark: Any, slow: tuple[str, ...] = ()) -> list[Any]:
    made = [Case([mark.mark], c=c, s=s, f=f) for c, s, f in product(COLOURS, SIZES, FORMS)]
    for case in made:
        if case.callspec.id.startswith(slow):
            case.add_marker(pytest.mark.slow)
    return made


def default(all_cases: list[Any]) -> list[Any]:
    breadth.mark_slow_cases(all_cases)
    return [case for case in all_cases if "slow" not in case.marks]


def values(chosen: list[Any], count: int) -> set[Any]:
    """Values, or pairs of them, as text."""
    parts = [[f"{n}={v}" for n, v in case.callspec.params.items()] for case in chosen]
    return {each for part in parts for each in combinations(part, count)}


@pytest.mark.parametrize(("strength", "fewest"), [(1, 3), (2, 6)])
def test_every_value_is_covered_by_few_cases(strength: int, fewest: int) -> None:
    everything = cases(pytest.mark.covering(strength))
    chosen = default(everything)
    assert values(chosen, strength) == values(everything, strength)
    assert fewest <= len(chosen) <= fewest + 1


def test_what_is_slow_anyway_covers_nothing() -> None:
    chosen = default(cases(pytest.mark.covering, slow=("red-1",)))
    assert values(chosen, 1) == values(cases(pytest.mark.covering), 1)
    assert not any(case.callspec.id.startswith("red-1") for case in chosen)


def test_named_cases_are_those_of_the_default_suite_or_those_that_are_not() -> None:
    names = ("red-1-[0.0]", "blue-True-[1.0]")
    assert {c.callspec.id for c in default(cases(pytest.mark.by_default(*names)))} == set(names)
    left = default(cases(pytest.mark.slow_cases(*names)))
    assert len(left) == 10
    assert not {c.callspec.id for c in left} & set(names)


@pytest.mark.parametrize("mark", [pytest.mark.by_default, pytest.mark.slow_cases])
def test_a_name_that_no_case_has_is_an_error(mark: Any) -> None:
    with pytest.raises(pytest.UsageError, match=r"test_something has no cases \['pink'\]"):
        default(cases(mark("red-1-[0.0]", "pink")))


def test_cases_without_these_marks_stay() -> None:
    assert len(default(cases(pytest.mark.device))) == 12

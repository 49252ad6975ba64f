"""Which cases of a large parametrisation the default suite runs; the others are `slow`.

Three marks say it beside `parametrize`: `@pytest.mark.covering` (as few combinations as have every value of every
parameter, `covering(2)` every pair of values), `@pytest.mark.by_default("id", ...)` (these), and
`@pytest.mark.slow_cases("id", ...)` (all but these). An id that no case has is an error, so that none is lost when it
is renamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import pytest

Cases = Sequence[pytest.Function]

MARKS = (
    "covering(strength=1): of all combinations, the default suite runs as few as have every value of every parameter "
    "(2: every pair of values); the others are slow",
    "by_default(*ids): the default suite runs these cases; the others are slow",
    "slow_cases(*ids): these cases are slow; the default suite runs the others",
)
"""As `--markers` shows them."""


def mark_slow_cases(cases: Cases) -> None:
    """Mark the cases of one function that the default suite leaves out."""
    for name, kept in CHOICES.items():
        mark = cases[0].get_closest_marker(name)
        if mark is None:
            continue
        chosen = kept(cases, *mark.args)
        for case in cases:
            if case not in chosen:
                case.add_marker(pytest.mark.slow)


def covering(cases: Cases, strength: int = 1) -> Cases:
    """As few as have every value, or pair of values, that cases have which are not slow anyway. The next one taken is
    the first of those that add most."""
    added = {case: _tuples(case, strength) for case in cases if case.get_closest_marker("slow") is None}
    missing = set().union(*added.values())
    chosen = []
    while missing:
        chosen.append(max(added, key=lambda case: len(added[case] & missing)))
        missing -= added[chosen[-1]]
    return chosen


def _tuples(case: pytest.Function, strength: int) -> set[Any]:
    """Values of parameters, by name, so many at a time as asked for."""
    values = [(name, _known(value)) for name, value in sorted(case.callspec.params.items())]
    return set(combinations(values, min(strength, len(values))))


def _known(value: Any) -> Any:
    """What a value is known by: itself, with its type because 1 == True, or which object it is."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value


def by_default(cases: Cases, *ids: str) -> Cases:
    return _named(cases, ids)


def slow_cases(cases: Cases, *ids: str) -> Cases:
    left_out = _named(cases, ids)
    return [case for case in cases if case not in left_out]


def _named(cases: Cases, ids: Iterable[str]) -> Cases:
    found = {case.callspec.id: case for case in cases}
    unknown = [name for name in ids if name not in found]
    if unknown:
        raise pytest.UsageError(f"{cases[0].originalname} has no cases {unknown}; it has {list(found)}")
    return [found[name] for name in ids]


CHOICES: dict[str, Callable[..., Cases]] = {
    "covering": covering,
    "by_default": by_default,
    "slow_cases": slow_cases,
}

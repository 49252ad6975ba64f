"""Contact rules that are given as Python functions, in lane kernels: as long as they can be traced.

A rule is a plain function of arrays with one row per contact. In a kernel it is run once, on symbols for a single
contact. One that branches on values, that mixes contacts, or that depends on something which may change, is no rule
for a kernel; the stages that call it then run on NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs
import numpy as np

from dovetail.backends.lanes.kernel import Kernel, LaneLayout
from dovetail.backends.lanes.traced import NotTraceableError, TracedArray, captures
from dovetail.errors import NoVersionError
from dovetail.implementation import Implementation

Rule = Callable[..., Any]


def _one_row(k: Kernel, values: Any) -> TracedArray:
    """An argument for a single contact."""
    return TracedArray(k, np.array(values, dtype=object)[None])


def _result(found: Any, shape: tuple[int, ...]) -> Any:
    """What a rule gave for a single contact."""
    values = found.values if isinstance(found, TracedArray) else np.asarray(found, dtype=object)
    if values.shape != (1, *shape):
        raise NotTraceableError(f"it gives shape {values.shape} for one contact, not {(1, *shape)}")
    return values[0]


def friction(rule: Rule) -> Rule:
    """`combine_friction` in lanes."""

    def combine_friction(k: Kernel, first: Any, second: Any) -> Any:
        return _result(rule(_one_row(k, first), _one_row(k, second)), (3,))

    return combine_friction


def margin(rule: Rule) -> Rule:
    """`combine_margin` in lanes."""

    def combine_margin(k: Kernel, first: Any, second: Any) -> Any:
        return _result(rule(_one_row(k, first), _one_row(k, second)), ())

    return combine_margin


def gap(rule: Rule) -> Rule:
    """`contact_range` in lanes."""

    def contact_range(k: Kernel, margin: Any, gap: Any) -> tuple[Any, Any]:
        found, pushing = rule(_one_row(k, margin), _one_row(k, gap))
        return _result(found, ()), _result(pushing, ())

    return contact_range


def solver(rule: Rule) -> Rule:
    """`mix_solver` in lanes."""

    def mix_solver(k: Kernel, solmix: Any, solref: Any, solimp: Any) -> Any:
        rows = [
            _one_row(k, np.stack([np.asarray(x, dtype=object) for x in v])) for v in (solmix, solref, solimp)
        ]
        mixed_solref, mixed_solimp = rule(*rows)
        return _result(mixed_solref, (2,)), _result(mixed_solimp, (5,))

    return mix_solver


def priority(rule: Rule) -> Rule:
    """`resolve_priority` in lanes: priorities are known when the kernel is built, so the rule runs as it is."""

    def resolve_priority(k: Kernel, first: Any, second: Any) -> Any:
        return np.asarray(rule(np.asarray(first), np.asarray(second)))

    return resolve_priority


_RULES: dict[str, tuple[Callable[[Rule], Rule], tuple[Any, ...]]] = {
    "combine_friction": (friction, ((3,), (3,))),
    "combine_margin": (margin, ((), ())),
    "contact_range": (gap, ((), ())),
    "mix_solver": (solver, ((2,), (2, 2), (2, 5))),
    "resolve_priority": (priority, ()),
}
"""By stage: what makes a lane version, and the shapes of its arguments."""


def lane_versions(record: Implementation) -> Iterable[Implementation]:
    """The lane version of a function that is written as a contact rule; NoVersionError if there is none."""
    if record.stage not in _RULES:
        return []
    rule = record.load()
    make, shapes = _RULES[record.stage]
    target = make(rule)
    try:
        captured = captures(rule)
        _try(target, rule, shapes)
    except NotTraceableError as error:
        raise NoVersionError(f"{record.name} cannot be worked into a kernel: {error}") from error
    except Exception as error:  # whatever a stranger's function does with symbols: it then runs on NumPy
        text = f"{type(error).__name__}: {error}"
        raise NoVersionError(f"{record.name} cannot be worked into a kernel: {text}") from error
    return [
        attrs.evolve(
            record,
            backend="lanes",
            function=target,
            captures=captured,
            summary=f"{record.summary or 'A function of NumPy'}, traced into lanes",
        )
    ]


_TRIED = 4
"""Contacts on which a rule is tried."""


def _try(target: Rule, rule: Rule, shapes: tuple[Any, ...]) -> None:
    """Run a rule on symbols of a kernel that nobody will use, and on numbers, as NumPy runs it."""
    if shapes:
        k = Kernel(LaneLayout({}, {"x": (16,)}), "rule")
        target(k, *(_symbols(k, shape) for shape in shapes))
        _compare(target, rule, k, _numbers(shapes))


def _numbers(shapes: tuple[Any, ...]) -> list[Any]:
    """Arguments of a rule for some contacts, of which the last has the same numbers everywhere."""
    rng = np.random.default_rng(0)
    found = [rng.random((_TRIED, *shape)) for shape in shapes]
    for array in found:
        array[-1] = 0.5
    return found


def _compare(target: Rule, rule: Rule, k: Kernel, arguments: list[Any]) -> None:
    """Each contact alone gets what NumPy gives it among others: a rule that mixes contacts does not."""
    with np.errstate(all="ignore"):
        together = rule(*(a.copy() for a in arguments))
        for row in range(_TRIED):
            alone = target(k, *(np.array(a[row], dtype=object) for a in arguments))
            pairs = zip(alone, together, strict=True) if isinstance(alone, tuple) else [(alone, together)]
            for mine, all_rows in pairs:
                wanted = np.asarray(all_rows, dtype=float)[row]
                if not np.allclose(np.asarray(mine, dtype=float), wanted, rtol=1e-12, equal_nan=True):
                    raise NotTraceableError("it gives a contact other numbers alone than among others")


def _symbols(k: Kernel, shape: tuple[int, ...]) -> Any:
    values = np.empty(shape, dtype=object)
    for n, at in enumerate(np.ndindex(shape)):
        values[at] = k.data.x[n]
    return values if shape else values[()]

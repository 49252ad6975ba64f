"""Whether a function can be called as a stage: with the stage's arguments, by position."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dovetail.errors import listing
from dovetail.signatures import signature

if TYPE_CHECKING:
    from dovetail.pipeline import Stage

OPTIONAL_IN_PARTS = "parts"
"""What a part that calls no others need not take."""
_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def misfit(stage: Stage, target: Callable[..., Any]) -> str:
    """Why a function cannot be called so, or an empty string."""
    if not callable(target):
        return f"it is {target!r}, which cannot be called"
    try:
        parameters = list(signature(target).parameters.values())
    except (TypeError, ValueError):  # some functions written in C do not say
        return ""
    if stage.phase == "compile":  # called by name, with those arguments that it takes
        return _strange(stage, parameters)
    taken = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    passed = [a for a in stage.arguments if not (a == OPTIONAL_IN_PARTS and stage.part_of is not None)]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):  # takes the rest, whatever its names
        passed = passed[: len(taken)]
    return _strange(stage, parameters) or _too_few(passed, taken) or _out_of_order(passed, taken)


def _strange(stage: Stage, parameters: list[inspect.Parameter]) -> str:
    """Arguments without a default that the stage does not pass."""
    strange = [
        p.name
        for p in parameters
        if p.name not in stage.arguments and p.default is p.empty and p.kind not in _ANY_NUMBER
    ]
    return (
        f"it also wants {', '.join(strange)}; take {_these(strange)} out, or give a default"
        if strange
        else ""
    )


def _too_few(passed: list[str], taken: list[str]) -> str:
    absent = [a for a in passed if a not in taken]
    return (
        f"it takes ({', '.join(taken)}) and lacks {listing(absent)}; add {_these(absent)}" if absent else ""
    )


def _out_of_order(passed: list[str], taken: list[str]) -> str:
    shared = taken[: len(passed)]
    return "" if shared == passed else f"it takes ({', '.join(taken)}); put them in the stage's order"


def _these(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"

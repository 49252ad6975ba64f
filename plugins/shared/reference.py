"""Other stages, asked for by name: what code calls that evaluates stages by itself, as the constants of a model and
the distances of geoms do.

Stage folders do not import each other; the registry knows where each implementation is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail.errors import PluginError
from dovetail.registry import default_registry


def reference(slot: str, name: str) -> Callable[..., Any]:
    """The NumPy function that computes a slot by the algorithm `name`."""
    return _function("numpy", slot, name)


def builder(slot: str, name: str) -> Callable[..., Any]:
    """The builder in lanes that computes a slot by the algorithm `name`."""
    return _function("lanes", slot, name)


def names(slot: str) -> set[str]:
    """The algorithms that are installed for a slot."""
    return {record.name for record in default_registry().of(slot)}


def _function(language: str, slot: str, name: str) -> Callable[..., Any]:
    record = default_registry().written_in(language, slot, name)
    if record is None:
        raise PluginError(
            f"{slot}: {name!r} is not installed for {language}; there are: {sorted(names(slot))}"
        )
    return record.load()

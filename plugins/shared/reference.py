"""Other stages, asked for by name: what code calls that evaluates stages by itself, such as the constants of a model.

Stage folders do not import each other; the registry knows where each implementation is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail.errors import PluginError
from dovetail.registry import default_registry


def reference(slot: str, name: str) -> Callable[..., Any]:
    """The NumPy function that computes a slot by the algorithm `name`."""
    record = default_registry().written_in("numpy", slot, name)
    if record is None:
        raise PluginError(f"{slot}: the NumPy reference {name!r} is not installed")
    return record.load()

"""A hostile input: what is prepared, what is then called, and which error should come of it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

MOST_SECONDS = 1.0
"""Of processor time, from the call to the error."""
MOST_BYTES = 200 << 20
"""Of memory, beyond what the input itself takes."""

NO_ORACLE = importlib.util.find_spec("mujoco") is None
NO_TAICHI = all(importlib.util.find_spec(runtime) is None for runtime in ("taichi", "quadrants"))
"""What is not installed is not attacked."""

Build = Callable[[Path], Callable[[], Any]]
"""Prepares an input in an empty folder, unmeasured, and gives the call that is measured."""


@attrs.frozen
class Case:
    name: str
    error: str
    """Name of the type; "" for what is harmless and should pass."""
    fragment: str
    """Part of the message."""
    build: Build
    slow: bool = False


@attrs.define
class Table:
    """Cases of one subject, gathered by calls."""

    subject: str
    cases: list[Case] = attrs.field(factory=list)

    def add(self, name: str, error: str, fragment: str, build: Build, *, slow: bool = False) -> None:
        self.cases.append(Case(f"{self.subject}: {name}", error, fragment, build, slow))

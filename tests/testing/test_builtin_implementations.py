"""The house checks on every built-in implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail.implementation import Implementation
from dovetail.registry import build_registry
from dovetail.testing import parametrize_with_checks

REGISTRY = build_registry(third_party=False)


@parametrize_with_checks(REGISTRY.implementations, registry=REGISTRY)
def test_builtin_implementation(implementation: Implementation, check: Callable[[Any], None]) -> None:
    check(implementation)

"""dovetail's own conformance checks, on everything this package offers."""

from __future__ import annotations

from collections.abc import Callable

from dovetail_windmill.plugin import dovetail_implementations

from dovetail.plugin import Implementation
from dovetail.testing import parametrize_with_checks


@parametrize_with_checks(dovetail_implementations())
def test_house_rules(implementation: Implementation, check: Callable[[Implementation], None]) -> None:
    check(implementation)

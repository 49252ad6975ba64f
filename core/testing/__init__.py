"""The conformance kit: checks that any implementation must pass, built in or third-party.

from dovetail.testing import parametrize_with_checks
from my_plugin import dovetail_implementations

@parametrize_with_checks(dovetail_implementations())
def test_house_rules(implementation, check):
    check(implementation)
"""

from __future__ import annotations

from typing import Any

__all__ = ["parametrize_with_checks"]


def __getattr__(name: str) -> Any:
    # The kit imports the engine; pytest loads this package for its plugin in every session.
    if name == "parametrize_with_checks":
        from dovetail.testing.parametrize import parametrize_with_checks

        return parametrize_with_checks
    raise AttributeError(f"module 'dovetail.testing' has no attribute {name!r}")

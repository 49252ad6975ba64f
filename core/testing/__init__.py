"""The conformance kit: checks that any implementation must pass, built in or third-party.

from dovetail.testing import parametrize_with_checks
from my_plugin import dovetail_implementations

@parametrize_with_checks(dovetail_implementations())
def test_house_rules(implementation, check):
    check(implementation)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["parametrize_with_checks"]


if TYPE_CHECKING:
    from dovetail.testing.parametrize import parametrize_with_checks as parametrize_with_checks


def _first_use(name: str) -> Any:
    # The kit imports the engine; pytest loads this package for its plugin in every session.
    if name == "parametrize_with_checks":
        from dovetail.testing.parametrize import parametrize_with_checks

        return parametrize_with_checks
    raise AttributeError(f"module 'dovetail.testing' has no attribute {name!r}")


if not TYPE_CHECKING:  # checkers know the name from above, and report others
    __getattr__ = _first_use

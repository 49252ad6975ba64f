"""What many machines need beyond dovetail itself."""

from __future__ import annotations

from importlib.util import find_spec

from dovetail.distribution import requirement
from dovetail.errors import MissingDependencyError


def require_ray() -> None:
    """An error that says how to get Ray, if it is not there."""
    if find_spec("ray") is None:
        raise MissingDependencyError(
            "many machines need the package 'ray', which is not installed; "
            f"run: pip install '{requirement('distributed')}'"
        )


def require_gymnasium() -> None:
    """An error that says how to get Gymnasium, if it is not there."""
    if find_spec("gymnasium") is None:
        raise MissingDependencyError(
            "vector environments need the package 'gymnasium', which is not installed; run: pip install gymnasium"
        )

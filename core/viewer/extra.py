"""What the viewer needs beyond dovetail itself."""

from __future__ import annotations

from importlib.util import find_spec

from dovetail.distribution import requirement
from dovetail.errors import MissingDependencyError


def require_viser() -> None:
    """An error that says how to get viser, if it is not there."""
    if find_spec("viser") is None:
        raise MissingDependencyError(
            "the viewer needs the package 'viser', which is not installed; "
            f'run: pip install "{requirement("viewer")}"'
        )

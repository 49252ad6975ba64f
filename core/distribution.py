"""The name under which dovetail is installed; the import is `dovetail`, a name that PyPI gave to another project."""

from __future__ import annotations

DISTRIBUTION = "dovetail-physics"
"""As in pyproject.toml (tests/kernel/test_packaging.py compares the two)."""


def requirement(extra: str = "") -> str:
    """What to pip-install for dovetail, or for dovetail with one of its extras."""
    return f"{DISTRIBUTION}[{extra}]" if extra else DISTRIBUTION

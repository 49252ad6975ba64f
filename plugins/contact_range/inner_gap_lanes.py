"""The gap is the outer part of the margin, in which a contact is found but does not push (MuJoCo 3.4)."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel


def contact_range(k: Kernel, margin: Any, gap: Any) -> tuple[Any, Any]:
    """Distances within which a contact is found, and below which it pushes."""
    return margin, margin - gap

"""The gap is the outer part of the margin, in which a contact is found but does not push (MuJoCo 3.4)."""

from __future__ import annotations

from dovetail.contracts.fields import Array


def contact_range(margin: Array, gap: Array) -> tuple[Array, Array]:
    """Distances (n each) within which contacts are found, and below which they push."""
    return margin, margin - gap

"""Margins, or gaps, of two geoms add up: each geom has a layer of its own (MuJoCo 4.0 does this)."""

from __future__ import annotations

from dovetail.contracts.fields import Array


def combine_margin(first: Array, second: Array) -> Array:
    """Two margins (n) together."""
    return first + second

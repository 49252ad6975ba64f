"""Margins, or gaps, of two geoms add up: each geom has a layer of its own (MuJoCo 4.0 does this)."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel


def combine_margin(k: Kernel, first: Any, second: Any) -> Any:
    """Two margins together."""
    return first + second

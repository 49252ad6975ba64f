"""The larger margin, or gap, of two geoms counts (mj_contactParam and mj_collideGeoms of MuJoCo 3.4)."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel


def combine_margin(k: Kernel, first: Any, second: Any) -> Any:
    """The larger of two margins."""
    return k.max(first, second)

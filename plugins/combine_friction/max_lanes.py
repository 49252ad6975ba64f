"""The larger friction coefficient counts, each of slide, spin and roll by itself (mj_contactParam)."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel, elementwise


def combine_friction(k: Kernel, first: Any, second: Any) -> Any:
    """Element-wise maximum of frictions (3)."""
    return elementwise(k.max, first, second)

"""The geometric mean of the friction coefficients: √(μ₁ μ₂), each of slide, spin and roll by itself."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel, elementwise


def combine_friction(k: Kernel, first: Any, second: Any) -> Any:
    """Element-wise geometric mean of frictions (3)."""
    return elementwise(k.sqrt, first * second)

"""The geom of higher priority decides alone, be it negative or not; equal priorities share (mj_contactParam).

Priorities are part of the model's structure, so in lane kernels this is asked while the plan is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel


def resolve_priority(k: Kernel, first: Any, second: Any) -> Any:
    """-1 where the first has the higher priority, +1 where the second has, 0 where they are equal (arrays)."""
    return (second > first).astype(np.int32) - (second < first)

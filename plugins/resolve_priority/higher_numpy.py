"""The geom of higher priority decides alone, be it negative or not; equal priorities share (mj_contactParam)."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array


def resolve_priority(first: Array, second: Array) -> Array:
    """-1 where the first has the higher priority, +1 where the second has, 0 where they are equal."""
    return (second > first).astype(np.int32) - (second < first)

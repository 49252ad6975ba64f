"""Expanding index ranges into pairs, a bounded number at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from dovetail.contracts.fields import Array

Pairs: TypeAlias = Iterator[tuple[Array, Array]]
"""Blocks of pairs: two arrays of the same length."""

BLOCK = 1 << 18
"""Pairs per block: work arrays stay within a few tens of megabytes however many pairs there are."""


def expand(first: Array, second: Array, start: Array, stop: Array) -> Pairs:
    """Pairs (first[k], second[j]) for every k and every j from start[k] up to stop[k], in blocks of whole k."""
    count = np.maximum(stop - start, 0)
    end = np.cumsum(count)
    row = 0
    while row < len(count):
        done = int(end[row - 1]) if row else 0
        last = max(int(np.searchsorted(end, done + BLOCK, side="right")), row + 1)
        which = np.repeat(np.arange(row, last), count[row:last])
        offset = np.arange(len(which)) - (end - count - done)[which]
        if len(which):
            yield first[which], second[start[which] + offset]
        row = last


def every_pair(first: Array, second: Array) -> Pairs:
    """Each of one list with each of another."""
    none = np.zeros(len(first), int)
    return expand(first, second, none, none + len(second))


def unordered_pairs(ids: Array) -> Pairs:
    """Each pair of one list once."""
    place = np.arange(len(ids))
    return expand(ids, ids, place + 1, np.full(len(ids), len(ids)))

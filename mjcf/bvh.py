"""Bounding volume trees over many boxes at once: halves at the median of the longest side, level by level.

Same trees as `mjCBoundingVolumeHierarchy::MakeBVH`, numbered depth first: a volume over n leaves is followed by
the 2k − 1 volumes of its first half of k = n // 2 leaves, then by those of the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .rotation import EPS

Ints = np.ndarray
Reals = np.ndarray


def build_tree(centres: Reals, low: Reals, high: Reals) -> dict[str, Any]:
    """bvh_depth, bvh_child, bvh_nodeid and bvh_aabb of a tree whose leaves are the given boxes."""
    count = len(centres)
    total = max(2 * count - 1, 0)
    tree: dict[str, Any] = {
        "bvh_depth": np.zeros(total, np.int32),
        "bvh_child": np.full((total, 2), -1, np.int32),
        "bvh_nodeid": np.full(total, -1, np.int32),
        "bvh_aabb": np.zeros((total, 6)),
    }
    members = np.arange(count)
    starts, sizes, numbers = np.array([0]), np.array([count]), np.array([0])
    depth = 0
    while count and len(numbers):
        edges = _store_boxes(tree, members, starts, numbers, low, high, depth)
        leaf = sizes == 1
        tree["bvh_nodeid"][numbers[leaf]] = members[starts[leaf]]
        keep = np.repeat(~leaf, sizes)
        members, sizes, numbers, edges = members[keep], sizes[~leaf], numbers[~leaf], edges[~leaf]
        if not len(numbers):
            break
        members = _sorted_members(members, sizes, centres, _longest(edges))
        halves = sizes // 2
        first, second = numbers + 1, numbers + 2 * halves
        tree["bvh_child"][numbers, 0], tree["bvh_child"][numbers, 1] = first, second
        sizes = np.stack([halves, sizes - halves], axis=1).reshape(-1)
        numbers = np.stack([first, second], axis=1).reshape(-1)
        starts = np.cumsum(sizes) - sizes
        depth += 1
    return tree


def _store_boxes(
    tree: dict[str, Any],
    members: Ints,
    starts: Ints,
    numbers: Ints,
    low: Reals,
    high: Reals,
    depth: int,
) -> Reals:
    """Write the boxes of one level; returns the lengths of their edges."""
    lows = np.minimum.reduceat(low[members], starts, axis=0)
    highs = np.maximum.reduceat(high[members], starts, axis=0)
    flat = np.abs(lows - highs) < EPS
    lows, highs = lows - flat * EPS, highs + flat * EPS
    tree["bvh_depth"][numbers] = depth
    tree["bvh_aabb"][numbers] = np.concatenate([(highs + lows) / 2, (highs - lows) / 2], axis=1)
    return highs - lows


def _longest(edges: Reals) -> Ints:
    """The longest axis of each box, the earlier one if they are practically equal."""
    axis = (edges[:, 1] >= edges[:, 0] + EPS).astype(np.int64)
    longest = edges[np.arange(len(edges)), axis]
    return np.where(edges[:, 2] >= longest + EPS, 2, axis)


def _sorted_members(members: Ints, sizes: Ints, centres: Reals, axes: Ints) -> Ints:
    """Members of each volume in ascending order along its axis; practically equal ones keep their order."""
    volume = np.repeat(np.arange(len(sizes)), sizes)
    position = centres[members, axes[volume]]
    if np.isnan(position).any():
        # a face without area has no centre and goes by its number alone
        middle = (np.add.reduceat(members, np.cumsum(sizes) - sizes) / sizes)[volume]
        position = np.where(np.isnan(position), np.where(members < middle, -np.inf, np.inf), position)
    order = np.lexsort((members, position, volume))
    members, position = members[order], position[order]
    jump = np.zeros(len(members), bool)
    jump[1:] = (np.diff(position) > EPS) | (np.diff(volume) > 0)
    return members[np.lexsort((members, np.cumsum(jump)))]

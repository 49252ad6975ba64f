"""Bounding volume trees over many boxes at once: halves at the median of the longest side, level by level.

Same trees as `mjCBoundingVolumeHierarchy::MakeBVH`, numbered depth first: a volume over n leaves is followed by
the 2k − 1 volumes of its first half of k = n // 2 leaves, then by those of the second. Leaves are sorted once along
each axis; a level then sorts whole numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.plugins.shared.constants import EPS

Ints = np.ndarray
Reals = np.ndarray

_FEW = 8
"""Up to so many members it is quicker to go through them than through volumes."""


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
    bounds = np.concatenate([low, -high], axis=1).T.copy()
    orders = _orders(centres)
    ranks = None if orders is None else np.argsort(orders, axis=1)
    members = np.arange(count)
    starts, sizes, numbers = np.array([0]), np.array([count]), np.array([0])
    depth = 0
    while count and len(numbers):
        edges = _store_boxes(tree, _least(np.take(bounds, members, axis=1), starts, sizes), numbers, depth)
        leaf = sizes == 1
        if leaf.any():
            tree["bvh_nodeid"][numbers[leaf]] = members[starts[leaf]]
            keep = np.repeat(~leaf, sizes)
            members, sizes, numbers, edges = members[keep], sizes[~leaf], numbers[~leaf], edges[:, ~leaf]
        if not len(numbers):
            break
        members = _sorted_members(members, sizes, centres, orders, ranks, _longest(edges))
        halves = sizes // 2
        first, second = numbers + 1, numbers + 2 * halves
        tree["bvh_child"][numbers, 0], tree["bvh_child"][numbers, 1] = first, second
        sizes = np.stack([halves, sizes - halves], axis=1).reshape(-1)
        numbers = np.stack([first, second], axis=1).reshape(-1)
        starts = np.cumsum(sizes) - sizes
        depth += 1
    return tree


def _least(bounds: Reals, starts: Ints, sizes: Ints) -> Reals:
    """The least of each row over the members of each volume, which differ in number by one at most."""
    most = int(sizes.max())
    if most > _FEW:
        return np.minimum.reduceat(bounds, starts, axis=1)
    least = np.take(bounds, starts, axis=1)
    for k in range(1, most):
        np.minimum(least, np.take(bounds, starts + np.minimum(k, sizes - 1), axis=1), out=least)
    return least


def _store_boxes(tree: dict[str, Any], least: Reals, numbers: Ints, depth: int) -> Reals:
    """Write the boxes of one level; returns the lengths of their edges (3, n)."""
    lows, highs = least[:3], -least[3:]
    flat = np.abs(lows - highs) < EPS
    lows, highs = lows - flat * EPS, highs + flat * EPS
    tree["bvh_depth"][numbers] = depth
    tree["bvh_aabb"][numbers] = np.concatenate([(highs + lows) / 2, (highs - lows) / 2]).T
    edges: Reals = highs - lows
    return edges


def _longest(edges: Reals) -> Ints:
    """The longest axis of each box, the earlier one if they are practically equal."""
    x, y, z = edges
    second = y >= x + EPS
    axis: Ints = np.where(z >= np.where(second, y, x) + EPS, 2, second.astype(np.int64))
    return axis


def _orders(centres: Reals) -> Ints | None:
    """Leaves in order along each axis (3, n), practically equal ones in their own; None if that is no order."""
    orders = [_axis_order(column) for column in centres.T]
    return None if any(order is None for order in orders) else np.array(orders)


def _axis_order(position: Reals) -> Ints | None:
    order = np.argsort(position)
    ascending = position[order]
    with np.errstate(invalid="ignore"):
        new = np.diff(ascending) > EPS
        cluster = np.concatenate([[0], np.cumsum(new)]) if len(order) else order
        first = ascending[np.concatenate([[0], np.flatnonzero(new) + 1])] if len(order) else ascending
        if not (
            ascending - first[cluster] <= EPS
        ).all():  # neither where one follows the other closely, nor for NaN
            return None
    return order if new.all() else order[np.lexsort((order, cluster))]


def _sorted_members(
    members: Ints, sizes: Ints, centres: Reals, orders: Ints | None, ranks: Ints | None, axes: Ints
) -> Ints:
    """Members of each volume in ascending order along its axis; practically equal ones keep their order."""
    volume = np.repeat(np.arange(len(sizes)), sizes)
    axis = axes[volume]
    if orders is None or ranks is None:
        return _sorted_by_place(members, sizes, volume, centres[members, axis])
    count = len(centres)
    first, along = volume * count, axis * count
    keys = np.sort(first + np.take(ranks, along + members))
    return np.take(orders, along + (keys - first))


def _sorted_by_place(members: Ints, sizes: Ints, volume: Ints, position: Reals) -> Ints:
    """The same where what is practically equal differs from volume to volume."""
    if np.isnan(position).any():
        # a face without area has no centre and goes by its number alone
        middle = (np.add.reduceat(members, np.cumsum(sizes) - sizes) / sizes)[volume]
        position = np.where(np.isnan(position), np.where(members < middle, -np.inf, np.inf), position)
    order = np.lexsort((members, position, volume))
    members, position = members[order], position[order]
    jump = np.zeros(len(members), bool)
    jump[1:] = (np.diff(position) > EPS) | (np.diff(volume) > 0)
    return members[np.lexsort((members, np.cumsum(jump)))]

"""Candidate pairs by sweeping along one axis, in lanes laid out across the other two.

Boxes around the geoms' bounding spheres, widened by their margins, are sorted by where they begin along the world
axis on which the geoms are spread most. A box meets those that begin inside it; only these pairs are looked at
further. So that a sweep does not meet all boxes of a thick layer, space is cut into lanes along that axis and each
lane is swept alone: a box is swept in every lane it touches, and a pair counts in the first lane that both touch.
Geoms that cannot move are swept against the others, not among themselves. World frame. Compare mj_broadphase and
mj_SAP, which sweep bodies and then search trees of their geoms; the pairs found are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.broadphase.all_pairs_numpy import all_pairs
from dovetail.plugins.shared.contacts.candidates_numpy import Bounds, write_candidates
from dovetail.plugins.shared.contacts.index_pairs_numpy import Pairs, expand

FEW = 60
"""Geoms up to which looking at every pair is quicker than sweeping: measured on random boxes."""


def broadphase(model: ModelLike, data: DataLike) -> None:
    """Write ncandidate, candidate_geom and candidate_pair."""
    write_candidates(model, data, all_pairs if model.ngeom <= FEW else sweep)


def sweep(geoms: Array, moves: Array, bounds: Bounds) -> Pairs:
    """Pairs of `geoms` whose boxes overlap and of which at least one `moves` (a flag for each of `geoms`)."""
    if not len(geoms):
        return
    entries = sorted_entries(bounds.low[geoms], bounds.high[geoms])
    for one, other in meeting(entries, moves[entries.box]):
        box1, box2 = entries.box[one], entries.box[other]
        keep = (entries.lane[one] == np.maximum(entries.first_lane[box1], entries.first_lane[box2])).all(
            axis=1
        )
        geom1, geom2 = geoms[box1[keep]], geoms[box2[keep]]
        keep = bounds.overlap(geom1, geom2)
        yield geom1[keep], geom2[keep]


class Entries(NamedTuple):
    """Boxes by lane, sorted by lane and there by where they begin along the axis of the sweep."""

    box: Array
    lane: Array
    """Place of the lane (n, 2) across the axis of the sweep."""
    key: Array
    """Lane and place among all beginnings, in one number; ascending."""
    end: Array
    """The key at which entries of the lane no longer begin inside the box."""
    first_lane: Array
    """By box, not by entry: the lowest lane it touches."""


def sorted_entries(low: Array, high: Array) -> Entries:
    """One entry for each box and each lane it touches."""
    along = int(np.argmax(np.var(low + high, axis=0)))
    across = np.delete(np.arange(3), along)
    first, last, count = lanes(low[:, across], high[:, across])
    box, lane = touched(first, last)
    order = np.argsort(low[:, along], kind="stable")
    rank = np.argsort(order)
    ends = np.searchsorted(low[order, along], high[:, along], side="right")
    start = (lane @ np.array([count[1], 1])) * (len(low) + 1)
    order = np.argsort(start + rank[box])
    box, lane, start = box[order], lane[order], start[order]
    return Entries(box, lane, start + rank[box], start + ends[box], first)


def lanes(low: Array, high: Array) -> tuple[Array, Array, Array]:
    """First and last lane (n, 2) that each box touches across the sweep, and how many lanes there are each way.

    A lane is as wide as the median box, which makes the fewest pairs of equal boxes. There are at most √n each way,
    so that large boxes are not copied too often.
    """
    origin = low.min(axis=0)
    span = np.maximum(high.max(axis=0) - origin, np.finfo(float).tiny)
    width = np.maximum(np.median(high - low, axis=0), 1e-9 * span)
    count = np.clip(span / width, 1, np.sqrt(len(low))).astype(int)
    first, last = (np.minimum((ends - origin) / span * count, count - 1).astype(int) for ends in (low, high))
    return first, last, count


def touched(first: Array, last: Array) -> tuple[Array, Array]:
    """Each box with each lane from its first to its last."""
    extent = last - first + 1
    box = np.repeat(np.arange(len(first)), extent.prod(axis=1))
    place = np.arange(len(box)) - np.searchsorted(box, box)
    return box, first[box] + np.stack(np.divmod(place, extent[box, 1]), axis=1)


def meeting(entries: Entries, moves: Array) -> Pairs:
    """Pairs of entries, at least one of which moves: of two that overlap, the second to begin does so inside the
    first."""
    moving, fixed = np.flatnonzero(moves), np.flatnonzero(~moves)
    for first, second in ((moving, moving), (moving, fixed), (fixed, moving)):
        start = np.searchsorted(entries.key[second], entries.key[first], side="right")
        stop = np.searchsorted(entries.key[second], entries.end[first], side="left")
        yield from expand(first, second, start, stop)

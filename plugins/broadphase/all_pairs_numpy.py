"""Candidate pairs by looking at every pair of geoms: slow, and plainly complete.

The filters are those of the sweep, so both must give the same candidates. Compare mj_collision.
"""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.contacts.candidates_numpy import Bounds, write_candidates
from dovetail.plugins.shared.contacts.index_pairs_numpy import Pairs, unordered_pairs


def broadphase(model: ModelLike, data: DataLike) -> None:
    """Write ncandidate, candidate_geom and candidate_pair."""
    write_candidates(model, data, all_pairs)


def all_pairs(geoms: Array, moves: Array, bounds: Bounds) -> Pairs:
    """Pairs of `geoms` whose boxes overlap and of which at least one moves."""
    for first, second in unordered_pairs(geoms):
        keep = bounds.overlap(first, second)
        yield first[keep], second[keep]

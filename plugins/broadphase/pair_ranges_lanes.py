"""Which ranges of a long list of pairs are worth looking at, in lanes: boxes around bodies and groups of bodies.

The pairs stand in the order of their contacts: by the lower body, then by the higher. So the pairs of one body with
the geoms of a few neighbouring bodies are a range of the list, and one comparison of two boxes passes over all of
it. The order stays as it is, and nothing is sorted. Boxes are parallel to the world's axes, and wider than the
bounding spheres and margins of their geoms by more than rounding. Planes have no box and explicit pairs have margins
of their own: their pairs are always looked at. Compare mj_broadphase.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.contacts.contacts_lanes import Contacts, Pairs
from dovetail.plugins.shared.contacts.pair_margins_lanes import overridden
from dovetail.plugins.shared.contacts.reach_lanes import FAR
from dovetail.plugins.shared.vectors_lanes import vector

LONG_LIST = 1000
"""Pairs from which on the list is looked through by ranges."""

USUAL_LENGTH = 16
"""Pairs that a range should have: longer ones are seldom passed over, shorter ones save little."""

LEAST_LENGTH = 4
"""Pairs per range below which comparing boxes would cost more than it saves."""

SLACK = 1e-6
"""By how much of its place and size a box is wider than it must be; well above the rounding of single precision."""


@attrs.frozen(eq=False)
class PairRanges:
    """PairRanges of the list of pairs."""

    first: Array
    """The first pair of each, and behind the last the number of pairs."""
    body: Array
    """The lower body of its pairs."""
    group: Array
    """The group of their higher bodies."""
    always: Array
    """1 if its pairs are always looked at."""
    group_size: int
    """Bodies per group."""

    @property
    def count(self) -> int:
        return len(self.body)


def pair_ranges_of(model: ModelLike, pairs: Pairs) -> PairRanges | None:
    """The ranges of a list, or None if it is better looked through pair by pair."""
    if pairs.count < LONG_LIST:
        return None
    low, high = np.minimum(pairs.body1, pairs.body2), np.maximum(pairs.body1, pairs.body2)
    bodies = 1 + np.count_nonzero(np.diff(low) | np.diff(high))
    size = max(1, round(USUAL_LENGTH * bodies / pairs.count))
    always = (pairs.pair >= 0) | is_plane(model, pairs.geom1)
    column = np.stack([low, high // size, always])
    first = np.flatnonzero(np.append(True, np.diff(column, axis=1).any(axis=0)))
    if pairs.count < LEAST_LENGTH * len(first):
        return None
    body, group, looked_at = column[:, first]
    return PairRanges(np.append(first, pairs.count), body, group, looked_at, size)


def is_plane(model: ModelLike, geoms: Array) -> Array:
    return np.asarray(model.geom_type)[geoms] == int(GeomType.PLANE)


def near_range(contacts: Contacts, ranges: PairRanges, s: Any) -> Any:
    """Whether range s may have a pair in reach in any world of the tile; `write_boxes` comes before."""
    k = contacts.k
    bodies, groups = _boxes(k, ranges)
    one = bodies[k.table("ranges/body", ranges.body)[s]]
    other = groups[k.table("ranges/group", ranges.group)[s]]
    meet = (one[0] <= other[3]) & (other[0] <= one[3])
    for axis in (1, 2):
        meet = meet & (one[axis] <= other[3 + axis]) & (other[axis] <= one[3 + axis])
    return (k.table("ranges/always", ranges.always)[s] != 0) | k.any(meet)


def write_boxes(contacts: Contacts, ranges: PairRanges) -> None:
    """Boxes of all bodies, then of all groups."""
    k, model = contacts.k, contacts.k.frozen_model
    bodies, groups = _boxes(k, ranges)
    geoms = np.unique(np.concatenate([contacts.pairs.geom1, contacts.pairs.geom2]))
    geoms = geoms[geoms >= 0]  # vertices of flexes are none
    geoms = geoms[~is_plane(model, geoms)]
    geoms = geoms[np.argsort(np.asarray(model.geom_bodyid)[geoms], kind="stable")]
    first = np.searchsorted(np.asarray(model.geom_bodyid)[geoms], np.arange(model.nbody + 1))
    geom, begin = k.table("ranges/geoms", np.append(geoms, 0)), k.table("ranges/geoms_of", first)
    with k.loop(0, model.nbody) as b:
        bodies[b] = union(k, begin[b], begin[b + 1], lambda n: geom_box(k, geom[n]))
    with k.loop(0, groups.shape[0]) as g:
        stop = k.min((g + 1) * ranges.group_size, model.nbody)
        groups[g] = union(k, g * ranges.group_size, stop, lambda b: bodies[b])


def _boxes(k: Kernel, ranges: PairRanges) -> tuple[LaneField, LaneField]:
    """Boxes of bodies and of groups: (n, 6), low corner and high corner."""
    nbody = int(k.frozen_model.nbody)
    return k.scratch("bodies", nbody, 6), k.scratch("groups", -(-nbody // ranges.group_size), 6)


def union(k: Kernel, start: Any, stop: Any, box_of: Any) -> Any:
    """The box around some boxes; around none, one that meets nothing."""
    low, high = k.local(vector(FAR, FAR, FAR)), k.local(vector(-FAR, -FAR, -FAR))
    with k.loop(start, stop) as n:
        box = box_of(n)
        low.set(vector(*(k.min(a, b) for a, b in zip(low.value, box[:3], strict=True))))
        high.set(vector(*(k.max(a, b) for a, b in zip(high.value, box[3:], strict=True))))
    return vector(low.value, high.value)


def geom_box(k: Kernel, geom: Any) -> Any:
    """Around the bounding sphere of a geom and its margin: endless without a bounding radius, and one that meets
    nothing where the geom is at no finite place."""
    m = k.model
    common = 0.5 * k.max(m.opt.o_margin, 0.0)
    margin = k.select(overridden(k), common, k.max(0.0, m.geom_margin[geom]))
    reach = m.geom_rbound[geom] + margin + k.max(0.0, m.geom_gap[geom])
    low, high = [], []
    for x in k.data.geom_xpos[geom]:
        half = reach + SLACK * (k.abs(x) + reach)
        half = k.min(k.select(m.geom_rbound[geom] <= 0.0, FAR, half), FAR)
        finite = k.abs(x) < FAR
        low.append(k.select(finite, x - half, FAR))
        high.append(k.select(finite, x + half, -FAR))
    return vector(*low, *high)

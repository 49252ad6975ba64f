"""From pairs of geoms to the list of candidates: filters, explicit pairs, order, and in between pairs with flexes.

A pair found by its boxes is a candidate when its contact masks meet, its bodies may collide, no explicit pair
names the same geoms, and the bounding spheres come as close as the margins allow. Explicit pairs only have to
be close enough. World frame. Compare filterBodyPair, mj_collideGeoms and mj_collideTree.

Margins are widened to their sum here, because the rule that combines them belongs to the narrowphase: no rule
may ask for more than the sum. Geoms that are not at a finite place are left out, with a warning. MuJoCo sorts
box ends in single precision and misses some bodies that barely touch; they are left out here, too (see
`swept_bodies_numpy`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from dovetail.contracts.enums import DisableBit, EnableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import FlexPairs
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.contacts.flex_candidates_numpy import (
    between_units,
    finite_geoms,
    joined,
    warn_of_lost_vertices,
)
from dovetail.plugins.shared.contacts.flex_self_numpy import within_flexes
from dovetail.plugins.shared.contacts.index_pairs_numpy import Pairs, every_pair
from dovetail.plugins.shared.contacts.oriented_boxes_numpy import PLANE, boxes_apart, searched_by_tree
from dovetail.plugins.shared.contacts.swept_bodies_numpy import missed_by_sweep
from dovetail.plugins.shared.sums_numpy import dots

SLACK = 1e-12
"""By how much of its place and size a box is wider than it must be."""


class Bounds(NamedTuple):
    """Boxes around bounding spheres, one row per geom."""

    low: Array
    high: Array

    def overlap(self, first: Array, second: Array) -> Array:
        """Which pairs of boxes have a point in common."""
        meet = self.low[first] <= self.high[second]
        meet &= self.low[second] <= self.high[first]
        return np.all(meet, axis=1)


Search = Callable[[Array, Array, Bounds], Pairs]
"""How pairs of overlapping boxes are found: geoms, which of them move, the boxes of all."""


def write_candidates(model: ModelLike, data: DataLike, search: Search) -> None:
    """Write ncandidate, candidate_geom, candidate_pair, candidate_flex, candidate_elem and candidate_vert."""
    data.ncandidate = 0
    if model.opt.disableflags & (DisableBit.CONSTRAINT | DisableBit.CONTACT):
        return
    geoms, pair = explicit_candidates(model, data)
    found = [geoms]
    total = len(geoms)
    for block in found_pairs(model, data, search):
        total += len(block)
        data.reserve(ncandidate_max=total)
        found.append(block)
    geoms = np.concatenate(found)
    pair = np.concatenate([pair, np.full(total - len(pair), -1)])
    if model.nflex:
        write_with_flexes(model, data, geoms, pair)
        return
    order = report_order(model, geoms, pair)
    data.reserve(ncandidate_max=total)
    data.candidate_geom[:total] = by_type(model, geoms[order])
    data.candidate_pair[:total] = pair[order]
    data.candidate_flex[:total] = data.candidate_elem[:total] = data.candidate_vert[:total] = -1
    data.ncandidate = total


def write_with_flexes(model: ModelLike, data: DataLike, geoms: Array, pair: Array) -> None:
    """The same with flexes: their pairs with bodies and each other in between, those within a flex at the end."""
    warn_of_lost_vertices(model, data)
    units = joined(between_units(model, data, geom_margins(model)))
    within = joined(within_flexes(model, data))
    order = report_order(model, geoms, pair, units)
    of_geoms = FlexPairs(by_type(model, geoms), *[np.full((len(geoms), 2), -1)] * 3)
    total = len(geoms) + len(units.geom) + len(within.geom)
    data.reserve(ncandidate_max=total)
    for name, first, second, last in zip(FlexPairs._fields, of_geoms, units, within, strict=True):
        column = getattr(data, f"candidate_{name}")
        column[: len(order)] = np.concatenate([first, second])[order]
        column[len(order) : total] = last
    data.candidate_pair[:total] = -1
    data.candidate_pair[: len(order)] = np.append(pair, np.full(len(units.geom), -1))[order]
    data.ncandidate = total


def explicit_candidates(model: ModelLike, data: DataLike) -> tuple[Array, Array]:
    """Geoms and ids of the explicit pairs that are close enough."""
    if not model.npair:
        return np.zeros((0, 2), int), np.zeros(0, int)
    geoms = np.stack([model.pair_geom1, model.pair_geom2], axis=1).astype(int).reshape(-1, 2)
    finite = finite_geoms(data)
    pair = np.flatnonzero(finite[geoms].all(axis=1))
    first, second = by_type(model, geoms[pair]).T
    near = in_reach(model, data, first, second, pair_margins(model)[pair])
    return geoms[pair[near]], pair[near]


def found_pairs(model: ModelLike, data: DataLike, search: Search) -> Iterator[Array]:
    """Blocks (n, 2) of candidates that no explicit pair asks for."""
    finite = finite_geoms(data)
    warn_of_lost_geoms(model, finite)
    usable = colliding_geoms(model) & finite
    plane = model.geom_type == PLANE
    moves = model.body_weldid[model.geom_bodyid] != 0
    shapes, planes = np.flatnonzero(usable & ~plane), np.flatnonzero(usable & plane)
    reach = geom_margins(model)
    for source in (
        search(shapes, moves[shapes], bounding_boxes(model, data, reach)),
        every_pair(planes, shapes),
    ):
        for first, second in source:
            keep = may_collide(model, first, second)
            first, second = first[keep], second[keep]
            keep = close_enough(model, data, first, second, reach[first] + reach[second])
            first, second = first[keep], second[keep]
            keep = ~missed_by_sweep(model, data, first, second, reach)
            yield by_body(model, np.stack([first[keep], second[keep]], axis=1).astype(np.int32))


# ---- who may collide --------------------------------------------------------------------------------------


def colliding_geoms(model: ModelLike) -> Array:
    """Geoms with any contact bit, on bodies with any."""
    geom = (model.geom_contype | model.geom_conaffinity) != 0
    body = (model.body_contype | model.body_conaffinity) != 0
    return geom & body[model.geom_bodyid]


def may_collide(model: ModelLike, first: Array, second: Array) -> Array:
    """Which pairs pass the masks, the tree, the exclusions and the explicit pairs."""
    body1, body2 = model.geom_bodyid[first], model.geom_bodyid[second]
    allowed = masks_meet(model.geom_contype, model.geom_conaffinity, first, second)
    allowed &= masks_meet(model.body_contype, model.body_conaffinity, body1, body2)
    allowed &= ~related(model, body1, body2)
    if model.nexclude:
        allowed &= ~np.isin(signature(body1, body2), model.exclude_signature.astype(np.uint32))
    if model.npair:
        explicit = unordered_key(model.pair_geom1, model.pair_geom2, model.ngeom)
        allowed &= ~np.isin(unordered_key(first, second, model.ngeom), explicit)
    return allowed


def masks_meet(contype: Array, conaffinity: Array, first: Array, second: Array) -> Array:
    """Whether one's type shares a bit with the other's affinity."""
    return ((contype[first] & conaffinity[second]) | (contype[second] & conaffinity[first])) != 0


def related(model: ModelLike, body1: Array, body2: Array) -> Array:
    """Bodies that are one rigid piece, or parent and child (unless filterparent is off, or one cannot move)."""
    weld1, weld2 = model.body_weldid[body1], model.body_weldid[body2]
    same = weld1 == weld2
    if model.opt.disableflags & DisableBit.FILTERPARENT:
        return same
    parent = model.body_weldid[model.body_parentid]
    adjacent = (weld1 == parent[weld2]) | (weld2 == parent[weld1])
    return same | (adjacent & (weld1 != 0) & (weld2 != 0))


def signature(body1: Array, body2: Array) -> Array:
    """Two bodies in one number as exclude_signature has it: the smaller id times 65536 plus the larger."""
    low, high = np.minimum(body1, body2), np.maximum(body1, body2)
    return (low.astype(np.uint32) << np.uint32(16)) + high.astype(np.uint32)


def unordered_key(first: Array, second: Array, count: int) -> Array:
    """One number per pair of ids below `count`, whichever comes first."""
    return np.minimum(first, second).astype(np.int64) * count + np.maximum(first, second)


# ---- who is near ------------------------------------------------------------------------------------------


def geom_margins(model: ModelLike) -> Array:
    """What each geom adds to the distance at which its contacts are looked for: the most that any rule may make of
    its margin and gap."""
    if model.opt.enableflags & EnableBit.OVERRIDE:
        return np.maximum(model.geom_gap, 0.0) + 0.5 * max(float(model.opt.o_margin), 0.0)
    return np.maximum(model.geom_margin, 0.0) + np.maximum(model.geom_gap, 0.0)


def pair_margins(model: ModelLike) -> Array:
    """Distance at which contacts of each explicit pair are looked for."""
    if model.opt.enableflags & EnableBit.OVERRIDE:
        return np.maximum(model.pair_gap, 0.0) + float(model.opt.o_margin)
    return np.maximum(model.pair_gap, 0.0) + model.pair_margin


def bounding_boxes(model: ModelLike, data: DataLike, reach: Array) -> Bounds:
    """Boxes around the bounding spheres, widened by `reach` and by more than rounding: spheres that touch exactly are
    left to `in_reach`. Around a geom without a bounding radius, or of one that is no number, a box that holds all
    geoms."""
    places = data.geom_xpos[finite_geoms(data)]
    everywhere = float(np.ptp(places, axis=0).max()) if len(places) else 0.0
    half = np.where(model.geom_rbound > 0.0, model.geom_rbound, everywhere)[:, None] + reach[:, None]
    half = half + SLACK * (np.abs(data.geom_xpos) + half)
    half = np.where(np.isnan(half), everywhere, half)
    with np.errstate(invalid="ignore"):  # a geom at no finite place has no box
        return Bounds(data.geom_xpos - half, data.geom_xpos + half)


def close_enough(model: ModelLike, data: DataLike, first: Array, second: Array, margin: Array) -> Array:
    """In reach by their bounding spheres and, where MuJoCo searches trees of boxes, by their oriented boxes."""
    near = in_reach(model, data, first, second, margin)
    boxes = np.flatnonzero(near & searched_by_tree(model, first, second))
    if len(boxes):
        near[boxes] = ~boxes_apart(model, data, first[boxes], second[boxes], margin[boxes])
    return near


def in_reach(model: ModelLike, data: DataLike, first: Array, second: Array, margin: Array) -> Array:
    """Whether bounding spheres, or a plane (then the first) and a sphere, are no farther apart than `margin`. A plane
    has no bounding radius; one that was given some is as other geoms. What is no number separates nothing."""
    offset = data.geom_xpos[second] - data.geom_xpos[first]
    radius1, radius2 = model.geom_rbound[first], model.geom_rbound[second]
    bound = radius1 + radius2 + margin
    unbounded = (radius1 <= 0) | (radius2 <= 0)
    near = unbounded | ~(dots(offset, offset) > bound * bound)
    planes = np.flatnonzero((model.geom_type[first] == PLANE) & (radius1 <= 0.0))
    height = dots(offset[planes], data.geom_xmat[first[planes]][:, 2::3])
    near[planes] = (radius2[planes] <= 0) | ~(height > bound[planes])
    return near


def warn_of_lost_geoms(model: ModelLike, finite: Array) -> None:
    """Say which geoms would collide but are nowhere."""
    wanted = colliding_geoms(model)
    wanted[model.pair_geom1] = wanted[model.pair_geom2] = True
    lost = np.flatnonzero(wanted & ~finite)
    if len(lost):
        warnings.warn(
            f"geoms that are at no finite place cannot collide: {', '.join(map(str, lost[:5].tolist()))}"
            + (f" and {len(lost) - 5} more" if len(lost) > 5 else ""),
            RuntimeWarning,
            stacklevel=4,
        )


# ---- in which order ---------------------------------------------------------------------------------------


def by_type(model: ModelLike, geoms: Array) -> Array:
    """Pairs with the geom of lower type first."""
    kind = model.geom_type[geoms]
    return np.where((kind[:, 0] > kind[:, 1])[:, None], geoms[:, ::-1], geoms)


def by_body(model: ModelLike, geoms: Array) -> Array:
    """Pairs with the geom of the lower body first, and of one body the lower geom."""
    body = model.geom_bodyid[geoms]
    swap = (body[:, 0] > body[:, 1]) | ((body[:, 0] == body[:, 1]) & (geoms[:, 0] > geoms[:, 1]))
    return np.where(swap[:, None], geoms[:, ::-1], geoms)


NO_FLEXES = FlexPairs(*[np.zeros((0, 2), int)] * 4)


def report_order(model: ModelLike, geoms: Array, pair: Array, flexes: FlexPairs = NO_FLEXES) -> Array:
    """Where each candidate, of geoms or after them of flexes, stands in MuJoCo's list of contacts.

    By bodies, lower body first; a flex counts as a body after all others. Of the same bodies explicit pairs come
    first, then found ones by geom: in order of the lower body's geoms, or where trees are searched by the geoms as
    reported, lower type first. Pairs with a flex stand by geom or element, then by element or vertex.
    """
    ordered = by_body(model, geoms)
    units = model.geom_bodyid[ordered].astype(np.int64)
    tree = searched_by_tree(model, geoms[:, 0], geoms[:, 1])
    first, second = np.where(tree[:, None], by_type(model, ordered), ordered).astype(np.int64).T
    found = pair < 0
    first, second = np.where(found, first, 0), np.where(found, second, pair)
    if len(flexes.geom):
        things = np.maximum(flexes.geom, np.maximum(flexes.elem, flexes.vert))
        units = np.concatenate([units, flex_units(model, flexes)])
        first, second = np.append(first, things[:, 0]), np.append(second, things[:, 1])
        found = np.append(found, np.ones(len(things), bool))
    return np.lexsort((second, first, found, units[:, 0] * (model.nbody + model.nflex) + units[:, 1]))


def flex_units(model: ModelLike, pairs: FlexPairs) -> Array:
    """(n, 2) bodies, or flexes counted after them."""
    units = model.nbody + pairs.flex.astype(np.int64)
    is_geom = pairs.geom >= 0
    units[is_geom] = model.geom_bodyid[pairs.geom[is_geom]]
    return units

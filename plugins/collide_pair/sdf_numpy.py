"""Contacts between a signed distance field and another geom, by descent from points spread over both boxes.

From each of opt.sdf_initpoints points of a Halton sequence, in the box where the two bounding boxes overlap, a point
descends in opt.sdf_iterations steps along A + B + |max(A, B)|, where A and B are the distances to the two geoms: it
is lowest where both are deepest. One more step descends along max(A, B), the distance to their intersection, and
where that is not positive there is a contact. The normal is along the gradient of B − A, so that the contact is on
the surface midway between the two. All points descend at once, as rows; coordinates are those of the second geom.
The margin plays no part. Compare mjc_SDF.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.distance_fields_numpy import FAR
from dovetail.plugins.shared.geometry.sdf_fields_numpy import GeomField, field_of, moved
from dovetail.plugins.shared.geometry.sdf_frames_numpy import RelativeFrame, carried, pose_in, turned_rows
from dovetail.plugins.shared.geometry.shapes_numpy import BOX_CORNERS
from dovetail.plugins.shared.vectors_numpy import norm_rows, unit_rows

BASES = (2, 3, 5)
"""Of the Halton sequences along x, y and z."""
SUFFICIENT = 0.1
"""Share of the decrease that the slope promises which a step must bring (the first Wolfe condition)."""
LONGEST, SHORTEST = 2.0, 1e-4
"""Factors of the gradient between which steps are tried, each half of the one before."""


class FieldPair(NamedTuple):
    """The fields of both geoms, at points in the second one's frame."""

    second: GeomField
    first: GeomField


def sdf(
    model: ModelLike, data: DataLike, geom1: int, geom2: int, margin: float, parts: Mapping[str, Any]
) -> PairContacts:
    """Contacts of any geom with one of type sdf."""
    second_in_first = pose_in(data, geom2, geom1)
    box = common_box(model, geom1, geom2, second_in_first)
    if box is None:
        return NO_CONTACTS
    first, second = (field_of(model, data, geom, parts) for geom in (geom1, geom2))
    pair = FieldPair(second, moved(first, second_in_first))
    start = halton_points(*box, int(model.opt.sdf_initpoints))
    x = carried(carried(start, pose_in(data, geom1, geom1)), pose_in(data, geom1, geom2))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        x, _ = descended(shared_depth(pair), x, int(model.opt.sdf_iterations))
        x, dist = descended(intersection(pair), x, 1)
        chosen = distinct(x, np.flatnonzero(dist <= 0))
        normal = unit_rows(midsurface_gradient(pair, x[chosen]))
    return placed(data, geom2, x[chosen], dist[chosen], normal)


def placed(data: DataLike, geom: int, x: Array, dist: Array, normal: Array) -> PairContacts:
    """Contacts at points and with normals in a geom's frame, brought to the world and midway between surfaces."""
    world = RelativeFrame(data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom])
    normal = turned_rows(normal, world.rotation)
    pos = carried(x, world) - normal * (dist / 2)[:, None]
    return PairContacts.of(dist, pos, normal)


# ---- where to start ---------------------------------------------------------------------------------------


def common_box(
    model: ModelLike, geom1: int, geom2: int, second_in_first: RelativeFrame
) -> tuple[Array, Array] | None:
    """Lowest and highest corner, in the first geom's frame, of where the bounding boxes overlap."""
    centre, half = model.geom_aabb[geom2].reshape(2, 3)
    other = carried(centre + BOX_CORNERS * half, second_in_first)
    centre, half = model.geom_aabb[geom1].reshape(2, 3)
    low = np.maximum(centre - half, other.min(axis=0))
    high = np.minimum(centre + half, other.max(axis=0))
    return None if (high < low).any() else (low, high)


def halton_points(low: Array, high: Array, count: int) -> Array:
    """Points (count, 3) spread over a box."""
    share = [[halton(index, base) for base in BASES] for index in range(count)]
    return low + (high - low) * np.array(share).reshape(-1, 3)


def halton(index: int, base: int) -> float:
    """A term of the Halton sequence: the digits of the index, mirrored at the point (mju_Halton)."""
    value, weight = 0.0, 1.0
    while index > 0:
        index, digit = divmod(index, base)
        weight /= base
        value += weight * digit
    return value


# ---- what descends ----------------------------------------------------------------------------------------


def shared_depth(pair: FieldPair) -> GeomField:
    """A + B + |max(A, B)|."""

    def distance(x: Array) -> Array:
        a, b = pair.second.distance(x), pair.first.distance(x)
        total: Array = a + b + np.abs(larger(a, b))
        return total

    def gradient(x: Array) -> Array:
        a, b = pair.second.distance(x), pair.first.distance(x)
        slope_a, slope_b = pair.second.gradient(x), pair.first.gradient(x)
        steeper = np.where((a > b)[:, None], slope_a, slope_b)
        total: Array = slope_a + slope_b + steeper * np.where(larger(a, b) > 0, 1.0, -1.0)[:, None]
        return total

    return GeomField(distance, gradient)


def intersection(pair: FieldPair) -> GeomField:
    """max(A, B)."""

    def distance(x: Array) -> Array:
        return larger(pair.second.distance(x), pair.first.distance(x))

    def gradient(x: Array) -> Array:
        farther = pair.second.distance(x) > pair.first.distance(x)
        return np.where(farther[:, None], pair.second.gradient(x), pair.first.gradient(x))

    return GeomField(distance, gradient)


def midsurface_gradient(pair: FieldPair, x: Array) -> Array:
    """Of B − A, from the first geom to the second."""
    return unit_rows(pair.first.gradient(x)) - unit_rows(pair.second.gradient(x))


def larger(a: Array, b: Array) -> Array:
    return np.where(a > b, a, b)


# ---- descent ----------------------------------------------------------------------------------------------


def descended(field: GeomField, x: Array, steps: int) -> tuple[Array, Array]:
    """Points after descent, and their distances; FAR where the gradient is no number. A point that a step brought
    no lower stays where the step led."""
    x, dist = x.copy(), np.full(len(x), FAR)
    going = np.arange(len(x))
    for _ in range(steps):
        slope = field.gradient(x[going])
        proper = (np.abs(slope) <= FAR).all(axis=1)
        dist[going[~proper]] = FAR
        going, slope = going[proper], slope[proper]
        before = field.distance(x[going])
        x[going], dist[going] = line_search(field, x[going], before, slope)
        going = going[~(before < dist[going])]
    return x, dist


def line_search(field: GeomField, start: Array, before: Array, slope: Array) -> tuple[Array, Array]:
    """Points down the slope, each as far as brings enough, and their distances."""
    x, dist = start.copy(), before.copy()
    length = LONGEST
    promised = -SUFFICIENT * LONGEST * np.square(slope).sum(axis=1)
    trying = np.arange(len(start))
    while len(trying):
        length *= 0.5
        promised *= 0.5
        x[trying] = start[trying] - length * slope[trying]
        dist[trying] = field.distance(x[trying])
        if length <= SHORTEST:
            break
        trying = trying[dist[trying] - before[trying] > promised[trying]]
    return x, dist


def distinct(x: Array, candidates: Array) -> Array:
    """Candidates whose points are not those of earlier ones."""
    chosen: list[int] = []
    for candidate in candidates.tolist():
        if not len(chosen) or norm_rows(x[chosen] - x[candidate]).min() >= MINVAL:
            chosen.append(candidate)
    return np.array(chosen, int)


# ---- height fields ----------------------------------------------------------------------------------------


def hfield_sdf(model: ModelLike, data: DataLike, geom1: int, geom2: int, margin: float) -> PairContacts:
    """No contacts: MuJoCo 3.4 has no function for this pair either, and says so."""
    warnings.warn("height fields and signed distance fields do not collide", RuntimeWarning, stacklevel=2)
    return NO_CONTACTS

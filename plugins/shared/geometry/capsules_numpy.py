"""Contacts of two capsules, and of a capsule with a box.

A capsule is a sphere swept along a segment, so each contact is that of a sphere centred on the segment. The
centres are given by a parameter from −1 to 1 along it. World frame for capsules; the segment near a box is
treated in the box's frame. Compare mjc_CapsuleCapsule and mjc_CapsuleBox.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.balls_numpy import Ball, ball_ball, ball_box
from dovetail.plugins.shared.geometry.shapes_numpy import (
    BOX_CORNERS,
    PairContact,
    Primitive,
    clip,
    gather,
    z_axis,
)
from dovetail.plugins.shared.vectors_numpy import (
    Vector,
    add,
    along,
    divide,
    dot,
    scale,
    sub,
    to_frame,
    to_world,
)

# ---- capsule against capsule --------------------------------------------------------------------------------


class Segments(NamedTuple):
    """Two segments c + x·h, x in ±1, by the products their nearest points depend on."""

    length1: float
    """h₁·h₁"""
    length2: float
    """h₂·h₂"""
    common: float
    """h₁·h₂"""
    towards1: float
    """h₁·(c₂ − c₁)"""
    towards2: float
    """h₂·(c₁ − c₂)"""

    @property
    def determinant(self) -> float:
        """Zero if the segments are parallel."""
        return self.length1 * self.length2 - self.common * self.common

    def on_first(self, x2: float) -> float:
        """Where the first segment's line is nearest to a point of the second."""
        return _quotient(self.towards1 + self.common * x2, self.length1)

    def on_second(self, x1: float) -> float:
        """Where the second segment's line is nearest to a point of the first."""
        return _quotient(self.towards2 + self.common * x1, self.length2)


def _quotient(numerator: float, denominator: float) -> float:
    """The quotient, zero for a segment of no length."""
    return numerator / denominator if denominator else 0.0


def capsule_capsule_shapes(capsule1: Primitive, capsule2: Primitive, margin: float) -> PairContacts:
    """Two capsules: one contact at the nearest points of the axes, or up to two if these are parallel."""
    half1, half2 = _half_axis(capsule1), _half_axis(capsule2)
    offset = sub(capsule1.pos, capsule2.pos)
    segments = Segments(
        length1=dot(half1, half1),
        length2=dot(half2, half2),
        common=dot(half1, half2),
        towards1=-dot(half1, offset),
        towards2=dot(half2, offset),
    )
    parallel = abs(segments.determinant) < MINVAL
    places = _ends_and_their_nearest(segments) if parallel else [_nearest_places(segments)]
    contacts: list[PairContact] = []
    for x1, x2 in places:
        contacts += ball_ball(_ball_at(capsule1, half1, x1), _ball_at(capsule2, half2, x2), margin)
        if len(contacts) == 2:
            break
    return gather(contacts)


def _half_axis(capsule: Primitive) -> Vector:
    return scale(z_axis(capsule), capsule.size[1])


def _ball_at(capsule: Primitive, half_axis: Vector, x: float) -> Ball:
    return Ball(along(capsule.pos, x, half_axis), capsule.size[0], z_axis(capsule))


def _nearest_places(segments: Segments) -> tuple[float, float]:
    """Where two segments that are not parallel come nearest to each other."""
    _, length2, common, towards1, towards2 = segments
    x1 = (length2 * towards1 + common * towards2) / segments.determinant
    x2 = (segments.length1 * towards2 + common * towards1) / segments.determinant
    if abs(x1) > 1:
        x1 = clip(x1, 1.0)
        x2 = segments.on_second(x1)
    if abs(x2) > 1:
        x2 = clip(x2, 1.0)
        x1 = clip(segments.on_first(x2), 1.0)
    return x1, x2


def _ends_and_their_nearest(segments: Segments) -> list[tuple[float, float]]:
    """Both ends of the first of two parallel segments, then of the second, each with the other's nearest place."""
    first = [(x1, clip(segments.on_second(x1), 1.0)) for x1 in (1.0, -1.0)]
    second = [(clip(segments.on_first(x2), 1.0), x2) for x2 in (1.0, -1.0)]
    return first + second


# ---- capsule against box ------------------------------------------------------------------------------------


class Axis(NamedTuple):
    """The capsule's segment in the box's frame."""

    centre: Vector
    half: Vector
    """From the centre to the end at parameter 1."""
    direction: Vector
    half_length: float


class OverFace(NamedTuple):
    """An end of the segment, at `place`, is nearest: over the face across axis `face`, or inside (−1)."""

    place: float
    face: int


class AtEdge(NamedTuple):
    """An edge of the box is nearest to the segment at `place`."""

    place: float
    edge: int
    """Index in EDGE_AXIS and EDGE_SIGNS."""
    along_edge: float
    """Place on the edge, from −1 to 1."""
    end: int
    """Which end of the edge, −1 or 1; 0: its inside."""


def capsule_box_shapes(capsule: Primitive, box: Primitive, margin: float) -> PairContacts:
    """A capsule and a box: the point of the segment nearest to the box and, if the segment lies over a face or
    along an edge, the farthest point that is still over it."""
    axis = _axis_in_frame(capsule, box)
    nearest = _nearest_feature(axis, capsule, box, margin)
    if nearest is None:
        return NO_CONTACTS
    step = _step_over(axis, nearest, box.size)
    places = [nearest.place] if step is None else [nearest.place, step + nearest.place]
    contacts: list[PairContact] = []
    for place in places:
        centre = add(to_world(box.mat, along(axis.centre, place, axis.half)), box.pos)
        contacts += ball_box(centre, capsule.size[0], box, margin)
    return gather(contacts)


def _axis_in_frame(capsule: Primitive, box: Primitive) -> Axis:
    centre = to_frame(box.mat, sub(capsule.pos, box.pos))
    direction = to_frame(box.mat, z_axis(capsule))
    return Axis(centre, scale(direction, capsule.size[1]), direction, capsule.size[1])


def _nearest_feature(
    axis: Axis, capsule: Primitive, box: Primitive, margin: float
) -> OverFace | AtEdge | None:
    """The face or edge of the box nearest to the segment.

    As in mjc_CapsuleBox a squared distance is compared with the sum of the sizes, so a capsule several metres
    wide may miss a small box.
    """
    best = margin + 2 * (capsule.size[0] + capsule.size[1] + box.size[0] + box.size[1] + box.size[2])
    nearest: OverFace | AtEdge | None = None
    for place in (-1.0, 1.0):
        outside, distance_squared = _excess(along(axis.centre, place, axis.half), box.size)
        if len(outside) <= 1 and distance_squared < best:
            best = distance_squared
            nearest = OverFace(place, outside[0] if outside else -1)
    edges = _distances_to_edges(axis, np.array(box.size))
    for edge, distance_squared in enumerate(edges.distance_squared.tolist()):
        if distance_squared < best - MINVAL:
            best = distance_squared
            nearest = edges.feature(edge)
    return nearest


def _excess(point: Vector, size: Vector) -> tuple[list[int], float]:
    """Along which axes a point is outside the box, and its squared distance from it."""
    nearest = clip(point[0], size[0]), clip(point[1], size[1]), clip(point[2], size[2])
    beyond = sub(point, nearest)
    return [axis for axis in range(3) if beyond[axis]], dot(beyond, beyond)


EDGE_AXIS = np.repeat([0, 1, 2], 4)
"""The axis along which each edge of a box runs."""
EDGE_SIGNS = np.concatenate(
    [BOX_CORNERS[BOX_CORNERS[:, axis] < 0] * (np.arange(3) != axis) for axis in range(3)]
)
"""The middle of each edge, as signs of the box's axes."""


class EdgeDistances(NamedTuple):
    """A segment against the twelve edges of a box (12 each)."""

    place: Array
    along_edge: Array
    end: Array
    distance_squared: Array
    """Infinite for parallel edges: their ends are ends of other edges too."""

    def feature(self, edge: int) -> AtEdge:
        """One of the edges as the nearest feature."""
        return AtEdge(float(self.place[edge]), edge, float(self.along_edge[edge]), int(self.end[edge]))


def _distances_to_edges(axis: Axis, size: Array) -> EdgeDistances:
    """Nearest points of the segment and each edge, both kept within their ends."""
    half, centre = np.array(axis.half), np.array(axis.centre)
    edge_half = size[EDGE_AXIS]
    to_edge = EDGE_SIGNS * size - centre
    edge_squared, segment_squared = edge_half * edge_half, axis.half_length * axis.half_length
    common = edge_half * half[EDGE_AXIS]
    towards_segment = -edge_half * to_edge[np.arange(12), EDGE_AXIS]
    towards_edge = half[0] * to_edge[:, 0] + half[1] * to_edge[:, 1] + half[2] * to_edge[:, 2]
    determinant = edge_squared * segment_squared - common * common
    parallel = np.abs(determinant) < MINVAL
    inverse = 1.0 / np.where(parallel, 1.0, determinant)

    on_edge = (segment_squared * towards_segment + common * towards_edge) * inverse
    place = (edge_squared * towards_edge + common * towards_segment) * inverse
    end = _beyond_ends(on_edge)
    on_edge = np.clip(on_edge, -1.0, 1.0)
    place = np.where(end, (towards_edge + common * end) * _quotient(1.0, segment_squared), place)
    segment_end = _beyond_ends(place)
    place = np.clip(place, -1.0, 1.0)
    again = np.where(segment_end, (towards_segment + common * segment_end) * (1.0 / edge_squared), on_edge)
    # an edge end that was reached first counts even if the segment's end then moves the point off it
    end = np.where(_beyond_ends(again), _beyond_ends(again), end)
    on_edge = np.clip(again, -1.0, 1.0)

    apart = to_edge - place[:, None] * half
    apart[np.arange(12), EDGE_AXIS] += edge_half * on_edge
    distance_squared = apart[:, 0] * apart[:, 0] + apart[:, 1] * apart[:, 1] + apart[:, 2] * apart[:, 2]
    return EdgeDistances(place, on_edge, end, np.where(parallel, np.inf, distance_squared))


def _beyond_ends(x: Array) -> Array:
    """1 where x is past 1, −1 where it is past −1, else 0."""
    return (x > 1).astype(int) - (x < -1)


def _step_over(axis: Axis, nearest: OverFace | AtEdge, size: Vector) -> float | None:
    """How far along the segment the second contact is from the first, by parameter; None if there is none."""
    if isinstance(nearest, OverFace):
        return _step_over_face(axis, nearest, size)
    if nearest.end:
        return _step_from_corner(axis, nearest, size)
    return _step_from_edge(axis, nearest, size)


def _step_over_face(axis: Axis, nearest: OverFace, size: Vector) -> float | None:
    """From an end over a face to the other end, or to where the segment leaves the face."""
    if nearest.face < 0:
        return None
    way, end = -nearest.place, along(axis.centre, nearest.place, axis.half)
    exits = [
        divide(side * size[k] - end[k], axis.half[k]) * way
        for k in range(3)
        if k != nearest.face
        for side in (1.0, -1.0)
    ]
    return min([2.0, *(step for step in exits if step > 0)]) * way


def _step_from_corner(axis: Axis, nearest: AtEdge, size: Vector) -> float | None:
    """From a corner along the edge there if the segment runs mainly along one, else across the face there.

    Going one way along the segment leaves the corner inward along one axis of the box and outward along two;
    the other way inward along two. If all three agree, the segment points at the corner: no second contact.
    """
    corner = EDGE_SIGNS[nearest.edge].tolist()
    corner[EDGE_AXIS[nearest.edge]] = float(nearest.end)
    inward = [(axis.half[k] > 0) != (corner[k] > 0) for k in range(3)]
    if all(inward) or not any(inward):
        return None
    way = 1.0 if sum(inward) == 1 else -1.0
    single = inward.index(way > 0)
    if axis.direction[single] * axis.direction[single] > 0.5:
        across = [single]
    else:
        way, across = -way, [k for k in range(3) if k != single]
    return _step(axis, nearest.place, way, [(2 * size[k], k) for k in across])


def _step_from_edge(axis: Axis, nearest: AtEdge, size: Vector) -> float | None:
    """From the inside of an edge across the face that the segment is more nearly parallel to."""
    edge_axis, middle = int(EDGE_AXIS[nearest.edge]), EDGE_SIGNS[nearest.edge]
    first, second = (edge_axis + 1) % 3, (edge_axis + 2) % 3
    inward = {k: (axis.half[k] > 0) != (middle[k] > 0) for k in (first, second)}
    if inward[first] == inward[second]:
        return None  # the segment goes past the edge on the outside
    across = first if abs(axis.direction[first]) > abs(axis.direction[second]) else second
    way = 1.0 if inward[across] else -1.0
    forward = (axis.half[edge_axis] > 0) == inward[across]
    to_end_of_edge = 1 - nearest.along_edge if forward else 1 + nearest.along_edge
    limits = [(2 * size[across], across), (size[edge_axis] * to_end_of_edge, edge_axis)]
    return _step(axis, nearest.place, way, limits)


def _step(axis: Axis, place: float, way: float, limits: list[tuple[float, int]]) -> float:
    """As far along the segment as it goes, but no farther than given lengths along axes of the box."""
    steps = (divide(length, abs(axis.half[k])) for length, k in limits)
    return min(1 - way * place, *steps) * way

"""Contacts of two capsules, and of a capsule with a box, in lanes.

A capsule is a sphere swept along a segment, so each contact is that of a sphere centred on the segment. The
centres are given by a parameter from −1 to 1 along it. World frame for capsules; the segment near a box is
treated in the box's frame. Compare mjc_CapsuleCapsule and mjc_CapsuleBox.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.contacts.contacts_lanes import ABSENT, LaneContact
from dovetail.plugins.shared.geometry.balls_lanes import Ball, ball_ball, ball_box, balls_near
from dovetail.plugins.shared.geometry.capsules_numpy import EDGE_AXIS, EDGE_SIGNS
from dovetail.plugins.shared.geometry.shapes_lanes import Primitive, clip
from dovetail.plugins.shared.vectors_lanes import Vector, dot, to_frame, to_world, vector

# ---- capsule against capsule --------------------------------------------------------------------------------

PARALLEL = {"f64": 0.0, "f32": 5e-7}
"""Segments count as parallel if their determinant is this part of the product of their lengths: in single precision
rounding hides the absolute MINVAL of mjc_CapsuleCapsule, which alone decides in double."""


class Segments(NamedTuple):
    """Two segments c + x·h, x in ±1, by the products their nearest points depend on."""

    length1: Any
    """h₁·h₁"""
    length2: Any
    """h₂·h₂"""
    common: Any
    """h₁·h₂"""
    towards1: Any
    """h₁·(c₂ − c₁)"""
    towards2: Any
    """h₂·(c₁ − c₂)"""

    @property
    def determinant(self) -> Any:
        """Zero if the segments are parallel."""
        return self.length1 * self.length2 - self.common * self.common

    def on_first(self, k: Kernel, x2: Any) -> Any:
        """Where the first segment's line is nearest to a point of the second."""
        return _quotient(k, self.towards1 + self.common * x2, self.length1)

    def on_second(self, k: Kernel, x1: Any) -> Any:
        """Where the second segment's line is nearest to a point of the first."""
        return _quotient(k, self.towards2 + self.common * x1, self.length2)


def _quotient(k: Kernel, numerator: Any, denominator: Any) -> Any:
    """The quotient, zero for a segment of no length."""
    none = denominator <= 0.0
    return k.select(none, 0.0, numerator / k.select(none, 1.0, denominator))


def capsule_capsule_shapes(
    k: Kernel, capsule1: Primitive, capsule2: Primitive, margin: Any
) -> list[LaneContact]:
    """Two capsules: one contact at the nearest points of the axes, or up to two if these are parallel."""
    half1, half2 = capsule1.axis * capsule1.size[1], capsule2.axis * capsule2.size[1]
    segments = _segments(half1, half2, capsule1.pos - capsule2.pos)
    limit = k.max(MINVAL, PARALLEL[k.precision] * segments.length1 * segments.length2)
    parallel = k.abs(segments.determinant) < limit

    def balls(places: Any) -> tuple[Ball, Ball]:
        return _ball_at(capsule1, half1, places[0]), _ball_at(capsule2, half2, places[1])

    first = k.local(_nearest_places(k, segments, parallel))
    second = k.local(vector(0.0, ABSENT, *[0.0] * 6))
    with k.when(k.any(parallel)):
        found, other = k.local(0.0), k.local(first.value)
        for places in _ends_and_their_nearest(k, segments):
            near = parallel & balls_near(*balls(places), margin)
            first.set(k.select(near & (found.value < 0.5), places, first.value))
            other.set(k.select(near & (found.value == 1.0), places, other.value))
            found += k.select(near, 1.0, 0.0)
        contact = ball_ball(k, *balls(other.value), margin)
        second.set(vector(found.value, contact.dist, contact.pos, contact.normal))
    last = second.value
    return [
        ball_ball(k, *balls(first.value), margin),
        LaneContact(exists=last[0] > 1.5, dist=last[1], pos=last[2:5], normal=last[5:8]),
    ]


def _segments(half1: Vector, half2: Vector, offset: Vector) -> Segments:
    return Segments(
        length1=dot(half1, half1),
        length2=dot(half2, half2),
        common=dot(half1, half2),
        towards1=-dot(half1, offset),
        towards2=dot(half2, offset),
    )


def _ball_at(capsule: Primitive, half_axis: Vector, x: Any) -> Ball:
    return Ball(capsule.pos + half_axis * x, capsule.size[0], capsule.axis)


def _nearest_places(k: Kernel, segments: Segments, parallel: Any) -> Vector:
    """Where two segments that are not parallel come nearest to each other."""
    length1, length2, common, towards1, towards2 = segments
    inverse = 1.0 / k.select(parallel, 1.0, segments.determinant)
    x1 = (length2 * towards1 + common * towards2) * inverse
    x2 = (length1 * towards2 + common * towards1) * inverse
    beyond1 = k.abs(x1) > 1.0
    x1 = clip(k, x1, 1.0)
    x2 = k.select(beyond1, segments.on_second(k, x1), x2)
    beyond2 = k.abs(x2) > 1.0
    x2 = clip(k, x2, 1.0)
    x1 = k.select(beyond2, clip(k, segments.on_first(k, x2), 1.0), x1)
    return vector(x1, x2)


def _ends_and_their_nearest(k: Kernel, segments: Segments) -> list[Vector]:
    """Both ends of the first of two parallel segments, then of the second, each with the other's nearest place."""
    first = [vector(x1, clip(k, segments.on_second(k, x1), 1.0)) for x1 in (1.0, -1.0)]
    second = [vector(clip(k, segments.on_first(k, x2), 1.0), x2) for x2 in (1.0, -1.0)]
    return first + second


# ---- capsule against box ------------------------------------------------------------------------------------

FAR = 1e30
"""Farther than any step, in either precision."""


NEAR = {"f64": 1e-6, "f32": 1e-4}
"""Part of its size by which a pair must be farther apart than a contact would need, to be passed over: more than
rounding."""


class Axis(NamedTuple):
    """The capsule's segment in the box's frame."""

    centre: Vector
    half: Vector
    """From the centre to the end at parameter 1."""
    direction: Vector
    half_length: Any


class NearestFeature(NamedTuple):
    """The face or edge of the box that is nearest to the segment, as numbers that differ between worlds."""

    kind: Any
    """0: none in reach, 1: an end of the segment is over a face or inside, 2: an edge."""
    place: Any
    """Where on the segment."""
    face: Any
    """Axis of the face, or -1 inside the box."""
    middle: Any
    """(3) the middle of the edge, as signs of the box's axes."""
    along_edge: Any
    """Place on the edge, from −1 to 1."""
    end: Any
    """Which end of the edge, −1 or 1; 0: its inside."""


def capsule_box_shapes(k: Kernel, capsule: Primitive, box: Primitive, margin: Any) -> list[LaneContact]:
    """A capsule and a box: the point of the segment nearest to the box and, if the segment lies over a face or
    along an edge, the farthest point that is still over it."""
    direction = to_frame(box.mat, capsule.axis)
    axis = Axis(
        to_frame(box.mat, capsule.pos - box.pos), direction * capsule.size[1], direction, capsule.size[1]
    )
    near = _near_box(k, axis, capsule.size[0], box.size, margin)
    stored = [k.local(vector(0.0, ABSENT, *[0.0] * 6)) for _ in range(2)]
    with k.when(k.any(near)):
        nearest = _nearest_feature(k, axis, capsule, box, margin)
        has_step, step = _step_over(k, axis, nearest, box.size)
        reached = near & (nearest.kind > 0.5)
        for kept, place, exists in (
            (stored[0], nearest.place, reached),
            (stored[1], step + nearest.place, reached & has_step),
        ):
            centre = to_world(box.mat, axis.centre + axis.half * place) + box.pos
            contact = ball_box(k, centre, capsule.size[0], box, margin)
            found = k.select(contact.exists & exists, 1.0, 0.0)
            kept.set(vector(found, contact.dist, contact.pos, contact.normal))
    return [
        LaneContact(
            exists=kept.value[0] > 0.5, dist=kept.value[1], pos=kept.value[2:5], normal=kept.value[5:8]
        )
        for kept in stored
    ]


def _near_box(k: Kernel, axis: Axis, radius: Any, size: Vector, margin: Any) -> Any:
    """Mask of the worlds in which the box around the segment, parallel to the box's axes, is near enough; where it is
    not there is no contact, and in most worlds near pairs are farther apart than that."""
    square: Any = 0.0
    for centre, half, extent in zip(axis.centre, axis.half, size, strict=True):
        gap = k.max(k.abs(centre) - k.abs(half) - extent, 0.0)
        square = square + gap * gap
    reach = (radius + k.max(margin, 0.0)) + NEAR[k.precision] * (
        radius + axis.half_length + size[0] + size[1] + size[2]
    )
    return ~(square > reach * reach)


def _nearest_feature(
    k: Kernel, axis: Axis, capsule: Primitive, box: Primitive, margin: Any
) -> NearestFeature:
    """The face or edge of the box nearest to the segment.

    As in mjc_CapsuleBox a squared distance is compared with the sum of the sizes, so a capsule several metres
    wide may miss a small box.
    """
    size = box.size
    reach = margin + 2.0 * (capsule.size[0] + capsule.size[1] + size[0] + size[1] + size[2])
    best: Any = reach
    found = vector(0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for place in (-1.0, 1.0):
        face, near, distance_squared = _over_face(k, axis.centre + axis.half * place, size)
        better = near & (distance_squared < best)
        best = k.select(better, distance_squared, best)
        found = k.select(better, vector(1.0, place, face, 0.0, 0.0, 0.0, 0.0, 0.0), found)
    least, nearest = k.local(best), k.local(found)
    with k.loop(0, 12) as edge:
        place, on_edge, end, distance_squared = _distance_to_edge(k, axis, size, edge)
        better = distance_squared < least.value - MINVAL
        least.set(k.select(better, distance_squared, least.value))
        feature = vector(2.0, place, -1.0, _middle(k, edge), on_edge, end)
        nearest.set(k.select(better, feature, nearest.value))
    kind, place, face, *middle, along_edge, end = nearest.value
    return NearestFeature(kind, place, face, vector(*middle), along_edge, end)


def _over_face(k: Kernel, point: Vector, size: Vector) -> tuple[Any, Any, Any]:
    """The axis along which a point is outside the box (-1: none), whether there is only one, and the point's
    squared distance from the box."""
    beyond = vector(*(x - clip(k, x, half) for x, half in zip(point, size, strict=True)))
    outside = [k.select(k.abs(b) > 0.0, 1.0, 0.0) for b in beyond]
    face = outside[1] + 2.0 * outside[2] - k.select(outside[0] + outside[1] + outside[2] < 0.5, 1.0, 0.0)
    return face, outside[0] + outside[1] + outside[2] < 1.5, dot(beyond, beyond)


def _middle(k: Kernel, edge: Any) -> Vector:
    """Signs of the middle of an edge."""
    return k.table("capsule_box/signs", EDGE_SIGNS)[edge] * 1.0


def _along(k: Kernel, v: Vector, axis: Any) -> Any:
    """The component of a vector along a uniform axis."""
    return k.select(axis == 0, v[0], k.select(axis == 1, v[1], v[2]))


def _distance_to_edge(k: Kernel, axis: Axis, size: Vector, edge: Any) -> tuple[Any, Any, Any, Any]:
    """Nearest points of the segment and an edge, both kept within their ends: places on them, the end of the edge
    that was reached, the squared distance. A parallel edge is far: its ends are ends of other edges too."""
    runs = k.table("capsule_box/axis", EDGE_AXIS)[edge]
    to_edge = _middle(k, edge) * size - axis.centre
    edge_half, edge_way = _along(k, size, runs), _along(k, axis.half, runs)
    edge_squared, segment_squared = edge_half * edge_half, axis.half_length * axis.half_length
    common = edge_half * edge_way
    towards_segment, towards_edge = -edge_half * _along(k, to_edge, runs), dot(axis.half, to_edge)
    determinant = edge_squared * segment_squared - common * common
    parallel = k.abs(determinant) < k.max(MINVAL, PARALLEL[k.precision] * edge_squared * segment_squared)
    inverse = 1.0 / k.select(parallel, 1.0, determinant)

    on_edge = (segment_squared * towards_segment + common * towards_edge) * inverse
    place = (edge_squared * towards_edge + common * towards_segment) * inverse
    end = _beyond_ends(k, on_edge)
    pulled = (towards_edge + common * end) * _quotient(k, 1.0, segment_squared)
    place = k.select(end == 0.0, place, pulled)
    segment_end = _beyond_ends(k, place)
    place = k.clip(place, -1.0, 1.0)
    again = (towards_segment + common * segment_end) * (1.0 / edge_squared)
    again = k.select(segment_end == 0.0, k.clip(on_edge, -1.0, 1.0), again)
    # an edge end that was reached first counts even if the segment's end then moves the point off it
    past = _beyond_ends(k, again)
    end = k.select(past == 0.0, end, past)
    on_edge = k.clip(again, -1.0, 1.0)

    step = edge_half * on_edge
    apart = to_edge - axis.half * place
    apart = vector(*(k.select(runs == n, apart[n] + step, apart[n]) for n in range(3)))
    return place, on_edge, end, k.select(parallel, FAR, dot(apart, apart))


def _beyond_ends(k: Kernel, x: Any) -> Any:
    """1 where x is past 1, −1 where it is past −1, else 0."""
    return k.select(x > 1.0, 1.0, k.select(x < -1.0, -1.0, 0.0))


def _step_over(k: Kernel, axis: Axis, nearest: NearestFeature, size: Vector) -> tuple[Any, Any]:
    """Whether there is a second contact, and how far along the segment it is from the first, by parameter."""
    at_edge, at_end = nearest.kind > 1.5, k.abs(nearest.end) > 0.5
    over = nearest.face > -0.5
    face_step = _step_over_face(k, axis, nearest, size)
    corner_exists, corner_step = _step_from_corner(k, axis, nearest, size)
    edge_exists, edge_step = _step_from_edge(k, axis, nearest, size)
    exists = (~at_edge & over) | (at_edge & at_end & corner_exists) | (at_edge & ~at_end & edge_exists)
    return exists, k.select(at_edge, k.select(at_end, corner_step, edge_step), face_step)


def _step_over_face(k: Kernel, axis: Axis, nearest: NearestFeature, size: Vector) -> Any:
    """From an end over a face to the other end, or to where the segment leaves the face."""
    end = axis.centre + axis.half * nearest.place
    least: Any = 2.0
    for n in range(3):
        beside = k.abs(nearest.face - float(n)) > 0.5
        for side in (1.0, -1.0):
            step = (side * size[n] - end[n]) / axis.half[n] * -nearest.place
            least = k.select(beside & (step > 0.0) & (step < least), step, least)
    return -nearest.place * least


def _inward(k: Kernel, axis: Axis, corner: Vector) -> list[Any]:
    """1 along those axes of the box on which the segment goes inward from a corner, else 0."""
    signs = [k.select(half > 0.0, 1.0, -1.0) * c for half, c in zip(axis.half, corner, strict=True)]
    return [k.select(s < 0.0, 1.0, 0.0) for s in signs]


def _step_from_corner(k: Kernel, axis: Axis, nearest: NearestFeature, size: Vector) -> tuple[Any, Any]:
    """From a corner along the edge there if the segment runs mainly along one, else across the face there.

    Going one way along the segment leaves the corner inward along one axis of the box and outward along two;
    the other way inward along two. If all three agree, the segment points at the corner: no second contact.
    """
    corner = vector(*(k.select(m == 0.0, nearest.end, m) for m in nearest.middle))
    inward = _inward(k, axis, corner)
    count = inward[0] + inward[1] + inward[2]
    one = count < 1.5
    single = [k.select(one, i, 1.0 - i) > 0.5 for i in inward]
    mainly: Any = 0.0
    for n in range(3):
        mainly = k.select(single[n], axis.direction[n] * axis.direction[n], mainly)
    along = mainly > 0.5
    way = k.select(one, 1.0, -1.0) * k.select(along, 1.0, -1.0)
    limits = [k.select((along & single[n]) | (~along & ~single[n]), 2.0 * size[n], FAR) for n in range(3)]
    return (count > 0.5) & (count < 2.5), _step(k, axis, nearest.place, way, limits)


def _step_from_edge(k: Kernel, axis: Axis, nearest: NearestFeature, size: Vector) -> tuple[Any, Any]:
    """From the inside of an edge across the face that the segment is more nearly parallel to.

    There is none if the segment goes past the edge on the outside.
    """
    inward = _inward(k, axis, nearest.middle)  # meaningless along the edge
    runs = [m == 0.0 for m in nearest.middle]

    def of(values: Any, shift: int) -> Any:
        """A component along the axis `shift` after that of the edge, cyclically."""
        return k.select(
            runs[0], values[shift % 3], k.select(runs[1], values[(1 + shift) % 3], values[(2 + shift) % 3])
        )

    slope = [k.abs(d) for d in axis.direction]
    first = of(slope, 1) > of(slope, 2)
    enters = k.select(first, of(inward, 1), of(inward, 2)) > 0.5
    way = k.select(enters, 1.0, -1.0)
    ahead = k.select(of(axis.half, 0) > 0.0, 1.0, -1.0) * way
    along_edge = of(size, 0) * (1.0 - ahead * nearest.along_edge)
    limits = []
    for n in range(3):
        across = (runs[(n + 2) % 3] & first) | (runs[(n + 1) % 3] & ~first)
        limits.append(k.select(runs[n], along_edge, k.select(across, 2.0 * size[n], FAR)))
    return k.abs(of(inward, 1) - of(inward, 2)) > 0.5, _step(k, axis, nearest.place, way, limits)


def _step(k: Kernel, axis: Axis, place: Any, way: Any, limits: list[Any]) -> Any:
    """As far along the segment as it goes, but no farther than given lengths along axes of the box. Along an axis on
    which it does not move there is no limit (and `k.abs` of a zero may be −0, so that a quotient would be −∞)."""
    step: Any = 1.0 - way * place
    for limit, half in zip(limits, axis.half, strict=True):
        moves = k.abs(half)
        possible = limit / moves
        step = k.select((moves > 0.0) & (possible < step), possible, step)
    return step * way

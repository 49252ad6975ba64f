"""Contacts of two boxes, in lanes.

The steps are those of the reference: the direction of least overlap of fifteen, then the side of one box that looks
at a face of the other (`face`), or a face of the second box moved along the normal onto one of the first (`edge`),
clipped by that face; then contacts outside the boxes and repeated ones are dropped. Worlds of a tile differ in which
box, axis and edges are chosen: vectors are turned into the frame of the chosen face (z outward, zero in the middle of
the face), and from there on all worlds do the same. What may be a contact is gathered in a list of 24: 16 crossings
of outlines, 4 corners of the face, 4 corners of what looks at it. Compare mjc_BoxBox and mj_collideGeoms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dovetail.backends.lanes.kernel import Kernel, LaneField, Variable, elementwise
from dovetail.plugins.collide_pair.boxes_numpy import EDGE_ADVANTAGE, FLAT, RECTANGLE, STRAY_RATIO
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.contacts.contacts_lanes import LaneContact, StoredContacts
from dovetail.plugins.shared.contacts.pair_types import MOST_CONTACTS
from dovetail.plugins.shared.geometry.shapes_lanes import Primitive, clip, primitive_of
from dovetail.plugins.shared.vectors_lanes import Vector, dot, to_frame, to_world, vector

FAR = 1e30
"""More than any overlap, in either precision."""

PARALLEL = {"f64": MINVAL, "f32": 1e-6}
"""Edges with a smaller sine between them have no product: its direction would be that of their rounding."""
POINT_NOISE = 2e-7
"""Rounding of a coordinate in single precision, in parts of the boxes' sizes and their distance from the origin:
points so near an outline count as on it, and so near each other as one. In double the comparisons are exact, as those
of mjc_BoxBox."""

MOST = MOST_CONTACTS["box-box"]
CROSSINGS, COVERED, CANDIDATES = 16, 20, 24
"""Ends of the three parts of the list of candidates."""

NEXT_AXES = np.array([[1, 2], [2, 0], [0, 1]])
"""The axes after a given one, cyclically."""
OTHER_AXES = np.array([[1, 2], [0, 2], [1, 0]])
"""The axes other than a given one; if an edge rises equally along both, the second counts as the flatter."""
SIDE_SIGNS = np.array([[1, -1], [-1, 1], [-1, 1]])
"""-1 for the one of OTHER_AXES that comes last cyclically."""
LINE_EDGES = np.array([1, 2, 2, 2])
"""Edges a patch must have for its lines to exist: one edge, or four around a face."""
CORNER_EDGES = np.array([0, 1, 2, 2])


class Placement(NamedTuple):
    """Two boxes relative to each other."""

    size1: Vector
    size2: Vector
    offset1: Vector
    """Centre of the second in the first's frame."""
    offset2: Vector
    """Centre of the first in the second's frame."""
    rot: Vector
    """(3, 3) columns: axes of the second in the first's frame."""
    slack: Any
    """Lengths that are mere rounding, in single precision; 0 in double."""


class Patch(NamedTuple):
    """A parallelogram: a corner and the edges from it. With fewer than two edges the others do not count."""

    corner: Vector
    first: Vector
    second: Vector


class IncidentPatch(NamedTuple):
    """What looks at a face, in the frame of the face."""

    true: Patch
    image: Patch
    """The same seen along the normal, on the face; for a face normal the patch itself."""
    corners: list[Vector]
    """Four, in the order they are reported."""
    images: list[Vector]
    edges: Any
    """How many edges it has, as a number: 0 a corner, 1 an edge, 2 a face."""
    edge: Any
    """Mask: the normal is a product of edges."""
    exists: Any
    """Mask: the worlds in which anything is to be found."""
    facing: Any
    """1 / (normal's z), positive if the second box is above the face; for products of edges."""
    slack: Any
    """As in `Placement`."""


def box_box(k: Kernel, geom1: Any, geom2: Any, margin: Any) -> StoredContacts:
    """Two boxes: the corners of the area where the nearest sides face each other."""
    box1, box2 = primitive_of(k, geom1), primitive_of(k, geom2)
    placement = _placement(k, box1, box2)
    kept = Kept(k, placement.slack)
    touches, face_choice, edge_choice = least_overlap(k, placement, margin)
    with k.when(k.any(touches)):
        meeting = _edges_that_meet(k, placement, edge_choice)
        side, frame = _side_and_frame(k, placement, (box1, box2), touches, face_choice, edge_choice, meeting)
        kept.normal.set(frame.normal)
        candidates = k.scratch("box_box/candidates", CANDIDATES, 5)
        _find(k, side, frame.half, margin, candidates)
        _keep(k, kept, frame, (box1, box2), margin, candidates)
    return StoredContacts(kept.filled.value, kept.contact)


def _placement(k: Kernel, box1: Primitive, box2: Primitive) -> Placement:
    first, second = box1.mat, box2.mat
    offset = box2.pos - box1.pos
    rot = np.array([[dot(first[:, i], second[:, j]) for j in range(3)] for i in range(3)], dtype=object)
    offsets = to_frame(first, offset), to_frame(second, -offset)
    placement = Placement(box1.size, box2.size, *offsets, rot, _slack(k, box1, box2))
    memory = k.scratch("box_box/rot", 3, 3)
    memory[:] = rot
    k.scratch("box_box/offset", 3)[:] = placement.offset1
    k.scratch("box_box/sizes", 2, 3)[:] = np.stack([box1.size, box2.size])
    return placement


def _slack(k: Kernel, box1: Primitive, box2: Primitive) -> Any:
    if k.precision == "f64":
        return 0.0
    lengths = total(box1.size) + total(box2.size) + total(absolute(k, box1.pos))
    return k.local(POINT_NOISE * lengths).value


def total(v: Vector) -> Any:
    return v[0] + v[1] + v[2]


def absolute(k: Kernel, v: Vector) -> Vector:
    return elementwise(k.abs, v)


# ---- separating axes ----------------------------------------------------------------------------------------


def least_overlap(k: Kernel, placement: Placement, margin: Any) -> tuple[Any, Any, Any]:
    """Whether no direction separates the boxes by more than the margin; the face of least overlap, as a number
    2·axis + box; and the product of edges that overlaps less, as 3·edge1 + edge2, or -1."""
    best, face = _least_face_overlap(k, placement)
    least, lowest, choice = k.local(best), k.local(best), k.local(-1.0)
    with k.loop(0, 9) as product:
        overlap = _edge_overlap(k, product)
        better = overlap < least.value * EDGE_ADVANTAGE
        least.set(k.select(better, overlap, least.value))
        choice.set(k.select(better, product, choice.value))
        lowest.set(k.min(lowest.value, overlap))
    return lowest.value >= -margin, face, choice.value


def _least_face_overlap(k: Kernel, placement: Placement) -> tuple[Any, Any]:
    """The least overlap along a face normal, and which it is."""
    size1, size2, offset1, offset2, rot, _ = placement
    slopes = absolute(k, rot)
    best: Any = None
    face: Any = 0.0
    for axis in range(3):
        extent2, extent1 = dot(slopes[axis], size2), dot(slopes[:, axis], size1)
        overlaps = (
            -k.abs(offset1[axis]) + size1[axis] + extent2,
            -k.abs(offset2[axis]) + size2[axis] + extent1,
        )
        for box, overlap in enumerate(overlaps):
            better = None if best is None else overlap < best
            best = overlap if better is None else k.select(better, overlap, best)
            face = 0.0 if better is None else k.select(better, 2.0 * axis + box, face)
    return best, face


class Product(NamedTuple):
    """An edge of the first box times one of the second: its two components that need not vanish."""

    axes: tuple[Any, Any]
    parts: tuple[Any, Any]
    length: Any


def _product(k: Kernel, product: Any) -> Product:
    """The normalised product in the first box's frame."""
    rot = k.scratch("box_box/rot", 3, 3)
    following = k.table("box_box/next", NEXT_AXES)
    edge1, edge2 = product // 3, product % 3
    a, b = following[edge1, 0], following[edge1, 1]
    along_a, along_b = -rot[b, edge2], rot[a, edge2]
    length = k.sqrt(along_a * along_a + along_b * along_b)
    inverse = 1.0 / k.max(MINVAL, length)
    return Product((a, b), (along_a * inverse, along_b * inverse), length)


def _edge_overlap(k: Kernel, product: Any) -> Any:
    """Overlap along a product of edges; parallel edges have none."""
    rot, offset = k.scratch("box_box/rot", 3, 3), k.scratch("box_box/offset", 3)
    sizes = k.scratch("box_box/sizes", 2, 3)
    others = k.table("box_box/sorted", np.sort(OTHER_AXES, axis=1))
    edge1, edge2 = product // 3, product % 3
    (a, b), (along_a, along_b), length = _product(k, product)
    k1, k2 = others[edge2, 0], others[edge2, 1]
    overlap = sizes[0, a] * k.abs(along_a) + sizes[0, b] * k.abs(along_b)
    if k.precision == "f32":  # along the very direction that was found: that of nearly parallel edges is off
        for axis in range(3):
            overlap += sizes[1, axis] * k.abs(rot[a, axis] * along_a + rot[b, axis] * along_b)
    else:  # a box's own axis along the product of another of its axes with v is its third axis along v
        safe = k.max(MINVAL, length)
        overlap = overlap + sizes[1, k1] * k.abs(rot[edge1, k2]) / safe
        overlap = overlap + sizes[1, k2] * k.abs(rot[edge1, k1]) / safe
    overlap = overlap - k.abs(offset[a] * along_a + offset[b] * along_b)
    return k.select(length < PARALLEL[k.precision], FAR, overlap)


# ---- the edges of an edge product ---------------------------------------------------------------------------


class Meeting(NamedTuple):
    """Two edges that are nearest to each other, in the first box's frame; only where a product was chosen."""

    direction: Vector
    sign: Any
    """-1 where the second box lies against the direction, else 1."""
    axis: Any
    """Axis, as a number, of the first box's face at its edge that is more nearly parallel to the second's edge."""
    up: Any
    """1 where it is the face in the direction of the axis, -1 where it is the opposite one."""
    beside: Vector
    """From the middle of the second box to its edge: the step that its chosen face covers, …"""
    across: Vector
    """… the step to that face, …"""
    along: Vector
    """… and half the edge."""


def _edges_that_meet(k: Kernel, placement: Placement, choice: Any) -> Meeting:
    """Look up what depends on the chosen edges: for each product that any world chose, with uniform indices."""
    direction, beside, across, along = (k.local(vector(0.0, 0.0, 0.0)) for _ in range(4))
    turns = k.local(vector(1.0, 0.0, 1.0))  # sign, axis and up
    with k.loop(0, 9) as product, k.when(k.any(choice == product)):
        here = choice == product
        found = _meeting(k, placement, product)
        for variable, value in zip(
            (direction, turns, beside, across, along),
            (found.direction, vector(*found[1:4]), found.beside, found.across, found.along),
            strict=True,
        ):
            variable.set(k.select(here, value, variable.value))
    sign, axis, up = turns.value
    return Meeting(direction.value, sign, axis, up, beside.value, across.value, along.value)


def _meeting(k: Kernel, placement: Placement, product: Any) -> Meeting:
    """The edges of one product."""
    rot, offset = k.scratch("box_box/rot", 3, 3), k.scratch("box_box/offset", 3)
    others = k.table("box_box/others", OTHER_AXES)
    edge1, edge2 = product // 3, product % 3
    (a, b), (along_a, along_b), _ = _product(k, product)
    direction = vector(*(k.select(a == n, along_a, k.select(b == n, along_b, 0.0)) for n in range(3)))
    sign = k.select(offset[a] * along_a + offset[b] * along_b < 0.0, -1.0, 1.0)
    first, second = others[edge1, 0], others[edge1, 1]
    flatter = k.abs(rot[first, edge2]) < k.abs(rot[second, edge2])
    leaning = k.select(flatter, pick(k, direction, first), pick(k, direction, second))
    beside, across = _face_at_edge(k, edge1, edge2, sign)
    return Meeting(
        direction=direction,
        sign=sign,
        axis=k.select(flatter, first, second),
        up=k.select(leaning > 0.0, 1.0, -1.0) * sign,
        beside=beside,
        across=across,
        along=_column(k, edge2) * k.scratch("box_box/sizes", 2, 3)[1, edge2],
    )


def pick(k: Kernel, v: Vector, index: Any) -> Any:
    """The component of a vector at a uniform index."""
    return k.select(index == 0, v[0], k.select(index == 1, v[1], v[2]))


def _column(k: Kernel, j: Any) -> Vector:
    rot = k.scratch("box_box/rot", 3, 3)
    return vector(*(rot[i, j] for i in range(3)))


def _face_at_edge(k: Kernel, edge1: Any, edge2: Any, sign: Any) -> tuple[Vector, Vector]:
    """Of the second box's two faces at its edge the one more nearly parallel to the first's edge: from the middle
    of the box to the edge, by way of that face."""
    rot, sizes = k.scratch("box_box/rot", 3, 3), k.scratch("box_box/sizes", 2, 3)
    others, signs = k.table("box_box/others", OTHER_AXES), k.table("box_box/sides", SIDE_SIGNS)
    axes = others[edge2, 0], others[edge2, 1]
    reach = []
    for n, axis in enumerate(axes):
        towards = k.select(rot[edge1, axes[1 - n]] > 0.0, -1.0, 1.0) * sign * signs[edge2, n]
        reach.append(_column(k, axis) * (sizes[1, axis] * towards))
    flatter = k.abs(rot[edge1, axes[0]]) < k.abs(rot[edge1, axes[1]])
    return k.select(flatter, reach[1], reach[0]), k.select(flatter, reach[0], reach[1])


# ---- the frame of the face ----------------------------------------------------------------------------------


class FaceFrame(NamedTuple):
    """The chosen face in the world."""

    half: Vector
    """Half the sides of the face, and the height of its middle over the box's."""
    axes: Vector
    """(3, 3) to the world."""
    pos: Vector
    """The middle of the box."""
    normal: Vector
    """Of the contacts, world frame."""


def turning(k: Kernel, axis: Any, up: Any) -> Callable[[Vector], Vector]:
    """To the frame of a face: +x is seen as (−z, y, x), +y as (x, −z, y), +z as itself, the opposite faces turned
    about the axis that is kept. `axis` and `up` (±1) differ between worlds."""
    is_x, is_y = axis < 0.5, (axis > 0.5) & (axis < 1.5)

    def turn(v: Vector) -> Vector:
        x, y, z = v
        aside = -up * z
        return vector(
            k.select(is_x, aside, k.select(is_y, x, up * x)),
            k.select(is_y, aside, y),
            up * k.select(is_x, x, k.select(is_y, y, z)),
        )

    return turn


def _side_and_frame(
    k: Kernel,
    placement: Placement,
    boxes: tuple[Primitive, Primitive],
    touches: Any,
    face_choice: Any,
    edge_choice: Any,
    meeting: Meeting,
) -> tuple[IncidentPatch, FaceFrame]:
    """What looks at the chosen face, and where that face is."""
    size1, size2, offset1, offset2, rot, slack = placement
    edge = edge_choice > -0.5
    face_axis = k.floor(face_choice * 0.5)
    second = (face_choice - 2.0 * face_axis > 0.5) & ~edge
    offset = k.select(second, offset2, offset1)
    axis = k.select(edge, meeting.axis, face_axis)
    behind = k.select(axis < 0.5, offset[0], k.select(axis < 1.5, offset[1], offset[2])) < 0.0
    up = k.select(edge, meeting.up, k.select(behind, -1.0, 1.0))
    turn = turning(k, axis, up)
    half = absolute(k, turn(k.select(second, size2, size1)))
    centre = turn(offset) - vector(0.0, 0.0, half[2])
    axes = [turn(k.select(second, rot[n], rot[:, n])) for n in range(3)]
    patch, edges = _looking_down(k, centre, axes, k.select(second, size1, size2))
    side = _side(k, touches, edge, (patch, edges), centre, turn, meeting, slack)
    mat, pos = k.select(second, boxes[1].mat, boxes[0].mat), k.select(second, boxes[1].pos, boxes[0].pos)
    world = np.array([turn(row) for row in mat], dtype=object)
    direction = k.select(edge, turn(meeting.direction), vector(0.0, 0.0, 1.0))
    outward = k.select(edge, meeting.sign, k.select(second, -1.0, 1.0))
    return side, FaceFrame(half, world, pos, to_world(world, direction) * outward)


def _looking_down(k: Kernel, centre: Vector, axes: list[Vector], size: Vector) -> tuple[Patch, Any]:
    """The lowest corner of a box with the edges from it that are nearly level, and how many these are."""
    reach = [a * (s * k.select(a[2] < 0.0, 1.0, -1.0)) for a, s in zip(axes, size, strict=True)]
    level = [k.abs(a[2]) < FLAT for a in axes]
    edges = [-2.0 * r for r in reach]
    counts = [k.select(flat, 1.0, 0.0) for flat in level]
    first = k.select(level[0], edges[0], k.select(level[1], edges[1], edges[2]))
    second = k.select(level[0] & level[1], edges[1], edges[2])
    return Patch(centre + reach[0] + reach[1] + reach[2], first, second), counts[0] + counts[1] + counts[2]


def _side(
    k: Kernel,
    touches: Any,
    edge: Any,
    looking: tuple[Patch, Any],
    centre: Vector,
    turn: Callable[[Vector], Vector],
    meeting: Meeting,
    slack: Any,
) -> IncidentPatch:
    """The patch that looks at the face or, for a product of edges, the chosen face of the second box."""
    patch, edges = looking
    flat = [patch.corner, patch.corner + patch.first, patch.corner + patch.second]
    flat.append(flat[1] + patch.second)
    normal = turn(meeting.direction)
    beside, across, along = turn(meeting.beside), turn(meeting.across), turn(meeting.along)
    near, far = centre + beside + across, centre - beside + across
    oblique = [near + along, near - along, far + along, far - along]
    steep = k.abs(normal[2]) < MINVAL
    rise = 1.0 / k.select(edge & ~steep, normal[2], 1.0)
    moved = [corner + normal * (-corner[2] * rise) for corner in oblique]
    corners = [k.select(edge, a, b) for a, b in zip(oblique, flat, strict=True)]
    images = [k.select(edge, a, b) for a, b in zip(moved, flat, strict=True)]
    return IncidentPatch(
        true=_select_patch(k, edge, oblique, patch),
        image=_select_patch(k, edge, moved, patch),
        corners=corners,
        images=images,
        edges=k.select(edge, 2.0, edges),
        edge=edge,
        exists=touches & ~(edge & steep),
        facing=rise * meeting.sign,
        slack=slack,
    )


def _select_patch(k: Kernel, edge: Any, corners: list[Vector], patch: Patch) -> Patch:
    return Patch(
        k.select(edge, corners[0], patch.corner),
        k.select(edge, corners[1] - corners[0], patch.first),
        k.select(edge, corners[2] - corners[0], patch.second),
    )


# ---- clipping by the face -----------------------------------------------------------------------------------


def _find(k: Kernel, side: IncidentPatch, half: Vector, margin: Any, candidates: LaneField) -> None:
    """Fill the list of candidates: (1 if there is one, distance, point)."""
    sides = k.scratch("box_box/half", 2)
    sides[:] = half[:2]
    _store_outlines(k, side)
    crossed = k.local(0.0)
    with k.loop(0, CROSSINGS) as n:
        exists, dist, point = _crossing(k, side, half, margin, n)
        crossed += k.select(exists, 1.0, 0.0)
        candidates[n] = vector(k.select(exists, 1.0, 0.0), dist, point)
    strict = crossed.value > 0.5
    found, area = k.local(crossed.value), k.local(_determinant(side.image))
    with k.loop(0, 4) as n:
        exists, dist, point = _covered(k, side, half, margin, n, strict, area)
        found += k.select(exists, 1.0, 0.0)
        candidates[CROSSINGS + n] = vector(k.select(exists, 1.0, 0.0), dist, point)
    with k.loop(0, 4) as n:
        exists, dist, point = _inside(k, side, half, margin, n, strict, found.value > 0.5)
        candidates[COVERED + n] = vector(k.select(exists, 1.0, 0.0), dist, point)


def _store_outlines(k: Kernel, side: IncidentPatch) -> None:
    """The four lines around the patch and its image, and their corners, in memory to loop over."""
    for name, patch in (("true", side.true), ("image", side.image)):
        starts = [
            patch.corner,
            patch.corner,
            patch.corner + patch.first,
            patch.corner + patch.second,
        ]
        directions = [patch.first, patch.second, patch.second, patch.first]
        lines, corners = k.scratch(f"box_box/{name}", 4, 6), k.scratch(f"box_box/{name}_corners", 4, 3)
        for n, (start, direction) in enumerate(zip(starts, directions, strict=True)):
            lines[n] = vector(start, direction)
            corners[n] = (side.corners if name == "true" else side.images)[n]


def _crossing(k: Kernel, side: IncidentPatch, half: Vector, margin: Any, n: Any) -> tuple[Any, Any, Vector]:
    """Where a line of the image crosses a side of the face, of −x +x −y +y."""
    line, axis, end = n >> 2, (n >> 1) & 1, n & 1
    true, image = k.scratch("box_box/true", 4, 6), k.scratch("box_box/image", 4, 6)
    sides = k.scratch("box_box/half", 2)
    place = sides[axis] * (2 * end - 1)
    slope = image[line, 3 + axis]
    parallel = k.abs(slope) <= k.max(MINVAL, side.slack)
    part = (place - image[line, axis]) * (1.0 / k.select(parallel, 1.0, slope))
    within, reach = (part >= 0.0) & (part <= 1.0), sides[1 - axis]
    if k.precision == "f32":
        beyond, part = part, k.clip(part, 0.0, 1.0)
        within, reach = k.abs((beyond - part) * slope) <= side.slack, reach + side.slack
    other = image[line, 1 - axis] + image[line, 4 - axis] * part
    met = ~parallel & within & (k.abs(other) <= reach)
    met = met & side.exists & (side.edges > k.table("box_box/line_edges", LINE_EDGES)[line] - 0.5)
    start, direction = true[line, 0:3], true[line, 3:6]
    straight = start + direction * part
    midway = 0.5 * start + direction * (0.5 * part)
    onto = vector(k.select(axis == 0, place, other), k.select(axis == 0, other, place), 0.0)
    height = k.select(side.edge, straight[2] * side.facing, straight[2])
    dist = k.select(side.edge, midway[2] * side.facing * 2.0, straight[2])
    point = k.select(side.edge, midway + 0.5 * onto, _halfway_down(straight))
    return met & (height <= margin), dist, _raised(point, half)


def _halfway_down(point: Vector) -> Vector:
    return vector(point[0], point[1], point[2] * 0.5)


def _raised(point: Vector, half: Vector) -> Vector:
    """From the middle of the face to the middle of its box."""
    return vector(point[0], point[1], point[2] + half[2])


def _determinant(patch: Patch) -> Any:
    """Signed area of a face seen from above."""
    return patch.first[0] * patch.second[1] - patch.second[0] * patch.first[1]


def _covered(
    k: Kernel, side: IncidentPatch, half: Vector, margin: Any, n: Any, strict: Any, area: Variable
) -> tuple[Any, Any, Vector]:
    """A corner of the face covered by the image or, obliquely and not strict, covered along one of its edges.

    mjc_BoxBox keeps the squared length between point and image where it had the image's area, and the next
    corner is divided by that. The contacts it finds this way are part of its behaviour.
    """
    signs = k.table("box_box/rectangle", RECTANGLE)
    image, true = side.image, side.true
    corner = vector(signs[n, 0] * half[0], signs[n, 1] * half[1], 0.0)
    x, y = corner[0] - image.corner[0], corner[1] - image.corner[1]
    scale = 1.0 / area.value
    u = (x * image.second[1] - y * image.second[0]) * scale
    v = (y * image.first[0] - x * image.first[1]) * scale
    within = (u > 0.0) & (v > 0.0) & (u < 1.0) & (v < 1.0) & (side.edges > 1.5)
    level = true.corner[2] + u * true.first[2] + v * true.second[2]
    covers, dist, point = _covered_obliquely(k, side, corner, (u, v), margin, strict, area)
    exists = (side.edge & covers) | (~side.edge & within & (level <= margin))
    point = k.select(side.edge, point, vector(corner[0], corner[1], level * 0.5))
    return exists & side.exists, k.select(side.edge, dist, level), _raised(point, half)


def _covered_obliquely(
    k: Kernel,
    side: IncidentPatch,
    corner: Vector,
    place: tuple[Any, Any],
    margin: Any,
    strict: Any,
    area: Variable,
) -> tuple[Any, Any, Vector]:
    """The same for products of edges: the point of the second box that the corner is the image of."""
    u, v = place
    off_u, off_v = (u < 0.0) | (u > 1.0), (v < 0.0) | (v > 1.0)
    covered = ~((off_u & off_v) | (strict & (off_u | off_v))) & side.edge
    first, second = k.clip(u, 0.0, 1.0), k.clip(v, 0.0, 1.0)
    corners = side.corners
    point = corners[0] * (1.0 - first - second) + corners[1] * first + corners[2] * second
    apart = corner - point
    squared = dot(apart, apart)
    area.set(k.select(covered, squared, area.value))
    exists = covered & ~((point[2] > 0.0) & (squared > margin * margin))
    dist = k.sqrt(squared) * k.select(point[2] < 0.0, -1.0, 1.0)
    return exists, dist, (corner + point) * 0.5


def _inside(
    k: Kernel, side: IncidentPatch, half: Vector, margin: Any, n: Any, strict: Any, found: Any
) -> tuple[Any, Any, Vector]:
    """A corner of the patch over the face; the lowest one wherever it is.

    Obliquely, one coordinate of its image on the face is enough if outlines do not cross, and if nothing was found,
    none.
    """
    corner = k.scratch("box_box/true_corners", 4, 3)[n]
    image = k.scratch("box_box/image_corners", 4, 3)[n]
    room = k.select(n == 0, FAR, half[:2])
    over = (k.abs(corner[0]) < room[0]) & (k.abs(corner[1]) < room[1])
    flat = (side.edges > k.table("box_box/corner_edges", CORNER_EDGES)[n] - 0.5) & over
    flat = flat & (corner[2] <= margin)
    off_x, off_y = k.abs(image[0]) > half[0], k.abs(image[1]) > half[1]
    onto = vector(clip(k, image[0], half[0]), clip(k, image[1], half[1]), 0.0)
    excess, height = image - onto, corner[2]
    squared = excess[0] * excess[0] + excess[1] * excess[1] + height * side.facing * height * side.facing
    beside = (strict & (off_x | off_y)) | (~strict & off_x & off_y & found)
    oblique = ~beside & ~((height > 0.0) & (squared > margin * margin))
    dist = k.select(side.edge, k.sqrt(squared) * k.select(height < 0.0, -1.0, 1.0), height)
    point = k.select(side.edge, 0.5 * onto + 0.5 * corner, _halfway_down(corner))
    exists = ((side.edge & oblique) | (~side.edge & flat)) & side.exists
    return exists, dist, _raised(point, half)


# ---- pruning ------------------------------------------------------------------------------------------------


class Kept:
    """The contacts so far: of each world the first `rank` of the rows in memory."""

    def __init__(self, k: Kernel, slack: Any) -> None:
        self.k, self.slack = k, slack
        self.rows = k.scratch("box_box/kept", MOST + 1, 4)
        self.rank = k.local(0.0)
        self.filled = k.local(0)
        """Rows that any world of the tile may have filled."""
        self.normal = k.local(vector(0.0, 0.0, 1.0))

    def contact(self, n: Any) -> LaneContact:
        """The n-th contact."""
        row = self.rows[n]
        return LaneContact(self.rank.value > n, row[0], row[1:], self.normal.value)

    def remove(self, pos: Vector, where: Any) -> None:
        """Take out the contact at exactly this point, up to rounding; those after it move up."""
        k = self.k
        removed = k.local(0.0)
        with k.loop(0, self.filled.value) as n:
            row = self.rows[n]
            same = self._at(row[1:], pos) & where & (self.rank.value > n)
            removed.set(k.select(same, 1.0, removed.value))
            with k.when(k.any(removed.value > 0.5)):
                self.rows[n] = k.select(removed.value > 0.5, self.rows[n + 1], self.rows[n])
        self.rank -= removed.value

    def _at(self, point: Vector, pos: Vector) -> Any:
        k = self.k
        if k.precision == "f32":
            x, y, z = absolute(k, point - pos)
            return k.max(k.max(x, y), z) <= 4.0 * self.slack
        return (point[0] == pos[0]) & (point[1] == pos[1]) & (point[2] == pos[2])

    def append(self, dist: Any, pos: Vector, where: Any) -> None:
        """Add a contact as the last one."""
        k = self.k
        with k.loop(0, k.min(self.filled.value + 1, MOST)) as n:
            here = where & (self.rank.value == n)
            self.rows[n] = k.select(here, vector(dist, pos), self.rows[n])
        self.rank.set(k.min(self.rank.value + k.select(where, 1.0, 0.0), float(MOST)))
        self.filled.set(k.min(self.filled.value + 1, MOST))


def _keep(
    k: Kernel,
    kept: Kept,
    frame: FaceFrame,
    boxes: tuple[Primitive, Primitive],
    margin: Any,
    candidates: LaneField,
) -> None:
    """Keep the candidates that are near both boxes, or well inside one, and are not repeated by a later one."""
    with k.loop(0, CANDIDATES) as n, k.when(k.any(candidates[n, 0] > 0.5)):
        candidate = candidates[n]
        pos = to_world(frame.axes, candidate[2:]) + frame.pos
        (outside1, inside1), (outside2, inside2) = (_beyond(k, pos, box, margin) for box in boxes)
        near = (candidate[0] > 0.5) & ~((outside1 & ~inside2) | (outside2 & ~inside1))
        with k.when(k.any(near)):
            kept.remove(pos, near)
            kept.append(candidate[1], pos, near)


def _beyond(k: Kernel, pos: Vector, box: Primitive, margin: Any) -> tuple[Any, Any]:
    """Whether a point is outside a slightly larger box, and inside a slightly smaller one."""
    local = absolute(k, to_frame(box.mat, pos - box.pos)) / (box.size + margin)
    outside = [x > STRAY_RATIO for x in local]
    inside = [x < 1.0 / STRAY_RATIO for x in local]
    return outside[0] | outside[1] | outside[2], inside[0] & inside[1] & inside[2]

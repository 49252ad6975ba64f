"""Contacts of two boxes.

Of the fifteen directions that can separate two boxes (three face normals of each, nine products of edges) the
one with the least overlap decides. If it is a face normal, the face or edge or corner of the other box that
looks at it is clipped by the face (`face_manifold`). If it is a product of two edges, a face of each box that
meets at the edges is taken and one is projected on the other along the normal (`edge_manifold`). Both work in
the frame of a face: z outward, zero in the middle of the face. Contacts that end up outside the boxes, and
repeated ones, are dropped. Compare mjc_BoxBox and what mj_collideGeoms does with its result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.shapes_numpy import Primitive, of_geoms

EDGE_ADVANTAGE = 1.0 - 1e-12
"""An edge product must overlap less than the best so far by this factor (mjc_BoxBox)."""
FLAT = 0.5
"""An edge that rises less than this part of its length belongs to the side that looks at a face (mjc_BoxBox)."""
STRAY_RATIO = 1.01
"""A contact is outside a box that it would still miss if the box were larger by this factor (mj_collideGeoms)."""

FACE_FRAMES = np.array(
    [
        [[0, 0, -1], [0, 1, 0], [1, 0, 0]],
        [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
        [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
        [[-1, 0, 0], [0, 1, 0], [0, 0, -1]],
    ],
    float,
)
"""Rotation from a box's frame to that of its face: faces +x +y +z −x −y −z."""

RECTANGLE = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]], float)
"""Corners of a face as signs, in the order contacts are reported."""

_THIRD = np.array([[0, 2, 1], [2, 0, 0], [1, 0, 0]])
"""The axis other than two given ones (anything on the diagonal)."""
_DIFFERENT = 1.0 - np.eye(3)
_CROSS_SIGN = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], float)
"""The product of axis i with v has components _CROSS_SIGN[i]·v[_THIRD[i]]."""
_UP = np.array([0.0, 0.0, 1.0])


class Placement(NamedTuple):
    """Two boxes relative to each other."""

    size1: Array
    size2: Array
    offset1: Array
    """Centre of the second in the first's frame."""
    offset2: Array
    """Centre of the first in the second's frame."""
    rot: Array
    """Columns: axes of the second in the first's frame."""


class FaceAxis(NamedTuple):
    """The boxes overlap least across a face."""

    box: int
    """0: a face of the first box, 1: of the second."""
    face: int


class EdgeAxis(NamedTuple):
    """The boxes overlap least across the product of two edges."""

    edge1: int
    """Axis of the first box along its edge."""
    edge2: int
    direction: Array
    """The normalised product, in the first box's frame."""
    flip: bool
    """Whether the second box lies against that direction."""


class Manifold(NamedTuple):
    """Contacts in the frame of a face."""

    dist: Array
    points: Array


def box_box_shapes(box1: Primitive, box2: Primitive, margin: float) -> PairContacts:
    """Two boxes: the corners of the area where the nearest sides face each other."""
    mats = [np.array(box.mat).reshape(3, 3) for box in (box1, box2)]
    poses = [np.array(box.pos) for box in (box1, box2)]
    placement = _placement(box1, box2, mats, poses)
    with np.errstate(divide="ignore", invalid="ignore"):
        axis = least_overlap(placement, margin)
        if axis is None:
            return NO_CONTACTS
        if isinstance(axis, FaceAxis):
            manifold = face_manifold(placement, axis, margin)
            reference, frame = axis.box, mats[axis.box] @ FACE_FRAMES[axis.face].T
            normal = frame[:, 2] * (-1.0 if axis.box else 1.0)
        else:
            face = _face_of_edge(placement, axis)
            manifold = edge_manifold(placement, axis, face, margin)
            reference, frame = 0, mats[0] @ FACE_FRAMES[face].T
            normal = _weighted(frame, FACE_FRAMES[face] @ axis.direction) * (-1.0 if axis.flip else 1.0)
    pos = _weighted(frame, manifold.points) + poses[reference]
    keep = _keep(pos, placement, mats, poses, margin)
    return PairContacts.of(manifold.dist[keep], pos[keep], normal)


def _placement(box1: Primitive, box2: Primitive, mats: list[Array], poses: list[Array]) -> Placement:
    first, second = mats
    rot = sum3(first[:, :, None] * second[:, None, :])
    offset = poses[1] - poses[0]
    return Placement(
        size1=np.array(box1.size),
        size2=np.array(box2.size),
        offset1=_weighted(first.T, offset),
        offset2=_weighted(second.T, -offset),
        rot=rot,
    )


def sum3(terms: Array) -> Array:
    """Sum over the first axis from left to right."""
    return terms[0] + terms[1] + terms[2]


def _weighted(mat: Array, vectors: Array) -> Array:
    """mat times each of the vectors (…, 3), summed from left to right."""
    return mat[:, 0] * vectors[..., 0:1] + mat[:, 1] * vectors[..., 1:2] + mat[:, 2] * vectors[..., 2:3]


# ---- separating axes ----------------------------------------------------------------------------------------


def least_overlap(placement: Placement, margin: float) -> FaceAxis | EdgeAxis | None:
    """The direction along which the boxes overlap least; None if one separates them by more than the margin."""
    faces = _face_overlaps(placement)
    directions, edges = _edge_overlaps(placement)
    if faces.min() < -margin or edges.min() < -margin:
        return None
    axis, box = divmod(int(np.argmin(faces)), 2)
    best, choice = float(faces[axis, box]), -1
    for product, overlap in enumerate(edges.ravel().tolist()):
        if overlap < best * EDGE_ADVANTAGE:
            best, choice = overlap, product
    if choice < 0:
        offset = placement.offset2 if box else placement.offset1
        return FaceAxis(box, axis + 3 * bool(offset[axis] < 0))
    edge1, edge2 = divmod(choice, 3)
    direction = directions[edge1, edge2]
    return EdgeAxis(edge1, edge2, direction, bool(sum3(placement.offset1 * direction) < 0))


def _face_overlaps(placement: Placement) -> Array:
    """Overlap along the face normals (axis, box)."""
    size1, size2, offset1, offset2, rot = placement
    extent2 = sum3((np.abs(rot) * size2).T)
    extent1 = sum3(np.abs(rot) * size1[:, None])
    return np.stack([-np.abs(offset1) + size1 + extent2, -np.abs(offset2) + size2 + extent1], axis=1)


def _edge_overlaps(placement: Placement) -> tuple[Array, Array]:
    """Products of edges (edge of the first, edge of the second, 3) and the overlap along each.

    The overlap of parallel edges is infinite: they have no product.
    """
    size1, size2, offset1, _, rot = placement
    products = (rot.T[:, _THIRD] * _CROSS_SIGN).transpose(1, 0, 2)
    length = np.sqrt(sum3(np.moveaxis(products * products, -1, 0)))
    inverse = 1.0 / length
    directions = products * inverse[..., None]
    overlap = sum3(np.moveaxis(size1 * np.abs(directions), -1, 0))
    # a box's own axis k along the product of its axis j with a is the third axis along a
    rise = np.abs(rot)[:, _THIRD] * _DIFFERENT
    for k in range(3):
        overlap = overlap + size2[k] * rise[:, :, k] / length
    overlap = overlap - np.abs(sum3(np.moveaxis(offset1 * directions, -1, 0)))
    return directions, np.where(length < MINVAL, np.inf, overlap)


# ---- clipping by a rectangle --------------------------------------------------------------------------------


class Patch(NamedTuple):
    """A corner, an edge or a face of a box: a corner and the vectors along zero to two edges from it."""

    corner: Array
    edges: Array

    def outline(self) -> tuple[Array, Array]:
        """Starts and directions of the lines around it: none, one or four."""
        if len(self.edges) < 2:
            return np.repeat(self.corner[None], len(self.edges), axis=0), self.edges
        first, second = self.edges
        starts = np.array([self.corner, self.corner, self.corner + first, self.corner + second])
        return starts, np.array([first, second, second, first])

    def vertices(self) -> Array:
        """Its one, two or four corners."""
        points = [self.corner, *(self.corner + edge for edge in self.edges)]
        if len(self.edges) == 2:
            points.append(points[1] + self.edges[1])
        return np.array(points)


class Crossings(NamedTuple):
    """Where lines cross the sides of a rectangle."""

    line: Array
    part: Array
    """Along the line, from 0 to 1."""
    place: Array
    """(n, 2) on the side."""


def crossings(starts: Array, directions: Array, half: Array) -> Crossings:
    """Crossings line by line, of the sides −x +x −y +y of the rectangle ±half."""
    count = len(starts)
    side = np.broadcast_to(half[:, None] * np.array([-1.0, 1.0]), (count, 2, 2))
    slope = directions[:, :2, None]
    part = (side - starts[:, :2, None]) * (1.0 / slope)
    across = starts[:, 1::-1, None] + directions[:, 1::-1, None] * part
    met = (np.abs(slope) > MINVAL) & ~((part < 0) | (part > 1)) & ~(np.abs(across) > half[::-1, None])
    line, axis, end = np.nonzero(met)
    crossed, other = side[line, axis, end], across[line, axis, end]
    place = np.where(axis[:, None] == 0, np.stack([crossed, other], 1), np.stack([other, crossed], 1))
    return Crossings(line, part[line, axis, end], place)


def coordinates(points: Array, patch: Patch, determinant: Array | float) -> tuple[Array, Array]:
    """Points (…, 2) as corner + u·first + v·second of a face seen from above."""
    (a, c), (b, d) = patch.edges[:, :2]
    x, y = points[..., 0] - patch.corner[0], points[..., 1] - patch.corner[1]
    scale = 1.0 / np.float64(determinant)
    return (x * d - y * b) * scale, (y * a - x * c) * scale


def _determinant(patch: Patch) -> float:
    """Signed area of a face seen from above."""
    (a, c), (b, d) = patch.edges[:, :2].tolist()
    return a * d - b * c


# ---- a face against what looks at it ------------------------------------------------------------------------


def face_manifold(placement: Placement, axis: FaceAxis, margin: float) -> Manifold:
    """Where the side of one box that looks at a face of the other is within the face's outline."""
    size1, size2, offset1, offset2, rot = placement
    own, other = (size2, size1) if axis.box else (size1, size2)
    offset, axes = (offset2, rot.T) if axis.box else (offset1, rot)
    turn = FACE_FRAMES[axis.face]
    half = np.abs(turn @ own)
    patch = _looking_down(turn @ offset - half * _UP, turn @ axes, other)
    points = np.concatenate([_line_points(patch, half), _covered(patch, half), _inside(patch, half)])
    points = points[~(points[:, 2] > margin)]
    dist = points[:, 2].copy()
    points[:, 2] = points[:, 2] * 0.5 + half[2]
    return Manifold(dist, points)


def _looking_down(centre: Array, axes: Array, size: Array) -> Patch:
    """The lowest corner of a box and the edges from it that are nearly level."""
    sign = np.where(axes[2] < 0, 1.0, -1.0)
    reach = axes * (size * sign)
    level = np.abs(axes[2]) < FLAT
    return Patch(centre + reach[:, 0] + reach[:, 1] + reach[:, 2], -2.0 * reach.T[level])


def _line_points(patch: Patch, half: Array) -> Array:
    """Where the outline of the patch crosses that of the face."""
    starts, directions = patch.outline()
    line, part, _ = crossings(starts, directions, half[:2])
    return starts[line] + directions[line] * part[:, None]


def _covered(patch: Patch, half: Array) -> Array:
    """Points of the patch over corners of the face."""
    if len(patch.edges) < 2:
        return np.zeros((0, 3))
    corners = RECTANGLE * half[:2]
    u, v = coordinates(corners, patch, _determinant(patch))
    height = patch.corner[2] + u * patch.edges[0, 2] + v * patch.edges[1, 2]
    within = ~((u <= 0) | (v <= 0) | (u >= 1) | (v >= 1))
    return np.column_stack([corners, height])[within]


def _inside(patch: Patch, half: Array) -> Array:
    """Corners of the patch over the face; the lowest one wherever it is."""
    lowest, *others = patch.vertices()
    within = [vertex for vertex in others if (np.abs(vertex[:2]) < half[:2]).all()]
    return np.array([lowest, *within])


# ---- an edge against an edge --------------------------------------------------------------------------------

_OTHER_AXES = ((1, 2), (0, 2), (1, 0))
"""The axes other than a given one; if an edge rises equally along both, the second counts as the flatter."""


def _by_slope(rise: Array, edge: int) -> tuple[int, int]:
    """The other two axes of a box with an edge: that along which the other box's edge rises more, and less."""
    first, second = _OTHER_AXES[edge]
    return (second, first) if rise[first] < rise[second] else (first, second)


def _face_of_edge(placement: Placement, axis: EdgeAxis) -> int:
    """Of the first box's two faces at its edge, the one that is more nearly parallel to the second's edge."""
    _, across = _by_slope(np.abs(placement.rot[:, axis.edge2]), axis.edge1)
    return across if (axis.direction[across] > 0) != axis.flip else across + 3


def _face_at_edge(placement: Placement, axis: EdgeAxis, centre: Array, axes: Array) -> Array:
    """Corners (4, 3) of the second box's face at its edge: both ends of the edge, then of the one opposite."""
    size, edge = placement.size2, axis.edge2
    beside, across = _by_slope(np.abs(placement.rot[axis.edge1]), edge)
    reach = {k: axes[:, k] * (size[k] * _side_of_second(placement, axis, k)) for k in (beside, across)}
    end = axes[:, edge] * size[edge]
    near = centre + reach[beside] + reach[across]
    far = centre - reach[beside] + reach[across]
    return np.array([near + end, near - end, far + end, far - end])


def _side_of_second(placement: Placement, axis: EdgeAxis, k: int) -> float:
    """On which side along its axis k the second box's edge is: the one that faces the first box."""
    third = 3 - k - axis.edge2
    along = (placement.rot[axis.edge1, third] > 0) != (k == (axis.edge2 + 2) % 3)
    return -1.0 if along != axis.flip else 1.0


def edge_manifold(placement: Placement, axis: EdgeAxis, face: int, margin: float) -> Manifold:
    """Where a face of the second box, moved along the normal onto one of the first, overlaps it.

    Each contact is midway between the point and its image. If the outlines do not cross, points beside the
    face count too, moved to its border.
    """
    turn = FACE_FRAMES[face]
    half = np.abs(turn @ placement.size1)
    normal = turn @ axis.direction
    corners = _face_at_edge(placement, axis, turn @ placement.offset1 - half * _UP, turn @ placement.rot)
    if abs(normal[2]) < MINVAL:
        return Manifold(np.zeros(0), np.zeros((0, 3)))
    images = corners + normal * (-corners[:, 2:] * (1.0 / normal[2]))
    facing = (1.0 / normal[2]) * (-1.0 if axis.flip else 1.0)
    true, image = (Patch(p[0], np.array([p[1] - p[0], p[2] - p[0]])) for p in (corners, images))

    crossed = _crossed(true, image, half, facing, margin)
    covered = _covered_obliquely(corners, image, half, margin, strict=bool(len(crossed.dist)))
    found = len(crossed.dist) + len(covered.dist)
    inside = _inside_obliquely(corners, images, half, facing, margin, bool(len(crossed.dist)), bool(found))
    parts = (crossed, covered, inside)
    points = np.concatenate([part.points for part in parts]) + half * _UP
    return Manifold(np.concatenate([part.dist for part in parts]), points)


def _crossed(true: Patch, image: Patch, half: Array, facing: float, margin: float) -> Manifold:
    """Crossings of the image's outline with the face's."""
    line, part, place = crossings(*image.outline(), half[:2])
    starts, directions = true.outline()
    points = 0.5 * starts[line] + directions[line] * (0.5 * part)[:, None]
    near = ~((starts[line, 2] + directions[line, 2] * part) * facing > margin)
    dist = points[:, 2] * facing * 2
    points[:, :2] += 0.5 * place
    return Manifold(dist[near], points[near])


def _covered_obliquely(corners: Array, image: Patch, half: Array, margin: float, strict: bool) -> Manifold:
    """Corners of the face covered by the image, or (not strict) covered along one of its edges.

    mjc_BoxBox keeps the squared length between point and image where it had the image's area, and the next
    corner is divided by that. The contacts it finds this way are part of its behaviour.
    """
    area: Array | float = _determinant(image)
    dist, points = [], []
    for corner in RECTANGLE * half[:2]:
        u, v = coordinates(corner, image, area)
        off_u, off_v = u < 0 or u > 1, v < 0 or v > 1
        if (off_u or off_v) if strict else (off_u and off_v):
            continue
        first, second = np.clip((u, v), 0.0, 1.0)
        point = corners[0] * (1 - first - second) + corners[1] * first + corners[2] * second
        onto = np.array([corner[0], corner[1], 0.0])
        area = sum3((onto - point) ** 2)
        if point[2] > 0 and area > margin * margin:
            continue
        dist.append(np.sqrt(area) * (-1.0 if point[2] < 0 else 1.0))
        points.append((onto + point) * 0.5)
    return Manifold(np.array(dist), np.array(points).reshape(-1, 3))


def _inside_obliquely(
    corners: Array, images: Array, half: Array, facing: float, margin: float, strict: bool, found: bool
) -> Manifold:
    """Corners of the second box's face whose image is on the first's.

    Without crossings (not strict) one coordinate on the face is enough, and if nothing was found, none.
    """
    off = np.abs(images[:, :2]) > half[:2]
    onto = np.column_stack([np.clip(images[:, :2], -half[:2], half[:2]), np.zeros(4)])
    excess = (images - onto)[:, :2]
    height = corners[:, 2]
    length_squared = excess[:, 0] ** 2 + excess[:, 1] ** 2 + height * facing * height * facing
    beside = off.any(axis=1) if strict else off.all(axis=1) & found
    keep = ~beside & ~((height > 0) & (length_squared > margin * margin))
    dist = np.sqrt(length_squared) * np.where(height < 0, -1.0, 1.0)
    return Manifold(dist[keep], (0.5 * onto + 0.5 * corners)[keep])


# ---- pruning ------------------------------------------------------------------------------------------------


def _keep(pos: Array, placement: Placement, mats: list[Array], poses: list[Array], margin: float) -> Array:
    """Which contacts are near both boxes, or well inside one, and are not repeated by a later one."""
    scaled = [
        np.abs(_weighted(mat.T, pos - centre)) / (size + margin)
        for mat, centre, size in zip(mats, poses, (placement.size1, placement.size2), strict=True)
    ]
    outside1, outside2 = ((local > STRAY_RATIO).any(axis=1) for local in scaled)
    inside1, inside2 = ((local < 1.0 / STRAY_RATIO).all(axis=1) for local in scaled)
    near = ~((outside1 & ~inside2) | (outside2 & ~inside1))
    same = (pos[:, None] == pos[None]).all(axis=2) & near
    return near & ~np.triu(same, 1).any(axis=1)


box_box = of_geoms(box_box_shapes)

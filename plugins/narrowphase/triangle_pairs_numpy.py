"""Contacts of a triangle mesh with a plane, sphere, capsule, box or mesh.

- plane: the mesh's lowest vertices;
- sphere: where the distance from its centre to the surface has a local minimum, or, with the centre inside, the
  nearest point;
- capsule: spheres along it, at its ends and where an edge that sticks out comes near;
- box and mesh: vertices of either inside the other (or within the margin), against the nearest face that looks
  towards them, and edges that stick out and cross. Edges give contacts only once they overlap.

At most MOST contacts of a pair are kept: the deepest, then those farthest from the ones kept. Each function has the
signature of a collide_pair row: world frame, normals from the first geom to the second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.narrowphase.surfaces_numpy import (
    NearestPoints,
    TriangleSurface,
    box_surface,
    directions,
    feature_ids,
    meeting,
    mesh_surface,
    near,
    nearest,
    projected_weights,
    signed,
)
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_numpy import dot_rows

MOST = 8
"""Contacts of one pair: enough to hold a body in place, few enough for the solver."""

TOUCH = 1e-6
"""Share of a surface's size within which two places count as one: vertices are stored in single precision."""


class Pose(NamedTuple):
    """Position and rotation matrix of a geom."""

    pos: Array
    mat: Array

    @classmethod
    def of(cls, data: DataLike, geom: int) -> Pose:
        return cls(np.array(data.geom_xpos[geom]), np.array(data.geom_xmat[geom]).reshape(3, 3))

    def to_local(self, points: Array) -> Array:
        return (points - self.pos) @ self.mat

    def to_world(self, points: Array) -> Array:
        return points @ self.mat.T + self.pos


def surface_of(model: ModelLike, geom: int) -> TriangleSurface:
    """The surface of a mesh geom."""
    return mesh_surface(model, int(model.geom_dataid[geom]))


def spread_out(contacts: PairContacts, size: float) -> PairContacts:
    """The deepest contact, then those that differ most from the ones chosen, in place and (a full turn counting as
    `size`) in direction: at most MOST, and none twice."""
    if not len(contacts.dist):
        return contacts
    kind = np.concatenate([contacts.pos, size * contacts.normal], axis=1)
    chosen = [int(np.argmin(contacts.dist))]
    gap = np.full(len(kind), np.inf)
    while len(chosen) < MOST:
        offset = kind - kind[chosen[-1]]
        gap = np.minimum(gap, dot_rows(offset, offset))
        if gap.max() <= (TOUCH * size) ** 2:
            break
        chosen.append(int(np.argmax(gap)))
    return PairContacts(*(column[np.sort(chosen)] for column in contacts))


def joined(several: list[PairContacts]) -> PairContacts:
    """All contacts of several lists."""
    return PairContacts(*(np.concatenate(column) for column in zip(*several, strict=True)))


# ---- plane, sphere, capsule -------------------------------------------------------------------------------


def plane_mesh(model: ModelLike, data: DataLike, geom1: int, geom2: int, margin: float) -> PairContacts:
    """Vertices no higher above the plane than the margin."""
    plane, mesh = Pose.of(data, geom1), Pose.of(data, geom2)
    normal = plane.mat[:, 2]
    surface = surface_of(model, geom2)
    points = mesh.to_world(surface.vert)
    height = (points - plane.pos) @ normal
    low = np.flatnonzero(height <= margin)
    middle = points[low] - 0.5 * height[low, None] * normal
    return spread_out(PairContacts.of(height[low], middle, normal), surface.size)


def sphere_mesh(model: ModelLike, data: DataLike, geom1: int, geom2: int, margin: float) -> PairContacts:
    """Where the sphere's centre is locally nearest to the surface."""
    radius = float(model.geom_size[geom1, 0])
    return ball_contacts(
        surface_of(model, geom2), Pose.of(data, geom2), data.geom_xpos[geom1], radius, margin
    )


def ball_contacts(
    surface: TriangleSurface, pose: Pose, centre: Array, radius: float, margin: float
) -> PairContacts:
    """Contacts of a sphere (first) with a surface (second)."""
    point = pose.to_local(centre)[None]
    found = nearest(surface, point)
    distance, away = signed(surface, point, found)
    if distance[0] > radius + margin:
        return NO_CONTACTS
    if distance[0] > 0:
        found = local_minima(surface, point, radius + margin)
        distance, away = signed(surface, point, found)
        outside = np.flatnonzero(distance > 0)
        found, distance, away = found.take(outside), distance[outside], away[outside]
    dist = distance - radius
    middle = pose.to_world(found.point + 0.5 * dist[:, None] * away)
    return spread_out(PairContacts.of(dist, middle, -away @ pose.mat.T), surface.size)


def local_minima(surface: TriangleSurface, point: Array, reach: float) -> NearestPoints:
    """Nearest points of faces that no face beside them undercuts, each feature once."""
    found = near(surface, point, np.array([reach]))
    closest = np.full(len(surface.vert) + len(surface.edge) + len(surface.face), np.inf)
    for beside in (surface.face[found.face], len(surface.vert) + surface.face_edge[found.face]):
        np.minimum.at(closest, beside, found.distance[:, None])
    feature = feature_ids(surface, found)
    lowest = np.flatnonzero(found.distance <= closest[feature] + TOUCH * surface.size)
    return found.take(lowest[np.unique(feature[lowest], return_index=True)[1]])


def capsule_mesh(model: ModelLike, data: DataLike, geom1: int, geom2: int, margin: float) -> PairContacts:
    """Contacts of spheres along the capsule: at its ends and where the surface's edges come near."""
    radius, half = (float(size) for size in model.geom_size[geom1, :2])
    surface, pose = surface_of(model, geom2), Pose.of(data, geom2)
    axis = half * Pose.of(data, geom1).mat[:, 2]
    ends = np.array([data.geom_xpos[geom1] - axis, data.geom_xpos[geom1] + axis])
    shares = shares_to_look_at(surface, pose.to_local(ends), radius + margin)
    centres = ends[0] + np.array(shares)[:, None] * (ends[1] - ends[0])
    balls = [ball_contacts(surface, pose, centre, radius, margin) for centre in centres]
    return spread_out(joined(balls), surface.size)


def shares_to_look_at(surface: TriangleSurface, ends: Array, reach: float) -> list[float]:
    """How far along a segment, from 0 to 1, to look at it: its ends, where it pierces a face, and the first, last
    and nearest places where an edge that sticks out is within reach."""
    low, high = ends.min(axis=0) - reach, ends.max(axis=0) + reach
    face = meeting(surface, low[None], high[None])[1]
    start, stop = (np.broadcast_to(end, (len(face), 3)) for end in ends)
    _, pierced, _ = piercings(surface, start, stop, face)
    edge = np.unique(surface.face_edge[face])
    edge = surface.vert[surface.edge[edge[surface.ridge[edge]]]]
    start, stop = (np.broadcast_to(end, (len(edge), 3)) for end in ends)
    share, _, apart = between_segments(start, stop, edge[:, 0], edge[:, 1])
    near_by = share[apart <= reach]
    shares = {0.0, 1.0, *pierced[:1].tolist()}
    if len(near_by):
        shares |= {float(near_by.min()), float(near_by.max()), float(share[np.argmin(apart)])}
    return sorted(shares)


def between_segments(start1: Array, stop1: Array, start2: Array, stop2: Array) -> tuple[Array, Array, Array]:
    """Where pairs of segments are nearest, as shares of their lengths, and how far apart they are there."""
    along1, along2, offset = stop1 - start1, stop2 - start2, start1 - start2
    a, b, c = dot_rows(along1, along1), dot_rows(along1, along2), dot_rows(along2, along2)
    d, e = dot_rows(along1, offset), dot_rows(along2, offset)
    determinant = a * c - b * b
    skew = determinant > 1e-12 * a * c
    s = np.where(skew, np.clip((b * e - c * d) / np.where(skew, determinant, 1.0), 0.0, 1.0), 0.0)
    t = np.clip((b * s + e) / np.maximum(c, MINVAL), 0.0, 1.0)
    s = np.clip((b * t - d) / np.maximum(a, MINVAL), 0.0, 1.0)
    gap = offset + s[:, None] * along1 - t[:, None] * along2
    return s, t, np.sqrt(dot_rows(gap, gap))


def piercings(surface: TriangleSurface, start: Array, stop: Array, face: Array) -> tuple[Array, Array, Array]:
    """Which segments pierce the face paired with them, at which share of their length, and the face."""
    corner = surface.vert[surface.face[face]]
    normal = surface.face_normal[face]
    before, after = dot_rows(start - corner[:, 0], normal), dot_rows(stop - corner[:, 0], normal)
    crosses = np.flatnonzero(before * after < 0)
    share = before[crosses] / (before - after)[crosses]
    point = start[crosses] + share[:, None] * (stop - start)[crosses]
    inside = (projected_weights(point, corner[crosses]) >= 0).all(axis=1)
    return crosses[inside], share[inside], face[crosses[inside]]


# ---- box and mesh -----------------------------------------------------------------------------------------


def box_mesh(model: ModelLike, data: DataLike, geom1: int, geom2: int, margin: float) -> PairContacts:
    """Contacts of a box, taken as twelve triangles, with a mesh."""
    box = box_surface(*(float(size) for size in model.geom_size[geom1]))
    return surface_contacts(box, Pose.of(data, geom1), surface_of(model, geom2), Pose.of(data, geom2), margin)


def mesh_mesh(model: ModelLike, data: DataLike, geom1: int, geom2: int, margin: float) -> PairContacts:
    """Contacts of two meshes."""
    first, second = surface_of(model, geom1), surface_of(model, geom2)
    return surface_contacts(first, Pose.of(data, geom1), second, Pose.of(data, geom2), margin)


def surface_contacts(
    first: TriangleSurface, pose1: Pose, second: TriangleSurface, pose2: Pose, margin: float
) -> PairContacts:
    """Contacts of two surfaces: vertices of each with the other, and edges with edges."""
    of_first = vertex_contacts(first, pose1, second, pose2, margin)
    of_second = vertex_contacts(second, pose2, first, pose1, margin)
    of_first = of_first._replace(normal=-of_first.normal)
    vertices = joined([of_first, of_second])
    edges = edge_contacts(first, pose1, second, pose2)
    return spread_out(joined([vertices, plausible(edges, vertices)]), max(first.size, second.size))


def plausible(edges: PairContacts, vertices: PairContacts) -> PairContacts:
    """Edge contacts no deeper than the deepest vertex, or without vertices than twice the shallowest edge: deeper
    ones are edges far apart, on opposite sides of the overlap."""
    if not len(edges.dist):
        return edges
    deepest = (
        vertices.dist.min() if len(vertices.dist) and vertices.dist.min() < 0 else 2.0 * edges.dist.max()
    )
    kept = np.flatnonzero(edges.dist >= deepest)
    return PairContacts(*(column[kept] for column in edges))


def vertex_contacts(
    pointed: TriangleSurface, pointed_pose: Pose, surface: TriangleSurface, pose: Pose, margin: float
) -> PairContacts:
    """Vertices of one surface inside another or within the margin; normals point out of the other."""
    points = pose.to_local(pointed_pose.to_world(pointed.vert))
    slack = TOUCH * surface.size
    box_low = surface.tree.low[surface.tree.roots].min(axis=0) - margin - slack
    box_high = surface.tree.high[surface.tree.roots].max(axis=0) + margin + slack
    inside_box = np.flatnonzero(((points >= box_low) & (points <= box_high)).all(axis=1))
    points = points[inside_box]
    distance, _ = signed(surface, points, nearest(surface, points))
    touching = np.flatnonzero(distance <= max(margin, slack))
    points, distance = points[touching], distance[touching]
    outward = pointed.vert_normal[inside_box[touching]] @ pointed_pose.mat.T @ pose.mat
    which, foot, face = nearest_opposed(surface, points, outward, np.abs(distance))
    offset = points[which] - foot
    depth = np.sqrt(dot_rows(offset, offset))
    side = np.where(distance[which] <= slack, -1.0, 1.0)
    away = np.where((depth > slack)[:, None], directions(offset) * side[:, None], surface.face_normal[face])
    kept = np.flatnonzero(side * depth <= margin)
    middle = pose.to_world(foot[kept] + 0.5 * offset[kept])
    return PairContacts.of((side * depth)[kept], middle, away[kept] @ pose.mat.T)


def nearest_opposed(
    surface: TriangleSurface, points: Array, outward: Array, distance: Array
) -> tuple[Array, Array, Array]:
    """For each point the nearest point of a face that looks against `outward`: which points have one, where, and
    the face. The search widens until it finds one or has seen the whole surface."""
    foot, face = np.zeros_like(points), np.full(len(points), -1)
    reach = np.maximum(2.0 * distance, 1e-3 * surface.size)
    searching = np.arange(len(points))
    while len(searching):
        found = near(surface, points[searching], reach[searching])
        opposed = dot_rows(surface.face_normal[found.face], outward[searching[found.query]]) < 0
        found = found.take(np.flatnonzero(opposed))
        order = np.lexsort((found.distance, found.query))
        best = found.take(order[np.unique(found.query[order], return_index=True)[1]])
        foot[searching[best.query]], face[searching[best.query]] = best.point, best.face
        searching = searching[(face[searching] < 0) & (reach[searching] < 2.0 * surface.size)]
        reach *= 2.0
    which = np.flatnonzero(face >= 0)
    return which, foot[which], face[which]


def edge_contacts(first: TriangleSurface, pose1: Pose, second: TriangleSurface, pose2: Pose) -> PairContacts:
    """Edges that stick out of either surface and cross inside; normals from the first to the second."""
    pairs = [*crossing_edges(first, pose1, second, pose2)]
    pairs += [(one, other) for other, one in crossing_edges(second, pose2, first, pose1)]
    if not pairs:
        return NO_CONTACTS
    one, other = np.unique(np.array(pairs), axis=0).T
    start1, stop1 = (pose1.to_world(first.vert[first.edge[one, end]]) for end in (0, 1))
    start2, stop2 = (pose2.to_world(second.vert[second.edge[other, end]]) for end in (0, 1))
    share1, share2, depth = between_segments(start1, stop1, start2, stop2)
    point1 = start1 + share1[:, None] * (stop1 - start1)
    point2 = start2 + share2[:, None] * (stop2 - start2)
    normal = directions(point1 - point2)
    facing = dot_rows(normal, first.edge_normal[one] @ pose1.mat.T) > 0
    facing &= dot_rows(normal, second.edge_normal[other] @ pose2.mat.T) < 0
    facing &= (share1 > 0) & (share1 < 1) & (share2 > 0) & (share2 < 1) & (depth > MINVAL)
    return PairContacts.of(-depth[facing], 0.5 * (point1 + point2)[facing], normal[facing])


def crossing_edges(
    edged: TriangleSurface, edged_pose: Pose, surface: TriangleSurface, pose: Pose
) -> list[tuple[int, int]]:
    """Edges of one surface that pierce faces of another, each with the edges around the face."""
    ridges = np.flatnonzero(edged.ridge)
    ends = pose.to_local(edged_pose.to_world(edged.vert[edged.edge[ridges]].reshape(-1, 3))).reshape(-1, 2, 3)
    query, face = meeting(surface, ends.min(axis=1), ends.max(axis=1))
    hit, _, face = piercings(surface, ends[query, 0], ends[query, 1], face)
    around = surface.face_edge[face]
    pairs = np.stack([np.repeat(ridges[query[hit]], 3), around.reshape(-1)], axis=1)
    return [tuple(pair) for pair in pairs[surface.ridge[pairs[:, 1]]].tolist()]

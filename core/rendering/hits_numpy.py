"""What rays meet: the reference, element after element, all rays of an element at once.

Rays start at the camera or at a point relative to it, in the world's axes. A ray meets an element where it enters it,
in front of `near` and before `far`; of two elements at the same distance the first counts.
"""

from __future__ import annotations

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.rendering.drawing import Drawing, Kind
from dovetail.rendering.prepare import FAR, Prepared
from dovetail.rendering.shapes_numpy import SPANS
from dovetail.rendering.trees import LEAF

NOTHING = -1


@attrs.define(eq=False)
class Rays:
    """Origins and directions (n, 3), and the length of each in which something can be met."""

    origin: Array
    direction: Array
    near: Array
    far: Array
    column: Array
    row: Array
    """Where on the picture; used to leave out elements that cannot be there."""

    def take(self, some: Array) -> Rays:
        return Rays(*(getattr(self, field.name)[some] for field in attrs.fields(Rays)))


@attrs.define(eq=False)
class Hits:
    """What rays met: distance, element (`NOTHING`: none), triangle of the forest and place on it."""

    distance: Array
    element: Array
    triangle: Array
    u: Array
    v: Array

    @classmethod
    def none(cls, far: Array) -> Hits:
        """No hits, as far as rays go."""
        count = len(far)
        return cls(
            far.copy(),
            np.full(count, NOTHING),
            np.zeros(count, np.int64),
            np.zeros(count, np.float32),
            np.zeros(count, np.float32),
        )

    def take(self, some: Array) -> Hits:
        return Hits(*(getattr(self, field.name)[some] for field in attrs.fields(Hits)))

    def put(self, at: Array, other: Hits) -> None:
        for field in attrs.fields(Hits):
            getattr(self, field.name)[at] = getattr(other, field.name)


def in_rect(prepared: Prepared, element: int, rays: Rays) -> Array:
    """Rays whose pixel an element can be seen in."""
    left, right, top, bottom = prepared.rect[element]
    return np.flatnonzero(
        (rays.column >= left) & (rays.column < right) & (rays.row >= top) & (rays.row < bottom)
    )


def near_line(prepared: Prepared, element: int, rays: Rays) -> Array:
    """Rays that pass through the ball around an element."""
    radius = prepared.radius[element]
    if radius >= FAR:
        return np.arange(len(rays.far))
    away = prepared.centre[element] - rays.origin
    square = np.einsum("ni,ni->n", rays.direction, rays.direction)
    along = np.einsum("ni,ni->n", away, rays.direction) / square
    closest = away - np.maximum(along, 0)[:, None] * rays.direction
    return np.flatnonzero(np.einsum("ni,ni->n", closest, closest) <= radius * radius)


def local(prepared: Prepared, element: int, rays: Rays) -> tuple[Array, Array]:
    """Rays in the frame of an element."""
    inverse = prepared.inverse[element]
    return (rays.origin - prepared.offset[element]) @ inverse.T, rays.direction @ inverse.T


def meet(drawing: Drawing, prepared: Prepared, element: int, rays: Rays, *, leaving: bool = False) -> Hits:
    """Where rays enter an element, or leave a shape."""
    origin, direction = local(prepared, element, rays)
    if prepared.elements.kind[element] == Kind.SURFACE:
        return _meet_surface(drawing, prepared, element, rays, (origin, direction))
    size = prepared.elements.size[element].astype(np.float32)
    enter, leave = SPANS[int(prepared.elements.kind[element])](origin, direction, size)
    distance = np.where(enter <= leave, leave if leaving else enter, FAR)
    hits = Hits.none(rays.far)
    hit = (distance > rays.near) & (distance < rays.far)
    hits.distance[hit] = distance[hit]
    hits.element[hit] = element
    return hits


def nearest(drawing: Drawing, prepared: Prepared, elements: Array, rays: Rays, *, on_picture: bool) -> Hits:
    """The nearest of some elements that each ray enters. Rays of pixels ask only elements that are there."""
    hits = Hits.none(rays.far)
    for element in elements:
        some = in_rect(prepared, element, rays) if on_picture else near_line(prepared, element, rays)
        if len(some) == 0:
            continue
        fewer = rays.take(some)
        fewer.far = hits.distance[some]
        found = meet(drawing, prepared, element, fewer)
        better = found.element != NOTHING
        hits.put(some[better], found.take(better))
    return hits


# ---- surfaces of triangles --------------------------------------------------------------------------------


def _meet_surface(
    drawing: Drawing,
    prepared: Prepared,
    element: int,
    rays: Rays,
    local_rays: tuple[Array, Array],
) -> Hits:
    """The first front of a triangle that each ray meets."""
    forest, surface = drawing.forest, int(prepared.elements.surface[element])
    origin, direction = local_rays
    ray, leaf = _leaves(drawing, surface, origin, direction, rays)
    hits = Hits.none(rays.far)
    ray = np.repeat(ray, LEAF)
    triangle = (leaf[:, None] * LEAF + np.arange(LEAF)).reshape(-1) + int(forest.first_triangle[surface])
    distance, u, v, facing = _triangles(forest.triangles[triangle], origin[ray], direction[ray])
    wanted = facing | bool(prepared.elements.two_sided[element])
    valid = np.flatnonzero(wanted & (distance > rays.near[ray]) & (distance < rays.far[ray]))
    order = valid[np.lexsort((triangle[valid], distance[valid], ray[valid]))]
    which, first = np.unique(ray[order], return_index=True)
    chosen = order[first]
    hits.distance[which] = distance[chosen]
    hits.element[which] = element
    hits.triangle[which] = triangle[chosen]
    hits.u[which], hits.v[which] = u[chosen], v[chosen]
    return hits


def _leaves(
    drawing: Drawing, surface: int, origin: Array, direction: Array, rays: Rays
) -> tuple[Array, Array]:
    """Pairs of a ray and a leaf whose box it passes, level by level from the root."""
    forest = drawing.forest
    first, levels = int(forest.first_node[surface]), int(forest.levels[surface])
    ray, node = np.arange(len(origin)), np.zeros(len(origin), np.int64)
    with np.errstate(all="ignore"):
        slope = np.float32(1) / np.where(np.abs(direction) < 1e-30, np.float32(1e-30), direction)
        for level in range(levels + 1):
            box = forest.nodes[first + node]
            one, other = (box[:, :3] - origin[ray]) * slope[ray], (box[:, 3:] - origin[ray]) * slope[ray]
            enter = np.minimum(one, other).max(axis=1)
            leave = np.maximum(one, other).min(axis=1) * SLACK
            passes = (enter <= leave) & (leave > rays.near[ray]) & (enter < rays.far[ray])
            ray, node = ray[passes], node[passes]
            if level < levels:
                ray, node = np.repeat(ray, 2), (2 * node[:, None] + (1, 2)).reshape(-1)
    return ray, node - ((1 << levels) - 1)


SLACK = np.float32(1.00001)
"""Boxes are left a little later than computed: rounding must not open a gap between two of them."""

EDGE = np.float32(1e-6)
"""Triangles reach a little beyond their edges, so that no ray slips between two of them."""


def _triangles(triangles: Array, origin: Array, direction: Array) -> tuple[Array, Array, Array, Array]:
    """Distance, place and side of rays at one triangle each (Möller and Trumbore, 1997)."""
    corner, first, second = triangles[:, :3], triangles[:, 3:6], triangles[:, 6:]
    across = np.cross(direction, second)
    volume = np.einsum("ni,ni->n", first, across)
    with np.errstate(all="ignore"):
        scale = np.float32(1) / volume
        away = origin - corner
        u = np.einsum("ni,ni->n", away, across) * scale
        turned = np.cross(away, first)
        v = np.einsum("ni,ni->n", direction, turned) * scale
        distance = np.einsum("ni,ni->n", second, turned) * scale
        inside = (np.abs(volume) > 1e-30) & (u >= -EDGE) & (v >= -EDGE) & (u + v <= 1 + EDGE)
    return np.where(inside, distance, FAR), u, v, volume > 0

"""From a drawing to what rays need: elements relative to the camera, where on the picture each can be, and in order.

Positions relative to the camera are taken in double precision and then rounded, so that a robot a kilometre from the
origin looks like one at the origin. Elements of a world are sorted by their nearest distance: a ray that has hit
something nearer than all that is left is done. What is not finite, or behind the camera, is drawn nowhere.
"""

from __future__ import annotations

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.rendering.drawing import OPAQUE, Drawing, Elements, Kind

FAR = np.float32(1e30)
"""Larger than any distance."""

BELOW = np.float32(0.3)
"""Opacity of planes seen from below, in MuJoCo's pictures."""

_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


@attrs.define(eq=False)
class Prepared:
    """Elements in the order of their nearest distance, with what follows from the view. Single precision."""

    elements: Elements
    inverse: Array
    """(n, 3, 3): from the world's axes to the element's own, stretched ones."""
    offset: Array
    """(n, 3): from the camera to the element."""
    centre: Array
    """(n, 3): of a ball that holds it, from the camera."""
    radius: Array
    near: Array
    """No point of it is nearer to the camera's plane."""
    rect: Array
    """(n, 4) int32: first and one past last column, first and one past last row; empty if it is not in the
    picture."""
    transparent: Array
    """Of each element, whether what is behind it is seen."""
    clear_order: Array
    """Transparent elements by world and distance, the nearest first."""
    clear_first: Array
    """(nworld + 1)"""
    light_pos: Array
    """(nlight, 3) from the camera."""


def prepare(drawing: Drawing, height: int, width: int) -> Prepared:
    """All that follows from where elements and cameras are."""
    elements, views = drawing.elements, drawing.views
    world = elements.world
    surfaced = elements.kind == Kind.SURFACE
    with np.errstate(all="ignore"):
        offset = elements.pos - views.pos[world]
        middle, half = _extent(drawing, surfaced)
        centre = offset + np.einsum("nij,nj->ni", elements.mat, middle)
        endless = np.asarray(np.isinf(half).any(axis=1))
        radius = np.where(endless, FAR, np.linalg.norm(np.where(endless[:, None], 0, half), axis=1))
        nearest, rect = _place(drawing, world, centre, np.where(endless[:, None], 0, half), height, width)
        nearest = np.where(endless, 0.0, nearest)
        rect[endless] = (0, width, 0, height)
        inverse = np.swapaxes(elements.mat, 1, 2).astype(np.float32)
        inverse[surfaced] /= elements.size[surfaced, :, None].astype(np.float32)
        finite = (
            np.isfinite(centre).all(axis=1)
            & np.isfinite(inverse).all(axis=(1, 2))
            & ~np.isnan(half).any(axis=1)
        )
        rect[~finite | (elements.rgba[:, 3] <= 0)] = 0
        nearest = np.where(finite, nearest, np.inf)
    order = np.lexsort((nearest, world))
    chosen = elements.take(order)
    chosen.rgba = _seen_from_below(chosen, offset[order])
    transparent = chosen.rgba[:, 3] < OPAQUE
    clear = transparent
    distance = np.linalg.norm(np.where(finite[:, None], centre, 0), axis=1)[order]
    clear_order = np.lexsort((distance, world, ~clear))[
        : int(clear.sum())
    ]  # `world` is sorted: order keeps it
    lights = drawing.lights
    light_world = np.repeat(np.arange(drawing.nworld), np.diff(lights.first))
    return Prepared(
        chosen,
        inverse[order],
        offset[order].astype(np.float32),
        centre[order].astype(np.float32),
        radius[order].astype(np.float32),
        nearest[order].astype(np.float32),
        np.ascontiguousarray(rect[order]),
        clear,
        clear_order.astype(np.int32),
        np.searchsorted(world[clear_order], np.arange(drawing.nworld + 1)).astype(np.int32),
        (lights.pos - views.pos[light_world]).astype(np.float32),
    )


def _seen_from_below(elements: Elements, offset: Array) -> Array:
    """Colours; a plane that the camera is behind is nearly clear."""
    rgba = elements.rgba
    height = np.einsum("ni,ni->n", elements.mat[:, :, 2], offset)
    below = (elements.kind == Kind.PLANE) & (height > 0)
    if below.any():
        rgba = rgba.copy()
        rgba[below, 3] *= BELOW
    return rgba


def _extent(drawing: Drawing, surfaced: Array) -> tuple[Array, Array]:
    """Middle and half sides of a box in each element's own frame that holds it; planes may be endless."""
    elements = drawing.elements
    size, kind = elements.size, elements.kind
    half = np.array(size, float)
    middle = np.zeros_like(half)
    plane = kind == Kind.PLANE
    half[plane] = np.where(size[plane] > 0, size[plane], np.inf)
    half[plane, 2] = 0
    sphere = kind == Kind.SPHERE
    half[sphere] = size[sphere, :1]
    round_ = (kind == Kind.CAPSULE) | (kind == Kind.CYLINDER)
    half[round_, 1] = size[round_, 0]
    half[round_, 2] = size[round_, 2]
    half[kind == Kind.CAPSULE, 2] += size[kind == Kind.CAPSULE, 0]
    if surfaced.any():
        box = drawing.forest.box(elements.surface[surfaced]).astype(float)
        box = np.where(np.isfinite(box).all(axis=1, keepdims=True), box, 0.0)
        middle[surfaced] = (box[:, :3] + box[:, 3:]) / 2 * size[surfaced]
        half[surfaced] = np.abs((box[:, 3:] - box[:, :3]) / 2 * size[surfaced])
    return middle, half


def _place(
    drawing: Drawing, world: Array, centre: Array, half: Array, height: int, width: int
) -> tuple[Array, Array]:
    """Nearest distance and place on the picture of boxes, by their corners."""
    views = drawing.views
    axes = views.axes[world]
    seen_centre = np.einsum("nij,nj->ni", axes, centre)
    seen_sides = np.einsum("nij,njk->nik", axes, drawing.elements.mat) * half[:, None, :]
    corners = seen_centre[:, None, :] + np.einsum("ck,nik->nci", _CORNERS, seen_sides)
    depth = corners[:, :, 2]
    nearest, farthest = depth.min(axis=1), depth.max(axis=1)
    around = (nearest <= views.near[world]) & ~views.orthographic[world]
    divisor = np.where((views.orthographic[world] | around)[:, None], 1.0, depth)
    left, right, bottom, top = views.window[world].T[:, :, None]
    column = (corners[:, :, 0] / divisor - left) / (right - left) * width
    row = (top - corners[:, :, 1] / divisor) / (top - bottom) * height
    rect = np.stack(
        [
            np.clip(np.floor(column.min(axis=1) - 0.5), 0, width),
            np.clip(np.ceil(column.max(axis=1) + 0.5), 0, width),
            np.clip(np.floor(row.min(axis=1) - 0.5), 0, height),
            np.clip(np.ceil(row.max(axis=1) + 0.5), 0, height),
        ],
        axis=1,
    )
    rect[around] = (0, width, 0, height)
    rect[(farthest <= views.near[world]) | (nearest >= views.far[world])] = 0
    return nearest, np.nan_to_num(rect).astype(np.int32)

"""Whole pictures by the reference ray caster: colours, depth, segmentation.

One ray goes through the middle of every pixel. Where the colour of a pixel differs from a neighbour's, four more rays
take its place: edges are smooth, and the rest costs nothing.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.rendering.drawing import Drawing
from dovetail.rendering.hits_numpy import NOTHING, Hits, Rays, meet, nearest
from dovetail.rendering.prepare import Prepared, prepare
from dovetail.rendering.shading_numpy import Shader

EDGE = 12
"""Levels of 255 by which neighbours differ at an edge."""

SAMPLES = np.array([[-0.125, -0.375], [0.375, -0.125], [-0.375, 0.125], [0.125, 0.375]], np.float32)
"""Where four rays go through a pixel, from its middle: a square turned, so that no two share a row or column."""


def colours(drawing: Drawing, height: int, width: int) -> Array:
    """Pictures (nworld, height, width, 3) of bytes."""
    prepared = prepare(drawing, height, width)
    return np.stack([_coloured(drawing, prepared, w, height, width) for w in range(drawing.nworld)])


def hits(drawing: Drawing, height: int, width: int) -> tuple[Array, Array]:
    """Depth (nworld, height, width) along the line of sight, and number and type of the object that is seen (nworld,
    height, width, 2). Where nothing is, depth is the farthest that is drawn and both are -1."""
    prepared = prepare(drawing, height, width)
    depth = np.empty((drawing.nworld, height, width), np.float32)
    objects = np.full((drawing.nworld, height, width, 2), -1, np.int32)
    for world in range(drawing.nworld):
        found = _seen(drawing, prepared, world, height, width)
        depth[world] = found.distance.reshape(height, width)
        which = found.element.reshape(height, width)
        objects[world][which != NOTHING] = prepared.elements.object[which[which != NOTHING]]
    return depth, objects


def pixel_rays(drawing: Drawing, world: int, height: int, width: int, column: Array, row: Array) -> Rays:
    """Rays through places of the picture, in pixels from its upper left corner."""
    views = drawing.views
    left, right, bottom, top = views.window[world].astype(np.float32)
    x = left + column * ((right - left) / np.float32(width))
    y = top - row * ((top - bottom) / np.float32(height))
    axes = views.axes[world].astype(np.float32)
    across = x[:, None] * axes[0] + y[:, None] * axes[1]
    if views.orthographic[world]:
        origin, direction = across, np.broadcast_to(axes[2], across.shape)
    else:
        origin, direction = np.zeros_like(across), across + axes[2]
    near = np.full(len(column), views.near[world], np.float32)
    far = np.full(len(column), views.far[world], np.float32)
    return Rays(origin, direction, near, far, column, row)


def _middles(height: int, width: int) -> tuple[Array, Array]:
    row, column = np.divmod(np.arange(height * width), width)
    return column.astype(np.float32) + np.float32(0.5), row.astype(np.float32) + np.float32(0.5)


def _seen(drawing: Drawing, prepared: Prepared, world: int, height: int, width: int) -> Hits:
    """What the middle of every pixel shows, transparent or not; planes are seen from both sides."""
    rays = pixel_rays(drawing, world, height, width, *_middles(height, width))
    first = drawing.elements.first
    everything = np.arange(first[world], first[world + 1])
    shown = everything[prepared.elements.segmented[everything]]
    found = nearest(drawing, prepared, shown, rays, on_picture=True)
    for plane in shown[prepared.elements.kind[shown] == 0]:
        rays.far = found.distance
        behind = meet(drawing, prepared, plane, rays, leaving=True)
        better = behind.element != NOTHING
        found.put(np.flatnonzero(better), behind.take(better))
    return found


def _coloured(drawing: Drawing, prepared: Prepared, world: int, height: int, width: int) -> Array:
    left, right, _, _ = drawing.views.window[world]
    shader = Shader(drawing, prepared, world, (right - left) / width)
    column, row = _middles(height, width)
    with np.errstate(all="ignore"):
        rays = pixel_rays(drawing, world, height, width, column, row)
        picture = _bytes(shader.seen(rays)).reshape(height, width, 3)
        if drawing.samples > 1:
            edge = np.flatnonzero(_edges(picture).reshape(-1))
            total = np.zeros((len(edge), 3), np.float32)
            for x, y in SAMPLES:
                total += shader.seen(
                    pixel_rays(drawing, world, height, width, column[edge] + x, row[edge] + y)
                )
            picture.reshape(-1, 3)[edge] = _bytes(total * np.float32(0.25))
    return picture


def _bytes(colour: Array) -> Array:
    levels: Array = (colour * np.float32(255) + np.float32(0.5)).astype(np.uint8)
    return levels


def _edges(picture: Array) -> Array:
    """Pixels whose colour differs from that of a neighbour in the row or column."""
    levels = picture.astype(np.int16)
    edge = np.zeros(picture.shape[:2], bool)
    beside = np.abs(np.diff(levels, axis=1)).max(axis=2, initial=0) > EDGE
    below = np.abs(np.diff(levels, axis=0)).max(axis=2, initial=0) > EDGE
    edge[:, 1:] |= beside
    edge[:, :-1] |= beside
    edge[1:] |= below
    edge[:-1] |= below
    return edge

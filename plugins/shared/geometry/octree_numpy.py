"""The octree of signed distances that is compiled for a mesh: its value and gradient at points in the mesh's frame.

Inside a leaf the values at its eight corners are interpolated; corners and children are numbered x + 2y + 4z.
Outside the octree's box the distance to the box adds to the value just within it. The gradient inside is that of
the interpolation with respect to the leaf's own coordinates, which run from 0 to 1: its length is not one, as in
MuJoCo; outside it is a forward difference. Compare oct_distance and oct_gradient of engine_collision_sdf.c.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.contracts.sdf_shapes import forward_difference

INSET = 1e-6
"""How far inside the octree's box MuJoCo moves points that are outside [m]."""
CORNER = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], bool)
"""Which corners of a cell are on the upper side along each axis."""


def octree_distance(model: ModelLike, mesh: int, points: Array) -> Array:
    """Signed distance (n,) to the mesh."""
    moved, added = into_box(model, mesh, points)
    cell, share = leaf(model, mesh, moved)
    return interpolated(weights(share), model.oct_coeff[cell]) + added


def octree_gradient(model: ModelLike, mesh: int, points: Array) -> Array:
    """Gradient (n, 3) of the distance, in the coordinates of the leaf where the point is inside the box."""
    _, added = into_box(model, mesh, points)
    outside = added > 0
    result = np.empty_like(points)
    result[~outside] = inner_gradient(model, mesh, points[~outside])
    result[outside] = forward_difference(lambda p: octree_distance(model, mesh, p), points[outside])
    return result


def into_box(model: ModelLike, mesh: int, points: Array) -> tuple[Array, Array]:
    """Points moved just within the octree's box, and how far they were outside it."""
    root = int(model.mesh_octadr[mesh])
    offset = points - model.oct_aabb[root, :3]
    beyond = np.abs(offset) - model.oct_aabb[root, 3:]
    out = (beyond > 0).any(axis=1, keepdims=True) & (beyond >= 0)
    shift = np.where(offset > 0, beyond + INSET, -(beyond + INSET))
    return np.where(out, points - shift, points), np.sqrt(np.square(np.where(out, beyond, 0.0)).sum(axis=1))


def leaf(model: ModelLike, mesh: int, points: Array) -> tuple[Array, Array]:
    """The leaf (n,) that each point is in, and its coordinates (n, 3) there, from 0 to 1."""
    root = int(model.mesh_octadr[mesh])
    cell = np.full(len(points), root)
    while True:
        centre, half = model.oct_aabb[cell, :3], model.oct_aabb[cell, 3:]
        low, high = centre - half, centre + half
        share = (points - low) / (high - low)
        inner = np.flatnonzero((model.oct_child[cell] != -1).any(axis=1))
        if not len(inner):
            return cell, share
        octant = (share[inner] >= 0.5) @ (1, 2, 4)
        cell[inner] = root + model.oct_child[cell[inner], octant]


def weights(share: Array) -> Array:
    """Weight (n, 8, 3) of each corner along each axis."""
    return np.where(CORNER, share[:, None, :], 1.0 - share[:, None, :])


def interpolated(along: Array, corner: Array) -> Array:
    """Sum (n,) of the corners' values (n, 8), each times its weights along the axes; one corner after the other, as
    forward differences magnify any other rounding."""
    weight = along[:, :, 0] * along[:, :, 1] * along[:, :, 2]
    total = np.zeros(len(corner))
    for number in range(8):
        total += weight[:, number] * corner[:, number]
    return total


def inner_gradient(model: ModelLike, mesh: int, points: Array) -> Array:
    """Derivative (n, 3) of the interpolation with respect to the leaf's coordinates."""
    cell, share = leaf(model, mesh, points)
    along = weights(share)
    sign = np.where(CORNER, 1.0, -1.0)
    columns = []
    for axis in range(3):
        slope = along.copy()
        slope[:, :, axis] = sign[:, axis]
        columns.append(interpolated(slope, model.oct_coeff[cell]))
    return np.stack(columns, axis=1)

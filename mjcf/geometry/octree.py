"""The octree of a mesh that is a signed distance field: cells, refined where the surface is, and samples at corners.

The root is the mesh's bounding box, larger by a tenth. Cells that a face touches are divided down to level 6; then
leaves are divided until neighbours across a side differ by one level at most. Cells and corners are numbered
x + 2y + 4z. A corner that lies in the middle of a coarser neighbour's edge or side gets the mean of that
edge's ends or that side's corners, so that the interpolated distance is continuous; the others are sampled. Compare
mjCOctree.

Positions are whole numbers on the grid of the finest level, 64 cells along each axis.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from dovetail.plugins.shared.geometry.triangle_distance_numpy import DistanceSurface
from dovetail.plugins.shared.vectors_numpy import cross_rows, dot_rows

Array: TypeAlias = np.ndarray

DEEPEST = 6
"""Level of the smallest cells."""
FINE = 2**DEEPEST
"""Cells of the deepest level along each axis."""
MARGIN = 1.1
"""Size of the root relative to the mesh's bounding box."""
CORNER = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)])
"""Offsets of a cell's corners, and of its children."""


def octree_fields(vertex: Array, face: Array) -> dict[str, Array]:
    """oct_depth, oct_child, oct_aabb and oct_coeff of a mesh, in its frame."""
    lines = grid_lines(vertex)
    cells = OctreeCells()
    refine(cells, lines, vertex[face])
    balance(cells)
    low, high = cells.bounds(lines)
    return {
        "oct_depth": cells.level.astype(np.int32),
        "oct_child": cells.child.astype(np.int32),
        "oct_aabb": np.concatenate([(low + high) / 2, (high - low) / 2], axis=1),
        "oct_coeff": samples(cells, lines, DistanceSurface(vertex, face)),
    }


def grid_lines(vertex: Array) -> Array:
    """Coordinates (65, 3) of the finest grid, by halving the root's sides again and again."""
    low, high = vertex.min(axis=0), vertex.max(axis=0)
    centre, half = (low + high) / 2, (high - low) / 2
    lines = np.zeros((FINE + 1, 3))
    lines[0], lines[-1] = centre - MARGIN * half, centre + MARGIN * half
    step = FINE
    while step > 1:
        lines[step // 2 :: step] = (lines[:-1:step] + lines[step::step]) / 2
        step //= 2
    return lines


class OctreeCells:
    """Cells in the order of their numbers; a cell's children follow one another."""

    def __init__(self) -> None:
        self.level = np.zeros(1, np.int64)
        self.place = np.zeros((1, 3), np.int64)
        """Lowest corner on the finest grid."""
        self.child = np.full((1, 8), -1, np.int64)

    @property
    def width(self) -> Array:
        """Of each cell, on the finest grid."""
        return FINE >> self.level

    def bounds(self, lines: Array) -> tuple[Array, Array]:
        """Lowest and highest corners (n, 3)."""
        axes = np.arange(3)
        return lines[self.place, axes], lines[self.place + self.width[:, None], axes]

    def corners(self) -> Array:
        """All corners (n, 8, 3) on the finest grid."""
        return self.place[:, None] + CORNER * self.width[:, None, None]

    def divide(self, cells: Array) -> Array:
        """Give cells eight children each; returns their numbers (n, 8)."""
        numbers = len(self.level) + np.arange(8 * len(cells)).reshape(-1, 8)
        half = self.width[cells] // 2
        places = self.place[cells, None] + CORNER * half[:, None, None]
        self.child[cells] = numbers
        self.level = np.concatenate([self.level, np.repeat(self.level[cells] + 1, 8)])
        self.place = np.concatenate([self.place, places.reshape(-1, 3)])
        self.child = np.concatenate([self.child, np.full((8 * len(cells), 8), -1)])
        return numbers

    def leaves(self) -> Array:
        """Numbers of the cells without children."""
        return np.flatnonzero(self.child[:, 0] == -1)

    def leaf_map(self) -> Array:
        """The leaf (64, 64, 64) that each cell of the finest grid is in."""
        owner = np.zeros((FINE,) * 3, np.int64)
        leaves = self.leaves()
        for level in range(DEEPEST + 1):
            chosen = leaves[self.level[leaves] == level]
            inside = np.stack(np.meshgrid(*[np.arange(FINE >> level)] * 3, indexing="ij"), axis=-1)
            where = self.place[chosen, None] + inside.reshape(1, -1, 3)
            owner[where[..., 0], where[..., 1], where[..., 2]] = chosen[:, None]
        return owner

    def neighbours(self, leaves: Array) -> Array:
        """The leaf (n, 6) across the middle of each side, downwards and upwards along x, y and z; −1: none. Of
        several smaller ones that meet there, the lowest."""
        width = self.width[leaves][:, None]
        middle = np.repeat((self.place[leaves] + (width - 1) // 2)[:, None], 6, axis=1)
        for axis in range(3):
            middle[:, 2 * axis, axis] = self.place[leaves, axis] - 1
            middle[:, 2 * axis + 1, axis] = self.place[leaves, axis] + width[:, 0]
        exists = ((middle >= 0) & (middle < FINE)).all(axis=2)
        found = self.leaf_map()[tuple(np.clip(middle, 0, FINE - 1).transpose(2, 0, 1))]
        return np.where(exists, found, -1)


# ---- which cells ------------------------------------------------------------------------------------------


def refine(cells: OctreeCells, lines: Array, triangles: Array) -> None:
    """Divide every cell that touches a triangle, level by level; each tries only its parent's triangles."""
    cell, triangle = np.zeros(len(triangles), np.int64), np.arange(len(triangles))
    for level in range(DEEPEST + 1):
        low, high = cells.bounds(lines)
        touching = overlap(triangles[triangle], low[cell], high[cell])
        cell, triangle = cell[touching], triangle[touching]
        if level == DEEPEST or not len(cell):
            return
        parents = np.unique(cell)
        children = cells.divide(parents)[np.searchsorted(parents, cell)]
        cell, triangle = children.reshape(-1), np.repeat(triangle, 8)


def overlap(triangle: Array, low: Array, high: Array) -> Array:
    """Whether triangles (n, 3, 3) and boxes meet: in none of their projections may they be apart (Schwarz & Seidel,
    Fast parallel surface and solid voxelization on GPUs, 2010)."""
    above, below = (triangle >= low[:, None]).any(axis=1), (triangle <= high[:, None]).any(axis=1)
    meets: Array = np.asarray(np.logical_and(above, below).all(axis=1))
    index = np.flatnonzero(meets)
    triangle, low, size = triangle[index], low[index], (high - low)[index]
    edge = np.roll(triangle, -1, axis=1) - triangle
    normal = cross_rows(edge[:, 0], edge[:, 1])
    passes = _plane_cuts(triangle[:, 0], normal, low, size)
    for axis in range(3):
        passes &= _projections_meet(triangle, edge, normal, low, size, axis)
    meets[index] = passes
    return meets


def _plane_cuts(point: Array, normal: Array, low: Array, size: Array) -> Array:
    """Whether the corners of a box farthest along a plane's normal and against it are on both its sides."""
    ahead = np.where(normal > 0, size, 0.0)
    base = dot_rows(normal, low)
    before, behind = base + dot_rows(normal, ahead - point), base + dot_rows(normal, size - ahead - point)
    return ~(before * behind > 0)


def _projections_meet(
    triangle: Array, edge: Array, normal: Array, low: Array, size: Array, axis: int
) -> Array:
    """Whether triangle and box meet in the plane across an axis: no edge has the whole box outside."""
    b, c = (axis + 1) % 3, (axis + 2) % 3
    sign = np.where(normal[:, axis] >= 0, 1.0, -1.0)
    meet = np.ones(len(triangle), bool)
    for number in range(3):
        inward = -edge[:, number, c] * sign, edge[:, number, b] * sign
        start = inward[0] * triangle[:, number, b] + inward[1] * triangle[:, number, c]
        farthest = -start + np.maximum(0.0, size[:, b] * inward[0]) + np.maximum(0.0, size[:, c] * inward[1])
        meet &= ~(inward[0] * low[:, b] + inward[1] * low[:, c] + farthest < 0)
    return meet


def balance(cells: OctreeCells) -> None:
    """Divide leaves until none has a neighbour across a side that is two levels finer."""
    while True:
        leaves = cells.leaves()
        beside = cells.neighbours(leaves)
        level = cells.level[leaves][:, None]
        other = np.where(beside >= 0, cells.level[beside], level)
        coarse = np.stack(
            [np.where(other > level + 1, leaves[:, None], -1), np.where(level > other + 1, beside, -1)],
            axis=2,
        ).reshape(-1)
        coarse = coarse[coarse >= 0]
        if not len(coarse):
            return
        _, first = np.unique(coarse, return_index=True)
        cells.divide(coarse[np.sort(first)])


# ---- values at corners ------------------------------------------------------------------------------------


def samples(cells: OctreeCells, lines: Array, surface: DistanceSurface) -> Array:
    """Distance (n, 8) at the corners of each cell."""
    corner = key(cells.corners())
    keys = np.unique(corner)
    place = unkey(keys)
    hanging, supports, count = hanging_corners(cells)
    value = np.zeros(len(keys))
    free = ~np.isin(keys, hanging)
    value[free] = surface.distance(lines[place[free], np.arange(3)])
    rows = np.searchsorted(keys, hanging)
    # a corner in the middle of a side belongs to a finer grid than that side's corners, which are thus known
    for fineness in np.unique(_fineness(place[rows]))[::-1]:
        now = _fineness(place[rows]) == fineness
        ends = value[np.searchsorted(keys, supports[now])]
        ends[np.arange(4) >= count[now, None]] = 0.0
        value[rows[now]] = (ends[:, 0] + ends[:, 1] + ends[:, 2] + ends[:, 3]) / count[now]
    result: Array = value[np.searchsorted(keys, corner)]
    return result


def _fineness(place: Array) -> Array:
    """Width of the largest grid that points belong to."""
    joint = place[:, 0] | place[:, 1] | place[:, 2] | FINE
    return joint & -joint


def hanging_corners(cells: OctreeCells) -> tuple[Array, Array, Array]:
    """Corners inside a coarser neighbour's edge or side, the corners (n, 4) that decide their values, and how many
    of those there are; all as keys. Where several neighbours are coarser, the first counts."""
    leaves = cells.leaves()
    beside = cells.neighbours(leaves)
    coarser = (beside >= 0) & (cells.level[np.maximum(beside, 0)] < cells.level[leaves][:, None])
    row, direction = np.nonzero(coarser)
    leaf, other = leaves[row], beside[row, direction]
    point = _side_corners(cells, leaf, direction)
    low = cells.place[other][:, None]
    width = cells.width[other][:, None, None]
    on_low, on_high = point == low, point == low + width
    planes = (on_low | on_high).sum(axis=2)
    chosen = (planes == 1) | (planes == 2)
    keys = key(point[chosen])
    keys, first = np.unique(keys, return_index=True)
    ends, count = _supports(on_low[chosen][first], on_high[chosen][first])
    pair, _ = np.nonzero(chosen)
    base, size = cells.place[other[pair]][first], cells.width[other[pair]][first]
    return keys, key(base[:, None] + ends * size[:, None, None]), count


def _side_corners(cells: OctreeCells, leaf: Array, direction: Array) -> Array:
    """Corners (n, 4, 3) of the side of each leaf that looks in a direction."""
    axis, upper = np.divmod(direction, 2)
    rows = np.arange(len(leaf))[:, None]
    offset = np.zeros((len(leaf), 4, 3), np.int64)
    corner = np.arange(4)
    offset[rows, corner, axis[:, None]] = upper[:, None]
    offset[rows, corner, (axis[:, None] + 1) % 3] = corner & 1
    offset[rows, corner, (axis[:, None] + 2) % 3] = corner >> 1
    return cells.place[leaf][:, None] + offset * cells.width[leaf][:, None, None]


def _supports(on_low: Array, on_high: Array) -> tuple[Array, Array]:
    """Offsets (n, 4, 3) of the neighbour's corners that decide a hanging corner's value, and their number: the ends
    of its edge, or the corners of its side."""
    free = ~(on_low | on_high)
    bits = np.repeat(on_high[:, None].astype(np.int64), 4, axis=1)
    on_edge = free.sum(axis=1) == 1
    number = np.arange(4)
    for axis in range(3):
        before = free[:, (axis + 2) % 3]
        # across a side, the axis after the fixed one changes first
        second = ~on_edge & free[:, axis] & before
        bits[:, :, axis] = np.where(
            free[:, axis, None], np.where(second[:, None], number >> 1, number & 1), bits[:, :, axis]
        )
    return bits, np.where(on_edge, 2, 4)


def key(place: Array) -> Array:
    """Points of the finest grid as single numbers."""
    result: Array = (place[..., 0] * (FINE + 1) + place[..., 1]) * (FINE + 1) + place[..., 2]
    return result


def unkey(keys: Array) -> Array:
    """The points (n, 3) of keys."""
    rest, z = np.divmod(keys, FINE + 1)
    x, y = np.divmod(rest, FINE + 1)
    return np.stack([x, y, z], axis=1)

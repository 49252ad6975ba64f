"""A height field's grid as convex shapes: the solid under each cell is two prisms, triangles on top and a flat base
below.

Which cells a box is over, in the height field's frame, and the prisms of these cells, row by row along x. Compare
mjc_ConvexHField and mjc_HFieldElem in MuJoCo 3.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

from dovetail.plugins.shared.vectors_numpy import Vector

if TYPE_CHECKING:
    from dovetail.contracts.fields import Array
    from dovetail.contracts.types import Model


class HeightGrid(NamedTuple):
    """A height field's samples and extent."""

    heights: Array
    """Elevations between 0 and 1 (rows along y, columns along x)."""
    half_x: float
    half_y: float
    top: float
    """Height of elevation 1."""
    base: float
    """Thickness below 0."""


class CellRange(NamedTuple):
    """Which cells a shape is over: first and last grid line each way, and the shape's own box."""

    row_min: int
    row_max: int
    col_min: int
    col_max: int
    low: Vector
    high: Vector


def grid_of(model: Model, geom: int) -> HeightGrid:
    """The height field of a geom."""
    field = int(model.geom_dataid[geom])
    start, rows, columns = (
        int(array[field]) for array in (model.hfield_adr, model.hfield_nrow, model.hfield_ncol)
    )
    heights = model.hfield_data[start : start + rows * columns].reshape(rows, columns)
    return HeightGrid(heights, *model.hfield_size[field].tolist())


def outside(grid: HeightGrid, low: Vector, high: Vector, margin: float) -> bool:
    """Whether a box, grown by the margin, misses the height field's own box."""
    return (
        low[0] - margin > grid.half_x
        or high[0] + margin < -grid.half_x
        or low[1] - margin > grid.half_y
        or high[1] + margin < -grid.half_y
        or low[2] - margin > grid.top
        or high[2] + margin < -grid.base
    )


def _grid_lines(low: float, high: float, half: float, count: int) -> tuple[int, int]:
    """Grid lines that enclose an interval, within the grid."""
    first = floor((low + half) / (2.0 * half) * (count - 1))
    last = ceil((high + half) / (2.0 * half) * (count - 1))
    return max(0, first), min(count - 1, last)


def cells_of_box(grid: HeightGrid, low: Vector, high: Vector, margin: float) -> CellRange | None:
    """The cells that a box is over; None if it misses the height field by more than the margin."""
    if outside(grid, low, high, margin):
        return None
    rows, columns = grid.heights.shape
    return CellRange(
        *_grid_lines(low[1], high[1], grid.half_y, rows),
        *_grid_lines(low[0], high[0], grid.half_x, columns),
        low=low,
        high=high,
    )


def prisms(grid: HeightGrid, cells: CellRange, margin: float) -> Iterator[list[Vector]]:
    """Corners of the prisms, three below and three above: strips of triangles along x between two grid rows."""
    rows, columns = grid.heights.shape
    dx, dy = 2.0 * grid.half_x / (columns - 1), 2.0 * grid.half_y / (rows - 1)
    for row in range(cells.row_min, cells.row_max):
        strip: list[Vector] = []
        for column in range(cells.col_min, cells.col_max + 1):
            for r in (row + 1, row):
                height = float(grid.heights[r, column]) * grid.top + margin
                strip.append((dx * column - grid.half_x, dy * r - grid.half_y, height))
                tops = strip[-3:]
                if len(tops) == 3 and not max(top[2] for top in tops) < cells.low[2]:
                    yield [(x, y, -grid.base) for x, y, _ in tops] + tops


def in_reach(corners: list[Vector], center: Vector, reach: float) -> bool:
    """Whether the bounding box of a prism comes within `reach` of a point."""
    square = 0.0
    for i in range(3):
        values = [corner[i] for corner in corners]
        gap = max(min(values) - center[i], center[i] - max(values), 0.0)
        square += gap * gap
    return not square > reach * reach  # a size that is NaN is near everything

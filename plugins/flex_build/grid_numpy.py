"""Flexcomp types grid, circle, square and disc: regular rows of points, centred on the origin.

Points are numbered with z running fastest. A cell of a flat grid is two triangles, a cell of a solid one six
tetrahedra around one diagonal. See `mjCFlexcomp::MakeGrid` and `MakeSquare`.
"""

from __future__ import annotations

import math

import numpy as np

from dovetail.contracts.flexcomp import FlexRecipe, FlexShape, Reals
from dovetail.plugins.shared.constants import EPS

_SQUARE_CORNERS = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
"""Steps in x and y from a cell's first point to its corners, anticlockwise."""
_TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]])
_OTHER_TRIANGLES = np.array([[0, 1, 3], [1, 2, 3]])
"""A square cell cut along its other diagonal, so that the cuts of a disc run radially."""
_CUBE_CORNERS = np.array([[x, y, z] for z in (0, 1) for x, y in _SQUARE_CORNERS.tolist()])
_TETRAHEDRA = np.array([[0, 3, 1, 7], [0, 1, 4, 7], [1, 3, 2, 7], [1, 2, 6, 7], [1, 5, 4, 7], [1, 6, 5, 7]])
"""Corners of a cube's tetrahedra, all of which share the diagonal from corner 1 to corner 7 or an edge of 7."""


def grid(recipe: FlexRecipe) -> FlexShape:
    """A line, circle, sheet or block of points."""
    shape = {1: _line, 2: _sheet, 3: _block}[recipe.dim](recipe)
    if not len(shape.element):
        raise ValueError(f"no elements come out of count {_listed(recipe.count)}; raise the count")
    return shape


def square(recipe: FlexRecipe) -> FlexShape:
    """A sheet, for a disc pulled towards the circle in it; always two-dimensional."""
    shape = _sheet(recipe)
    if not len(shape.element):
        raise ValueError(f"no elements come out of count {_listed(recipe.count)}; raise the count")
    if recipe.type == "disc":
        size = [0.5 * recipe.spacing[axis] * (recipe.count[axis] - 1) for axis in (0, 1)]
        shape.point[:, :2] = pulled_to_circle(shape.point[:, :2]) * size
    return shape


def _listed(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))


def pulled_to_circle(flat: Reals) -> Reals:
    """Points of squares around the origin, moved radially onto the circles of the same half-width."""
    reach = np.abs(flat).max(axis=1)
    length = np.sqrt(flat[:, 0] ** 2 + flat[:, 1] ** 2)
    # a vector without length becomes the first axis, as mjuu_normvec has it; its reach is zero anyway
    direction = np.divide(
        flat, length[:, None], out=np.tile([1.0, 0.0], (len(flat), 1)), where=length[:, None] > EPS
    )
    return direction * reach[:, None]


def centred(count: int, spacing: float) -> Reals:
    """Coordinates of `count` points around zero."""
    return spacing * (np.arange(count) - 0.5 * (count - 1))


def fractions(count: int) -> Reals:
    """Texture coordinates of `count` points, from 0 to 1."""
    return np.arange(count) / max(count - 1, 1)


def _line(recipe: FlexRecipe) -> FlexShape:
    count, step = recipe.count[0], recipe.spacing[0]
    if recipe.type == "circle":
        return _circle(count - 1, step)
    point = np.zeros((count, 3))
    point[:, 0] = centred(count, step)
    start = np.arange(count - 1)
    return FlexShape(dim=1, point=point, element=np.stack([start, start + 1], axis=1).reshape(-1))


def _circle(count: int, step: float) -> FlexShape:
    """A closed chain with links of length `step`."""
    if count < 1:
        return FlexShape(dim=1, point=np.zeros((0, 3)), element=np.zeros(0, np.int64))
    angle = 2 * math.pi / count
    radius = step / math.sin(angle / 2) / 2
    turn = angle * np.arange(count)
    point = np.stack([radius * np.cos(turn), radius * np.sin(turn), np.zeros(count)], axis=1)
    start = np.arange(count)
    return FlexShape(dim=1, point=point, element=np.stack([start, (start + 1) % count], axis=1).reshape(-1))


def _sheet(recipe: FlexRecipe) -> FlexShape:
    (nx, ny, nz), spacing = recipe.count, recipe.spacing
    x, y = (
        axis.reshape(-1)
        for axis in np.meshgrid(centred(nx, spacing[0]), centred(ny, spacing[1]), indexing="ij")
    )
    ix, iy = (axis.reshape(-1) for axis in np.meshgrid(np.arange(nx - 1), np.arange(ny - 1), indexing="ij"))
    # a flat grid that asks for more than one point along z counts as if they were there
    corner = nz * (ny * (ix[:, None] + _SQUARE_CORNERS[:, 0]) + iy[:, None] + _SQUARE_CORNERS[:, 1])
    cut = _TRIANGLES[None]
    if recipe.type == "disc":
        first = ix * ny + iy
        left, right, below, above = x[first] < -EPS, x[first] > -EPS, y[first] < -EPS, y[first] > -EPS
        turned = (left & above) | (right & below)
        cut = np.where(turned[:, None, None], _OTHER_TRIANGLES, _TRIANGLES)
    element = np.take_along_axis(corner, np.broadcast_to(cut.reshape(len(cut), 6), (len(corner), 6)), axis=1)
    return FlexShape(
        dim=2,
        point=np.stack([x, y, np.zeros_like(x)], axis=1),
        element=element.reshape(-1),
        texcoord=_texture(recipe, nx, ny, 1),
    )


def _block(recipe: FlexRecipe) -> FlexShape:
    (nx, ny, nz), spacing = recipe.count, recipe.spacing
    axes = [centred(n, step) for n, step in zip(recipe.count, spacing, strict=True)]
    point = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    steps = [np.arange(n - 1) for n in recipe.count]
    cell = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    corner = (cell + _CUBE_CORNERS) @ [ny * nz, nz, 1]
    return FlexShape(
        dim=3,
        point=point,
        element=corner[:, _TETRAHEDRA].reshape(-1).astype(np.int64),
        texcoord=_texture(recipe, nx, ny, nz),
    )


def _texture(recipe: FlexRecipe, nx: int, ny: int, nz: int) -> Reals:
    """The texture laid over x and y, the same for all points above one another."""
    if not recipe.textured:
        return np.zeros((0, 2))
    flat = np.stack(np.meshgrid(fractions(nx), fractions(ny), indexing="ij"), axis=-1).reshape(-1, 2)
    return np.repeat(flat, nz, axis=0)

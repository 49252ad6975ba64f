"""Flexcomp types box, cylinder and ellipsoid: points on the surface of a box, pulled to the shape.

A solid has one more point, number 0, in the centre, and every surface triangle makes a tetrahedron with it. A
surface (dim 2) is open at the top, as in MuJoCo 3.4. Points are listed by sides: the z sides whole, then of the
y sides what is not on a z side, then of the x sides what is on neither. See `mjCFlexcomp::MakeBox` and
`BoxProject`.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.flexcomp import FlexRecipe, FlexShape, Ints, Reals
from dovetail.plugins.flex_build.grid_numpy import fractions, pulled_to_circle
from dovetail.plugins.shared.constants import EPS

_X, _Y, _Z = 0, 1, 2
_SIDES = ((_Z, _X, _Y), (_Y, _X, _Z), (_X, _Y, _Z))
"""For each pair of opposite sides: the axis across, and the two axes along, slower one first."""
_NEAR, _ONE, _OTHER, _FAR = (0, 0), (1, 0), (0, 1), (1, 1)
"""Corners of a square cell: steps along the slower and the faster axis."""


def box(recipe: FlexRecipe) -> FlexShape:
    """Surface points, with or without a centre, and their elements."""
    if min(recipe.count) < 2:
        raise ValueError("a box needs at least two points along each axis; raise the count")
    solid, top_open = recipe.dim == 3, recipe.dim == 2
    steps, along = _points(recipe.count, top_open)
    number = np.full(recipe.count, -1)
    number[tuple(steps.T)] = np.arange(len(steps)) + solid
    triangles = np.vstack(
        [
            number[tuple(_cells(recipe.count, side, level, solid).T)].T
            for side in _SIDES
            for level in _levels(recipe.count, side[0], top_open)
        ]
    ).reshape(-1, 3)
    point = _pulled(recipe, steps)
    if solid:
        point = np.vstack([np.zeros((1, 3)), point])
        triangles = np.hstack([np.zeros((len(triangles), 1), triangles.dtype), triangles])
    return FlexShape(
        dim=recipe.dim, point=point, element=triangles.reshape(-1), texcoord=_texture(recipe, steps, along)
    )


def _levels(count: tuple[int, int, int], across: int, top_open: bool) -> tuple[int, ...]:
    """Where the sides across an axis are."""
    return (0,) if across == _Z and top_open else (0, count[across] - 1)


def _places(count: tuple[int, int, int], side: tuple[int, int, int], level: int, short: int) -> Ints:
    """Grid coordinates (n, 3) of a side's points, or of its cells' first corners with `short` 1."""
    _, first, second = side
    a, b = np.meshgrid(np.arange(count[first] - short), np.arange(count[second] - short), indexing="ij")
    place = np.full((a.size, 3), level)
    place[:, first], place[:, second] = a.reshape(-1), b.reshape(-1)
    return place


def _points(count: tuple[int, int, int], top_open: bool) -> tuple[Ints, Ints]:
    """Grid coordinates (n, 3) of the surface points in order, and the two axes along each point's side."""
    found, along = [], []
    taken: list[int] = []
    for side in _SIDES:
        for level in _levels(count, side[0], top_open):
            place = _places(count, side, level, 0)
            new = np.ones(len(place), bool)
            for axis in taken:
                new &= ~np.isin(place[:, axis], _levels(count, axis, top_open))
            found.append(place[new])
            along.append(np.tile(np.array(side[1:]), (int(np.count_nonzero(new)), 1)))
        taken.append(side[0])
    return np.vstack(found), np.vstack(along)


def _cells(count: tuple[int, int, int], side: tuple[int, int, int], level: int, solid: bool) -> Ints:
    """Grid coordinates (cells, 6, 3) of the corners of two triangles per cell."""
    first = _places(count, side, level, 1)
    corner = np.zeros((6, 3), np.int64)
    corner[:, side[1:]] = _corners(side[0], level, solid)
    return first[:, None] + corner


def _corners(across: int, level: int, solid: bool) -> list[tuple[int, int]]:
    """Corners of a cell's two triangles.

    Solids leave the order to the orientation of tetrahedra; surfaces turn each triangle outwards.
    """
    if solid:
        return [_NEAR, _ONE, _FAR, _NEAR, _OTHER, _FAR]
    if across == _Z and level == 0:
        return [_NEAR, _FAR, _ONE, _NEAR, _OTHER, _FAR]
    turned = across != _Z and (level == 0) == (across == _X)
    return [_ONE, _NEAR, _OTHER, _ONE, _OTHER, _FAR] if turned else [_NEAR, _ONE, _FAR, _NEAR, _FAR, _OTHER]


def _pulled(recipe: FlexRecipe, steps: Ints) -> Reals:
    """Where surface points lie, m."""
    last = np.array(recipe.count) - 1
    unit = 2.0 * steps / last - 1
    size = 0.5 * np.array(recipe.spacing) * last
    if recipe.type == "cylinder":
        unit[:, :2] = pulled_to_circle(unit[:, :2])
    elif recipe.type == "ellipsoid":
        length = np.sqrt(np.sum(unit**2, axis=1, keepdims=True))
        unit = unit / np.maximum(length, EPS)
    return unit * size


def _texture(recipe: FlexRecipe, steps: Ints, along: Ints) -> Reals:
    """The texture laid over every side, with an entry for the centre, even if the shape has none."""
    if not recipe.textured:
        return np.zeros((0, 2))
    scale = [fractions(n) for n in recipe.count]
    whole = np.stack([scale[axis][steps[:, axis]] for axis in range(3)], axis=1)
    return np.vstack([np.zeros((1, 2)), np.take_along_axis(whole, along, axis=1)])

"""Flexcomp types box, cylinder and ellipsoid: points on the surface of a box, pulled to the shape.

A solid has one more point, number 0, in the centre, and every surface triangle makes a tetrahedron with it; a
hollow shape has the triangles alone. Points are listed by sides: both z sides whole, then of the y sides what
is not on a z side, then of the x sides what is on neither. See `mjCFlexcomp::MakeBox` and `BoxProject`.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from dovetail.contracts.flexcomp import FlexRecipe, FlexShape, Ints, Reals

from .grid_numpy import EPS, fractions, pulled_to_circle

_X, _Y, _Z = 0, 1, 2
_SIDES = ((_Z, _X, _Y), (_Y, _X, _Z), (_X, _Y, _Z))
"""For each pair of opposite sides: the axis across, and the two axes along, slower one first."""


def box(recipe: FlexRecipe) -> FlexShape:
    """Surface points, with or without a centre, and their elements."""
    if min(recipe.count) < 2:
        raise ValueError("a box needs at least two points along each axis; raise the count")
    steps, along = _surface(recipe.count)
    solid = recipe.dim == 3
    number = np.full(recipe.count, -1)
    number[tuple(steps.T)] = np.arange(len(steps)) + solid
    point = _pulled(recipe, steps)
    texcoord = _texture(recipe, steps, along)
    if solid:
        point = np.vstack([np.zeros((1, 3)), point])
    triangles = np.array(
        [
            number[tuple(corner)]
            for across, first, second in _SIDES
            for level in (0, recipe.count[across] - 1)
            for cell in product(range(recipe.count[first] - 1), range(recipe.count[second] - 1))
            for corner in _corners((across, first, second), level, cell, solid)
        ]
    ).reshape(-1, 3)
    if solid:
        triangles = np.hstack([np.zeros((len(triangles), 1), triangles.dtype), triangles])
    return FlexShape(dim=recipe.dim, point=point, element=triangles.reshape(-1), texcoord=texcoord)


def _surface(count: tuple[int, int, int]) -> tuple[Ints, Ints]:
    """Grid coordinates (n, 3) of the surface points in order, and the two axes along each point's side."""
    steps: list[tuple[int, int, int]] = []
    along: list[tuple[int, int]] = []
    taken: set[int] = set()
    for across, first, second in _SIDES:
        for level in (0, count[across] - 1):
            for a, b in product(range(count[first]), range(count[second])):
                place = [0, 0, 0]
                place[across], place[first], place[second] = level, a, b
                if not any(place[axis] in (0, count[axis] - 1) for axis in taken):
                    steps.append((place[0], place[1], place[2]))
                    along.append((first, second))
        taken.add(across)
    return np.array(steps), np.array(along)


def _corners(
    axes: tuple[int, int, int], level: int, cell: tuple[int, int], solid: bool
) -> list[tuple[int, int, int]]:
    """Grid coordinates of the corners of a cell's two triangles.

    Solids leave the order to the orientation of tetrahedra; hollow shapes turn each triangle outwards.
    """
    across, first, second = axes

    def place(a: int, b: int) -> tuple[int, int, int]:
        where = [0, 0, 0]
        where[across], where[first], where[second] = level, cell[0] + a, cell[1] + b
        return where[0], where[1], where[2]

    near, far, one, other = place(0, 0), place(1, 1), place(1, 0), place(0, 1)
    if solid:
        return [near, one, far, near, other, far]
    if across == _Z:
        return [near, far, one, near, other, far] if level == 0 else [near, one, far, near, far, other]
    turned = (level == 0) == (across == _X)
    return [one, near, other, one, other, far] if turned else [near, one, far, near, far, other]


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
    """The texture laid over every side, with an entry for the centre that a hollow shape does not have."""
    if not recipe.textured:
        return np.zeros((0, 2))
    scale = [fractions(n) for n in recipe.count]
    rows = [
        [scale[a][step[a]], scale[b][step[b]]] for step, (a, b) in zip(steps.tolist(), along.tolist(), strict=True)
    ]
    return np.array([[0.0, 0.0], *rows])

"""Primitive shapes in the world and their contacts.

A collision function works on two shapes, not on a model, so that distance queries, height fields and flexes can
call it too. Its name ends in `_shapes`; without the ending it is the row of the table `collide_pair`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np

from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.contracts.types import Data, Model
from dovetail.plugins.shared.vectors_numpy import Matrix, Vector


class Primitive(NamedTuple):
    """A plane, sphere, capsule, ellipsoid, cylinder or box in the world."""

    pos: Vector
    mat: Matrix
    """Rotation to the world."""
    size: Vector
    """geom_size: what it means depends on the type."""


class PairContact(NamedTuple):
    """One contact, as in PairContacts."""

    dist: float
    pos: Vector
    normal: Vector


CollideShapes: TypeAlias = Callable[[Primitive, Primitive, float], PairContacts]
CollideGeoms: TypeAlias = Callable[[Model, Data, int, int, float], PairContacts]


def primitive_of(model: Model, data: Data, geom: int) -> Primitive:
    """The shape of a geom where it is now."""
    x, y, z = data.geom_xpos[geom].tolist()
    a, b, c = model.geom_size[geom].tolist()
    return Primitive((x, y, z), data.geom_xmat[geom].tolist(), (a, b, c))


def of_geoms(collide: CollideShapes) -> CollideGeoms:
    """The row of the table `collide_pair` that applies a function of shapes to geoms."""

    def collide_pair(model: Model, data: Data, geom1: int, geom2: int, margin: float) -> PairContacts:
        return collide(primitive_of(model, data, geom1), primitive_of(model, data, geom2), margin)

    collide_pair.__doc__ = collide.__doc__
    return collide_pair


def gather(contacts: Iterable[PairContact]) -> PairContacts:
    """Single contacts as arrays."""
    columns = tuple(zip(*contacts, strict=True))
    return PairContacts.of(*columns) if columns else NO_CONTACTS


def z_axis(shape: Primitive) -> Vector:
    """The third axis: a plane's normal, the axis of a capsule or cylinder."""
    mat = shape.mat
    return mat[2], mat[5], mat[8]


def clip(x: float, limit: float) -> float:
    """`x` within ±limit."""
    return min(max(x, -limit), limit)


BOX_CORNERS = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], float)
"""Corners of a box as signs of its axes, x changing first."""

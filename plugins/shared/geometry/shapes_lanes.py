"""Primitive shapes in the world, in lanes: what the collision functions of this folder share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.contacts.contacts_lanes import LaneContact
from dovetail.plugins.shared.vectors_lanes import Vector


class Primitive(NamedTuple):
    """A plane, sphere, capsule, ellipsoid, cylinder or box in the world."""

    pos: Vector
    mat: Vector
    """(3, 3) rotation to the world."""
    size: Vector
    """geom_size, the same in all worlds: what it means depends on the type."""

    @property
    def axis(self) -> Vector:
        """The third axis: a plane's normal, the axis of a capsule or cylinder."""
        return self.mat[:, 2]


CollideShapes = Callable[[Kernel, Primitive, Primitive, Any], Sequence[LaneContact]]
CollideGeoms = Callable[[Kernel, Any, Any, Any], Sequence[LaneContact]]


def primitive_of(k: Kernel, geom: Any) -> Primitive:
    """The shape of a geom where it is now."""
    return Primitive(k.data.geom_xpos[geom], k.data.geom_xmat[geom].reshape(3, 3), k.model.geom_size[geom])


def of_geoms(collide: CollideShapes) -> CollideGeoms:
    """The row of the table `collide_pair` that applies a function of shapes to geoms."""

    def collide_pair(k: Kernel, geom1: Any, geom2: Any, margin: Any) -> Sequence[LaneContact]:
        return collide(k, primitive_of(k, geom1), primitive_of(k, geom2), margin)

    collide_pair.__doc__ = collide.__doc__
    return collide_pair


def clip(k: Kernel, x: Any, limit: Any) -> Any:
    """x within ±limit."""
    return k.clip(x, -limit, limit)


def sign(k: Kernel, x: Any) -> Any:
    """1 where x is positive, else -1."""
    return k.select(x > 0.0, 1.0, -1.0)

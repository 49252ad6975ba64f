"""An element of a flex as a convex shape: the hull of its corners, swollen by the flex's radius and half the margin.

All the convex algorithms ask of it is the farthest point in a direction. They start from the middle of the element's
box. World frame. Compare mjc_flexSupport and mjc_center in MuJoCo 3.4.
"""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.flex.elements_numpy import corner_places
from dovetail.plugins.shared.geometry.support_numpy import IDENTITY, NO_VERTEX, ConvexShape, point_support
from dovetail.plugins.shared.vectors_numpy import Vector

ELEMENT = -1
"""Not a type of geom: no polyhedron with numbered vertices, nor a round shape."""


class Element(ConvexShape):
    """The swollen hull of a few points; its position is the middle of the element's box."""

    __slots__ = ("corners", "swelling")

    def __init__(self, middle: Vector, corners: list[Vector], swelling: float) -> None:
        super().__init__(ELEMENT, middle, IDENTITY, point_support, 0.0)
        self.corners = corners
        self.swelling = swelling

    def farthest(self, direction: Vector) -> tuple[Vector, int]:
        """The first of the farthest corners, moved out; corners have no numbers."""
        dx, dy, dz = direction
        corners = self.corners
        best = corners[0]
        most = best[0] * dx + best[1] * dy + best[2] * dz
        for corner in corners[1:]:
            reach = corner[0] * dx + corner[1] * dy + corner[2] * dz
            if reach > most:
                best, most = corner, reach
        s = self.swelling
        return (best[0] + s * dx, best[1] + s * dy, best[2] + s * dz), NO_VERTEX


def element_shapes(
    model: ModelLike, data: DataLike, flex: Array, elem: Array, margin: Array
) -> list[Element]:
    """Elements of flexes of one dimension, each with the margin of its pair."""
    corners = corner_places(model, data, flex, elem).tolist()
    middles = data.flexelem_aabb[model.flex_elemadr[flex] + elem, :3].tolist()
    swellings = (model.flex_radius[flex] + 0.5 * margin).tolist()
    return [Element(*parts) for parts in zip(middles, corners, swellings, strict=True)]

"""Names of the shapes that flexes collide as: keys of `collide_flex` are made of them."""

from __future__ import annotations

VERTEX = "vertex"

ELEMENTS = ("segment", "triangle", "tetrahedron")
"""Shapes of elements, by dimension less one."""


def shapes_key(first: str, second: str) -> str:
    """The key of two flex shapes: the one of lower dimension first, whichever side it is."""
    order = (VERTEX, *ELEMENTS)
    return "-".join(sorted((first, second), key=order.index))

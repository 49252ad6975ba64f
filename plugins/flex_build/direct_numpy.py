"""Flexcomp type direct: nothing is generated; the points and elements are those written in the model file."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.flexcomp import FlexRecipe, FlexShape


def direct(recipe: FlexRecipe) -> FlexShape:
    """No points and no elements."""
    return FlexShape(dim=recipe.dim, point=np.zeros((0, 3)), element=np.zeros(0, np.int64))

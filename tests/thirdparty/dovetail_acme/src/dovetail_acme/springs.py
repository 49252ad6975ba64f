"""A flex in the shape of a spring."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.flexcomp import FlexRecipe, FlexShape

TURN = 8
"""Points to a turn."""


def spiral(recipe: FlexRecipe) -> FlexShape:
    """`count[0]` points on a helix: radius `spacing[0]`, rising by `spacing[2]` from point to point."""
    count = recipe.count[0]
    if count < 2:
        raise ValueError("a spiral needs at least two points")
    number = np.arange(count)
    angle = 2 * np.pi * number / TURN
    radius, _, rise = recipe.spacing
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), rise * number], axis=1)
    chain = np.stack([number[:-1], number[1:]], axis=1)
    return FlexShape(dim=1, point=points, element=chain.ravel())

"""Colours of islands: bodies that constraints tie together look alike, what nothing ties is grey."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.fields import Array

FREE = np.array([0.7, 0.7, 0.7, 1.0], np.float32)
"""What belongs to no island (MuJoCo 3.4.0, as all numbers here)."""


def radical_inverse(index: int, base: int) -> float:
    """A number between 0 and 1 from a whole number: its digits in a base, mirrored at the point. Neighbours lie far
    apart."""
    value, share = 0.0, 1.0 / base
    while index > 0:
        index, digit = divmod(index, base)
        value += digit * share
        share /= base
    return value


def island_colour(dof: int) -> Array:
    """The colour of an island by its first dof, so that it keeps its colour while others come and go."""
    number = dof + 1
    hue, pale, bright = (radical_inverse(number, base) for base in (7, 3, 5))
    return np.array([*_from_hsv(hue, 0.5 + 0.5 * pale, 0.6 + 0.4 * bright), 1.0], np.float32)


def _from_hsv(hue: float, saturation: float, value: float) -> Array:
    """Red, green, blue of a hue, a saturation and a value, all between 0 and 1."""
    distance = (np.array([5.0, 3.0, 1.0]) + hue * 6) % 6
    return value - value * saturation * np.clip(np.minimum(distance, 4 - distance), 0, 1)


def island_dofs(data: Any) -> Array:
    """The first dof of each island."""
    count = int(data.nisland)
    return np.asarray(data.map_idof2dof)[np.asarray(data.island_idofadr)[:count]]


def row_colour(data: Any, row: int) -> Array:
    """The colour of the island that a constraint row belongs to; -1: no row."""
    island = int(data.efc_island[row]) if row >= 0 and int(data.nisland) else -1
    return FREE if island < 0 else island_colour(int(island_dofs(data)[island]))


def tendon_colour(data: Any, tendon: int) -> Array:
    """The colour of the island that a tendon's constraint belongs to."""
    return row_colour(data, int(data.tendon_efcadr[tendon]) if int(data.nefc) else -1)


def body_dof(model: Any, body: int) -> int:
    """A dof that moves a body: the last one of the body it is welded to; -1: none."""
    welded = int(model.body_weldid[body])
    return int(model.body_dofadr[welded]) if model.body_dofnum[welded] else -1


def body_island(model: Any, data: Any, body: int) -> int:
    """The island of a body; -1: none."""
    dof = body_dof(model, body)
    return -1 if dof < 0 or not int(data.nisland) else int(data.dof_island[dof])


def body_colours(model: Any, data: Any) -> Array:
    """Colours of all bodies by their islands."""
    colours = np.tile(FREE, (model.nbody, 1))
    if int(data.nisland):
        by_island = [island_colour(int(dof)) for dof in island_dofs(data)]
        for body in range(1, model.nbody):
            island = body_island(model, data, body)
            if island >= 0:
                colours[body] = by_island[island]
    return colours

"""Colours of islands: bodies that constraints tie together look alike, what nothing ties is grey."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import EnableBit
from dovetail.contracts.fields import Array

FREE = np.array([0.7, 0.7, 0.7, 1.0], np.float32)
"""What belongs to no island (MuJoCo 3.4.0, as all numbers here)."""
ASLEEP_SATURATION, ASLEEP_VALUE = 0.7, 0.6
"""How saturated and bright what sleeps is, relative to what is awake."""


def radical_inverse(index: int, base: int) -> float:
    """A number between 0 and 1 from a whole number: its digits in a base, mirrored at the point. Neighbours lie far
    apart."""
    value, share = 0.0, 1.0 / base
    while index > 0:
        index, digit = divmod(index, base)
        value += digit * share
        share /= base
    return value


def island_colour(dof: int, *, asleep: bool = False) -> Array:
    """The colour of an island by its first dof, so that it keeps its colour while others come and go; duller and
    darker if it sleeps."""
    number = dof + 1
    hue, pale, bright = (radical_inverse(number, base) for base in (7, 3, 5))
    dull, dark = (ASLEEP_SATURATION, ASLEEP_VALUE) if asleep else (1.0, 1.0)
    return np.array(
        [*_from_hsv(hue, dull * (0.5 + 0.5 * pale), dark * (0.6 + 0.4 * bright)), 1.0], np.float32
    )


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
    """Colours of all bodies by their islands. Where bodies may sleep, every tree has a colour: of the trees that fell
    asleep together that of the first, and one that nothing ties has its own."""
    colours = np.tile(FREE, (model.nbody, 1))
    first = island_dofs(data) if int(data.nisland) else np.zeros(0, int)
    for body in range(1, model.nbody):
        island, dof = body_island(model, data, body), body_dof(model, body)
        if island >= 0:
            colours[body] = island_colour(int(first[island]))
        elif dof >= 0 and int(model.opt.enableflags) & EnableBit.SLEEP:
            colours[body] = tree_colour(model, data, int(model.dof_treeid[dof]))
    return colours


def tree_colour(model: Any, data: Any, tree: int) -> Array:
    """The colour of a tree in no island, asleep or awake."""
    if int(data.tree_asleep[tree]) < 0:
        return island_colour(int(model.tree_dofadr[tree]))
    members, following = {tree}, int(data.tree_asleep[tree])
    while following not in members:  # those that sleep together point to each other in a circle
        members.add(following)
        following = int(data.tree_asleep[following])
    return island_colour(int(model.tree_dofadr[min(members)]), asleep=True)

"""Solver parameters of a contact as the mean of its two geoms', weighted by their solmix (mj_contactParam).

A weight below MINVAL gives the other geom all; two such weights count the same. Direct solrefs (stiffness and
damping, first entry not positive) are not averaged: of each entry the smaller is taken.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.ordered_numpy import lesser


def mix_solver(solmix: Array, solref: Array, solimp: Array) -> tuple[Array, Array]:
    """solref (n, 2) and solimp (n, 5) from the values of both geoms, the second axis the geom."""
    weight = first_weight(solmix)[:, None]
    mean = weight * solref[:, 0] + (1 - weight) * solref[:, 1]
    standard = np.all(solref[:, :, 0] > 0, axis=1)[:, None]
    mixed = weight * solimp[:, 0] + (1 - weight) * solimp[:, 1]
    return np.where(standard, mean, lesser(solref[:, 0], solref[:, 1])), mixed


def first_weight(solmix: Array) -> Array:
    """Share (n) of the first geom from the weights (n, 2)."""
    counts = solmix >= MINVAL
    small = solmix < MINVAL
    share = np.where(small.all(axis=1), 0.5, np.where(small[:, 0], 0.0, 1.0))
    both = counts.all(axis=1)
    share[both] = solmix[both, 0] / solmix[both].sum(axis=1)
    return share

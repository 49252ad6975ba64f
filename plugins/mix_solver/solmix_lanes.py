"""Solver parameters of a contact as the mean of its two geoms', weighted by their solmix (mj_contactParam).

A weight below MINVAL gives the other geom all; two such weights count the same. Direct solrefs (stiffness and
damping, first entry not positive) are not averaged: of each entry the smaller is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail.backends.lanes.kernel import Kernel, elementwise
from dovetail.plugins.shared.constants import MINVAL


def mix_solver(k: Kernel, solmix: Sequence[Any], solref: Sequence[Any], solimp: Sequence[Any]) -> Any:
    """solref (2) and solimp (5) from the values of both geoms."""
    weight = first_weight(k, *solmix)
    mean = weight * solref[0] + (1.0 - weight) * solref[1]
    smaller = elementwise(k.min, solref[0], solref[1])
    standard = (solref[0][0] > 0.0) & (solref[1][0] > 0.0)
    return k.select(standard, mean, smaller), weight * solimp[0] + (1.0 - weight) * solimp[1]


def first_weight(k: Kernel, first: Any, second: Any) -> Any:
    """Share of the first geom."""
    both = (first >= MINVAL) & (second >= MINVAL)
    share = first / k.select(both, first + second, 1.0)
    alone = k.select(first < MINVAL, k.select(second < MINVAL, 0.5, 0.0), 1.0)
    return k.select(both, share, alone)

"""Margin and gap of a contact: its explicit pair's, or what the rule makes of the two sides' (mj_assignMargin)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dovetail.contracts.enums import EnableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike


def overridden(model: ModelLike) -> bool:
    """Whether one set of options replaces the parameters of every contact."""
    return bool(model.opt.enableflags & EnableBit.OVERRIDE)


def contact_margin(
    model: ModelLike,
    combine_margin: Callable[[Array, Array], Array],
    first: Array,
    second: Array,
    pair: Array,
) -> Array:
    """Distance (n) at which contacts begin, from the sides' margins and the explicit pairs (-1: none)."""
    if overridden(model):
        return np.full(len(pair), float(model.opt.o_margin))
    return pair_or(pair, model.pair_margin, combine_margin(first, second))


def contact_gap(
    model: ModelLike,
    combine_margin: Callable[[Array, Array], Array],
    first: Array,
    second: Array,
    pair: Array,
) -> Array:
    """Gap (n) of contacts, from the sides' gaps and the explicit pairs (-1: none); no option overrides it."""
    return pair_or(pair, model.pair_gap, combine_margin(first, second))


def pair_or(pair: Array, of_pair: Array, combined: Array) -> Array:
    """Rows of `combined`, where a contact has an explicit pair the pair's own."""
    result = np.array(combined)
    explicit = pair >= 0
    result[explicit] = of_pair[pair[explicit]]
    return result

"""Rows of passive forces that only some models need. Springs and dampers of joints are not among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.model_rules.counts import flexes, tendons
from dovetail.plugins.model_rules.flags import contacts_off
from dovetail.plugins.model_rules.words import plural


def medium(model: ModelLike) -> str:
    return "a medium with density or viscosity" if model.opt.density or model.opt.viscosity else ""


def gravity_compensation(model: ModelLike) -> str:
    return plural(int(model.ngravcomp), "body with gravcomp")


def passive_flexes(model: ModelLike) -> str:
    """Flexes whose contacts act as passive forces."""
    return (
        ""
        if contacts_off(model)
        else plural(int(np.count_nonzero(model.flex_passive)), "passive flex object")
    )


def body_plugins(model: ModelLike) -> str:
    """Bodies whose forces one of MuJoCo's engine plugins computes."""
    count = int(np.count_nonzero(model.body_plugin >= 0))
    bodies = "1 body" if count == 1 else f"{count} bodies"
    return f"MuJoCo engine plugins of {bodies}" if count else ""


PASSIVE_FORCES: Mapping[str, Callable[[Any], str]] = {
    "tendon_spring": tendons,
    "tendon_damper": tendons,
    "gravcomp": gravity_compensation,
    "fluid": medium,
    "flex": flexes,
    "contact": passive_flexes,
    "plugin": body_plugins,
}
"""Why a model needs each of the rows that not every model does."""

"""Whether a model can have constraint rows, and what works on them."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.model_rules.contacts import collidable
from dovetail.plugins.model_rules.flags import disabled
from dovetail.plugins.model_rules.words import both, plural


def constrained(model: ModelLike) -> str:
    """Why constraint rows can appear."""
    if disabled(model, DisableBit.CONSTRAINT):
        return ""
    return both(
        "" if disabled(model, DisableBit.EQUALITY) else plural(int(model.neq), "equality constraint"),
        "" if disabled(model, DisableBit.FRICTIONLOSS) else _friction(model),
        "" if disabled(model, DisableBit.LIMIT) else _limits(model),
        collidable(model),
    )


def _friction(model: ModelLike) -> str:
    count = np.count_nonzero(model.dof_frictionloss) + np.count_nonzero(model.tendon_frictionloss > 0)
    return f"friction loss on {plural(int(count), 'dof')}" if count else ""


def _limits(model: ModelLike) -> str:
    count = np.count_nonzero(model.jnt_limited) + np.count_nonzero(model.tendon_limited)
    return plural(int(count), "limit")


def noslip(model: ModelLike) -> str:
    return "noslip_iterations > 0" if model.opt.noslip_iterations > 0 and constrained(model) else ""

"""Where runs that are compared begin: near the model's pose, at random, at a keyframe, or in a saved state."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dovetail.compare.rollout import Start
from dovetail.compare.states import randomize
from dovetail.contracts import store
from dovetail.contracts.derive import reset
from dovetail.contracts.types import Data
from dovetail.errors import SelectionError, listing, nearest

STARTS = ("near", "rest", "random")
"""A pose near the model's own with random controls; the model's own state; anything a user might set."""


def begin(data: Data, start: str | Path, seed: int) -> None:
    """Put every world of a Data into its first state: one of STARTS, a keyframe's name or a saved state's file."""
    model = data.model
    reset(model, data)
    name = str(start)
    if name == "random":
        randomize(data, np.random.default_rng(seed))
    elif name == "near":
        Start.near(model, data.nworld or 1, seed).write(data) if data.nworld else Start.near(
            model, 1, seed
        ).write_world(0, data)
    elif name.endswith(".npz"):
        store.load(data, name)
    elif name != "rest":
        keys = [key for key in model.object_names.get("key", ()) if key]
        if name not in keys:
            raise SelectionError(
                f"start = {name!r}: neither {', '.join(STARTS)}, a saved state (.npz) nor a keyframe"
                f"{nearest(name, [*STARTS, *keys]) or '.'} Keyframes: {listing(keys) or 'none'}"
            )
        reset(model, data, name)

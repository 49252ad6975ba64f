"""Simulations in random states, and their bits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import zoo
from lane_backend import LANES

import dovetail
from dovetail.compare.states import random_state, set_state
from dovetail.contracts.types import STATE, Data, Model

BACKENDS = ("numpy", LANES)


def start(model: Model, world: int, *, forces: bool = True) -> dict[str, Any]:
    """The random state in which world number `world` starts; without `forces` nothing pushes for ever."""
    state = random_state(model, np.random.default_rng(100 + world))
    if not forces:
        state["qfrc_applied"][:] = 0.0
        state["xfrc_applied"][:] = 0.0
    return state


def simulation(
    name: str | Model, *, forces: bool = True, worlds: Iterable[int] | None = None, **options: Any
) -> dovetail.Simulation:
    """A Simulation whose worlds stand in their random states (`worlds`: which, by default 0, 1, 2, …)."""
    model = zoo.ours(name) if isinstance(name, str) else name
    sim = dovetail.Simulation(model, **options)
    numbers = range(sim.nworld or 1) if worlds is None else worlds
    for data, number in zip(sim.data.worlds(), numbers, strict=True):
        set_state(data, start(model, number, forces=forces))
    return sim


def bits(data: Data, fields: Iterable[str] | None = None) -> dict[str, bytes]:
    """Every field's bytes."""
    names = [name for name, _ in data.fields()] if fields is None else fields
    return {name: np.ascontiguousarray(np.asarray(data.field(name))).tobytes() for name in names}


def state_bits(data: Data) -> dict[str, bytes]:
    """The bytes of all that the next step depends on."""
    return bits(data, STATE)

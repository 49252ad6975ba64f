"""The same start gives the same bits: again, with other thread counts, in batches of any size, at any place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.compare.states import random_state, set_state
from dovetail.contracts.types import STATE
from dovetail.testing.samples import sample

STEPS = 8
BACKENDS = ("numpy", LANES)
PROBE = 42
"""Seed of the world that is looked at; the other worlds start elsewhere."""


def run(
    backend: str, *, name: str = "chain", nworld: int | None = 1, place: int = 0, **options: Any
) -> bytes:
    """The final state of the probe world, standing at `place` in a batch."""
    model = sample(name)
    sim = dovetail.Simulation(model, nworld=nworld, backend=backend, **options)
    for index, world in enumerate(sim.data.worlds()):
        set_state(world, random_state(model, np.random.default_rng(PROBE if index == place else index)))
    sim.step(STEPS)
    world = sim.data.world(place)
    return b"".join(np.ascontiguousarray(world.field(field)).tobytes() for field in STATE)


@pytest.mark.parametrize("name", ["chain", "loose"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_two_runs_give_the_same_bits(backend: str, name: str) -> None:
    assert run(backend, name=name, nworld=3) == run(backend, name=name, nworld=3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_neither_number_of_worlds_nor_place_matters(backend: str) -> None:
    alone = run(backend)
    for nworld, place in ((2, 1), (8, 7), (9, 8), (21, 13)):
        assert run(backend, nworld=nworld, place=place) == alone


@pytest.mark.parametrize("backend", BACKENDS)
def test_number_of_threads_does_not_matter(backend: str) -> None:
    assert run(backend, nworld=21, place=17, threads=2) == run(backend, nworld=21, place=17, threads=1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_world_without_a_batch_axis_gives_the_same_bits(backend: str) -> None:
    assert run(backend, nworld=None) == run(backend, nworld=5, place=3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_steps_in_one_call_equal_steps_one_by_one(backend: str) -> None:
    model = sample("loose")
    finals = []
    for calls in (1, STEPS):
        sim = dovetail.Simulation(model, nworld=2, backend=backend)
        for index, world in enumerate(sim.data.worlds()):
            set_state(world, random_state(model, np.random.default_rng(index)))
        for _ in range(calls):
            sim.step(STEPS // calls)
        finals.append([np.asarray(sim.data.field(field)).tobytes() for field in STATE])
    assert finals[0] == finals[1]

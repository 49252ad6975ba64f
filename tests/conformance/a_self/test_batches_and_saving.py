"""A batch is a loop of single worlds, and a saved run goes on as if it had never stopped, both to the bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import BACKENDS, simulation, start, state_bits

import dovetail
from dovetail.compare.states import set_state

STEPS = 10


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["chain", pytest.param("loose", marks=pytest.mark.slow)])
def test_batch_equals_a_loop_of_single_worlds(name: str, backend: str) -> None:
    worlds = [0, 4, 9]
    batch = simulation(name, backend=backend, nworld=10, forces=False)
    batch.step(STEPS)
    single = dovetail.Simulation(batch.model, backend=backend)
    for number in worlds:
        single.reset()
        set_state(single.data, start(single.model, number, forces=False))
        single.step(STEPS)
        assert state_bits(single.data) == state_bits(batch.data.world(number))


@pytest.mark.parametrize("backend", BACKENDS)
def test_saved_run_resumes_bit_for_bit(backend: str, tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    sim = simulation("chain", backend=backend, nworld=3, forces=False)
    sim.step(STEPS)
    sim.save(file)
    sim.step(STEPS)
    through = state_bits(sim.data)
    sim.reset()
    sim.load(file)
    sim.step(STEPS)
    assert state_bits(sim.data) == through


def test_saved_run_resumes_in_another_simulation(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    first = simulation("loose", forces=False)
    first.step(STEPS)
    first.save(file)
    first.step(STEPS)
    second = dovetail.Simulation(first.model)
    second.load(file)
    second.step(STEPS)
    assert state_bits(second.data) == state_bits(first.data)

"""Memory of batches: per world, and of kernels' scratch."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.backends.lanes.fuse import Sources, Target, clear_stage, fuse
from dovetail.backends.lanes.kernel import FieldPlace, LaneLayout
from dovetail.backends.lanes.program import scratch_memory

LIMIT = 40_000
"""Bytes per humanoid world that keeps its state."""


@pytest.mark.parametrize("nworld", [64, 1000])
def test_a_humanoid_world_is_small(nworld: int) -> None:
    sim = dovetail.Simulation("humanoid", nworld, backend=LANES, keep="state")
    assert sim.data.arena.nbytes / nworld < LIMIT


def test_scratch_that_is_not_used_costs_nothing() -> None:
    """A list with very much room (half a gigabyte here) takes addresses, but no memory before it is written to."""
    rows = 1 << 23
    sources = Sources(
        stages=[clear_stage("qpos"), clear_stage("list")],
        layout=LaneLayout({}, {"qpos": (3,), "list": (rows - 3,)}),
        data_places={"qpos": FieldPlace(0, (3,)), "list": FieldPlace(3, (rows - 3,))},
        initial={"qpos": np.array([1.0, 0.0, 2.0])},
        load=["qpos"],
        store=["qpos", "list"],
    )
    fused = fuse(sources, Target())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scratch = scratch_memory(fused, threads=2)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # kilobytes
    assert scratch.nbytes == 2 * rows * 8 * 8
    for thread in range(2):
        assert np.array_equal(scratch[thread * rows : thread * rows + 3, 5], [1.0, 0.0, 2.0])
    assert grown * 1024 < 0.3 * scratch.nbytes

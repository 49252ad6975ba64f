"""Free boxes on top of one another: many contacts between moving bodies, each tying twelve dofs together."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from lane_backend import LANES

from dovetail import Simulation, load

HALF = 0.1
STEPS, TURNS = 20, 7
LEAST = 1.5
"""Times as fast as MuJoCo, f64, one thread."""


def stack(count: int) -> str:
    """A stack that leans a little, every box resting on the one below."""
    boxes = "".join(
        f'<body pos="{0.01 * (n % 3):g} {0.008 * (n % 2):g} {HALF * (2 * n + 1):g}"><freejoint/>'
        f'<geom type="box" size="{HALF} {HALF} {HALF}" mass="1"/></body>'
        for n in range(count)
    )
    return f'<mujoco><worldbody><geom type="plane" size="3 3 .1"/>{boxes}</worldbody></mujoco>'


def worlds(path: Path, nworld: int) -> tuple[Any, np.ndarray, Simulation]:
    """MuJoCo's model, positions with the boxes a little elsewhere in every world, and a batch to hold them."""
    m = mujoco.MjModel.from_xml_path(str(path))
    qpos = m.qpos0 + np.random.default_rng(0).normal(0.0, 1e-3, (nworld, m.nq))
    return m, qpos, Simulation(load(path), nworld=nworld, backend=LANES, keep="state")


@pytest.mark.slow
def test_a_stack_moves_as_mujocos(tmp_path: Path) -> None:
    path = tmp_path / "stack.xml"
    path.write_text(stack(3))
    m, qpos, sim = worlds(path, 5)
    sim.data.qpos[...] = qpos
    sim.step(STEPS)
    for world in range(5):
        data = mujoco.MjData(m)
        data.qpos[:] = qpos[world]
        mujoco.mj_step(m, data, STEPS)
        assert data.ncon >= 12
        np.testing.assert_allclose(sim.data.qpos[world], data.qpos, rtol=0, atol=1e-7)


@pytest.mark.bench
def test_ten_boxes_beat_mujoco(tmp_path: Path) -> None:
    path = tmp_path / "stack.xml"
    path.write_text(stack(10))
    m, qpos, sim = worlds(path, 256)
    sim.step(1)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    initial = np.zeros((len(qpos), mujoco.mj_stateSize(m, kind)))
    initial[:, 1 : 1 + m.nq] = qpos
    ratios = []
    for _ in range(TURNS):
        began = time.perf_counter()
        mujoco.rollout.rollout([m] * len(qpos), [mujoco.MjData(m)], initial, nstep=STEPS)
        theirs = time.perf_counter() - began
        sim.reset()
        sim.data.qpos[...] = qpos
        began = time.perf_counter()
        sim.step(STEPS)
        ratios.append(theirs / (time.perf_counter() - began))
    print(f"\nstack of ten boxes: {statistics.median(ratios):.1f}x MuJoCo")
    assert statistics.median(ratios) >= LEAST

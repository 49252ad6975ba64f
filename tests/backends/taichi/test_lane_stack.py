"""Free boxes on top of one another: many contacts between moving bodies, each tying twelve dofs together."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import mujoco
import numpy as np
import pytest

from dovetail import Simulation, load
from dovetail.compare.rollout import Batch, Start

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


def shaken(path: Path, nworld: int) -> Start:
    """Every world has its boxes a little elsewhere."""
    m = mujoco.MjModel.from_xml_path(str(path))
    rng = np.random.default_rng(0)
    qpos = m.qpos0 + rng.normal(0.0, 1e-3, (nworld, m.nq))
    return Start(qpos, rng.normal(0.0, 1e-2, (nworld, m.nv)), np.zeros((nworld, m.nu)))


def simulation(path: Path, start: Start) -> Simulation:
    sim = Simulation(load(path), nworld=len(start.qpos), backend="taichi", keep="state")
    start.write(sim.data)
    return sim


@pytest.mark.slow
def test_a_stack_moves_as_mujocos(tmp_path: Path) -> None:
    path = tmp_path / "stack.xml"
    path.write_text(stack(3))
    start = shaken(path, 5)
    sim = simulation(path, start)
    sim.step(STEPS)
    m = mujoco.MjModel.from_xml_path(str(path))
    for world in range(5):
        data = mujoco.MjData(m)
        start.write_world(world, data)
        mujoco.mj_step(m, data, STEPS)
        assert data.ncon >= 12
        np.testing.assert_allclose(sim.data.qpos[world], data.qpos, rtol=0, atol=1e-7)


@pytest.mark.bench
def test_ten_boxes_beat_mujoco(tmp_path: Path) -> None:
    path = tmp_path / "stack.xml"
    path.write_text(stack(10))
    start = shaken(path, 256)
    sim = simulation(path, start)
    sim.step(1)
    rival = Batch.load(path, start, STEPS).runner(1)
    ratios = []
    for _ in range(TURNS):
        theirs = rival()
        sim.reset()
        start.write(sim.data)
        began = time.perf_counter()
        sim.step(STEPS)
        ratios.append(theirs / (time.perf_counter() - began))
    print(f"\nstack of ten boxes: {statistics.median(ratios):.1f}x MuJoCo")
    assert statistics.median(ratios) >= LEAST

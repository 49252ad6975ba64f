"""What Newton's method in lanes has and its NumPy sibling has not: rows that worlds share, blocks of dofs, and a rule
for single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail

mujoco = pytest.importorskip("mujoco")

FORKED = """<mujoco><option timestep="0.002"/><default><geom condim="1"/></default><worldbody>
  <body pos="0 0 1"><joint axis="0 1 0"/><joint axis="1 0 0"/><geom size="0.1" mass="1" contype="0" conaffinity="0"/>
    <body pos="0.3 0.05 0"><joint axis="0 0 1"/><geom name="left" size="0.1" pos="0.2 0 0" mass="1"/></body>
    <body pos="0.3 -0.05 0"><joint axis="0 0 1"/><geom name="right" size="0.1" pos="0.2 0 0.01" mass="1"/></body>
  </body></worldbody></mujoco>"""
"""The first two hinges move both spheres. They and the left sphere's are one block, so the chains meet inside it."""

RANGES = """<mujoco><compiler angle="radian"/><option timestep="0.002"/><worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 1"><joint axis="0 1 0" range="-0.5 0.5" limited="true"/><geom size="0.1" pos="0.2 0 0" mass="1"/>
    <body pos="0.4 0 0"><joint axis="0 1 0" range="-0.01 0.01" margin="0.05" limited="true"/>
      <geom size="0.1" pos="0.2 0 0" mass="1"/></body></body></worldbody></mujoco>"""
"""An ordinary range, and one both ends of which are always in reach."""


def stepped(xml: str, qpos: Any, iterations: int = 100, **options: Any) -> np.ndarray:
    """Velocities of worlds that start at rest."""
    model = dovetail.loads(xml)
    model.opt.iterations = iterations
    qpos = np.atleast_2d(qpos)
    sim = dovetail.Simulation(model, nworld=len(qpos), backend="native", keep="state", **options)
    sim.data.qpos = qpos
    sim.step()
    return np.array(sim.data.qvel)


def expected(xml: str, qpos: Any) -> np.ndarray:
    model = mujoco.MjModel.from_xml_string(xml)
    found = []
    for own in np.atleast_2d(qpos):
        data = mujoco.MjData(model)
        data.qpos[:] = own
        mujoco.mj_step(model, data)
        found.append(data.qvel.copy())
    return np.array(found)


def test_one_turn_is_enough_where_chains_meet_inside_a_block() -> None:
    """The rows that push stay the same, so a single step with the right Hessian leads to the answer."""
    start = [[0.1, 0.2, 0.05, 0.3], [0.2, -0.1, -0.02, 0.25]]
    answer = expected(FORKED, start)
    assert np.abs(answer[:, 2] - answer[:, 3]).min() > 0.1, "the spheres do not touch"
    np.testing.assert_allclose(stepped(FORKED, start, iterations=1), answer, rtol=0, atol=1e-10)


def test_worlds_at_both_ends_of_a_range_share_a_row() -> None:
    """At the lower end, at the upper one, at none; the second joint is at both."""
    start = [[-0.52, 0.0], [0.53, 0.004], [0.1, -0.02], [0.51, 0.03]]
    batch = stepped(RANGES, start)
    np.testing.assert_allclose(batch, expected(RANGES, start), rtol=0, atol=1e-11)
    for world, own in enumerate(start):
        assert np.array_equal(stepped(RANGES, own, lanes=1)[0], batch[world]), world


def test_single_precision_does_not_chase_rounding() -> None:
    """The first turn leads to the answer and the second mends what rounding did; a third follows noise. One of these
    worlds takes it, for its last bit."""
    start = np.random.default_rng(0).uniform(-0.3, 0.3, (64, 4))
    twice, often = (stepped(FORKED, start, iterations=n, precision="f32") for n in (2, 100))
    assert (twice != often).any(axis=1).sum() <= 1
    np.testing.assert_allclose(twice, often, rtol=0, atol=1e-6)

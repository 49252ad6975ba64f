"""Poses in lanes are rounded as the reference rounds them: what lies flat or parallel there does so in lanes."""

from __future__ import annotations

import numpy as np
from lane_backend import LANES

import dovetail

CHAIN = """
<mujoco>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body pos="0.1 0 0.3">
      <joint type="hinge" axis="0 1 0" pos="0.02 0 0.01"/>
      <geom type="box" size="0.1 0.2 0.3" euler="0 30 0" mass="1"/>
      <body pos="0.3 0 0.1" euler="0 20 0">
        <joint type="slide" axis="0.6 0 0.8"/>
        <joint type="hinge" axis="0 1 0"/>
        <geom type="box" size="0.1 0.2 0.3" pos="0.1 0.05 0" mass="1"/>
        <body pos="0 0.1 0.2">
          <joint type="ball" pos="0 0 0.1"/>
          <geom type="capsule" size="0.1 0.2" fromto="0 0 0 0.1 0.2 0.3" mass="1"/>
        </body>
      </body>
    </body>
    <body pos="2 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.1" pos="0.1 0 0" mass="1"/></body>
  </worldbody>
</mujoco>
"""
POSES = ("xpos", "xquat", "xmat", "xanchor", "xaxis", "geom_xpos", "geom_xmat")
WORLDS = 256
ODD_ANGLES = 0.01
"""Part of the worlds in which a sine or cosine may be rounded otherwise than the C library's: some in a thousand."""


def test_poses_have_the_references_bits() -> None:
    model = dovetail.loads(CHAIN)
    qpos = model.qpos0 + np.random.default_rng(7).normal(0.0, 1.0, (WORLDS, model.nq))
    lanes = dovetail.Simulation(model, nworld=WORLDS, backend=LANES, keep=POSES)
    lanes.data.field("qpos")[...] = qpos
    lanes.forward()
    reference = dovetail.make_data(model)
    same = []
    for world in range(WORLDS):
        reference.qpos[:] = qpos[world]
        dovetail.forward(model, reference)
        poses = (np.asarray(lanes.data.field(name))[world] for name in POSES)
        same.append(all(np.array_equal(p, reference.field(n)) for n, p in zip(POSES, poses, strict=True)))
    assert np.mean(same) >= 1.0 - ODD_ANGLES


def test_planar_chains_stay_planar_to_the_bit() -> None:
    """Two hinges about y leave the boxes' y axes exactly along the world's."""
    model = dovetail.loads(CHAIN)
    qpos = model.qpos0 + np.random.default_rng(8).normal(0.0, 1.0, (16, model.nq))
    lanes = dovetail.Simulation(model, nworld=16, backend=LANES, keep=POSES)
    lanes.data.field("qpos")[...] = qpos
    lanes.forward()
    across = np.asarray(lanes.data.field("geom_xmat")).reshape(16, -1, 3, 3)[:, :2]
    assert not across[:, :, [0, 2], 1].any()
    assert not across[:, :, 1, [0, 2]].any()

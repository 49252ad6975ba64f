"""How far a compiler optimises a kernel changes no bit of what it computes."""

from __future__ import annotations

import numpy as np
import pytest
from lane_backend import NO_COMPILER

import dovetail
from dovetail.backends.native import compilers

pytestmark = pytest.mark.skipif(NO_COMPILER, reason="there is no C compiler here")

TOUCHING = """
<mujoco>
  <option cone="elliptic"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body pos="0 0 0.09"><freejoint/><geom type="box" size="0.1 0.2 0.1"/></body>
    <body pos="0.5 0 0.2"><joint axis="0 1 0"/><joint type="slide" damping="2"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.2 0 -0.2"/></body>
  </worldbody>
</mujoco>
"""
KEPT = ("qpos", "qvel", "qacc", "qfrc_constraint")


def stepped(how: str, precision: str, monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Two worlds after 30 steps in kernels that are compiled so."""
    monkeypatch.setattr(compilers, "OPTIMISED", how)
    model = dovetail.loads(TOUCHING)
    sim = dovetail.Simulation(model, backend="native", nworld=2, precision=precision, keep=KEPT)
    sim.data.qvel[1] = 0.3
    sim.step(30)
    assert how in compilers.flags(compilers.compilers()[0])
    return [np.array(sim.data.field(name)) for name in KEPT]


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.covering
def test_kernels_have_the_same_bits_at_every_level(
    precision: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = stepped(compilers.OPTIMISED, precision, monkeypatch)
    for ours, theirs in zip(stepped(level, precision, monkeypatch), users, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert np.any(theirs[0] != theirs[1])

"""Shapes that lie in one plane: components that are exactly zero, of either sign, must not become infinite steps."""

from __future__ import annotations

import numpy as np
from lane_backend import LANES

import dovetail

NWORLD = 96
SCENE = """
<mujoco>
  <worldbody>
    <geom type="box" size=".02 .01 .035"/>
    <body>
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>
      <geom type="capsule" size=".005 .017" margin=".02"/>
    </body>
  </worldbody>
</mujoco>
"""


def test_capsules_in_the_plane_of_a_box_have_the_contacts_of_the_reference() -> None:
    model = dovetail.loads(SCENE)
    rng = np.random.default_rng(0)
    places = np.column_stack(
        [rng.uniform(-0.06, 0.06, NWORLD), rng.uniform(-0.06, 0.06, NWORLD), rng.uniform(-3, 3, NWORLD)]
    )
    sims = {}
    for backend in (LANES, "numpy"):
        sims[backend] = dovetail.Simulation(
            model, nworld=NWORLD, backend=backend, keep=("ncon", "contact.dist", "contact.pos")
        )
        sims[backend].data.qpos = places
        sims[backend].forward()
    assert np.array(sims["numpy"].data.ncon).max() == 2
    for world in range(NWORLD):
        found, wanted = (sims[name].data.world(world) for name in (LANES, "numpy"))
        assert found.ncon == wanted.ncon
        np.testing.assert_allclose(
            found.contact.dist[: found.ncon], wanted.contact.dist[: wanted.ncon], rtol=0, atol=1e-12
        )

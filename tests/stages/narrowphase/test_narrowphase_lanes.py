"""The narrowphase in lanes of models that have little to do for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail

LINK = '<joint axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>'
NOTHING_TO_TOUCH = f"""
<mujoco>
  <worldbody><body pos="0 0 1">{LINK}<body pos="0.3 0 0">{LINK}</body></body></worldbody>
</mujoco>
"""
"""Two geoms that could touch if their bodies were not parent and child: there are no pairs."""

IN_THE_AIR = """
<mujoco>
  <worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody>
</mujoco>
"""


@pytest.mark.parametrize(("nworld", "keep"), [(None, "all"), (3, ("ncon", "contact.dist"))])
@pytest.mark.parametrize("xml", [NOTHING_TO_TOUCH, IN_THE_AIR], ids=["no pairs", "no contacts"])
def test_a_model_without_contacts_moves_as_the_reference(xml: str, nworld: int | None, keep: Any) -> None:
    sims = [
        dovetail.Simulation(dovetail.loads(xml), nworld, backend=backend, keep=keep)
        for backend in (LANES, "numpy")
    ]
    for sim in sims:
        assert "narrowphase" in {slot.label for slot in sim.plan.slots}
        sim.step(5)
        assert not np.any(sim.data.ncon)
    lanes, reference = (np.asarray(sim.data.qpos) for sim in sims)
    assert lanes == pytest.approx(reference, abs=1e-12)

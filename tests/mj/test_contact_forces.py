"""mj_contactForce gives MuJoCo's forces, of the state as it is, and looks at no other contact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail import mj
from dovetail.contracts.fields import Array
from dovetail.plugins.shared.rows import contact_forces_numpy

mujoco = pytest.importorskip("mujoco")

XML = """
<mujoco>
  <option cone="{cone}"/>
  <worldbody>
    <geom type="plane" size="3 3 .1"/>
    <body pos="0 0 .095"><freejoint/><geom size=".1" condim="1"/></body>
    <body pos="1 0 .095"><freejoint/><geom type="box" size=".1 .1 .1" condim="3" friction=".6 .1 .2"/></body>
    <body pos="2 0 .095"><freejoint/><geom size=".1" condim="4" friction=".6 .1 .2"/></body>
    <body pos="3 0 .095"><freejoint/><geom type="box" size=".1 .1 .1" condim="6" friction=".6 .1 .2"/></body>
    <body pos="4 0 .1005"><freejoint/><geom size=".1" margin=".001" gap=".001"/></body>
  </worldbody>
</mujoco>
"""


def started(module: Any, cone: str) -> tuple[Any, Any]:
    model = module.MjModel.from_xml_string(XML.format(cone=cone))
    data = module.MjData(model)
    data.qvel[:] = np.random.default_rng(3).normal(size=model.nv) * 0.1
    module.mj_forward(model, data)
    return model, data


def forces(module: Any, model: Any, data: Any) -> Array:
    """Of every contact, and of two that are not there."""
    found = np.full((data.ncon + 2, 6), np.nan)
    for row, number in enumerate(range(-1, data.ncon + 1)):
        module.mj_contactForce(model, data, number, found[row])
    return found


@pytest.mark.usefixtures("each_backend")
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_forces_are_mujocos_of_the_state_as_it_is(cone: str) -> None:
    found: list[list[Array]] = []
    for module in (mj, mujoco):
        model, data = started(module, cone)
        seen = [forces(module, model, data)]
        data.efc_force[:] *= 2
        data.contact.friction[:] *= 0.5
        seen.append(forces(module, model, data))
        module.mj_step(model, data)
        seen.append(forces(module, model, data))
        module.mj_resetData(model, data)
        seen.append(forces(module, model, data))
        found.append(seen)
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    assert len(found[0][0]) > 10
    assert np.abs(found[0][1] - found[0][0]).max() > 1


@pytest.mark.usefixtures("each_backend")
def test_asking_for_every_contact_looks_at_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []
    plain = contact_forces_numpy.from_pyramid

    def counted(edges: Array, friction: Array) -> Array:
        decoded.append(len(edges))
        return plain(edges, friction)

    monkeypatch.setattr(contact_forces_numpy, "from_pyramid", counted)
    model, data = started(mj, "pyramidal")
    decoded.clear()
    forces(mj, model, data)
    with_edges = int(np.count_nonzero((data.contact.dim > 1) & (data.contact.efc_address >= 0)))
    assert with_edges > 8
    assert sum(decoded) == with_edges

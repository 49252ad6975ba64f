"""Contact parameters of geoms and flexes against MuJoCo's own contacts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from contact_reference import GEOMETRY, PARAMETERS, RULES, collided, mujoco_of

import dovetail
from dovetail.plugins.contact_params.mujoco_numpy import contact_params

CLOTHS = """
<mujoco><option><flag override="{override}"/></option><worldbody>
  <geom type="plane" size="2 2 1" friction=".6 .008 .0002" margin=".06" gap=".05" solmix="2" priority="{priority}"/>
  <geom size=".1" pos="0 0 .05" friction=".2 .1 .1" margin=".02" solref="-100 -3"/>
  <body name="p" pos="0 0 .02"><freejoint/><geom size=".01" contype="0" conaffinity="0"/>
    <flexcomp name="cloth" type="grid" count="5 5 1" spacing=".06 .06 .06" dim="2" mass="1" radius=".005">
      <contact friction=".4" margin=".003" gap=".001" selfcollide="{self}" solref=".03 .9" condim="4" solmix=".5"
        internal="{internal}" passive="{passive}"/></flexcomp></body>
  <body name="q" pos="0 0 .03"><freejoint/><geom size=".01" contype="0" conaffinity="0"/>
    <flexcomp name="block" type="grid" count="3 3 3" spacing=".03 .03 .03" dim="3" mass="1" radius=".005">
      <contact friction=".7 .1 .2" margin=".006" selfcollide="{self}" internal="{internal}"/></flexcomp></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("priority", "self", "internal", "passive", "override"),
    [
        *((p, s, "false", "false", "disable") for p, s in product((-1, 0, 1), ("none", "auto"))),
        (0, "auto", "true", "false", "disable"),
        (0, "auto", "true", "true", "disable"),
        (0, "auto", "true", "true", "enable"),
    ],
)
def test_parameters_of_flex_contacts(
    priority: int, self: str, internal: str, passive: str, override: str
) -> None:
    """Geom with flex, flex with flex, a flex with itself and inside itself; the contacts are MuJoCo's."""
    xml = CLOTHS.format(priority=priority, self=self, internal=internal, passive=passive, override=override)
    mj_model, mj_data = mujoco_of(xml)
    mj_data.qpos[:] += np.random.default_rng(0).normal(size=mj_model.nq) * 0.01
    collided(mj_model, mj_data)
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    n = mj_data.ncon
    assert n > 200
    data.reserve(ncon_max=n)
    data.ncon = n
    data.contact_candidate[:n] = -1
    for name in GEOMETRY:
        view = getattr(data.contact, name)[:n]
        view[...] = np.asarray(getattr(mj_data.contact, name)).reshape(view.shape)
    contact_params(model, data, RULES)
    for name in PARAMETERS:
        ours = getattr(data.contact, name)[:n]
        theirs = np.asarray(getattr(mj_data.contact, name)).reshape(ours.shape)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-15, err_msg=name)


def test_friction_of_a_flex_with_a_geom_is_the_larger_of_each() -> None:
    """A flex friction of 0.4 means 0.4, 0.005, 0.0001."""
    model = dovetail.loads(
        CLOTHS.format(priority=0, self="none", internal="false", passive="false", override="disable")
    )
    data = dovetail.make_data(model)
    data.reserve(ncon_max=1)
    data.ncon = 1
    contact = data.contact
    contact.geom[0], contact.flex[0], contact.vert[0], data.contact_candidate[0] = (
        (0, -1),
        (-1, 0),
        (-1, 3),
        -1,
    )
    contact_params(model, data, RULES)
    np.testing.assert_allclose(contact.friction[0], [0.6, 0.6, 0.008, 0.0002, 0.0002], rtol=0, atol=1e-15)
    assert contact.dim[0] == 4

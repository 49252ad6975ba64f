"""Options edited while a simulation runs: the same Data goes on, and nothing of a stage that is left out remains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail import Model
from dovetail.contracts.enums import DisableBit, EnableBit, Integrator

PILE = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.099"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body>
    <body pos="0 0.5 0.099"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
    <body pos="1 0 1"><joint type="hinge" axis="0 1 0" range="-5 5" limited="true"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0"/></body>
  </worldbody>
  <sensor><clock/></sensor>
</mujoco>
"""


@pytest.fixture
def pile() -> Model:
    return dovetail.loads(PILE)


def running(model: Model, **said: Any) -> dovetail.Simulation:
    sim = dovetail.Simulation(model, **said)
    sim.step(5)
    return sim


COUNTERS = ("ncon", "ncandidate", "nefc", "nisland", "nJ")


@pytest.mark.parametrize("nworld", [None, 3])
def test_without_contacts_there_are_none(pile: Model, nworld: int | None) -> None:
    sim = running(pile, nworld=nworld)
    data = sim.data
    assert np.all(np.asarray(data.ncon) == 5)
    pile.opt.disableflags |= DisableBit.CONTACT
    sim.step()
    assert sim.data is data
    assert not np.any(np.asarray(data.ncon))
    assert not np.any(np.asarray(data.ncandidate))
    assert np.all(np.asarray(data.nefc) <= 1)


@pytest.mark.parametrize("nworld", [None, 3])
def test_without_constraints_no_counter_and_no_force_remains(pile: Model, nworld: int | None) -> None:
    sim = running(pile, nworld=nworld)
    pile.opt.disableflags |= DisableBit.CONSTRAINT
    sim.forward()
    for name in COUNTERS:
        assert not np.any(np.asarray(sim.data.field(name))), name
    assert not np.any(np.asarray(sim.data.qfrc_constraint))
    assert not np.any(np.asarray(sim.data.efc_force))
    assert not np.any(np.asarray(sim.data.solver_niter))


def test_the_functions_of_the_module_see_edits_too(pile: Model) -> None:
    data = dovetail.make_data(pile)
    dovetail.forward(pile, data)
    assert data.ncon == 5
    pile.opt.disableflags |= DisableBit.CONTACT
    dovetail.forward(pile, data)
    assert data.ncon == 0
    pile.opt.disableflags = 0
    dovetail.forward(pile, data)
    assert data.ncon == 5


@pytest.mark.parametrize("nworld", [None, 3])
@pytest.mark.parametrize("integrator", [Integrator.RK4, Integrator.IMPLICIT, Integrator.IMPLICITFAST])
def test_another_integrator_after_contacts(pile: Model, integrator: Integrator, nworld: int | None) -> None:
    """RK4 brings fields of its own, so Data moves to other memory, with all its numbers."""
    sim = running(pile, nworld=nworld)
    data, contact, world = sim.data, sim.data.contact, sim.data.world(0)
    data.reserve(ncon_max=64)  # capacities as the run left them, not as a new Data has them
    before = {name: np.array(view) for name, view in data.fields()}
    fresh = dovetail.loads(PILE)
    fresh.opt.integrator = int(integrator)
    other = dovetail.Simulation(fresh, nworld=nworld)
    for name in data.state:
        other.data.field(name)[...] = before[name]
    pile.opt.integrator = int(integrator)
    sim.step()
    other.step()
    assert sim.data is data
    assert data.contact is contact
    assert data.world(0) is world
    assert np.array_equal(np.asarray(data.qpos), np.asarray(other.data.qpos))
    assert np.array_equal(np.asarray(world.qpos), np.asarray(data.qpos)[0] if nworld else data.qpos)
    assert np.array_equal(np.asarray(contact.dist), np.asarray(data.contact.dist))
    assert np.all(np.asarray(data.ncon) == 5)


def test_edits_are_seen_as_mujoco_sees_them(pile: Model) -> None:
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_string(PILE)
    reference = mujoco.MjData(theirs)
    sim = dovetail.Simulation(pile)
    edits = [
        lambda m: setattr(m.opt, "disableflags", m.opt.disableflags | int(DisableBit.CONTACT)),
        lambda m: setattr(m.opt, "integrator", int(Integrator.RK4)),
        lambda m: setattr(m.opt, "disableflags", 0),
        lambda m: setattr(m.opt, "cone", 1),
        lambda m: setattr(m.opt, "solver", 1),
        lambda m: setattr(m.opt, "enableflags", int(EnableBit.ENERGY)),
        lambda m: setattr(m.opt, "disableflags", int(DisableBit.CONSTRAINT)),
        lambda m: setattr(m.opt, "integrator", int(Integrator.IMPLICITFAST)),
    ]
    for edit in edits:
        edit(pile)
        edit(theirs)
        sim.step(3)
        mujoco.mj_step(theirs, reference, 3)
        assert (sim.data.ncon, sim.data.nefc) == (reference.ncon, reference.nefc)
        assert sim.data.qpos == pytest.approx(reference.qpos, abs=1e-9)


def test_in_a_batch_of_lanes(pile: Model) -> None:
    sim = running(pile, nworld=2, backend=LANES, keep=("ncon", "nefc"))
    data = sim.data
    assert np.asarray(data.ncon).tolist() == [5, 5]
    pile.opt.disableflags |= DisableBit.CONTACT
    sim.step()
    assert sim.data is data
    assert np.asarray(data.ncon).tolist() == [0, 0]


def test_in_a_kernel_whose_step_is_kept_ready() -> None:
    """It was built without a fluid, so it must not be taken any more when there is one."""
    model = dovetail.loads(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    sim = running(model, backend=LANES)
    assert sim.plan.execution.ready(sim.data) is not None
    falling = float(sim.data.qvel[2])
    freely = float(model.opt.gravity[2] * model.opt.timestep)
    sim.step()
    assert sim.data.qvel[2] - falling == pytest.approx(freely)
    model.opt.viscosity = 100.0
    falling = float(sim.data.qvel[2])
    sim.step()
    assert sim.data.qvel[2] - falling > 0.9 * freely

"""Contacts, numbers of rows and rows of a fused batch: world by world those of the reference and of MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from batch_scene import LIGHT, copy_state, scene, spread
from lane_backend import LANES

import dovetail
from dovetail.errors import CapacityError, NotKeptError

COUNTS = ("ncon", "nefc", "ne", "nf", "nl")
CONTACTS = tuple(
    f"contact.{name}"
    for name in (
        *("dist", "pos", "frame", "friction", "solref", "solreffriction", "solimp", "includemargin", "mu"),
        *("geom", "geom1", "geom2", "dim", "exclude", "efc_address", "flex", "elem", "vert"),
    )
)
ROWS = (
    *("efc_type", "efc_id", "efc_J", "efc_pos", "efc_margin", "efc_D", "efc_aref", "efc_vel", "efc_KBIP"),
    *("efc_force", "efc_state", "efc_frictionloss", "efc_diagApprox", "efc_R"),
)
NWORLD = 11
"""Not a whole number of tiles."""


def fused(model: dovetail.Model, keep: Any, nworld: int = NWORLD, **more: Any) -> dovetail.Simulation:
    sim = dovetail.Simulation(model, nworld=nworld, backend=LANES, keep=keep, **more)
    assert len(sim.plan.segments()) == 1
    return sim


@pytest.fixture(scope="module")
def rich() -> dovetail.Simulation:
    """One kernel with everything, for all tests that need no other."""
    return fused(dovetail.loads(LIGHT), (*COUNTS, *CONTACTS, "nJ", *ROWS))


def assert_same_contacts(here: Any, there: Any, bound: float = 1e-9) -> int:
    """Compare one world's contacts with another's; returns how many there are."""
    for name in COUNTS:
        assert here.field(name) == there.field(name), name
    for name in CONTACTS:
        mine, theirs = here.field(name)[: here.ncon], there.field(name)[: there.ncon]
        np.testing.assert_allclose(mine, theirs, rtol=bound, atol=bound, err_msg=name)
    return int(here.ncon)


def assert_same_rows(here: Any, there: Any) -> None:
    assert (here.nefc, here.nJ) == (there.nefc, there.nJ)
    for name in ROWS:
        count = there.nJ if name == "efc_J" else there.nefc
        mine, theirs = here.field(name)[:count], there.field(name)[:count]
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-8, err_msg=name)


def compare_with_reference(sim: dovetail.Simulation) -> None:
    """Let worlds run, and compare their contacts and rows in single steps."""
    reference = dovetail.Simulation(sim.model, nworld=NWORLD)
    sim.reset()
    spread(sim.data)
    found = set()
    for _ in range(4):
        sim.step(18)
        copy_state(sim.data, reference.data)
        sim.step()
        reference.step()
        for world in range(NWORLD):
            here, there = sim.data.world(world), reference.data.world(world)
            found.add(assert_same_contacts(here, there))
            assert_same_rows(here, there)
    assert len(found) > 1  # worlds with different numbers of contacts


def test_contacts_and_rows_are_those_of_the_reference(rich: dovetail.Simulation) -> None:
    compare_with_reference(rich)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cone", "integrator"), [("pyramidal", "Euler"), ("elliptic", "Euler"), ("pyramidal", "RK4")]
)
def test_they_are_with_every_kind_of_row(cone: str, integrator: str) -> None:
    compare_with_reference(fused(scene(cone, integrator), (*COUNTS, *CONTACTS, "nJ", *ROWS)))


def test_the_plan_tells_what_is_repeated(rich: dovetail.Simulation) -> None:
    line = rich.plan.explain().splitlines()[-1]
    assert "reference" in line
    assert "efc_J" in line
    assert "contact.dist" not in line


def test_contacts_are_mujocos(rich: dovetail.Simulation) -> None:
    mujoco = pytest.importorskip("mujoco")
    theirs_model = mujoco.MjModel.from_xml_string(LIGHT)
    rich.reset()
    spread(rich.data)
    rich.step(40)
    rich.forward()
    for world in range(NWORLD):
        here, theirs = rich.data.world(world), mujoco.MjData(theirs_model)
        for name in ("qpos", "qvel", "ctrl", "qacc_warmstart"):
            getattr(theirs, name)[:] = here.field(name)
        mujoco.mj_forward(theirs_model, theirs)
        assert (here.ncon, here.nefc) == (theirs.ncon, theirs.nefc)
        for name in ("dist", "pos", "frame", "geom", "friction", "efc_address", "dim", "exclude"):
            mine = getattr(here.contact, name)[: here.ncon]
            np.testing.assert_allclose(mine, getattr(theirs.contact, name), atol=1e-9, err_msg=name)


def test_a_call_of_many_steps_tells_of_the_last(rich: dovetail.Simulation) -> None:
    found = []
    for parts in ((50,), (49, 1)):
        rich.reset()
        spread(rich.data)
        for nstep in parts:
            rich.step(nstep)
        worlds = list(rich.data.worlds())
        found.append([np.array(w.contact.dist[: w.ncon]) for w in worlds] + [np.array(rich.data.qpos)])
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


MANY = 40
BALLS = """
<mujoco model="balls"><worldbody><geom type="plane" size="5 5 1"/>{}</worldbody></mujoco>
""".format(
    "".join(
        f'<body pos="{0.3 * (n % 8)} {0.3 * (n // 8)} 0.5"><joint type="slide" axis="0 0 1"/>'
        '<geom type="sphere" size="0.1" contype="2" conaffinity="1" condim="1"/></body>'
        for n in range(MANY)
    )
)
KEPT = ("ncon", "contact.geom", "contact.frame")


@pytest.mark.parametrize("precision", ["f64", pytest.param("f32", marks=pytest.mark.slow)])
def test_no_contact_is_lost_when_one_world_has_very_many(precision: str) -> None:
    """One world of one tile touches with all balls; lists grow, and the steps of no world are taken twice."""
    model = dovetail.loads(BALLS)
    nworld = 20
    sim = fused(model, KEPT, nworld, precision=precision)
    reference = dovetail.Simulation(model, nworld=nworld)
    for s in (sim, reference):
        s.data.qpos[13] = -0.41
        s.data.qpos[3, :5] = -0.41
        s.step(3)
    expected = np.zeros(nworld, int)
    expected[[13, 3]] = MANY, 5
    assert np.array_equal(sim.data.ncon, expected)
    assert np.array_equal(sim.data.world(13).contact.geom[:MANY, 1], np.arange(1, MANY + 1))
    bound = 1e-8 if precision == "f64" else 1e-5
    for name in ("time", "qpos"):
        np.testing.assert_allclose(sim.data.field(name), reference.data.field(name), rtol=bound, atol=bound)


def test_memory_that_contacts_may_not_have_is_a_typed_error() -> None:
    model = dovetail.loads(BALLS)
    room = fused(model, KEPT, 20).data.arena.nbytes + 2000
    sim = fused(model, KEPT, 20, max_bytes=room)
    sim.data.qpos[13] = -0.41
    with pytest.raises(CapacityError, match="max_bytes"):
        sim.step()


@pytest.mark.slow
def test_what_is_kept_changes_no_state() -> None:
    model = scene()
    sims = [fused(model, keep) for keep in ("state", ("efc_force", "contact.pos"), "all")]
    for sim in sims:
        spread(sim.data)
        sim.step(12)
        sim.forward()
        sim.step(3)
    for other in sims[1:]:
        for name in sims[0].data.state:
            assert np.array_equal(sims[0].data.field(name), other.data.field(name)), name
    every = sims[2].data
    for name in ("ncon", "contact.pos", "efc_J", "efc_force", "efc_island", "xpos", "candidate_geom"):
        assert name in every
    assert every.world(0).efc_force[: every.world(0).nefc].any()


def test_what_is_not_asked_for_is_not_there() -> None:
    sim = fused(scene(), ("ncon",), 3)
    with pytest.raises(NotKeptError, match=r"contact.dist is not kept"):
        _ = sim.data.contact.dist

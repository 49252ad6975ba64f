"""Contacts, numbers of rows and rows of a fused batch: world by world those of the reference and of MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from batch_scene import copy_state, scene, spread

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
NWORLD = 11
"""Not a whole number of tiles."""


def fused(model: dovetail.Model, keep: Any, nworld: int = NWORLD, **more: Any) -> dovetail.Simulation:
    sim = dovetail.Simulation(model, nworld=nworld, backend="taichi", keep=keep, **more)
    assert len(sim.plan.segments()) == 1
    return sim


def assert_same_contacts(here: Any, there: Any, bound: float = 1e-9) -> int:
    """Compare one world's contacts with another's; returns how many there are."""
    for name in COUNTS:
        assert here.field(name) == there.field(name), name
    for name in CONTACTS:
        np.testing.assert_allclose(
            here.field(name)[: here.ncon],
            there.field(name)[: there.ncon],
            rtol=bound,
            atol=bound,
            err_msg=name,
        )
    return int(here.ncon)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_contacts_and_counts_are_those_of_the_reference(cone: str) -> None:
    model = scene(cone)
    sim = fused(model, COUNTS + CONTACTS)
    reference = dovetail.Simulation(model, nworld=NWORLD)
    spread(sim.data)
    found = set()
    for _ in range(6):
        sim.step(15)
        copy_state(sim.data, reference.data)
        sim.step()
        reference.step()
        for world in range(NWORLD):
            found.add(assert_same_contacts(sim.data.world(world), reference.data.world(world)))
    assert len(found) > 2  # worlds with different numbers of contacts


def test_counts_are_mujocos() -> None:
    mujoco = pytest.importorskip("mujoco")
    from batch_scene import SCENE

    sim = fused(scene(), ("ncon", "nefc", "contact.dist"))
    theirs_model = mujoco.MjModel.from_xml_string(SCENE.format(cone="pyramidal", integrator="Euler"))
    theirs = mujoco.MjData(theirs_model)
    spread(sim.data)
    sim.step(40)
    for world in range(NWORLD):
        here = sim.data.world(world)
        for name in sim.data.state:
            getattr(theirs, name, np.zeros(0))[...] if name != "time" else None
            if name != "time" and np.size(getattr(theirs, name)):
                getattr(theirs, name)[...] = here.field(name)
        mujoco.mj_forward(theirs_model, theirs)
    sim.forward()
    here = sim.data.world(NWORLD - 1)
    assert (here.ncon, here.nefc) == (theirs.ncon, theirs.nefc)
    np.testing.assert_allclose(here.contact.dist[: here.ncon], theirs.contact.dist, atol=1e-12)


def test_a_call_of_many_steps_tells_of_the_last() -> None:
    model = scene()
    whole, split = (fused(model, ("ncon", "contact.dist", "contact.geom")) for _ in range(2))
    for sim in (whole, split):
        spread(sim.data)
    whole.step(50)
    split.step(49)
    split.step(1)
    assert np.array_equal(whole.data.ncon, split.data.ncon)
    for world in range(NWORLD):
        here, there = whole.data.world(world), split.data.world(world)
        assert np.array_equal(here.contact.dist[: here.ncon], there.contact.dist[: there.ncon])


MANY = 40
BALLS = """
<mujoco model="balls"><worldbody><geom type="plane" size="5 5 1"/>{}</worldbody></mujoco>
""".format(
    "".join(
        f'<body pos="{0.3 * (n % 8)} {0.3 * (n // 8)} 0.5"><joint type="slide" axis="0 0 1"/>'
        '<geom type="sphere" size="0.1" contype="2" conaffinity="1"/></body>'
        for n in range(MANY)
    )
)


def test_no_contact_is_lost_when_one_world_has_very_many() -> None:
    """One world of one tile touches with all balls; lists grow, and the steps of no world are taken twice."""
    model = dovetail.loads(BALLS)
    nworld = 20
    sim = fused(model, ("ncon", "contact.geom"), nworld)
    plain = fused(model, "state", nworld)
    for s in (sim, plain):
        s.data.qpos[13] = -0.41
        s.data.qpos[3, :5] = -0.41
        s.step(3)
    expected = np.zeros(nworld, int)
    expected[[13, 3]] = MANY, 5
    assert np.array_equal(sim.data.ncon, expected)
    assert np.array_equal(np.sort(sim.data.world(13).contact.geom[:MANY, 1]), np.arange(1, MANY + 1))
    for name in ("qpos", "qvel", "time"):
        assert np.array_equal(sim.data.field(name), plain.data.field(name)), name


def test_memory_that_contacts_may_not_have_is_a_typed_error() -> None:
    model = dovetail.loads(BALLS)
    bare = fused(model, ("ncon", "contact.frame"), 20)
    sim = fused(model, ("ncon", "contact.frame"), 20, max_bytes=bare.data.arena.nbytes + 2000)
    sim.data.qpos[13] = -0.41
    with pytest.raises(CapacityError, match="max_bytes"):
        sim.step()


ROWS = ("efc_type", "efc_id", "efc_J", "efc_pos", "efc_margin", "efc_D", "efc_aref", "efc_vel", "efc_KBIP")


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_rows_come_from_a_repeated_step(integrator: str) -> None:
    model = scene(integrator=integrator)
    sim = fused(model, ("nefc", "nJ", "efc_force", *ROWS))
    assert "efc_J" in sim.plan.explain().splitlines()[-1]
    reference = dovetail.Simulation(model, nworld=NWORLD)
    spread(sim.data)
    sim.step(30)
    copy_state(sim.data, reference.data)
    sim.step()
    reference.step()
    np.testing.assert_allclose(sim.data.qvel, reference.data.qvel, rtol=1e-8, atol=1e-8)
    for world in range(NWORLD):
        here, there = sim.data.world(world), reference.data.world(world)
        assert here.nefc == there.nefc
        assert here.nJ == there.nJ
        for name in (*ROWS, "efc_force"):
            count = there.nJ if name == "efc_J" else there.nefc
            np.testing.assert_allclose(
                here.field(name)[:count], there.field(name)[:count], rtol=1e-8, atol=1e-8
            )


def test_repeating_steps_changes_no_state() -> None:
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


def test_all_means_every_field() -> None:
    sim = fused(scene(), "all", 3)
    sim.step()
    for name in ("ncon", "contact.pos", "efc_J", "efc_force", "efc_island", "xpos", "candidate_geom"):
        assert name in sim.data
    assert sim.data.world(0).efc_force[: sim.data.world(0).nefc].any()


def test_what_is_not_asked_for_is_not_there() -> None:
    sim = fused(scene(), ("ncon",), 3)
    with pytest.raises(NotKeptError, match=r"contact.dist is not kept"):
        _ = sim.data.contact.dist

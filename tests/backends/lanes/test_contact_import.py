"""Contacts that NumPy found, in the lists of a kernel: by tile, whatever a stage of one's own comes up with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.errors import PlanError
from dovetail.plugins.shared.contacts.contacts_lanes import ABSENT
from dovetail.plugins.shared.passing.contact_import_lanes import ContactLists, fetch
from dovetail.registry import default_registry

BALLS = """
<mujoco>
  <option timestep="0.004" {option}/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body>
    <body pos="0.15 0 0.12"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
    <body pos="0 0.3 0.1"><freejoint/><geom type="capsule" size="0.1 0.1" mass="1"/></body>
  </worldbody>
  <contact>{contact}</contact>
</mujoco>
"""
NARROW = default_registry().get("narrowphase", "convex@numpy").load()
PARAMS = default_registry().get("contact_params", "mujoco@numpy").load()
GEOMETRY = frozenset(
    f"contact_list.{n}" for n in ("count", "pair", "index_in_pair", "dist", "pos", "frame", "ncon")
)
ALL = GEOMETRY | {
    f"contact_list.{n}" for n in ("dim", "friction", "solref", "solreffriction", "solimp", "includemargin")
}


def scene(option: str = "", contact: str = "") -> dovetail.Model:
    return dovetail.loads(BALLS.format(option=option, contact=contact))


def turned(model: Any, data: Any, parts: Any) -> None:
    """The usual contacts in the opposite order."""
    NARROW(model, data, parts)
    n = data.ncon
    for name, view in data.fields():
        if (name.startswith("contact.") or name == "contact_candidate") and n:
            view[:n] = np.array(view[:n])[::-1]


def doubled(model: Any, data: Any, parts: Any) -> None:
    """Every contact three times: more than the usual stages can find."""
    NARROW(model, data, parts)
    n = data.ncon
    data.reserve(ncon_max=3 * n)
    for name, view in data.fields():
        if name.startswith("contact.") or name == "contact_candidate":
            view[: 3 * n] = np.repeat(np.array(view[:n]), 3, axis=0)
    data.ncon = 3 * n


def frictionless(model: Any, data: Any, parts: Any) -> None:
    """Contacts with the floor become frictionless, others have all directions of friction."""
    PARAMS(model, data, parts)
    n = data.ncon
    floor = (data.contact.geom[:n] == 0).any(axis=1)
    data.contact.dim[:n] = np.where(floor, 1, 6)


def choosy(model: Any, data: Any, parts: Any) -> None:
    """The box does not touch the floor."""
    PARAMS(model, data, parts)
    n = data.ncon
    data.contact.exclude[:n][(data.contact.geom[:n] == [0, 2]).all(axis=1)] = 2


def foreign(model: Any, data: Any, parts: Any) -> None:
    """A contact between geoms that the model excludes."""
    NARROW(model, data, parts)
    n = data.ncon
    data.reserve(ncon_max=n + 1)
    for name, view in data.fields():
        if name.startswith("contact.") and n:
            view[n] = view[n - 1]
    data.contact.geom[n] = data.contact.geom1[n], data.contact.geom2[n] = 1, 2
    data.contact_candidate[n] = -1
    data.contact.dist[n], data.contact.pos[n] = -0.01, (0.05, 0.0, 0.1)
    data.contact.frame[n] = (1, 0, 0, 0, 1, 0, 0, 0, 1)
    data.ncon = n + 1


MIXES = {
    "turned": {"narrowphase": turned},
    "doubled": {"narrowphase": doubled},
    "frictionless": {"contact_params": frictionless},
    "choosy": {"contact_params": choosy},
    "foreign": {"narrowphase": foreign},
}
PAIR = '<pair geom1="floor" geom2="b" condim="6" friction="0.3 0.3 0.01 0.002 0.002" margin="0.02"/>'


NEWTON, PGS = 'solver="Newton"', 'solver="PGS" cone="elliptic"'
QUICK = {("turned", PGS), ("foreign", PGS), ("choosy", PGS)}
"""One of each kind: another order, another table of pairs, contacts left out."""


@pytest.mark.covering
@pytest.mark.parametrize(
    ("name", "option"),
    [
        pytest.param(name, option, marks=() if (name, option) in QUICK else pytest.mark.slow)
        for name in MIXES
        for option in (NEWTON, PGS)
    ],
)
def test_contacts_of_a_stage_of_ones_own_are_in_lanes_what_they_are_on_numpy(name: str, option: str) -> None:
    """The same in a batch of lanes as in a batch on NumPy; eleven worlds are two tiles, the second one not full."""
    contact = '<exclude body1="a" body2="b"/>' if name == "foreign" else ""
    text = BALLS.format(option=option, contact=contact)
    for letter, place in zip("abc", ('pos="0 0 0.1"', 'pos="0.15', 'pos="0 0.3'), strict=True):
        text = text.replace(f"<body {place}", f'<body name="{letter}" {place}')
    results = []
    for backend in ("numpy", LANES):
        sim = dovetail.Simulation(dovetail.loads(text), nworld=11, backend=backend, stages=MIXES[name])
        if backend == LANES:
            assert sim.plan.choices["solve_constraints"].record.backend == LANES
        sim.data.qvel = 0.5 * np.random.default_rng(3).normal(size=(11, 18))
        sim.step(12)
        results.append(np.asarray(sim.data.qpos).copy())
    assert results[1] == pytest.approx(results[0], abs=1e-9)


def test_an_explicit_pair_keeps_its_parameters() -> None:
    text = BALLS.format(option=PGS, contact=PAIR).replace('type="box"', 'name="b" type="box"')
    results = []
    for backend in ("numpy", LANES):
        sim = dovetail.Simulation(
            dovetail.loads(text),
            nworld=2,
            backend=backend,
            stages={"narrowphase": "@numpy"},
        )
        sim.data.qvel = np.random.default_rng(4).normal(size=(2, 18))
        sim.step(10)
        results.append(np.asarray(sim.data.qpos).copy())
    assert results[1] == pytest.approx(results[0], abs=1e-9)


# ---- the lists themselves


def found(nworld: int = 5, lanes: int = 4, **said: Any) -> tuple[dovetail.Model, Any]:
    """A Data of which only NumPy knows, with contacts that differ between worlds."""
    model = scene()
    sim = dovetail.Simulation(model, nworld=nworld, lanes=lanes, **said)
    rng = np.random.default_rng(0)
    qpos = np.asarray(sim.data.qpos).copy()
    qpos[:, [2, 9, 16]] += rng.choice([0.0, 1.0], size=(nworld, 3))
    sim.data.qpos = qpos
    sim.forward()
    return model, sim.data


def lists(model: dovetail.Model, data: Any, wanted: frozenset[str] = ALL) -> tuple[ContactLists, Any]:
    fetcher = fetch(model, wanted)
    return fetcher, fetcher.read(data)


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_every_contact_of_every_world_is_in_its_tile(precision: str) -> None:
    model, data = found(precision=precision)
    fetcher, tiles = lists(model, data)
    pairs = fetcher.memo["contacts/pairs"]
    assert len(set(np.asarray(data.ncon).tolist())) > 1
    for number, world in enumerate(data.worlds()):
        tile, lane = divmod(number, 4)
        dist = tiles.numbers["contact_list.dist"][tile, : tiles.lengths[tile], 0, lane]
        here = np.flatnonzero(dist < 0.5 * ABSENT)
        assert np.array_equal(dist[here], world.contact.dist[: world.ncon])
        rows = tiles.integers["contact_list.pair"][tile, here]
        assert np.array_equal(pairs.geom1[rows], world.contact.geom1[: world.ncon])
        assert np.array_equal(pairs.geom2[rows], world.contact.geom2[: world.ncon])
        assert np.array_equal(pairs.dim[rows], world.contact.dim[: world.ncon])
        friction = tiles.numbers["contact_list.friction"][tile, here, :, lane]
        assert np.array_equal(friction, world.contact.friction[: world.ncon])
    assert tiles.numbers["contact_list.dist"].dtype == data.arena.buffers["real"].dtype


def test_worlds_share_entries() -> None:
    model, data = found()
    _, tiles = lists(model, data)
    most = max(np.asarray(data.ncon)[:4].max(), 1)
    assert tiles.lengths[0] < np.asarray(data.ncon)[:4].sum()
    assert tiles.lengths[0] >= most


def test_nothing_is_learnt_from_the_usual_contacts() -> None:
    model, data = found()
    assert not lists(model, data)[1].learnt
    assert not lists(model, data, GEOMETRY)[1].learnt


def test_worlds_beyond_the_last_have_none() -> None:
    """The second tile has one world; what lies in the others' memory does not count."""
    model, data = found()
    data.arena.block(data.arena.layout.places["ncon"])[1, 0, 1:] = 3
    _, tiles = lists(model, data)
    assert tiles.lengths[1] == np.asarray(data.ncon)[4]


def test_no_contact_anywhere() -> None:
    model, data = found()
    data.ncon = np.zeros(5, int)
    _, tiles = lists(model, data)
    assert tiles.lengths.tolist() == [0, 0]
    assert tiles.longest == 0


def test_impossible_contacts_are_errors() -> None:
    model, data = found()
    data.world(0).contact.geom[0] = 0, 99
    with pytest.raises(PlanError, match="a contact names geoms 0 and 99, but the model has 4"):
        lists(model, data)
    model, data = found()
    data.world(0).contact.dim[0] = 2
    with pytest.raises(PlanError, match="has dimension 2, not 1, 3, 4 or 6"):
        lists(model, data)
    model, data = found()
    data.world(0).contact.includemargin[0] = -1.0
    with pytest.raises(PlanError, match="not nearer than its includemargin"):
        lists(model, data)


def test_a_bad_number_is_left_to_the_guard() -> None:
    model, data = found()
    data.world(0).contact.dist[0] = np.nan
    _, tiles = lists(model, data)
    assert np.isnan(tiles.numbers["contact_list.dist"]).sum() == 1


KEPT = ("ncon", "nefc", "contact.dist", "contact.dim", "contact.mu", "contact.exclude", "contact.efc_address")


@pytest.mark.parametrize(
    ("stage", "integrator"),
    [
        ("contact_params", "Euler"),
        *(
            pytest.param(s, i, marks=pytest.mark.slow)
            for s in ("narrowphase", "contact_params")
            for i in ("RK4", "implicitfast")
        ),
    ],
)
def test_what_a_mixed_plan_keeps_is_the_reference_s(stage: str, integrator: str) -> None:
    results = []
    for backend in ("numpy", LANES):
        sim = dovetail.Simulation(
            scene(f'integrator="{integrator}" solver="PGS"'),
            nworld=9,
            backend=backend,
            stages={stage: "@numpy"},
            keep=KEPT,
        )
        sim.data.qvel = 0.5 * np.random.default_rng(5).normal(size=(9, 18))
        sim.step(8)
        results.append(sim.data)
    reference, lanes = results
    assert np.asarray(lanes.qpos) == pytest.approx(np.asarray(reference.qpos), abs=1e-9)
    assert np.array_equal(np.asarray(lanes.ncon), np.asarray(reference.ncon))
    assert np.array_equal(np.asarray(lanes.nefc), np.asarray(reference.nefc))
    for ours, theirs in zip(lanes.worlds(), reference.worlds(), strict=True):
        n = int(ours.ncon)
        for name in (field for field in KEPT if field.startswith("contact.")):
            assert ours.field(name)[:n] == pytest.approx(theirs.field(name)[:n], abs=1e-9), name

"""Convex pairs in lane kernels: the contacts of the NumPy reference, in every kind of pose."""

from __future__ import annotations

import numpy as np
import pytest
import robots
from collisions import assert_same, contacts, same_bits
from convex_scenes import GEOMS, KINDS, assets, both, model, of_pair, poses
from lane_backend import LANES
from robot_contacts import contacts_of, states

import dovetail
from dovetail.plugins.shared.contacts.pair_types import CONVEX_PAIRS, HFIELD_PAIRS

SOME = ("ellipsoid-box", "mesh-mesh", "capsule-cylinder", "hfield-capsule", "plane-mesh")
"""Pairs that between them use every part of the code: compiled for the default tests."""
ALL = (*CONVEX_PAIRS, *HFIELD_PAIRS, "plane-mesh", "plane-sdf")
TOLERANCE = 1e-9
SINGLE = {"dist": 5e-5, "pos": 1e-3}
"""In single precision, for 97 of 100 worlds; sizes are a few tenths of a metre. Where surfaces are nearly parallel
the depth is well known, the place less so."""
VAGUE = "hfield-box"
"""Polyhedra over a height field without margin: by MuJoCo's rule the search ends when it meets a vertex of the geom
again, whichever prism's corner it is with, so what it ends with depends on the way (differences of centimetres)."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", SOME)
def test_contacts_are_the_references(key: str, kind: str) -> None:
    ours, wanted = both(SOME, kind, 24)
    touching = 0
    for a, b in zip(ours, wanted, strict=True):
        assert_same(of_pair(a, SOME, key), of_pair(b, SOME, key), TOLERANCE)
        touching += len(of_pair(b, SOME, key).geoms) > 0
    assert touching >= 4


def test_a_world_does_not_depend_on_its_neighbours() -> None:
    """In another order, and so among other worlds of a tile, every world has the same bits."""
    xpos, xmat = poses(SOME, "general", 24)
    order = np.random.default_rng(0).permutation(24)
    moved = contacts(model(SOME), xpos[order], xmat[order])
    for found, world in zip(moved, order, strict=True):
        assert same_bits(found, both(SOME, "general", 24)[0][world])


def test_a_lost_world_has_no_contacts_and_harms_no_other() -> None:
    xpos, xmat = poses(SOME, "general", 24)
    lost = np.arange(24) % 5 == 2
    xpos[lost] = np.nan
    xmat[lost] = np.inf
    for world, found in enumerate(contacts(model(SOME), xpos, xmat)):
        wanted = both(SOME, "general", 24)[0][world]
        assert len(found.geoms) == 0 if lost[world] else same_bits(found, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", ALL)
def test_all_pairs_in_many_poses(key: str, kind: str) -> None:
    ours, wanted = both(ALL, kind, 200)
    for a, b in zip(ours, wanted, strict=True):
        assert_same(of_pair(a, ALL, key), of_pair(b, ALL, key), TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("key", ALL)
def test_contacts_in_single_precision(key: str) -> None:
    """All but a few worlds have as many contacts as the reference, and nearly the same."""
    ours, wanted = both(ALL, "general", 200, "f32")
    other, errors = 0, {name: [0.0] for name in SINGLE}
    for a, b in zip(ours, wanted, strict=True):
        a, b = of_pair(a, ALL, key), of_pair(b, ALL, key)
        if len(a.geoms) != len(b.geoms):
            other += 1
            continue
        for name, worst in errors.items():
            worst.append(float(np.abs(a.fields[name] - b.fields[name]).max(initial=0.0)))
    assert other <= 4
    for name, bound in SINGLE.items():
        assert np.quantile(errors[name], 0.97) <= bound or key == VAGUE, name


ROBOTS = (
    "gymnasium/pusher",
    "suite/finger",
    "suite/quadruped",
    "suite/humanoid_CMU",
    "suite/dog",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ROBOTS if name in robots.FILES])
def test_contacts_of_robots_with_curved_parts_are_mujocos(name: str) -> None:
    data = states(robots.theirs(name), seed=4)
    poses = np.array([d.geom_xpos for d in data]), np.array([d.geom_xmat for d in data])
    ours = contacts(robots.ours(name), *poses)
    for found, oracle in zip(ours, data, strict=True):
        assert_same(found, contacts_of(oracle), TOLERANCE)
    assert sum(len(found.geoms) for found in ours) >= len(data) / 8


def pile() -> str:
    """Things that fall on hills and on each other."""
    shapes = ("mesh", "cylinder", "ellipsoid", "capsule", "box")
    bodies = [
        f'<body pos="{0.15 * (n % 2)} {0.1 * (n % 3)} {0.55 + 0.3 * n}"><freejoint/><geom {GEOMS[shape]}/></body>'
        for n, shape in enumerate(shapes)
    ]
    hills = f"<geom {GEOMS['hfield']}/>"
    return f"<mujoco>{assets()}<worldbody>{hills}{''.join(bodies)}</worldbody></mujoco>"


@pytest.mark.slow
def test_a_pile_on_hills_steps_as_in_mujoco() -> None:
    """The whole step in one kernel, from states of a trajectory at whose end everything touches something.

    In a few states faces of the polytope are equally near, and which comes first hangs on the last bit of the poses:
    MuJoCo itself, moved by 1e-16, then steps elsewhere by up to 1e-3.
    """
    mujoco = pytest.importorskip("mujoco")
    sim = dovetail.Simulation(dovetail.loads(pile()), nworld=16, backend=LANES)
    assert sim.plan.choices["narrowphase"].record.backend == LANES
    theirs = mujoco.MjModel.from_xml_string(pile())
    data = [mujoco.MjData(theirs) for _ in range(16)]
    for world, own in enumerate(data):
        own.qvel[:] = np.random.default_rng(world).normal(size=theirs.nv) * 0.2
    errors = []
    for _ in range(12):
        for own in data:
            mujoco.mj_step(theirs, own, 20)
        for name in ("qpos", "qvel", "qacc_warmstart"):
            setattr(sim.data, name, np.array([getattr(own, name) for own in data]))
        sim.step()
        for own in data:
            mujoco.mj_step(theirs, own)
        wanted = np.array([own.qvel for own in data])
        errors.append(np.abs(np.asarray(sim.data.qvel) - wanted).max(axis=1) / np.abs(wanted).max())
    assert min(own.ncon for own in data) >= 3
    assert np.quantile(errors, 0.92) < 1e-12
    assert np.max(errors) < 1e-2


@pytest.mark.slow
def test_margins_may_differ_between_worlds() -> None:
    """Each world moves as one whose model has that margin."""
    text = """<mujoco><asset><mesh name="m" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2"/></asset><worldbody>
      <geom type="plane" size="1 1 1" pos="0 0 -.21" margin="{0}"/>
      <body pos="0 0 .32"><freejoint/><geom type="ellipsoid" size=".1 .2 .3" margin="{0}"/></body>
      <body><freejoint/><geom type="mesh" mesh="m" margin="{0}"/></body></worldbody></mujoco>"""
    margins = (0.0, 0.3, 0.02)
    sim = dovetail.Simulation(
        dovetail.loads(text.format(0)), nworld=3, backend=LANES, per_world="geom_margin"
    )
    for world, margin in enumerate(margins):
        sim.per_world["geom_margin"][world] = margin
    sim.step(3)
    moved = np.asarray(sim.data.qvel)
    for world, margin in enumerate(margins):
        alone = dovetail.Simulation(dovetail.loads(text.format(margin)))
        alone.step(3)
        np.testing.assert_allclose(moved[world], np.asarray(alone.data.qvel), atol=1e-10)
    assert not np.allclose(moved[0], moved[1])


def test_flags_that_lanes_do_not_have_leave_the_pairs_to_numpy() -> None:
    """By portal refinement, or with several contacts, convex pairs collide on the reference."""
    text = """<mujoco><option><flag {flag}/></option><worldbody>
      <body><freejoint/><geom type="ellipsoid" size=".1 .2 .3"/></body>
      <body><freejoint/><geom type="cylinder" size=".1 .2"/></body></worldbody></mujoco>"""
    backends = {}
    for flag in ('nativeccd="enable"', 'nativeccd="disable"', 'multiccd="enable"'):
        plan = dovetail.Simulation(dovetail.loads(text.format(flag=flag)), nworld=2, backend=LANES).plan
        backends[flag] = plan.choices["narrowphase"].record.backend
    assert backends == {
        'nativeccd="enable"': LANES,
        'nativeccd="disable"': "numpy",
        'multiccd="enable"': "numpy",
    }

"""Convex pairs in lane kernels: the contacts of the NumPy reference, in every kind of pose."""

from __future__ import annotations

import numpy as np
import pytest
from convex_scenes import KINDS, LANES, both, collision, of_pair, poses
from lane_contacts import assert_same
from test_lane_contacts import same_bits

import dovetail
from dovetail.plugins.collide_pair.convex_records import CONVEX_PAIRS, HFIELD_PAIRS

SOME = ("ellipsoid-box", "mesh-mesh", "capsule-cylinder", "hfield-capsule", "plane-mesh")
"""Pairs that between them use every part of the code: compiled for the default tests."""
ALL = (*CONVEX_PAIRS, *HFIELD_PAIRS, "plane-mesh")
TOLERANCE = 1e-9
SINGLE = {"dist": 2e-4, "pos": 5e-3}
"""In single precision, sizes being a few tenths of a metre: the depth is good to some 1e-4; along a face on which
others are about equally near the contact's place may differ by more, in a few worlds."""


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
    moved = collision(SOME)(xpos[order], xmat[order])
    for found, world in zip(moved, order, strict=True):
        assert same_bits(found, both(SOME, "general", 24)[0][world])


def test_a_lost_world_has_no_contacts_and_harms_no_other() -> None:
    xpos, xmat = poses(SOME, "general", 24)
    lost = np.arange(24) % 5 == 2
    xpos[lost] = np.nan
    xmat[lost] = np.inf
    for world, found in enumerate(collision(SOME)(xpos, xmat)):
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
    assert LANES["f32"] == 16
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
        assert np.quantile(errors[name], 0.97) <= bound, name


def test_flags_that_lanes_do_not_have_leave_the_pairs_to_numpy() -> None:
    """By portal refinement, or with several contacts, convex pairs collide on the reference."""
    text = """<mujoco><option><flag {flag}/></option><worldbody>
      <body><freejoint/><geom type="ellipsoid" size=".1 .2 .3"/></body>
      <body><freejoint/><geom type="cylinder" size=".1 .2"/></body></worldbody></mujoco>"""
    backends = {}
    for flag in ('nativeccd="enable"', 'nativeccd="disable"', 'multiccd="enable"'):
        plan = dovetail.Simulation(dovetail.loads(text.format(flag=flag)), nworld=2, backend="taichi").plan
        backends[flag] = plan.choices["narrowphase"].record.backend
    assert backends == {
        'nativeccd="enable"': "taichi",
        'nativeccd="disable"': "numpy",
        'multiccd="enable"': "numpy",
    }

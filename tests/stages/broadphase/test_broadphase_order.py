"""Contacts of random scenes come in MuJoCo's order, whatever the flags, and with its parameters."""

from __future__ import annotations

import numpy as np
import pytest
from contact_reference import Scene, assert_contacts_equal, collided, data_like, mujoco_of, run

import dovetail
from dovetail.plugins.broadphase import all_pairs_numpy, sweep_numpy

FLAGS = ("", 'midphase="disable"', 'filterparent="disable"', 'override="enable"')


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("seed", range(12))
def test_contacts_of_random_scenes(seed: int, flags: str) -> None:
    """About fifty contacts a scene between all shapes, with explicit pairs, exclusions, masks and margins; the
    geometry is MuJoCo's own, so order, frames and parameters are exact."""
    xml = Scene(seed, flags=flags).xml()
    mj_model, mj_data = mujoco_of(xml)
    collided(mj_model, mj_data)
    model = dovetail.loads(xml)
    data = data_like(model, mj_data)
    run(model, data, mj_data)
    assert_contacts_equal(data, mj_data, atol=1e-15)


@pytest.mark.parametrize("seed", range(100, 106))
def test_both_searches_agree_on_random_scenes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_numpy, "FEW", 0)
    xml = Scene(seed).xml()
    mj_model, mj_data = mujoco_of(xml)
    collided(mj_model, mj_data)
    model = dovetail.loads(xml)
    swept, all_pairs = data_like(model, mj_data), data_like(model, mj_data)
    run(model, swept, mj_data)
    all_pairs_numpy.broadphase(model, all_pairs)
    n = swept.ncandidate
    assert n == all_pairs.ncandidate
    np.testing.assert_array_equal(swept.candidate_geom[:n], all_pairs.candidate_geom[:n])
    np.testing.assert_array_equal(swept.candidate_pair[:n], all_pairs.candidate_pair[:n])


MANY_GEOMS = """
<mujoco><option><flag midphase="{}"/></option><worldbody>
  <body><freejoint/><geom type="box" size=".1 .1 .1"/><geom size=".1" pos=".15 0 0"/>
    <geom type="capsule" size=".1 .1" pos=".3 0 0"/></body>
  <body pos="0 .15 0"><freejoint/><geom type="capsule" size=".1 .1"/><geom type="box" size=".1 .1 .1" pos=".15 0 0"/>
    <geom size=".1" pos=".3 0 0"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("midphase", "order"),
    [
        ("enable", [(0, 4), (1, 4), (2, 4), (3, 0), (5, 2)]),
        ("disable", [(3, 0), (0, 4), (1, 4), (2, 4), (5, 2)]),
    ],
)
def test_the_midphase_sorts_by_geoms_as_reported(midphase: str, order: list[tuple[int, int]]) -> None:
    """With it contacts of two bodies are sorted after the lower type was put first, without it before."""
    xml = MANY_GEOMS.format(midphase)
    mj_model, mj_data = mujoco_of(xml)
    collided(mj_model, mj_data)
    model = dovetail.loads(xml)
    data = data_like(model, mj_data)
    run(model, data, mj_data)
    assert list(dict.fromkeys(map(tuple, data.contact.geom[: data.ncon].tolist()))) == order
    assert_contacts_equal(data, mj_data)


def test_explicit_pairs_come_before_the_found_ones_of_the_same_bodies() -> None:
    xml = """<mujoco><worldbody><geom name="f" type="plane" size="1 1 1"/>
      <body name="A"><freejoint/><geom name="a0" size=".1"/><geom name="a1" type="box" size=".1 .1 .1"/></body>
      <body name="B"><freejoint/><geom name="b0" size=".1"/><geom name="b1" size=".1"/></body></worldbody>
      <contact><pair geom1="b1" geom2="a0"/><pair geom1="a0" geom2="b1" friction=".5"/>
      <pair geom1="a1" geom2="f"/><pair geom1="b0" geom2="b1"/><exclude body1="A" body2="world"/>
      </contact></mujoco>"""
    mj_model, mj_data = mujoco_of(xml)
    collided(mj_model, mj_data)
    model = dovetail.loads(xml)
    data = data_like(model, mj_data)
    run(model, data, mj_data)
    assert_contacts_equal(data, mj_data)
    assert data.candidate_pair[: data.ncandidate].tolist() == [0, -1, -1, 1, 2, -1, -1, -1, 3]

"""Capacities: contacts and constraint rows get more room without losing what is there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dovetail
from dovetail import Model
from dovetail.errors import CapacityError


def test_a_data_begins_without_room_and_grows(pendulum: Model) -> None:
    data = dovetail.make_data(pendulum)
    assert data.contact.dist.shape == (0,)
    data.reserve(ncon_max=3, nefc_max=5)
    assert len(data.contact.frame) >= 3
    assert data.efc_KBIP.shape[1] == 4
    assert len(data.efc_KBIP) >= 5


def test_growth_keeps_what_the_fields_held(pendulum: Model) -> None:
    data = dovetail.make_data(pendulum)
    data.reserve(ncon_max=2)
    data.contact.frame[1] = np.arange(9)
    data.contact.geom[1] = 3, 4
    data.reserve(ncon_max=100)
    assert np.array_equal(data.contact.frame[1], np.arange(9))
    assert data.contact.geom[1].tolist() == [3, 4]
    assert not data.contact.frame[2:].any()


def test_other_fields_stay_where_they_are(pendulum: Model) -> None:
    data = dovetail.make_data(pendulum)
    qpos = data.qpos
    data.reserve(ncon_max=50)
    qpos[0] = 0.7
    assert data.qpos[0] == 0.7


def test_room_that_is_there_is_not_made_again(pendulum: Model) -> None:
    data = dovetail.make_data(pendulum)
    data.reserve(ncon_max=10)
    before = data.contact.dist
    data.reserve(ncon_max=10)
    before[0] = 5.0
    assert data.contact.dist[0] == 5.0


@pytest.mark.parametrize("lanes", [1, 4])
def test_every_world_of_a_batch_grows(pendulum: Model, lanes: int) -> None:
    data = dovetail.make_data(pendulum, nworld=6, lanes=lanes)
    world = data.world(4)
    world.reserve(ncon_max=2)
    world.contact.dist[1] = 0.25
    data.world(5).reserve(ncon_max=40)
    assert data.contact.dist.shape[0] == 6
    assert data.contact.dist.shape[1] >= 40
    assert data.contact.dist[4, 1] == 0.25
    assert world.contact.dist[1] == 0.25
    assert world.sizes["ncon_max"] == data.sizes["ncon_max"]


def test_copies_grow_alone(pendulum: Model) -> None:
    data = dovetail.make_data(pendulum)
    clone = data.copy()
    clone.reserve(ncon_max=9)
    assert len(data.contact.dist) == 0


def test_memory_is_capped_before_it_is_taken(pendulum: Model) -> None:
    data = dovetail.make_data(pendulum, max_bytes=1 << 20)
    with pytest.raises(CapacityError, match="max_bytes"):
        data.reserve(ncon_max=10_000_000)
    assert data.sizes.get("ncon_max", 0) == 0
    data.reserve(ncon_max=4)
    assert len(data.contact.dist) >= 4


def test_an_unknown_capacity_names_the_nearest(pendulum: Model) -> None:
    with pytest.raises(ValueError, match="ncon_max"):
        dovetail.make_data(pendulum).reserve(ncon_mix=3)


def test_saved_fields_come_back_whatever_the_capacity(pendulum: Model, tmp_path: Path) -> None:
    data = dovetail.make_data(pendulum)
    data.reserve(ncon_max=20)
    data.contact.dist[7] = 1.5
    data.save(tmp_path / "run.npz", fields="all")
    small, large = dovetail.make_data(pendulum), dovetail.make_data(pendulum)
    large.reserve(ncon_max=500)
    for other in (small, large):
        other.load(tmp_path / "run.npz")
        assert other.contact.dist[7] == 1.5


def test_numbers_are_taken_over_whichever_has_more_room(pendulum: Model) -> None:
    small, large = dovetail.make_data(pendulum), dovetail.make_data(pendulum)
    small.reserve(ncon_max=3)
    large.reserve(ncon_max=90)
    small.contact.dist[2] = 0.5
    small.qpos[0] = 0.1
    large.copy_from(small)
    assert (large.contact.dist[2], large.qpos[0]) == (0.5, 0.1)
    large.contact.dist[80] = 0.75
    small.copy_from(large)
    assert small.contact.dist[80] == 0.75


def test_a_remembered_view_is_forgotten_when_the_memory_moves(pendulum: Model) -> None:
    data = dovetail.make_data(pendulum, nworld=3)
    worlds = [data, *data.worlds()]
    data.reserve(ncon_max=2, nefc_max=2)
    before = [(d.contact.dist, d.efc_J_rownnz) for d in worlds]
    assert all(d.contact.dist is dist for d, (dist, _) in zip(worlds, before, strict=True))
    data.world(1).reserve(ncon_max=50)
    for d, (dist, rownnz) in zip(worlds, before, strict=True):
        assert not np.shares_memory(d.contact.dist, dist)
        assert not np.shares_memory(d.efc_J_rownnz, rownnz)
    data.contact.dist[1, 49] = 0.5
    assert data.world(1).contact.dist[49] == 0.5

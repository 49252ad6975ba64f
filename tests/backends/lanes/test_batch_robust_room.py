"""Lists that outgrow their room, and long lists of pairs: no contact is lost, and other worlds are not touched."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from collisions import assert_same, contacts
from lane_backend import LANES
from lane_small import BUFFERS, ROWS, N, compile_small, stage

import dovetail
from dovetail.backends.lanes.kernel import Kernel
from dovetail.backends.lanes.program import FLOAT
from dovetail.contracts.arena import aligned_zeros
from dovetail.plugins.broadphase import pair_ranges_lanes as ranges
from dovetail.plugins.shared.contacts import contacts_lanes
from dovetail.plugins.shared.contacts.contacts_lanes import pairs_of


def spheres(count: int, *more: str) -> str:
    """A plane and free spheres in rows, just above it."""
    side = int(np.ceil(np.sqrt(count)))
    places = [(0.25 * (n % side), 0.25 * (n // side)) for n in range(count)]
    bodies = "".join(
        f'<body pos="{x} {y} 0.12"><freejoint/><geom size="0.1" mass="1"/></body>' for x, y in places
    )
    floor = '<geom type="plane" size="9 9 1"/>'
    return f"<mujoco><worldbody>{floor}{''.join(more)}{bodies}</worldbody></mujoco>"


# ---- room ---------------------------------------------------------------------------------------------------


def list_positive(k: Kernel) -> None:
    """Sum up the numbers of x that are positive in any world, by way of a list with room for one."""
    room = k.room(N, 1)
    entries, count, total = k.integers("entries", room), k.local(0), k.local(0.0)
    with k.loop(0, N) as i, k.when(k.any(k.data.x[i] > 0.0)):
        entries[k.min(count.value, room - 1)] = i
        count += 1
    with k.when(count.value > room):
        k.lacks(count.value, room)
        count.set(0)
    with k.loop(0, count.value) as n:
        total += k.max(k.data.x[entries[n]], 0.0)
    k.data.y[0] = k.data.y[0] + total.value


def test_a_tile_that_lacks_room_is_untouched_and_says_how_much_it_needs() -> None:
    x = np.full((3, 8, N), -1.0)
    x[1, 5] = [1.0, -1.0, 2.0, 4.0]  # one world needs three entries
    x[2, 0, 3] = 8.0
    buffer = aligned_zeros((3, ROWS, 8), FLOAT["f64"])
    buffer[:, :N] = x.transpose(0, 2, 1)
    before = buffer.copy()
    small = compile_small(stage(list_positive, reads="x y"), load=("x", "y"))
    lacking = small.run(buffer, BUFFERS, 1).lacking
    assert lacking.tolist() == [0, 3, 0]
    assert np.array_equal(buffer[1], before[1])
    assert buffer[2, N].tolist() == [8.0] + [0.0] * 7
    larger = compile_small(stage(list_positive, reads="x y"), load=("x", "y"), growth=3)
    assert larger.run(buffer, BUFFERS, 1, only=lacking).lacking is None
    assert buffer[1, N].tolist() == [0.0] * 5 + [7.0] + [0.0] * 2
    assert buffer[2, N].tolist() == [8.0] + [0.0] * 7  # not run a second time


def test_large_models_have_room_for_what_is_usual_only() -> None:
    model = dovetail.loads(spheres(120))
    assert pairs_of(model).most_in_all == 120 + 120 * 119 // 2
    contacts = contacts_lanes.Contacts(kernel_of(model))
    assert contacts.room == contacts_lanes.LEAST_ROOM
    assert contacts.may_lack_room
    few = contacts_lanes.Contacts(kernel_of(dovetail.loads(spheres(3))))
    assert (few.room, few.may_lack_room) == (6, False)


def kernel_of(model: dovetail.Model) -> Kernel:
    from dovetail.backends.lanes.kernel import LaneLayout

    return Kernel(LaneLayout({}, {}, frozen_model=model))


@pytest.mark.slow
def test_no_contact_is_lost_when_one_tile_outgrows_its_room(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Balls that lie apart have a contact each; in one world they are pushed together."""
    model = dovetail.loads(spheres(4))
    roomy = run_spheres(model, nstep=12)
    monkeypatch.setattr(contacts_lanes, "LEAST_ROOM", 4)
    monkeypatch.setattr(contacts_lanes, "ROOM_PER_GEOM", 0)
    with caplog.at_level(logging.WARNING):
        tight = run_spheres(model, nstep=12)
    assert "1 of 2 tiles have more contacts than the kernel has room for" in caplog.text
    for name, values in roomy.items():
        assert np.array_equal(values, tight[name]), name


def run_spheres(model: dovetail.Model, nstep: int) -> dict[str, Any]:
    sim = dovetail.Simulation(model, nworld=16, backend=LANES)
    qpos = np.array(sim.data.qpos)
    qpos[:, 2::7] = 0.0999
    qpos[11, 0::7] *= 0.75
    qpos[11, 1::7] *= 0.75
    sim.data.qpos = qpos
    sim.step(nstep)
    return {name: np.array(sim.data.field(name)) for name in ("qpos", "qvel", "qacc_warmstart")}


# ---- long lists ---------------------------------------------------------------------------------------------

CROWD = spheres(
    14,
    '<body pos="0.3 0.3 0.3"><freejoint/>'
    + "".join(f'<geom type="capsule" size="0.03 0.1" pos="0 {0.1 * n} 0"/>' for n in range(4))
    + "</body>",
    '<geom type="box" size="0.1 0.1 0.1" pos="0.5 0.5 0.1"/>',
)


def test_stretches_cover_the_list_in_its_order() -> None:
    model = dovetail.loads(spheres(60))
    pairs = pairs_of(model)
    found = ranges.pair_ranges_of(model, pairs)
    assert found is not None
    assert found.first[0] == 0
    assert found.first[-1] == pairs.count
    assert (np.diff(found.first) > 0).all()
    assert found.count < pairs.count / ranges.LEAST_LENGTH
    for s in range(found.count):
        part = slice(found.first[s], found.first[s + 1])
        low = np.minimum(pairs.body1[part], pairs.body2[part])
        high = np.maximum(pairs.body1[part], pairs.body2[part])
        assert set(low.tolist()) == {found.body[s]}
        assert set((high // found.group_size).tolist()) == {found.group[s]}


def test_short_lists_are_looked_through_pair_by_pair() -> None:
    model = dovetail.loads(spheres(10))
    assert ranges.pair_ranges_of(model, pairs_of(model)) is None


def test_stretches_pass_over_no_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "LONG_LIST", 10)
    monkeypatch.setattr(ranges, "LEAST_LENGTH", 1)
    model = dovetail.loads(CROWD)
    assert ranges.pair_ranges_of(model, pairs_of(model)) is not None
    rng = np.random.default_rng(5)
    xpos = rng.uniform(0.0, 0.9, (24, model.ngeom, 3))
    xpos[:, 0] = 0.0
    xpos[3, 7] = np.nan  # a geom that is nowhere touches nothing, and the others touch as before
    xmat = np.tile(np.eye(3).ravel(), (24, model.ngeom, 1))
    found = contacts(model, xpos, xmat)
    total = 0
    for world, ours in enumerate(found):
        expected = contacts_by_reference(model, xpos[world], xmat[world])
        assert_same(ours, expected, 1e-10)
        total += len(ours.geoms)
    assert total > 100


def contacts_by_reference(model: dovetail.Model, xpos: np.ndarray, xmat: np.ndarray) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # geoms that are nowhere
        return contacts(model, xpos[None], xmat[None], "numpy")[0]

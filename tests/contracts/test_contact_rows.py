"""Contacts as a list: `data.contact[i]` reads and writes the arrays of `data.contact`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail import Simulation
from dovetail.errors import ArgumentError, UnknownFieldError, UnknownIndexError

BOX = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 1"/>
    <body name="box" pos="0 0 0.099"><freejoint/><geom name="box" type="box" size="0.1 0.1 0.1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(params=["numpy", LANES])
def sim(request: pytest.FixtureRequest) -> Simulation:
    made = Simulation(dovetail.loads(BOX), backend=request.param)
    made.forward()
    return made


def test_a_contact_is_a_row_of_the_arrays(sim: Simulation) -> None:
    contact: Any = sim.data.contact
    assert len(contact) == sim.data.ncon == 4
    assert [c.dist for c in contact] == contact.dist[:4].tolist()
    assert contact[-1].dist == contact.dist[3]
    assert type(contact[0].dist) is float
    assert (contact[0].geom1, contact[0].geom2, contact[0].geom.tolist()) == (0, 1, [0, 1])
    assert np.array_equal(contact[2].frame, contact.frame[2])
    assert np.array_equal(contact[1].H, contact.H[1])
    assert {"dist", "frame", "efc_address"} <= set(dir(contact[0]))
    assert repr(contact[1]) == "<contact 1 of 4>"


def test_what_is_assigned_is_written_into_the_arrays(sim: Simulation) -> None:
    contact: Any = sim.data.contact
    contact[1].dist = -0.5
    contact[1].pos = (1, 2, 3)
    contact[1].pos[2] = 4
    assert contact.dist[1] == -0.5
    assert contact.pos[1].tolist() == [1, 2, 4]
    contact[0] = contact[1]
    assert contact.pos[0].tolist() == [1, 2, 4]


def test_slices_are_lists_of_contacts(sim: Simulation) -> None:
    contact: Any = sim.data.contact
    assert [c.dist for c in contact[1:3]] == contact.dist[1:3].tolist()
    assert [c.dist for c in contact[::-1]] == contact.dist[:4][::-1].tolist()
    assert contact[4:] == []


def test_the_list_follows_the_steps() -> None:
    sim = Simulation(dovetail.loads(BOX), backend="numpy")
    contact: Any = sim.data.contact
    assert len(contact) == 0
    assert contact  # a group is there, also without contacts
    sim.forward()
    assert len(contact) == 4
    sim.data.qpos[2] = 3.0
    sim.forward()
    assert list(contact) == []


def test_mistakes_say_what_there_is(sim: Simulation) -> None:
    contact: Any = sim.data.contact
    with pytest.raises(UnknownIndexError, match="there is no contact number 4: there are 4 now"):
        contact[4]
    with pytest.raises(ArgumentError, match="by its number or by a slice, not as 'floor'"):
        contact["floor"]
    with pytest.raises(UnknownFieldError, match=r"a contact has no 'distt'; did you mean 'dist'\?"):
        contact[0].distt  # noqa: B018
    with pytest.raises(UnknownFieldError, match="no 'force'"):
        contact[0].force = 1
    with pytest.raises(ArgumentError, match=r"pos has shape \(3,\)"):
        contact[0].pos = (1, 2)
    with pytest.raises(ArgumentError, match="assigned from another one"):
        contact[0] = 3


def test_a_batch_says_to_ask_one_world() -> None:
    batch = Simulation(dovetail.loads(BOX), 3, backend="numpy")
    batch.forward()
    contact: Any = batch.data.contact
    for ask in (lambda: contact[0], lambda: len(contact), lambda: list(contact)):
        with pytest.raises(
            ArgumentError, match=r"of a batch has no rows of its own.*data\.world\(0\)\.contact\[0\]"
        ):
            ask()
    assert len(batch.data.world(2).contact) == 4  # type: ignore[arg-type]
    assert contact.dist.shape[0] == 3


# ---- in questions


def test_questions_take_names(sim: Simulation) -> None:
    model, data = sim.model, sim.data
    for by_name, by_number in (
        (dovetail.jac_body(model, data, "box"), dovetail.jac_body(model, data, 1)),
        (dovetail.jac_geom(model, data, "box"), dovetail.jac_geom(model, data, 1)),
        (
            dovetail.apply_ft(model, data, (1, 2, 3), (0, 0, 1), (0, 0, 0), "box"),  # type: ignore[arg-type]
            dovetail.apply_ft(model, data, (1, 2, 3), (0, 0, 1), (0, 0, 0), 1),  # type: ignore[arg-type]
        ),
        (
            dovetail.object_velocity(model, data, "geom", "box"),
            dovetail.object_velocity(model, data, "geom", 1),
        ),
        (
            dovetail.geom_distance(model, data, "floor", "box", 1.0)[1],
            dovetail.geom_distance(model, data, 0, 1, 1.0)[1],
        ),
        (
            dovetail.ray(model, data, (0, 0, 1), (0, 0, -1), bodyexclude="box"),
            dovetail.ray(model, data, (0, 0, 1), (0, 0, -1), bodyexclude=1),
        ),
    ):
        assert np.array_equal(
            np.concatenate(np.atleast_2d(by_name)), np.concatenate(np.atleast_2d(by_number))
        )
    with pytest.raises(KeyError, match=r"no body is named 'bax'; did you mean 'box'\?"):
        dovetail.jac_body(model, data, "bax")
    with pytest.raises(KeyError, match="no site is named 'box'"):
        dovetail.object_velocity(model, data, "site", "box")


def test_the_force_of_a_contact_is_asked_by_the_contact_itself(sim: Simulation) -> None:
    contact: Any = sim.data.contact
    forces = [dovetail.contact_force(sim.model, sim.data, c)[0] for c in contact]
    assert forces == [dovetail.contact_force(sim.model, sim.data, i)[0] for i in range(4)]
    assert sum(forces) > 0


def test_a_question_about_a_batch_says_to_ask_one_world() -> None:
    batch = Simulation(dovetail.loads(BOX), 3, backend="numpy")
    batch.forward()
    model, data = batch.model, batch.data
    for ask in (
        lambda: dovetail.jac_body(model, data, 1),
        lambda: dovetail.contact_force(model, data, 0),
        lambda: dovetail.geom_distance(model, data, 0, 1, 1.0),
        lambda: dovetail.ray(model, data, (0, 0, 1), (0, 0, -1)),
        lambda: dovetail.mul_m(model, data, np.zeros(6)),
        lambda: dovetail.full_mass_matrix(model, data),
        lambda: dovetail.inverse(model, data),
        lambda: dovetail.transition_fd(model, data),
    ):
        with pytest.raises(
            ArgumentError, match=r"data is a batch of 3 worlds: ask about one .* data\.world\(0\)"
        ):
            ask()

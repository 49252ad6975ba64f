"""Objects by name: `model.body("x")`, `data.joint("j").qpos`; unknown names tell the nearest one."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail import Model


def test_a_name_and_a_number_give_the_same_object(zoo: Model) -> None:
    elbow = zoo.body("elbow")
    assert (elbow.id, elbow.name) == (4, "elbow")
    assert zoo.body(4).name == zoo.body(-1).name == "elbow"
    assert repr(elbow) == "<body 'elbow' id=4>"


def test_attributes_are_the_owners_fields_cut_down(zoo: Model) -> None:
    assert zoo.body("drone").pos.tolist() == [0.0, 0.0, 1.0]
    assert zoo.body("target").mocapid == 0
    assert zoo.joint("rail").stiffness == 3.0
    assert zoo.actuator("lagged").dynprm[0] == 0.1
    assert zoo.key("home").ctrl.tolist() == [0.5, 0.6]


def test_writing_an_attribute_writes_the_model(zoo: Model) -> None:
    zoo.geom("hull").friction = (0.1, 0.2, 0.3)
    zoo.geom("hull").friction[2] = 0.9
    assert zoo.geom_friction[zoo.geom("hull").id].tolist() == [0.1, 0.2, 0.9]


@pytest.mark.parametrize(
    ("joint", "qpos", "qvel"),
    [
        ("flight", slice(0, 7), slice(0, 6)),
        ("socket", slice(7, 11), slice(6, 9)),
        ("bend", slice(12, 13), slice(10, 11)),
    ],
)
def test_a_joint_is_cut_by_its_width_in_qpos_and_in_qvel(
    zoo: Model, joint: str, qpos: slice, qvel: slice
) -> None:
    data = dovetail.make_data(zoo)
    data.qpos, data.qvel = np.arange(13.0), np.arange(11.0)
    assert np.array_equal(data.joint(joint).qpos, data.qpos[qpos])
    assert np.array_equal(data.joint(joint).qvel, data.qvel[qvel])
    assert np.array_equal(zoo.joint(joint).qpos0, zoo.qpos0[qpos])
    assert np.array_equal(zoo.joint(joint).damping, zoo.dof_damping[qvel])


@pytest.mark.parametrize("lanes", [1, 8])
def test_in_a_batch_the_world_axis_stays_and_writes_go_through(zoo: Model, lanes: int) -> None:
    data = dovetail.make_data(zoo, 3, lanes=lanes)
    data.joint("socket").qvel = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    data.joint("socket").qvel[1] = 0.0
    data.body("drone").xfrc_applied[:, 2] += 5.0
    assert np.asarray(data.qvel)[:, 6:9].tolist() == [[1, 2, 3], [0, 0, 0], [7, 8, 9]]
    assert data.world(2).xfrc_applied[2, 2] == 5.0
    assert data.body("drone").xpos.shape == (3, 3)


def test_an_unknown_name_is_a_key_error_with_the_nearest(zoo: Model) -> None:
    with pytest.raises(KeyError, match=r"no body is named 'elbo'; did you mean 'elbow'\?"):
        zoo.body("elbo")
    with pytest.raises(KeyError, match="no joint is named 'elbow'"):
        dovetail.make_data(zoo).joint("elbow")


def test_a_number_out_of_range_is_a_key_error_with_the_count(zoo: Model) -> None:
    with pytest.raises(KeyError, match="there is no joint number 4: the model has 4"):
        zoo.joint(4)


def test_an_unknown_attribute_names_the_nearest(zoo: Model) -> None:
    with pytest.raises(AttributeError, match=r"geom 'hull' has no 'frictoin'; did you mean 'friction'\?"):
        zoo.geom("hull").frictoin  # noqa: B018
    with pytest.raises(AttributeError, match=r"did you mean 'pos'\?"):
        zoo.body("drone").poss = 1


def test_attributes_are_listed(zoo: Model) -> None:
    assert {"id", "name", "mass", "pos"} <= set(dir(zoo.body(1)))
    assert {"ctrl", "force"} <= set(dir(dovetail.make_data(zoo).actuator("push")))

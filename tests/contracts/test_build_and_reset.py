"""Building, validating and resetting: every problem at once, NaN by name, initial values by declaration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import Model
from dovetail.contracts.derive import build_model
from dovetail.errors import ValidationError


def test_all_problems_of_a_model_are_reported_together() -> None:
    values = {
        "body_mass": [1.0],
        "body_poss": [[0, 0, 0]],
        "body_pos": [[0, 0, np.nan], [0, 0, 0]],
        "body_parentid": [0.5, 0.5],
        "geom_type": np.zeros(3, np.int32),
        "body_weldid": np.array([0, 1 << 40]),
    }
    with pytest.raises(ValidationError) as caught:
        build_model({"nbody": 2, "ngeom": 1}, values, modelname="broken")
    text = str(caught.value)
    assert text.startswith("model broken: 6 problems\n")
    for phrase in (
        "body_mass has shape (1,), should be (2,) (nbody)",
        "unknown field 'body_poss'; did you mean 'body_pos'?",
        "body_pos[0][2] is nan",
        "body_parentid has dtype float64, should be int32",
        "geom_type has shape (3,), should be (1,) (ngeom)",
        "body_weldid has values outside the range of int32",
    ):
        assert phrase in text
    assert len(caught.value.problems) == 6


def test_sizes_are_checked_before_anything_is_allocated() -> None:
    with pytest.raises(
        ValidationError, match=r"size nq = -2 is negative(.|\n)*unknown size 'nbdy'; did you mean 'nbody'"
    ):
        build_model({"nq": -2, "nbdy": 1}, {})
    with pytest.raises(ValidationError, match=r"entries; at most 2,147,483,648 are possible"):
        build_model({"nq": 1 << 33}, {})


def test_what_is_unsaid_has_the_declared_initial_value() -> None:
    model = build_model({"nbody": 1}, {})
    assert model.opt.timestep == 0.002
    assert model.opt.gravity.tolist() == [0.0, 0.0, -9.81]


def test_flat_values_are_taken_in_the_declared_shape() -> None:
    model = build_model({"nbody": 2}, {"body_pos": [1, 2, 3, 4, 5, 6]})
    assert model.body_pos.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_bad_numbers_are_named_by_joint_body_and_world(zoo: Model) -> None:
    data: Any = dovetail.make_data(zoo, 3, lanes=8)
    data.world(2).qpos[12] = np.nan
    data.world(1).qvel[7] = np.inf
    data.world(0).xfrc_applied[4, 1] = -np.inf
    with pytest.raises(ValidationError) as caught:
        dovetail.validate(data)
    text = str(caught.value)
    assert 'world 2: qpos[12] (joint "bend") is nan' in text
    assert 'world 1: qvel[7] (joint "socket") is inf' in text
    assert 'world 0: xfrc_applied[4][1] (body "elbow") is -inf' in text


def test_one_world_is_named_without_a_world_number(zoo: Model) -> None:
    data: Any = dovetail.make_data(zoo)
    data.ctrl[1] = np.nan
    with pytest.raises(ValidationError, match=r'- ctrl\[1\] \(actuator "lagged"\) is nan'):
        dovetail.validate(data)


def test_many_bad_numbers_are_counted_not_listed(zoo: Model) -> None:
    data: Any = dovetail.make_data(zoo)
    data.qpos = np.nan
    with pytest.raises(ValidationError, match="qpos: 8 more"):
        dovetail.validate(data, ["qpos"])


def test_validating_an_unknown_field_is_a_problem_too(zoo: Model) -> None:
    with pytest.raises(ValidationError, match=r"unknown or not kept: 'qposs'; did you mean 'qpos'\?"):
        dovetail.validate(dovetail.make_data(zoo), ["qposs"])


def test_good_data_passes(zoo: Model) -> None:
    dovetail.validate(dovetail.make_data(zoo, 2))


def test_a_new_data_stands_at_qpos0_with_mocap_bodies_in_place(zoo: Model) -> None:
    data: Any = dovetail.make_data(zoo)
    assert np.array_equal(data.qpos, zoo.qpos0)
    assert data.mocap_pos.tolist() == [[1.0, 2.0, 3.0]]
    assert data.mocap_quat.tolist() == [[0.0, 1.0, 0.0, 0.0]]
    assert data.time == 0.0


@pytest.mark.parametrize(("nworld", "lanes"), [(None, 1), (3, 1), (3, 8)])
def test_reset_undoes_everything(zoo: Model, nworld: int | None, lanes: int) -> None:
    data, fresh = (dovetail.make_data(zoo, nworld, lanes=lanes) for _ in range(2))
    for _, view in data.fields():
        view[...] = 1
    dovetail.reset(zoo, data)
    for name, view in data.fields():
        assert np.array_equal(view, fresh.field(name)), name


@pytest.mark.parametrize("key", ["home", 1, -1])
def test_a_keyframe_sets_state_controls_mocap_and_time(zoo: Model, key: str | int) -> None:
    data: Any = dovetail.make_data(zoo)
    dovetail.reset(zoo, data, keyframe=key)
    assert data.time == 2.5
    assert data.qpos[:3].tolist() == [1.0, 2.0, 3.0]
    assert data.qvel.tolist() == list(range(1, 12))
    assert (data.act.tolist(), data.ctrl.tolist()) == ([0.3], [0.5, 0.6])
    assert data.mocap_pos.tolist() == [[4.0, 5.0, 6.0]]


def test_an_unknown_keyframe_changes_nothing(zoo: Model) -> None:
    data: Any = dovetail.make_data(zoo)
    data.qvel = 5.0
    with pytest.raises(KeyError, match=r"no key is named 'hom'; did you mean 'home'\?"):
        dovetail.reset(zoo, data, keyframe="hom")
    assert np.all(data.qvel == 5.0)


@pytest.mark.parametrize("worlds", [[0, 2], np.array([True, False, True, False])])
@pytest.mark.parametrize("lanes", [1, 8])
def test_chosen_worlds_are_reset_and_others_left(
    zoo: Model, worlds: list[int] | np.ndarray, lanes: int
) -> None:
    data: Any = dovetail.make_data(zoo, 4, lanes=lanes)
    data.qvel, data.time = 8.0, 1.0
    dovetail.reset(zoo, data, "home", worlds)
    assert np.asarray(data.time).tolist() == [2.5, 1.0, 2.5, 1.0]
    assert np.asarray(data.qvel)[:, 0].tolist() == [1.0, 8.0, 1.0, 8.0]


def test_worlds_that_do_not_exist_are_refused(zoo: Model) -> None:
    data: Any = dovetail.make_data(zoo, 3)
    with pytest.raises(ValidationError, match=r"the mask has shape \(2,\), should be \(3,\)"):
        dovetail.reset(zoo, data, worlds=np.array([True, False]))
    with pytest.raises(ValidationError, match="3"):
        dovetail.reset(zoo, data, worlds=[0, 3])

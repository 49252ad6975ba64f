"""Reading and writing declared fields: `x = v` and `x[:] = v` are one memory, mistakes are named."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import Model
from dovetail.contracts.types import STATE
from dovetail.errors import NotKeptError

LAYOUTS = [(None, 1), (5, 1), (5, 8)]


@pytest.fixture(params=LAYOUTS, ids=["one world", "plain batch", "tiled batch"])
def data(request: pytest.FixtureRequest, zoo: Model) -> Any:
    nworld, lanes = request.param
    return dovetail.make_data(zoo, nworld, lanes=lanes)


def test_assigning_the_name_and_assigning_its_slice_write_the_same_memory(data: Any) -> None:
    held = data.qvel
    data.qvel = 3.0
    assert np.all(held == 3.0)
    data.qvel[:] = 4.0
    assert np.all(data.qvel == 4.0)
    assert data.qvel is held


def test_adding_in_place_to_a_field_writes_the_arena(data: Any) -> None:
    data.qvel += 1.5
    data.qvel *= 2.0
    assert all(np.all(world.qvel == 3.0) for world in data.worlds())


def test_a_slice_of_a_field_is_a_view_in_every_layout(data: Any) -> None:
    part = data.qvel[..., 2:4]
    part[...] = 9.0
    data.qvel[..., 0] += 1.0
    assert all(w.qvel[:4].tolist() == [1.0, 0.0, 9.0, 9.0] for w in data.worlds())


def test_shapes_are_mujocos_with_a_leading_axis_of_worlds(data: Any, zoo: Model) -> None:
    lead = () if data.nworld is None else (data.nworld,)
    assert data.xpos.shape == (*lead, zoo.nbody, 3)
    assert data.xmat.shape == (*lead, zoo.nbody, 9)
    assert np.shape(data.time) == lead


def test_a_scalar_is_a_python_number_in_one_world(pendulum: Model) -> None:
    data = dovetail.make_data(pendulum)
    data.time = 1.25
    assert type(data.time) is float
    assert type(data.ncon) is int
    assert data.time == data.field("time")[()] == 1.25
    assert type(pendulum.opt.timestep) is float


def test_a_scalar_of_a_batch_is_an_array_over_worlds(pendulum: Model) -> None:
    data: Any = dovetail.make_data(pendulum, 3, lanes=8)
    data.time = [1.0, 2.0, 3.0]
    data.time[1] = 5.0
    assert np.asarray(data.time).tolist() == [1.0, 5.0, 3.0]
    assert data.world(1).time == 5.0


def test_a_world_shares_the_batchs_memory(data: Any) -> None:
    last = list(data.worlds())[-1]
    last.qpos[2] = 0.75
    assert np.asarray(data.qpos).reshape(-1, 13)[-1, 2] == 0.75
    assert list(data.worlds())[-1] is last


def test_groups_are_attributes_with_fields_of_their_own(pendulum: Any) -> None:
    pendulum.opt.gravity = (0.0, 0.0, -1.62)
    pendulum.opt.gravity[0] = 0.5
    pendulum.opt.timestep *= 2
    assert pendulum.field("opt.gravity").tolist() == [0.5, 0.0, -1.62]
    assert pendulum.opt.timestep == 0.004
    data = dovetail.make_data(pendulum, capacity={"nconmax": 3})
    assert data.contact.dist.shape[-1:] == data.field("contact.dist").shape[-1:]


def test_a_value_of_the_wrong_shape_is_refused_with_the_fields_name(data: Any) -> None:
    with pytest.raises(ValueError, match=r"qvel has shape \(.*11,?\): could not broadcast"):
        data.qvel = np.zeros(4)


@pytest.mark.parametrize("write", [False, True])
def test_an_unknown_field_is_an_attribute_error_that_names_the_nearest(pendulum: Any, write: bool) -> None:
    data = dovetail.make_data(pendulum)
    with pytest.raises(AttributeError, match=r"Data has no field 'qposs'; did you mean 'qpos'\?"):
        setattr(data, "qposs", 1) if write else data.qposs
    with pytest.raises(AttributeError, match=r"Option has no field 'timestp'; did you mean 'timestep'\?"):
        setattr(pendulum.opt, "timestp", 1) if write else pendulum.opt.timestp


def test_an_unkept_field_says_how_to_keep_it(pendulum: Model) -> None:
    data = dovetail.make_data(pendulum, keep="state")
    assert not hasattr(data, "xpos")
    with pytest.raises(NotKeptError, match=r'xpos is not kept by this plan.*keep=\("xpos",\), or keep="all"'):
        data.xpos  # noqa: B018
    with pytest.raises(NotKeptError, match=r'keep=\("contact\.dist",\)'):
        data.contact.dist  # noqa: B018


def test_keep_has_the_state_and_the_named_fields_only(pendulum: Model) -> None:
    data = dovetail.make_data(pendulum, keep=("xpos", "contact.dist"))
    assert {name for name, _ in data.fields()} == {*STATE, "xpos", "contact.dist"}


def test_keeping_an_unknown_field_names_the_nearest(pendulum: Model) -> None:
    with pytest.raises(
        dovetail.DovetailError, match=r"unknown field 'sensordat'; did you mean 'sensordata'\?"
    ):
        dovetail.make_data(pendulum, keep=("sensordat",))


def test_sizes_are_attributes_and_fixed(zoo: Model) -> None:
    assert (zoo.nq, zoo.nv, zoo.nbody) == (13, 11, 5)
    with pytest.raises(AttributeError, match="nq is a size: it is fixed when the model is compiled"):
        zoo.nq = 3
    with pytest.raises(TypeError):
        zoo.sizes["nq"] = 3  # type: ignore[index]


def test_every_field_is_listed_by_dir(zoo: Model) -> None:
    assert {"qpos", "xpos", "contact", "world", "save"} <= set(dir(dovetail.make_data(zoo)))
    assert {"opt", "body_mass", "geom"} <= set(dir(zoo))


def test_a_copy_has_the_numbers_and_memory_of_its_own(data: Any) -> None:
    data.qvel = 2.0
    for clone in (data.copy(), copy.copy(data), copy.deepcopy(data)):
        clone.qvel = 7.0
        assert np.all(data.qvel == 2.0)
        assert clone.nworld == data.nworld
    assert data.copy().model is copy.copy(data).model is data.model
    data.qvel = 3.0
    assert np.all(clone.qvel == 7.0)


def test_plugin_fields_are_reached_by_their_namespaced_name(pendulum: Model) -> None:
    data = dovetail.make_data(pendulum)
    data.extra["rk4:qpos0"] = 4.0
    assert "rk4:qpos0" in data.extra
    assert "qpos" not in data.extra
    assert data.extra["rk4:qpos0"].tolist() == [4.0]
    assert "rk4:qpos0" in list(data.extra)
    with pytest.raises(KeyError, match=r"no plugin field 'rk4:qpos1'; did you mean 'rk4:qpos0'\?"):
        data.extra["rk4:qpos1"]


def test_model_edits_are_seen_at_the_next_step(pendulum: Model) -> None:
    sim = dovetail.Simulation(pendulum)
    sim.forward()
    before = sim.data.qacc.copy()
    pendulum.opt.gravity *= 2
    sim.forward()
    assert sim.data.qacc[0] == pytest.approx(2 * before[0])

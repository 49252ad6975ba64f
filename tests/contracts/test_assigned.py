"""What is no number is refused where a field is assigned, by an error that says what the field takes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.contracts.arena import TiledArray
from dovetail.errors import ArgumentError

XML = """
<mujoco>
  <worldbody>
    <body name="m" mocap="true"/>
    <body name="b"><joint name="a"/><geom size=".1" pos=".1 0 0"/></body>
  </worldbody>
  <equality><joint joint1="a"/></equality>
  <actuator><motor name="u" joint="a"/><motor name="v" joint="a"/></actuator>
</mujoco>
"""
NO_NUMBERS = {
    "None": None,
    "Nones": [None, None],
    "a text": "1.5",
    "texts": ["1", "2"],
    "bytes": b"1",
    "an object": object(),
    "a mapping": {},
    "complex": 1j,
    "complex numbers": np.ones(2, complex),
    "ragged": [[1, 2], [3]],
    "objects": np.array([1.0, None], object),
    "dates": np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"),
}


@pytest.fixture(scope="module", params=[None, 3], ids=["one world", "a batch"])
def sim(request: pytest.FixtureRequest) -> dovetail.Simulation:
    return dovetail.Simulation(dovetail.loads(XML), nworld=request.param, backend=LANES)


@pytest.mark.parametrize("name", NO_NUMBERS)
def test_what_is_no_number_is_refused(name: str, sim: dovetail.Simulation) -> None:
    value, data = NO_NUMBERS[name], sim.data
    for field in ("ctrl", "qpos", "mocap_pos", "eq_active", "time"):
        before = np.array(getattr(data, field))
        with pytest.raises(ArgumentError, match=f"^{field} takes (one )?(whole )?number"):
            setattr(data, field, value)
        assert np.array_equal(np.asarray(getattr(data, field)), before), field
    with pytest.raises(ArgumentError, match="ctrl takes numbers of shape"):
        data.actuator("u").ctrl = value
    model = sim.model
    for owner, field in ((model, "dof_damping"), (model, "geom_type"), (model.opt, "gravity")):
        before = np.array(getattr(owner, field))
        with pytest.raises(ArgumentError, match=r"takes (whole )?numbers of shape"):
            setattr(owner, field, value)
        assert np.array_equal(getattr(owner, field), before)
    with pytest.raises(ArgumentError, match=r"^opt\.timestep takes one number, not "):
        model.opt.timestep = value


def tiled() -> Any:
    """Data of which several worlds lie side by side."""
    return dovetail.Simulation(dovetail.loads(XML), nworld=3, backend=LANES).data


@pytest.mark.parametrize("name", NO_NUMBERS)
def test_items_and_slices_of_a_batch_too(name: str) -> None:
    value, data = NO_NUMBERS[name], tiled()
    assert isinstance(data.ctrl, TiledArray)
    for key in (0, slice(None), (slice(None), 0), ..., np.array([True, False, True]), [0, 2]):
        with pytest.raises(ArgumentError, match=r"takes numbers of shape \(3, 2\)"):
            data.ctrl[key] = value
    with pytest.raises(ArgumentError, match="takes numbers"):
        data.ctrl[1:][0] = value
    assert np.array_equal(np.asarray(data.ctrl), np.zeros((3, 2)))


def test_model_fields_of_worlds_too() -> None:
    sim = dovetail.Simulation(dovetail.loads(XML), nworld=3, per_world="dof_damping")
    with pytest.raises(ArgumentError, match=r"dof_damping takes numbers of shape \(3, 1\), not None"):
        sim.per_world["dof_damping"] = None


def test_the_message_says_what_was_given_and_what_is_wanted() -> None:
    data = dovetail.Simulation(dovetail.loads(XML), nworld=3).data
    with pytest.raises(ArgumentError, match=r"^ctrl takes numbers of shape \(3, 2\), not None$"):
        data.ctrl = None
    with pytest.raises(
        ArgumentError, match=r"^ctrl takes numbers of shape \(3, 2\), not \[\[1, 2\], \[3\]\]: "
    ):
        data.ctrl = [[1, 2], [3]]
    with pytest.raises(ArgumentError, match=r"^ctrl has shape \(3, 2\): .*\(4,\)"):
        data.ctrl = [1, 2, 3, 4]


@pytest.mark.parametrize("value", [np.nan, np.inf, [np.nan]])
def test_a_field_of_whole_numbers_takes_no_nan(value: Any, sim: dovetail.Simulation) -> None:
    with pytest.raises(ArgumentError, match="eq_active takes whole numbers of shape"):
        sim.data.eq_active = value
    with pytest.raises(ArgumentError, match="geom_type takes whole numbers of shape"):
        sim.model.geom_type = value


@pytest.mark.parametrize(
    "value",
    [
        0.5,
        1,
        True,
        np.float32(2),
        Fraction(1, 2),
        [0.5, 1],
        (True, 2),
        np.array([1, 0.5], object),
        np.nan,
        range(2),
    ],
    ids=str,
)
def test_numbers_of_every_kind_are_taken(value: Any, sim: dovetail.Simulation) -> None:
    sim.data.ctrl = value
    wanted = np.broadcast_to(np.asarray(value, float), np.shape(sim.data.ctrl))
    assert np.array_equal(np.asarray(sim.data.ctrl), wanted, equal_nan=True)
    sim.data.ctrl = 0.0


def test_a_field_of_another_batch_is_taken() -> None:
    one, other = (dovetail.Simulation(dovetail.loads(XML), nworld=11).data for _ in range(2))
    other.ctrl = np.arange(22).reshape(11, 2)
    one.ctrl = other.ctrl
    assert np.array_equal(np.asarray(one.ctrl), np.arange(22).reshape(11, 2))

"""What is assigned through the drop-in is kept as it is: complex numbers, texts and None are refused by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import mj
from dovetail.errors import ArgumentError
from dovetail.mj import rollout

XML = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body pos="0 0 .09"><freejoint/><geom size=".1"/></body>
    <body><joint name="j" range="-1 1"/><geom size=".1" pos="0 3 3"/></body>
  </worldbody>
  <actuator><motor name="a" joint="j"/></actuator>
</mujoco>
"""
COMPLEX = np.array([1 + 1j])
"""NumPy itself drops the imaginary part of such an array, and warns."""
Assign = Callable[[Any, Any, Any], None]
PLACES: dict[str, Assign] = {
    "ctrl": lambda m, d, value: setattr(d, "ctrl", value),
    "qpos": lambda m, d, value: setattr(d.joint("j"), "qpos", value),
    "range": lambda m, d, value: setattr(m.joint("j"), "range", value),
    "body_mass": lambda m, d, value: setattr(m, "body_mass", value),
    "gravity": lambda m, d, value: setattr(m.opt, "gravity", value),
    "center": lambda m, d, value: setattr(m.stat, "center", value),
    "fog": lambda m, d, value: setattr(m.vis.rgba, "fog", value),
    "friction": lambda m, d, value: setattr(d.contact[0], "friction", value),
    "solref": lambda m, d, value: setattr(d.contact, "solref", value),
    "number": lambda m, d, value: setattr(d.warning, "number", value),
    "efc_pos": lambda m, d, value: setattr(d, "efc_pos", value),
    "initial_state": lambda m, d, value: _roll_out(m, d, value, np.zeros((1, 2, 1))),
    "control": lambda m, d, value: _roll_out(m, d, np.zeros((1, m.nq + m.nv + 1)), value),
}
"""Where an array is assigned, by the name that a message has."""


def _roll_out(model: Any, data: Any, start: Any, control: Any) -> None:
    rollout.rollout(model, data, start * np.ones((1, model.nq + model.nv + 1)), control * np.ones((1, 2, 1)))


@pytest.mark.parametrize("name", PLACES)
def test_a_complex_number_is_refused_by_the_name_of_what_it_was_assigned_to(name: str) -> None:
    model = mj.MjModel.from_xml_string(XML)
    data = mj.MjData(model)
    mj.mj_forward(model, data)
    assert data.ncon == 1
    before = {field: np.array(data._data.field(field)) for field in ("ctrl", "qpos", "efc_pos")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ArgumentError, match=rf"^{name} takes (whole )?numbers.*j"):
            PLACES[name](model, data, COMPLEX)
    for field, values in before.items():
        np.testing.assert_array_equal(data._data.field(field), values)


@pytest.mark.parametrize("value", [None, "1", ["1"]])
def test_what_is_no_number_is_refused_where_numpy_would_make_one_of_it(value: Any) -> None:
    model = mj.MjModel.from_xml_string(XML)
    for struct, name in ((model.opt, "gravity"), (model.vis.rgba, "fog"), (model.joint("j"), "range")):
        with pytest.raises(ArgumentError, match=f"^{name} takes numbers"):
            setattr(struct, name, value)


@pytest.mark.parametrize("key", [slice(None), 0, (0, 0), (slice(None), 0)])
def test_a_field_of_a_batch_is_named_wherever_it_is_written(key: Any) -> None:
    data = dovetail.make_data(dovetail.loads(XML), 3, lanes=4)  # tiled, as kernels have it
    with pytest.raises(ArgumentError, match=r"^ctrl takes numbers of shape \(3, 1\)"):
        data.ctrl[key] = COMPLEX[0]
    with pytest.raises(ArgumentError, match=r"^ctrl takes numbers"):
        data.ctrl[:2][...] = COMPLEX
    assert not np.asarray(data.ctrl).any()

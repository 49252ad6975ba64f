"""Warnings of broken numbers are counted in `data.warning` as MuJoCo 3.4.0 counts them."""

from __future__ import annotations

import copy
import ctypes
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dovetail import mj

mujoco = pytest.importorskip("mujoco")

XML = """
<mujoco>
  <option timestep="0.01"><flag contact="disable" {flag}/></option>
  <worldbody>
    <body name="hand" mocap="true" pos="0 0 1"/>
    <body pos="0 0 1">
      <joint name="swing" axis="0 1 0" damping=".1"/><geom size=".05" pos=".2 0 0"/>
    </body>
    <body name="held" pos="0 1 1"><freejoint/><geom size=".05"/></body>
  </worldbody>
  <equality><weld body1="hand" body2="held" solref=".1 1"/></equality>
  <actuator>
    <motor joint="swing"/>
    <motor joint="swing" ctrllimited="true" ctrlrange="-1 1"/>
    <general joint="swing" dyntype="integrator" forcelimited="true" forcerange="-1 1"/>
  </actuator>
</mujoco>
"""
INPUTS = (
    *(("qpos", 0), ("qvel", 0), ("ctrl", 0), ("ctrl", 1), ("ctrl", 2), ("act", 0)),
    *(("qfrc_applied", 0), ("xfrc_applied", 12), ("mocap_pos", 1)),
)


def counts(module: Any, flag: str, field: str, index: int, value: float) -> list[list[int]]:
    """What was counted after each of some calls, before and after a number was replaced."""
    model = module.MjModel.from_xml_string(XML.format(flag=flag))
    data = module.MjData(model)
    data.ctrl[:] = 0.1
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module.mj_step(model, data, 2)
        getattr(data, field).reshape(-1)[index] = value
        for call in (module.mj_step, module.mj_forward, lambda m, d: module.mj_step(m, d, 3)):
            call(model, data)
            found.append([int(data.warning[kind].number) for kind in range(8)])
    return found


@pytest.mark.parametrize("flag", ["", 'autoreset="disable"'])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_as_many_as_mujoco_counts(flag: str, value: float) -> None:
    for field, index in INPUTS:
        ours, theirs = (counts(module, flag, field, index, value) for module in (mj, mujoco))
        assert ours == theirs, (field, index)


def test_a_reset_forgets_the_warnings_before_it() -> None:
    found = []
    for module in (mj, mujoco):
        model = module.MjModel.from_xml_string(XML.format(flag=""))
        data = module.MjData(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data.ctrl[0] = np.nan
            module.mj_step(model, data, 4)
            before = int(data.warning[7].number)
            data.qvel[0] = np.nan
            module.mj_step(model, data)
        found.append((before, [int(data.warning[kind].number) for kind in range(8)]))
    assert found[0] == found[1]
    assert found[0][0] == 4


def test_the_text_of_a_broken_control_names_it() -> None:
    model = mj.MjModel.from_xml_string(XML.format(flag=""))
    data = mj.MjData(model)
    data.ctrl[1] = np.nan
    with pytest.warns(
        RuntimeWarning, match="ctrl of actuator 1 is nan at time 0: every control is taken as 0"
    ):
        mj.mj_step(model, data)
    assert data.warning[7].lastinfo == 1


BAD = np.nan, -np.inf, 1e11
PUSHED = """
<mujoco>
  <option integrator="{integrator}"/>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body pos="0 0 .1"><freejoint/><geom size=".1"/></body>
    <body pos="1 0 1"><joint name="swing" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body>
  </worldbody>
  <actuator><motor joint="swing"/><motor joint="swing"/></actuator>
</mujoco>
"""


@pytest.mark.usefixtures("each_backend")
@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_broken_controls_are_counted_as_mujoco_counts_them(integrator: str) -> None:
    for value in BAD:
        found = []
        for module in (mj, mujoco):
            model = module.MjModel.from_xml_string(PUSHED.format(integrator=integrator))
            data = module.MjData(model)
            found.append([])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for call in (
                    lambda module, m, d: module.mj_step(m, d),
                    lambda module, m, d: module.mj_step(m, d, 5),
                    lambda module, m, d: module.mj_forward(m, d),
                    lambda module, m, d: module.mj_step1(m, d),
                    lambda module, m, d: module.mj_step2(m, d),
                    lambda module, m, d: module.mj_fwdActuation(m, d),
                    lambda module, m, d: module.mj_step(m, copy.copy(d)),
                ):
                    data.ctrl[1] = value
                    call(module, model, data)
                    row = data.warning[module.mjtWarning.mjWARN_BADCTRL]
                    found[-1].append((int(row.number), int(row.lastinfo), data.warning.number.tolist()))
        assert found[0] == found[1]
        assert found[0][-1][:2] == (found[0][-1][2][7], 1)
        assert found[0][-1][0] > 8


@pytest.mark.usefixtures("each_backend")
def test_a_control_that_is_mended_between_the_halves_of_a_step_is_not_broken() -> None:
    model = mj.MjModel.from_xml_string(PUSHED.format(integrator="Euler"))
    data = mj.MjData(model)
    data.ctrl[0] = np.nan
    mj.mj_step1(model, data)  # a warning would be an error
    data.ctrl[0] = 1
    mj.mj_step2(model, data)
    assert not any(data.warning.number)
    assert data.qvel[-1] > 0


# ---- who is told


@pytest.fixture
def _no_callbacks_left() -> Iterator[None]:
    yield
    for module in (mj, mujoco):
        module.set_mju_user_warning(None)
        module.mj_resetCallbacks()


def times_told(module: Any) -> list[int]:
    """How often a callback was called, after each of some calls."""
    heard: list[Any] = []
    module.set_mju_user_warning(heard.append)
    model = module.MjModel.from_xml_string(PUSHED.format(integrator="Euler"))
    data = module.MjData(model)
    found = []
    data.ctrl[1] = np.nan

    def broken(field: str) -> None:
        getattr(data, field)[0] = np.nan
        module.mj_step(model, data)

    def forgotten() -> None:
        data.warning[7].number = 0
        module.mj_step(model, data, 3)

    for act in (
        lambda: module.mj_step(model, data),
        lambda: module.mj_step(model, data, 5),
        forgotten,
        lambda: broken("qpos"),
        lambda: broken("qpos"),
        lambda: broken("qvel"),
        lambda: module.mj_resetData(model, data),
        lambda: broken("qvel"),
    ):
        act()
        found.append(len(heard))
    assert all(isinstance(text, str) for text in heard)
    return found


@pytest.mark.usefixtures("_no_callbacks_left", "each_backend")
def test_a_kind_of_warning_is_told_once_until_its_count_is_put_back() -> None:
    found = times_told(mj)
    assert found == times_told(mujoco)
    assert found[0] == found[1] == 1
    assert found[-1] > 3


@pytest.mark.usefixtures("_no_callbacks_left")
@pytest.mark.parametrize("module", [mj, mujoco])
@pytest.mark.parametrize("argument", [ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char)])
def test_a_function_of_c_gets_the_text_as_c_has_it(module: Any, argument: Any) -> None:
    heard: list[bytes] = []
    shape = ctypes.CFUNCTYPE(None, argument)
    callback = shape(lambda text: heard.append(ctypes.cast(text, ctypes.c_char_p).value or b""))
    module.set_mju_user_warning(callback)
    assert module.get_mju_user_warning() is callback
    model = module.MjModel.from_xml_string(PUSHED.format(integrator="Euler"))
    data = module.MjData(model)
    data.ctrl[1] = np.nan
    module.mj_step(model, data)
    assert len(heard) == 1
    assert b"ctrl" in heard[0].lower()
    module.mj_resetCallbacks()  # those of physics alone
    assert module.get_mju_user_warning() is callback
    module.set_mju_user_warning(None)
    assert module.get_mju_user_warning() is None


@pytest.mark.usefixtures("_no_callbacks_left")
@pytest.mark.parametrize("module", [mj, mujoco])
def test_what_is_no_function_is_refused_and_the_one_before_stays(module: Any) -> None:
    module.set_mju_user_warning(print)
    for wrong in (5, "print", 3.5, True, ctypes.cast(None, ctypes.c_void_p)):
        with pytest.raises(TypeError, match=r"Optional\[Callable\]"):
            module.set_mju_user_warning(wrong)
    assert module.get_mju_user_warning() is print


@pytest.mark.usefixtures("_no_callbacks_left")
@pytest.mark.parametrize("module", [mj, mujoco])
def test_what_a_callback_raises_reaches_the_caller_and_is_not_counted(module: Any) -> None:
    def fails(text: str) -> None:
        raise KeyError(text)

    module.set_mju_user_warning(fails)
    model = module.MjModel.from_xml_string(PUSHED.format(integrator="Euler"))
    data = module.MjData(model)
    data.ctrl[1] = np.nan
    with pytest.raises(KeyError):
        module.mj_step(model, data)
    assert data.warning[7].number == 0
    module.set_mju_user_warning(lambda text: None)
    module.mj_step(model, data)
    assert data.warning[7].number == 1


@pytest.mark.usefixtures("_no_callbacks_left")
def test_a_function_of_c_that_wants_pointers_is_refused() -> None:
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda model, data: None)
    for set_callback in (mj.set_mjcb_control, mj.set_mjcb_passive):
        with pytest.raises(TypeError, match="function of C, which wants pointers"):
            set_callback(callback)
    assert mj.get_mjcb_control() is None
    mj.set_mjcb_time(ctypes.CFUNCTYPE(ctypes.c_double)(lambda: 2.0))
    model = mj.MjModel.from_xml_string("<mujoco/>")
    mj.mj_step(model, mj.MjData(model))

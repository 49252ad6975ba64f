"""Arrays of structs: the same object for as long as MuJoCo's are, up to date, written through, copied, outliving."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import weakref
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import mujoco
import numpy as np
import pytest
from lane_backend import LANES, lanes_missing

import dovetail.mj as ours
from dovetail.contracts.types import DATA_SPECS
from dovetail.mj.structs.lasting import ISLAND_ARRAYS, LATE, LateArray

XML = """
<mujoco>
  <option timestep="0.004" integrator="{integrator}" solver="{solver}"><flag energy="enable"/></option>
  <asset>
    <mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
    <texture name="flat" type="2d" builtin="flat" width="6" height="4" rgb1="1 0 0"/>
    <material name="shiny" texture="flat"/>
  </asset>
  <custom><numeric name="gains" data="1 2 3"/></custom>
  <worldbody>
    <camera name="eye"/><light name="lamp" dir="0 0 -1"/><geom name="floor" type="plane" size="3 3 1"/>
    <body name="a" pos="0 0 0.09"><freejoint name="free"/><site name="s"/>
      <geom name="box" type="box" size="0.1 0.1 0.1"/>
      <body name="b" pos="0 0 0.5"><joint name="ball" type="ball"/><geom name="g2" size="0.1"/><site name="s2"/>
        <body name="c" pos="0 0 0.5"><joint name="hinge" axis="0 1 0" range="-1 1" limited="true" damping="1"/>
          <geom name="g3" type="mesh" mesh="wedge" material="shiny" mass="0.1"/></body></body></body>
    <body mocap="true" name="hand" pos="1 0 1"/>
  </worldbody>
  <tendon><spatial name="cord"><site site="s"/><site site="s2"/></spatial></tendon>
  <actuator><motor name="pull" joint="hinge"/><general name="lag" joint="hinge" dyntype="integrator"/></actuator>
  <sensor><framepos name="place" objtype="site" objname="s"/></sensor>
  <keyframe><key name="later" time="1"/></keyframe>
</mujoco>
"""
SIMPLE = XML.format(integrator="Euler", solver="Newton")
KEPT: list[Any] = []
"""Structs of mujoco, whose parts do not keep them alive."""


def kept(package: Any, struct: Any) -> Any:
    if package is mujoco:
        KEPT.append(struct)
    return struct


def scene(package: Any, model: Any) -> Any:
    return kept(package, package.MjvScene(model, 10))


STRUCTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "MjModel": lambda p, m, d: m,
    "MjOption": lambda p, m, d: m.opt,
    "MjOption of its own": lambda p, m, d: p.MjOption(),
    "MjStatistic": lambda p, m, d: m.stat,
    "MjVisual.headlight": lambda p, m, d: m.vis.headlight,
    "MjVisual.rgba": lambda p, m, d: m.vis.rgba,
    "MjData": lambda p, m, d: d,
    "contacts": lambda p, m, d: d.contact,
    "contact": lambda p, m, d: d.contact[1],
    "MjContact of its own": lambda p, m, d: p.MjContact(),
    "warnings": lambda p, m, d: d.warning,
    "timers": lambda p, m, d: d.timer,
    "solver statistics": lambda p, m, d: d.solver,
    "geom of a model": lambda p, m, d: m.geom("box"),
    "joint of data": lambda p, m, d: d.joint("hinge"),
    "tendon of data": lambda p, m, d: d.tendon("cord"),
    "MjvScene": lambda p, m, d: scene(p, m),
    "MjvGeom": lambda p, m, d: scene(p, m).geoms[3],
    "MjvLight": lambda p, m, d: scene(p, m).lights[0],
    "MjvGLCamera": lambda p, m, d: scene(p, m).camera[1],
    "MjvCamera": lambda p, m, d: p.MjvCamera(),
    "MjvOption": lambda p, m, d: p.MjvOption(),
    "MjvPerturb": lambda p, m, d: p.MjvPerturb(),
    "MjvFigure": lambda p, m, d: p.MjvFigure(),
}


@pytest.fixture(params=["numpy", LANES])
def backend(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps on the reference, and in kernels, which keep some results to themselves."""
    if request.param == LANES and lanes_missing():
        pytest.skip(lanes_missing())
    monkeypatch.setenv("DOVETAIL_BACKEND", request.param)


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps in kernels."""
    if lanes_missing():
        pytest.skip(lanes_missing())
    monkeypatch.setenv("DOVETAIL_BACKEND", LANES)


def arrays(struct: Any) -> dict[str, Any]:
    """What a struct has as arrays, by name, in the order of the alphabet."""
    names = [
        n for n in dir(struct) if not n.startswith("_") and n != "label"
    ]  # of MuJoCo's it may be no text
    values = {name: getattr(struct, name, None) for name in names}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


@cache
def loaded(package: Any, xml: str, backend: str | None) -> Any:
    """A model that tests on a backend share, and with it its plan."""
    return package.MjModel.from_xml_string(xml)


def stepped(package: Any, xml: str = SIMPLE) -> tuple[Any, Any]:
    """A model, not to be edited, and data that have contacts."""
    model = loaded(package, xml, os.environ.get("DOVETAIL_BACKEND"))
    data = kept(package, package.MjData(model))
    package.mj_step(model, data, 3)
    return model, data


@pytest.mark.parametrize("struct", STRUCTS)
def test_an_array_is_the_same_object_where_it_is_in_mujoco(struct: str, backend: None) -> None:
    seen = []
    for package in (ours, mujoco):
        found = STRUCTS[struct](package, *stepped(package))
        seen.append({name: getattr(found, name) is array for name, array in arrays(found).items()})
    lasting = {name for name, same in seen[1].items() if same}
    assert lasting or struct == "contacts"
    assert {name for name in lasting if not seen[0].get(name)} == set()


INTEGRATORS = pytest.mark.parametrize(
    "integrator",
    ["Euler", *(pytest.param(name, marks=pytest.mark.slow) for name in ("RK4", "implicit", "implicitfast"))],
)


def lasting(data: Any) -> dict[str, Any]:
    """Arrays of data that MuJoCo gives as the same object each time, by name."""
    return {name: array for name, array in arrays(data).items() if getattr(data, name) is array}


@INTEGRATORS
def test_references_to_arrays_last_as_long_as_the_data(integrator: str, backend: None) -> None:
    xml = XML.format(integrator=integrator, solver="Newton")
    model, data = stepped(ours, xml)
    flags = model.opt.enableflags
    names = set(lasting(stepped(mujoco, xml)[1]))
    assert len(names) >= 100
    proxies = {name: weakref.ref(getattr(data, name)) for name in names}

    def alive() -> None:
        gc.collect()
        assert [name for name in names if proxies[name]() is not getattr(held[0], name)] == []

    held = [data]
    alive()
    ours.mj_step(model, data, 2)
    alive()
    ours.mj_forward(model, data)
    ours.mj_rnePostConstraint(model, data)
    alive()
    data.qpos[2] = 0.02  # more contacts than there was room for
    data.qpos[3:7] = (0.9, 0.3, 0.3, 0)
    ours.mj_step(model, data)
    alive()
    if integrator == "implicit":
        model.opt.enableflags |= int(ours.mjtEnableBit.mjENBL_SLEEP)
        ours.mj_step(model, data)
        alive()
        model.opt.enableflags = flags
    ours.mj_resetData(model, data)
    alive()
    del data, held[0]
    gc.collect()
    assert [name for name, reference in proxies.items() if reference() is not None] == []


@INTEGRATORS
def test_arrays_that_are_held_show_the_last_step(integrator: str, backend: None) -> None:
    """MuJoCo's are memory; those that a kernel keeps to itself are filled when they are read."""
    xml = XML.format(integrator=integrator, solver="Newton")
    seen = []
    for package in (ours, mujoco):
        model = loaded(package, xml, os.environ["DOVETAIL_BACKEND"])
        data = package.MjData(model)
        held = {name: getattr(data, name) for name in sorted(set(LATE) - {"bvh_active", "qDeriv"})}
        cord, force = data.tendon("cord"), data.joint("hinge")
        parts = {"wrapnum": cord.wrapnum, "qacc": force.qacc}
        package.mj_step(model, data, 4)
        package.mj_rnePostConstraint(model, data)
        package.mj_step(model, data)
        seen.append({name: array[...].copy() for name, array in {**held, **parts}.items()})
        assert np.array_equal(np.asarray(weakref.proxy(held["wrap_xpos"])), data.wrap_xpos)
    for name, array in seen[1].items():
        if name in ("cacc", "cfrc_int", "cfrc_ext", "qLU"):
            assert seen[0][name].shape == array.shape
            continue  # of the step before, and of another order
        np.testing.assert_allclose(seen[0][name], array, rtol=1e-7, atol=1e-9, err_msg=name)


def test_arrays_that_are_held_are_filled_when_a_function_takes_them(kernels: None) -> None:
    model = loaded(ours, SIMPLE, os.environ["DOVETAIL_BACKEND"])
    data = ours.MjData(model)
    held = data.qHDiagInv
    ours.mj_step(model, data, 3)
    assert "qHDiagInv" in data._data.arena.late.names
    assert ours.mju_norm(held) == np.linalg.norm(data.qHDiagInv) > 0
    ours.mj_step(model, data, 3)
    ours.mju_copy(held, np.arange(len(held), dtype=float))
    assert data.qHDiagInv.tolist() == list(range(len(held)))


@pytest.mark.slow
def test_fields_that_kernels_keep_are_all_known(kernels: None) -> None:
    for integrator, solver in (("Euler", "Newton"), ("implicitfast", "CG"), ("implicit", "PGS")):
        _, data = stepped(ours, XML.format(integrator=integrator, solver=solver))
        assert data._data.arena.late.names
        static = [n for n in data._data.arena.late.names if DATA_SPECS[n].shape and not DATA_SPECS[n].grows]
        assert [n for n in static if "." not in n and n not in LATE and n not in ISLAND_ARRAYS] == []


def writable(struct: Any) -> Iterator[tuple[str, Any]]:
    for name, array in arrays(struct).items():
        if array.size and array.flags.writeable and "_awake" not in name:  # where nobody sleeps all are awake
            yield name, array


@pytest.mark.parametrize("struct", STRUCTS)
def test_what_is_written_into_an_array_is_in_the_struct(struct: str) -> None:
    model, data = stepped(ours)
    found = STRUCTS[struct](ours, copy.copy(model), data)
    for name, array in writable(found):
        value = b"x" if array.dtype.kind == "S" else 1 - np.clip(array.flat[0], 0, 1)
        array[(0,) * array.ndim] = value
        assert getattr(found, name).flat[0] == value, name
        before = getattr(found, name).copy()
        try:
            setattr(found, name, before)
        except (AttributeError, ValueError):  # sizes and columns that follow from others
            continue
        np.testing.assert_array_equal(getattr(found, name), before, err_msg=name)


@pytest.mark.parametrize("struct", [name for name in STRUCTS if name != "joint of data"])
def test_an_array_outlives_its_struct(struct: str) -> None:
    model, data = stepped(ours)
    model = copy.copy(model)
    held = arrays(STRUCTS[struct](ours, model, data))
    before = {name: array.copy() for name, array in held.items()}
    del model, data
    gc.collect()
    for name, array in held.items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("struct", STRUCTS)
def test_a_copy_has_the_numbers_and_memory_of_its_own(struct: str, how: str) -> None:
    if struct in ("geom of a model", "joint of data", "tendon of data"):
        pytest.skip("objects by name belong to their struct")
    model, data = stepped(ours)
    found = STRUCTS[struct](ours, model, data)
    twin = COPIES[how](found)
    copied = arrays(twin)
    for name, array in arrays(found).items():
        np.testing.assert_array_equal(copied[name], array, err_msg=name)
        assert not array.size or not np.shares_memory(np.asarray(copied[name]), np.asarray(array)), name


def test_a_late_array_works_as_an_array() -> None:
    numbers = np.arange(6.0)
    asked = []
    late = LateArray.over(numbers, lambda: asked.append(1))
    for read in (
        lambda: late[1],
        lambda: late + 1,
        lambda: late.sum(),
        lambda: np.sum(late),
        lambda: late.tolist(),
        lambda: list(late),
        lambda: str(late),
        lambda: late.T,
        lambda: np.concatenate([late, late]),
        lambda: np.stack((late, late)),
        lambda: late == late,
        lambda: 3 in late,
        lambda: pickle.dumps(late),
        lambda: copy.copy(late),
        lambda: np.asarray(weakref.proxy(late)),
        lambda: late.flat[0],
    ):
        asked.clear()
        found = read()
        assert asked
        assert not isinstance(found, LateArray)
    late += 1
    late[0] = 7
    np.add(late, 1, out=late)
    assert isinstance(late, LateArray)
    assert numbers.tolist() == [8, 3, 4, 5, 6, 7]
    late.fill(2)
    assert numbers.tolist() == [2] * 6
    other = np.array(late, subok=True)
    other[0] = 1
    assert (other[0], late[0], late.shape, len(late)) == (1, 2, (6,), 6)
    assert copy.deepcopy(late).base is None
    with pytest.raises(IndexError):
        late[9]

"""Structs of the drop-in: members, copies, lists of rows, texts and errors, beside those of MuJoCo itself."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import tracemalloc
import weakref
from typing import Any

import mujoco
import numpy as np
import pytest

import dovetail.mj as ours

XML = """
<mujoco model="parts">
  <option timestep="0.004" gravity="0 0 -5"/>
  <asset>
    <mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
    <hfield name="hill" nrow="3" ncol="4" size="1 1 1 1" elevation="0 1 2 3 0 1 2 3 0 1 2 3"/>
    <texture name="flat" type="2d" builtin="flat" width="6" height="4" rgb1="1 0 0"/>
    <material name="shiny" texture="flat"/>
  </asset>
  <custom>
    <numeric name="gains" data="1 2 3"/><text name="note" data="hello"/>
    <tuple name="both"><element objtype="body" objname="a" prm="2"/><element objtype="body" objname="b"/></tuple>
  </custom>
  <worldbody>
    <camera name="eye"/><light name="lamp" dir="0 0 -1"/><geom name="floor" type="plane" size="3 3 1"/>
    <body name="a" pos="0 0 0.09"><freejoint name="free"/><site name="s"/>
      <geom name="box" type="box" size="0.1 0.1 0.1"/>
      <body name="b" pos="0 0 0.5"><joint name="ball" type="ball"/><geom name="g2" size="0.1"/><site name="s2"/>
        <body name="c" pos="0 0 0.5"><joint name="hinge" axis="0 1 0" range="-1 1" limited="true"/>
          <geom name="g3" type="mesh" mesh="wedge" material="shiny" mass="0.1"/></body></body></body>
    <body mocap="true" name="hand" pos="1 0 1"/>
  </worldbody>
  <contact><pair name="p" geom1="g2" geom2="g3"/><exclude name="e" body1="a" body2="c"/></contact>
  <equality><connect name="tie" body1="c" anchor="0 0 0" solref="0.1 1"/></equality>
  <tendon>
    <spatial name="cord"><site site="s"/><site site="s2"/></spatial>
    <fixed name="sum"><joint joint="hinge" coef="1"/></fixed>
  </tendon>
  <actuator><motor name="pull" joint="hinge"/><general name="lag" joint="hinge" dyntype="integrator"/></actuator>
  <sensor><framepos name="place" objtype="site" objname="s"/><jointpos name="angle" joint="hinge"/></sensor>
  <keyframe><key name="later" time="1"/></keyframe>
</mujoco>
"""


@pytest.fixture(scope="module")
def loaded() -> Any:
    return ours.MjModel.from_xml_string(XML)


@pytest.fixture
def model(loaded: Any) -> Any:
    return copy.copy(loaded)


@pytest.fixture
def data(model: Any) -> Any:
    made = ours.MjData(model)
    ours.mj_forward(model, made)
    return made


# ---- fields


def _shown(model: Any, what: str) -> dict[str, Any]:
    values = {name: getattr(model, name) for name in dir(model) if not name.startswith("_")}
    return {name: value for name, value in values.items() if not callable(value)}


def _fields(package: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    model = package.MjModel.from_xml_string(XML)
    data = package.MjData(model)
    package.mj_step(model, data, 3)
    package.mj_forward(model, data)
    return _shown(model, "model"), _shown(data, "data")


OF_MEMORY = {
    "narena",
    "nbuffer",
    "parena",
    "pstack",
    "pbase",
    "maxuse_arena",
    "maxuse_con",
    "maxuse_efc",
    "maxuse_stack",
    "signature",
    "model",
}
"""Numbers of MuJoCo's own memory."""
UNSPECIFIED = {
    "efc_AR_rowadr",  # the solver works on velocities: MuJoCo leaves what was in memory
    "efc_AR_rownnz",
    "efc_J_rownnz",  # rows are full: these say nothing
    "efc_J_rowadr",
    "efc_J_rowsuper",
    "efc_J_colind",
    "qH",  # of the last step; a forward evaluation forgets it here
    "qHDiagInv",
}
ISLANDS_SPARSE = {"iefc_J", "iefc_J_colind", "iefc_J_rownnz", "iefc_J_rowadr", "iefc_J_rowsuper"}


def test_data_has_the_attributes_of_mujocos_and_no_fields_besides() -> None:
    found, wanted = ({name for name in dir(side.MjData) if name[0] != "_"} for side in (ours, mujoco))
    assert found - wanted == {"of", "seen_by"}  # methods of the drop-in
    assert wanted <= found


def test_every_attribute_has_mujocos_shape_type_and_value() -> None:
    theirs, mine = _fields(mujoco), _fields(ours)
    for real, found in zip(theirs, mine, strict=True):
        for name in sorted(real.keys() - OF_MEMORY - UNSPECIFIED - ISLANDS_SPARSE):
            value = found[name]
            if isinstance(real[name], np.ndarray):
                assert (value.shape, value.dtype) == (real[name].shape, real[name].dtype), name
                if name != "efc_J":
                    assert value.flags.writeable == real[name].flags.writeable, name
                np.testing.assert_allclose(value, real[name], rtol=1e-6, atol=1e-8, err_msg=name)
            elif isinstance(real[name], (int, float, str, bytes, tuple)):
                assert (
                    value == pytest.approx(real[name]) if isinstance(value, float) else value == real[name]
                ), name
            else:
                assert type(value).__name__ == type(real[name]).__name__, name


def test_the_jacobian_has_full_rows_as_in_mujoco(model: Any, data: Any) -> None:
    real = mujoco.MjModel.from_xml_string(XML)
    state = mujoco.MjData(real)
    mujoco.mj_forward(real, state)
    assert data.nJ == state.nJ == data.nefc * model.nv
    assert np.allclose(data.efc_J.reshape(-1, model.nv), state.efc_J.reshape(-1, model.nv))
    with pytest.raises(ValueError, match="read-only"):
        data.efc_J[0] = 1
    model.opt.jacobian = real.opt.jacobian = ours.mjtJacobian.mjJAC_SPARSE
    ours.mj_forward(model, data)
    mujoco.mj_forward(real, state)
    assert data.nJ == state.nJ
    assert np.allclose(data.efc_J, state.efc_J)
    assert np.array_equal(data.efc_J_colind, state.efc_J_colind)


def test_arrays_are_views_that_stay(model: Any, data: Any) -> None:
    qpos, mass = data.qpos, model.body_mass
    data.qpos = 0.5
    model.body_mass[1] = 7
    assert qpos.tolist() == [0.5] * model.nq
    assert mass[1] == model._model.body_mass[1] == 7
    assert data.qpos is qpos
    del data
    assert qpos[0] == 0.5


def test_mistakes_are_errors_as_in_mujoco(model: Any, data: Any) -> None:
    for wrong, error in (
        (lambda: data.foo, AttributeError),
        (lambda: setattr(data, "foo", 1), AttributeError),
        (lambda: setattr(data, "qpos", [1, 2]), ValueError),
        (lambda: setattr(model, "nq", 3), AttributeError),
        (lambda: setattr(model, "opt", 3), AttributeError),
        (lambda: setattr(model, "names", b""), AttributeError),
        (lambda: setattr(data, "contact", 3), AttributeError),
        (lambda: setattr(data, "model", model), AttributeError),
        (lambda: setattr(model.opt, "iterations", 1.5), TypeError),
        (lambda: setattr(model.opt, "timestep", "1"), TypeError),
        (lambda: setattr(model.opt, "time_step", 1), AttributeError),
        (lambda: ours.MjModel(), TypeError),
        (lambda: ours.MjData(3), TypeError),
        (lambda: ours.MjModel.from_xml_string("<mujoco><nothing/></mujoco>"), ValueError),
        (lambda: ours.MjModel.from_xml_path("there_is_no.xml"), ValueError),
        (lambda: ours.MjModel.from_binary_path("there_is_no.mjb"), ValueError),
    ):
        with pytest.raises(error):
            wrong()


def test_files_given_as_assets_go_before_the_disk(tmp_path: Any) -> None:
    main = '<mujoco><include file="part.xml"/></mujoco>'
    part = '<mujoco><worldbody><geom name="{}" size="1"/></worldbody></mujoco>'
    (tmp_path / "main.xml").write_text(main)
    (tmp_path / "part.xml").write_text(part.format("disk"))
    path = str(tmp_path / "main.xml")
    assert ours.MjModel.from_xml_path(path).geom(0).name == "disk"
    given = {"part.xml": part.format("given").encode()}
    assert ours.MjModel.from_xml_path(path, given).geom(0).name == "given"
    all_given = {"other.xml": main.encode(), **given}
    assert ours.MjModel.from_xml_path("other.xml", all_given).geom(0).name == "given"
    with pytest.raises(ValueError, match="Repeated"):
        ours.MjModel.from_xml_string("<mujoco/>", {"a/x.obj": b"", "b/x.obj": b""})


# ---- names


OF_MODEL = (
    "actuator body cam camera eq equality exclude geom hfield jnt joint key keyframe light mat material mesh numeric "
    "pair sensor site tendon tex texture tuple"
)
OF_DATA = "actuator body cam camera geom jnt joint light sensor site ten tendon"
COUNTS = {
    "body": "nbody",
    "joint": "njnt",
    "jnt": "njnt",
    "geom": "ngeom",
    "actuator": "nu",
    "sensor": "nsensor",
}


def _views(package: Any) -> list[Any]:
    model = package.MjModel.from_xml_string(XML)
    data = package.MjData(model)
    package.mj_forward(model, data)
    return [
        getattr(owner, kind)(number)
        for owner, kinds in ((model, OF_MODEL), (data, OF_DATA))
        for kind in kinds.split()
        for number in range(getattr(model, COUNTS[kind]) if kind in COUNTS else 1)
    ]


WRONG_IN_MUJOCO = {"cdof", "cdof_dot", "moment"}
"""Rows of later joints, and of sparse moments, are cut from a wrong place there."""


def test_objects_by_name_are_shown_as_in_mujoco() -> None:
    for mine, theirs in zip(_views(ours), _views(mujoco), strict=True):
        names = [name for name in dir(theirs) if not name.startswith("_")]
        assert [n for n in names if f"\n  {n}: " in repr(mine)] == names
        assert repr(mine).splitlines()[0] == repr(theirs).splitlines()[0]
        for name in names:
            value, real = getattr(mine, name), getattr(theirs, name)
            if not isinstance(real, np.ndarray):
                assert value == real
                continue
            assert (value.shape, value.dtype) == (real.shape, real.dtype), (mine, name)
            if name not in WRONG_IN_MUJOCO:
                np.testing.assert_allclose(value, real, rtol=1e-7, atol=1e-9, err_msg=f"{name} of {theirs}")


def test_objects_are_printed_as_in_mujoco() -> None:
    for kind, which in (
        ("geom", "box"),
        ("joint", "ball"),
        ("sensor", "place"),
        ("mesh", "wedge"),
        ("key", "later"),
    ):
        mine, theirs = (getattr(p.MjModel.from_xml_string(XML), kind)(which) for p in (ours, mujoco))
        assert repr(mine) == str(mine) == repr(theirs)


def test_what_else_is_known_of_objects_can_be_read(model: Any, data: Any) -> None:
    assert model.mesh("wedge").vert.shape == (4, 3)
    assert model.text("note").data.tobytes() == b"hello\0"
    assert model.tendon("cord").num.tolist() == [2]
    assert data.actuator("lag").moment.tolist() == [0] * (model.nv - 1) + [1]
    assert data.tendon("cord").J.shape == (model.nv,)
    with pytest.raises(AttributeError, match="did you mean 'vert'"):
        model.mesh("wedge").vertt  # noqa: B018
    with pytest.raises(AttributeError):
        model.mesh("wedge").id = 3


# ---- contacts and other lists


def test_contacts_are_rows_of_arrays_and_the_list_follows_the_steps(model: Any, data: Any) -> None:
    contact = data.contact
    assert len(contact) == data.ncon == 4
    assert contact is data.contact
    contact[1].pos = (1, 2, 3)
    contact[1].geom1 = 2
    assert contact.pos[1].tolist() == [1, 2, 3]
    assert contact.geom1.tolist() == [0, 2, 0, 0]
    assert [c.dist for c in contact[1:3]] == contact.dist[1:3].tolist()
    assert contact[-1] == contact[3]
    contact[0] = contact[1]
    assert contact[0].pos.tolist() == [1, 2, 3]
    one = copy.copy(contact[0])
    contact[0].dist = 5
    assert one.dist != 5
    data.qpos[2] += 3
    ours.mj_forward(model, data)
    assert len(contact) == 0
    assert contact.H.shape == (0, 36)
    with pytest.raises(IndexError):
        contact[0]
    with pytest.raises(TypeError):
        contact["floor"]


def test_lists_compare_print_and_go_on_pickling(data: Any) -> None:
    twin = pickle.loads(pickle.dumps(data))
    assert twin.contact == data.contact
    assert twin.warning == data.warning
    assert repr(twin.contact) == repr(data.contact)
    assert data.contact != data.warning
    assert data.contact != 5
    assert data.contact[1:] != data.contact
    with pytest.raises(TypeError):
        hash(data.contact)
    assert len(data.solver) == 4000
    assert len(data.timer) == ours.mjtTimer.mjNTIMER


PLAIN = [
    "MjOption",
    "MjStatistic",
    "MjContact",
    "MjSolverStat",
    "MjWarningStat",
    "MjTimerStat",
    "MjLROpt",
    "MjvCamera",
    "MjvGLCamera",
    "MjvOption",
    "MjvPerturb",
    "MjvGeom",
    "MjvLight",
]


@pytest.mark.parametrize("name", PLAIN)
def test_plain_structs_have_mujocos_members_and_defaults(name: str) -> None:
    mine, theirs = getattr(ours, name)(), getattr(mujoco, name)()
    assert repr(mine) == repr(theirs)
    for way in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        assert way(mine) == mine
        assert way(mine) is not mine
    with pytest.raises(AttributeError):
        mine.there_is_no_such_member = 1


def test_figures_and_scenes_have_mujocos_members_and_defaults() -> None:
    def of(struct: Any) -> dict[str, Any]:
        shown = {n: getattr(struct, n) for n in dir(struct) if not n.startswith("_")}
        return {name: value for name, value in shown.items() if not callable(value)}

    real = mujoco.MjModel.from_xml_string(XML)
    for mine, theirs in (
        (ours.MjvFigure(), mujoco.MjvFigure()),
        (ours.MjvScene(), mujoco.MjvScene()),
        (ours.MjvScene(ours.MjModel.from_xml_string(XML), 7), mujoco.MjvScene(real, 7)),
    ):
        found = of(mine)
        for name, value in of(theirs).items():
            if isinstance(value, np.ndarray):
                assert (found[name].shape, found[name].dtype) == (value.shape, value.dtype), name
                if name != "geomorder":  # MuJoCo leaves it as memory was
                    assert (
                        np.allclose(found[name], value) if value.dtype.kind != "S" else not found[name][0]
                    ), name
            elif isinstance(value, tuple):
                assert len(found[name]) == len(value), name
            else:
                assert found[name] == value, name


def test_texts_are_not_too_long() -> None:
    figure = ours.MjvFigure()
    figure.title = "speed"
    assert figure.title == "speed"
    with pytest.raises(ValueError, match=r"len\(xlabel\) cannot exceed 99: got length 200"):
        figure.xlabel = "x" * 200


def test_a_scene_is_copied_with_all_it_has(model: Any) -> None:
    scene = ours.MjvScene(model, 3)
    scene.ngeom = 2
    scene.geoms[1].pos[:] = 4
    for twin in (copy.copy(scene), pickle.loads(pickle.dumps(scene))):
        assert (twin.ngeom, twin.maxgeom, twin.geoms[1].pos.tolist()) == (2, 3, [4, 4, 4])
        twin.geoms[1].pos[:] = 5
        assert scene.geoms[1].pos.tolist() == [4, 4, 4]
    with pytest.raises(AttributeError, match="fixed"):
        scene.maxgeom = 7


# ---- copies and files


def test_copies_of_models_and_data_are_their_own(model: Any, data: Any) -> None:
    shallow, deep = copy.copy(data), copy.deepcopy(data)
    assert shallow.model is model
    assert deep.model is not model
    twin_model, twin = copy.deepcopy((model, data))
    assert twin.model is twin_model
    for clone in (shallow, deep, twin, pickle.loads(pickle.dumps(data))):
        assert clone.contact == data.contact
        clone.qpos[0] = 7
        clone.warning[0].number = 3
        assert data.qpos[0] != 7
        assert data.warning[0].number == 0
        ours.mj_step(clone.model, clone)


def test_a_data_is_used_with_a_copy_of_its_model(model: Any, data: Any) -> None:
    heavier = copy.copy(model)
    heavier.opt.gravity = 0
    ours.mj_forward(heavier, data)
    assert data.qfrc_bias[2] == 0
    ours.mj_forward(model, data)
    assert data.qfrc_bias[2] != 0
    with pytest.raises(ours.FatalError, match="do not belong together"):
        ours.mj_forward(ours.MjModel.from_xml_string("<mujoco/>"), data)


def test_binary_models_are_written_and_read(model: Any, tmp_path: Any) -> None:
    path = str(tmp_path / "model.mjb")
    model.body_mass[1] = 7
    ours.mj_saveModel(model, path)
    again = ours.MjModel.from_binary_path(path)
    assert again.body_mass[1] == 7
    assert again.names == model.names
    (tmp_path / "other.mjb").write_bytes(b"no model")
    with pytest.raises(ValueError, match="mj_saveModel"):
        ours.MjModel.from_binary_path(str(tmp_path / "other.mjb"))


# ---- memory


def test_nothing_keeps_a_model_or_data_that_was_dropped() -> None:
    model = ours.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    )
    data = ours.MjData(model)
    ours.mj_step(model, data)
    ours.mj_step(model, data)
    data.body(1).xpos, data.contact, data.efc_J, model.opt
    alone = object()  # how many are counted for a variable depends on the Python
    assert sys.getrefcount(data) == sys.getrefcount(alone)
    gone = weakref.ref(data), weakref.ref(model)
    inner = weakref.ref(data._data), weakref.ref(model._model)
    del data, model
    assert [one() for one in gone] == [None, None]
    gc.collect()
    assert [one() for one in inner] == [None, None]


def _growth(times: int) -> int:
    """Bytes that loading and dropping so many models leaves behind."""

    def run(count: int) -> None:
        for _ in range(count):
            model = ours.MjModel.from_xml_string(XML)
            data = ours.MjData(model)
            data.body("a").xpos, data.contact, model.geom("box").size
        gc.collect()

    run(5)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        run(times)
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def test_models_that_are_loaded_and_dropped_leave_nothing() -> None:
    assert _growth(20) < 200_000  # one of them has 300 kB


@pytest.mark.slow
def test_a_thousand_models_that_are_loaded_and_dropped_leave_nothing() -> None:
    assert _growth(1000) < 300_000

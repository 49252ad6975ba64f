"""Objects by name: `model.body("x")`, `data.joint("j").qpos`; unknown names tell the nearest one."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail import Model
from dovetail.contracts.named import NamedAccess


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


ASSETS = """
<mujoco>
  <asset>
    <mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1" inertia="shell"/>
    <mesh name="other" vertex="0 0 0 2 0 0 0 2 0 0 0 2 1 1 1"/>
    <hfield name="hill" nrow="2" ncol="3" size="1 1 1 1" elevation="0 1 2 3 4 5"/>
    <texture name="flat" type="2d" builtin="flat" width="4" height="2" rgb1="1 0 0"/>
    <material name="shiny" texture="flat" reflectance="0.5"/>
    <skin name="coat" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 2 0 1 3">
      <bone body="part" bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2 3" vertweight="1 1 1 1"/>
    </skin>
  </asset>
  <custom>
    <numeric name="first" data="9"/><numeric name="gains" data="1 2 3"/><text name="note" data="hello"/>
    <tuple name="both"><element objtype="body" objname="part" prm="2"/><element objtype="geom" objname="g"/></tuple>
  </custom>
  <worldbody>
    <body name="part" pos="0 0 1"><freejoint name="free"/><site name="s"/>
      <geom name="g" type="mesh" mesh="wedge" material="shiny"/><geom name="o" type="mesh" mesh="other"/>
      <body name="arm"><joint name="hinge"/><geom name="tip" size="0.1"/></body></body>
  </worldbody>
  <contact><pair name="p" geom1="g" geom2="tip" condim="4"/><exclude name="e" body1="world" body2="arm"/></contact>
  <actuator>
    <motor name="direct" joint="hinge"/><general name="lagged" joint="hinge" dyntype="filter" dynprm="1"/>
  </actuator>
  <sensor><jointpos name="angle" joint="hinge"/><framepos name="place" objtype="site" objname="s"/></sensor>
</mujoco>
"""


@pytest.fixture
def assets() -> Model:
    return dovetail.loads(ASSETS)


def test_every_kind_of_object_is_found_by_name(assets: Model) -> None:
    assert assets.material("shiny").reflectance == 0.5
    assert assets.pair("p").dim == 4
    assert assets.exclude("e").signature == assets.exclude_signature[0]
    assert assets.skin("coat").vertnum == 4
    for kind in (name for name in vars(NamedAccess) if not name.startswith("_")):
        with pytest.raises(KeyError, match=f"no {kind} is named 'nobody'"):
            getattr(assets, kind)("nobody")


def test_rows_of_shared_arrays_are_the_objects(assets: Model) -> None:
    assert assets.numeric("gains").data.tolist() == [1, 2, 3]
    assert bytes(assets.text("note").data) == b"hello\0"
    assert assets.tuple("both").objid.tolist() == [1, 0]
    assert assets.tuple("both").objprm.tolist() == [2, 0]
    assert assets.hfield("hill").data.shape == (2, 3)
    assert (assets.hfield("hill").data[::-1] * 5).round().tolist() == [[0, 1, 2], [3, 4, 5]]  # from the back
    assert assets.texture("flat").data.shape == (2, 4, 3)
    assert assets.texture("flat").data[1, 3].tolist() == [255, 0, 0]
    assert [len(assets.mesh(name).vert) for name in ("wedge", "other")] == [4, 5]
    assert np.array_equal(assets.mesh("other").face, assets.mesh_face[assets.mesh("other").faceadr :])
    assets.numeric("gains").data = [4, 5, 6]
    assets.hfield("hill").data[1, 2] = 0.25
    assets.texture("flat").data = 7
    assert assets.numeric_data.tolist() == [9, 4, 5, 6]
    assert assets.hfield_data[5] == 0.25
    assert set(assets.tex_data) == {7}


@pytest.mark.parametrize("nworld", [None, 3])
def test_data_of_sensors_and_activations_of_actuators(assets: Model, nworld: int | None) -> None:
    data = dovetail.make_data(assets, nworld)
    data.sensordata = np.arange(4.0)
    data.actuator("lagged").act = 0.5
    shown = data if nworld is None else data.world(2)
    assert shown.sensor("place").data.tolist() == [1, 2, 3]
    assert np.shape(data.sensor("angle").data)[-1] == 1
    assert np.asarray(data.act).max() == np.asarray(data.act).min() == 0.5
    assert np.shape(data.actuator("direct").act)[-1] == 0
    assert {"data"} <= set(dir(data.sensor("place")))

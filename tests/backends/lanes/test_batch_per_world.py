"""Model fields with values per world: N worlds with different values are N models with these values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batch_scene import SCENE, scene, spread
from lane_backend import LANES

import dovetail
from dovetail.compare.oracle import read
from dovetail.contracts.types import MODEL_SPECS
from dovetail.errors import PerWorldError, ValidationError
from dovetail.planning.per_world import NOT_PHYSICS, POSSIBLE

SMALL = """
<mujoco model="small">
  <option timestep="0.004"/>
  <worldbody>
    <geom type="plane" size="2 2 1"/>
    <body name="cart" pos="0 0 0.101">
      <joint name="lift" type="slide" axis="0 0 1"/>
      <joint name="push" type="slide" axis="1 0 0" damping="0.4"/>
      <geom name="wheel" type="sphere" size="0.1"/>
      <body name="pole"><joint name="tip" axis="0 1 0" stiffness="0.5"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.4" contype="0" conaffinity="0"/></body>
    </body>
  </worldbody>
  <actuator><position joint="push" kp="30"/></actuator>
</mujoco>
"""
FEW = ("geom_friction", "body_mass", "dof_damping", "actuator_gainprm", "jnt_stiffness")
MANY = (
    *FEW,
    *("body_inertia", "body_ipos", "dof_armature", "dof_frictionloss", "qpos_spring", "jnt_range"),
    *("actuator_biasprm", "actuator_gear", "actuator_forcerange", "actuator_ctrlrange"),
    *("geom_solref", "geom_solimp", "geom_margin", "geom_gap", "opt.gravity", "opt.timestep", "opt.impratio"),
)
NWORLD, STEPS = 3, 25
BOUND = {"numpy": 1e-12, LANES: 1e-9}


def randomized(
    model: dovetail.Model, fields: tuple[str, ...], backend: str, **more: Any
) -> dovetail.Simulation:
    """A batch whose worlds differ in the values of some fields, up to a tenth, and in their motion."""
    sim = dovetail.Simulation(model, more.pop("nworld", NWORLD), backend=backend, per_world=fields, **more)
    assert len(sim.plan.segments()) == 1
    rng = np.random.default_rng(5)
    for name in fields:
        values = np.array(sim.per_world[name])
        assert values.shape[1:] == np.shape(model.field(name))
        sim.per_world[name][...] = values * (1 + 0.1 * rng.random(values.shape))
    sim.set_constants()
    spread(sim.data)
    return sim


def single_model(model: dovetail.Model, sim: dovetail.Simulation, fields: tuple[str, ...], world: int) -> Any:
    """A model of its own with the values of one world."""
    own = model.copy()
    for name in fields:
        own.field(name)[...] = sim.per_world[name][world]
    dovetail.set_constants(own)
    return own


def assert_worlds_are_models(model: dovetail.Model, fields: tuple[str, ...], backend: str) -> None:
    sim = randomized(model, fields, backend)
    start = {name: np.array(sim.data.field(name)) for name in sim.data.state}
    sim.step(STEPS)
    for world in range(NWORLD):
        single = dovetail.Simulation(single_model(model, sim, fields, world))
        for name in single.data.state:
            single.data.field(name)[...] = start[name][world]
        single.step(STEPS)
        for name in ("qpos", "qvel", "time", "qacc_warmstart"):
            np.testing.assert_allclose(
                sim.data.field(name)[world],
                single.data.field(name),
                rtol=BOUND[backend],
                atol=BOUND[backend] * (100 if name == "qacc_warmstart" else 1),
                err_msg=f"{name} of world {world}",
            )


@pytest.mark.parametrize("backend", ["numpy", LANES])
def test_worlds_are_models_of_their_own(backend: str) -> None:
    assert_worlds_are_models(dovetail.loads(SMALL), FEW, backend)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_with_all_that_people_randomise(cone: str, integrator: str) -> None:
    model = scene(cone, integrator)
    model.opt.tolerance = 1e-13  # so that solutions are compared and not where solvers stop
    assert_worlds_are_models(model, MANY, LANES)


def test_a_world_does_not_depend_on_its_neighbours() -> None:
    """Worlds in another order, so in other tiles beside others: the same bits. One of them has no damping at all."""
    nworld = 11
    sims = [randomized(dovetail.loads(SMALL), FEW, LANES, nworld=nworld) for _ in range(2)]
    sims[0].per_world["dof_damping"][4] = 0.0
    for name in sims[0].data.state:
        sims[1].data.field(name)[...] = np.array(sims[0].data.field(name))[::-1]
    for sim in sims:
        sim.step(STEPS)
    for name in ("qpos", "qvel", "qacc_warmstart"):
        assert np.array_equal(np.asarray(sims[0].data.field(name))[::-1], sims[1].data.field(name)), name


def test_with_all_that_people_randomise_on_numpy() -> None:
    assert_worlds_are_models(scene(), MANY, "numpy")


def test_each_world_is_mujocos_with_these_values() -> None:
    mujoco = pytest.importorskip("mujoco")
    model = scene()
    sim = randomized(model, MANY, "numpy")
    start = {name: np.array(sim.data.field(name)) for name in ("qvel", "ctrl")}
    sim.step(STEPS)
    for world in (0, NWORLD - 1):
        theirs = mujoco.MjModel.from_xml_string(SCENE.format(cone="pyramidal", integrator="Euler"))
        for name in MANY:
            group, _, attribute = name.rpartition(".")
            holder, values = (theirs.opt if group else theirs), np.asarray(sim.per_world[name][world])
            if values.shape:
                getattr(holder, attribute)[...] = values.reshape(np.shape(getattr(holder, attribute)))
            else:
                setattr(holder, attribute, float(values))
        data = mujoco.MjData(theirs)
        mujoco.mj_setConst(theirs, data)
        np.testing.assert_allclose(sim.per_world["body_invweight0"][world], theirs.body_invweight0, rtol=1e-9)
        mujoco.mj_resetData(theirs, data)
        for name, values in start.items():
            getattr(data, name)[:] = values[world]
        for _ in range(STEPS):
            mujoco.mj_step(theirs, data)
        np.testing.assert_allclose(sim.data.qpos[world], data.qpos, rtol=1e-8, atol=1e-8)


def test_derived_fields_join_by_themselves() -> None:
    sim = dovetail.Simulation(scene(), 2, per_world=("body_mass",))
    assert {"body_invweight0", "dof_invweight0", "body_subtreemass", "stat.meaninertia"} <= set(sim.per_world)
    sim.per_world["body_mass"][1] *= 2.0
    sim.set_constants(worlds=[1])
    assert np.array_equal(sim.per_world["body_invweight0"][0], sim.model.body_invweight0)
    moving = sim.model.body_invweight0[:, 0] > 0
    ratio = sim.per_world["body_invweight0"][1][moving, 0] / sim.model.body_invweight0[moving, 0]
    assert (ratio < 0.9).all()


TIED = """
<mujoco>
  <worldbody>
    <site name="post" pos="0 .2 1"/>
    <body name="arm" pos="0 0 .6" euler="0 10 0">
      <joint name="a" axis="0 1 .1" pos=".02 0 0" armature=".01"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/>
      <body name="hand" pos=".3 0 .1">
        <joint name="b" type="slide" axis="1 0 .2" ref=".1"/>
        <geom size=".05" pos=".1 0 0"/><site name="tip" pos=".2 0 0"/>
      </body>
    </body>
  </worldbody>
  <tendon><spatial name="cord" stiffness="3"><site site="post"/><site site="tip"/></spatial></tendon>
  <equality><connect body1="hand" body2="world" anchor=".1 0 0"/></equality>
  <actuator><motor tendon="cord"/><general site="tip" refsite="post" gear="1 0 0 0 .5 0"/></actuator>
</mujoco>
"""
OF_MASSES = ("body_mass", "body_inertia", "body_ipos", "body_iquat", "dof_armature")
OF_PLACES = ("body_pos", "body_quat", "jnt_pos", "jnt_axis", "qpos0", "site_pos", "site_quat")
ONLY_COMPILED = (*NOT_PHYSICS, "dof_length")
"""Statistics, and what `set_constants` leaves as it was compiled."""


def moved(name: str, values: Any) -> Any:
    """Values a little elsewhere, but for the world's body, which has none."""
    values = np.array(values)
    rows = values[1:] if name.startswith("body_") else values
    rows += 0.1 * np.random.default_rng(4).random(rows.shape)
    if name.endswith(("quat", "axis")):
        rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    return values


@pytest.mark.parametrize("name", [*OF_MASSES, *OF_PLACES])
def test_all_that_follows_from_a_field_joins_it_and_is_mujocos(name: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    compiled, theirs = (mujoco.MjModel.from_xml_string(TIED) for _ in range(2))
    sim = dovetail.Simulation(dovetail.loads(TIED), 2, per_world=(name,))
    values = moved(name, sim.per_world[name][1])
    sim.per_world[name][1] = getattr(theirs, name)[...] = values
    if name in OF_PLACES:  # a spring that is given no length takes the one it has at rest
        sim.per_world["tendon_lengthspring"][1] = theirs.tendon_lengthspring[...] = -1.0
    sim.set_constants(worlds=[1])
    mujoco.mj_setConst(theirs, mujoco.MjData(theirs))
    before = real_values(compiled)
    for field, expected in real_values(theirs).items():
        if field in sim.per_world:
            found = np.ravel(sim.per_world[field][1])
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=field)
        else:
            assert np.array_equal(expected, before[field]), f"{field} is left behind"


def real_values(compiled: Any) -> dict[str, Any]:
    """The real fields that MuJoCo's Model has as well."""
    names = [n for n, spec in MODEL_SPECS.items() if spec.dtype == "float64" and n not in ONLY_COMPILED]
    return {n: np.ravel(read(compiled, n)).copy() for n in names if hasattr(compiled, n.partition(".")[0])}


def test_a_constant_that_would_be_left_behind_is_an_error() -> None:
    model = dovetail.loads(SMALL.replace('<position joint="push" kp="30"/>', '<motor joint="push"/>'))
    sim = dovetail.Simulation(model, 2, per_world=("actuator_gear",))
    sim.per_world["actuator_gear"][1] *= 2.0
    with pytest.raises(
        PerWorldError, match=r"world 1 has its own actuator_\w+.*add 'actuator_\w+' to per_world"
    ):
        sim.set_constants()


def test_values_are_saved_resumed_and_kept_by_reset(tmp_path: Path) -> None:
    model = scene()
    sim = randomized(model, FEW, "numpy", nworld=2)
    sim.step(3)
    sim.save(tmp_path / "run.npz")
    sim.step(4)
    resumed = dovetail.Simulation(model, 2, per_world=FEW)
    resumed.load(tmp_path / "run.npz")
    resumed.step(4)
    for name in sim.data.state:
        assert np.array_equal(sim.data.field(name), resumed.data.field(name)), name
    friction = np.array(sim.per_world["geom_friction"])
    for worlds in (None, [0]):
        resumed.reset(worlds=worlds)
        assert np.array_equal(resumed.per_world["geom_friction"], friction)
    with pytest.raises(ValidationError, match="model:body_mass is not in this Data"):
        dovetail.Simulation(model, 2).load(tmp_path / "run.npz")


def test_worlds_start_from_their_own_reference_pose() -> None:
    sim = dovetail.Simulation(scene(), 3, per_world=("qpos0",))
    sim.per_world["qpos0"][2, 0] = 0.7
    sim.reset()
    assert np.array_equal(sim.data.qpos[:, 0], [0.0, 0.0, 0.7])
    sim.data.qpos[...] = 0.0
    sim.reset(worlds=[2])
    assert sim.data.qpos[2, 0] == 0.7


def test_editing_the_model_is_still_seen() -> None:
    model = dovetail.loads(SMALL)
    sim = dovetail.Simulation(model, 2, per_world=("body_mass",))
    model.opt.gravity[:] = 0.0
    sim.step()
    assert not np.asarray(sim.data.qvel).any()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (("geom_fricton",), r"the Model has no field 'geom_fricton'.*geom_friction"),
        (("geom_type",), r"geom_type cannot differ between worlds: it is structure"),
        (
            ("geom_size",),
            r"geom_size cannot differ between worlds: stages take it as the same.*geom_friction",
        ),
    ],
)
def test_what_cannot_be_per_world_is_refused(fields: tuple[str, ...], text: str) -> None:
    with pytest.raises(PerWorldError, match=text):
        dovetail.Simulation(scene(), 2, per_world=fields)


def test_a_single_world_has_no_fields_per_world() -> None:
    with pytest.raises(PerWorldError, match="needs a batch"):
        dovetail.Simulation(scene(), per_world=("body_mass",))


def test_friction_loss_where_the_model_has_none_is_an_error() -> None:
    sim = dovetail.Simulation(scene(), 3, per_world=("dof_frictionloss",))
    sim.per_world["dof_frictionloss"][1, 1] = 0.2
    with pytest.raises(PerWorldError, match=r"dof_frictionloss\[1\] is zero in the Model but not in world 1"):
        sim.step()


def test_a_lane_stage_that_cannot_says_so() -> None:
    xml = SMALL.replace(
        '<position joint="push" kp="30"/>',
        '<general joint="push" dyntype="filterexact" dynprm="0.1" actearly="true"/>',
    )
    sim = dovetail.Simulation(dovetail.loads(xml), 3, backend=LANES, per_world=("actuator_dynprm",))
    with pytest.raises(
        PerWorldError, match=rf"actuation \(gain_bias@{LANES}\) cannot.*actuator_dynprm.*@numpy"
    ):
        sim.step()


def test_every_possible_field_is_a_real_one_of_the_model() -> None:
    model = scene()
    for name in POSSIBLE:
        assert np.asarray(model.field(name)).dtype == np.float64


def test_asking_for_a_field_that_is_not_per_world_helps() -> None:
    sim = dovetail.Simulation(scene(), 2, per_world=("geom_friction",))
    with pytest.raises(KeyError, match="the same in all worlds"):
        _ = sim.per_world["geom_solref"]

"""Steps, evaluations, stages, states and callbacks of the drop-in beside mujoco's."""

from __future__ import annotations

import copy
import gc
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dovetail.mj as ours

mujoco = pytest.importorskip("mujoco")

XML = """
<mujoco>
  <option timestep="0.004"/>
  <worldbody>
    <geom type="plane" size="3 3 0.1"/>
    <body name="trunk" pos="0 0 0.35">
      <freejoint/>
      <geom type="capsule" fromto="-0.2 0 0 0.2 0 0" size="0.08"/>
      <site name="imu"/>
      <body pos="0.2 0 0"><joint name="hip" axis="0 1 0" damping="0.2" stiffness="1"/>
        <geom type="capsule" fromto="0 0 0 0.1 0 -0.25" size="0.04"/></body>
      <body pos="-0.2 0 0"><joint name="tail" type="ball" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 -0.3 0 0" size="0.03"/></body>
    </body>
    <body name="hand" mocap="true" pos="1 0 0.5"/>
  </worldbody>
  <actuator>
    <general joint="hip" dyntype="filter" dynprm="0.1" gainprm="5"/>
    <general name="own" joint="hip" gaintype="user" biastype="user"/>
  </actuator>
  <sensor>
    <accelerometer site="imu"/><jointpos joint="hip"/><framelinvel objtype="site" objname="imu"/>
    <user dim="1" objtype="site" objname="imu" datatype="real" needstage="vel"/>
  </sensor>
  <keyframe><key name="up" qpos="0 0 1 1 0 0 0 0.3 1 0 0 0" ctrl="0.5 0"/></keyframe>
</mujoco>
"""
STATE = ("time", "qpos", "qvel", "act")


class Pair:
    """The same model and data on both sides."""

    def __init__(self, xml: str = XML) -> None:
        self.sides = [(side, *self._made(side, xml)) for side in (mujoco, ours)]

    @staticmethod
    def _made(side: Any, xml: str) -> tuple[Any, Any]:
        model = side.MjModel.from_xml_string(xml)
        return model, side.MjData(model)

    def do(self, name: str, *arguments: Any) -> list[Any]:
        """Call a function on both sides; arrays in the arguments are copied."""
        given = []
        for side, model, data in self.sides:
            own = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
            getattr(side, name)(model, data, *own)
            given.append(own)
        return given

    def set(self, **fields: Any) -> None:
        for _, _, data in self.sides:
            for name, value in fields.items():
                getattr(data, name)[...] = value

    def check(self, *names: str, tolerance: float = 1e-9) -> None:
        theirs, mine = (data for _, _, data in self.sides)
        for name in names:
            wanted = np.asarray(getattr(theirs, name))
            error = np.abs(np.asarray(getattr(mine, name)) - wanted).max(initial=0.0)
            assert error <= tolerance * max(1.0, np.abs(wanted).max(initial=0.0)), name


@pytest.fixture
def pair() -> Pair:
    made = Pair()
    rng = np.random.default_rng(0)
    made.set(qvel=rng.normal(size=10), ctrl=[0.4, 0.0])
    return made


@pytest.fixture(autouse=True)
def _no_callbacks() -> Iterator[None]:
    yield
    ours.mj_resetCallbacks()
    for name in ("control", "passive", "sensor", "act_gain", "act_bias", "act_dyn", "contactfilter", "time"):
        getattr(mujoco, f"set_mjcb_{name}")(None)


def test_steps_are_mujocos(pair: Pair) -> None:
    for _ in range(30):
        pair.do("mj_step")
    pair.check(*STATE, "qacc", "sensordata", "xpos", "cvel", "qacc_warmstart")


def test_a_forward_evaluation_leaves_the_state_and_fills_the_rest(pair: Pair) -> None:
    pair.do("mj_step")
    before = [np.array(getattr(pair.sides[1][2], name)) for name in (*STATE, "qacc_warmstart")]
    pair.do("mj_forward")
    pair.check("qacc", "sensordata", "efc_force", "qfrc_constraint", "xpos", "cvel", "energy")
    for name, values in zip((*STATE, "qacc_warmstart"), before, strict=True):
        np.testing.assert_array_equal(getattr(pair.sides[1][2], name), values)


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit", "implicitfast"])
def test_halves_of_a_step_with_forces_between_them(integrator: str) -> None:
    pair = Pair(XML.replace('timestep="0.004"', f'timestep="0.004" integrator="{integrator}"'))
    pair.set(qvel=0.5)
    for step in range(8):
        pair.do("mj_step1")
        pair.check("xpos", "cvel", "qfrc_bias", "sensordata", "qacc")
        pair.set(ctrl=[0.1 * step, 0.0], qfrc_applied=0.1 * step)
        pair.do("mj_step2")
        pair.check(*STATE, "qacc", "sensordata")


def test_an_edit_between_the_halves_counts(pair: Pair) -> None:
    pair.do("mj_step1")
    pair.set(qfrc_passive=3.0)
    pair.do("mj_step2")
    pair.check(*STATE, "qacc")


STAGES = (
    *("mj_kinematics", "mj_comPos", "mj_camlight", "mj_flex", "mj_tendon", "mj_makeM", "mj_factorM"),
    *("mj_collision", "mj_makeConstraint", "mj_island", "mj_transmission", "mj_fwdVelocity"),
    *("mj_fwdActuation", "mj_fwdAcceleration", "mj_fwdConstraint", "mj_sensorPos", "mj_sensorVel"),
    *("mj_sensorAcc", "mj_energyPos", "mj_energyVel", "mj_subtreeVel", "mj_rnePostConstraint"),
    *("mj_crb", "mj_comVel", "mj_passive", "mj_referenceConstraint", "mj_invConstraint", "mj_compareFwdInv"),
)


def test_stages_one_by_one(pair: Pair) -> None:
    for name in STAGES:
        pair.do(name)
    pair.check(
        "qacc", "sensordata", "subtree_linvel", "cfrc_ext", "cacc", "energy", "qM", "qLD", "qfrc_passive"
    )


@pytest.mark.parametrize(("name", "integrator"), [("mj_Euler", "RK4"), ("mj_implicit", "implicitfast")])
def test_integrators_alone(name: str, integrator: str) -> None:
    pair = Pair(XML.replace('timestep="0.004"', f'timestep="0.004" integrator="{integrator}"'))
    pair.set(qvel=0.5)
    pair.do("mj_forward")
    pair.do(name)
    pair.check(*STATE)


def test_rk4_alone(pair: Pair) -> None:
    pair.do("mj_forward")
    pair.do("mj_RungeKutta", 4)
    pair.check(*STATE)
    with pytest.raises(ours.FatalError, match="N=4"):
        ours.mj_RungeKutta(*pair.sides[1][1:], 3)


def test_inverse_dynamics_and_skipped_stages(pair: Pair) -> None:
    pair.do("mj_forward")
    pair.set(qacc=0.3)
    pair.do("mj_inverse")
    pair.check("qfrc_inverse", "sensordata", "efc_force")
    pair.set(qacc=-0.2)
    pair.do("mj_inverseSkip", 2, 0)
    pair.check("qfrc_inverse")
    pair.set(ctrl=[0.9, 0.0])
    pair.do("mj_forwardSkip", 2, 1)
    pair.check("qacc", "sensordata")


def test_body_forces_are_those_of_the_last_request() -> None:
    pair = Pair(XML.replace('timestep="0.004"', 'timestep="0.004" integrator="RK4"'))
    for _ in range(12):
        pair.do("mj_step")
        pair.do("mj_rnePostConstraint")
        pair.check("cfrc_ext", "cacc", "cfrc_int", tolerance=1e-8)
        pair.check("efc_force", "qacc", tolerance=1e-8)
    pair = Pair()
    for step in range(12):
        pair.do("mj_step")
        if step % 3 == 0:
            pair.do("mj_rnePostConstraint")
        pair.check("cfrc_ext", "cacc", tolerance=1e-8)


def test_states_as_vectors_and_keyframes(pair: Pair) -> None:
    for sig in (1, 14, 4111, 8191):
        size = mujoco.mj_stateSize(pair.sides[0][1], sig)
        theirs, mine = pair.do("mj_getState", np.empty(size), sig)
        np.testing.assert_allclose(mine[0], theirs[0])
        pair.do("mj_setState", np.linspace(0.1, 1, size), sig)
        pair.check("qpos", "ctrl", "mocap_pos", "eq_active")
    pair.do("mj_resetDataKeyframe", 0)
    pair.check("qpos", "qvel", "ctrl", "time", "mocap_pos")
    pair.do("mj_step")
    pair.do("mj_setKeyframe", 0)
    np.testing.assert_allclose(pair.sides[1][1].key_qpos, pair.sides[0][1].key_qpos, atol=1e-9)
    pair.do("mj_resetData")
    pair.check("qpos", "qvel", "ctrl", "time", "sensordata", "mocap_pos", "xpos", "qacc")


QUESTIONS: dict[str, Any] = {
    "mj_jac": lambda nv: [np.zeros((3, nv)), np.zeros((3, nv)), np.array([0.1, 0.2, 0.3]), 2],
    "mj_jacBody": lambda nv: [np.zeros((3, nv)), np.zeros((3, nv)), 2],
    "mj_jacBodyCom": lambda nv: [np.zeros((3, nv)), None, 2],
    "mj_jacSubtreeCom": lambda nv: [np.zeros((3, nv)), 1],
    "mj_jacGeom": lambda nv: [None, np.zeros((3, nv)), 2],
    "mj_jacSite": lambda nv: [np.zeros((3, nv)), np.zeros((3, nv)), 0],
    "mj_jacDot": lambda nv: [np.zeros((3, nv)), np.zeros((3, nv)), np.array([0.1, 0.2, 0.3]), 2],
    "mj_jacPointAxis": lambda nv: [
        *(np.zeros((3, nv)), np.zeros((3, nv)), np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.6, 0.8]), 3)
    ],
    "mj_angmomMat": lambda nv: [np.zeros((3, nv)), 1],
    "mj_applyFT": lambda nv: [np.ones(3), np.array([0.0, 1, 2]), np.zeros(3), 2, np.ones(nv)],
    "mj_mulM": lambda nv: [np.zeros(nv), np.linspace(0, 1, nv)],
    "mj_mulM2": lambda nv: [np.zeros(nv), np.linspace(0, 1, nv)],
    "mj_solveM": lambda nv: [np.zeros((2, nv)), np.linspace(0, 1, 2 * nv).reshape(2, nv)],
    "mj_solveM2": lambda nv: [np.zeros((1, nv)), np.linspace(0, 1, nv)[None], np.linspace(1, 2, nv)[None]],
    "mj_rne": lambda nv: [1, np.zeros(nv)],
    "mj_ray": lambda nv: [np.array([0.0, 0, 2]), np.array([0.0, 0, -1]), None, 1, -1, np.zeros(1, np.int32)],
    "mj_geomDistance": lambda nv: [0, 2, 5.0, np.zeros(6)],
    "mj_objectVelocity": lambda nv: [1, 2, np.zeros(6), 1],
    "mj_objectAcceleration": lambda nv: [6, 0, np.zeros(6), 0],
    "mj_contactForce": lambda nv: [0, np.zeros(6)],
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_are_mujocos(pair: Pair, name: str) -> None:
    pair.set(qpos=[0, 0, 0.05, 1, 0, 0, 0, 0.3, 1, 0, 0, 0])
    pair.do("mj_forward")
    pair.do("mj_rnePostConstraint")
    theirs, mine = pair.do(name, *QUESTIONS[name](10))
    for wanted, found in zip(theirs, mine, strict=True):
        if isinstance(wanted, np.ndarray):
            np.testing.assert_allclose(found, wanted, atol=1e-8 * max(1.0, np.abs(wanted).max()), rtol=1e-8)


def test_a_contact_can_be_added(pair: Pair) -> None:
    pair.do("mj_forward")
    for side, model, data in pair.sides:
        contact = side.MjContact()
        contact.dist, contact.geom[:] = -0.5, (0, 1)
        before = data.ncon
        assert side.mj_addContact(model, data, contact) == 0
        assert data.ncon == before + 1
        assert data.contact[before].dist == -0.5


def test_callbacks_do_what_mujocos_do(pair: Pair) -> None:
    seen: dict[str, list[Any]] = {"mujoco": [], "dovetail.mj": []}

    def control(m: Any, d: Any) -> None:
        d.ctrl[0] = 0.5 - d.sensordata[3]  # a sensor of positions is up to date by then
        seen[type(m).__module__.split(".structs")[0].split("._")[0]].append(float(d.ctrl[0]))

    def passive(m: Any, d: Any) -> None:
        d.qfrc_passive[6] += 0.2

    def sensor(m: Any, d: Any, stage: Any) -> None:
        d.sensordata[-1] = 10 * int(stage) + d.time

    for side, _, _ in pair.sides:
        side.set_mjcb_control(control)
    for _ in range(5):
        pair.do("mj_step")
    pair.check(*STATE, "ctrl", "sensordata")
    for side, _, _ in pair.sides:
        side.set_mjcb_passive(passive)
        side.set_mjcb_sensor(sensor)
        side.set_mjcb_act_gain(lambda m, d, i: 2.0 + i)
        side.set_mjcb_act_bias(lambda m, d, i: -0.5)
        side.set_mjcb_contactfilter(lambda m, d, g1, g2: int(g2 == 2))
    pair.set(ctrl=[0.0, 0.7], qpos=[0, 0, 0.05, 1, 0, 0, 0, 0.3, 1, 0, 0, 0])
    for _ in range(5):
        pair.do("mj_step")
    pair.check(*STATE, "ctrl", "sensordata", "qfrc_passive", "actuator_force")
    np.testing.assert_allclose(seen["dovetail.mj"], seen["mujoco"], atol=1e-9)
    assert len(seen["mujoco"]) == 10


def test_an_exception_in_a_callback_reaches_the_caller(pair: Pair) -> None:
    def control(m: Any, d: Any) -> None:
        raise RuntimeError("no")

    ours.set_mjcb_control(control)
    with pytest.raises(RuntimeError, match="no"):
        ours.mj_step(*pair.sides[1][1:])


def test_a_broken_number_is_counted_told_and_reset(pair: Pair) -> None:
    _, model, data = pair.sides[1]
    data.qvel[2] = np.nan
    with pytest.warns(RuntimeWarning, match="qvel"):
        ours.mj_step(model, data)
    assert data.warning[ours.mjtWarning.mjWARN_BADQVEL].number == 1
    assert data.warning[ours.mjtWarning.mjWARN_BADQVEL].lastinfo == 2
    assert data.time == pytest.approx(model.opt.timestep)
    assert np.isfinite(data.qvel).all()


def test_a_data_is_stepped_with_any_model_of_its_sizes() -> None:
    pair = Pair()
    for side, model, data in pair.sides:
        for factor in (1.0, 3.0, 0.5):
            other = copy.copy(model)
            other.body_mass[:] *= factor
            other.opt.gravity[2] *= factor
            for _ in range(4):
                side.mj_step(other, data)
    pair.check(*STATE)
    small = ours.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(ours.FatalError, match="sizes differ"):
        ours.mj_step(small, pair.sides[1][2])


def test_models_of_one_structure_keep_their_own_numbers() -> None:
    """They share a plan, and late fields are those of the model that was stepped."""
    pairs = [Pair() for _ in range(3)]
    for number, pair in enumerate(pairs):
        for _, model, _ in pair.sides:
            model.body_mass[1] = 1.0 + number
        pair.set(qpos=[0, 0, 0.05, 1, 0, 0, 0, 0.3, 1, 0, 0, 0])
    for _ in range(6):
        for pair in pairs:
            pair.do("mj_step")
    for pair in pairs:
        pair.check(*STATE, "efc_force", "qacc", tolerance=1e-8)


def test_threads_step_as_one_after_the_other() -> None:
    model = ours.MjModel.from_xml_string(XML)
    starts = [0.1, 0.2]

    def run(data: Any) -> None:
        for _ in range(40):
            ours.mj_step(model, data)

    def fresh(start: float) -> Any:
        data = ours.MjData(model)
        data.qvel[:] = start
        return data

    alone = [fresh(start) for start in starts]
    for data in alone:
        run(data)
    together = [fresh(start) for start in starts]
    threads = [threading.Thread(target=run, args=(data,)) for data in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.qpos, other.qpos)
        np.testing.assert_array_equal(one.qvel, other.qvel)


def steps_with_callbacks(count: int) -> int:
    """Bytes by which memory grows in so many steps with a callback, after as many others."""
    model = ours.MjModel.from_xml_string(XML)
    data = ours.MjData(model)
    ours.set_mjcb_control(lambda m, d: None)
    used = []
    tracemalloc.start()
    for _ in range(2):
        for _ in range(count):
            ours.mj_step(model, data)
        gc.collect()
        used.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    alone = object()  # how many are counted for a variable depends on the Python
    assert sys.getrefcount(data) == sys.getrefcount(alone)
    return used[1] - used[0]


def test_steps_with_callbacks_do_not_grow() -> None:
    assert steps_with_callbacks(60) < 400_000  # one Data is 100 kB: one kept at every step were 6 MB


@pytest.mark.slow
def test_many_steps_with_callbacks_do_not_grow() -> None:
    assert steps_with_callbacks(50_000) < 400_000


def test_names_that_are_missing_say_what_to_use() -> None:
    with pytest.raises(AttributeError, match="dovetail plugins"):
        _ = ours.mj_loadAllPluginLibraries
    with pytest.raises(AttributeError, match="Renderer"):
        _ = ours.mjr_render

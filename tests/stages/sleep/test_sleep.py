"""Trees fall asleep and wake when MuJoCo's do, and move as MuJoCo's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

import dovetail  # noqa: E402
from dovetail.contracts.types import Data, Model  # noqa: E402
from dovetail.errors import PlanError  # noqa: E402

BOX = '<geom type="box" size=".1 .1 .1"/>'


def scene(bodies: str, rest: str = "", option: str = "") -> str:
    return f"""<mujoco><option {option}><flag sleep="enable"/></option><worldbody>
    <geom type="plane" size="5 5 .1"/>{bodies}</worldbody>{rest}</mujoco>"""


STACK = scene(
    f"""<body pos="0 0 .0995"><freejoint/>{BOX}</body><body pos="0 0 .2985"><freejoint/>{BOX}</body>
    <body pos="1 0 .0995"><freejoint/>{BOX}</body><body pos="1 0 1"><freejoint/><geom size=".1"/></body>
    <body pos="2 0 1"><joint axis="0 1 0"/><geom size=".1"/></body>"""
)
"""Two boxes on each other, one that a ball will fall on, and a hinge with nothing to turn it."""

INIT = scene(
    f"""<body pos="0 0 .099" sleep="init"><freejoint/>{BOX}</body>
    <body pos="0 0 .297" sleep="init"><freejoint/>{BOX}</body>
    <body pos="1 0 .099" sleep="init"><freejoint/>{BOX}</body>
    <body pos="2 0 .3" sleep="never"><freejoint/>{BOX}</body><body pos="3 0 .099"><freejoint/>{BOX}</body>"""
)

TIED = scene(
    f"""<body name="a" pos="0 0 .099"><freejoint/>{BOX}</body><body name="b" pos="1 0 .099"><freejoint/>{BOX}</body>
    <body pos="3 0 .7"><joint name="slide" type="slide" damping="1"/>{BOX}<site name="s"/></body>
    <body name="d" pos="3.5 0 .099"><freejoint/>{BOX}<site name="t"/></body>""",
    """<equality><connect name="rod" body1="a" body2="b" anchor=".5 0 0" active="false"/></equality>
    <tendon><spatial limited="true" range="0 .9"><site site="s"/><site site="t"/></spatial></tendon>""",
)

LISTS = {
    "body_awake_ind": "nbody_awake",
    "parent_awake_ind": "nparent_awake",
    "dof_awake_ind": "nv_awake",
}


class Pair:
    """The same scene here and in MuJoCo."""

    def __init__(self, xml: str, integrator: str = "Euler") -> None:
        xml = xml.replace("<option ", f'<option integrator="{integrator}" ', 1)
        self.mj_model = mujoco.MjModel.from_xml_string(xml)
        self.mj_data = mujoco.MjData(self.mj_model)
        self.model: Model = dovetail.loads(xml)
        self.data: Data = dovetail.make_data(self.model)

    def both(self) -> tuple[Any, Any]:
        return self.data, self.mj_data

    def run(self, steps: int) -> None:
        """Step both, and compare after each."""
        for step in range(steps):
            mujoco.mj_step(self.mj_model, self.mj_data)
            dovetail.step(self.model, self.data)
            np.testing.assert_array_equal(self.data.tree_asleep, self.mj_data.tree_asleep, f"step {step}")
        np.testing.assert_allclose(self.data.qpos, self.mj_data.qpos, atol=1e-8)
        np.testing.assert_allclose(self.data.qvel, self.mj_data.qvel, atol=1e-7)
        self.compare_lists()

    def compare_lists(self) -> None:
        for name in ("tree_awake", "body_awake"):
            np.testing.assert_array_equal(getattr(self.data, name), getattr(self.mj_data, name), name)
        assert self.data.ntree_awake == self.mj_data.ntree_awake
        for name, size in LISTS.items():
            count = getattr(self.mj_data, size)
            assert getattr(self.data, size) == count, size
            np.testing.assert_array_equal(
                getattr(self.data, name)[:count], getattr(self.mj_data, name)[:count]
            )

    def sleepers(self) -> int:
        return int((np.asarray(self.data.tree_asleep) >= 0).sum())


@pytest.mark.by_default("Euler")
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_falling_asleep_and_being_woken_by_a_contact(integrator: str) -> None:
    pair = Pair(STACK, integrator)
    pair.run(100)
    assert pair.sleepers() == 4
    pair.run(120)  # the ball lands on the third box
    assert pair.sleepers() == 3


@pytest.mark.parametrize("how", ["qvel", "qpos", "xfrc_applied", "qfrc_applied"])
def test_being_woken_by_the_user(how: str) -> None:
    pair = Pair(STACK)
    pair.run(90)
    for data in pair.both():
        if how == "xfrc_applied":
            data.xfrc_applied[1, 2] = 1e-9
        else:
            getattr(data, how)[2] += 1e-9
    pair.run(1)
    assert pair.data.tree_asleep[0] < 0
    assert pair.data.tree_asleep[1] < 0  # the box on top is of the same ring
    assert pair.data.tree_asleep[2] >= 0


def test_policies_decide_who_sleeps_at_reset() -> None:
    pair = Pair(INIT)
    pair.run(1)
    assert pair.sleepers() == 3
    start = pair.model.qpos0[:21]
    pair.run(300)
    np.testing.assert_array_equal(pair.data.qpos[:21], start)
    assert pair.data.tree_asleep[3] == -11  # may never sleep
    assert pair.sleepers() == 4


def test_a_sleeper_moved_before_the_first_step_is_awake() -> None:
    pair = Pair(INIT)
    for data in pair.both():
        data.qpos[14] += 0.01  # the third box, which stands alone
    pair.run(3)
    assert pair.sleepers() == 2


def test_being_woken_by_an_equality() -> None:
    """Both boxes wake. In that step MuJoCo 3.4 has no contacts of theirs, so that they begin to fall."""
    pair = Pair(TIED)
    pair.run(150)
    assert (np.asarray(pair.data.tree_asleep[:2]) >= 0).all()
    for data in pair.both():
        data.eq_active[0] = 1
    mujoco.mj_step(pair.mj_model, pair.mj_data)
    dovetail.step(pair.model, pair.data)
    np.testing.assert_array_equal(pair.data.tree_asleep, pair.mj_data.tree_asleep)
    assert (np.asarray(pair.data.tree_asleep[:2]) < 0).all()
    assert pair.mj_data.qvel[2] == pytest.approx(-9.81 * pair.mj_model.opt.timestep)
    np.testing.assert_allclose(pair.data.qvel, pair.mj_data.qvel, atol=1e-9)


def test_being_woken_by_a_tendon_at_its_limit() -> None:
    """A slide is lifted and pulls a rope taut whose other end is fixed to a sleeping box."""
    pair = Pair(TIED)
    pair.run(150)
    assert pair.data.tree_asleep[3] >= 0
    for data in pair.both():
        data.qpos[14] += 1.0
    pair.run(3)
    assert pair.data.tree_asleep[3] < 0


def test_a_damped_sleeper_stays_where_it_is() -> None:
    """Where damping is integrated implicitly, forces and not accelerations decide."""
    pair = Pair(scene(f'<body pos="0 0 .099"><joint type="slide" damping="3"/>{BOX}</body>'))
    pair.run(150)
    assert pair.sleepers() == 1
    before = pair.data.qpos.copy()
    pair.run(50)
    np.testing.assert_array_equal(pair.data.qpos, before)


def test_a_saved_sleep_is_resumed(tmp_path: Any) -> None:
    pair = Pair(STACK)
    pair.run(90)
    pair.data.save(tmp_path / "asleep.npz")
    fresh = dovetail.make_data(pair.model)
    fresh.load(tmp_path / "asleep.npz")
    for _ in range(20):
        dovetail.step(pair.model, fresh)
        dovetail.step(pair.model, pair.data)
    np.testing.assert_array_equal(fresh.tree_asleep, pair.data.tree_asleep)
    np.testing.assert_array_equal(fresh.qpos, pair.data.qpos)


def test_rk4_is_refused() -> None:
    model = dovetail.loads(STACK.replace("<option ", '<option integrator="RK4" ', 1))
    with pytest.raises(PlanError, match=r"sleep.*RK4"):
        dovetail.step(model, dovetail.make_data(model))


# ---- what an evaluation leaves ----------------------------------------------------------------------------------

ARMS = scene(
    """<body pos="0 0 1" sleep="init"><joint name="a" axis="0 1 0" limited="true" range="-10 10"/>
      <geom size=".05" pos=".2 0 0"/><site name="s" pos=".2 0 0"/>
      <body pos=".4 0 0"><joint name="b" axis="0 1 0" frictionloss=".1" damping=".2" stiffness="2"/>
        <geom size=".05" pos=".2 0 0"/><site name="t"/></body></body>
    <body pos="0 1 1"><joint name="c" axis="0 1 0"/><geom size=".05" pos=".2 0 0"/><site name="u"/></body>""",
    """<tendon><spatial limited="true" range="0 5"><site site="s"/><site site="t"/></spatial>
      <spatial limited="true" range="0 9"><site site="t"/><site site="u"/></spatial>
      <fixed><joint joint="a" coef="2"/></fixed><fixed><joint joint="c" coef="3"/></fixed></tendon>
    <sensor><jointpos joint="a"/><jointpos joint="c"/><tendonpos tendon="NAMED"/><accelerometer site="t"/>
      <accelerometer site="u"/><framepos objtype="site" objname="t" reftype="site" refname="u"/>
      <subtreecom body="world"/><clock/></sensor>""",
)
"""One arm that sleeps from the start, one that does not, and tendons in, between and beside them."""
ARMS = ARMS.replace("<spatial limited", '<spatial name="NAMED" limited', 1)

HELD = scene(
    f"""<body name="hand" mocap="true" pos="0 3 2"><geom size=".05"/></body>
    <body name="a" pos="0 0 .099" sleep="init"><freejoint/>{BOX}<site name="a"/></body>
    <body name="b" pos="1 0 .099" sleep="init"><freejoint/>{BOX}</body>
    <body name="c" pos="2 0 .099" sleep="init"><freejoint/>{BOX}</body><body pos="4 0 .5"><freejoint/>{BOX}</body>""",
    """<equality><connect body1="a" body2="b" anchor=".5 0 0"/><connect body1="c" body2="hand" anchor="0 0 0"/>
      <weld body1="b"/></equality><sensor><touch site="a"/></sensor>""",
)

FIELDS = (
    *("ncon", "nefc", "ne", "nf", "nl", "nisland", "nidof", "ntree_awake", "nbody_awake"),
    *("nparent_awake", "nv_awake", "tree_asleep", "tree_awake", "body_awake", "qacc", "qacc_smooth"),
    *("qfrc_smooth", "qfrc_constraint", "qfrc_bias", "qfrc_passive", "xpos", "xquat", "geom_xpos"),
    *("site_xpos", "cvel", "ten_length", "ten_velocity", "ten_J", "ten_wrapadr", "ten_wrapnum"),
    *("tendon_efcadr", "sensordata", "energy"),
)
ROWS = ["efc_type", "efc_id", "efc_pos", "efc_margin", "efc_D", "efc_R", "efc_aref", "efc_force"]


def same_evaluation(pair: Pair) -> None:
    """All that a forward evaluation leaves."""
    for name in FIELDS:
        theirs = np.asarray(getattr(pair.mj_data, name))
        ours = np.asarray(getattr(pair.data, name)).reshape(theirs.shape)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=name)
    for name in ROWS:
        ours = np.asarray(getattr(pair.data, name))[: pair.mj_data.nefc]
        np.testing.assert_allclose(ours, getattr(pair.mj_data, name), rtol=1e-7, atol=1e-7, err_msg=name)
    for name in ("geom", "dist", "efc_address"):
        ours = np.asarray(getattr(pair.data.contact, name))[: pair.mj_data.ncon]
        np.testing.assert_allclose(ours, getattr(pair.mj_data.contact, name), atol=1e-9, err_msg=name)
    pair.compare_lists()


def random_scene(seed: int) -> str:
    """Piles and arms, some of which sleep from the start."""
    random, bodies = np.random.default_rng(seed), ""
    for place in range(5):
        sleeps = 'sleep="init"' if random.random() < 0.6 else ""
        for level in range(random.integers(1, 3)):
            bodies += f'<body pos="{place} 0 {0.099 + 0.198 * level}" {sleeps}><freejoint/>{BOX}</body>'
        limit = "-100 -1" if random.random() < 0.5 else "-100 100"
        bodies += f"""<body pos="{place} 2 1" {sleeps}><joint axis="0 1 0" range="{limit}" limited="true"
            frictionloss="{random.choice([0, 0.2])}"/><geom size=".1" pos=".1 0 0"/></body>"""
    return scene(bodies)


EVALUATED = {
    "piles": INIT,
    "arms": ARMS,
    "held": HELD,
    **{f"random {seed}": random_scene(seed) for seed in range(6)},
}


@pytest.mark.covering
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("name", EVALUATED)
def test_evaluations_pass_sleepers_over(name: str, cone: str) -> None:
    """No contacts, rows, forces and tendon lengths of trees that sleep from the start, in `forward` and in steps."""
    pair = Pair(EVALUATED[name].replace('sleep="enable"', 'sleep="enable" energy="enable"'))
    pair.mj_model.opt.cone = pair.model.opt.cone = ["pyramidal", "elliptic"].index(cone)
    mujoco.mj_resetData(pair.mj_model, pair.mj_data)
    # a step with a sleeper held by a mocap body is a fatal error in MuJoCo
    for steps in (0,) if name == "held" else (0, 1, 4, 20):
        mujoco.mj_step(pair.mj_model, pair.mj_data, steps) if steps else None
        dovetail.step(pair.model, pair.data, steps)
        mujoco.mj_forward(pair.mj_model, pair.mj_data)
        dovetail.forward(pair.model, pair.data)
        same_evaluation(pair)
    assert pair.sleepers()


def test_evaluations_in_a_batch_pass_sleepers_over() -> None:
    """Worlds of a batch on kernels, one of them reset again."""
    mj_model = mujoco.MjModel.from_xml_string(INIT)
    mj_data = mujoco.MjData(mj_model)
    mujoco.mj_forward(mj_model, mj_data)
    sim = dovetail.Simulation(dovetail.loads(INIT), nworld=2, keep="all")
    sim.forward()
    for world in range(2):
        assert int(sim.data.ncon[world]) == mj_data.ncon
        np.testing.assert_array_equal(sim.data.tree_asleep[world], mj_data.tree_asleep)
        np.testing.assert_allclose(sim.data.qacc[world], mj_data.qacc, atol=1e-9)

"""Motions to follow: what is read between poses, velocities, rounds, ends, and how far a world is from them."""

import numpy as np
import pytest

import dovetail
from dovetail.envs import DovetailVectorEnv, Task, rotations
from dovetail.envs.reference import Motion, Space

BODIES = """
<mujoco><worldbody>
<body pos="0 0 1"><freejoint/><geom size=".1"/>
  <body><joint type="ball"/><geom size=".05" pos="0 0 .3"/><body pos="0 0 .4">
  <joint axis="0 1 0"/><joint type="slide"/>
  <geom size=".05"/></body></body></body>
</worldbody></mujoco>
"""


@pytest.fixture(scope="module")
def model():
    return dovetail.loads(BODIES)


def poses(model, count, seed=0):
    """Random poses, far apart."""
    qpos = np.random.default_rng(seed).standard_normal((count, model.nq))
    for q in (3, 7):
        qpos[:, q : q + 4] /= np.linalg.norm(qpos[:, q : q + 4], axis=1, keepdims=True)
    return qpos


def test_space_is_mujocos(model):
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_string(BODIES)
    space, a, b = Space(model), poses(model, 50), poses(model, 50, seed=1)
    got, moved = space.difference(b, a), space.moved(a, 0.3 * space.difference(b, a))
    for first, second, mine, there in zip(a, b, got, moved, strict=True):
        expected = np.zeros(theirs.nv)
        mujoco.mj_differentiatePos(theirs, expected, 1.0, first, second)
        np.testing.assert_allclose(mine, expected, atol=1e-12)
        place = first.copy()
        mujoco.mj_integratePos(theirs, place, expected, 0.3)
        np.testing.assert_allclose(there, place, atol=1e-12)


def test_rotations():
    quat, other = poses_of_quats(0), poses_of_quats(1)
    vector = np.random.default_rng(2).standard_normal((20, 3))
    turned = rotations.product(
        rotations.product(quat, np.pad(vector, ((0, 0), (1, 0)))), rotations.conjugate(quat)
    )
    np.testing.assert_allclose(rotations.rotate(quat, vector), turned[:, 1:], atol=1e-12)
    np.testing.assert_allclose(
        rotations.rotate_back(quat, rotations.rotate(quat, vector)), vector, atol=1e-12
    )
    back = rotations.product(quat, rotations.from_vector(rotations.difference(other, quat)))
    np.testing.assert_allclose(np.abs((back * other).sum(axis=1)), 1.0, atol=1e-12)
    np.testing.assert_array_equal(rotations.to_vector(np.array([1.0, 0.0, 0.0, 0.0])), 0.0)
    np.testing.assert_allclose(rotations.to_vector(rotations.from_vector(np.full(3, 1e-9))), 1e-9, rtol=1e-6)


def poses_of_quats(seed):
    quat = np.random.default_rng(seed).standard_normal((20, 4))
    return quat / np.linalg.norm(quat, axis=1, keepdims=True)


def test_poses_are_met_and_between_them_rotations_stay_rotations(model):
    qpos, times = poses(model, 6), np.array([0.0, 0.1, 0.4, 0.5, 0.9, 1.0])
    motion = Motion(model, times, qpos)
    at = motion.at(times)[0]
    assert np.abs(motion.space.difference(at, qpos)).max() < 1e-12
    between = motion.at(np.linspace(0, 1, 1001))[0]
    assert np.abs(np.diff(between, axis=0)).max() < 0.1  # no jumps, nor from q to -q
    np.testing.assert_allclose(np.linalg.norm(between[:, 3:7], axis=1), 1.0, atol=1e-12)
    middle = motion.at(np.array([0.25]))[0]
    to, fro = motion.space.difference(qpos[2], middle), motion.space.difference(middle, qpos[1])
    np.testing.assert_allclose(to, fro, atol=1e-12)  # half way


def test_velocities_are_those_of_the_motion(model):
    """A motion of known velocity, at uneven times: second order in the distance of poses."""
    rates = np.array([0.3, -0.2, 0.1, 0.5, -0.4, 0.3, 0.2, 0.6, -0.1, 0.7, -0.5])
    space, start = Space(model), poses(model, 1)
    worst = []
    for count in (20, 40):
        times = np.concatenate(([0.0], np.cumsum(np.resize([1.0, 3.0], count)) / (2 * count)))
        qpos = space.moved(start, np.sin(times)[:, None] * rates)
        _, qvel = Motion(model, times, qpos).at(times)
        worst.append(np.abs(qvel - np.cos(times)[:, None] * rates)[1:-1].max())
    assert worst[0] < 2e-3
    assert worst[1] < worst[0] / 3
    given = np.ones((3, model.nv))
    np.testing.assert_array_equal(Motion(model, 0.5, poses(model, 3), given).at([0.3])[1], 1.0)


def test_rounds_go_on_where_the_last_one_ended(model):
    qpos = poses(model, 4)
    qpos = np.concatenate((qpos, qpos[:1]))
    qpos[-1, :2] += [2.0, -1.0]
    motion = Motion(model, 0.25, qpos, loop=True)
    (first, fast), (second, later) = motion.at([0.3]), motion.at([2.3])
    np.testing.assert_allclose(second[:, :2] - first[:, :2], [[4.0, -2.0]], atol=1e-12)
    np.testing.assert_allclose(second[:, 2:], first[:, 2:], atol=1e-12)
    np.testing.assert_allclose(fast, later, atol=1e-9)
    seam = motion.space.difference(motion.at([1 + 1e-9])[0], motion.at([1 - 1e-9])[0])
    np.testing.assert_allclose(seam, 0.0, atol=1e-6)
    assert not motion.ended(np.array([99.0])).any()
    with pytest.raises(dovetail.DovetailError, match="append the first pose"):
        Motion(model, 0.25, qpos[:-1], loop=True)


def test_a_motion_that_ends_holds_its_last_pose(model):
    motion = Motion(model, 0.1, poses(model, 3))
    pose, velocity = motion.at([0.2, 5.0])
    np.testing.assert_allclose(pose[0], pose[1], atol=1e-12)
    assert velocity[1].tolist() == [0.0] * model.nv
    assert motion.ended([0.2, 0.21]).tolist() == [False, True]


@pytest.mark.parametrize(
    ("times", "shape", "text"),
    [
        (0.1, (3, 4), "should be"),
        ([0, 1], None, "rising"),
        ([0, 1, 1], None, "rising"),
        (-1.0, None, "rising"),
    ],
)
def test_what_is_wrong_is_said(model, times, shape, text):
    with pytest.raises(dovetail.DovetailError, match=text):
        Motion(model, times, np.zeros(shape) if shape else poses(model, 3))
    with pytest.raises(dovetail.DovetailError, match="qvel has shape"):
        Motion(model, 0.1, poses(model, 3), np.zeros((3, 2)))


class Follow(Task):
    """A pendulum that shall swing as a sine does."""

    model = """<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody><body><joint name="hinge" axis="0 1 0"/>
    <geom size=".1" pos="0 0 -.5"/></body></worldbody>
    <actuator><position joint="hinge" kp="40" kv="6" ctrlrange="-3 3"/></actuator></mujoco>"""
    frame_skip = 2
    memory = {"clock": 1}  # noqa: RUF012

    def load(self):
        model = super().load()
        times = np.linspace(0, 2, 41)
        self.motion = Motion(model, times, np.sin(np.pi * times)[:, None])
        return model

    def start(self, w):
        time = self.motion.any_time(w)
        w.clock = time[:, None]
        w.qpos, w.qvel = self.motion.at(time)

    def observe(self, w):
        return np.concatenate((w.qpos, w.qvel, self.motion.at(w.clock[:, 0])[0]), axis=1)

    def reward(self, w, action):
        w.clock = w.clock + 0.02
        return np.exp(-10 * np.square(self.motion.error(w.clock[:, 0], w.qpos)).sum(axis=1))

    def truncated(self, w):
        return self.motion.ended(w.clock[:, 0])


def test_a_task_follows_a_motion_until_its_end():
    env = DovetailVectorEnv(Follow(), 8, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=0)
    np.testing.assert_allclose(observation[:, 0], observation[:, 2], atol=1e-12)
    assert len(np.unique(observation[:, 0])) == 8
    left = np.ceil((2.0 - env.engine.memory["clock"][:, 0]) / 0.02 - 1e-6)
    rewards = []
    for _ in range(int(left.min()) + 1):
        observation, reward, terminated, truncated, _ = env.step(observation[:, 2:])
        rewards.append(reward)
        assert not terminated.any()
        if truncated.any():
            break
    assert len(rewards) in (left.min(), left.min() + 1)
    assert np.mean(rewards) > 0.6

"""Everything a task can ask for, at once: delay, frame skip, scaling, noise, worlds that differ, memory, time limits,
all modes of starting again; one environment and many do the same, and checkpoints go on bit for bit."""

import itertools
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from lane_backend import LANES

import dovetail
from dovetail.bad_states import StateWarning
from dovetail.envs import DovetailEnv, DovetailVectorEnv, Task

CART = """
<mujoco><option timestep="0.01"/><worldbody>
<body><joint name="rail" type="slide" axis="1 0 0" damping="1"/><geom type="box" size=".2 .1 .05" mass="1"/>
<body name="pole"><joint name="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 .6" size=".03"/></body></body>
</worldbody>
<actuator><motor name="push" joint="rail" gear="10" ctrlrange="-1 3" ctrllimited="true"/></actuator></mujoco>
"""


class Everything(Task):
    """A pole on a cart, with all options; each can be left out."""

    model = CART
    memory = {"steps": 1, "episodes": 1, "pushed": (1, 2)}  # noqa: RUF012
    lasting = ("episodes",)

    def __init__(self, delay=2, skip=3, unit=True, noise=0.01, differ=True, limit=17):
        self.control_delay, self.frame_skip, self.unit_actions = delay, skip, unit
        self.observation_noise = noise
        self.per_world = ("body_mass", "dof_damping") if differ else ()
        self.max_episode_steps = limit

    def start(self, w):
        w.qpos, w.ctrl = w.uniform(-0.1, 0.1, 2), 0.25
        w.episodes = w.episodes + 1
        if self.per_world:
            w.set_model("body_mass", w.model.body_mass * w.uniform(0.5, 2.0, 1))
            w.set_model("dof_damping", w.uniform(0.0, 1.0, 2), constants=False)

    def observe(self, w):
        return np.concatenate((w.qpos, w.qvel, w.ctrl, w.steps, w.episodes, w.pushed[:, 0]), axis=1)

    def reward(self, w, action):
        w.steps = w.steps + 1
        w.pushed = w.pushed + np.stack((action, w.ctrl), axis=-1)
        return np.cos(w.qpos[:, 1]) + w.normal() * 0.0  # draws a number in every step

    def terminated(self, w):
        return np.abs(w.qpos[:, 1]) > 0.25


def made(task, num_envs, **more):
    return DovetailVectorEnv(task, num_envs, physics={"backend": LANES}, **more)


def actions(steps, worlds, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (steps, worlds, 1))


def played(env, given, mode=None):
    """What steps give; with autoreset off, worlds that are over are reset by mask."""
    results = []
    for action in given:
        *result, info = env.step(action)
        results.append([np.array(r) for r in result])
        over = result[2] | result[3]
        if mode == AutoresetMode.DISABLED and over.any():
            results.append([env.reset(options={"reset_mask": over})[0]])
        if mode == AutoresetMode.SAME_STEP and over.any():
            results.append([np.stack(list(info["final_obs"][over]))])
    return results


def assert_same(first, second):
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        for mine, other in zip(a, b, strict=True):
            np.testing.assert_array_equal(mine, other)


CHOICES = list(itertools.product((0, 2), (1, 3), (False, True), (0.0, 0.01), (False, True)))
QUICK = (CHOICES[0], CHOICES[-1])
MIXES = [c if c in QUICK else pytest.param(c, marks=pytest.mark.slow) for c in CHOICES]


@pytest.mark.covering
@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda m: m.name)
@pytest.mark.parametrize("choice", MIXES, ids=lambda c: "-".join(str(int(x > 0) if x != 3 else 3) for x in c))
def test_checkpoints_seeds_and_neighbours_in_any_mix(choice, mode):
    given = actions(45, 3)
    env = made(Everything(*choice), 3, autoreset_mode=mode)
    first = env.reset(seed=5)[0]
    early = played(env, given[:20], mode)
    state = pickle.loads(pickle.dumps(env.get_state()))
    late = played(env, given[20:], mode)
    assert sum(r[2].sum() + r[3].sum() for r in early + late if len(r) == 4) >= 6  # episodes that ended
    env.set_state(state)
    assert_same(played(env, given[20:], mode), late)
    other = made(Everything(*choice), 3, autoreset_mode=mode)
    other.reset(seed=77)
    played(other, given[:13], mode)
    other.set_state(state)
    assert_same(played(other, given[20:], mode), late)
    # The same seeds again, in worlds that were used: the same run.
    np.testing.assert_array_equal(env.reset(seed=5)[0], first)
    assert_same(played(env, given[:20], mode), early)


@pytest.mark.parametrize("choice", QUICK, ids=["nothing", "everything"])
def test_one_environment_is_a_world_of_many(choice):
    many, one = made(Everything(*choice), 4), DovetailEnv(Everything(*choice), physics={"backend": LANES})
    row = 2
    np.testing.assert_array_equal(many.reset(seed=5)[0][row], one.reset(seed=5 + row)[0])
    over, ended = False, 0
    for action in actions(80, 4):
        observation, reward, terminated, truncated, _ = many.step(action)
        if over:
            mine = (one.reset()[0], 0.0, False, False)
        else:
            mine = one.step(action[row])[:4]
        np.testing.assert_array_equal(observation[row], mine[0])
        assert (reward[row], terminated[row], truncated[row]) == mine[1:]
        over = mine[2] or mine[3]
        ended += over
    assert ended >= 3


def test_one_environment_has_checkpoints():
    env, other = (DovetailEnv(Everything(), physics={"backend": LANES}) for _ in range(2))

    def run(env, given):
        results = []
        for action in given:
            observation, reward, terminated, truncated, _ = env.step(action)
            results.append((observation, reward, terminated, truncated))
            if terminated or truncated:
                results.append((env.reset()[0],))
        return results

    env.reset(seed=5)
    run(env, actions(30, 1)[:, 0])
    state = pickle.loads(pickle.dumps(env.get_state()))
    late = run(env, actions(50, 1, 1)[:, 0])
    other.reset(seed=3)
    other.set_state(state)
    assert_same(run(other, actions(50, 1, 1)[:, 0]), late)
    assert len(late) > 52  # some episodes ended


def test_a_world_seeded_alone_forgets_everything():
    env, fresh = DovetailVectorEnv(Everything(), 3), DovetailVectorEnv(Everything(), 3)
    env.reset(seed=1)
    played(env, actions(30, 3))
    mask = np.array([False, True, False])
    observation = env.reset(seed=[None, 9, None], options={"reset_mask": mask})[0][1]
    np.testing.assert_array_equal(observation, fresh.reset(seed=[7, 9, 8])[0][1])
    for mine, other in zip(played(env, actions(40, 3, 2)), played(fresh, actions(40, 3, 2)), strict=True):
        for a, b in zip(mine, other, strict=True):
            np.testing.assert_array_equal(a[1], b[1])


def test_memory_starts_at_zero_unless_it_lasts():
    env = DovetailVectorEnv(Everything(noise=0.0, limit=5), 2)
    env.reset(seed=0)
    for _ in range(13):
        observation = env.step(np.zeros((2, 1)))[0]
    steps, episodes = observation[:, 5], observation[:, 6]
    assert steps.tolist() == [
        0,
        0,
    ]  # observed before the first reward; five steps and one to start, twice, and one
    assert episodes.tolist() == [3, 3]
    env.reset()
    assert env.engine.memory["episodes"].tolist() == [[4], [4]]
    env.reset(seed=0)
    assert env.engine.memory["episodes"].tolist() == [[1], [1]]


def test_the_first_controls_of_a_delay_are_those_of_the_start():
    env = DovetailVectorEnv(Everything(noise=0.0), 2)
    env.reset(seed=0)
    seen = [env.step(np.array([[1.0], [-1.0]]))[0][:, 4].tolist() for _ in range(3)]
    assert seen == [[0.25, 0.25], [0.25, 0.25], [3.0, -1.0]]


@pytest.mark.parametrize("limit", [None, 4])
def test_the_tasks_own_time_limit_is_the_environments(limit):
    env = DovetailEnv(Everything(limit=9), max_episode_steps=limit)
    env.reset(seed=0, options={"qpos": [0.0, 0.0], "qvel": [0.0, 0.0]})
    lengths = next(n for n in range(1, 20) if env.step(np.full(1, -0.5))[3])
    assert lengths == (limit or 9)


def test_a_task_may_cut_episodes_off_itself():
    class Cut(Everything):
        def truncated(self, w):
            return w.steps[:, 0] >= 3

    env = DovetailVectorEnv(Cut(), 2)
    env.reset(seed=0)
    assert [env.step(np.zeros((2, 1)))[3].tolist() for _ in range(3)] == [
        [False] * 2,
        [False] * 2,
        [True] * 2,
    ]
    single = DovetailEnv(Cut())
    single.reset(seed=0)
    assert [single.step(np.zeros(1))[3] for _ in range(3)] == [False, False, True]
    env.task.truncated = lambda w: np.zeros(5, bool)
    with pytest.raises(dovetail.envs.TaskError, match="truncated"):
        env.step(np.zeros((2, 1)))


def test_draws_of_some_worlds():
    class Some(Everything):
        def reward(self, w, action):
            self.drawn = [w.uniform(0, 1, 2, rows=[1]), w.normal(rows=[]), w.uniform([0, 0], [1, 1], rows=[])]
            return np.zeros(len(w))

    env, other = DovetailVectorEnv(Some(noise=0.0), 3), DovetailVectorEnv(Everything(noise=0.0), 3)
    for each in (env, other):
        each.reset(seed=0)
    env.step(np.zeros((3, 1)))
    assert [d.shape for d in env.task.drawn] == [(1, 2), (0,), (0, 2)]
    used = [
        a.bit_generator.state == b.bit_generator.state
        for a, b in zip(env.np_random, other.np_random, strict=True)
    ]
    assert used == [True, False, True]


def test_pictures_of_ones_own_task():
    env = DovetailVectorEnv(Everything(), 2, render_mode="rgb_array", width=64, height=48)
    env.reset(seed=0)
    first, second = env.render()
    assert first.shape == (48, 64, 3)
    assert not np.array_equal(first, second)
    env.close()
    single = DovetailEnv(Everything(), render_mode="rgbd_tuple", width=64, height=48)
    single.reset(seed=0)
    colour, depth = single.render()
    np.testing.assert_array_equal(colour, first)
    assert depth.shape == (48, 64)
    single.close()


def test_worlds_that_break_are_terminated_if_they_freeze():
    env = DovetailVectorEnv(
        Everything(delay=0), 3, physics={"on_nan": "freeze"}, autoreset_mode=AutoresetMode.SAME_STEP
    )
    env.reset(seed=0)
    env.sim.data.qfrc_applied[1, 0] = np.inf
    with pytest.warns(StateWarning):
        observation, reward, terminated, _, info = env.step(np.zeros((3, 1)))
    assert terminated.tolist() == [False, True, False]
    assert info["final_info"]["broken"].tolist() == [False, True, False]
    assert np.isfinite(observation).all()
    assert np.isfinite(reward).all()
    assert not env.step(np.zeros((3, 1)))[2].any()  # it is well again


def test_makers_take_tasks_of_ones_own():
    gymnasium.register(
        id="test/Everything-v0",
        entry_point=lambda **k: DovetailEnv(Everything(), **k),
        vector_entry_point=lambda **k: DovetailVectorEnv(Everything(), **k),
    )
    try:
        assert gymnasium.make("test/Everything-v0").reset(seed=0)[0].shape == (9,)
        assert gymnasium.make_vec("test/Everything-v0", num_envs=3).reset(seed=0)[0].shape == (3, 9)
    finally:
        del gymnasium.registry["test/Everything-v0"]

"""What callers of environments rely on: checkers, seeds, bad input, checkpoints, adapters."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import dovetail
from dovetail.envs import DovetailEnv, DovetailVectorEnv, Task, Turns

PENDULUM = """
<mujoco><option timestep="0.01"/><worldbody><body><joint name="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.03"/></body></worldbody>
<actuator><motor name="turn" joint="hinge" ctrlrange="-2 2" ctrllimited="true"/></actuator></mujoco>
"""


class Balance(Task):
    model = PENDULUM
    frame_skip = 2
    max_episode_steps = 20

    def start(self, w):
        w.qpos = w.uniform(-0.1, 0.1, 1)

    def observe(self, w):
        return np.concatenate((w.qpos, w.qvel), axis=1)

    def reward(self, w, action):
        return np.cos(w.qpos[:, 0])

    def terminated(self, w):
        return np.abs(w.qpos[:, 0]) > 0.5


def made(num_envs=4, task=None, **more):
    return DovetailVectorEnv(task or Balance(), num_envs, **more)


@pytest.mark.filterwarnings("ignore:.*(observation space|Box).*")
def test_gymnasium_finds_nothing_to_complain_about():
    env = gymnasium.make("dovetail/Hopper-v5")
    check_env(env.unwrapped, skip_render_check=True)
    env = gymnasium.make("dovetail/InvertedPendulum-v5", render_mode="rgb_array", width=64, height=48)
    env.reset(seed=0)
    assert env.render().shape == (48, 64, 3)
    env.close()


def test_an_environment_is_the_same_whatever_its_neighbours():
    few, many = made(3), made(11)
    a, b = few.reset(seed=7)[0], many.reset(seed=7)[0]
    np.testing.assert_array_equal(a, b[:3])
    for step in range(50):
        action = np.sin(np.arange(11) + step)[:, None]
        first, second = few.step(action[:3]), many.step(action)
        for mine, other in zip(first[:4], second[:4], strict=True):
            np.testing.assert_array_equal(mine, other[:3])


def test_a_checkpoint_goes_on_bit_for_bit():
    env, other = made(5), made(5)
    env.reset(seed=1)
    other.reset(seed=99)
    actions = np.random.default_rng(0).uniform(-1, 1, (60, 5, 1))
    for action in actions[:30]:
        env.step(action)
    state = pickle.loads(pickle.dumps(env.get_state()))
    first = [env.step(action)[0] for action in actions[30:]]
    other.set_state(state)
    np.testing.assert_array_equal(first, [other.step(action)[0] for action in actions[30:]])
    with pytest.raises(dovetail.DovetailError, match="other worlds"):
        made(6).set_state(state)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (np.zeros((4, 2)), r"shape \(4, 2\); it should have \(4, 1\)"),
        (np.zeros(4), r"shape \(4,\)"),
        (np.zeros((4, 1), complex), "dtype complex128"),
        (np.array([["a"]] * 4), "dtype"),
        ([[1.0], [np.nan], [0.0], [0.0]], "environment 1 for actuator 'turn' is nan"),
    ],
)
def test_bad_actions_step_nothing(action, text):
    env = made()
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(dovetail.envs.BadActionError, match=text):
        env.step(action)
    for name, buffer in env.get_state()["buffers"].items():
        np.testing.assert_array_equal(buffer, before["buffers"][name])
    env.step(np.zeros((4, 1)))


def test_actions_out_of_range_are_limited_by_the_actuator():
    env = made(2)
    env.reset(seed=0, options={"qpos": np.zeros((2, 1)), "qvel": np.zeros((2, 1))})
    observation = env.step(np.array([[2.0], [50.0]]))[0]
    np.testing.assert_array_equal(observation[0], observation[1])


def test_a_model_file_that_is_not_there_is_named():
    with pytest.raises(dovetail.DovetailError, match=r"nowhere\.xml.*does not exist"):
        gymnasium.make("dovetail/Ant-v5", xml_file="./nowhere.xml")


def test_order_of_calls():
    env = made()
    with pytest.raises(dovetail.envs.ResetNeededError, match="before the first reset"):
        env.step(np.zeros((4, 1)))
    env.reset(seed=0)
    env.close()
    env.close()
    with pytest.raises(dovetail.envs.ClosedEnvError, match="closed"):
        env.step(np.zeros((4, 1)))
    single = DovetailEnv(Balance())
    with pytest.raises(gymnasium.error.ResetNeeded):
        single.step(np.zeros(1))
    single.close()
    single.close()


def test_without_autoreset_worlds_that_are_over_must_be_reset():
    env = made(autoreset_mode="Disabled")
    env.reset(seed=0)
    for _ in range(20):
        over = env.step(np.zeros((4, 1)))[3]
    assert over.all()
    with pytest.raises(dovetail.envs.ResetNeededError, match="4 environment"):
        env.step(np.zeros((4, 1)))
    env.reset(options={"reset_mask": np.array([True, False, False, False])})
    with pytest.raises(dovetail.envs.ResetNeededError, match="the first is 1"):
        env.step(np.zeros((4, 1)))


@pytest.mark.parametrize("mask", [[True] * 4, np.ones(3, bool), np.ones(4), np.zeros(4, bool)])
def test_bad_masks_are_refused(mask):
    env = made()
    env.reset(seed=0)
    with pytest.raises(dovetail.DovetailError, match="reset_mask"):
        env.reset(options={"reset_mask": mask})


def test_a_task_that_raises_is_named_and_a_reset_mends_it():
    class Broken(Balance):
        broken = True

        def reward(self, w, action):
            if self.broken:
                raise ZeroDivisionError("of my own making")
            return np.zeros(len(w))

    env = made(task=Broken())
    env.reset(seed=0)
    with pytest.raises(dovetail.envs.TaskError, match="Broken raised ZeroDivisionError: of my own making"):
        env.step(np.zeros((4, 1)))
    with pytest.raises(dovetail.envs.ResetNeededError):
        env.step(np.zeros((4, 1)))
    env.task.broken = False
    env.reset(seed=0)
    env.step(np.zeros((4, 1)))


@pytest.mark.parametrize("what", ["observe", "reward", "terminated"])
def test_results_of_a_wrong_shape_are_refused(what):
    task = Balance()
    env = made(task=task)
    env.reset(seed=0)
    setattr(task, what, lambda *_: np.zeros(3))
    with pytest.raises(dovetail.envs.TaskError, match=what):
        env.step(np.zeros((4, 1)))


def test_delay_noise_scaling_and_memory():
    class Late(Balance):
        control_delay, unit_actions, observation_noise, memory = 2, True, 0.01, {"seen": 1}

        def observe(self, w):
            w.seen = w.seen + 1
            return np.concatenate((w.ctrl, w.seen), axis=1)

    env = made(2, Late(), max_episode_steps=100)
    env.reset(seed=3)
    got = [env.step(np.array([[1.0], [-0.5]]))[0] for _ in range(4)]
    np.testing.assert_allclose([g[:, 0] for g in got], [[0, 0], [0, 0], [2, -1], [2, -1]], atol=0.1)
    assert not np.array_equal(got[2][:, 0], [2, -1])
    twin = made(2, Late(), max_episode_steps=100)
    twin.reset(seed=3)
    np.testing.assert_array_equal(got[0], twin.step(np.array([[1.0], [-0.5]]))[0])


def test_a_seed_gives_the_same_noise_whatever_was_before():
    class Noisy(Balance):
        observation_noise = 0.1

    env, fresh = made(2, Noisy()), made(2, Noisy())
    env.reset(seed=8)
    env.step(np.zeros((2, 1)))
    env.reset(seed=3)
    fresh.reset(seed=3)
    np.testing.assert_array_equal(env.step(np.zeros((2, 1)))[0], fresh.step(np.zeros((2, 1)))[0])


def test_worlds_may_differ_in_the_model():
    class Heavy(Balance):
        per_world = ("body_mass",)

        def start(self, w):
            super().start(w)
            w.set_model("body_mass", w.model.body_mass * w.uniform(1, 3, 1))

    env = made(6, Heavy())
    env.reset(seed=0)
    masses = np.array(env.sim.per_world["body_mass"])[:, 1]
    assert len(np.unique(masses)) == 6
    env.reset(options={"reset_mask": np.arange(6) == 2})
    changed = np.array(env.sim.per_world["body_mass"])[:, 1] != masses
    assert changed.tolist() == [False, False, True, False, False, False]


def test_wrappers_copies_and_two_at_once():
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(made(3, autoreset_mode="NextStep"))
    env = gymnasium.wrappers.vector.NormalizeObservation(env)
    other = made(3)
    env.reset(seed=0)
    other.reset(seed=0)
    twin = copy.deepcopy(other)
    for _ in range(25):
        info = env.step(np.zeros((3, 1)))[4]
        a, b = other.step(np.zeros((3, 1)))[0], twin.step(np.zeros((3, 1)))[0]
        np.testing.assert_array_equal(a, b)
    assert other.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert isinstance(info, dict)


@pytest.mark.filterwarnings("ignore:.* is multi-threaded, use of fork:DeprecationWarning")
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_processes(context):
    env = gymnasium.make_vec(
        "dovetail/InvertedPendulum-v5",
        num_envs=2,
        vectorization_mode="async",
        vector_kwargs={"context": context},
    )
    here = gymnasium.make_vec("dovetail/InvertedPendulum-v5", num_envs=2)
    np.testing.assert_array_equal(env.reset(seed=0)[0], here.reset(seed=0)[0])
    action = np.full((2, 1), 0.5, np.float32)
    np.testing.assert_array_equal(env.step(action)[0], here.step(action)[0])
    env.close()


def test_parts_take_turns_with_the_same_results():
    turns, whole = Turns(made, 8, parts=2), made(8)
    observation, _ = turns.reset(seed=4)
    np.testing.assert_array_equal(observation, whole.reset(seed=4)[0])
    for part in (0, 1):
        turns.send(np.full((4, 1), 0.1), part)
    with pytest.raises(dovetail.DovetailError, match="under way"):
        turns.send(np.zeros((4, 1)), 0)
    expected = whole.step(np.full((8, 1), 0.1))
    for part in (0, 1):
        got = turns.recv()
        assert got[4]["part"] == part
        np.testing.assert_array_equal(got[0], expected[0][got[4]["env_id"]])
    with pytest.raises(dovetail.envs.ResetNeededError):
        turns.recv()
    turns.close()
    turns.close()


def test_stable_baselines_gets_last_observations():
    pytest.importorskip("stable_baselines3")
    from dovetail.envs import StableBaselinesVecEnv

    with pytest.raises(dovetail.DovetailError, match="SameStep"):
        StableBaselinesVecEnv(made())
    env = StableBaselinesVecEnv(made(autoreset_mode="SameStep"))
    env.seed(3)
    env.reset()
    for _ in range(20):
        observation, reward, done, infos = env.step(np.zeros((4, 1), np.float32))
    assert done.all()
    assert reward.dtype == np.float32
    assert all(info["TimeLimit.truncated"] for info in infos)
    assert not np.allclose(infos[0]["terminal_observation"], observation[0])


def test_tensors_share_memory():
    torch = pytest.importorskip("torch")
    from dovetail.envs import TorchVectorEnv

    class Watched(DovetailVectorEnv):
        def step(self, actions):
            self.given, self.gave = actions, super().step(actions)
            return self.gave

    inner = Watched(Balance(), 4)
    env = TorchVectorEnv(inner)
    env.reset(seed=0)
    action = torch.zeros(4, 1, requires_grad=True)
    tensors = env.step(action)[:4]
    assert inner.given.ctypes.data == action.data_ptr()
    for tensor, array in zip(tensors, inner.gave[:4], strict=True):
        assert tensor.data_ptr() == array.ctypes.data
        assert tensor.numpy().dtype == array.dtype
    kept = tensors[0].clone()
    env.step(action)
    assert torch.equal(kept, tensors[0])  # what a learner keeps does not change


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"qpos": [0.1, 0.2]}, r'options\["qpos"\] has shape \(1, 2\); it should be \(1, 1\)'),
        ({"qpos": 0.1}, "has shape"),
        ({"qvel": ["fast"]}, "no array of numbers"),
        ({"place": [0.1]}, "reset has no option 'place'; there are qpos, qvel, act"),
    ],
)
def test_given_states_of_one_environment_must_fit(options, text):
    env = DovetailEnv(Balance())
    before = env.reset(seed=1)[0]
    with pytest.raises(dovetail.DovetailError, match=text):
        env.reset(seed=2, options=options)
    np.testing.assert_array_equal(env.engine.sim.data.qpos[0], before[:1])
    np.testing.assert_array_equal(env.reset(options={"qpos": [0.1]})[0][:1], [0.1])


def test_a_task_that_lacks_a_function_says_which():
    class Blind(Task):
        model = PENDULUM

    with pytest.raises(dovetail.envs.TaskError, match="Blind needs a function observe"):
        made(task=Blind())

    class Unrewarded(Blind):
        observe = Balance.observe

    env = made(task=Unrewarded())
    env.reset(seed=0)
    with pytest.raises(dovetail.envs.TaskError, match="Unrewarded needs a function reward"):
        env.step(np.zeros((4, 1)))

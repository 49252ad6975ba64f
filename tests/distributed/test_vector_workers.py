"""Vector environments on workers: the bits of one DovetailVectorEnv, also after losses; and clear errors."""

from __future__ import annotations

import os
import signal

import gymnasium
import numpy as np
import pytest

import dovetail
from dovetail.distributed import VectorWorkers, WorkerError, make_vec, rollout
from dovetail.distributed.vector import joined_infos
from dovetail.errors import ArgumentError

pytest.importorskip("ray")
from dovetail.envs import DovetailVectorEnv, Task
from dovetail.envs.errors import BadActionError, ClosedEnvError, ResetNeededError, TaskError

pytestmark = pytest.mark.usefixtures("local_ray")

PENDULUM = """
<mujoco><option timestep="0.01"/><worldbody><body><joint name="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.03"/></body></worldbody>
<actuator><motor name="turn" joint="hinge" ctrlrange="-2 2" ctrllimited="true"/></actuator></mujoco>
"""
COUNT, STEPS = 6, 40
SLOW = pytest.mark.slow
MODES = [pytest.param("NextStep", marks=SLOW), "SameStep", pytest.param("Disabled", marks=SLOW)]
"""All is tested in `tox -e distributed`, a part in the default suite: every worker is a process that has to start."""


class Balance(Task):
    model = PENDULUM
    frame_skip = 2
    max_episode_steps = 13
    memory = {"age": 1}  # noqa: RUF012
    observation_noise = 0.001

    def start(self, w):
        w.qpos = w.uniform(-0.3, 0.3, 1)
        w.age = 0.0

    def observe(self, w):
        return np.concatenate((w.qpos, w.qvel), axis=1)

    def reward(self, w, action):
        return np.cos(w.qpos[:, 0])

    def terminated(self, w):
        return np.abs(w.qpos[:, 0]) > 0.5

    def info(self, w):
        w.age = w.age + 1
        return {"angle": w.qpos[:, 0].copy(), "age": np.array(w.age[:, 0])}

    def start_info(self, w):
        return {"drawn": w.qpos[:, 0].copy()}


class Deadly(Balance):
    """Ends its process in one environment, once."""

    def __init__(self, marker, number):
        self.marker, self.number = str(marker), number

    def reward(self, w, action):
        if action[0, 0] == self.number and not os.path.exists(self.marker):
            open(self.marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().reward(w, action)


class Broken(Balance):
    """Raises an error when an action is 2."""

    def reward(self, w, action):
        if (action == 2.0).any():
            raise ZeroDivisionError("of my own making")
        return super().reward(w, action)


class WithoutState(DovetailVectorEnv):
    """An environment that cannot be checkpointed."""

    get_state = set_state = property()


NUMPY = {"backend": "numpy"}


def alone(task=None, mode="NextStep", count=COUNT):
    return DovetailVectorEnv(task or Balance(), count, autoreset_mode=mode, physics=NUMPY)


def shared(workers, task=None, mode="NextStep", **more):
    return make_vec(task or Balance(), COUNT, workers=workers, autoreset_mode=mode, physics=NUMPY, **more)


def action(step, count=COUNT):
    return np.sin(np.arange(count) + 0.37 * step)[:, None]


def played(env, mode="NextStep", steps=STEPS, seed=5):
    """Everything that an environment says in some steps."""
    said = [env.reset(seed=seed)]
    for step in range(steps):
        said.append(env.step(action(step)))
        over = said[-1][2] | said[-1][3]
        if mode == "Disabled" and over.any():
            said.append(env.reset(options={"reset_mask": over}))
    return said


def plain(value):
    """Arrays as bytes, so that == compares bits."""
    if isinstance(value, dict):
        return {name: plain(inside) for name, inside in sorted(value.items())}
    if isinstance(value, tuple | list):
        return [plain(inside) for inside in value]
    if isinstance(value, np.ndarray):
        return (
            [plain(one) for one in value]
            if value.dtype == object
            else (str(value.dtype), value.shape, value.tobytes())
        )
    return value


def emptied(info):
    """Without names that nobody has a value of, which one environment may give where several give none."""
    result = {}
    for name, value in info.items():
        mask = info.get(name if name.startswith("_") else f"_{name}")
        if mask is None or np.any(mask):
            result[name] = emptied(value) if isinstance(value, dict) else value
    return result


def same(first, second) -> bool:
    return all(
        plain(a[:-1]) == plain(b[:-1]) and plain(emptied(a[-1])) == plain(emptied(b[-1]))
        for a, b in zip(first, second, strict=True)
    )


# ---- the same bits


@pytest.mark.by_default("2-Disabled")
@pytest.mark.parametrize(
    ("workers", "mode"),
    [
        (2, "Disabled"),
        (4, "SameStep"),
        *(pytest.param(w, m, marks=SLOW) for w, m in ((1, "NextStep"), (2, "SameStep"), (4, "NextStep"))),
    ],
)
def test_any_number_of_workers_gives_what_one_environment_gives(workers: int, mode: str) -> None:
    env = shared(workers, mode=mode)
    assert env.workers == workers
    assert same(played(env, mode), played(alone(mode=mode), mode))
    assert env.restarts == env.repeated_steps == 0
    env.close()


@SLOW
def test_what_depends_on_the_share_would_be_noticed() -> None:
    """The comparison above fails for environments that are seeded by their place in a share."""

    def wrong(count, first):
        env = DovetailVectorEnv(Balance(), count, physics=NUMPY)
        reset = env.reset
        env.reset = lambda seed=None, options=None: reset(seed=5, options=options)
        return env

    env = VectorWorkers(wrong, COUNT, workers=2)
    assert not same(played(env), played(alone()))
    env.close()


def test_gymnasium_s_tasks_by_name_spaces_and_wrappers() -> None:
    wanted = gymnasium.make_vec("dovetail/HalfCheetah-v5", num_envs=3, physics=NUMPY)
    env = VectorWorkers(
        lambda count, first: gymnasium.make_vec("dovetail/HalfCheetah-v5", num_envs=count, physics=NUMPY),
        3,
        workers=2,
    )
    for name in (
        "single_observation_space",
        "single_action_space",
        "observation_space",
        "action_space",
        "metadata",
    ):
        assert getattr(env, name) == getattr(wanted, name)
    assert env.spec.id == "dovetail/HalfCheetah-v5"
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        gymnasium.wrappers.vector.ClipReward(env, -0.1, 0.1)
    )
    observation, _ = wrapped.reset(seed=1)
    assert observation.tobytes() == wanted.reset(seed=1)[0].tobytes()
    assert wrapped.observation_space.contains(observation)
    moves = np.full((3, 6), 0.3)
    given, reward, *_ = wrapped.step(moves)
    assert given.tobytes() == wanted.step(moves)[0].tobytes()
    assert (np.abs(reward) <= 0.1).all()
    assert wrapped.unwrapped is env
    wrapped.close()
    assert env.closed


@SLOW
def test_seeds() -> None:
    env, other = shared(2), alone()
    assert (
        same([env.reset(seed=[4, 1, None, 9, 9, 2])], [env.reset(seed=[4, 1, None, 9, 9, 2])]) is False
    )  # None
    for seed in (np.int64(3), [4, 1, 7, 9, 9, 2], None):  # None goes on with the generators
        assert same([env.reset(seed=seed)], [other.reset(seed=seed)])
    for seed, text in ((-1, "seed = -1"), ([1, 2], "seed has 2 entries"), ("one", "seed = 'one'")):
        with pytest.raises(dovetail.DovetailError, match=text):
            env.reset(seed=seed)
    env.close()


def test_masks_and_given_states_go_to_their_environments() -> None:
    env, other = shared(4), alone()
    mask = np.array([False, True, False, False, False, True])  # the third share has none of them
    rows = np.linspace(-0.2, 0.2, COUNT)[:, None]
    for each in ({"qpos": rows}, {"qpos": rows.tolist(), "qvel": rows * 2}):
        assert same([env.reset(seed=1, options=each)], [other.reset(seed=1, options=each)])
    env.step(action(0)), other.step(action(0))
    for given in (rows, rows[mask]):
        options = {"reset_mask": mask, "qpos": given}
        assert same([env.reset(options=options)], [other.reset(options=options)])
    assert same([env.step(action(1))], [other.step(action(1))])
    for bad in ([True] * COUNT, np.ones(3, bool), np.zeros(COUNT, bool)):
        with pytest.raises(dovetail.DovetailError, match="reset_mask"):
            env.reset(options={"reset_mask": bad})
    with pytest.raises(dovetail.DovetailError, match="no option 'qops'"):
        env.reset(options={"qops": rows})
    env.close()


def test_infos_are_joined() -> None:
    masks = np.array([True, False]), np.array([False])
    first = {"x": np.array([1.5, 0.0]), "_x": masks[0], "final_obs": np.array([np.ones(2), None], object)}
    first |= {"final_info": {"y": np.array([3, 0]), "_y": masks[0]}, "version": 7}
    found = joined_infos([first, {}, {"x": np.array([2.5]), "_x": np.array([True])}], [2, 1, 1])
    assert found["x"].tolist() == [1.5, 0.0, 0.0, 2.5]
    assert found["_x"].tolist() == [True, False, False, True]
    assert [one is None for one in found["final_obs"]] == [False, True, True, True]
    assert found["final_info"]["y"].tolist() == [3, 0, 0, 0]
    assert found["final_info"]["_y"].tolist() == [True, False, False, False]
    assert found["version"] == 7


# ---- losses


@pytest.mark.parametrize("mode", MODES)
def test_nobody_notices_a_killed_worker(tmp_path, mode: str) -> None:
    marker = tmp_path / "killed"
    env = shared(2, Deadly(marker, action(17)[3, 0]), mode, checkpoint=7)
    assert same(played(env, mode), played(alone(mode=mode), mode))
    assert marker.exists()
    assert env.restarts == 1
    assert 0 < env.repeated_steps <= 7 * 3  # of one share
    env.close()


@SLOW
def test_a_worker_that_is_lost_while_nobody_asks(local_ray) -> None:
    env = VectorWorkers(pids, COUNT, workers=2, checkpoint=7)
    other = alone()
    env.reset(seed=5), other.reset(seed=5)
    for step in range(20):
        if step in (7, 12):  # right after a checkpoint, and between two
            os.kill(env.get_attr("process")[-1], signal.SIGKILL)
        assert same([env.step(action(step))], [other.step(action(step))])
    assert env.restarts == 2
    env.close()


def pids(count, first):
    env = DovetailVectorEnv(Balance(), count, physics=NUMPY)
    env.process = os.getpid()
    return env


@SLOW
@pytest.mark.parametrize("mode", MODES)
def test_environments_without_state_start_anew_with_their_worker(tmp_path, mode: str) -> None:
    marker = tmp_path / "killed"
    task = Deadly(marker, action(5)[3, 0])

    def make(count, first):
        return WithoutState(task, count, autoreset_mode=mode, physics=NUMPY)

    env, other = VectorWorkers(make, COUNT, workers=2), alone(mode=mode)
    first, second = env.reset(seed=5), other.reset(seed=5)
    for step in range(5):
        first, second = env.step(action(step)), other.step(action(step))
        assert same([first], [second])
    before = first[0]
    first, second = env.step(action(5)), other.step(action(5))
    assert first[3].tolist() == [False] * 3 + [True] * 3  # truncated
    assert first[-1]["worker_lost"].tolist() == first[-1]["_worker_lost"].tolist() == first[3].tolist()
    assert plain(first[0][:3]) == plain(second[0][:3])  # the others go on
    if mode == "SameStep":
        assert [one is None for one in first[-1]["final_obs"]] == [True] * 3 + [False] * 3
        assert np.stack(first[-1]["final_obs"][3:]).tobytes() == before[3:].tobytes()
    elif mode == "NextStep":
        assert first[0][3:].tobytes() == before[3:].tobytes()
        begun = env.step(action(6))
        assert (begun[1][3:] == 0).all()
        assert not begun[3][3:].any()
    else:
        env.reset(options={"reset_mask": first[3]})
    for step in range(7, 12):
        if mode != "Disabled":
            env.step(action(step))
    assert env.restarts == 1
    env.close()


@SLOW
def test_what_kills_every_worker_is_an_error() -> None:
    class Always(Balance):
        def reward(self, w, action):
            os.kill(os.getpid(), signal.SIGKILL)

    env = shared(1, Always())
    env.reset(seed=0)
    with pytest.raises(WorkerError, match="environments 0 to 5: 4 workers were lost with them"):
        env.step(action(0))
    with pytest.raises(ResetNeededError):
        env.step(action(0))
    env.close()


# ---- bad input


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (np.zeros((COUNT, 2)), r"shape \(6, 2\); it should have \(6, 1\)"),
        (np.zeros((2, 1)), r"shape \(2, 1\)"),
        (np.zeros((COUNT, 1), complex), "dtype complex128"),
        ([["a"]] * COUNT, "dtype"),
        (
            [[0.0]] * 4 + [[np.nan], [np.nan]],
            r"environment 4 has nan at \(0,\), and 1 more are; nothing was stepped",
        ),
    ],
)
def test_bad_actions_step_nothing(two_workers, bad, text: str) -> None:
    env, other = two_workers, alone()
    env.reset(seed=2), other.reset(seed=2)
    with pytest.raises(BadActionError, match=text):
        env.step(bad)
    assert same([env.step(action(0))], [other.step(action(0))])


@pytest.fixture(scope="module")
def two_workers(local_ray):
    env = shared(2, Broken())
    yield env
    env.close()


def test_an_environment_that_raises_is_named_and_a_reset_mends_it(two_workers) -> None:
    env, other = two_workers, alone()
    env.reset(seed=2)
    with pytest.raises(TaskError, match=r"environments 3 to 5 .*of the task Broken raised ZeroDivisionError"):
        env.step(np.array([[0.0]] * 5 + [[2.0]]))
    with pytest.raises(ResetNeededError, match="after an error"):
        env.step(action(0))
    with pytest.raises(ResetNeededError, match="reset all"):
        env.reset(options={"reset_mask": np.array([True] * 3 + [False] * 3)})
    assert env.restarts == 0
    assert same(played(env), played(other))


@SLOW
def test_without_autoreset_worlds_that_are_over_must_be_reset() -> None:
    env = shared(2, mode="Disabled")
    with pytest.raises(ResetNeededError, match="call reset"):
        env.step(action(0))
    env.reset(seed=0, options={"qpos": np.array([[0.0]] * 5 + [[0.6]])})
    assert env.step(np.zeros((COUNT, 1)))[2].tolist() == [False] * 5 + [True]
    with pytest.raises(ResetNeededError, match=r"1 environment\(s\) are over, the first is 5"):
        env.step(action(0))
    env.close()


@SLOW
def test_closing_twice_and_what_comes_after() -> None:
    env = shared(1)
    env.close()
    env.close()
    for call in (env.reset, lambda: env.step(action(0)), env.render):
        with pytest.raises(ClosedEnvError, match="closed"):
            call()


@SLOW
def test_what_cannot_be_made(local_ray) -> None:
    def impossible(count, first):
        raise FileNotFoundError(f"model of {first}")

    cases = [
        (
            lambda: VectorWorkers(impossible, 4, workers=2),
            WorkerError,
            "environments 0 to 1: FileNotFoundError: model of 0",
        ),
        (
            lambda: VectorWorkers(lambda count, first: alone(count=1), 4, workers=1),
            ArgumentError,
            "made 1 env",
        ),
        (
            lambda: VectorWorkers(lambda count, first: 7, 4, workers=1),
            ArgumentError,
            "made no env",
        ),
        (
            lambda: VectorWorkers("Ant", 4),
            ArgumentError,
            "make_env = 'Ant' should be a function",
        ),
        (lambda: make_vec(7, 4), ArgumentError, "7 should be the name of an environment"),
        (lambda: make_vec("dovetail/Ent-v5", 2, workers=1), WorkerError, "Ent"),
        (lambda: make_vec(Balance(), 0), ArgumentError, "num_envs = 0"),
        (lambda: make_vec(Balance(), 9, workers=9), ArgumentError, "room for 4"),
    ]
    for make, kind, text in cases:
        with pytest.raises(kind, match=text):
            make()
    assert (
        rollout(dovetail.loads(PENDULUM), nworld=2, nstep=1, workers=4, **NUMPY).workers == 1
    )  # all are free again


# ---- other environments


def test_environments_of_others_and_pictures() -> None:
    env = make_vec("CartPole-v1", 3, workers=2, vectorization_mode="sync", render_mode="rgb_array")
    other = gymnasium.make_vec("CartPole-v1", num_envs=3, vectorization_mode="sync")
    assert same([env.reset(seed=1)], [other.reset(seed=1)])
    moves = np.array([0, 1, 1])
    assert same([env.step(moves)], [other.step(moves)])
    assert env.get_attr("num_envs") == (2, 2, 1) or env.get_attr("num_envs") == (1, 2, 2)
    env.close()
    other.close()


@SLOW
def test_workers_run_with_the_threads_that_were_asked_for(two_workers) -> None:
    assert two_workers.call("call", "max_episode_steps") == (13,) * COUNT
    env = VectorWorkers(threads_of, 2, workers=1)
    assert env.get_attr("threads_used") == (1, 1)
    env.close()


def threads_of(count, first):
    env = DovetailVectorEnv(Balance(), count)
    env.threads_used = env.sim.plan.threads
    return env

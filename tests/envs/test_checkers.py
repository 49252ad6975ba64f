"""What Gymnasium says of the environments: its checker of single ones, its wrappers of vector ones."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers import vector as wrappers
from lane_backend import LANES

import dovetail.envs  # noqa: F401  (registers)
from dovetail.envs.registration import EPISODES

PHYSICS = {"backend": LANES}
TASTE = "(observation space m..imum value is|symmetric and normalized space)"
"""What the checker says of Gymnasium's own classes, too: their observations have no bounds."""


@pytest.mark.by_default("InvertedPendulum", "Swimmer", "Hopper")
@pytest.mark.parametrize("name", EPISODES)
def test_gymnasiums_checker_is_content(name):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=f"(?s).*{TASTE}")
        check_env(gymnasium.make(f"dovetail/{name}-v5", physics=PHYSICS).unwrapped, skip_render_check=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", EPISODES)
def test_it_is_with_pictures(name):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=f"(?s).*{TASTE}")
        check_env(gymnasium.make(f"dovetail/{name}-v5", physics=PHYSICS).unwrapped)


@pytest.mark.by_default(
    "Hopper-AutoresetMode.SAME_STEP",
    "Hopper-AutoresetMode.DISABLED",
    "InvertedPendulum-AutoresetMode.NEXT_STEP",
    "Pusher-AutoresetMode.NEXT_STEP",
)
@pytest.mark.parametrize(
    ("name", "mode"),
    [*((name, AutoresetMode.NEXT_STEP) for name in EPISODES), *(("Hopper", mode) for mode in AutoresetMode)],
)
def test_vector_environments_keep_what_their_spaces_promise(name, mode):
    env = gymnasium.make_vec(
        f"dovetail/{name}-v5", num_envs=3, autoreset_mode=mode, max_episode_steps=4, physics=PHYSICS
    )
    assert isinstance(env, VectorEnv)
    assert env.metadata["autoreset_mode"] is mode
    assert env.spec.id == f"dovetail/{name}-v5"
    assert env.unwrapped is env
    env.action_space.seed(0)
    observation, info = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    for _ in range(9):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(observation)
        assert (reward.shape, reward.dtype) == ((3,), np.float64)
        for flags in (terminated, truncated):
            assert (flags.shape, flags.dtype) == ((3,), bool)
        for key, value in info.items():
            assert len(value) == 3 or key == "final_info", key
        over = terminated | truncated
        if mode == AutoresetMode.DISABLED and over.any():
            observation, _ = env.reset(options={"reset_mask": over})
            assert env.observation_space.contains(observation)
    env.close()
    assert env.closed


WRAPPERS = {
    "ClipAction": {},
    "ClipReward": {"min_reward": -0.5, "max_reward": 0.5},
    "DtypeObservation": {"dtype": np.float32},
    "FlattenObservation": {},
    "NormalizeObservation": {},
    "NormalizeReward": {},
    "RecordEpisodeStatistics": {},
    "RescaleAction": {"min_action": -2.0, "max_action": 2.0},
}
"""Wrappers and arguments. Others are bases of these, or for pictures and other kinds of arrays."""


@pytest.mark.filterwarnings("ignore:.*precision lowered by casting")  # of Gymnasium's own spaces, too
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_wrappers_of_vector_environments_do_what_they_do_there(wrapper):
    pytest.importorskip("mujoco")
    mode = AutoresetMode.NEXT_STEP
    inner = (
        gymnasium.make_vec("dovetail/Hopper-v5", num_envs=3, autoreset_mode=mode, physics=PHYSICS),
        SyncVectorEnv([lambda: gymnasium.make("Hopper-v5") for _ in range(3)], autoreset_mode=mode),
    )
    ours, theirs = (getattr(wrappers, wrapper)(env, **WRAPPERS[wrapper]) for env in inner)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.single_action_space == theirs.single_action_space
    np.testing.assert_allclose(ours.reset(seed=1)[0], theirs.reset(seed=1)[0], atol=1e-8)
    ours.action_space.seed(0)
    finished = 0
    for _ in range(40):
        action = ours.action_space.sample()
        mine, other = ours.step(action), theirs.step(action)
        for a, b in zip(mine[:4], other[:4], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-6)
            assert a.dtype == b.dtype
        if "episode" in other[4]:
            finished += 1
            for key in ("r", "l"):
                np.testing.assert_allclose(mine[4]["episode"][key], other[4]["episode"][key], rtol=1e-6)
    assert finished or wrapper != "RecordEpisodeStatistics"


def test_lists_of_infos():
    env = wrappers.DictInfoToList(gymnasium.make_vec("dovetail/Hopper-v5", num_envs=2, physics=PHYSICS))
    env.reset(seed=0)
    infos = env.step(env.action_space.sample())[4]
    assert [set(info) >= {"x_velocity", "reward_forward"} for info in infos] == [True, True]

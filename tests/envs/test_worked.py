"""The worked examples: sane under random actions, the same from the same seeds, and possible to do well."""

import importlib.util
import json
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from lane_backend import LANES

import dovetail.envs  # noqa: F401
from dovetail.envs.registration import WORKED
from dovetail.envs.worked import TASKS

WORLDS, STEPS = 64, 300
VARIANTS = [*((name, {}) for name in WORKED), ("QuadrupedVelocity", {"rough": True})]


def made(name, num_envs=WORLDS, **arguments):
    arguments.setdefault("autoreset_mode", "SameStep")
    return gymnasium.make_vec(
        f"dovetail/{name}-v0", num_envs=num_envs, physics={"backend": LANES}, **arguments
    )


def mean_return(env, act, steps):
    """Mean sum of rewards per world of that many steps."""
    observation, _ = env.reset(seed=3)
    total = 0.0
    for _ in range(steps):
        observation, reward, *_ = env.step(act(observation))
        total += float(reward.mean())
    return total


def random_actions(env):
    generator = np.random.default_rng(0)
    return lambda _: generator.uniform(env.action_space.low, env.action_space.high)


@pytest.mark.by_default("QuadrupedVelocity-rough", "ArmReach-")
@pytest.mark.parametrize(
    ("name", "arguments"), VARIANTS, ids=lambda v: v if isinstance(v, str) else "-".join(v)
)
def test_random_actions_break_nothing(name, arguments):
    env, act = made(name, **arguments), None
    observation, _ = env.reset(seed=0)
    act, ended = random_actions(env), 0
    for _ in range(STEPS):  # a bad state would be a warning, which is an error
        observation, reward, terminated, truncated, _ = env.step(act(observation))
        assert np.isfinite(observation).all()
        assert np.isfinite(reward).all()
        assert np.abs(observation).max() < 100
        ended += int((terminated | truncated).sum())
    assert ended > 0


@pytest.mark.parametrize("name", WORKED)
def test_starts_differ_and_repeat(name):
    env = made(name, 6)
    first = env.reset(seed=1)[0]
    assert len(np.unique(first.round(6), axis=0)) == 6
    env.step(random_actions(env)(None))
    np.testing.assert_array_equal(env.reset(seed=1)[0], first)
    single = gymnasium.make(f"dovetail/{name}-v0", physics={"backend": LANES})
    np.testing.assert_array_equal(single.reset(seed=1)[0], first[0])
    assert single.spec.max_episode_steps == TASKS[name].max_episode_steps == WORKED[name]


def test_the_arm_reaches_what_its_geometry_says():
    env = made("ArmReach", max_episode_steps=60)

    def act(observation):
        """Angles of two links in the plane of the target."""
        x, y, z = observation[:, 17:20].T
        across, up = np.hypot(x, y), z - 0.26
        upper, lower = 0.38, 0.425
        away = np.minimum(np.hypot(across, up), 0.999 * (upper + lower))
        elbow = np.arccos(np.clip((away**2 - upper**2 - lower**2) / (2 * upper * lower), -1, 1))
        lift = np.arctan2(across, up) - np.arctan2(lower * np.sin(elbow), upper + lower * np.cos(elbow))
        ctrl = np.stack((np.arctan2(y, x), lift, 0 * x, elbow, 0 * x, 0 * x), axis=1)
        low, high = env.unwrapped.engine.model.actuator_ctrlrange.T
        return np.clip(2 * (ctrl - low) / (high - low) - 1, -1, 1)

    observation, _ = env.reset(seed=3)
    for _ in range(60):
        observation, *_, info = env.step(act(observation))
    assert info["final_info"]["reached"].mean() > 0.8
    assert mean_return(env, act, 60) > mean_return(env, random_actions(env), 60) + 40


def test_the_quadruped_stands_and_a_random_one_falls():
    env = made("QuadrupedVelocity")
    standing = mean_return(env, lambda observation: np.zeros((WORLDS, 12)), 150)
    assert standing > mean_return(env, random_actions(env), 150) + 50


def test_quadrupeds_differ_in_mass_and_friction_and_commands_change():
    env = made("QuadrupedVelocity", 4)
    env.reset(seed=0)
    masses, friction = (np.array(env.unwrapped.sim.per_world[n]) for n in ("body_mass", "geom_friction"))
    command = env.unwrapped.engine.memory["command"].copy()
    trunk = env.unwrapped.engine.model.body("trunk").id
    assert len(np.unique(masses[:, trunk])) == 4
    assert len(np.unique(friction[:, 0, 0])) == 4
    for _ in range(150):
        env.step(np.zeros((4, 12)))
    assert (env.unwrapped.engine.memory["command"] != command).all()
    env.reset()
    np.testing.assert_array_equal(env.unwrapped.sim.per_world["body_mass"], masses)
    assert (np.array(env.unwrapped.sim.per_world["geom_friction"])[:, 0, 0] != friction[:, 0, 0]).all()


def test_quadrupeds_start_on_the_terrain():
    env = made("QuadrupedVelocity", rough=True)
    env.reset(seed=0)
    task, sim = env.unwrapped.task, env.unwrapped.sim
    feet = np.array(sim.data.geom_xpos)[:, task.feet]
    above = feet[..., 2] - task.ground.height(feet[..., :2])
    assert above.min() > 0.0
    assert len(np.unique(np.array(sim.data.qpos)[:, :2].round(-1), axis=0)) > 4
    for _ in range(50):
        _, _, terminated, *_ = env.step(np.zeros((WORLDS, 12)))
        assert not terminated.any()


def test_the_humanoid_starts_on_the_ground_and_standing_is_worth_more():
    env = made("HumanoidGetUp", 16)
    env.reset(seed=0)
    for _ in range(40):
        _, lying, *_, info = env.step(np.zeros((16, 21)))
    assert info["height"].max() < 0.5
    assert not info["standing"].any()
    qpos = np.tile(env.unwrapped.engine.model.key_qpos[0], (16, 1))
    env.reset(seed=0, options={"qpos": qpos, "qvel": np.zeros((16, 27))})
    _, reward, *_, info = env.step(np.zeros((16, 21)))
    assert info["standing"].all()
    assert reward.min() > lying.max() + 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ArmReach", "HumanoidGetUp"])
def test_a_short_training_does_better_than_chance(name):
    pytest.importorskip("torch")
    from test_examples import ppo

    words = f"dovetail/{name}-v0 --steps 400000 --num-envs 128 --verbose 0 --kl 0.02 --options".split()
    curve = ppo.train(ppo.arguments([*words, json.dumps({"physics": {"backend": LANES}})]))["curve"]
    first, last = (np.mean([row["reward"] for row in rows]) for rows in (curve[:5], curve[-5:]))
    assert last > 1.5 * first


def test_the_recorded_policy_follows_its_command():
    """The one of the documentation's film, which `examples/ppo.py` learned."""
    root = Path(__file__).resolve().parents[2]
    spec = importlib.util.spec_from_file_location("examples_play_alone", root / "examples" / "play.py")
    play = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(play)
    env = made("QuadrupedVelocity", 32)
    act = play.policy(root / "docs" / "figures" / "data" / "quadruped-policy.npz", env.single_action_space)
    observation, _ = env.reset(seed=0)
    errors, falls = [], 0
    for _ in range(300):
        observation, _, terminated, _, info = env.step(act(observation))
        errors.append(info["velocity_error"].mean())
        falls += int(terminated.sum())
    assert np.mean(errors) < 0.2  # standing still it would be 0.5
    assert falls < 16

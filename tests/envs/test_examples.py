"""The scripts of `examples/` stay alive: a few updates on something small, and what they compute is right."""

import importlib.util
import json
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from lane_backend import LANES

torch = pytest.importorskip("torch")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


ppo, play = example("ppo"), example("play")


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_few_updates(mode, tmp_path):
    options = json.dumps({"autoreset_mode": mode, "max_episode_steps": 20, "physics": {"backend": LANES}})
    words = [
        "dovetail/InvertedPendulum-v5",
        "--steps",
        "2048",
        "--num-envs",
        "8",
        "--length",
        "64",
        "--verbose",
        "1",
    ]
    words += ["--out", str(tmp_path / "run"), "--options", options, "--seed", "3"]
    first = ppo.train(ppo.arguments(words))["curve"]
    again = ppo.train(ppo.arguments(words))["curve"]
    assert [row["steps"] for row in first] == [512, 1024, 1536, 2048]
    assert [row["return"] for row in first] == [row["return"] for row in again]
    assert 1 < first[-1]["length"] <= 20
    assert first[-1]["return"] == pytest.approx(first[-1]["length"], abs=1)  # a reward of 1 while it stands
    stored = json.loads((tmp_path / "run" / "result.json").read_text())
    assert stored["settings"]["num_envs"] == 8
    env = gymnasium.make_vec("dovetail/InvertedPendulum-v5", num_envs=4, physics={"backend": LANES})
    act = play.policy(tmp_path / "run" / "policy.npz", env.single_action_space)
    returns = play.returns(env, act)
    assert (returns >= 1).all()


def test_both_modes_of_starting_again_learn_from_the_same_steps():
    """An episode cut off counts its last value; the step that only starts one does not count at all."""

    def rollout(count):
        env = gymnasium.make_vec("dovetail/InvertedPendulum-v5", num_envs=1, physics={"backend": LANES})
        return ppo.Rollout(env, count)

    value = np.array([1.0, 2.0, 3.0, 4.0])[:, None]
    for terminated, later in ((False, 7.0), (True, 0.0)):
        r = rollout(4)
        r.reward[:] = 1.0
        r.over[1], r.terminated[1] = True, terminated
        following = np.array([2.0, 7.0, 4.0, 5.0])[:, None]
        got = ppo.advantages(r, value, following, gamma=0.5, lam=0.5)
        assert got[3, 0] == 1 + 0.5 * 5 - 4
        assert got[2, 0] == 1 + 0.5 * 4 - 3 + 0.25 * got[3, 0]
        assert got[1, 0] == 1 + 0.5 * later - 2  # nothing of the next episode
        assert got[0, 0] == 1 + 0.5 * 2 - 1 + 0.25 * got[1, 0]


def test_scales_are_those_of_everything_seen():
    scale, rows = ppo.Scale((3,)), np.random.default_rng(0).normal(2.0, 3.0, (600, 3))
    for part in np.split(rows, [100, 350]):
        scale.see(part)
    np.testing.assert_allclose(scale.mean, rows.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(scale.var, rows.var(axis=0), rtol=1e-5)


def test_a_policy_as_arrays_is_the_network(tmp_path):
    agent, scale = ppo.Agent(5, 2, 16, 0.5), ppo.Scale((5,))
    scale.see(np.random.default_rng(0).normal(1.0, 2.0, (50, 5)))
    ppo.save(tmp_path, {}, agent, scale)
    seen = np.random.default_rng(1).normal(1.0, 2.0, (7, 5))
    space = gymnasium.spaces.Box(-4.0, 4.0, (2,))
    with torch.no_grad():
        expected = 4.0 * np.clip(agent.policy(scale.apply(seen)).numpy(), -1, 1)
    np.testing.assert_allclose(play.policy(tmp_path / "policy.npz", space)(seen), expected, atol=1e-5)


def test_envpool_is_adapted():
    pytest.importorskip("envpool")
    words = "HalfCheetah-v5 --engine envpool --steps 512 --num-envs 4 --length 64 --verbose 0"
    assert ppo.train(ppo.arguments(words.split()))["curve"][-1]["steps"] == 512


def test_stable_baselines():
    pytest.importorskip("stable_baselines3")
    script = example("stable_baselines")
    model = script.main("dovetail/InvertedPendulum-v5", 1024, num_envs=8, verbose=0, backend=LANES)
    assert model.num_timesteps == 1024
    assert len(model.ep_info_buffer) > 0

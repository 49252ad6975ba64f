"""Runs a policy that `ppo.py` wrote: its return without exploration, and a film.

python examples/play.py dovetail/QuadrupedVelocity-v0 runs/quadruped/policy.npz
python examples/play.py dovetail/HalfCheetah-v5 runs/cheetah/policy.npz --film cheetah.webp --seconds 4
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import dovetail.envs


def policy(file: str | Path, space: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Actions for observations (n, k), by the weights in a file."""
    arrays = dict(np.load(file))
    layers = sum(name.startswith("weight") for name in arrays)
    centre, half = (space.high + space.low) / 2, (space.high - space.low) / 2

    def act(observation: np.ndarray) -> np.ndarray:
        x = np.clip((observation - arrays["mean"]) / arrays["deviation"], -10, 10)
        for number in range(layers):
            x = x @ arrays[f"weight{number}"].T + arrays[f"bias{number}"]
            if number + 1 < layers:
                x = np.where(x > 0, x, np.expm1(np.minimum(x, 0)))
        return np.asarray(centre + half * np.clip(x, -1, 1))

    return act


def returns(env: Any, act: Callable[[np.ndarray], np.ndarray], seed: int = 0) -> np.ndarray:
    """Of the first episode of each environment."""
    observation, _ = env.reset(seed=seed)
    total, going = np.zeros(env.num_envs), np.ones(env.num_envs, bool)
    while going.any():
        observation, reward, terminated, truncated, _ = env.step(act(observation))
        total += reward * going
        going &= ~(terminated | truncated)
    return total


def film(env: Any, act: Callable[[np.ndarray], np.ndarray], path: str, seconds: float, **look: Any) -> None:
    """World 0, from its start."""
    model = env.unwrapped.engine.model
    sim = dovetail.Simulation(model)
    observation, _ = env.reset(seed=0)
    with dovetail.Film(path, model, **look) as made:
        while sim.data.time < seconds:
            for name in ("time", "qpos", "qvel", "mocap_pos", "mocap_quat"):
                if name in sim.data and name in env.unwrapped.sim.data:
                    setattr(sim.data, name, env.unwrapped.sim.data.field(name)[0])
            sim.forward()
            made.add(sim.data)
            observation, *_ = env.step(act(observation))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("env")
    parser.add_argument("policy")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument(
        "--options", type=json.loads, default={}, help="arguments of the environment, as JSON"
    )
    parser.add_argument("--film", help="a file to write, .webp, .gif or .mp4")
    parser.add_argument("--seconds", type=float, default=4.0)
    a = parser.parse_args()
    env = gymnasium.make_vec(a.env, num_envs=a.num_envs, **a.options)
    act = policy(a.policy, env.single_action_space)
    got = returns(env, act)
    print(f"return {got.mean():.1f} ± {got.std():.1f} over {len(got)} episodes")
    if a.film:
        film(env, act, a.film, a.seconds)


if __name__ == "__main__":
    main()

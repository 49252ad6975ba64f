"""The same with Stable-Baselines3's PPO.

python examples/stable_baselines.py dovetail/HalfCheetah-v5 1000000
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from dovetail.envs import StableBaselinesVecEnv


def main(name: str, steps: int, num_envs: int = 64, verbose: int = 1, **physics: Any) -> PPO:
    """Train for that many steps of all environments together."""
    env = gymnasium.make_vec(name, num_envs=num_envs, autoreset_mode="SameStep", physics=physics)
    normal = VecNormalize(VecMonitor(StableBaselinesVecEnv(env)), gamma=0.99)
    model = PPO("MlpPolicy", normal, n_steps=128, batch_size=1024, n_epochs=5, device="cpu", verbose=verbose)
    return model.learn(steps)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

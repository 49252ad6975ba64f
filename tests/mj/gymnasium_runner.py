"""Steps one of gymnasium's MujocoEnv classes with random actions; prints observations and rewards.

python gymnasium_runner.py Ant-v5 200 [drop-in]
"""

from __future__ import annotations

import json
import sys
import time

EPISODE = 40
"""Steps after which an episode begins anew: rounding grows by 1e8 in 70 steps of a cheetah that is shaken at random,
whoever computes it."""


def main(name: str, steps: int, drop_in: bool) -> None:
    if drop_in:
        import dovetail.mj

        dovetail.mj.install()
    import gymnasium
    import numpy as np

    env = gymnasium.make(name)
    observation, _ = env.reset(seed=7)
    rng = np.random.default_rng(3)
    space = env.action_space
    observations, rewards = [observation.tolist()], list[float]()
    begin = time.process_time()
    for _ in range(steps):
        action = rng.uniform(space.low, space.high).astype(space.dtype)
        observation, reward, terminated, truncated, _ = env.step(action)
        observations.append(observation.tolist())
        rewards.append(float(reward))
        if terminated or truncated or len(rewards) % EPISODE == 0:
            observation, _ = env.reset(seed=7 + len(rewards))
            observations.append(observation.tolist())
    seconds = time.process_time() - begin
    module = sys.modules["mujoco"].__name__
    print(json.dumps({"module": module, "obs": observations, "rewards": rewards, "seconds": seconds}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), "drop-in" in sys.argv[3:])

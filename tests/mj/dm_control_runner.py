"""Steps tasks of dm_control's suite with random actions, on mujoco or on the drop-in; prints what they observe.

python dm_control_runner.py 20 [drop-in] cartpole/balance ...
"""

from __future__ import annotations

import json
import sys


def run(domain: str, task: str, steps: int) -> list[list[float]]:
    import numpy as np
    from dm_control import suite

    env = suite.load(domain, task, task_kwargs={"random": 3})
    rng = np.random.default_rng(5)
    spec = env.action_spec()
    low, high = np.maximum(spec.minimum, -1), np.minimum(spec.maximum, 1)
    seen = []
    step = env.reset()
    for _ in range(steps):
        step = env.step(rng.uniform(low, high, spec.shape))
        values = [np.ravel(value) for value in step.observation.values()]
        seen.append([*np.concatenate(values).astype(float).tolist(), float(step.reward or 0.0)])
    return seen


def main(steps: int, words: list[str]) -> None:
    if "drop-in" in words:
        import dovetail.mj

        dovetail.mj.install()
    found = {}
    for name in words:
        if name != "drop-in":
            found[name] = run(*name.split("/"), steps)
    print(json.dumps({"module": sys.modules["mujoco"].__name__, "seen": found}))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])

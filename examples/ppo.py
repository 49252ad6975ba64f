"""PPO in one file, for any vector environment of Gymnasium's interface.

    python examples/ppo.py dovetail/HalfCheetah-v5 --steps 2000000 --num-envs 256 --out runs/cheetah
    python examples/ppo.py HalfCheetah-v5 --engine envpool --steps 2000000 --num-envs 256 --out runs/envpool

Writes `result.json` (settings, curve, seconds) and `policy.npz` (weights as plain arrays) to the folder `--out`.
Seconds are wall time and processor time of the whole process, with the share of the environment by itself.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import nn


def make(name: str, engine: str, num_envs: int, threads: int, seed: int, **options: Any) -> Any:
    """A vector environment. EnvPool's starts episodes as Gymnasium's mode NEXT_STEP does."""
    if engine == "envpool":
        import envpool

        pool = envpool.make(name, "gymnasium", num_envs=num_envs, num_threads=threads, seed=seed, **options)
        return SimpleNamespace(  # the few names of a vector environment that `train` uses
            num_envs=num_envs,
            metadata={"autoreset_mode": AutoresetMode.NEXT_STEP},
            single_observation_space=pool.observation_space,
            single_action_space=pool.action_space,
            reset=lambda seed: pool.reset(),  # was seeded when it was made
            step=pool.step,
            close=pool.close,
        )
    import gymnasium

    import dovetail.envs  # noqa: F401  (registers the environments)

    return gymnasium.make_vec(name, num_envs=num_envs, **{"physics": {"threads": threads}, **options})


class Scale:
    """Mean and deviation of everything seen so far."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean, self.var, self.count = np.zeros(shape), np.ones(shape), 1e-4

    def see(self, batch: np.ndarray) -> None:
        mean, var, count = batch.mean(axis=0), batch.var(axis=0), len(batch)
        total, away = self.count + count, mean - self.mean
        self.var = (self.var * self.count + var * count + away**2 * self.count * count / total) / total
        self.mean, self.count = self.mean + away * count / total, total

    def apply(self, batch: np.ndarray) -> torch.Tensor:
        """Rows with mean 0 and deviation 1, without far outliers."""
        scaled = (batch - self.mean) / np.sqrt(self.var + 1e-8)
        return torch.from_numpy(np.clip(scaled, -10, 10).astype(np.float32))


class Agent(nn.Module):
    """A policy (normal distribution around a network's answer) and a value."""

    def __init__(self, sees: int, does: int, width: int, std: float) -> None:
        super().__init__()
        self.policy, self.value = network(sees, does, width, 0.01), network(sees, 1, width, 1.0)
        self.log_std = nn.Parameter(torch.full((does,), math.log(std)))

    def distribution(self, observation: torch.Tensor) -> torch.distributions.Normal:
        return torch.distributions.Normal(self.policy(observation), self.log_std.exp(), validate_args=False)


def network(sees: int, does: int, width: int, gain: float) -> nn.Sequential:
    """Two hidden layers; `gain` is that of the last one."""
    layers = [nn.Linear(sees, width), nn.Linear(width, width), nn.Linear(width, does)]
    for layer, scale in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.ELU(), layers[1], nn.ELU(), layers[2])


class Rollout:
    """What happened in `length` steps of all environments."""

    def __init__(self, env: Any, length: int) -> None:
        shape = (length, env.num_envs)
        sees, does = env.single_observation_space.shape[0], env.single_action_space.shape[0]
        self.seen, self.after = np.zeros((*shape, sees)), np.zeros((*shape, sees))
        self.action, self.log_prob = torch.zeros(*shape, does), torch.zeros(shape)
        self.reward, self.valid = np.zeros(shape), np.zeros(shape, bool)
        self.terminated, self.over = np.zeros(shape, bool), np.zeros(shape, bool)


def advantages(r: Rollout, value: np.ndarray, following: np.ndarray, gamma: float, lam: float) -> np.ndarray:
    """Generalised advantages. What was cut off has a future, the value of its last observation."""
    delta = r.reward + gamma * following * ~r.terminated - value
    result, later = np.zeros_like(delta), np.zeros(delta.shape[1])
    for t in reversed(range(len(delta))):
        result[t] = later = delta[t] + gamma * lam * ~r.over[t] * later
    return result


def update(agent: Agent, optimiser: Any, r: Rollout, seen: torch.Tensor, a: Any) -> float:
    """Some epochs over a rollout; how far the policy went from the one that acted."""
    with torch.no_grad():
        value = agent.value(seen).squeeze(-1).numpy()
        following = agent.value(a.scale.apply(r.after)).squeeze(-1).numpy()
    advantage = advantages(r, value, following, a.gamma, a.lam)
    keep = torch.from_numpy(np.flatnonzero(r.valid))  # not the steps that only start an episode
    target = torch.from_numpy((advantage + value).astype(np.float32)).flatten()[keep]
    gain = torch.from_numpy(advantage.astype(np.float32)).flatten()[keep]
    seen, action = seen.flatten(0, 1)[keep], r.action.flatten(0, 1)[keep]
    before = r.log_prob.flatten()[keep]
    moved = 0.0
    for epoch in range(a.epochs):
        for rows in torch.randperm(len(keep)).split(-(-len(keep) // a.minibatches)):
            new = agent.distribution(seen[rows])
            change = new.log_prob(action[rows]).sum(-1) - before[rows]
            ratio, g = change.exp(), gain[rows]
            g = (g - g.mean()) / (g.std() + 1e-8)
            surrogate = torch.minimum(ratio * g, ratio.clamp(1 - a.clip, 1 + a.clip) * g).mean()
            error = (agent.value(seen[rows]).squeeze(-1) - target[rows]).square().mean()
            optimiser.zero_grad()
            (0.5 * error - surrogate).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 1.0)
            optimiser.step()
            with torch.no_grad():
                moved += float((ratio - 1 - change).mean()) / a.minibatches  # an estimate of the divergence
        if epoch + 1 < a.epochs:
            moved = 0.0
    for group in optimiser.param_groups:  # steps as long as the policy may move
        factor = 1 / 1.5 if moved > 1.5 * a.kl else 1.5 if moved < a.kl / 1.5 else 1.0
        group["lr"] = min(max(group["lr"] * factor, 1e-5), 2e-3)
    return moved


TOLD = ("steps", "wall", "processor", "wall_environment", "processor_environment")
TOLD += ("return", "length", "reward", "deviation", "moved")


def train(a: argparse.Namespace) -> dict[str, Any]:
    """Learn, and tell how it went."""
    torch.manual_seed(a.seed)
    torch.set_num_threads(a.threads)
    env = make(a.env, a.engine, a.num_envs, a.threads, a.seed, **a.options)
    space = env.single_action_space
    centre, half = (space.high + space.low) / 2, (space.high - space.low) / 2
    agent = Agent(env.single_observation_space.shape[0], space.shape[0], a.width, a.std)
    optimiser = torch.optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)
    a.scale, reward_scale = Scale(env.single_observation_space.shape), Scale(())
    same_step = env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    r = Rollout(env, a.length)
    discounted, score, age = np.zeros(a.num_envs), np.zeros(a.num_envs), np.zeros(a.num_envs, int)
    scores: deque[tuple[float, int]] = deque(maxlen=max(100, a.num_envs))
    curve: list[dict[str, float]] = []
    observation, _ = env.reset(seed=a.seed)
    starting = np.zeros(a.num_envs, bool)  # environments whose next step only starts an episode
    done = 0
    wall, cpu, cpu_env, wall_env = time.perf_counter(), time.process_time(), 0.0, 0.0
    a.scale.see(observation)
    while done < a.steps:
        raw = np.zeros_like(r.reward)
        for t in range(a.length):
            with torch.no_grad():
                policy = agent.distribution(a.scale.apply(observation))
                r.action[t] = policy.sample()
                r.log_prob[t] = policy.log_prob(r.action[t]).sum(-1)
            r.seen[t] = observation
            now, since = time.process_time(), time.perf_counter()
            taken = centre + half * np.clip(r.action[t].numpy(), -1.0, 1.0)
            observation, reward, terminated, truncated, info = env.step(taken)
            cpu_env, wall_env = cpu_env + time.process_time() - now, wall_env + time.perf_counter() - since
            over = terminated | truncated
            r.after[t], raw[t] = observation, reward
            if same_step and over.any():
                r.after[t, over] = np.stack(list(info["final_obs"][over]))
            r.valid[t], r.terminated[t], r.over[t] = ~starting, terminated, over
            discounted = discounted * a.gamma + reward
            reward_scale.see(discounted)
            score, age = score + reward, age + ~starting
            scores.extend(zip(score[over].tolist(), age[over].tolist(), strict=True))
            discounted[over], score[over], age[over] = 0.0, 0.0, 0
            starting = np.zeros_like(over) if same_step else over
        done += a.length * a.num_envs
        r.reward = raw / np.sqrt(reward_scale.var + 1e-8)
        moved = update(agent, optimiser, r, a.scale.apply(r.seen), a)
        a.scale.see(r.seen.reshape(-1, r.seen.shape[-1]))
        clocks = (time.perf_counter() - wall, time.process_time() - cpu, wall_env, cpu_env)
        mean, length = np.mean(scores, axis=0) if scores else (math.nan, math.nan)
        spread = float(agent.log_std.detach().exp().mean())
        told = (done, *clocks, mean, length, raw[r.valid].mean(), spread, moved)
        curve.append(dict(zip(TOLD, told, strict=True)))
        if a.verbose and (len(curve) % a.verbose == 0 or done >= a.steps):
            print("  ".join(f"{name} {round(value, 3)}" for name, value in curve[-1].items()), flush=True)
    env.close()
    settings = {key: value for key, value in vars(a).items() if key not in ("scale", "out", "verbose")}
    if a.out:
        save(Path(a.out), {"settings": settings, "curve": curve}, agent, a.scale)
    return {"settings": settings, "curve": curve}


def save(folder: Path, result: dict[str, Any], agent: Agent, scale: Scale) -> None:
    """The result, and the policy as arrays: x = (seen - mean) / deviation, then layers with ELU between."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(result) + "\n", encoding="utf-8")
    arrays = {"mean": scale.mean, "deviation": np.sqrt(scale.var + 1e-8)}
    for number, layer in enumerate(m for m in agent.policy if isinstance(m, nn.Linear)):
        arrays[f"weight{number}"] = layer.weight.detach().numpy()
        arrays[f"bias{number}"] = layer.bias.detach().numpy()
    np.savez(folder / "policy.npz", **arrays)


SETTINGS = (
    ("steps", 2_000_000, "of all environments together"),
    ("num-envs", 256, "environments"),
    ("threads", 1, "of the environment and of the learner"),
    ("seed", 0, "of everything random"),
    ("length", 32, "steps between updates"),
    ("epochs", 5, "over the steps of an update"),
    ("minibatches", 8, "of an epoch"),
    ("gamma", 0.99, "discount"),
    ("lam", 0.95, "of the generalised advantage"),
    ("clip", 0.2, "of the ratio of probabilities"),
    ("kl", 0.02, "how far an update should move the policy; sets the learning rate"),
    ("std", 0.6, "deviation of actions, at first"),
    ("width", 128, "of the hidden layers"),
    ("verbose", 10, "print every so many updates; 0: never"),
)


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("env")
    parser.add_argument("--engine", choices=["dovetail", "envpool"], default="dovetail")
    for name, default, text in SETTINGS:
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{text} ({default})")
    parser.add_argument(
        "--options", type=json.loads, default={}, help="arguments of the environment, as JSON"
    )
    parser.add_argument("--out", help="folder for result.json and policy.npz")
    return parser.parse_args(words)


if __name__ == "__main__":
    train(arguments())

"""Vector environments whose numbers are PyTorch tensors, without copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorWrapper


class TorchVectorEnv(VectorWrapper):
    """Takes and gives tensors on the processor that share memory with the environment's arrays (DLPack). Those of
    each step are its own, so what a learner keeps does not change."""

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """First observations."""
        observation, info = self.env.reset(seed=seed, options=options)
        return _tensor(observation), info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One step for tensors of actions; gradients do not pass through physics."""
        if hasattr(actions, "detach"):
            actions = actions.detach()
        given = actions if isinstance(actions, np.ndarray) else np.from_dlpack(actions.cpu())
        observation, reward, terminated, truncated, info = self.env.step(given)
        return _tensor(observation), _tensor(reward), _tensor(terminated), _tensor(truncated), info


def _tensor(array: Any) -> Any:
    import torch

    return torch.from_dlpack(np.require(array, requirements=["C", "W"]))

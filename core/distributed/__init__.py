"""Many machines (extra `distributed`): rollouts, parameter sweeps and vector environments on Ray.

    from dovetail.distributed import rollout
    result = rollout("humanoid", nworld=4096, nstep=1000, noise=0.1)
    result.fetch("qpos")

On a laptop that uses all its processors; `address="auto"` makes it a cluster. Results have the same bits for any
number of workers. Names are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "Rollout": "rolling",
    "Sweep": "sweeping",
    "VectorWorkers": "vector",
    "WorkerError": "errors",
    "connect": "runtime",
    "make_vec": "vector",
    "rollout": "rolling",
    "shutdown": "runtime",
    "sweep": "sweeping",
}

__all__ = sorted(_PUBLIC)

if TYPE_CHECKING:
    from dovetail.distributed.errors import WorkerError as WorkerError
    from dovetail.distributed.rolling import Rollout as Rollout
    from dovetail.distributed.rolling import rollout as rollout
    from dovetail.distributed.runtime import connect as connect
    from dovetail.distributed.runtime import shutdown as shutdown
    from dovetail.distributed.sweeping import Sweep as Sweep
    from dovetail.distributed.sweeping import sweep as sweep
    from dovetail.distributed.vector import VectorWorkers as VectorWorkers
    from dovetail.distributed.vector import make_vec as make_vec


def _first_use(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # checkers know the names from above, and report others
    __getattr__ = _first_use


def __dir__() -> list[str]:
    return __all__

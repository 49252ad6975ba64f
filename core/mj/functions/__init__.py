"""Functions with MuJoCo's names, by topic; each module lists its own in `__all__`.

- plain arrays: `vectors`, `poses`, `matrices`, `boxqp`, `numbers`;
- running: `stepping` (mj_step, mj_forward, …), `single_stages`, `states` (reset, keyframes, state vectors);
- asking: `jacobians`, `products`, `queries`, `names`, `derivatives`; `files` reads and writes.

They are made with `binding`, which checks arguments as MuJoCo's bindings do, and compute by an `Engine` (`engine`).
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any


def __getattr__(name: str) -> Any:
    """A function of one of the modules, found when first asked for."""
    if not name.startswith(("mj", "_realloc")):
        raise AttributeError(name)
    for module in pkgutil.iter_modules(__path__):
        part = importlib.import_module(f"{__name__}.{module.name}")
        if name in getattr(part, "__all__", ()):
            found = globals()[name] = getattr(part, name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

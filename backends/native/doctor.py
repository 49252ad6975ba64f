"""What the native backend finds on this machine, for `dovetail doctor`."""

from __future__ import annotations

import os
import shutil
from typing import Any

import attrs
import numpy as np

from dovetail.backends.lanes import kernel_cache
from dovetail.backends.native import compilers, libraries, processor
from dovetail.backends.native.prelude import SELFTEST
from dovetail.errors import DovetailError
from dovetail.planning.auto import processors

FEATURES = {
    "x86_64": {"avx2": "avx2", "fma": "fma", "avx512f": "avx512f"},
    "aarch64": {"neon": "asimd", "sve": "sve"},
}
"""By architecture, features that matter to speed, and Linux's names for them."""

TOLERANCE = 1e-10
"""Of the state after a step."""


@attrs.frozen
class Trial:
    """Whether a kernel could be compiled and computes as it should; `seconds` is what the compiler took."""

    ok: bool
    detail: str
    seconds: float


def try_kernel() -> Trial:
    """Compile a small kernel with the chosen compiler, load it, and compare what it computes with NumPy."""
    try:
        compiler = compilers.choose_compiler()
        if compiler is None:
            return Trial(False, "there is no C compiler here", 0.0)
        flags = compilers.flags(compiler)
        libraries.discard([SELFTEST], compiler, flags)
        made = libraries.library([SELFTEST], compiler, flags)
        difference = _error_of_a_step()
    except (DovetailError, OSError) as error:
        return Trial(False, str(error), 0.0)
    compiled = f"{compiler.name} compiled it in {made.seconds:.2f} s"
    if not difference < TOLERANCE:
        return Trial(False, f"{compiled}, but a step of a pendulum is off by {difference:.0e}", made.seconds)
    return Trial(True, f"{compiled}, and a step of a pendulum agrees with NumPy's", made.seconds)


def _error_of_a_step() -> float:
    """How far a step of a small model is from the reference's."""
    from dovetail.simulation import Simulation, load

    model = load("pendulum")
    found = []
    for backend in ("numpy", "native"):
        sim = Simulation(model, backend=backend, keep="state")
        sim.data.qpos[:] = 0.3
        sim.step(2)
        found.append(np.concatenate([sim.data.qpos, sim.data.qvel]))
    return float(np.abs(found[1] - found[0]).max())


def report() -> dict[str, Any]:
    """The processor, the compilers and the cache, as plain values."""
    return {"processor": _processor(), **_compilers(), "cache": _cache()}


def _processor() -> dict[str, Any]:
    here, target = processor.processor(), _target()
    width = processor.register_bytes(target)
    return {
        "name": here.name,
        "architecture": here.architecture,
        "cores": os.cpu_count(),
        "threads": processors(),
        "features": {
            name: feature in here.features for name, feature in FEATURES.get(here.architecture, {}).items()
        },
        "target": target,
        "register_bytes": width,
        "lanes": {"f64": width // 8, "f32": width // 4},
    }


def _target() -> str:
    """What kernels are compiled for; what is wrong with the variable that says so is told when one is tried."""
    try:
        return processor.target()
    except DovetailError:
        return processor.NATIVE


def _compilers() -> dict[str, Any]:
    examined, chosen = list(compilers.examined()), _chosen()
    return {
        "compilers": [
            attrs.asdict(one) | {"chosen": one == chosen}
            for one in examined
            if isinstance(one, compilers.Compiler)
        ],
        "refused": [attrs.asdict(one) for one in examined if isinstance(one, compilers.Refusal)],
    }


def _chosen() -> compilers.Compiler | None:
    """None also if one is named that does not work."""
    try:
        return compilers.choose_compiler()
    except DovetailError:
        return None


def _cache() -> dict[str, Any]:
    folder = kernel_cache.cache_directory(compilers.KIND)
    problem = kernel_cache.why_unusable(folder)
    kept = list(folder.glob("*.so")) if not problem else []
    return {
        "folder": str(folder),
        "problem": problem or None,
        "libraries": len(kept),
        "bytes": sum(path.lstat().st_size for path in kept),
        "free": shutil.disk_usage(folder).free if not problem else None,
    }

"""What the native backend finds on this machine, for `dovetail doctor`."""

from __future__ import annotations

import os
import shutil
from typing import Any

import attrs

from dovetail.backends.lanes import kernel_cache
from dovetail.backends.native import compilers, libraries, processor, threads
from dovetail.errors import DovetailError

FEATURES = {
    "x86_64": {"avx2": "avx2", "fma": "fma", "avx512f": "avx512f"},
    "aarch64": {"neon": "asimd", "sve": "sve"},
}
"""By architecture, features that matter to speed, and Linux's names for them."""

SOURCE = """
#ifdef __cplusplus
extern "C"
#endif
__attribute__((visibility("default")))
int dovetail_selftest(double a, double b, double c, float d, float e, float f) {
  const double double_sum = a * b + c;
  const float single_sum = d * e + f;
  return (double_sum == 0.0) | (single_sum == 0.0f) << 1;
}
"""
"""The least that is a library of kernels."""


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
        libraries.discard([SOURCE], compiler, flags)
        made = libraries.library([SOURCE], compiler, flags)
    except (DovetailError, OSError) as error:
        return Trial(False, str(error), 0.0)
    detail = f"{compiler.name} compiled it in {made.seconds:.2f} s, and it computes as NumPy does"
    return Trial(True, detail, made.seconds)


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
        "threads": threads.default_threads(),
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

"""Choosing and starting the Taichi runtime.

Two packages run the same source: `quadrants` (the maintained fork; quicker to compile and to launch) and `taichi`.
`DOVETAIL_TAICHI_RUNTIME` or the `runtime` argument names one; "auto" takes quadrants if it is installed. A runtime
is started once per process: threads are decided per program (by its slots), and the precision by each kernel's
types, so that nothing ever needs it restarted.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

RUNTIMES = ("quadrants", "taichi")
_PRINT_WRAPPING = {"quadrants": "QD_ENABLE_PYBUF", "taichi": "TI_ENABLE_PYBUF"}
"""Environment variables that keep the runtimes from taking over a redirected stdout."""

_started: dict[str, ModuleType] = {}


class RuntimeUnavailableError(ImportError):
    """No usable Taichi runtime."""


def choose_runtime(runtime: str = "auto") -> str:
    """The name of the runtime to use."""
    wanted = os.environ.get("DOVETAIL_TAICHI_RUNTIME", "auto") if runtime == "auto" else runtime
    if wanted not in (*RUNTIMES, "auto"):
        raise ValueError(f"Taichi runtime {wanted!r} is unknown; choose one of: auto, {', '.join(RUNTIMES)}")
    candidates = RUNTIMES if wanted == "auto" else (wanted,)
    for name in candidates:
        if name in _started or importlib.util.find_spec(name) is not None:
            return name
    extra = "quadrants" if wanted == "quadrants" else "taichi"
    raise RuntimeUnavailableError(
        f'the taichi backend needs {" or ".join(candidates)}, which is not installed: pip install "dovetail[{extra}]"'
    )


def cache_directory() -> Path:
    """Where generated source and compiled kernels are kept: `DOVETAIL_CACHE_DIR`, else the user's cache."""
    root = os.environ.get("DOVETAIL_CACHE_DIR")
    if root is None:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        root = str(Path(base) / "dovetail")
    return Path(root) / "taichi"


def start(runtime: str = "auto") -> ModuleType:
    """The runtime's module, started."""
    name = choose_runtime(runtime)
    if name not in _started:
        _started[name] = _initialise(name)
    return _started[name]


def _initialise(name: str) -> ModuleType:
    kernels = cache_directory() / name
    kernels.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault(_PRINT_WRAPPING[name], "0")
    with redirect_stdout(io.StringIO()):  # both print a banner, which would spoil a program's own output
        ti: Any = _import(name)
        _init(ti, kernels)
    module: ModuleType = ti
    return module


def _import(name: str) -> Any:
    """The runtime's module; what it uses that Python deprecates is no concern of our user's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module(name)


def _init(ti: Any, kernels: Path) -> None:
    ti.init(
        arch=ti.cpu,
        default_fp=ti.f64,
        real_matrix_scalarize=False,  # vectors stay vectors: the lanes become SIMD registers
        fast_math=False,  # the same bits as the reference's order of operations
        offline_cache=True,
        offline_cache_file_path=str(kernels),
        cpu_max_num_threads=os.cpu_count() or 1,
        log_level=ti.WARN,
    )


@contextmanager
def literal_precision(name: str, precision: str) -> Iterator[None]:
    """While a kernel is compiled, its real literals have the kernel's precision, not the runtime's default."""
    implementation = importlib.import_module(f"{name}.lang.impl")
    state = implementation.get_runtime()
    before = state.default_fp
    state.default_fp = getattr(_started[name], precision)
    try:
        yield
    finally:
        state.default_fp = before

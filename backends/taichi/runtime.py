"""Choosing and starting the Taichi runtime.

Two packages run the same source: `quadrants` (the maintained fork; quicker to compile and to launch) and `taichi`.
`DOVETAIL_TAICHI_RUNTIME` or the `runtime` argument names one; "auto" takes quadrants if it is installed. A runtime
is started once per process: threads are decided per program (by its slots), and the precision by each kernel's
types, so that nothing ever needs it restarted. What it runs on is decided then, too: `DOVETAIL_TAICHI_ARCH`, by
default the processor.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import io
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from dovetail.backends.taichi import cache
from dovetail.backends.taichi.cache import cache_directory
from dovetail.contracts import choices
from dovetail.distribution import requirement
from dovetail.errors import ArgumentError, DovetailError, MissingDependencyError

__all__ = [
    "cache_directory",
    "choose_arch",
    "choose_runtime",
    "literal_precision",
    "short_positions",
    "start",
]

RUNTIMES = tuple(name for name in choices.RUNTIMES if name != "auto")
ARCHS = tuple(name for name in choices.ARCHS if name != "auto")
"""What a runtime may be asked to run on; "gpu" is the first of the others that is there."""

_PRINT_WRAPPING = {"quadrants": "QD_ENABLE_PYBUF", "taichi": "TI_ENABLE_PYBUF"}
"""Environment variables that keep the runtimes from taking over a redirected stdout."""

SOFTWARE_VULKAN = ("GALLIVM_PERF", "nopt")
"""Tells Mesa's software Vulkan, which is there for tests, not to optimise kernels: they compile in a third of the
time or less. Other devices know nothing of it."""

ONE_AT_A_TIME = threading.RLock()
"""Held while a runtime is started, compiles, or runs a launch: they are not made for two threads at once."""

_started: dict[str, ModuleType] = {}
_archs: dict[str, str] = {}
"""What each started runtime runs on."""


class RuntimeUnavailableError(MissingDependencyError, ImportError):
    """No usable Taichi runtime."""


class ArchUnavailableError(DovetailError):
    """The runtime cannot run on what was asked for."""


class ForkedRuntimeError(DovetailError):
    """The runtime was started before this process was forked, and lost its threads."""


_started_in = os.getpid()
"""The process in which runtimes are started."""


def check_process() -> None:
    """A kernel launched in a forked process would wait for ever."""
    if _started and os.getpid() != _started_in:
        raise ForkedRuntimeError(
            f"{', '.join(_started)} was started before this process was forked, and does not survive that: start "
            'processes with multiprocessing.get_context("spawn"), or fork before the first step'
        )


def choose_runtime(runtime: str = "auto") -> str:
    """The name of the runtime to use."""
    wanted = os.environ.get("DOVETAIL_TAICHI_RUNTIME", "auto") if runtime == "auto" else runtime
    if wanted not in (*RUNTIMES, "auto"):
        raise ArgumentError(
            f"Taichi runtime {wanted!r} is unknown; choose one of: auto, {', '.join(RUNTIMES)}"
        )
    candidates = RUNTIMES if wanted == "auto" else (wanted,)
    for name in candidates:
        if name in _started or importlib.util.find_spec(name) is not None:
            return name
    extra = "quadrants" if wanted == "quadrants" else "taichi"
    raise RuntimeUnavailableError(
        f"the taichi backend needs {' or '.join(candidates)}, which is not installed: "
        f'pip install "{requirement(extra)}"'
    )


def choose_arch(arch: str = "auto") -> str:
    """What to run on: as asked for, by `DOVETAIL_TAICHI_ARCH`, or on the processor."""
    wanted = os.environ.get("DOVETAIL_TAICHI_ARCH") or "cpu" if arch == "auto" else arch
    if wanted not in ARCHS:
        raise ArchUnavailableError(
            f"the Taichi backend does not run on {wanted!r}; choose one of: {', '.join(ARCHS)}"
        )
    return wanted


def start(runtime: str = "auto", arch: str = "auto") -> ModuleType:
    """The runtime's module, started."""
    with ONE_AT_A_TIME:
        return _start(choose_runtime(runtime), choose_arch(arch))


def _start(name: str, wanted: str) -> ModuleType:
    global _started_in
    check_process()
    if name not in _started:
        _started_in = os.getpid()
        _started[name] = _initialise(name, wanted)
        _archs[name] = wanted
    if _archs.setdefault(name, wanted) != wanted:
        raise ArchUnavailableError(
            f"{name} already runs on {_archs[name]} in this process, and a runtime runs on one thing at a time: use "
            f"another process for {wanted}"
        )
    return _started[name]


def _initialise(name: str, arch: str) -> ModuleType:
    kernels = cache.writable_directory() / name
    kernels.mkdir(parents=True, exist_ok=True, mode=0o700)
    with cache.writing(name, kernels):
        cache.check_index(name, kernels)
    os.environ.setdefault(_PRINT_WRAPPING[name], "0")
    atexit.register(cache.remove_temporary_directories)
    with redirect_stdout(io.StringIO()):  # both print a banner, which would spoil a program's own output
        ti: Any = _import(name)
        _init(ti, kernels, _available_arch(ti, name, arch))
    atexit.register(_close, name, ti, kernels)
    module: ModuleType = ti
    return module


def _import(name: str) -> Any:
    """The runtime's module; what it uses that Python deprecates is no concern of our user's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module(name)


def _available_arch(ti: Any, name: str, arch: str) -> Any:
    """The runtime's word for it; the runtimes themselves would quietly take the processor instead."""
    supported = importlib.import_module(f"{name}.lang.misc").is_arch_supported
    for one in ("cuda", "vulkan", "metal") if arch == "gpu" else (arch,):
        known = getattr(ti, one, None)
        if known is not None and supported(known):
            return known
    raise ArchUnavailableError(
        f"{name} finds no {arch} on this machine; with DOVETAIL_TAICHI_ARCH=cpu (the default) kernels run on the "
        "processor"
    )


def _init(ti: Any, kernels: Path, arch: Any) -> None:
    os.environ.setdefault(*SOFTWARE_VULKAN)
    ti.init(
        arch=arch,
        default_fp=ti.f64,
        # On processors vectors stay vectors: the lanes become SIMD registers. Code for devices knows none.
        real_matrix_scalarize=arch not in (ti.x64, ti.arm64, ti.cpu),
        fast_math=False,  # the same bits as the reference's order of operations
        advanced_optimization=False,  # a third of the time to compile, the same speed and bits: LLVM does it again
        offline_cache=True,
        offline_cache_file_path=str(kernels),
        cpu_max_num_threads=os.cpu_count() or 1,
        log_level=ti.WARN,
    )


def _close(name: str, ti: Any, kernels: Path) -> None:
    """Let the runtime write what it compiled, which it else does after this, and seal the index of it."""
    if os.getpid() != _started_in:
        return  # in a forked process there is nothing to end
    with cache.writing(name, kernels):
        with suppress(Exception), redirect_stdout(io.StringIO()):
            ti.reset()
        cache.seal_index(name, kernels)


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


class _OneLine:
    """In place of `textwrap.TextWrapper`: long lines stay long."""

    def __init__(self, width: int) -> None:
        pass

    def wrap(self, text: str) -> list[str]:
        return [text] if text.strip() else []


@contextmanager
def short_positions(name: str) -> Iterator[None]:
    """While a kernel is compiled, the places in its source that a runtime notes for messages are not wrapped to the
    width of a page: it does so for every node of the source, which takes as long as all the rest of reading it."""
    module: Any = importlib.import_module(f"{name}.lang.ast.ast_transformer_utils")
    before = getattr(module, "TextWrapper", None)
    if before is None:
        yield
        return
    module.TextWrapper = _OneLine
    try:
        yield
    finally:
        module.TextWrapper = before

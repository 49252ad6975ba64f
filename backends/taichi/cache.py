"""What is kept between runs: generated source and what the runtimes compiled from it (where: `kernel_cache`).

Source is kept under the hash of its text and compared with it. The runtimes check the kernels they stored themselves,
but not their index: a damaged one makes them ask for absurd memory and abort. So the index gets a seal, the hash of
its bytes, and one that does not match its seal is removed before a runtime sees it. They write the index under a lock
file, which they leave behind when they are killed, and which then keeps every later process from storing anything. So
all of that happens under a lock of our own, which ends with its process: who has it removes a lock file of the
runtime.
"""

from __future__ import annotations

import hashlib
import linecache
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from dovetail.backends.lanes import kernel_cache
from dovetail.backends.lanes.kernel_cache import locked, warn_full, write_whole

remove_temporary_directories = kernel_cache.remove_temporary_directories
logger = logging.getLogger(__name__)

INDEX = {"quadrants": Path("kernel_compilation_manager", "qdcache.qdb"), "taichi": Path("ticache.tcb")}
"""The file in which a runtime lists the kernels it stored."""

LOCK = {"quadrants": Path("kernel_compilation_manager", "qdcache.lock"), "taichi": Path("ticache.lock")}
"""The file that exists while a runtime writes them, and after one that was killed meanwhile."""

SEAL_PATIENCE = 2.0
"""Seconds to wait for the seal of an index that another process may just be writing."""

INSIDE = tuple({*map(Path, INDEX), *(Path(name) / index.parent for name, index in INDEX.items())})
"""Folders in the cache that nobody else may write to either."""


def cache_directory() -> Path:
    """Where generated source and compiled kernels should be kept."""
    return kernel_cache.cache_directory("taichi")


def writable_directory() -> Path:
    """The cache directory, or a temporary one if it cannot be written to, or others can write to it."""
    return kernel_cache.writable_directory("taichi", INSIDE)


# ---- generated source -------------------------------------------------------------------------------------


def write_module(source: str, folder: Path) -> Path:
    """Keep the source under the hash of its text; written whole or not at all. It runs from memory, so that one that
    cannot be kept is only warned about."""
    path = folder / f"lanes_{hashlib.sha256(source.encode()).hexdigest()[:20]}.py"
    try:
        stored = path.read_bytes()
    except OSError:
        stored = None
    if stored == source.encode():
        return path
    if stored is not None:
        logger.warning("%s was damaged: it is written anew", path)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, source.encode())
    except OSError as error:
        warn_full(path, error)
    return path


def load_module(path: Path, source: str) -> ModuleType:
    """The module of a generated source. It is run from memory, and the runtimes, which ask for the text of a kernel,
    get that from memory too: what happens to the file does not matter any more. One that this process has loaded
    before comes with its compiled kernel."""
    if path.stem in sys.modules:  # the name is the hash of the text
        return sys.modules[path.stem]
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module  # the runtimes find a kernel's source through its module
    linecache.cache[str(path)] = (len(source), None, source.splitlines(keepends=True), str(path))
    with forgotten_on_failure(path):
        exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)
    return module


@contextmanager
def forgotten_on_failure(path: Path) -> Iterator[None]:
    """If loading or compiling fails or is interrupted, the next attempt begins with a new module."""
    try:
        yield
    except BaseException:
        sys.modules.pop(path.stem, None)
        raise


# ---- the runtimes' index ----------------------------------------------------------------------------------


def _seal_of(index: Path) -> Path:
    return index.with_name(index.name + ".sha256")


@contextmanager
def writing(runtime: str, kernels: Path) -> Iterator[None]:
    """While the body runs no other process writes to a runtime's cache. A lock file that the runtime finds then was
    left by a process that was killed: it is removed."""
    with locked(kernels / "dovetail.lock") as ours:
        lock = kernels / LOCK[runtime]
        if ours and lock.exists():
            logger.info("%s was left by a process that is gone: removed", lock)
            lock.unlink(missing_ok=True)
        yield


def seal_index(runtime: str, kernels: Path) -> None:
    """Remember what a runtime's index looks like when it is whole. Where there is no room for that there was none for
    kernels, and the index may not be whole."""
    index = kernels / INDEX[runtime]
    try:
        write_whole(_seal_of(index), hashlib.sha256(index.read_bytes()).hexdigest().encode())
    except FileNotFoundError:
        logger.debug("no index %s", index)
    except OSError as error:
        warn_full(_seal_of(index), error)


def check_index(runtime: str, kernels: Path) -> None:
    """Remove a runtime's index if it is not as it was sealed: its kernels are then compiled anew."""
    index = kernels / INDEX[runtime]
    deadline = time.monotonic() + SEAL_PATIENCE
    while not _is_sealed(index):
        if time.monotonic() > deadline:
            index.unlink(missing_ok=True)
            logger.warning("%s, the index of compiled kernels, was damaged: they are compiled anew", index)
            return
        time.sleep(0.05)


def _is_sealed(index: Path) -> bool:
    """Whether the index is absent, or as its seal says."""
    try:
        content = index.read_bytes()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        return _seal_of(index).read_text() == hashlib.sha256(content).hexdigest()
    except (OSError, UnicodeDecodeError):
        return False

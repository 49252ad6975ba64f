"""Where kernels are kept between runs: generated source and what the runtimes compiled from it.

A cache may be damaged, unwritable, or in use by several processes at once; none of that may stop a run or change
its results. Source is kept under the hash of its text and compared with it. The runtimes check the kernels they
stored themselves, but not their index: a damaged one makes them ask for absurd memory and abort. So the index gets a
seal, the hash of its bytes, and one that does not match its seal is removed before a runtime sees it.
"""

from __future__ import annotations

import hashlib
import linecache
import logging
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

logger = logging.getLogger(__name__)

INDEX = {"quadrants": Path("kernel_compilation_manager", "qdcache.qdb"), "taichi": Path("ticache.tcb")}
"""The file in which a runtime lists the kernels it stored."""

SEAL_PATIENCE = 2.0
"""Seconds to wait for the seal of an index that another process may just be writing."""

_instead: dict[Path, Path] = {}
"""Temporary folders in place of those that cannot be written to."""


class CacheWarning(RuntimeWarning):
    """The cache cannot be used; kernels will be compiled anew in the next run."""


def cache_directory() -> Path:
    """Where generated source and compiled kernels should be kept: `DOVETAIL_CACHE_DIR`, else the user's cache."""
    root = os.environ.get("DOVETAIL_CACHE_DIR")
    if root is None:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        root = str(Path(base) / "dovetail")
    return Path(root) / "taichi"


def writable_directory() -> Path:
    """The cache directory, or a temporary one if it cannot be written to."""
    folder = cache_directory()
    if folder not in _instead:
        why = _why_unwritable(folder)
        if not why:
            return folder
        _instead[folder] = Path(tempfile.mkdtemp(prefix="dovetail-"))
        warnings.warn(
            f"the kernel cache {folder} cannot be written to ({why}): a temporary folder is used, kernels will be "
            "compiled anew in the next run. DOVETAIL_CACHE_DIR names another place",
            CacheWarning,
            stacklevel=2,
        )
    return _instead[folder]


def _why_unwritable(folder: Path) -> str:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def remove_temporary_directories() -> None:
    """At the end of the process."""
    for folder in _instead.values():
        shutil.rmtree(folder, ignore_errors=True)


# ---- generated source -------------------------------------------------------------------------------------


def write_module(source: str, folder: Path) -> Path:
    """Keep the source under the hash of its text; written whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"lanes_{hashlib.sha256(source.encode()).hexdigest()[:20]}.py"
    try:
        stored = path.read_bytes()
    except OSError:
        stored = None
    if stored == source.encode():
        return path
    if stored is not None:
        logger.warning("%s was damaged: it is written anew", path)
    _write_whole(path, source.encode())
    return path


def _write_whole(path: Path, content: bytes) -> None:
    """Under another name first, so that no other process sees half of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


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


def seal_index(runtime: str, kernels: Path) -> None:
    """Remember what a runtime's index looks like when it is whole."""
    index = kernels / INDEX[runtime]
    try:
        _write_whole(_seal_of(index), hashlib.sha256(index.read_bytes()).hexdigest().encode())
    except OSError as error:
        logger.debug("no seal for %s: %s", index, error)


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

"""Where kernels are kept between runs: generated source and what the runtimes compiled from it.

A cache may be damaged, unwritable, full, or in use by several processes at once; none of that may stop a run or
change its results. What is in it is run, so nobody else may be able to write to it. Source is kept under the hash of
its text and compared with it. The runtimes check the kernels they stored themselves, but not their index: a damaged
one makes them ask for absurd memory and abort. So the index gets a seal, the hash of its bytes, and one that does not
match its seal is removed before a runtime sees it. They write the index under a lock file, which they leave behind
when they are killed, and which then keeps every later process from storing anything. So all of that happens under a
lock of our own, which ends with its process: who has it removes a lock file of the runtime.
"""

from __future__ import annotations

import hashlib
import linecache
import logging
import os
import shutil
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType

logger = logging.getLogger(__name__)

INDEX = {"quadrants": Path("kernel_compilation_manager", "qdcache.qdb"), "taichi": Path("ticache.tcb")}
"""The file in which a runtime lists the kernels it stored."""

LOCK = {"quadrants": Path("kernel_compilation_manager", "qdcache.lock"), "taichi": Path("ticache.lock")}
"""The file that exists while a runtime writes them, and after one that was killed meanwhile."""

LOCK_PATIENCE = 5.0
"""Seconds to wait for another process to have written its kernels."""

SEAL_PATIENCE = 2.0
"""Seconds to wait for the seal of an index that another process may just be writing."""

_usable: set[Path] = set()
"""Folders that were found to be in order."""

_instead: dict[Path, Path] = {}
"""Temporary folders in place of those that cannot be written to."""


class CacheWarning(RuntimeWarning):
    """The cache cannot be used; kernels will be compiled anew in the next run."""


def cache_directory() -> Path:
    """Where generated source and compiled kernels should be kept: `DOVETAIL_CACHE_DIR`, else the user's cache."""
    root = os.environ.get("DOVETAIL_CACHE_DIR")
    if root is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        root = str(Path(base) / "dovetail")
    return Path(root).absolute() / "taichi"


def writable_directory() -> Path:
    """The cache directory, or a temporary one if it cannot be written to, or others can write to it."""
    folder = cache_directory()
    if folder in _usable:
        return folder
    if folder not in _instead:
        why = _why_unwritable(folder) or why_unsafe(folder)
        if not why:
            _usable.add(folder)
            return folder
        _instead[folder] = Path(tempfile.mkdtemp(prefix="dovetail-"))
        _warn(
            f"the kernel cache {folder} is not used ({why}): a temporary folder is, and kernels will be compiled "
            "anew in the next run. DOVETAIL_CACHE_DIR names another place"
        )
    return _instead[folder]


def _why_unwritable(folder: Path) -> str:
    """Why nothing can be stored there, or an empty string; a full disk shows only when something is written."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(PROBE))
        return ""
    except OSError as error:
        return f"it cannot be written to: {error.strerror or error}"


PROBE = 65536
"""Bytes that must fit for a cache to be used."""


def why_unsafe(folder: Path) -> str:
    """Why somebody else could put kernels there, which are then run as this user; empty if nobody could. As ssh
    judges its files: the folder, what is in it and all folders above belong to the user or to root, and no one else
    may write; in a folder above also where only owners may remove (as /tmp)."""
    if os.name != "posix":
        return ""
    try:
        real = folder.resolve()
        inside = [(real / name / index).parent for name, index in INDEX.items()]
        inside = [path for path in {*inside, *(real / name for name in INDEX)} if path.is_dir()]
        for path in (*inside, real):
            why = _why_others_write(path, path.stat())
            if why:
                return f"{why}: say chmod go-w {path}, and remove what is in it" if "write" in why else why
        for path in real.parents:
            status = path.stat()
            why = "" if status.st_mode & stat.S_ISVTX else _why_others_write(path, status)
            if why:
                return why
    except OSError as error:
        return f"it cannot be looked at: {error.strerror or error}"
    return ""


def _why_others_write(path: Path, status: os.stat_result) -> str:
    if status.st_uid not in (os.geteuid(), 0):
        return f"{path} belongs to another user"
    if status.st_mode & stat.S_IWOTH:
        return f"everybody may write to {path}"
    if status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid):
        return f"a group may write to {path}"
    return ""


def _is_own_group(group: int) -> bool:
    """Whether a group is the user's alone: root's, or one of the user's name without other members."""
    import grp
    import pwd

    try:
        name, entry = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return group == 0 or (entry.gr_name == name and set(entry.gr_mem) <= {name})


_told: set[str] = set()


def _warn(text: str, what: str = "") -> None:
    """Warn of the same thing once."""
    if (what or text) not in _told:
        _told.add(what or text)
        warnings.warn(text, CacheWarning, stacklevel=3)


def _warn_full(path: Path, error: OSError) -> None:
    _warn(
        f"{path} cannot be written ({error.strerror or error}): kernels will be compiled anew in the next run. Make "
        "room there, or name another place by DOVETAIL_CACHE_DIR",
        what=f"errno {error.errno}",
    )


def remove_temporary_directories() -> None:
    """At the end of the process."""
    for folder in _instead.values():
        shutil.rmtree(folder, ignore_errors=True)


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
        _write_whole(path, source.encode())
    except OSError as error:
        _warn_full(path, error)
    return path


def _write_whole(path: Path, content: bytes) -> None:
    """Under another name first, so that no other process sees half of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
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


@contextmanager
def writing(runtime: str, kernels: Path) -> Iterator[None]:
    """While the body runs no other process writes to a runtime's cache. A lock file that the runtime finds then was
    left by a process that was killed: it is removed."""
    with _locked(kernels / "dovetail.lock") as ours:
        lock = kernels / LOCK[runtime]
        if ours and lock.exists():
            logger.info("%s was left by a process that is gone: removed", lock)
            lock.unlink(missing_ok=True)
        yield


@contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Hold the lock on a file, if there are such locks here and it can be had in time."""
    with ExitStack() as stack:
        try:
            import fcntl

            file = stack.enter_context(path.open("ab"))
            taken = _taken(lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB))
        except (ImportError, OSError) as problem:
            logger.debug("no lock on %s: %s", path, problem)
            taken = False
        yield taken


def _taken(take: Callable[[], None]) -> bool:
    deadline = time.monotonic() + LOCK_PATIENCE
    while True:
        try:
            take()
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        else:
            return True


def seal_index(runtime: str, kernels: Path) -> None:
    """Remember what a runtime's index looks like when it is whole. Where there is no room for that there was none for
    kernels, and the index may not be whole."""
    index = kernels / INDEX[runtime]
    try:
        _write_whole(_seal_of(index), hashlib.sha256(index.read_bytes()).hexdigest().encode())
    except FileNotFoundError:
        logger.debug("no index %s", index)
    except OSError as error:
        _warn_full(_seal_of(index), error)


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

"""Where backends keep kernels between runs: a folder for each, in which nobody else can write.

What is in it is run, so nobody else may be able to write to it (`dovetail.cache_folder`). Here is what backends share
beside that: a temporary folder in place of one that cannot be used, locks that end with their process, and warnings
that come once. What a backend keeps, and how it knows that it is whole, is the backend's own.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from dovetail.cache_folder import cache_directory, make_private, why_others_write, why_unsafe, write_whole
from dovetail.once import Once

__all__ = [
    "CacheWarning",
    "cache_directory",
    "directory_instead",
    "locked",
    "make_private",
    "remove_temporary_directories",
    "warn",
    "warn_full",
    "why_others_write",
    "why_unsafe",
    "why_unusable",
    "writable_directory",
    "write_whole",
]

logger = logging.getLogger(__name__)

LOCK_PATIENCE = 5.0
"""Seconds to wait for another process to have written its kernels."""

PROBE = 65536
"""Bytes that must fit for a cache to be used."""

_usable: set[Path] = set()
"""Folders that were found to be in order."""

_instead: dict[Path, Path] = {}
"""Temporary folders in place of those that cannot be written to."""

_told = Once()
"""What was warned of."""


class CacheWarning(RuntimeWarning):
    """The cache cannot be used; kernels will be compiled anew in the next run."""


def writable_directory(kind: str, inside: Iterable[Path] = ()) -> Path:
    """The cache directory, or a temporary one if it cannot be written to, or others can write to it or to one of the
    folders inside it."""
    folder = cache_directory(kind)
    if folder in _usable:
        return folder
    if folder not in _instead:
        why = why_unusable(folder, inside)
        if not why:
            _usable.add(folder)
            return folder
        return directory_instead(folder, why)
    return _instead[folder]


def directory_instead(folder: Path, why: str) -> Path:
    """A temporary folder in place of one that is not used from now on, and a warning."""
    _usable.discard(folder)
    if folder not in _instead:
        _instead[folder] = Path(tempfile.mkdtemp(prefix="dovetail-"))
        atexit.register(remove_temporary_directories, os.getpid())
        warn(
            f"the kernel cache {folder} is not used ({why}): a temporary folder is, and kernels will be compiled "
            "anew in the next run. DOVETAIL_CACHE_DIR names another place"
        )
    return _instead[folder]


def remove_temporary_directories(process: int | None = None) -> None:
    """At the end of the process, if it is the one that made them and no fork of it."""
    for folder in _instead.values() if process in (None, os.getpid()) else ():
        shutil.rmtree(folder, ignore_errors=True)


# ---- whether a folder may be used -------------------------------------------------------------------------


def why_unusable(folder: Path, inside: Iterable[Path] = ()) -> str:
    """Why kernels cannot be kept in a folder, or an empty string; it is made if it is not there."""
    return _why_unwritable(folder) or why_unsafe(folder, inside)


def _why_unwritable(folder: Path) -> str:
    """Why nothing can be stored there, or an empty string; a full disk shows only when something is written."""
    try:
        make_private(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(PROBE))
        return ""
    except OSError as error:
        return f"it cannot be written to: {error.strerror or error}"


# ---- warnings that come once ------------------------------------------------------------------------------


def warn(text: str, what: str = "") -> None:
    """Warn of the same thing once."""
    with _told.new(what or text) as new:
        if new:
            warnings.warn(text, CacheWarning, stacklevel=3)


def warn_full(path: Path, error: OSError) -> None:
    """That something could not be kept."""
    warn(
        f"{path} cannot be written ({error.strerror or error}): kernels will be compiled anew in the next run. Make "
        "room there, or name another place by DOVETAIL_CACHE_DIR",
        what=f"errno {error.errno}",
    )


# ---- locks ------------------------------------------------------------------------------------------------


@contextmanager
def locked(path: Path, patience: float | None = None) -> Iterator[bool]:
    """Hold the lock on a file, if there are such locks here and it can be had in time; it ends with the process."""
    with ExitStack() as stack:
        try:
            import fcntl

            file = stack.enter_context(path.open("ab"))
            taken = _taken(lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB), patience)
        except (ImportError, OSError) as problem:
            logger.debug("no lock on %s: %s", path, problem)
            taken = False
        yield taken


def _taken(take: Callable[[], None], patience: float | None) -> bool:
    deadline = time.monotonic() + (LOCK_PATIENCE if patience is None else patience)
    while True:
        try:
            take()
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        else:
            return True

"""Where backends keep kernels between runs: a folder for each, in which nobody else can write.

A cache may be damaged, unwritable, full, or in use by several processes at once; none of that may stop a run or
change its results. What is in it is run, so nobody else may be able to write to it. Here is what all backends share:
the folder, a temporary one in its place, files that are written whole, locks that end with their process, and
warnings that come once. What a backend keeps, and how it knows that it is whole, is the backend's own.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

logger = logging.getLogger(__name__)

LOCK_PATIENCE = 5.0
"""Seconds to wait for another process to have written its kernels."""

PROBE = 65536
"""Bytes that must fit for a cache to be used."""

_usable: set[Path] = set()
"""Folders that were found to be in order."""

_instead: dict[Path, Path] = {}
"""Temporary folders in place of those that cannot be written to."""

_told: set[str] = set()
"""What was warned of."""


class CacheWarning(RuntimeWarning):
    """The cache cannot be used; kernels will be compiled anew in the next run."""


def cache_directory(kind: str) -> Path:
    """Where a backend's kernels should be kept: in `DOVETAIL_CACHE_DIR`, else in the user's cache."""
    root = os.environ.get("DOVETAIL_CACHE_DIR")
    if root is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        root = str(Path(base) / "dovetail")
    return Path(root).absolute() / kind


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


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are not there, for the user alone, whatever the umask says."""
    for path in (*reversed(folder.parents), folder):
        if not path.exists():
            path.mkdir(mode=0o700, exist_ok=True)


def why_unsafe(folder: Path, inside: Iterable[Path] = ()) -> str:
    """Why somebody else could put kernels there, which are then run as this user; empty if nobody could. As ssh
    judges its files: the folder, what is in it and all folders above belong to the user or to root, and no one else
    may write; in a folder above also where only owners may remove (as /tmp)."""
    if os.name != "posix":
        return ""
    try:
        real = folder.resolve()
        for path in (*(real / part for part in inside if (real / part).is_dir()), real):
            why = why_others_write(path, path.stat())
            if why:
                return f"{why}: say chmod go-w {path}, and remove what is in it" if "write" in why else why
        for path in real.parents:
            status = path.stat()
            why = "" if status.st_mode & stat.S_ISVTX else why_others_write(path, status)
            if why:
                return why
    except OSError as error:
        return f"it cannot be looked at: {error.strerror or error}"
    return ""


def why_others_write(path: Path, status: os.stat_result) -> str:
    """Why somebody else could change a file or folder, or an empty string."""
    if os.name != "posix":
        return ""
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


# ---- warnings that come once ------------------------------------------------------------------------------


def warn(text: str, what: str = "") -> None:
    """Warn of the same thing once."""
    if (what or text) not in _told:
        _told.add(what or text)
        warnings.warn(text, CacheWarning, stacklevel=3)


def warn_full(path: Path, error: OSError) -> None:
    """That something could not be kept."""
    warn(
        f"{path} cannot be written ({error.strerror or error}): kernels will be compiled anew in the next run. Make "
        "room there, or name another place by DOVETAIL_CACHE_DIR",
        what=f"errno {error.errno}",
    )


# ---- files ------------------------------------------------------------------------------------------------


def write_whole(path: Path, content: bytes) -> None:
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

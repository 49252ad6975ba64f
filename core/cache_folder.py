"""Folders in which dovetail keeps something between runs: where they are, and whether others could write to them.

A cache may be damaged, unwritable, full, or in use by several processes at once; none of that may stop anything or
change a result. So files are written whole, under another name first, and nothing is taken from a folder in which
somebody else could have put it. What is kept in a folder, and how its owner knows that it is whole, is the owner's.
"""

from __future__ import annotations

import logging
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

logger = logging.getLogger(__name__)

ROOT_VARIABLE = "DOVETAIL_CACHE_DIR"


def cache_directory(kind: str) -> Path:
    """Where things of a kind should be kept: in `DOVETAIL_CACHE_DIR`, else in the user's cache."""
    root = os.environ.get(ROOT_VARIABLE)
    if root is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        root = os.path.join(base, "dovetail")
    return Path(os.path.abspath(root)) / kind


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are not there, for the user alone, whatever the umask says."""
    for path in (*reversed(folder.parents), folder):
        if not path.exists():
            path.mkdir(mode=0o700, exist_ok=True)


def why_unsafe(folder: Path, inside: Iterable[Path] = ()) -> str:
    """Why somebody else could put something there that is then taken for this user's; empty if nobody could. As ssh
    judges its files: the folder, the folders `inside` it and all above belong to the user or to root, and no one else
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


ABANDONED = 3600.0
"""Seconds after which a file that was never finished is removed."""

TEMPORARY = ".tmp"
"""Ends the names of files that are being written."""


def write_whole(path: Path, *parts: Any) -> None:
    """Write bytes, or what has a buffer of them, one after the other; under another name first, so that no other
    process sees half of it, and nothing stays of what could not be finished."""
    import tempfile

    handle, name = tempfile.mkstemp(dir=path.parent, suffix=TEMPORARY)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


# ---- room


@attrs.frozen
class Bound:
    """How much a folder may hold."""

    nbytes: int
    entries: int


def mark_used(entry: Path) -> None:
    """What was used last is removed last."""
    try:
        os.utime(entry)
    except OSError as problem:
        logger.debug("%s: %s", entry, problem)


def remove(path: Path | str) -> None:
    """Remove a file, if that is possible."""
    try:
        os.unlink(path)
    except OSError as problem:
        logger.debug("%s: %s", path, problem)


def make_room(folder: Path, suffix: str, bound: Bound, beside: Sequence[str] = ()) -> None:
    """Remove files with a suffix that were not used for longest, beyond the bound, with those that belong to them and
    have a suffix of `beside`; and what was never finished."""
    room, count = bound.nbytes, bound.entries
    for path, status in sorted(_entries(folder, suffix), key=lambda found: -found[1].st_mtime_ns):
        if path.endswith(TEMPORARY):
            if status.st_mtime < time.time() - ABANDONED:
                remove(path)
            continue
        room, count = room - status.st_size, count - 1
        if room < 0 or count < 0:
            remove(path)
            for other in beside:
                remove(path.removesuffix(suffix) + other)


def _entries(folder: Path, suffix: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as found:
        for entry in found:
            if entry.name.endswith((suffix, TEMPORARY)):
                yield entry.path, entry.stat(follow_symlinks=False)

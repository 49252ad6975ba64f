"""The one reader of files: regular files only, bounded in bytes, inside one folder if wanted, every problem typed.

A path is opened without waiting and looked at afterwards, so that nothing can be exchanged in between; devices, pipes
and sockets are refused (a pipe may wait for ever, a device has no end), and no more is read than the limit even if
the file grows meanwhile. Inside a folder (`root`) each step of the path is followed by hand: one that leads out is
refused with the same words whether something is there or not.

What was read and what was looked for can be `recorded`, so that a result of it can be kept and asked later whether it
still holds.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO

import attrs

from dovetail.errors import ArgumentError, FileError, shown
from dovetail.limits import amount

CHUNK = 1 << 20
_READING = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
)
_APPENDING = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_KINDS = {
    stat.S_IFDIR: "a directory; give the path of a file",
    stat.S_IFIFO: "a pipe; only regular files are read",
    stat.S_IFCHR: "a device; only regular files are read",
    stat.S_IFBLK: "a device; only regular files are read",
    stat.S_IFSOCK: "a socket; only regular files are read",
}
_REASONS = {
    errno.ENOENT: "no such file; check the path",
    errno.ENOTDIR: "no such file: a part of the path is no directory; check the path",
    errno.EACCES: "permission denied; ask for the right to read it",
    errno.EPERM: "permission denied; ask for the right to read it",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "the symbolic links lead in a circle; mend them",
    errno.ENXIO: "a socket or pipe; only regular files are read",
    errno.EISDIR: "is a directory; give the path of a file",
    errno.ENOSPC: "no space is left on the disk",
    errno.EROFS: "the file system is read-only",
}


class OutsideError(FileError):
    """The way to a file leaves the folder that files may come from."""


def checked_path(path: object) -> Path:
    """What a caller gave as a path, if it can be one."""
    if isinstance(path, bytes | bytearray):
        raise ArgumentError(f"a path should be text or a pathlib.Path, not {shown(path)}; decode it first")
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"a path should be text or a pathlib.Path, not {shown(path)}")
    text = os.fspath(path)
    if not isinstance(text, str) or not text:
        raise ArgumentError(f"a path should be text that is not empty, not {shown(text)}")
    if "\0" in text:
        raise FileError(text, "a path cannot have a NUL character")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise FileError(repr(text), "is no path: it has letters that no file system knows") from None
    return Path(text)


def read_bytes(path: str | Path, limit: int, *, root: Path | None = None) -> bytes:
    """The content of a regular file of at most `limit` bytes, which may not lie outside of `root`."""
    with opened(path, limit, root=root) as handle:
        content = _bounded(handle, path, limit)
    seen = _recording.get()
    if seen is not None:
        seen.contents[str(path)] = Content.of(path, content)
    return content


def exists(path: str | Path, *, root: Path | None = None) -> bool:
    """Whether there is something at a path, be it a link that leads nowhere; outside of `root` nobody looks."""
    there: bool | None = None
    try:
        there = os.path.lexists(path if root is None else confined(path, root))
        return there
    finally:
        seen = _recording.get()
        if seen is not None:
            seen.looked_for[str(path)] = there


@contextmanager
def opened(path: str | Path, limit: int, *, root: Path | None = None) -> Iterator[int]:
    """A descriptor of a regular file that was not larger than `limit` when it was opened."""
    real = checked_path(path) if root is None else confined(path, root)
    with reasons(path):
        handle = os.open(real, _READING)
    try:
        with reasons(path):
            status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise FileError(path, f"is {_KINDS.get(stat.S_IFMT(status.st_mode), 'no regular file')}")
        if root is not None:
            _check_still_inside(handle, path, root)
        if status.st_size > limit:
            raise _too_large(path, status.st_size, limit)
        yield handle
    finally:
        os.close(handle)


@contextmanager
def appending(path: str | Path) -> Iterator[int]:
    """A descriptor of a regular file, made if there is none, to append to."""
    with reasons(path):
        handle = os.open(checked_path(path), _APPENDING, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise FileError(path, "is no regular file; only such a file can have something appended")
            yield handle
        finally:
            os.close(handle)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A stream to a temporary neighbour that takes a file's place when all is written: a crash leaves the old file or
    none."""
    with reasons(path):
        if path.exists() and not path.is_file():
            raise FileError(path, "is a directory, device or the like; give the path of a file")
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
            ordinary_mode(temporary)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def ordinary_mode(path: str | Path, mode: int = 0o666) -> None:
    """Give something temporary the permissions that it would have had if it were made in place."""
    os.chmod(path, mode & ~_umask())


def _umask() -> int:
    """The permissions new files are made without (temporary files are private; results should not be)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _bounded(handle: int, path: str | Path, limit: int) -> bytes:
    """What can be read, which may be more or less than the file had when it was opened."""
    parts: list[bytes] = []
    total = 0
    with reasons(path):
        while part := os.read(handle, CHUNK):
            total += len(part)
            if total > limit:
                raise _too_large(path, total, limit)
            parts.append(part)
    return b"".join(parts)


def _too_large(path: str | Path, size: int, limit: int) -> FileError:
    return FileError(path, f"has {amount(size)} or more, the most is {amount(limit)}; make it smaller")


@contextmanager
def reasons(path: str | Path) -> Iterator[None]:
    """What the system says about a path, as errors of dovetail."""
    try:
        yield
    except FileError:
        raise
    except OSError as problem:
        raise FileError(path, reason_of(problem)) from None
    except ValueError as problem:  # a NUL character, or letters the file system cannot have
        raise FileError(path, f"is no path: {problem}") from None


def reason_of(problem: OSError) -> str:
    return _REASONS.get(problem.errno or 0, f"cannot be used: {problem.strerror or problem}")


# ---- what was read and looked for


@attrs.frozen
class Content:
    """What a file was when it was read."""

    place: str
    """Where its path led, links followed."""
    digest: str

    @classmethod
    def of(cls, path: str | Path, content: bytes) -> Content:
        return cls(os.path.realpath(path), hashlib.sha256(content).hexdigest())


@attrs.define
class Seen:
    """What was asked of the file system, and what it answered, by path as it was given."""

    contents: dict[str, Content] = attrs.field(factory=dict)
    looked_for: dict[str, bool | None] = attrs.field(factory=dict)
    """Whether something was there; None if the path led out of the root."""

    def still_holds(self, limit: int, *, root: Path | None = None) -> bool:
        """Whether the file system would answer the same today."""
        with recorded() as today:
            try:
                for path in self.looked_for:
                    _look(path, root)
                for path in self.contents:
                    read_bytes(path, limit, root=root)
            except (FileError, OSError, ValueError):
                return False
        return today == self


def _look(path: str, root: Path | None) -> None:
    """Look for something, wherever the path leads."""
    with suppress(OutsideError):
        exists(path, root=root)


_recording: ContextVar[Seen | None] = ContextVar("recording", default=None)


@contextmanager
def recorded() -> Iterator[Seen]:
    """What is read and looked for meanwhile, in this thread."""
    seen = Seen()
    token = _recording.set(seen)
    try:
        yield seen
    finally:
        _recording.reset(token)


# ---- inside a folder


def confined(path: str | Path, root: Path) -> Path:
    """The real path of a file inside a folder; an error if the way to it leaves the folder, wherever it leads."""
    with reasons(path):
        inside = Path(os.path.realpath(root))
        here, steps = _from_root(checked_path(path).absolute(), inside)
        for step in steps:
            here = here and _stepped(here, step, inside)
    if here is None or not here.is_relative_to(inside):
        raise _outside(path, inside)
    return here


def _stepped(here: Path, step: str, root: Path) -> Path | None:
    """One step further; above the folder only along its own path, without a look at what is there."""
    if step == "..":
        return here.parent
    if here.is_relative_to(root):
        there = Path(os.path.realpath(here / step))
        return there if there.is_relative_to(root) else None
    return here / step if root.is_relative_to(here / step) else None


def _outside(path: str | Path, root: Path) -> OutsideError:
    return OutsideError(path, f"is outside asset_root {root}; move the file, or widen asset_root")


def _from_root(path: Path, root: Path) -> tuple[Path | None, list[str]]:
    """The folder as the path names it, and the steps from there; None if the path does not go through it."""
    parts = path.parts
    for count in range(1, len(parts) + 1):
        if parts[count - 1] == "..":
            break
        if os.path.realpath(os.path.join(*parts[:count])) == str(root):
            return root, list(parts[count:])
    return None, []


def _check_still_inside(handle: int, path: str | Path, root: Path) -> None:
    """See that what was opened lies inside: a link may have been put there meanwhile."""
    link = f"/proc/self/fd/{handle}"
    if not sys.platform.startswith("linux") or not os.path.exists(link):
        return
    with reasons(path):
        found = Path(os.readlink(link))
    if not found.is_relative_to(os.path.realpath(root)):
        raise _outside(path, root)

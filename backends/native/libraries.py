"""Shared libraries of kernels: kept under a key of all that they are made of, checked, loaded, and tested.

Loading a library is running it. So the folder belongs to the user alone (`kernel_cache`), beside each library stands
the hash of its bytes, and what is loaded is the very file that was found to have this hash, to be no link, and to be
writable by nobody else. One that is not so is removed and built anew. Several processes may want the same library at
once: the first builds it, the others wait; where there are no locks all build, and the last one's stays, whole.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import itertools
import logging
import os
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import numpy as np

from dovetail import cache_folder, limits
from dovetail.backends.lanes import kernel_cache
from dovetail.backends.native import compilers, jobs, processor
from dovetail.backends.native.compilers import Compiler, CompilerError

logger = logging.getLogger(__name__)

SCHEME = "1"
"""Changes when libraries of an earlier dovetail must not be used any more for reasons that no key shows."""

SELF_TEST = "dovetail_selftest"
"""The function that every library exports: `int (double a, b, c, float d, e, f)`, with bit 0 set if a b + c is zero
and bit 1 if d e + f is, each computed with two roundings."""

BOUND = cache_folder.Bound(limits.GIGA // 2, 5000)
"""What the folder may hold; libraries that were not used for longest make room."""

_loaded: dict[str, Library] = {}
"""By key: a library is loaded once in a process."""


@attrs.frozen
class Library:
    """A library that was loaded: `seconds` is what the compiler took, 0 if it was kept."""

    path: Path
    key: str
    seconds: float
    handle: ctypes.CDLL = attrs.field(repr=False, eq=False)


class DamagedError(Exception):
    """A kept library is not what was built."""


@attrs.frozen
class Order:
    """What a library is made of."""

    sources: tuple[str, ...]
    compiler: Compiler
    flags: tuple[str, ...]

    @property
    def key(self) -> str:
        """The hash of all that decides what is in the library, and on which machines it runs."""
        parts = [
            SCHEME,
            sys.platform,
            *machine(self.flags),
            self.compiler.identity(),
            "\n".join(self.flags),
            *self.sources,
        ]
        digest = hashlib.sha256()
        for part in parts:
            digest.update(f"{len(part)}:".encode() + part.encode())
        return digest.hexdigest()[:40]


def machine(flags: Sequence[str]) -> list[str]:
    """What of this machine a library depends on: all of its processor, unless another is compiled for."""
    here = processor.processor()
    native = any(flag.endswith(f"={processor.NATIVE}") for flag in flags)
    return [here.architecture, *([here.name, *sorted(here.features)] if native else [])]


def library(sources: Sequence[str], compiler: Compiler, flags: Sequence[str]) -> Library:
    """The library of these sources: loaded before, kept from an earlier run, or built now."""
    order = Order(tuple(sources), compiler, tuple(flags))
    key = order.key
    if key in _loaded:
        return attrs.evolve(_loaded[key], seconds=0.0)
    _loaded[key] = found = _found(order, key)
    return found


def load(library: Library) -> ctypes.CDLL:
    """The functions of a library."""
    return library.handle


def discard(sources: Sequence[str], compiler: Compiler, flags: Sequence[str]) -> None:
    """Forget a library, so that it is built anew when next wanted."""
    key = Order(tuple(sources), compiler, tuple(flags)).key
    _loaded.pop(key, None)
    _remove(compilers.folder() / f"{key}.so")


def _found(order: Order, key: str) -> Library:
    """In the cache, or in a temporary folder if nothing can be written there."""
    _check_watcher(order)
    folder = compilers.folder()
    try:
        return _kept(folder, order, key) or _made(folder, order, key)
    except CompilerError as error:
        if not error.unwritable or folder != kernel_cache.cache_directory(compilers.KIND):
            raise
        return _made(kernel_cache.directory_instead(folder, error.unwritable), order, key)


def _kept(folder: Path, order: Order, key: str, *, settled: bool = False) -> Library | None:
    """The library that a folder has, if it is in order. What is not is removed, if it is settled that nobody is just
    writing it."""
    path = folder / f"{key}.so"
    expected = _expectations()
    try:
        handle = _opened(path)
    except FileNotFoundError:
        return None
    except (DamagedError, OSError) as problem:
        if settled:
            logger.warning("%s is not used, but built anew: %s", path, problem)
            _remove(path)
        return None
    cache_folder.mark_used(path)
    return _tested(Library(path, key, 0.0, handle), order, expected)


def _made(folder: Path, order: Order, key: str) -> Library:
    """The library as it is built now, by this process or by another that was quicker."""
    lock = folder / f"{key}.lock"
    with kernel_cache.locked(lock, compilers.time_limit()) as ours:
        try:
            return _kept(folder, order, key, settled=True) or _built(folder / f"{key}.so", order, key)
        finally:
            if ours:
                lock.unlink(missing_ok=True)  # who waited for it finds the library


def _built(path: Path, order: Order, key: str) -> Library:
    began = time.perf_counter()
    logger.info("compiling %s with %s", path.name, order.compiler)
    compilers.build(order.sources, order.compiler, order.flags, path)
    seconds = time.perf_counter() - began
    logger.info("compiled %s in %.1f s", path.name, seconds)
    with compilers.writing(path.parent):
        _keep_sources(path, order)
        kernel_cache.write_whole(_seal_of(path), _hash(path.read_bytes()))
        cache_folder.make_room(path.parent, path.suffix, BOUND, beside=(_seal_of(path).suffix,))
    expected = _expectations()
    try:
        handle = _opened(path)
    except (DamagedError, OSError) as problem:
        _remove(path)
        raise CompilerError(
            f"{path} cannot be loaded: {problem}. {order.compiler} has just built it, with {' '.join(order.flags)}. "
            "If no programs may run from that folder (it is mounted noexec), name another by DOVETAIL_CACHE_DIR. "
            f"{compilers.instead()}"
        ) from problem
    return _tested(Library(path, key, seconds, handle), order, expected)


def _keep_sources(path: Path, order: Order) -> None:
    """Where a debugger or a sanitizer will name lines of them."""
    for number, source in enumerate(order.sources if "-g" in order.flags else ()):
        kernel_cache.write_whole(
            path.with_name(f"{path.stem}_{number}{order.compiler.suffix}"), source.encode()
        )


def _seal_of(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _remove(path: Path) -> None:
    jobs.remove(path)
    jobs.remove(_seal_of(path))


# ---- loading ----------------------------------------------------------------------------------------------

_READ_ONLY = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
"""No links, and no waiting for the other end of a pipe."""

_names = itertools.count()


def _opened(path: Path) -> ctypes.CDLL:
    """Check a library and load it: the very file that was checked."""
    with _file(path) as file:
        content = _content(file, path)
        try:
            with _file(_seal_of(path)) as seal:
                expected = _content(seal, _seal_of(path))
        except FileNotFoundError:
            raise DamagedError("its hash is missing") from None
        if _hash(content) != expected:
            raise DamagedError("its bytes are not those that were built")
        name = _name(file, path)
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            raise DamagedError(str(error).replace(name, path.name)) from error


@contextlib.contextmanager
def _file(path: Path) -> Iterator[int]:
    file = os.open(path, _READ_ONLY)
    try:
        yield file
    finally:
        os.close(file)


def _content(file: int, path: Path) -> bytes:
    """What is in a file that nobody else can write to."""
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        raise DamagedError(f"{path} is no regular file")
    why = kernel_cache.why_others_write(path, status)
    if why:
        raise DamagedError(why)
    with os.fdopen(os.dup(file), "rb") as reader:
        return reader.read()


def _name(file: int, path: Path) -> str:
    """A name for an open file by which the system's loader finds this one, and no other that got its path since. The
    loader takes what it has loaded under a name before for the same library, and numbers of files are used again, so
    names are told apart by dots and slashes that mean nothing. Sanitizers look for source lines under the name, long
    after: they get the path."""
    if not sys.platform.startswith("linux") or os.environ.get(compilers.SANITIZE_VARIABLE):
        return str(path)
    name = "/proc/self/fd" + "".join("/." if bit == "1" else "/" for bit in f"{next(_names):b}") + f"/{file}"
    return name if os.path.exists(name) else str(path)


def _check_watcher(order: Order) -> None:
    """A library that is watched for wrong addresses would end a process that did not begin with the watcher."""
    watched = any(flag.startswith("-fsanitize=") and "address" in flag for flag in order.flags)
    if watched and os.name == "posix" and not hasattr(ctypes.CDLL(None), "__asan_init"):
        runtime = "libasan.so" if order.compiler.language == "c++" else "libclang_rt.asan-x86_64.so"
        raise CompilerError(
            f"environment {compilers.SANITIZE_VARIABLE}: kernels that are watched for wrong addresses need a Python "
            f"that is, too: start it with LD_PRELOAD=$({order.compiler.command[0]} -print-file-name={runtime})"
        )


# ---- testing ----------------------------------------------------------------------------------------------

_TEST_NUMBERS = (
    (1 + 2.0**-30, 1 + 2.0**-30, -(1 + 2.0**-29), 1 + 2.0**-13, 1 + 2.0**-13, -(1 + 2.0**-12)),
    (2.0**-1022, 0.5, 0.0, 2.0**-126, 0.5, 0.0),
    (2.0, 3.0, -5.0, 2.0, 3.0, -5.0),
)
"""a, b, c in double and in single precision. The first a b + c is zero after two roundings, but not after one; the
second is tiny, and zero only for a processor that was told to drop such numbers; the third is plainly not zero."""


def _expected(a: float, b: float, c: float, d: float, e: float, f: float) -> int:
    double = np.float64(a) * np.float64(b) + np.float64(c)
    single = np.float32(d) * np.float32(e) + np.float32(f)
    return int(double == 0) | int(single == 0) << 1


def _expectations() -> list[int]:
    """What NumPy computes now: just before a library is loaded, which may change how it does. Others may have done so
    already: once a Taichi runtime has started in the process, the processor drops tiny numbers."""
    return [_expected(*numbers) for numbers in _TEST_NUMBERS]


def _tested(library: Library, order: Order, wanted: list[int]) -> Library:
    """A library that computes as NumPy does, bit for bit."""
    try:
        function = library.handle[SELF_TEST]
    except AttributeError:
        raise CompilerError(
            f"{library.path} has no function {SELF_TEST}: it is no library of kernels"
        ) from None
    function.argtypes, function.restype = [ctypes.c_double] * 3 + [ctypes.c_float] * 3, ctypes.c_int
    for numbers, expected in zip(_TEST_NUMBERS, wanted, strict=True):
        found = function(*numbers)
        if found != expected:
            _remove(library.path)
            raise CompilerError(
                f"what {order.compiler} compiles with {' '.join(order.flags)} does not compute as NumPy does: "
                f"whether a b + c is 0 for {numbers} in single and double precision is {found:02b} instead of "
                f"{expected:02b}. Something adds options as -ffast-math or -ffp-contract=fast. Name another compiler "
                f"by {compilers.CC_VARIABLE}. {compilers.instead()}"
            )
    return library

"""Finding C compilers, and compiling kernels with one.

`DOVETAIL_CC` names one; else the first that works of clang, gcc, cc, and zig, which comes as a wheel (`pip install
ziglang`) where a machine has no compiler of its own. Whether one works is tried once, by compiling a few lines, and
remembered in the cache with what it says of itself until its file changes: a later process starts none to know.
Nothing in the environment changes what is compiled: compilers run with little more than a PATH (`jobs`).
"""

from __future__ import annotations

import contextlib
import errno
import functools
import importlib.util
import json
import logging
import math
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from dovetail.backends.lanes import kernel_cache
from dovetail.backends.native import jobs, processor
from dovetail.distribution import requirement
from dovetail.errors import ConfigError, DovetailError, listing, shown

logger = logging.getLogger(__name__)

KIND = "native"
"""The folder of the cache."""

CC_VARIABLE = "DOVETAIL_CC"
SANITIZE_VARIABLE = "DOVETAIL_NATIVE_SANITIZE"
SECONDS_VARIABLE = "DOVETAIL_NATIVE_SECONDS"

NAMES = ("clang", "gcc", "cc")
"""Looked for on the PATH, the best first: clang compiles kernels in half the time."""

SECONDS = 300.0
"""A compiler that takes longer hangs; kernels take seconds."""

PROBE_SECONDS = 60.0
"""For a few lines."""

LONGEST_VERSION = 200
"""Characters."""


class CompilerError(DovetailError):
    """A C compiler cannot be used, or did not compile a kernel. `reason` is the message in short, `said` what the
    compiler printed, with which the message ends; `unwritable` is why its folder cannot be written to, if that is to
    blame."""

    def __init__(self, message: str, *, reason: str = "", said: str = "", unwritable: str = "") -> None:
        self.reason, self.said, self.unwritable = reason or message, said, unwritable
        super().__init__(message + said)


@attrs.frozen
class Candidate:
    """A command that may be a compiler, and where it was found."""

    name: str
    command: tuple[str, ...]
    origin: str


@attrs.frozen
class Compiler:
    """A compiler that works; `language` is what kernels are given to it as."""

    name: str
    command: tuple[str, ...]
    version: str
    language: str
    origin: str

    @property
    def is_zig(self) -> bool:
        return self.name == "zig"

    @property
    def suffix(self) -> str:
        """Of files in its language."""
        return ".cpp" if self.language == "c++" else ".c"

    def identity(self) -> str:
        """What changes when the compiler does."""
        return "\n".join([*self.command, *map(str, stamp(self.command)), self.version, self.language])

    def __str__(self) -> str:
        return f"{self.name} ({shlex.join(self.command)}: {self.version})"


@attrs.frozen
class Refusal:
    """A command that is no use, and why."""

    command: str
    origin: str
    reason: str


# ---- which there are --------------------------------------------------------------------------------------


def compilers() -> list[Compiler]:
    """All that work, the best first."""
    return [found for found in examined() if isinstance(found, Compiler)]


def choose_compiler(wanted: str = "auto") -> Compiler | None:
    """The compiler to use: the one that is wanted, or that `DOVETAIL_CC` names, or the best that works; None if there
    is none. What is named and does not work is an error."""
    return _chosen(wanted, _asked_for(), *map(os.environ.get, ("PATH", "DOVETAIL_CACHE_DIR")))


def _asked_for() -> str:
    """What the variable says; blanks say nothing."""
    return os.environ.get(CC_VARIABLE, "").strip()


@functools.lru_cache(maxsize=16)
def _chosen(wanted: str, named: str, *_: str | None) -> Compiler | None:
    """Remembered for the values of the environment that matter."""
    if wanted != "auto":
        return tried(_named(wanted, "asked for"))
    if named:
        return tried(_named(named, CC_VARIABLE))
    return next((found for found in examined() if isinstance(found, Compiler)), None)


def forget() -> None:
    """Look for compilers anew when next asked."""
    _chosen.cache_clear()


def examined() -> Iterator[Compiler | Refusal]:
    """All that might be there, the best first, and why some are no use. Who stops at one has none of the rest run."""
    named = _asked_for()
    first = _examined(Candidate(named, (), CC_VARIABLE)) if named else None
    if first is not None:
        yield first
    for candidate in _found():
        if not isinstance(first, Compiler) or first.command != candidate.command:
            yield _examined(candidate)


def _examined(candidate: Candidate) -> Compiler | Refusal:
    """A candidate that was tried; one without a command is known by its name only."""
    try:
        return tried(candidate if candidate.command else _named(candidate.name, candidate.origin))
    except CompilerError as error:
        logger.info("%s", error)
        command = shlex.join(candidate.command) or candidate.name
        return Refusal(command, candidate.origin, error.reason + error.said)


def _found() -> Iterator[Candidate]:
    """What nobody named: on the PATH and in the wheel, a program that has two names (as cc often is gcc) once."""
    seen = set()
    for candidate in (*_on_the_path(), *_of_the_wheel()):
        program = os.path.realpath(candidate.command[0])
        if program not in seen:
            seen.add(program)
            yield candidate


def _on_the_path() -> Iterator[Candidate]:
    for name in NAMES:
        path = _program(name)
        if path:
            yield Candidate(name, (path,), "PATH")


def _of_the_wheel() -> Iterator[Candidate]:
    """The program in the package `ziglang`; run itself, since `python -m ziglang` looks in the working directory."""
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec("ziglang")
        for folder in (spec and spec.submodule_search_locations) or ():
            path = os.path.join(folder, "zig.exe" if os.name == "nt" else "zig")
            if os.access(path, os.X_OK):
                yield Candidate("zig", (path, "cc"), "ziglang wheel")


def _program(name: str) -> str | None:
    """A program by its name on the PATH, or by its path."""
    path = os.path.expanduser(name)
    folders = os.pathsep.join(jobs.absolute_folders())
    return shutil.which(os.path.abspath(path) if os.path.dirname(path) else name, path=folders)


def _named(text: str, origin: str) -> Candidate:
    """The candidate that a text names: a program, `zig`, or a program with arguments."""
    asked = Candidate(text, (text,), origin)
    try:
        words = [text] if os.path.isfile(text) else shlex.split(text, posix=os.name == "posix")
    except ValueError as error:
        raise _unusable(asked, f"is no command ({error})") from None
    if words in (["zig"], ["zig", "cc"]):
        for wheel in _of_the_wheel():
            return attrs.evolve(wheel, origin=origin)
        words = ["zig", "cc"]
    name = Path(words[0]).stem if words else ""
    if name in ("cl", "clang-cl"):
        raise _unusable(
            asked, "takes Microsoft's options and dialect of C, which has no vectors; clang and zig do"
        )
    path = _program(words[0]) if words else None
    if path is None:
        raise _unusable(asked, "cannot be run: there is no such program")
    return Candidate(name, (path, *words[1:]), origin)


def _unusable(candidate: Candidate, reason: str, said: str = "") -> CompilerError:
    where = f"environment {CC_VARIABLE}: " if candidate.origin == CC_VARIABLE else ""
    known = [f"{found.name} ({found.command[0]})" for found in _found()]
    return CompilerError(
        f"{where}the compiler {shown(' '.join(candidate.command))} {reason}. Compilers here: {listing(known)}. "
        f"{CC_VARIABLE} takes a path, a name on the PATH, zig, or a command with arguments. {instead()}",
        reason=reason,
        said=said,
    )


def instead() -> str:
    """What to do without a compiler."""
    return f'pip install "{requirement("native")}" brings one; backend="taichi" and backend="numpy" need none'


# ---- whether one works ------------------------------------------------------------------------------------

PROBES = {
    "c++": "#include <math.h>\n"
    "typedef double V __attribute__((vector_size(16)));\n"
    'extern "C" int dovetail_probe(V *a) { *a = *a > 0.0 ? *a : -*a; return (int)floor((*a)[0]); }\n',
    "c": "#include <math.h>\n"
    "typedef double V __attribute__((vector_size(16)));\n"
    "int dovetail_probe(V *a) { *a += *a; return (int)floor((*a)[0]); }\n",
}
"""What a compiler must understand, by language: vectors; and for C++ a choice between two by a third, which GCC does
not have in C."""


def stamp(command: Sequence[str]) -> tuple[str, int, int]:
    """Where a command's program is, its size and when it changed: who changes it changes these."""
    path = os.path.realpath(command[0])
    try:
        status = os.stat(path)
    except OSError:
        return path, 0, 0
    return path, status.st_size, status.st_mtime_ns


def tried(candidate: Candidate) -> Compiler:
    """A candidate as a compiler, as it is remembered or as trying it shows."""
    facts = _facts(candidate.command, "language", functools.partial(_probe, candidate))
    return Compiler(candidate.name, candidate.command, facts["version"], facts["language"], candidate.origin)


def _probe(candidate: Candidate) -> dict[str, Any]:
    """What a candidate says of itself, and in which language it takes kernels."""
    version = _version(candidate)
    if candidate.name == "zig":  # it brings all that it needs, and takes seconds for its first few lines
        return {"version": version, "language": "c"}
    said = ""
    for language in ("c",) if "clang" in version.lower() else ("c++", "c"):
        compiler = Compiler(candidate.name, candidate.command, version, language, candidate.origin)
        given = _flags(compiler, processor.NATIVE)
        try:
            with writing(folder()), jobs.working_folder(folder()) as work:
                _compiled([PROBES[language]], compiler, given, work, PROBE_SECONDS)
        except CompilerError as error:
            said = error.said
        else:
            return {"version": version, "language": language}
    raise _unusable(candidate, "does not compile a few lines", said)


def _version(candidate: Candidate) -> str:
    said = _said([*candidate.command, "--version"], candidate, "asked for its version").strip()
    first = said.splitlines()[0][:LONGEST_VERSION] if said else "of unknown version"
    if candidate.name != "zig":
        return first
    import importlib.metadata  # it takes long, and only here is it needed

    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return f"zig {importlib.metadata.version('ziglang')}, {first}"
    return f"zig, {first}"


def macros(compiler: Compiler, cpu: str) -> frozenset[str]:
    """Of the macros that tell features of processors, those that a compiler defines when it compiles for one."""
    what = f"macros {cpu}"
    facts = _facts(compiler.command, what, lambda: {what: _macros(compiler, cpu)})
    return frozenset(facts[what])


def _macros(compiler: Compiler, cpu: str) -> list[str]:
    command = [*compiler.command, *_cpu_flag(compiler, cpu), "-dM", "-E", "-x", "c", os.devnull]
    candidate = Candidate(compiler.name, compiler.command, compiler.origin)
    lines = _said(command, candidate, f"asked about {shown(cpu)}").splitlines()
    defined = {words[1] for words in map(str.split, lines) if len(words) > 1}
    return sorted(defined.intersection(processor.MACROS.values()))


def _said(command: Sequence[str], candidate: Candidate, when: str) -> str:
    """What a candidate answers."""
    try:
        with jobs.working_folder(folder()) as work:
            outcome = jobs.run([command], work, PROBE_SECONDS)[-1]
    except OSError as error:
        raise _unusable(candidate, f"cannot be run: {error.strerror or error}") from None
    if outcome.code != 0:
        raise _unusable(candidate, f"{outcome.end} when {when}", outcome.quoted)
    return outcome.said


# ---- what is remembered of compilers ----------------------------------------------------------------------

_FACTS = "compilers.json"
"""The file in the cache: for each command and its stamp, what was found out."""


def folder() -> Path:
    """Where libraries and what is known of compilers are kept."""
    return kernel_cache.writable_directory(KIND)


def _facts(command: Sequence[str], needed: str, find: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What is known of a command, found out now if what is needed is not among it, or the command has changed."""
    path = folder() / _FACTS
    key = json.dumps([*command, *stamp(command)])
    known = _known(path).get(key, {})
    if needed in known:
        return known
    known = known | find()
    others = {
        other: facts for other, facts in _known(path).items() if json.loads(other)[:-3] != list(command)
    }
    try:
        kernel_cache.write_whole(path, json.dumps(others | {key: known}, indent=1).encode())
    except OSError as error:
        logger.info("%s cannot be written: %s", path, error)  # it is found out anew next time
    return known


def _known(path: Path) -> dict[str, dict[str, Any]]:
    """What the file says, if it is whole."""
    try:
        stored = json.loads(path.read_bytes())
        if all(_is_whole(json.loads(key), facts) for key, facts in stored.items()):
            return dict(stored)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as problem:
        logger.debug("%s: %s", path, problem)
    logger.warning("%s, what is known of compilers, was damaged: they are tried anew", path)
    with contextlib.suppress(OSError):
        jobs.remove(path)
    return {}


def _is_whole(key: Any, facts: Any) -> bool:
    return (
        isinstance(key, list)
        and len(key) > 3
        and isinstance(facts, dict)
        and ("language" not in facts or facts["language"] in PROBES)
        and ("language" not in facts or isinstance(facts.get("version"), str))
        and all(_is_words(words) for what, words in facts.items() if what.startswith("macros "))
    )


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


# ---- how to compile ---------------------------------------------------------------------------------------

EXACT = (
    "-fno-fast-math",  # first: it undoes what the next ones say
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
)
"""The same bits from every compiler, and vectors of what would else be calls and branches."""

OPTIMISED = "-O1"
"""Kernels are vectors already: more takes longer and gains nothing. No bit depends on it."""

_CPU_FLAGS = {"x86_64": "-march", "aarch64": "-mcpu", "ppc64le": "-mcpu"}
"""What a processor is named by; on other architectures only one that the user names is."""


def flags(compiler: Compiler, cpu: str | None = None) -> tuple[str, ...]:
    """What kernels are compiled with, for this machine's processor or for another."""
    return (*_flags(compiler, processor.target() if cpu is None else cpu), *_sanitizers(compiler))


def _flags(compiler: Compiler, cpu: str) -> tuple[str, ...]:
    return (
        OPTIMISED,
        *_cpu_flag(compiler, cpu),
        *(("-fPIC",) if os.name == "posix" else ()),
        "-fvisibility=hidden",
        *EXACT,
        "-w",
        *(("-fno-exceptions", "-fno-rtti") if compiler.language == "c++" else ()),
    )


def _cpu_flag(compiler: Compiler, cpu: str) -> tuple[str, ...]:
    architecture = processor.processor().architecture
    if cpu == processor.NATIVE and architecture not in _CPU_FLAGS:
        return ()
    named = cpu.replace("-", "_") if compiler.is_zig else cpu
    return (f"{_CPU_FLAGS.get(architecture, '-march')}={named}",)


def _sanitizers(compiler: Compiler) -> tuple[str, ...]:
    """What watches for mistakes in kernels, if `DOVETAIL_NATIVE_SANITIZE` names it, as address,undefined."""
    wanted = os.environ.get(SANITIZE_VARIABLE)
    if not wanted:
        return ()
    if not re.fullmatch(r"[a-z-]+(,[a-z-]+)*", wanted):
        raise ConfigError(
            f"environment {SANITIZE_VARIABLE}: {shown(wanted)} should be names of sanitizers, as address,undefined"
        )
    return (
        "-O0",  # with more, watched kernels take ten times as long to compile, and mistakes may be optimised away
        f"-fsanitize={wanted}",
        "-fno-sanitize=vptr",
        "-fno-sanitize-recover=undefined",
        "-g",
        "-fno-omit-frame-pointer",
        *(("-shared-libsan",) if "clang" in compiler.version and not compiler.is_zig else ()),
    )


def time_limit() -> float:
    """Seconds of processors that a compiler may take."""
    text = os.environ.get(SECONDS_VARIABLE) or f"{SECONDS:g}"
    with contextlib.suppress(ValueError):
        if 0.0 < float(text) < math.inf:
            return float(text)
    raise ConfigError(
        f"environment {SECONDS_VARIABLE}: {shown(text)} should be a number of seconds, as {SECONDS:g}"
    )


# ---- compiling --------------------------------------------------------------------------------------------

_LIBRARY = "kernel.so"


def build(
    sources: Sequence[str], compiler: Compiler, flags: Sequence[str], out: Path, seconds: float | None = None
) -> None:
    """Compile sources to a shared library, which is there whole or not at all."""
    with writing(out.parent), jobs.working_folder(out.parent) as work:
        built = _compiled(sources, compiler, flags, work, time_limit() if seconds is None else seconds)
        built.chmod(0o700)  # nobody else may write, whatever the umask says
        built.replace(out)


def _compiled(
    sources: Sequence[str], compiler: Compiler, flags: Sequence[str], work: Path, seconds: float
) -> Path:
    """A library in a working folder. One source is compiled and linked by one command, several are compiled at once
    and linked after."""
    names = [f"kernel_{number}" for number in range(len(sources))]
    for name, source in zip(names, sources, strict=True):
        (work / f"{name}{compiler.suffix}").write_text(source, encoding="utf-8")
    for commands in _steps(names, compiler, flags):
        _run(commands, compiler, work, seconds)
    built = work / _LIBRARY
    if not built.is_file() or built.stat().st_size == 0:
        raise _failure(compiler, "ended well, but wrote no library")
    return built


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """What cannot be written there is an error that says so."""
    try:
        yield
    except OSError as error:
        reason = f"it cannot be written to: {error.strerror or error}"
        raise CompilerError(
            f"no kernel can be compiled in {folder}: {reason}. Make room there, or name another place by "
            "DOVETAIL_CACHE_DIR",
            unwritable=reason,
        ) from error


def _steps(names: Sequence[str], compiler: Compiler, flags: Sequence[str]) -> list[list[list[str]]]:
    """Commands by steps; those of a step run at once."""
    start, end = [*compiler.command, *flags], ["-shared", "-o", _LIBRARY, "-lm", "-pthread"]
    if len(names) == 1:
        return [[[*start, f"{names[0]}{compiler.suffix}", *end]]]
    compiling = [[*start, "-c", f"{name}{compiler.suffix}", "-o", f"{name}.o"] for name in names]
    return [compiling, [[*start, *(f"{name}.o" for name in names), *end]]]


def _run(commands: Sequence[Sequence[str]], compiler: Compiler, work: Path, seconds: float) -> None:
    try:
        outcome = jobs.run(commands, work, seconds)[-1]
    except OSError as error:
        if error.errno in NO_ROOM:
            raise
        raise _failure(compiler, f"cannot be run ({error.strerror or error})") from error
    if outcome.code != 0:
        full = "it is full" if _is_full(work, outcome.said) else ""
        raise _failure(compiler, outcome.end, said=outcome.quoted, unwritable=full)


def _failure(compiler: Compiler, how: str, *, said: str = "", unwritable: str = "") -> CompilerError:
    return CompilerError(
        f"a kernel was not compiled: {compiler} {how}. {CC_VARIABLE} names another compiler. {instead()}",
        said=said,
        unwritable=unwritable,
    )


NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
LEAST_ROOM = 1 << 20
"""Bytes without which a compiler that failed has failed for want of them; it may have no room to say so."""


def _is_full(work: Path, said: str) -> bool:
    try:
        return os.strerror(errno.ENOSPC) in said or shutil.disk_usage(work).free < LEAST_ROOM
    except OSError:
        return False

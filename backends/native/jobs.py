"""Running a compiler: for so long and no longer, in an environment of its own, with nothing left of it afterwards.

A compiler may hang, crash, print what is no text, or start others. It runs as the leader of a group of processes,
which is ended as a whole when its time is over or when the user interrupts. Its time is what the group had of the
processors: on a busy machine a compiler that works waits for its turn, and one that hangs does not work. What it
prints goes to a file, so that it never waits for us to read; temporary files go to the folder it works in, which is
removed.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

PREFIX = "building-"
"""Of the names of working folders."""

STALE = 24 * 3600.0
"""Seconds after which what a build left behind belongs to a process that was killed."""

BREATH = 0.1
"""Of its time: how long a compiler that is late may do nothing."""

MOST_LINES, LONGEST_LINE = 20, 300
"""Of what a compiler says, in an error."""

MOST_BYTES = 1 << 20
"""Of what a compiler says, at all."""

KEPT = ("HOME", "USER", "LOGNAME", "LD_LIBRARY_PATH")
"""Variables that a compiler gets: where the user's folders and the libraries of programs are. None of these changes
what it compiles, as CFLAGS, CPATH, COMPILER_PATH, LIBRARY_PATH or CCACHE_PREFIX may."""

KEPT_ON = {
    "darwin": ("DEVELOPER_DIR", "SDKROOT"),  # where Apple's headers are
    "win32": (
        *("SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT"),
        *("USERPROFILE", "LOCALAPPDATA", "APPDATA", "ProgramData"),
    ),
}
"""What else it needs on a system."""


@attrs.frozen
class Outcome:
    """How a command ended: its exit code (minus the signal that ended it; None if its time was over), and what it
    printed."""

    code: int | None
    said: str

    @property
    def end(self) -> str:
        """How it ended, as a sentence goes on."""
        if self.code is None:
            return "did not end in time and was stopped"
        if self.code < 0:
            with contextlib.suppress(ValueError):
                return f"was ended by {signal.Signals(-self.code).name}"
            return f"was ended by signal {-self.code}"
        return f"ended with code {self.code}"

    @property
    def quoted(self) -> str:
        """The first lines of what it said, as the end of a message."""
        lines = [line[:LONGEST_LINE] for line in self.said.splitlines() if line.strip()]
        more = [f"({len(lines) - MOST_LINES} more lines)"] if len(lines) > MOST_LINES else []
        return "\n  ".join(["\nIt said:", *lines[:MOST_LINES], *more]) if lines else ""


def environment(work: Path, cache: Path) -> dict[str, str]:
    """What a compiler sees of the environment."""
    names = [*KEPT, *KEPT_ON.get(sys.platform, ())]
    return {name: os.environ[name] for name in names if name in os.environ} | {
        "PATH": os.pathsep.join(absolute_folders()) or os.defpath,
        "LANG": "C",
        "LC_ALL": "C",
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(work)),
        "CCACHE_DISABLE": "1",
        "ZIG_GLOBAL_CACHE_DIR": str(cache / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(work / "zig"),
    }


def absolute_folders() -> list[str]:
    """The PATH without folders that depend on where we are: what is in the working directory must not just run."""
    return [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]


@contextlib.contextmanager
def working_folder(cache: Path) -> Iterator[Path]:
    """A folder in the cache for one build, which is removed after it; and those that others left are, too."""
    remove_stale(cache)
    work = Path(tempfile.mkdtemp(prefix=PREFIX, dir=cache))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def remove_stale(cache: Path) -> None:
    """Remove what builds that were killed have left, a day ago or earlier."""
    for pattern in (f"{PREFIX}*", "*.tmp", "*.lock"):
        for path in cache.glob(pattern):
            with contextlib.suppress(OSError):
                if time.time() - path.lstat().st_mtime > STALE:
                    remove(path)


def remove(path: Path) -> None:
    """Remove a file, a link or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def run(commands: Sequence[Sequence[str]], work: Path, seconds: float) -> list[Outcome]:
    """Run commands at once in a working folder, and tell how they ended, up to the first that failed. None is left
    when this returns or raises. Each may take `seconds`."""
    began = time.monotonic()
    processes: list[subprocess.Popen[bytes]] = []
    outcomes: list[Outcome] = []
    try:
        for number, command in enumerate(commands):
            processes.append(_started(command, work, _log(work, number)))
        for number, process in enumerate(processes):
            code = _waited(process, began, seconds)
            outcomes.append(Outcome(code, readable(_log(work, number))))
            if code != 0:
                break
    finally:
        for process in processes:
            _end(process)
    return outcomes


def _log(work: Path, number: int) -> Path:
    return work / f"said_{number}.txt"


def _started(command: Sequence[str], work: Path, log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as said:
        return subprocess.Popen(
            command,
            cwd=work,
            env=environment(work, work.parent),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _waited(process: subprocess.Popen[bytes], began: float, seconds: float) -> int | None:
    """The code with which a process ends; None if its time is over."""
    patience, used = began + seconds - time.monotonic(), -1.0
    while True:
        try:
            return process.wait(max(patience, 0.0))
        except subprocess.TimeoutExpired:
            before, used = used, processor_time(process.pid)
            if not before < used < seconds:
                return None
            patience = BREATH * seconds


def processor_time(group: int) -> float:
    """Seconds that a group of processes had of the processors; endless where the system does not tell."""
    if not Path("/proc/self/stat").exists():
        return math.inf
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # one that has just ended
            words = path.read_text(errors="replace").rpartition(")")[2].split()
            if int(words[_GROUP]) == group:
                ticks += sum(int(word) for word in words[_TIMES])
    return ticks / os.sysconf("SC_CLK_TCK")


_GROUP, _TIMES = 2, slice(11, 15)
"""Places in /proc/…/stat behind the name: the group; times of the process and of its children that have ended."""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started, unless it ended well by itself."""
    if process.poll() == 0:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def readable(log: Path) -> str:
    """What is in a file, as text that can be shown: without colours and control characters."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        text = _COLOURS.sub("", file.read(MOST_BYTES).decode(errors="replace")).expandtabs(4)
        return "\n".join("".join(filter(str.isprintable, line)) for line in text.splitlines())
    return ""

"""Telling how long a kernel has been compiling.

The runtimes hold Python's lock while their compiler works, so no thread of this process could write. A small process
of its own does: after two seconds it begins to write to stderr, on a terminal one line that is kept up to date, else
a line every ten seconds. It ends when its pipe is closed, so also when this process dies. `DOVETAIL_PROGRESS=off`
switches it off; nothing is ever written to stdout.

For the same reason Ctrl-C takes effect when the compiler returns. The process says so, and a second Ctrl-C ends the
program at once: nothing of a kernel is stored before it is complete, so the next run finds the cache as it was.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import UnsupportedOperation

SWITCH = "DOVETAIL_PROGRESS"

PATIENCE = 2.0
"""Seconds of compiling about which nothing is said."""

LINES_WORTH_TELLING = 400
"""Lines of source below which a kernel compiles in less than that."""

TICKER = """
import os, select, signal, sys, time
what, patience, terminal = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "terminal"
began, parent, interrupts = time.monotonic(), os.getppid(), 0
def write(text):
    sys.stderr.write(text)
    sys.stderr.flush()
def interrupted(*_):
    global interrupts
    interrupts += 1
    if interrupts == 1:
        write("\\ndovetail: will stop when the compiler returns; Ctrl-C again ends the program at once\\n")
    elif os.getppid() == parent:
        os.kill(parent, signal.SIGTERM)
signal.signal(signal.SIGINT, interrupted)
shown, wait = False, patience
while not select.select([sys.stdin], [], [], wait)[0]:
    seconds = time.monotonic() - began
    line = f"dovetail: {what} ... {seconds:.0f} s"
    write(f"\\r\\x1b[2K{line}" if terminal else f"{line}\\n")
    shown, wait = True, 1.0 if terminal else 10.0
if shown:
    write(f"\\r\\x1b[2K" if terminal else f"dovetail: {what}: done in {time.monotonic() - began:.0f} s\\n")
"""


def wanted() -> bool:
    """Whether to tell, and whether there is a stderr to tell it to."""
    return os.environ.get(SWITCH, "on").lower() not in ("off", "0", "no", "false") and _stderr() is not None


def _stderr() -> int | None:
    """The file descriptor behind stderr, if it has one."""
    try:
        return sys.stderr.fileno()
    except (AttributeError, UnsupportedOperation, ValueError, OSError):
        return None


@contextmanager
def telling(what: str, lines: int) -> Iterator[None]:
    """While the body runs, tell after a while that `what` is under way, and for how long."""
    ticker = _start(what) if lines >= LINES_WORTH_TELLING and wanted() else None
    try:
        yield
    finally:
        if ticker is not None:
            _stop(ticker)


def _start(what: str) -> subprocess.Popen[bytes] | None:
    """The writing process; None where none can be started, which is no reason not to compile."""
    terminal = "terminal" if sys.stderr.isatty() else "file"
    command = [sys.executable, "-I", "-S", "-c", TICKER, what, str(PATIENCE), terminal]
    if not sys.executable or getattr(sys, "frozen", False) or os.name != "posix":
        return None
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=_stderr())
    except OSError:
        return None


def _stop(ticker: subprocess.Popen[bytes]) -> None:
    assert ticker.stdin is not None
    with suppress(OSError):
        ticker.stdin.close()
    try:
        ticker.wait(timeout=1.0)
    except subprocess.TimeoutExpired:
        ticker.kill()
        ticker.wait()

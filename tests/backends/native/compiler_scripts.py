"""Compilers that are none, for tests: small scripts that misbehave in one way, and the source of a small library."""

from __future__ import annotations

import functools
import os
import shutil
from pathlib import Path

import pytest

from dovetail.backends.lanes import kernel_cache
from dovetail.backends.native import compilers, libraries
from dovetail.backends.native.compilers import Compiler
from dovetail.once import Once

REAL = ("clang", "gcc", "zig")
PROGRAM = shutil.which("clang") or shutil.which("gcc")
TOOLS = {name: shutil.which(name) for name in ("as", "ld")}

SOURCE = """
#ifdef __cplusplus
#define EXPORTED extern "C" __attribute__((visibility("default")))
#else
#define EXPORTED __attribute__((visibility("default")))
#endif
EXPORTED int dovetail_selftest(double a, double b, double c, float d, float e, float f) {
  const double p = a * b + c;
  const float q = d * e + f;
  return (p == 0.0) | (q == 0.0f) << 1;
}
EXPORTED int answer(void) { return ANSWER; }
"""


def source(answer: int = 42) -> str:
    """A library with a function `answer`."""
    return SOURCE.replace("ANSWER", str(answer))


def private_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for one test, where nothing is known of compilers; returns the folder of libraries."""
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(folder))
    for variable in (
        "DOVETAIL_CC",
        "DOVETAIL_NATIVE_CPU",
        "DOVETAIL_NATIVE_SANITIZE",
        "DOVETAIL_NATIVE_SECONDS",
    ):
        monkeypatch.delenv(variable, raising=False)
    forget_all(monkeypatch)
    return folder / "native"


def forget_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process."""
    monkeypatch.setattr(libraries, "_loaded", {})
    for name, empty in {"_usable": set(), "_instead": {}, "_told": Once()}.items():
        monkeypatch.setattr(kernel_cache, name, empty)
    compilers.forget()


@functools.cache
def _tried(name: str) -> Compiler | str:
    try:
        return compilers.choose_compiler(name) or "there is no C compiler here"
    except compilers.CompilerError as error:
        return str(error)


def real_compiler(name: str = "auto") -> Compiler:
    """A compiler of this machine, or the best; each is tried once for all tests."""
    found = _tried(name)
    if isinstance(found, str):
        pytest.skip(found)
    return found


def any_program() -> str:
    """The path of a compiler that is quick to start."""
    if PROGRAM is None:
        pytest.skip("there is neither clang nor gcc here")
    return PROGRAM


def tools(folder: Path) -> Path:
    """A folder with no more than what compilers need."""
    folder.mkdir()
    for name, path in TOOLS.items():
        if path:
            (folder / name).symlink_to(path)
    return folder


def script(path: Path, *lines: str) -> Path:
    """A program of the shell."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


def fake(folder: Path, *lines: str) -> Compiler:
    """A compiler that does what the lines say, and was not tried."""
    return Compiler("fake", (str(script(folder / "fake", *lines)),), "fake 1.0", "c", "test")


def is_running(process: int) -> bool:
    """Whether a process does anything; one that ended and that nobody asked about does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return os.name == "posix" and not Path("/proc").exists() and _answers(process)
    return state not in "ZX"


def _answers(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True

"""Kernels that are watched for wrong addresses and undefined behaviour find nothing, and would.

The watchers have to be in the process from its start, so models run in processes of their own
(`sanitized_models.py`). The default suite takes the compiler that everything takes; `tox -e sanitize` takes all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lane_backend import NO_COMPILER
from sanitized_models import CASES, MISTAKES

from dovetail.backends.native.compilers import Compiler, choose_compiler, compilers

pytestmark = pytest.mark.skipif(NO_COMPILER, reason="there is no C compiler here")

HERE = Path(__file__).parent
WATCHED = "address,undefined,float-cast-overflow"
"""GCC counts numbers that are too large for an integer separately."""

QUICK = ("contacts, batch", "tendons, batch")
"""Cases for the default suite, in one process."""

REPORTS = ("runtime error", "Sanitizer")
"""What watchers say."""


@cache
def runtime_of(compiler: Compiler) -> str:
    """The library that a process has to begin with; why there is none ends with a blank."""
    if sys.platform != "linux":
        return "sanitizers are tried on Linux only "
    if compiler.is_zig:
        return "zig comes without the runtime of AddressSanitizer "
    clang = "clang" in compiler.version
    name = f"libclang_rt.asan-{os.uname().machine}.so" if clang else "libasan.so"
    said = subprocess.run(
        [*compiler.command, f"-print-file-name={name}"], capture_output=True, text=True, check=False
    )
    path = said.stdout.strip()
    if os.path.isabs(path) and os.path.exists(path):
        return os.path.realpath(path)
    return f"{compiler.name} comes without {name} "


def watched(compiler: Compiler, *cases: str) -> subprocess.CompletedProcess[str]:
    """Run cases under the watchers of a compiler."""
    runtime = runtime_of(compiler)
    if runtime.endswith(" "):
        pytest.skip(runtime.strip())
    environment = {
        **os.environ,
        "DOVETAIL_CC": compiler.command[0],
        "DOVETAIL_NATIVE_SANITIZE": WATCHED,
        "LD_PRELOAD": runtime,
        "ASAN_OPTIONS": "detect_leaks=0",  # Python's own are none of ours
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": os.pathsep.join(map(str, (HERE, HERE.parent / "lanes", HERE.parents[1]))),
    }
    return subprocess.run(
        [sys.executable, str(HERE / "sanitized_models.py"), *cases],
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )


def assert_nothing_found(compiler: Compiler, *cases: str) -> None:
    done = watched(compiler, *cases)
    assert not any(word in done.stderr for word in REPORTS), done.stderr[-4000:]
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.splitlines()[-1] == "done"


def chosen() -> Compiler:
    """The compiler that everything takes, or one whose watchers are here."""
    first = choose_compiler()
    assert first is not None
    found = [one for one in (first, *compilers()) if not runtime_of(one).endswith(" ")]
    return found[0] if found else first


def test_nothing_is_found() -> None:
    assert_nothing_found(chosen(), *QUICK)


@pytest.mark.by_default("wrong address")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str) -> None:
    done = watched(chosen(), mistake)
    assert done.returncode != 0
    assert any(word in done.stderr for word in REPORTS), done.stderr[-4000:]


def every_compiler() -> list[Any]:
    found = [] if NO_COMPILER else compilers()
    return [pytest.param(compiler, id=compiler.name) for compiler in found]


@pytest.mark.slow
@pytest.mark.parametrize("compiler", every_compiler())
@pytest.mark.parametrize("case", CASES)
def test_nothing_is_found_by_any_compiler(case: str, compiler: Compiler) -> None:
    assert_nothing_found(compiler, case)

"""No test looks at the clock on the wall: a busy machine would fail it. Processor time, counts and ratios are rules.

Every use of a wall clock in tests/ is found in the source, and is either in the list with its reason or an error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
CLOCKS = frozenset(["time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns"])
SHORTEST_TIMEOUT = 60
"""Seconds after which a child process may be given up as hanging; less would be a statement about speed."""

REASONS = {
    "backends/taichi/test_batch_robust_cache.py": "waits for another process, and gives up after a minute",
    "backends/taichi/test_lane_speed.py": "marked bench: the ratio of two speeds, measured by turns",
    "stages/solve_constraints/test_stack.py": "marked bench: the ratio of two speeds, measured by turns",
    "bench/bits_before_after.py": "a report for readers; nothing is asserted",
    "conformance/batches.py": "a column of a table for readers; nothing is asserted",
    "fuzz/__main__.py": "runs for as many minutes as it is told to",
}
"""Files that read a wall clock, and why that is no statement about time."""


def sources() -> list[Path]:
    return [path for path in sorted(TESTS.rglob("*.py")) if "build" not in path.parts]


def place(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


def wall_clocks(tree: ast.AST) -> Iterator[int]:
    """Lines that read a wall clock: `time.perf_counter`, or the name imported from `time`."""
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "time"
        for alias in node.names
        if alias.name in CLOCKS
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in CLOCKS and isinstance(node.value, ast.Name):
            if node.value.id == "time":
                yield node.lineno
        elif isinstance(node, ast.Name) and node.id in imported:
            yield node.lineno


def short_timeouts(tree: ast.AST) -> Iterator[int]:
    """Lines that give a call fewer seconds than a busy machine may need."""
    for node in ast.walk(tree):
        for word in node.keywords if isinstance(node, ast.Call) else ():
            seconds = word.value.value if isinstance(word.value, ast.Constant) else None
            if word.arg == "timeout" and isinstance(seconds, int | float) and seconds < SHORTEST_TIMEOUT:
                yield node.lineno


@pytest.mark.parametrize("find", [wall_clocks, short_timeouts], ids=lambda find: find.__name__)
def test_no_test_looks_at_the_wall_clock(find) -> None:
    found = [
        f"{place(path)}:{line}"
        for path in sources()
        if place(path) not in REASONS
        for line in find(ast.parse(path.read_text()))
    ]
    assert found == [], (
        "use time.process_time, a count, or a ratio; or add the file to REASONS with the reason"
    )


@pytest.mark.parametrize("name", REASONS)
def test_every_exception_is_still_one(name: str) -> None:
    assert list(wall_clocks(ast.parse((TESTS / name).read_text())))


@pytest.mark.parametrize(
    "code",
    [
        "import time\nassert time.perf_counter() - start < 1",
        "import time\nbegan = time.monotonic()",
        "from time import perf_counter as clock\nclock()",
        "from time import time\ntime()",
    ],
)
def test_the_scan_finds_clocks(code: str) -> None:
    assert list(wall_clocks(ast.parse(code)))


def test_the_scan_leaves_processor_time_alone() -> None:
    assert not list(wall_clocks(ast.parse("import time\nassert time.process_time() - start < 1")))
    assert list(short_timeouts(ast.parse("run(x, timeout=2)"))) == [1]
    assert not list(short_timeouts(ast.parse("run(x, timeout=120)")))

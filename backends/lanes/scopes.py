"""Run-time loops and branches as they stand in a stage: `with` blocks, and `for` over walks.

Their bodies run once, while the stage is built; so leaving one by `break`, `return` or an exception that somebody
catches does nothing in the kernel, and what comes next would be recorded in the wrong place. An exception and a walk
that is not walked to its end are noticed as they happen: the trace is spoiled, and the next thing that the stage does
with it raises. A `break` or `return` out of a `with` block looks to Python like its end, so the function's source is
looked at, once; that of dovetail's own stages is looked at by a test instead.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from dovetail.backends.lanes.values import LaneError

if TYPE_CHECKING:
    from dovetail.backends.lanes.kernel import Kernel

T = TypeVar("T")
P = ParamSpec("P")

BLOCKS = ("loop", "when", "otherwise", "worlds")
"""Methods of `Kernel` that begin a run-time block."""

EACH = "each_"
"""Begins the names of walks."""

EARLY = "left a run-time loop or branch by break, return or an exception; use k.leave_when(condition)"

_BACKENDS = Path(__file__).parents[1]

OWN = (str(_BACKENDS), str(_BACKENDS.with_name("plugins")))
"""Where dovetail's own stages are, which a test looks at."""


class Scope(Generic[T]):
    """A run-time block: what stands in `with` is its body."""

    def __init__(self, kernel: Kernel, begin: Callable[[], tuple[T, Callable[[], None]]]) -> None:
        self._kernel = kernel
        self._begin = begin
        self._end: Callable[[], None] | None = None

    def __enter__(self) -> T:
        check_source(sys._getframe(1).f_code, self._kernel.stage)
        value, self._end = self._begin()
        return value

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._end is not None
        if kind is None:
            self._end()
        else:
            spoil(self._kernel)


def spoil(kernel: Kernel) -> None:
    """A block was left from its middle."""
    kernel.trace.spoil(f"{kernel.stage}: {EARLY}")


def walk(function: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
    """A generator that yields inside run-time blocks, for use in `for`: who does not walk it to its end spoils the
    trace. Its first argument is the kernel, or has it as `k`; its name begins with `each_`, so that one sees what
    it is."""
    if not function.__name__.lstrip("_").startswith(EACH):
        raise LaneError(f"{function.__name__}: the name of a walk begins with {EACH!r}")

    @functools.wraps(function)
    def walked(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        owner: Any = args[0]
        kernel: Kernel = getattr(owner, "k", owner)
        try:
            yield from function(*args, **kwargs)
        except GeneratorExit:
            spoil(kernel)
            raise

    return walked


# ---- the source of stages


def check_source(code: CodeType, stage: str) -> None:
    """Refuse a function of somebody else's that leaves a run-time block by `break`, `continue` or `return`."""
    if not code.co_filename.startswith(OWN):
        line = _first_exit(code)
        if line is not None:
            raise LaneError(f"{stage}: {code.co_filename}:{line}: {EARLY}")


@functools.cache
def _first_exit(code: CodeType) -> int | None:
    """The line of a function that leaves a run-time block; None if there is none, or no source."""
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError):
        return None
    found = next(early_exits(tree), None)
    return None if found is None else found + max(first, 1) - 1


def early_exits(tree: ast.AST) -> Iterator[int]:
    """Lines with a `return`, `break` or `continue` that leaves a run-time block."""
    for node in ast.walk(tree):
        if _is_block(node) or is_walked(node):
            assert isinstance(node, (ast.With, ast.For))
            yield from _exits(node.body, in_loop=False)


def _is_block(node: ast.AST) -> bool:
    """Whether it is `with k.loop(…)`, or another run-time block."""
    return isinstance(node, ast.With) and any(
        isinstance(item.context_expr, ast.Call)
        and isinstance(item.context_expr.func, ast.Attribute)
        and item.context_expr.func.attr in BLOCKS
        for item in node.items
    )


def is_walked(node: ast.AST) -> bool:
    """Whether it is `for … in x.each_…(…)`."""
    return isinstance(node, ast.For) and called_name(node.iter).lstrip("_").startswith(EACH)


def called_name(node: ast.AST) -> str:
    """The name of the function that an expression calls; empty if it is no call."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _exits(body: list[ast.stmt], *, in_loop: bool) -> Iterator[int]:
    """Lines of statements that leave the block; `in_loop`: inside a Python loop that stands within it."""
    for statement in body:
        if isinstance(statement, ast.Return):
            yield statement.lineno
        elif isinstance(statement, ast.Break | ast.Continue):
            if not in_loop:
                yield statement.lineno
        elif not isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            inner = in_loop or isinstance(statement, ast.For | ast.While)
            for part in ("body", "orelse", "finalbody"):
                yield from _exits(getattr(statement, part, []), in_loop=inner)
            for handler in getattr(statement, "handlers", []):
                yield from _exits(handler.body, in_loop=inner)

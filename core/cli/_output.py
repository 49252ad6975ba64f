"""Printing: JSON, tables, trees and progress. Rich is imported when something is shown."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 160
"""Columns when stdout is not a terminal: wide enough that nothing is cut in a pipe or a log."""
NARROWEST = 40
"""Columns below which nothing is made to fit."""


def emit(report: Any) -> None:
    """Print a report as JSON."""
    click.echo(json.dumps(plain(report), indent=2, ensure_ascii=False))


def plain(value: Any) -> Any:
    """A value as JSON knows it: numbers, strings, lists and objects; NaN and infinity become null."""
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if hasattr(type(value), "__attrs_attrs__"):
        return {a.name: plain(getattr(value, a.name)) for a in type(value).__attrs_attrs__}
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def width() -> int | None:
    """Columns that lines may have: those of the terminal, or what the variable COLUMNS says; None if nothing does."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return max(NARROWEST, int(said))
    if not sys.stdout.isatty():
        return None
    return max(NARROWEST, shutil.get_terminal_size().columns)


def in_colour() -> bool:
    """Whether stdout is a terminal on which colour is welcome (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text: str, **style: Any) -> str:
    """A text in colour or bold, where that is welcome."""
    return click.style(text, **style) if style and in_colour() else text


def ascii_only() -> bool:
    """Whether stdout knows no other letters than those of ASCII."""
    return not (sys.stdout.encoding or "").lower().startswith("utf")


def console(*, stderr: bool = False) -> Console:
    """A Rich console; without a terminal it uses no colour and plenty of width."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(
        file=stream,
        highlight=False,
        markup=False,
        no_color=None if stream.isatty() else True,
        width=None if stderr and stream.isatty() else width() or PLAIN_WIDTH,
    )


def say(text: str = "", *, hanging: int = 2, **style: Any) -> None:
    """Lines on stdout, in a style where that is welcome. What is longer than the terminal is wide is wrapped at its
    spaces, `hanging` columns further in; in a pipe a line stays a line."""
    room = width()
    for line in text.splitlines() or [""]:
        for part in [line] if room is None else _hung(line, room, hanging):
            click.echo(styled(part, **style))


def _hung(line: str, room: int, hanging: int) -> list[str]:
    from dovetail.text_tables import wrapped

    if len(line) <= room:
        return [line]
    margin = line[: len(line) - len(line.lstrip())]
    first, *rest = wrapped(line.strip(), room - len(margin))
    further = margin + " " * hanging
    return [margin + first, *(further + part for part in wrapped(" ".join(rest), room - len(further)))]


def title(text: str) -> None:
    """A heading on stdout, with space before it."""
    say()
    say(text, bold=True)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numeric: Sequence[str] = (),
    optional: Sequence[str] = (),
    below: str = "",
) -> None:
    """Print rows under headings; columns named in `numeric` stand to the right, empty ones are left out. Where the
    terminal is too narrow the column `below` stands below the others, and those of `optional` are left out."""
    from dovetail.text_tables import table_lines

    heading, body = table_lines(
        columns,
        rows,
        numeric=numeric,
        optional=optional,
        below=below,
        width=width() or PLAIN_WIDTH,
        rule="-" if ascii_only() else "─",
    )
    for line in heading:
        click.echo(styled(line, bold=True))
    for line in body:
        click.echo(line)


def pairs(entries: Mapping[str, object]) -> None:
    """Print labels with their values, aligned; long values are wrapped on a terminal."""
    from dovetail.text_tables import wrapped

    label_width = max(map(len, entries), default=0)
    room = width()
    for label, value in entries.items():
        text = str(value)
        lines = (text.splitlines() or [""]) if room is None else wrapped(text, room - label_width - 4)
        click.echo(f"  {label:<{label_width}}  {lines[0]}".rstrip())
        for line in lines[1:]:
            click.echo(f"  {'':<{label_width}}  {line}")


def quantity(value: float, unit: str = "") -> str:
    """A number of readable length with its unit."""
    if value == 0 or not math.isfinite(value):
        text = f"{value:g}"
    elif 1e-3 <= abs(value) < 1e7:
        text = f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
    else:
        text = f"{value:.3e}"
    return f"{text} {unit}".rstrip()


def size(count: float) -> str:
    """Bytes in readable units."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


class Progress:
    """A bar on stderr with steps and steps per second; silent when stderr is no terminal or JSON is wanted."""

    def __init__(self, total: int, *, show: bool) -> None:
        self._total, self._show = total, show and sys.stderr.isatty()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if self._show:
            self._bar = _bar()
            self._task = self._bar.add_task("steps", total=self._total, rate="")
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, done: int, seconds: float) -> None:
        if self._bar is not None and seconds > 0:
            self._bar.update(self._task, completed=done, rate=f"{quantity(done / seconds)} steps/s")


def _bar() -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    return RichProgress(*columns, console=console(stderr=True), transient=True)


@contextmanager
def waiting(text: str, *, show: bool) -> Iterator[None]:
    """Tell on stderr that something takes a while; on a terminal with the time elapsed."""
    if not show:
        yield
    elif sys.stderr.isatty():
        from rich.progress import Progress as RichProgress
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with RichProgress(*columns, console=console(stderr=True), transient=True) as bar:
            bar.add_task(text)
            yield
    else:
        click.echo(text, err=True)
        yield

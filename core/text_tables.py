"""Tables as lines of text that fit a width: columns shrink at their spaces, and what has no room beside goes below.

No word is cut, so that names can be read, copied and searched for; only where all else does not help a row of a
stage is broken behind its colon. A word that is longer than the whole line is the only thing that makes a line too
long; the terminal breaks it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

import attrs

GAP = 2
"""Blanks between two columns."""
INDENT = 4
"""Of what stands below its row."""
LEAST, MOST, SHARE = 14, 32, 4
"""Columns that running text needs beside others, or else it goes below: a share of its length between two bounds."""


@attrs.define
class _Column:
    heading: str
    cells: list[str]
    right: bool
    tight: bool = False
    """Whether words may be broken behind a colon."""

    @property
    def wide(self) -> int:
        """Columns for it as it is."""
        return max(map(_width, [self.heading, *self.cells]))

    @property
    def narrow(self) -> int:
        """Columns that it needs when it is wrapped: those of its longest word, of running text some more."""
        if self.right:
            return max(map(_width, [*self.heading.split(), *self.cells]), default=0)
        words = [word for text in [self.heading, *self.cells] for word in self.words(text)]
        comfort = max(LEAST, min(MOST, self.text // SHARE))
        return max([min(comfort, self.text), *map(_width, words)])

    def words(self, text: str) -> list[str]:
        """What is not broken."""
        return (text.replace(":", ": ") if self.tight else text).split()

    def broken(self, text: str, width: int) -> str:
        """The text with a space where a word that is too long may be broken."""
        return " ".join(
            word.replace(":", ": ") if self.tight and _width(word) > width else word
            for word in text.split(" ")
        )

    @property
    def text(self) -> int:
        """The length of its longest cell."""
        return max(map(_width, self.cells), default=0)

    @property
    def is_prose(self) -> bool:
        """Whether it has something to wrap."""
        return not self.right and any(" " in cell for cell in self.cells)


def table_lines(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numeric: Sequence[str] = (),
    optional: Sequence[str] = (),
    below: str = "",
    width: int,
    rule: str = "─",
) -> tuple[list[str], list[str]]:
    """The lines of the heading, and those of the rows. Columns of `numeric` stand to the right; a column without
    anything in it is left out. Where there is no room for all, that named `below` goes below the others; then those
    of `optional` are left out, and then more go below."""
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    found = [
        _Column(name, [row[i] for row in texts], name in numeric)
        for i, name in enumerate(columns)
        if any(row[i] for row in texts)
    ]
    if not found:
        return [], []
    beside, beneath = _placed(found, optional, below, width)
    widths = _shared_out(beside, width)
    heading = _row(beside, widths, [c.heading for c in beside], bottom=True)
    for column in beneath:
        heading += _beneath(column.heading, width)
    heading.append(rule * min(width, max([_total(widths), *map(_width, heading)])))
    body: list[str] = []
    for number in range(len(texts)):
        body += _row(beside, widths, [c.cells[number] for c in beside])
        for column in beneath:
            label = f"{column.heading}: " if len(beneath) > 1 and column.heading else ""
            if column.cells[number]:
                body += _beneath(label + column.cells[number], width)
    return heading, body


def _fit(columns: list[_Column], width: int) -> bool:
    """Whether they have room beside each other, made as narrow as may be."""
    return len(columns) < 2 or _total([min(c.narrow, c.wide) for c in columns]) <= width


def _placed(
    columns: list[_Column], optional: Sequence[str], first: str, width: int
) -> tuple[list[_Column], list[_Column]]:
    """Columns that stand beside each other, and those that have no room there and go below: the named one first,
    then the longest texts."""
    beside, below = list(columns), []
    if not _fit(beside, width):
        below = [c for c in beside if c.heading == first]
        beside = [c for c in beside if c.heading != first]
    for column in reversed(columns):
        if column.heading in optional and not _fit(beside, width):
            beside.remove(column)
    while not _fit(beside, width):
        candidates = [c for c in beside[1:] if c.is_prose]
        if not candidates and not beside[0].tight:
            beside[0].tight = True
            continue
        moved = max(candidates or beside[-1:], key=lambda c: c.text)
        beside.remove(moved)
        below.append(moved)
    return beside, sorted(below, key=columns.index)


def _shared_out(columns: list[_Column], width: int) -> list[int]:
    """The width of each column: as it is if all fit, else long headings and then the widest are made narrower."""
    widths = [c.wide for c in columns]
    least = [min(c.narrow, c.wide) for c in columns]
    while _total(widths) > width:
        room = [(w > columns[i].text, w, i) for i, w in enumerate(widths) if w > least[i]]
        if not room:
            break
        widths[max(room)[-1]] -= 1
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * max(0, len(widths) - 1)


def _row(
    columns: list[_Column], widths: Sequence[int], cells: Sequence[str], *, bottom: bool = False
) -> list[str]:
    """One row: as many lines as its tallest cell; a heading stands on the rule."""
    stacks = [
        wrapped(c.broken(cell, width), width) for c, cell, width in zip(columns, cells, widths, strict=True)
    ]
    height = max(map(len, stacks), default=0)
    stacks = [[""] * (height - len(s)) + s if bottom else s + [""] * (height - len(s)) for s in stacks]
    return [
        (" " * GAP)
        .join(_aligned(s[i], w, c.right) for s, w, c in zip(stacks, widths, columns, strict=True))
        .rstrip()
        for i in range(height)
    ]


def _beneath(text: str, width: int) -> list[str]:
    return [" " * INDENT + line for line in wrapped(text, max(LEAST, width - INDENT))]


def _aligned(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if right else text + blanks


def wrapped(text: str, width: int) -> list[str]:
    """A text as lines of at most a width; longer words are left whole."""
    wrap = textwrap.TextWrapper(max(1, width), break_on_hyphens=False, break_long_words=False)
    return [line for part in text.splitlines() or [""] for line in (wrap.wrap(part) or [""])]


def _width(text: str) -> int:
    """Columns of a terminal that a text takes: an accent takes none, a wide letter two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)

"""From elements to text: values as their kinds in the schema are written, and documents with their indentation.

Numbers are written so that reading gives the same bits: the shortest decimal number that does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from dovetail.mjcf.read.kinds import (
    AttributeKind,
    Float,
    FloatList,
    Floats,
    Int,
    IntList,
    Ints,
    Keyword,
    Keywords,
    MemorySize,
)
from dovetail.mjcf.read.source import Node


def number(value: float, single: bool = False) -> str:
    """A real number in as few digits as bring it back."""
    text = str(np.float32(value)) if single else repr(float(value))
    return text.removesuffix(".0")


def numbers(values: Iterable[float], single: bool = False) -> str:
    """Real numbers, separated by spaces."""
    if single:
        return " ".join(str(value).removesuffix(".0") for value in np.asarray(values, np.float32).reshape(-1))
    return " ".join(
        repr(value).removesuffix(".0") for value in np.asarray(values, np.float64).reshape(-1).tolist()
    )


def written(kind: AttributeKind, value: Any) -> str:
    """The text of a value, as an attribute of this kind."""
    if isinstance(kind, Keyword):
        return _word(kind, value)
    if isinstance(kind, Float):
        return number(value, kind.single)
    if isinstance(kind, Floats | FloatList):
        return numbers(value, kind.single)
    if isinstance(kind, Int | MemorySize):
        return str(int(value))
    if isinstance(kind, Ints | IntList):
        return " ".join(str(int(item)) for item in np.asarray(value).reshape(-1))
    if isinstance(kind, Keywords):
        return " ".join(value)
    return str(value)


def _word(kind: Keyword, value: Any) -> str:
    for word, meaning in kind.choices.items():
        if meaning == value:
            return word
    raise ValueError(f"{value!r} has no word here; there are: {', '.join(kind.choices)}")


def printed(root: Node) -> str:
    """A document as text: two spaces a level, an empty line between sections."""
    lines: list[str] = []
    stack: list[tuple[Node | None, str, int]] = [(root, "", 0)]
    while stack:
        node, closing, depth = stack.pop()
        indent = "  " * depth
        if node is None:
            lines.append(f"{indent}</{closing}>")
            continue
        if depth == 1 and len(lines) > 1:
            lines.append("")
        attributes = "".join(f' {name}="{_escaped(text)}"' for name, text in node.raw.items())
        lines.append(f"{indent}<{node.tag}{attributes}{'' if node.children else '/'}>")
        if node.children:
            stack.append((None, node.tag, depth))
            stack.extend((child, "", depth + 1) for child in reversed(node.children))
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return escape(text, {'"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})

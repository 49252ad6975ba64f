"""Reading XML by the rules of the parser in MuJoCo (TinyXML2), which forgives more than the standard allows.

Attributes need no white space between them, `<` and `&` may stand unescaped in a value, unknown references stay
as they are, control characters pass, what follows the first element does not matter as long as it can be read.
It is stricter in three ways: declarations (`<?…?>`) come first or not at all, namespaces mean nothing, and
elements may be 498 deep. Only the five references of XML and those by number are replaced; nothing is ever
fetched or expanded. One pass from left to right, without recursion.
"""

from __future__ import annotations

import re

import attrs

_SPACE = r"[ \t\n\v\f\r]"
_NAME = r"[A-Za-z_:\u0080-\U0010ffff][A-Za-z0-9_:.\-\u0080-\U0010ffff]*+"
_SPACES = re.compile(rf"{_SPACE}*+")
_TAG = re.compile(rf"<{_SPACE}*+(/?)({_NAME})")
_ATTRIBUTE = re.compile(rf"{_SPACE}*+({_NAME}){_SPACE}*+={_SPACE}*+(?:\"([^\"]*+)\"|'([^']*+)')")
_END = re.compile(rf"{_SPACE}*+(/?>)")
_REFERENCE = re.compile(r"&(?:#x([0-9a-fA-F]*+)|#([0-9]*+)|(quot|amp|apos|lt|gt));")
_NEWLINES = re.compile(r"\r\n|\n\r|\r")
_CHARACTERS = {"quot": '"', "amp": "&", "apos": "'", "lt": "<", "gt": ">"}
_LARGEST_CODE = 0x10FFFF
_LONGEST_CODE = 12
"""Digits of a reference by number that are worth converting; more than that is no character anyway."""
_ASIDE = {
    "<?": ("?>", "declaration"),
    "<!--": ("-->", "comment"),
    "<![CDATA[": ("]]>", "CDATA section"),
    "<!": (">", "declaration"),
}
"""What is not an element: how it starts, how it ends, what it is called. Longer starts are looked for first."""
_STARTS = sorted(_ASIDE, key=len, reverse=True)

MAX_OPEN = 498
"""How many elements may be open at once."""


class XMLTextError(ValueError):
    """The text cannot be read; `line` is where."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@attrs.define(eq=False)
class XMLElement:
    """One element as it is written."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[XMLElement] = attrs.field(factory=list)


@attrs.define
class _Reader:
    text: str
    position: int = 0
    line: int = 1
    counted: int = 0
    """Up to where the lines are counted."""
    declarations_only: bool = True
    """Whether nothing but declarations has come so far."""

    def error(self, message: str) -> XMLTextError:
        self.count_lines()
        return XMLTextError(message, self.line)

    def count_lines(self) -> int:
        """The line of the current position."""
        self.line += self.text.count("\n", self.counted, self.position)
        self.counted = max(self.counted, self.position)
        return self.line

    def to_next_tag(self, depth: int) -> bool:
        """Go on to the next `<` of a tag, past text, comments and the like; whether there is one."""
        while True:
            start = self.position = self._matched(_SPACES)
            if start == len(self.text):
                return False
            if self.text[start] != "<":
                self._skip_text()
                continue
            aside = next((s for s in _STARTS if self.text.startswith(s, start)), None)
            if aside is None:
                return True
            self._skip_aside(aside, depth)

    def _matched(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self.text, self.position)
        return found.end() if found else self.position

    def _skip_text(self) -> None:
        self.declarations_only = False
        end = self.text.find("<", self.position)
        if end < 0:
            raise self.error("there is text after the last tag")
        self.position = end

    def _skip_aside(self, start: str, depth: int) -> None:
        end, what = _ASIDE[start]
        if start != "<?":
            self.declarations_only = False
        elif depth or not self.declarations_only:
            raise self.error("a declaration <?…?> comes after something else; put it first or remove it")
        found = self.text.find(end, self.position + len(start))
        if found < 0:
            raise self.error(f"a {what} has no end {end}")
        self.position = found + len(end)

    def tag(self) -> tuple[XMLElement, bool, bool]:
        """The tag at the current position, whether it is an end tag, and whether it ends with `/>`."""
        self.declarations_only = False
        found = _TAG.match(self.text, self.position)
        if not found:
            raise self.error("a tag has no name")
        closing, element = bool(found[1]), XMLElement(found[2], {}, self.count_lines())
        self.position = found.end()
        while found := _ATTRIBUTE.match(self.text, self.position):
            self._add(element, found)
        end = _END.match(self.text, self.position)
        if not end:
            raise self.error(f"<{element.tag[:60]}> has no end, or an attribute without value in quotes")
        self.position = end.end()
        return element, closing, end[1] == "/>"

    def _add(self, element: XMLElement, found: re.Match[str]) -> None:
        name, value = found[1], found[2] if found[3] is None else found[3]
        if name in element.attributes:
            raise self.error(f"<{element.tag[:60]}> has the attribute {name[:60]!r} twice")
        element.attributes[name] = plain(value)
        self.position = found.end()


def parse(text: str) -> XMLElement:
    """The first element of a document, with everything in it; XMLTextError if the document cannot be read."""
    reader = _Reader(text.partition("\0")[0])
    first: XMLElement | None = None
    path: list[XMLElement] = []
    while reader.to_next_tag(len(path)):
        element, closing, complete = reader.tag()
        if closing and not path:
            break  # an end tag too many ends the document
        if closing and not complete and element.tag == path[-1].tag:
            path.pop()
            continue
        if closing:
            raise reader.error(f"</{element.tag[:60]}> where </{path[-1].tag[:60]}> is due")
        if path:
            path[-1].children.append(element)
        first = first or element
        if not complete:
            path.append(element)
        if len(path) > MAX_OPEN:
            raise reader.error(f"elements are nested more than {MAX_OPEN} deep")
    if path:
        raise reader.error(f"<{path[-1].tag[:60]}> of line {path[-1].line} is never closed")
    if first is None:
        raise reader.error("there is no element")
    return first


def plain(value: str) -> str:
    """An attribute's value as it is meant: line ends as `\\n`, references replaced, nothing after a zero."""
    if "\r" in value:
        value = _NEWLINES.sub("\n", value)
    if "&" in value:
        value = _REFERENCE.sub(_character, value).partition("\0")[0]
    return value


def _character(found: re.Match[str]) -> str:
    """The character that a reference stands for; the reference itself if there is none."""
    if found[3]:
        return _CHARACTERS[found[3]]
    hexadecimal = found[1] is not None
    digits = (found[1] if hexadecimal else found[2]).lstrip("0")
    code = int(digits or "0", 16 if hexadecimal else 10) if len(digits) <= _LONGEST_CODE else -1
    return chr(code) if 0 <= code <= _LARGEST_CODE else found[0]

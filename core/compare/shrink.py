"""Making an XML tree small while something about it stays true: subtrees go, then attributes, then digits.

`Shrinking(root, holds).run()` tries changes one after another and keeps those after which `holds` still says yes.
Nothing here knows MJCF but the attributes by which elements name and refer to each other.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

Holds = Callable[[Any], bool]
"""Whether a tree still shows what is looked for."""

DIGITS = (1, 2, 4)
"""How many digits numbers are rounded to, the fewest first."""
DEFINES = ("name", "class", "childclass")
"""Attributes that name their element or a default class, and so refer to no object."""


def parsed(text: bytes) -> Any:
    """The root of a document; comments and white space between elements are dropped."""
    from lxml import etree

    parser = etree.XMLParser(
        remove_blank_text=True, remove_comments=True, remove_pis=True, resolve_entities=False, huge_tree=True
    )
    return etree.fromstring(text, parser)


def written(root: Any) -> bytes:
    """A tree as text."""
    from lxml import etree

    return bytes(etree.tostring(root, pretty_print=True))


@attrs.define
class Shrinking:
    """A search for a smaller tree. It ends when nothing more can go, or when `may_go_on` says so."""

    root: Any
    holds: Holds
    may_go_on: Callable[[], bool] = lambda: True
    trials: int = 0
    _tried: set[bytes] = attrs.field(factory=set)

    def run(self) -> Any:
        """The smallest tree that was found."""
        while self._round() and self.may_go_on():
            pass
        return self.root

    def _round(self) -> bool:
        """All kinds of change once; whether one of them helped."""
        before = written(self.root)
        for change in (self.fewer_elements, self.fewer_attributes, self.shorter_numbers):
            change()
        return written(self.root) != before

    def keeps(self, smaller: Any) -> bool:
        """Try a tree, and take it over if it still holds."""
        text = written(smaller)
        if text in self._tried or not self.may_go_on():
            return False
        self._tried.add(text)
        self.trials += 1
        if not self.holds(smaller):
            return False
        self.root = smaller
        return True

    # ---- elements

    def fewer_elements(self) -> None:
        """Groups of siblings, halves first, from the top of the tree down; then elements that give way to their
        children."""
        at = 0
        while self.may_go_on():
            parents = [e for e in self.root.iter() if len(e)]
            if at >= len(parents):
                break
            self._thin_out(parents[at])
            at += 1
        self._open()

    def _thin_out(self, parent: Any) -> None:
        """Remove as many children of an element as can go."""
        number = _number(self.root, parent)
        size = len(parent)
        while size >= 1 and self.may_go_on():
            at = 0
            while at < len(_at(self.root, number)):
                if not any(
                    self.keeps(smaller) for smaller in without_children(self.root, number, at, at + size)
                ):
                    at += size
            size //= 2

    def _open(self) -> None:
        """Put the children of an element in its place, where it has some of its own kind."""
        at = 0
        while self.may_go_on():
            nested = [e for e in self.root.iter() if any(c.tag == e.tag for c in e)]
            if at >= len(nested):
                return
            if not self.keeps(_opened(self.root, nested[at])):
                at += 1

    # ---- attributes

    def fewer_attributes(self) -> None:
        for number, element in enumerate(list(self.root.iter())):
            for name in list(element.attrib):
                smaller = copy.deepcopy(self.root)
                del _at(smaller, number).attrib[name]
                self.keeps(smaller)

    def shorter_numbers(self) -> None:
        for number, element in enumerate(list(self.root.iter())):
            for name, text in element.attrib.items():
                for digits in DIGITS:
                    shorter = rounded(text, digits)
                    if len(shorter) >= len(text):
                        break
                    smaller = copy.deepcopy(self.root)
                    _at(smaller, number).set(name, shorter)
                    if self.keeps(smaller):
                        break


def _number(root: Any, element: Any) -> int:
    return next(n for n, e in enumerate(root.iter()) if e is element)


def _at(root: Any, number: int) -> Any:
    return next(e for n, e in enumerate(root.iter()) if n == number)


def without_children(root: Any, number: int, start: int, end: int) -> Iterator[Any]:
    """The tree without some children of an element: with all that refers to them, and then with that left."""
    for along in (True, False):
        smaller = copy.deepcopy(root)
        parent = _at(smaller, number)
        gone = list(parent)[start:end]
        for child in gone:
            parent.remove(child)
        if not along:
            yield smaller
            return
        found = referring(smaller, _names(gone))
        for element in found:
            if element.getparent() is not None:
                element.getparent().remove(element)
        yield smaller
        if not found:
            return


def _names(elements: Sequence[Any]) -> set[str]:
    """What elements and all in them are called."""
    found = (e.get("name") for element in elements for e in element.iter())
    return {name for name in found if name}


def referring(root: Any, names: set[str]) -> list[Any]:
    """Elements with an attribute that is one of the names."""
    return [
        e for e in root.iter() if any(value in names for key, value in e.attrib.items() if key not in DEFINES)
    ]


def _opened(root: Any, element: Any) -> Any:
    number = _number(root, element)
    opened = copy.deepcopy(root)
    around = _at(opened, number)
    own = [child for child in around if child.tag == around.tag]
    names = _names([e for e in around if e.tag != around.tag]) | {around.get("name") or ""}
    for child in own:
        around.addprevious(child)
    around.getparent().remove(around)
    for e in referring(opened, names - {""}):
        if e.getparent() is not None:
            e.getparent().remove(e)
    return opened


def rounded(text: str, digits: int) -> str:
    """Numbers of a text with so many digits; other text as it is."""
    try:
        return " ".join(f"{float(word):.{digits}g}" for word in text.split())
    except ValueError:
        return text

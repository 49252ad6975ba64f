"""Making a failing document small: elements, then attributes go as long as the failure stays the same."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import attrs
from lxml import etree

from .documents import MAIN, Document, parsed, written

Fails = Callable[[Document], bool]


def minimised(document: Document, fails: Fails, budget: int = 150) -> Document:
    """A smaller document that still fails; at most `budget` trials. Text that is no XML is cut by lines."""
    search = _Search(document, fails, budget)
    if not search.made_smaller(MAIN):  # no XML, or white space or a comment matters
        return _by_lines(document, fails, budget)
    for name in sorted(document.files):
        if name.endswith(".xml"):
            search.made_smaller(name)
    return attrs.evolve(search.document, files=_needed(search.document))


@attrs.define
class _Search:
    document: Document
    fails: Fails
    left: int
    name: str = MAIN

    def made_smaller(self, name: str) -> bool:
        """Take away what can go of one file; False if that cannot even be written anew."""
        self.name = name
        try:
            root = parsed(self.document.text if name == MAIN else self.document.files[name])
        except etree.XMLSyntaxError:
            return False
        if not self.still(root):
            return False
        for step in (self.without_elements, self.without_attributes):
            root = step(root)
        self.document = self._with(root)
        return True

    def _with(self, root: Any) -> Document:
        if self.name == MAIN:
            return attrs.evolve(self.document, text=written(root))
        return attrs.evolve(self.document, files={**self.document.files, self.name: written(root)})

    def still(self, root: Any) -> bool:
        self.left -= 1
        return self.left >= 0 and self.fails(self._with(root))

    def without_elements(self, root: Any) -> Any:
        """Whole subtrees, the largest ones first; what has children may also give its place to them."""
        at = 0
        while self.left > 0:
            order = sorted((e for e in root.iter() if e is not root), key=lambda e: -sum(1 for _ in e.iter()))
            if at >= len(order):
                return root
            for smaller in _shrunk(root, order[at]):
                if self.still(smaller):
                    root = smaller
                    break
            else:
                at += 1
        return root

    def without_attributes(self, root: Any) -> Any:
        for number, element in enumerate(list(root.iter())):
            for name in list(element.attrib):
                smaller = copy.deepcopy(root)
                del list(smaller.iter())[number].attrib[name]
                if self.left > 0 and self.still(smaller):
                    root = smaller
        return root


def _shrunk(root: Any, element: Any) -> Iterator[Any]:
    number = list(root.iter()).index(element)
    smaller = copy.deepcopy(root)
    gone = list(smaller.iter())[number]
    gone.getparent().remove(gone)
    yield smaller
    if len(element) and element.getparent() is not None and element.getparent() is not root:
        opened = copy.deepcopy(root)
        around = list(opened.iter())[number]
        for child in list(around):
            around.addprevious(child)
        around.getparent().remove(around)
        yield opened


def _needed(document: Document) -> dict[str, bytes]:
    """Files whose names occur in the model or in one that it attaches."""
    texts = [document.text, *(c for name, c in document.files.items() if name.endswith(".xml"))]
    named = b"\n".join(texts)
    return {path: c for path, c in document.files.items() if path.rpartition("/")[2].encode() in named}


def _by_lines(document: Document, fails: Fails, budget: int) -> Document:
    lines = document.text.splitlines(keepends=True)
    size = max(1, len(lines) // 2)
    while size >= 1 and budget > 0:
        at = 0
        while at < len(lines) and budget > 0:
            fewer = lines[:at] + lines[at + size :]
            budget -= 1
            if fails(attrs.evolve(document, text=b"".join(fewer))):
                lines = fewer
            else:
                at += size
        size = size // 2 if size > 1 else 0
    return attrs.evolve(document, text=b"".join(lines))

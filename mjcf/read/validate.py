"""Checking a document against the schema: names, multiplicity, required attributes, kinds of values.

Afterwards every element's `values` holds its parsed attributes. What is valid MJCF but not supported yet is
refused here, except inside `<default>`, where it may stand as long as no element uses it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from dovetail.errors import MJCFError, listing, nearest
from dovetail.mjcf.read.kinds import (
    BadValueError,
    Float,
    FloatList,
    Floats,
    IntList,
    Ints,
    TruncatedInts,
    shorten,
)
from dovetail.mjcf.read.schema import MUJOCO, Element
from dovetail.mjcf.read.source import Node
from dovetail.warned import warn


def validate(root: Node, custom: frozenset[str] = frozenset()) -> None:
    """Check the whole document and parse every attribute; the first problem is raised.

    `custom` are tags under the root that third parties read; their content is theirs to check.
    """
    for problem in problems(root, custom):
        raise problem


def problems(root: Node, custom: frozenset[str] = frozenset()) -> Iterator[MJCFError]:
    """Everything in the document that the schema does not allow, in the order of the file."""
    if root.tag != MUJOCO.tag:
        yield root.error(f"is not an MJCF model; the root element must be <{MUJOCO.tag}>")
        return
    yield from _stray_problems(root, custom)
    stack = [(root, MUJOCO, False, False)]
    while stack:
        node, element, in_default, loose = stack.pop()
        in_default = in_default or element.tag == "default"
        loose = loose or element.tag in _LOOSE
        node.schema = element
        if loose:
            _ignore_unknown(node, element)
        yield from _attribute_problems(node, element, in_default)
        if not loose:
            yield from _multiplicity_problems(node, element)
        below = []
        for child in node.children:
            if node is root and child.tag in custom:
                continue
            row = element.children.get(child.tag)
            if row is None or row.later:
                yield _not_a_child(node, element, child)
            else:
                below.append((child, row, in_default, loose))
        stack.extend(reversed(below))


_LOOSE = ("frame", "replicate")
"""Like MuJoCo 3.4, check neither these nor what stands in them for attributes and elements that mean nothing."""
_TREE = ("body", *_LOOSE)
"""Elements in which nothing unknown may stand all the same."""


class IgnoredWarning(UserWarning):
    """Something in a `<frame>` or a `<replicate>`, or beside the sections, means nothing and is ignored."""


def _ignore_unknown(node: Node, element: Element) -> None:
    """Leave out attributes and elements that mean nothing, with a warning for each."""
    for name in [name for name in node.raw if name not in element.attributes]:
        hint = nearest(name, element.attributes)
        _warn_ignored(node, f"attribute {name!r} means nothing here and is ignored{hint}", name)
        del node.raw[name]
    if node.tag in _TREE:
        return
    for child in [child for child in node.children if child.tag not in element.children]:
        _warn_ignored(
            child, f"means nothing in <{node.tag}> and is ignored{nearest(child.tag, element.children)}"
        )
    node.children = [child for child in node.children if child.tag in element.children]


def _stray_problems(root: Node, custom: frozenset[str]) -> Iterator[MJCFError]:
    """Bodies and frames beside the sections: MuJoCo 3.4 checks only names in them and ignores them."""
    strays = [child for child in root.children if child.tag in _TREE and child.tag not in custom]
    left_out = set(map(id, strays))
    root.children = [child for child in root.children if id(child) not in left_out]
    body = MUJOCO.children["worldbody"].children["body"]
    stack = [(stray, body) for stray in reversed(strays)]
    while stack:
        node, element = stack.pop()
        yield from _unknown_attributes(node, element)
        yield from _multiplicity_problems(node, element)
        for child in reversed(node.children):
            if child.tag not in element.children:
                yield _not_a_child(node, element, child)
            elif child.tag not in _LOOSE:
                stack.append((child, element.children[child.tag]))
    for stray in strays:
        _warn_ignored(stray, "stands outside <worldbody> and is ignored; move it there")


def _unknown_attributes(node: Node, element: Element) -> Iterator[MJCFError]:
    for name in node.raw:
        if name not in element.attributes:
            hint, known = nearest(name, element.attributes), listing(element.attributes)
            yield node.error(f"unknown attribute {name!r}{hint}; <{node.tag}> has: {known}", name)


def _warn_ignored(node: Node, message: str, attribute: str | None = None) -> None:
    text = f"{node.file}:{node.line}: {node.describe(attribute)}: {message}"
    warn(text, IgnoredWarning, stacklevel=2)


def _not_a_child(parent: Node, element: Element, child: Node) -> MJCFError:
    if child.tag in element.children:
        return child.unsupported(f"<{child.tag}> in <{parent.tag}>")
    hint = nearest(child.tag, element.children)
    known = listing(element.children)
    return child.error(f"unknown element in <{parent.tag}>{hint}; known here: {known}")


def _attribute_problems(node: Node, element: Element, in_default: bool) -> Iterator[MJCFError]:
    yield from _unknown_attributes(node, element)
    for name, text in node.raw.items():
        kind = element.attributes.get(name)
        if kind is None:
            continue
        if name in element.later_attributes and not in_default:
            yield node.unsupported(f"attribute {name!r} of <{node.tag}>", name)
        if isinstance(kind, _EMPTY_IS_NOTHING) and not text.strip():
            continue  # as in MuJoCo, numbers that are left empty count as not given
        try:
            node.values[name] = kind.parse(text)
            if isinstance(kind, _REAL) and _NOT_FINITE.search(text):
                warn_at(node, f"attribute {name!r} is not finite: {shorten(text)!r}; is that meant?", name)
        except BadValueError as problem:
            yield node.error(f"attribute {name!r}: {problem}", name)
            node.values[name] = None
    if node.tag in _NAMED_BY_FILE and not in_default and node.values.get("file"):
        node.values["name"] = node.values.get("name") or _stem(node.values["file"])
    missing = element.required - set(node.values)
    if missing:
        yield node.error(f"required attribute {min(missing)!r} is missing; add it")


_REAL = (Float, Floats, FloatList, TruncatedInts)
_EMPTY_IS_NOTHING = (*_REAL, Ints, IntList)
_NOT_FINITE = re.compile("[nN]")
"""Infinite numbers and those that are none have this letter in every spelling; other numbers do not."""


class NotFiniteWarning(UserWarning):
    """An attribute has `nan` or `inf` where a number is expected; they are taken as they are."""


def warn_at(node: Node, message: str, attribute: str | None = None) -> None:
    """Warn of numbers that are not finite, with the place of the element."""
    text = f"{node.file}:{node.line}: {node.describe(attribute)}: {message}"
    warn(text, NotFiniteWarning, stacklevel=2)


_NAMED_BY_FILE = ("mesh", "hfield", "skin", "texture")
"""Assets that are called like their file if they have no name."""


def _stem(path: str) -> str:
    """File name without directory and suffix."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.rpartition(".")[0] if "." in name else name


def _multiplicity_problems(node: Node, element: Element) -> Iterator[MJCFError]:
    counts = Counter(child.tag for child in node.children)
    for tag, count in counts.items():
        row = element.children.get(tag)
        if row and row.multiplicity == "?" and count > 1:
            again = [child for child in node.children if child.tag == tag][1]
            yield again.error(f"<{tag}> appears {count} times in <{node.tag}>; write it once")

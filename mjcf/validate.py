"""Checking a document against the schema: names, multiplicity, required attributes, kinds of values.

Afterwards every element's `values` holds its parsed attributes. What is valid MJCF but not supported yet is
refused here, except inside `<default>`, where it may stand as long as no element uses it.
"""

from __future__ import annotations

from collections import Counter

from dovetail.errors import listing, nearest

from .kinds import BadValueError
from .schema import MUJOCO, Element
from .source import Node


def validate(root: Node, custom: frozenset[str] = frozenset()) -> None:
    """Check the whole document and parse every attribute.

    `custom` are tags under the root that third parties read; their content is theirs to check.
    """
    if root.tag != MUJOCO.tag:
        raise root.error(f"is not an MJCF model; the root element must be <{MUJOCO.tag}>")
    stack = [(root, MUJOCO, False)]
    while stack:
        node, element, in_default = stack.pop()
        in_default = in_default or element.tag == "default"
        node.schema = element
        _check_attributes(node, element, in_default)
        _check_multiplicity(node, element)
        below = [
            (child, _child(node, element, child), in_default)
            for child in node.children
            if node is not root or child.tag not in custom
        ]
        stack.extend(reversed(below))


def _child(parent: Node, element: Element, child: Node) -> Element:
    found = element.children.get(child.tag)
    if found is None:
        hint = nearest(child.tag, element.children)
        known = listing(element.children)
        raise child.error(f"unknown element in <{parent.tag}>{hint}; known here: {known}")
    if found.later:
        raise child.unsupported(f"<{child.tag}> in <{parent.tag}>")
    return found


def _check_attributes(node: Node, element: Element, in_default: bool) -> None:
    for name, text in node.raw.items():
        kind = element.attributes.get(name)
        if kind is None:
            hint = nearest(name, element.attributes)
            known = listing(element.attributes)
            raise node.error(f"unknown attribute {name!r}{hint}; <{node.tag}> has: {known}", name)
        if name in element.later_attributes and not in_default:
            raise node.unsupported(f"attribute {name!r} of <{node.tag}>", name)
        try:
            node.values[name] = kind.parse(text)
        except BadValueError as problem:
            raise node.error(f"attribute {name!r}: {problem}", name) from None
    if node.tag in _NAMED_BY_FILE and not in_default and node.values.get("file"):
        node.values["name"] = node.values.get("name") or _stem(node.values["file"])
    missing = element.required - set(node.raw)
    if missing:
        raise node.error(f"required attribute {min(missing)!r} is missing; add it")


_NAMED_BY_FILE = ("mesh", "hfield", "skin", "texture")
"""Assets that are called like their file if they have no name."""


def _stem(path: str) -> str:
    """File name without directory and suffix."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _check_multiplicity(node: Node, element: Element) -> None:
    counts = Counter(child.tag for child in node.children)
    for tag, count in counts.items():
        row = element.children.get(tag)
        if row and row.multiplicity == "?" and count > 1:
            again = [child for child in node.children if child.tag == tag][1]
            raise again.error(f"<{tag}> appears {count} times in <{node.tag}>; write it once")

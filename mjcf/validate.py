"""Checking a document against the schema: names, multiplicity, required attributes, kinds of values.

Afterwards every element's `values` holds its parsed attributes. What is valid MJCF but not supported yet is
refused here, except inside `<default>`, where it may stand as long as no element uses it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dovetail.errors import MJCFError, listing, nearest

from .kinds import BadValueError, Float, FloatList, Floats, IntList, Ints
from .schema import MUJOCO, Element
from .source import Node


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
    stack = [(root, MUJOCO, False)]
    while stack:
        node, element, in_default = stack.pop()
        in_default = in_default or element.tag == "default"
        node.schema = element
        yield from _attribute_problems(node, element, in_default)
        yield from _multiplicity_problems(node, element)
        below = []
        for child in node.children:
            if node is root and child.tag in custom:
                continue
            row = element.children.get(child.tag)
            if row is None or row.later:
                yield _not_a_child(node, element, child)
            else:
                below.append((child, row, in_default))
        stack.extend(reversed(below))


def _not_a_child(parent: Node, element: Element, child: Node) -> MJCFError:
    if child.tag in element.children:
        return child.unsupported(f"<{child.tag}> in <{parent.tag}>")
    hint = nearest(child.tag, element.children)
    known = listing(element.children)
    return child.error(f"unknown element in <{parent.tag}>{hint}; known here: {known}")


def _attribute_problems(node: Node, element: Element, in_default: bool) -> Iterator[MJCFError]:
    for name, text in node.raw.items():
        kind = element.attributes.get(name)
        if kind is None:
            hint = nearest(name, element.attributes)
            known = listing(element.attributes)
            yield node.error(f"unknown attribute {name!r}{hint}; <{node.tag}> has: {known}", name)
            continue
        if name in element.later_attributes and not in_default:
            yield node.unsupported(f"attribute {name!r} of <{node.tag}>", name)
        if isinstance(kind, Float | Floats | FloatList | Ints | IntList) and not text.strip():
            continue  # as in MuJoCo, numbers that are left empty count as not given
        try:
            node.values[name] = kind.parse(text)
        except BadValueError as problem:
            yield node.error(f"attribute {name!r}: {problem}", name)
            node.values[name] = None
    if node.tag in _NAMED_BY_FILE and not in_default and node.values.get("file"):
        node.values["name"] = node.values.get("name") or _stem(node.values["file"])
    missing = element.required - set(node.values)
    if missing:
        yield node.error(f"required attribute {min(missing)!r} is missing; add it")


_NAMED_BY_FILE = ("mesh", "hfield", "skin", "texture")
"""Assets that are called like their file if they have no name."""


def _stem(path: str) -> str:
    """File name without directory and suffix."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _multiplicity_problems(node: Node, element: Element) -> Iterator[MJCFError]:
    counts = Counter(child.tag for child in node.children)
    for tag, count in counts.items():
        row = element.children.get(tag)
        if row and row.multiplicity == "?" and count > 1:
            again = [child for child in node.children if child.tag == tag][1]
            yield again.error(f"<{tag}> appears {count} times in <{node.tag}>; write it once")

"""Which object of a model a compiler's error is about: its name, and its number in mjModel's order.

Objects in bodies are numbered body by body, those of sections as they stand in the file. What is part of an object
(an `<inertial>`, an `<element>` of a tuple) is that object; a step of a tendon's path is counted in its tendon.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dovetail.errors import MJCFError
from dovetail.mjcf.read.source import Node

_IN_BODIES = {
    "body": "body",
    "joint": "joint",
    "freejoint": "joint",
    "geom": "geom",
    "site": "site",
    "camera": "camera",
    "light": "light",
}
"""Elements in bodies, and as what they are counted."""
_PARTS = ("inertial", "plugin", "config")
"""What is part of the object that it stands in."""
_BY_TAG = ("asset", "contact", "custom", "deformable", "keyframe")
"""Sections in which each kind of element is counted by itself."""
_TOGETHER = ("equality", "tendon", "actuator", "sensor")
"""Sections whose elements are counted as one kind."""
_TARGETS = ("joint", "geom", "site")
"""Attributes by which a step of a tendon's path says what it is; MuJoCo gives it that name."""


@contextmanager
def blaming(root: Node) -> Iterator[None]:
    """Have errors say which object of a document they are about."""
    try:
        yield
    except MJCFError as problem:
        if problem.node is not None:
            problem.about = _object(root, problem.node)
        raise


def _object(root: Node, node: Node) -> tuple[str, int] | None:
    """Name and number of the object that an element is, or is part of; None if it is of none."""
    for section in root.children:
        path = _path(section, node)
        if path:
            alike = [other for other in root.children if other.tag == section.tag]
            contents = [child for other in alike for child in other.children]
            find = _in_bodies if section.tag == "worldbody" else _in_section
            return find(section.tag, contents, path)
    return None


def _path(section: Node, node: Node) -> list[Node]:
    """The elements from below a section down to one in it; none if it is not there."""
    stack = [[section]]
    while stack:
        path = stack.pop()
        if path[-1] is node:
            return path[1:]
        stack += [[*path, child] for child in path[-1].children]
    return []


def _in_bodies(tag: str, contents: list[Node], path: list[Node]) -> tuple[str, int] | None:
    blamed = next((node for node in reversed(path) if node.tag not in _PARTS), path[0])
    kind = _IN_BODIES.get(blamed.tag)
    if kind is None:
        return None
    bodies = list(_bodies(Node(tag, "", 0, {}, contents)))
    parts = [node for body in bodies for node in _contents(body) if _IN_BODIES.get(node.tag) == kind]
    return blamed.values.get("name", ""), _place(blamed, bodies if kind == "body" else parts)


def _bodies(world: Node) -> Iterator[Node]:
    """Bodies in mjModel's order."""
    stack = [world]
    while stack:
        body = stack.pop()
        yield body
        stack += reversed([node for node in _contents(body) if node.tag == "body"])


def _contents(body: Node) -> Iterator[Node]:
    """What stands in a body, and in its frames."""
    stack = body.children[::-1]
    while stack:
        node = stack.pop()
        yield node
        stack += node.children[::-1] if node.tag == "frame" else []


def _in_section(tag: str, contents: list[Node], path: list[Node]) -> tuple[str, int] | None:
    if tag == "tendon" and len(path) > 1:
        tendon, step = path[:2]
        return next(filter(None, map(step.values.get, _TARGETS)), ""), _place(step, tendon.children)
    if tag in _BY_TAG:
        contents = [node for node in contents if node.tag == path[0].tag]
    elif tag not in _TOGETHER:
        return None
    return path[0].values.get("name", ""), _place(path[0], contents)


def _place(node: Node, nodes: list[Node]) -> int:
    """How many come before an element: elements are the same only if they are one."""
    return next(place for place, other in enumerate(nodes) if other is node)

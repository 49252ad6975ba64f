"""Names and references of elements, read off the schema: copying elements under other names.

An attribute of kind `Name` names its element, one of kind `Reference` names another; a few older attributes say
the kind of the other in a second attribute (objtype and objname). Copying a part of a model renames the names and
the references alike, so that the copy refers to itself. See `mjCModel::operator+=` and `mjCBody::NameSpace`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dovetail.contracts.enums import ObjType

from .kinds import Name, Reference
from .source import Node, walk

Rename = Callable[[str], str]
Named = tuple[str, str]
"""Kind of object and name."""

WORLD: Named = ("body", "world")
_SPOKEN = {"objname": "objtype", "refname": "reftype"}
"""Attributes that refer to a kind which another attribute tells."""
_SAME_KIND = {"freejoint": "joint", "instance": "plugin"}
ATTACHED_FLEX = "attached flex"
"""Key in the values of an attached flexcomp: the name of its flex."""
LOST_WORLD = "lost world"
"""Key in the values of an attached flexcomp that stood in the world of its model, outside of all bodies."""
SECTION_KINDS = {
    "tendon": "tendon",
    "equality": "equality",
    "actuator": "actuator",
    "sensor": "sensor",
    "keyframe": "key",
}
"""Sections whose every element is of one kind, whatever its tag."""
TREE_KINDS = frozenset(["body", "joint", "geom", "site", "camera", "light", "frame"])
"""Kinds that stand in the kinematic tree."""
REFERRING_KINDS = frozenset(["pair", "exclude", "tendon", "equality", "actuator", "sensor"])
"""Kinds that a copy of a part of the tree takes along, if they refer to nothing outside of it."""


def kind_of(node: Node, section: str = "") -> str:
    """Kind of object that an element is, given the section it stands in."""
    return SECTION_KINDS.get(section) or _SAME_KIND.get(node.tag, node.tag)


def references(node: Node) -> Iterator[tuple[str, str, str]]:
    """Attribute, kind and name of everything that one element refers to."""
    for attribute, value in node.values.items():
        kind = node.schema.attributes.get(attribute)
        if isinstance(kind, Reference):
            yield attribute, kind.target, value
        elif attribute in _SPOKEN and _SPOKEN[attribute] in node.values:
            yield attribute, _spoken_kind(node.values[_SPOKEN[attribute]]), value


def _spoken_kind(word: str) -> str:
    return "body" if word == "xbody" else word if word in {kind.keyword for kind in ObjType} else ""


def all_references(node: Node) -> list[Named]:
    """Everything in the tree or in other sections that an element and its children refer to; not classes."""
    found = [(kind, name) for part in walk(node) for _, kind, name in references(part)]
    return [(kind, name) for kind, name in found if kind in TREE_KINDS | REFERRING_KINDS]


def names_below(nodes: list[Node]) -> set[Named]:
    """Names that some elements of the kinematic tree, and all in them, give themselves."""
    return {
        (kind_of(part), part.values["name"])
        for node in nodes
        for part in walk(node)
        if part.values.get("name") and kind_of(part) in TREE_KINDS
    }


def copied(
    node: Node,
    rename: Rename,
    kinds: frozenset[str],
    model: int | None = None,
    keep: frozenset[Named] = frozenset(),
    copies: dict[Node, Node] | None = None,
) -> Node:
    """A copy of an element with all in it, its names and its references to `kinds` renamed.

    `keep` are references that stay as they are; `copies`, if given, learns which element became which.
    """
    top = _copied_alone(node, rename, kinds, model, keep)
    stack = [(node, top)]
    while stack:
        old, new = stack.pop()
        if copies is not None:
            copies[old] = new
        new.children = [_copied_alone(child, rename, kinds, model, keep) for child in old.children]
        stack.extend(zip(old.children, new.children, strict=True))
    return top


def _copied_alone(
    node: Node, rename: Rename, kinds: frozenset[str], model: int | None, keep: frozenset[Named]
) -> Node:
    values = dict(node.values)
    for attribute, kind, name in references(node):
        if kind in kinds and (kind, name) not in keep:
            values[attribute] = rename(name)
    for attribute, value in node.values.items():
        if value and isinstance(node.schema.attributes.get(attribute), Name):
            values[attribute] = rename(value)
    return Node(
        node.tag,
        node.file,
        node.line,
        node.raw,
        values=values,
        schema=node.schema,
        model=node.model if model is None else model,
    )

"""Names and references of elements, read off the schema: copying elements under other names.

An attribute of kind `Name` names its element, one of kind `Reference` names another; a few older attributes say
the kind of the other in a second attribute (objtype and objname). Copying a part of a model renames the names and
the references alike, so that the copy refers to itself. See `mjCModel::operator+=` and `mjCBody::NameSpace`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dovetail.contracts.enums import ObjType
from dovetail.errors import MJCFError, listing, nearest
from dovetail.mjcf.read.kinds import Name, Reference
from dovetail.mjcf.read.source import Node, walk

Rename = Callable[[str], str]
Named = tuple[str, str]
"""Kind of object and name."""
Refer = Callable[[Node, str, str, str], str]
"""(element, attribute, kind, name) → what the attribute of the copy says."""
ReferenceGroup = tuple[tuple[Node, str, str, str], ...]
"""The same of all references that are found together or not at all."""

WORLD: Named = ("body", "world")
_SPOKEN = {"objname": "objtype", "refname": "reftype"}
"""Attributes that refer to a kind which another attribute tells."""
_SAME_KIND = {"freejoint": "joint", "instance": "plugin"}
ATTACHED_MAIN = "\0main of "
"""Class of elements that use the top class of an attached document, with its number; no file can name it."""
ATTACHED_FLEX = "attached flex"
"""Key in the values of an attached flexcomp: the name of its flex."""
LOST_WORLD = "lost world"
"""Key in the values of an attached flexcomp that stood in the world of its model, outside of all bodies."""
MOVED_TO = "moved to"
"""Key in the values of a body that was attached once more: the frames around the last place, outermost first."""
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
_NOT_LINKED = frozenset(["material", "texture", "plugin", "default", "model"])
"""Kinds whose absence does not keep an element from being copied."""
_STRICT = ("equality", "actuator", "custom")
"""Sections whose elements come along only if all that they refer to does."""


def kind_of(node: Node, section: str = "") -> str:
    """Kind of object that an element is, given the section it stands in."""
    return SECTION_KINDS.get(section) or _SAME_KIND.get(node.tag, node.tag)


def references(node: Node) -> Iterator[tuple[str, str, str]]:
    """Attribute, kind and name of everything that one element refers to; an empty name refers to nothing."""
    for attribute, value in node.values.items():
        kind = node.schema.attributes.get(attribute)
        if not value:
            continue
        if isinstance(kind, Reference):
            yield attribute, kind.target, value
        elif attribute in _SPOKEN and _SPOKEN[attribute] in node.values:
            yield attribute, _spoken_kind(node.values[_SPOKEN[attribute]]), value


_KEYWORDS = frozenset(kind.keyword for kind in ObjType)


def _spoken_kind(word: str) -> str:
    return "body" if word == "xbody" else word if word in _KEYWORDS else ""


def reference_groups(element: Node) -> list[ReferenceGroup]:
    """What an element of a section and its children refer to, in groups that are found together or not at all.

    A geom on the path of a tendon and its side site are one group, with an empty name where there is no side site.
    """
    return [group for part in walk(element) for group in _groups_of(part)]


def _groups_of(part: Node) -> Iterator[ReferenceGroup]:
    found = [
        (part, attribute, kind, name)
        for attribute, kind, name in references(part)
        if kind and (kind not in _NOT_LINKED or attribute in _SPOKEN)
    ]
    if part.tag == "geom" and "sidesite" in part.schema.attributes:
        side = (part, "sidesite", "site", part.values.get("sidesite", ""))
        yield (*(reference for reference in found if reference[1] == "geom"), side)
    else:
        yield from ((reference,) for reference in found)


def resolved(
    element: Node, section: str, rename: Rename, exists: Callable[[str, str], bool]
) -> dict[tuple[Node, str], str] | None:
    """The new names of all that a copied element refers to, or None if it does not come along.

    Equalities, actuators and tuples come if all that they refer to exists under its new name. Contacts, tendons and
    sensors come if something does; the rest may exist under its old one. A sensor of nothing always comes.
    """
    if flawed(element, section):
        return None
    groups = reference_groups(element)
    names: dict[tuple[Node, str], str] = {}
    renamed = 0
    for group in groups:
        if all(exists(kind, rename(name)) for _, _, kind, name in group):
            names |= {(part, attribute): rename(name) for part, attribute, _, name in group}
            renamed += 1
        elif section in _STRICT or not _exist(group, exists):
            return None
    return names if renamed or not groups else None


def used_names(element: Node) -> set[Named]:
    """Kind and name of all that an element of a section and its children refer to."""
    return {(kind, name) for group in reference_groups(element) for _, _, kind, name in group if name}


def flawed(element: Node, section: str) -> bool:
    """Whether MuJoCo fails to resolve an element for other reasons than names, so that it never comes along."""
    values = element.values
    if section == "equality":
        return any(values.get(f"{kind}1", 1) == values.get(f"{kind}2", 2) for kind in _EQUATED)
    if section == "actuator":
        no_rod = "cranksite" in values and not (values.get("slidersite") and values.get("cranklength", 0) > 0)
        return no_rod or not any(values.get(target) for target in _TARGETS)
    return (section == "tendon" or element.tag == "tuple") and not element.children


_EQUATED = ("body", "site", "joint", "tendon")
_TARGETS = ("joint", "jointinparent", "tendon", "site", "cranksite", "body")


def _exist(group: ReferenceGroup, exists: Callable[[str, str], bool]) -> bool:
    return all(exists(kind, name) for _, _, kind, name in group if name)


def unknown_class(node: Node, attribute: str, known: Iterable[str]) -> MJCFError:
    """What to say of a class that nobody has defined, or that only comes with a later `<attach>`."""
    name, classes = node.values[attribute], list(known)
    return node.error(
        f"unknown default class {name!r}{nearest(name, classes)}; defined classes: {listing(classes)}",
        attribute,
    )


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
    refer: Refer,
    prefix: str = "",
    copies: dict[Node, Node] | None = None,
) -> Node:
    """A copy of an element with all in it, under other names; `refer` tells the new names of what it refers to.

    `prefix` is what assets that its default class names get; `copies`, if given, learns which element became which.
    """
    top = _copied_alone(node, rename, refer, prefix)
    stack = [(node, top)]
    while stack:
        old, new = stack.pop()
        if copies is not None:
            copies[old] = new
        new.children = [_copied_alone(child, rename, refer, prefix) for child in old.children]
        stack.extend(zip(old.children, new.children, strict=True))
    return top


def _copied_alone(node: Node, rename: Rename, refer: Refer, prefix: str) -> Node:
    values = dict(node.values)
    for attribute, kind, name in references(node):
        values[attribute] = refer(node, attribute, kind, name)
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
        model=node.model,
        prefix=prefix + node.prefix,
    )


BUILT_IN = "\0built-in"
"""Class of generated elements, which take nothing from the model's classes; no file can name it."""

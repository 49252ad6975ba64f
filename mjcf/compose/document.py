"""A document while it is composed: its sections, and what has been named in it so far, in the order of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial

import attrs

from dovetail import limits
from dovetail.errors import MJCFError
from dovetail.mjcf.compose.namespace import (
    WORLD,
    Named,
    Rename,
    copied,
    flawed,
    kind_of,
    resolved,
    unknown_class,
    used_names,
)
from dovetail.mjcf.read.source import Node

MAX_ELEMENTS = limits.COPIED_ELEMENTS
"""Most elements that all copies together may have."""
JOINTS = ("joint", "freejoint")
LISTS = ("contact", "tendon", "equality", "actuator", "sensor", "custom")
"""Sections whose elements are copied with what they refer to, in MuJoCo's order (of custom data only tuples)."""
Level = tuple[Node, Iterator[Node], list[Node]]
"""An element of the tree that is being read: itself, what is left in it, and what became of the rest."""


@attrs.define
class Budget:
    """How many more elements copies may have, over all documents."""

    left: int


@attrs.define
class Document:
    """One document, its own or one that is attached, with all that was read or made before."""

    root: Node
    budget: Budget
    names: Counter[Named] = attrs.field(factory=lambda: Counter([WORLD]))
    """How often each name was given so far."""
    places: dict[Named, Node] = attrs.field(factory=dict)
    """Where names in the tree were given, for messages."""
    repeated: dict[str, tuple[Named, Node]] = attrs.field(factory=dict)
    """A name of each kind that a copy shares; an error as soon as another of that kind is read."""
    bodies: dict[str, tuple[Node | None, Node | None]] = attrs.field(factory=lambda: {"world": (None, None)})
    """Bodies so far with what they stand in: a body, a replicate, or None for the world."""
    classes: set[str] = attrs.field(factory=lambda: {"main"})
    """Default classes that are known so far: those of the document, then those of attached models."""
    main: str = ""
    """The class of elements without one, if a model attached with an empty prefix has replaced it."""
    replicated: bool = False
    """Whether something was replicated already: keyframes take part in the first time only."""
    extra: dict[str, Node] = attrs.field(factory=dict)
    """Sections that were added to the document for copies."""
    uses: dict[Node, frozenset[Named]] = attrs.field(factory=dict)
    """What elements of other sections refer to, once it was asked."""
    joints: int = 0
    """How many joints there are so far."""
    padded: int = 0
    """How many joints there were when a model was attached last: keys may stop before them."""
    attached: list[tuple[str, int]] = attrs.field(factory=list)
    """Prefixes under which the default classes of sub-models are known here."""

    def sections(self, tag: str) -> list[Node]:
        """All sections with a tag; there may be several."""
        return [section for section in self.root.children if section.tag == tag]

    def append(self, tag: str, elements: list[Node]) -> None:
        """Put elements after all others of a section."""
        if elements and tag not in self.extra:
            self.extra[tag] = Node(tag, elements[0].file, elements[0].line, {})
            self.extra[tag].schema = self.root.schema.children[tag]
            self.root.children.append(self.extra[tag])
        if elements:
            self.extra[tag].children += elements

    def spend(self, node: Node, count: int) -> None:
        """Count elements that an element makes; too many in all are refused."""
        self.budget.left -= count
        if self.budget.left < 0:
            raise node.error(f"the copies in this model have more than {MAX_ELEMENTS:,} elements; make fewer")

    def check_class(self, node: Node) -> None:
        """Refuse classes that are not known yet: those of an attached model are, once it is attached."""
        for attribute in ("class", "childclass"):
            if node.values.get(attribute, "main") not in self.classes:
                raise unknown_class(node, attribute, self.classes)

    def see(self, node: Node, stack: list[Level]) -> None:
        """Remember the name of an element as it is read; it must be a new one."""
        self.joints += node.tag in JOINTS
        named = kind_of(node), node.values.get("name", "")
        if not named[1] or node.tag in ("attach", "replicate", "composite"):
            return
        if node.tag not in ("frame", "flexcomp") and self.names[named] > 0:
            raise used_twice(node, named, self.places.get(named))
        repeated, copy = self.repeated.get(named[0], (named, node))
        if self.names[repeated] > 1:
            raise used_twice(copy, repeated, None)
        self.names[named] += 1
        self.places[named] = node
        if node.tag == "body":
            self.bodies[named[1]] = node, owner(stack)

    def enter(self, parts: list[Node], around: Node | None) -> None:
        """Remember the names of all in some new parts of the tree, which stand in the body or replicate `around`."""
        pending = [(part, around) for part in parts]
        while pending:
            part, around = pending.pop()
            self.joints += part.tag in JOINTS
            name = part.values.get("name")
            if name:
                named = kind_of(part), name
                self.names[named] += 1
                self.places[named] = part
                if self.names[named] > 1 and part.tag != "frame":
                    self.repeated[named[0]] = named, part
            if name and part.tag == "body":
                self.bodies[name] = part, around
            inside = part if part.tag == "body" else around
            pending.extend((child, inside) for child in part.children)

    def exists(self, kind: str, name: str) -> bool:
        """Whether something of that name was read or made before; bodies of a flexcomp have its name and a number."""
        if self.names[kind, name] > 0:
            return True
        stem, _, number = name.rpartition("_")
        return kind == "body" and number.isdecimal() and self.names["flexcomp", stem] > 0

    def used(self, element: Node) -> frozenset[Named]:
        """What an element of another section refers to."""
        if element not in self.uses:
            self.uses[element] = frozenset(used_names(element))
        return self.uses[element]

    def stands(self, element: Node, tag: str) -> bool:
        """Whether all that an element refers to exists, and stands itself."""
        used = self.used(element)
        others = [(kind, name) for kind, name in used if kind in ("tendon", "actuator")]
        return (
            not flawed(element, tag)
            and all(self.exists(*named) for named in used)
            and all(
                self.stands(other, kind)
                for kind, name in others
                for section in self.sections(kind)
                for other in section.children
                if other.values.get("name") == name
            )
        )

    def take_along(
        self,
        tag: str,
        elements: list[Node],
        rename: Rename,
        became: dict[Node, Node],
        node: Node,
        prefix: str = "",
    ) -> list[Node]:
        """Copies of those elements of a section that come along with the part of the tree copied last."""
        new = []
        for element in elements:
            found = resolved(element, tag, rename, self.exists)
            if found is None:
                continue
            self.spend(node, 1 + len(element.children))
            refer = partial(_refer_resolved, rename if prefix else str, found)
            new.append(copied(element, rename, refer, prefix, became))
            self.name_once(new[-1], tag, node)
        return new

    def name_once(self, element: Node, tag: str, node: Node) -> None:
        """Remember the name of a copied element, which must be a new one."""
        kind, name = kind_of(element, tag), element.values.get("name", "")
        if name and self.names[kind, name] > 0:
            raise element.error(
                f"{kind} name {name!r} is used twice once <{node.tag}> at {node.file}:{node.line} has copied this; "
                "names must be unique",
                "name",
            )
        self.names[kind, name] += 1


def owner(stack: list[Level]) -> Node | None:
    """The body or replicate that something stands in, looking through frames; None for the world."""
    return next((node for node, _, _ in reversed(stack) if node.tag in ("body", "replicate")), None)


def used_twice(node: Node, named: Named, first: Node | None) -> MJCFError:
    """What to say of a name that something else has."""
    place = f" (first at {first.file}:{first.line})" if first else ""
    return node.error(f"{named[0]} name {named[1]!r} is used twice{place}; names must be unique", "name")


def names_in(elements: Iterable[Node], tag: str) -> list[Named]:
    """Names of the elements of a section."""
    return [(kind_of(e, tag), e.values["name"]) for e in elements if e.values.get("name")]


def _refer_resolved(
    rename: Rename,
    found: dict[tuple[Node, str], str],
    node: Node,
    attribute: str,
    kind: str,
    name: str,
) -> str:
    """In other sections: what was found, and the instances of plugins."""
    return rename(name) if kind == "plugin" else found.get((node, attribute), name)

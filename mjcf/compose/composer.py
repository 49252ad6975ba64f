"""Building one document out of parts: `<replicate>`, `<attach>` and `<composite>`, before anything is compiled.

The first two copy a part of a kinematic tree under other names (a suffix, a prefix), together with the elements of
other sections that refer to that part: contact pairs, tendons, equalities, actuators, sensors (`namespace.resolved`
says which). What they refer to is looked up among all that was read or made before, in the order of the file. Copies
stand after what was there before.

Sizes are counted before anything is copied: a few nested replicates can ask for more than any memory holds.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from dovetail import limits
from dovetail.errors import listing, nearest
from dovetail.mjcf.compose import composite
from dovetail.mjcf.compose.attach import attach, is_there, move
from dovetail.mjcf.compose.document import LISTS, MAX_ELEMENTS, Document, Level, names_in, owner, used_twice
from dovetail.mjcf.compose.namespace import Named, kind_of
from dovetail.mjcf.compose.replicate import Turn, replicate
from dovetail.mjcf.read.source import Node, walk

MAX_MODELS = limits.SUBMODELS
"""Deepest chain of models that attach one another."""
_NESTING = ("body", "frame", "replicate")
_CLASSED = ("geom", "joint", "site", "camera", "light")
"""What in the tree has a default class."""


@attrs.define(eq=False)
class Submodel:
    """A model that others attach: its document, composed when it is first attached."""

    number: int
    composer: Composer
    composed: bool = False
    emptied: bool = False
    """Whether keys that it got from copies and attached models went to another model, which happens once."""

    @property
    def root(self) -> Node:
        return self.composer.document.root

    def ready(self) -> Submodel:
        """This model with all its parts put together."""
        if not self.composed:
            self.composed = True
            self.composer.compose()
        return self


@attrs.define
class Composer:
    """Composes one document; sub-models, loaded on first use, are composed by composers of their own."""

    document: Document
    load: Callable[[Node], Submodel]
    """Reads and checks the model that an `<asset><model>` names."""
    turn: Turn
    models: dict[str, Submodel] = attrs.field(factory=dict)
    shadowed: list[Submodel] = attrs.field(factory=list)
    """Models that cannot be attached: another one before them has their name."""
    counted: int = -1
    """What `size` found, once it was asked."""

    def compose(self) -> None:
        """Replace every `<replicate>` and `<attach>` of the document by what it stands for."""
        self.size()
        for model in [*self.models.values(), *self.shadowed]:
            model.ready()  # also those that nothing attaches, which must be correct all the same
        for section in self.document.sections("default"):
            self.document.classes.update(part.values.get("class", "main") for part in walk(section))
        for section in self.document.root.children:
            if section.tag not in ("worldbody", "default"):
                self._read_names(section)
        self._check_names()
        for section in self.document.sections("worldbody"):
            self._compose_tree(section)

    def _read_names(self, section: Node) -> None:
        document, elements = self.document, section.children
        document.names.update(names_in(elements, section.tag))
        if section.tag == "extension":
            instances = [instance for element in elements for instance in element.children]
            document.names.update(names_in(instances, section.tag))
        for element in elements:
            document.check_class(element)

    def _check_names(self) -> None:
        """Refuse names that elements outside of the tree share, also of those that nothing copies."""
        seen: dict[Named, Node] = {}
        for section in self.document.root.children:
            for element in section.children if section.tag in (*LISTS, "asset", "keyframe") else ():
                named = kind_of(element, section.tag), element.values.get("name", "")
                if named[1] and seen.setdefault(named, element) is not element:
                    raise used_twice(element, named, seen[named])

    def _find_models(self) -> None:
        for section in self.document.sections("asset"):
            for node in section.children:
                if node.tag != "model":
                    continue
                loaded = self.load(node)
                loaded.composer.size()  # loads the models below, and refuses absurd ones before any is composed
                name = node.values.get("name") or loaded.root.values.get("model", "MuJoCo Model")
                if self.models.setdefault(name, loaded) is not loaded:
                    self.shadowed.append(loaded)
            section.children = [node for node in section.children if node.tag != "model"]

    def _model(self, node: Node) -> Submodel:
        name = node.values["model"]
        found = self.models.get(name)
        if found is None:
            known = f"; models: {listing(self.models)}" if self.models else "; add <asset><model> for it"
            raise node.error(f"unknown model {name!r}{nearest(name, self.models)}{known}", "model")
        return found

    def size(self) -> int:
        """About how many elements the composed tree will have, counted before the first copy is made.

        A copy that would be absurdly large is refused here. Of attached bodies only the model as a whole is
        counted, so what comes out may be smaller, but not larger than a few elements more.
        """
        if self.counted < 0:
            self._find_models()
            sizes: dict[Node, int] = {}
            for node in _children_first(self.document.sections("worldbody")):
                below = sum(sizes.pop(child) for child in node.children)
                sizes[node] = 1 + self._grown(node, below)
            self.counted = sum(sizes.values())
        return self.counted

    def _grown(self, node: Node, below: int) -> int:
        """What an element becomes, given how much stands in it."""
        if node.tag == "replicate":
            grown = below * max(node.values["count"], 0)
        elif node.tag == "composite":
            grown = composite.size_of(node)
        elif node.tag == "attach" and "body" not in node.values:
            grown = self._model(node).composer.size()
        else:
            return below
        if grown > self.document.budget.left:
            raise node.error(f"would make {grown:,} elements; the most is {MAX_ELEMENTS:,}", "count")
        return grown

    def _compose_tree(self, section: Node) -> None:
        stack: list[Level] = [(section, iter(section.children), [])]
        while stack:
            child = next(stack[-1][1], None)
            if child is None:
                self._close(stack)
                continue
            self.document.check_class(child)
            self.document.see(child, stack)
            if child.tag in _NESTING:
                stack.append((child, iter(child.children), []))
            else:
                stack[-1][2].extend(self._expanded(child, stack))

    def _close(self, stack: list[Level]) -> None:
        """Put an element that has been read to its end into the one around it, or its copies."""
        node, _, done = stack.pop()
        node.children = done
        if stack and node.tag == "replicate":
            before = [part for _, _, parts in stack for part in parts]
            frames = replicate(self.document, node, before, self.turn)
            self.document.enter(frames, owner(stack))
            stack[-1][2].extend(frames)
        elif stack:
            stack[-1][2].append(node)

    def _expanded(self, node: Node, stack: list[Level]) -> list[Node]:
        """What an element that holds no others of the tree becomes."""
        if node.tag == "attach":
            return self._attached(node, stack)
        if node.tag == "composite":
            body = self._composite(node)
            self.document.enter([body], owner(stack))
            return [body]
        if node.tag == "flexcomp":
            # its equality, if any, comes after those written and those copied so far
            self.document.append("equality", [node])
        elif self.document.main and node.tag in _CLASSED and not _inherits_class(stack):
            node.values.setdefault("class", self.document.main)
        return [node]

    def _attached(self, node: Node, stack: list[Level]) -> list[Node]:
        """The part of another model, unless it is there already and only moves."""
        if is_there(self.document, node):
            move(self.document, node, stack)
            return []
        return [attach(self.document, node, self._model(node).ready(), owner(stack))]

    def _composite(self, node: Node) -> Node:
        """The first body of the chain that a composite stands for."""
        self.document.spend(node, composite.size_of(node))
        cable = composite.expand(node, self.document.root.schema)
        for tag, element in cable.sections:
            self.document.append(tag, [element])
        return cable.body


def _inherits_class(stack: list[Level]) -> bool:
    return any("childclass" in node.values for node, _, _ in stack)


def _children_first(sections: list[Node]) -> list[Node]:
    order = [node for section in sections for node in walk(section)]
    return order[::-1]

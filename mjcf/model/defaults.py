"""Default classes: a tree of settings that elements start from (MuJoCo's `mjCDef`).

The top class is `main`. A nested class starts as a copy of its parent, taken after the parent's own settings
in that `<default>` block; a later top-level block changes `main` but not classes that exist already.
All actuator shortcuts share one set of settings, as in MuJoCo.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

from dovetail.mjcf.compose.namespace import ATTACHED_MAIN, BUILT_IN, unknown_class
from dovetail.mjcf.elements.actuator import SHORTCUTS, ActuatorItem, apply_actuator
from dovetail.mjcf.elements.camera import CameraItem, apply_camera
from dovetail.mjcf.elements.contact import PairItem, apply_pair
from dovetail.mjcf.elements.equality import EqualityItem, apply_equality
from dovetail.mjcf.elements.geom import GeomItem
from dovetail.mjcf.elements.items import Item, overlay
from dovetail.mjcf.elements.joint import JointItem
from dovetail.mjcf.elements.light import LightItem, apply_light
from dovetail.mjcf.elements.material import MaterialItem, apply_material
from dovetail.mjcf.elements.mesh import MeshItem, apply_mesh
from dovetail.mjcf.elements.poses import check_single_orientation
from dovetail.mjcf.elements.site import SiteItem
from dovetail.mjcf.elements.tendon import TendonItem, apply_tendon
from dovetail.mjcf.read.source import Node

T = TypeVar("T", bound=Item)

MAIN = "main"


def _overlay(item: Item, node: Node) -> None:
    overlay(item, node.values)


_KINDS: dict[str, tuple[type[Item], Callable[[Any, Node], None]]] = {
    "joint": (JointItem, _overlay),
    "geom": (GeomItem, _overlay),
    "site": (SiteItem, _overlay),
    "camera": (CameraItem, apply_camera),
    "light": (LightItem, apply_light),
    "material": (MaterialItem, apply_material),
    "mesh": (MeshItem, apply_mesh),
    "pair": (PairItem, apply_pair),
    "equality": (EqualityItem, apply_equality),
    "tendon": (TendonItem, apply_tendon),
    **dict.fromkeys(SHORTCUTS, (ActuatorItem, apply_actuator)),
}
"""For each tag in a default block, what it describes and how its attributes are laid over that."""


@attrs.define(eq=False)
class DefaultClass:
    """One class: for each kind of element, an instance with the class's settings."""

    name: str
    prototypes: dict[type[Item], Item]
    renamed: dict[str, DefaultClass] = attrs.field(factory=dict)
    """The class as elements of attached models use it, by the prefix of their assets."""

    def under(self, prefix: str) -> DefaultClass:
        """The class with a prefix before the names of assets; only to be asked once the class is complete."""
        if not prefix:
            return self
        if prefix not in self.renamed:
            changed = {kind: _prefixed(item, prefix) for kind, item in self.prototypes.items()}
            self.renamed[prefix] = DefaultClass(self.name, changed)
        return self.renamed[prefix]

    def make(self, kind: type[T]) -> T:
        """A new element of this class."""
        prototype = self.prototypes[kind]
        assert isinstance(prototype, kind)
        return attrs.evolve(prototype)


_ASSETS: dict[type[Item], tuple[str, ...]] = {
    GeomItem: ("material", "mesh", "hfield"),
    SiteItem: ("material",),
}
"""Settings that name an asset of the same model; like MuJoCo 3.4, not those of tendons, which is the main model's."""


def _prefixed(item: Item, prefix: str) -> Item:
    """An item whose assets have a prefix before their names."""
    if isinstance(item, MaterialItem):
        return attrs.evolve(item, layers={role: prefix + name for role, name in item.layers.items()})
    names = {key: getattr(item, key) for key in _ASSETS.get(type(item), ())}
    return attrs.evolve(item, **{key: prefix + name for key, name in names.items() if name})


def _built_in() -> dict[str, DefaultClass]:
    """The top class alone, with MuJoCo's built-in settings."""
    return {MAIN: DefaultClass(MAIN, {kind: kind() for kind, _ in _KINDS.values()})}


@attrs.define
class Defaults:
    """All default classes of a model."""

    classes: dict[str, DefaultClass] = attrs.field(init=False)
    attached: dict[int, dict[str, DefaultClass]] = attrs.field(factory=dict)
    """Classes of attached models, by the number of their document."""

    def __attrs_post_init__(self) -> None:
        self.classes = _built_in()

    def main(self, model: int) -> DefaultClass:
        """The top class of one document."""
        return self.classes_of(model)[MAIN]

    def classes_of(self, model: int) -> dict[str, DefaultClass]:
        """The classes of one document: those of the main model, or of an attached one."""
        return self.attached.setdefault(model, _built_in()) if model else self.classes

    def share(self, owner: int, prefix: str, model: int) -> None:
        """Make the classes of an attached model known in the document that attaches it."""
        classes = self.classes_of(owner)
        for name, found in list(self.classes_of(model).items()):
            classes.setdefault(f"{prefix}{name}", found)

    def read(self, block: Node) -> None:
        """Read one top-level `<default>` block."""
        name = block.values.get("class") or MAIN
        if name != MAIN:
            raise block.error(f"the top-level default class is {MAIN!r}; nest {name!r} inside it", "class")
        pending = [(block, self.main(block.model))]
        while pending:
            node, here = pending.pop()
            for child in node.children:
                if child.tag != "default":
                    _apply(here, child)
            nested = [child for child in node.children if child.tag == "default"]
            pending.extend(reversed([(child, self._add(child, here)) for child in nested]))

    def _add(self, node: Node, parent: DefaultClass) -> DefaultClass:
        name = node.values.get("class", "")
        if not name:
            raise node.error("a nested default class needs a name; add class=…")
        classes = self.classes_of(node.model)
        if name in classes:
            raise node.error(f"default class {name!r} exists already; give it another name", "class")
        copies = {kind: attrs.evolve(prototype) for kind, prototype in parent.prototypes.items()}
        classes[name] = DefaultClass(name, copies)
        return classes[name]

    def of(self, node: Node, inherited: DefaultClass | None = None) -> DefaultClass:
        """The class an element uses: its own, else the nearest childclass, else main."""
        found = self.find(node, "class") or inherited or self.main(node.model)
        return found.under(node.prefix)

    def find(self, node: Node, attribute: str) -> DefaultClass | None:
        """The class named by `class` or `childclass`, if the element has that attribute."""
        name = node.values.get(attribute)
        if name is None:
            return None
        classes = self.classes_of(node.model)
        if name == BUILT_IN:
            return _built_in()[MAIN]
        if name.startswith(ATTACHED_MAIN):
            return self.classes_of(int(name.removeprefix(ATTACHED_MAIN)))[MAIN]
        if name not in classes:
            raise unknown_class(node, attribute, classes)
        return classes[name]


def _apply(target: DefaultClass, node: Node) -> None:
    """Lay one element of a default block over the class's settings."""
    check_single_orientation(node)
    if node.tag in _KINDS:
        kind, apply = _KINDS[node.tag]
        apply(target.prototypes[kind], node)

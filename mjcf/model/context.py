"""What the element handlers share while one model is compiled: settings, default classes, named objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from dovetail.contracts.enums import AutoBool
from dovetail.errors import listing, nearest
from dovetail.mjcf.elements.compiler import CompilerSettings
from dovetail.mjcf.elements.object_kinds import KINDS
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.model.defaults import Defaults
from dovetail.mjcf.model.plugin_fields import OwnValue
from dovetail.mjcf.model.tables import Tables
from dovetail.mjcf.read.source import Loader, Node

if TYPE_CHECKING:
    from dovetail.mjcf.elements.actuator import ActuatorItem
    from dovetail.mjcf.elements.body import BodyItem
    from dovetail.mjcf.elements.geom import GeomItem
    from dovetail.mjcf.elements.items import Item
    from dovetail.mjcf.elements.joint import JointItem
    from dovetail.mjcf.elements.plugins import PluginUser
    from dovetail.mjcf.elements.site import SiteItem


@attrs.define
class Context:
    """One compilation."""

    tables: Tables
    """The compile-time stages that the compiler calls."""
    loaders: list[Loader] = attrs.field(factory=list)
    """What reads the files of each document."""
    modelname: str = "MuJoCo Model"
    compiler: CompilerSettings = attrs.field(factory=CompilerSettings)
    option: dict[str, Any] = attrs.field(factory=dict)
    sizes: dict[str, int] = attrs.field(factory=dict)
    statistic: dict[str, Any] = attrs.field(factory=dict)
    visual: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    defaults: Defaults = attrs.field(factory=Defaults)
    submodels: list[CompilerSettings] = attrs.field(factory=list)
    """Settings of the documents of the model; the first is the main one."""
    shared_classes: list[tuple[int, str, int]] = attrs.field(factory=list)
    """Document, prefix, attached document: whose default classes are known where."""
    objects: dict[str, list[Any]] = attrs.field(init=False)
    ids: dict[str, dict[str, int]] = attrs.field(init=False)
    frames: dict[str, Node] = attrs.field(factory=dict)
    flat_meshes_are_boxes: bool = False
    """Whether meshes without volume are accepted (a rule of older dialects)."""
    engine_plugins: set[str] = attrs.field(factory=set)
    """Names of MuJoCo's engine plugins that `<extension>` declares."""
    fused: set[str] = attrs.field(factory=set)
    """Names of bodies that became part of their parents."""
    held_flexes: dict[Node, Item] = attrs.field(factory=dict)
    """Equalities that hold the edges of flexcomps, until `<equality>` is read."""
    plugin_users: list[PluginUser] = attrs.field(factory=list)
    """Elements that use engine plugins."""
    own_values: list[OwnValue] = attrs.field(factory=list)
    """Values of Model fields that plugins added."""

    def __attrs_post_init__(self) -> None:
        self.objects = {kind: [] for kind in KINDS}
        self.ids = {kind: {} for kind in KINDS}

    @property
    def bodies(self) -> list[BodyItem]:
        return self.objects["body"]

    @property
    def joints(self) -> list[JointItem]:
        return self.objects["joint"]

    @property
    def dof_owners(self) -> list[JointItem]:
        """The joint of each degree of freedom."""
        return [joint for joint in self.joints for _ in range(joint.nv)]

    @property
    def geoms(self) -> list[GeomItem]:
        return self.objects["geom"]

    @property
    def sites(self) -> list[SiteItem]:
        return self.objects["site"]

    @property
    def actuators(self) -> list[ActuatorItem]:
        return self.objects["actuator"]

    def compiler_of(self, node: Node | None) -> CompilerSettings:
        """The settings of the document that an element was written in."""
        if node is not None and node.rules is not None:
            rules: CompilerSettings = node.rules
            return rules
        return self.submodels[node.model] if node and node.model else self.compiler

    def read_asset(self, node: Node, attribute: str, name: str, directory: str) -> tuple[bytes, str]:
        """Content of a file that an asset names, and the name under which messages mention it."""
        return self.loaders[node.model].read_asset(node, attribute, name, directory)

    def set_field(self, name: str, values: Any, node: Node) -> None:
        """Give a Model field of a plugin (`acme:stiffness`) its values, read from an element: numbers, or a function
        of this context that gives them when all objects have their final numbers."""
        self.own_values.append(OwnValue(name, values, node))

    def set_row(
        self, name: str, kind: str, which: str, values: Any, node: Node, attribute: str = "name"
    ) -> None:
        """Give a Model field of a plugin its values for one object, by the name that an attribute of the element
        says; the other objects keep theirs."""
        self.own_values.append(OwnValue(name, values, node, kind, which, attribute))

    def add(self, kind: str, item: Item) -> None:
        """Number an object and remember its name."""
        self.add_named(kind, item, item.node.values.get("name", "") if item.node else item.name)

    def add_named(self, kind: str, item: Item, name: str) -> None:
        """Number an object under a name that is not its element's own."""
        item.name = name
        item.id = len(self.objects[kind])
        if item.name and item.name in self.ids[kind]:
            first = self.objects[kind][self.ids[kind][item.name]].node
            where = f" (first at {first.file}:{first.line})" if first else ""
            raise item.place.error(
                f"{kind} name {item.name!r} is used twice{where}; names must be unique", "name"
            )
        if item.name:
            self.ids[kind][item.name] = item.id
        self.objects[kind].append(item)

    def find(self, kind: str, name: str, node: Node, attribute: str) -> int:
        """Number of the named object, or an error that lists the names there are."""
        known = self.ids[kind]
        if kind == "body" and name in self.fused:
            raise node.error(
                f"body {name!r} is fused with its parent, as it cannot move; name its parent, or set "
                'fusestatic="false"',
                attribute,
            )
        if name not in known:
            hint = nearest(name, known)
            raise node.error(f"unknown {kind} {name!r}{hint}; {kind} names: {listing(known)}", attribute)
        return known[name]

    def resolve_limited(self, item: Item, prefix: str, limited: int, limits: Vec) -> bool:
        """Whether a range counts: as written, or for `auto` when the range increases (autolimits)."""
        if limited != AutoBool.AUTO:
            return bool(limited)
        if not self.compiler_of(item.place).autolimits and any(limits):
            raise item.place.error(
                f"{prefix}range is given but not {prefix}limited, and autolimits is off; "
                f"add {prefix}limited, or set autolimits",
                f"{prefix}range",
            )
        return limits[0] < limits[1]

    def padded_user(self, item: Item, size: str, user: Vec) -> Vec:
        """User data filled up with zeros to the model-wide length `nuser_…`."""
        length = self.sizes[size]
        if len(user) > length:
            raise item.place.error(
                f"user has {len(user)} values but {size} is {length}; raise {size} in <size>", "user"
            )
        return user + (0.0,) * (length - len(user))

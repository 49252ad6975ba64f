"""Elements of a composed document as objects of a spec."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np

from dovetail.mj.spec.defaults import MjsDefault
from dovetail.mj.spec.fields import Choice, Numbers, Vector
from dovetail.mj.spec.problems import SpecError
from dovetail.mj.spec.reading_lists import MORE
from dovetail.mj.spec.settings import MjsCompiler
from dovetail.mj.spec.spec import LISTED, MjSpec
from dovetail.mj.spec.tree import MjsBody, MjsCamera, MjsFrame, MjsGeom, MjsJoint, MjsLight, MjsSite
from dovetail.mjcf.compose.namespace import ATTACHED_FLEX, LOST_WORLD, MOVED_TO
from dovetail.mjcf.elements.actuator import ActuatorItem, apply_actuator
from dovetail.mjcf.elements.camera import CameraItem, apply_camera
from dovetail.mjcf.elements.contact import PairItem, apply_pair
from dovetail.mjcf.elements.equality import EqualityItem, apply_equality
from dovetail.mjcf.elements.geom import GeomItem
from dovetail.mjcf.elements.items import ORIENTATIONS, overlay
from dovetail.mjcf.elements.joint import JointItem
from dovetail.mjcf.elements.light import LightItem, apply_light
from dovetail.mjcf.elements.material import MaterialItem, apply_material
from dovetail.mjcf.elements.mesh import MeshItem, apply_mesh
from dovetail.mjcf.elements.settings import read_option, read_statistic
from dovetail.mjcf.elements.site import SiteItem
from dovetail.mjcf.elements.tendon import TendonItem, apply_tendon
from dovetail.mjcf.elements.visual import read_visual
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.model.context import Context
from dovetail.mjcf.model.defaults import Defaults
from dovetail.mjcf.read.source import Node
from dovetail.mjcf.write.text import written

_ITEMS: dict[str, Any] = {
    "joint": JointItem,
    "geom": GeomItem,
    "site": SiteItem,
    "camera": CameraItem,
    "light": LightItem,
    "material": MaterialItem,
    "mesh": MeshItem,
    "pair": PairItem,
    "equality": EqualityItem,
    "tendon": TendonItem,
    "actuator": ActuatorItem,
}
"""What the compiler makes of an element of each kind that has default classes."""


def _overlaid(item: Any, node: Node) -> None:
    overlay(item, node.values)


_APPLY: dict[str, Any] = {
    "camera": apply_camera,
    "light": apply_light,
    "material": apply_material,
    "mesh": apply_mesh,
    "pair": apply_pair,
    "equality": apply_equality,
    "tendon": apply_tendon,
    "actuator": apply_actuator,
}
_TREE = {kind.KIND: kind for kind in (MjsJoint, MjsGeom, MjsSite, MjsCamera, MjsLight)}


def fill(spec: MjSpec, library: Any) -> None:
    """Make the elements of a composed document those of a spec."""
    Reader(spec, library).read()


def set_fields(element: Any, source: Any) -> None:
    """Give an element the values of an item, or of a dictionary, under their MJCF names."""
    for field in element.FIELDS.values():
        if not field.mjcf:
            continue
        value = source.get(field.mjcf) if isinstance(source, dict) else getattr(source, field.mjcf, None)
        if value is not None:
            element._values[field.name] = _converted(field, value)


def _converted(field: Any, value: Any) -> Any:
    if isinstance(field, Choice):
        return field.enum(int(value))
    if isinstance(field, Numbers):
        start = field.initial()
        flat: np.ndarray = np.asarray(value, field.dtype).reshape(-1)
        start.reshape(-1)[: flat.size] = flat
        return start
    if isinstance(field, Vector):
        return field.kind(np.asarray(value) if field.kind.numbers is not None else value)
    return field.converted(int(value) if isinstance(value, bool | np.bool_) else value)


def set_item(element: Any, item: Any) -> None:
    """Give an element all values of the item that the compiler made of it."""
    name = element._values["name"]
    set_fields(element, item)
    element._values["name"] = name
    values = element._values
    if "alt" in values:
        values["quat"] = np.array(item.quat, float)
        if item.alt:
            values["alt"].choose(*item.alt)
    if "fromto" in values and item.fromto is not None:
        values["fromto"] = np.array(item.fromto, float)
    if element.KIND == "geom":
        values["mass"] = math.nan if item.mass is None else item.mass
        values["typeinertia"] = element.FIELDS["typeinertia"].enum(int(item.shellinertia))
        values["fluid_ellipsoid"] = float(item.fluidshape == "ellipsoid")
    elif element.KIND == "joint":
        values["align"] = int(item.align)
    elif element.KIND == "material":
        for role, texture in item.layers.items():
            values["textures"][role] = texture
    elif element.KIND == "actuator":
        values["cranklength"], values["inheritrange"] = item.cranklength, item.inheritrange
    elif element.KIND == "mesh" and item.builtin:
        from dovetail.contracts.enums import MeshBuiltin
        from dovetail.mj.spec.shortcuts import build_mesh

        build_mesh(element, MeshBuiltin(item.builtin).keyword, item.params)


class Reader:
    """Reads one composed document into a spec."""

    set_fields = staticmethod(set_fields)

    def __init__(self, spec: MjSpec, library: Any) -> None:
        self.spec, self.library, self.root = spec, library, library.roots[0]
        self.defaults = Defaults()
        self.classes: dict[int, MjsDefault] = {}
        self.settings: list[MjsCompiler] = []
        self.frames: dict[Node, MjsFrame] = {}
        self.moved: list[tuple[MjsBody, list[Node]]] = []

    def read(self) -> None:
        self._settings()
        self._classes()
        for section in self._sections("extension"):
            self._extension(section)
        for section in self._sections("custom", "asset", "deformable", "contact", "equality"):
            for node in section.children:
                self._listed(node, section.tag)
        for section in self._sections("worldbody"):
            self._tree(section)
        for body, frames in self.moved:
            body._frame = self.frames[frames[-1]] if frames else None
        for section in self._sections("tendon", "actuator", "sensor", "keyframe"):
            for node in section.children:
                self._listed(node, section.tag)

    def _sections(self, *tags: str) -> list[Node]:
        return [section for tag in tags for section in self.root.children if section.tag == tag]

    # settings

    def _settings(self) -> None:
        spec = self.spec
        spec.modelname = self.root.values.get("model", "MuJoCo Model")
        for number, found in enumerate(self.library.settings):
            target = spec.compiler if number == 0 else MjsCompiler()
            given = {
                name: value
                for name, value in attrs.asdict(found, recurse=False).items()
                if name != "lengthrange"
            }
            set_fields(target, given)
            target.degree, target.eulerseq = int(found.degrees), list(found.eulerseq)
            set_fields(target.LRopt, dict(found.lengthrange))
            self.settings.append(target)
        spec.strippath = int(self.library.settings[0].strippath)
        context = Context(None)  # type: ignore[arg-type]
        context.option.update({name: _plain(value) for name, value in spec.option._values.items()})
        for tag, read in (("option", read_option), ("statistic", read_statistic), ("visual", read_visual)):
            for section in self._sections(tag):
                read(context, section)
        for name, value in context.option.items():
            setattr(spec.option, name, value)
        set_fields(spec.stat, context.statistic)
        for group, values in context.visual.items():
            set_fields(spec.visual._values["global_" if group == "global" else group], values)
        for section in self._sections("size"):
            for name, value in section.values.items():
                setattr(spec, name, value)

    # default classes

    def _classes(self) -> None:
        for root in self.library.roots[1:]:
            for section in root.children:
                if section.tag == "default":
                    self.defaults.read(section)
        for section in self._sections("default"):
            self.defaults.read(section)
        for owner, prefix, model in reversed(self.library.known):
            self.defaults.share(owner, prefix, model)
        parents = {}
        for section in self._sections("default"):
            stack = [(section, "main")]
            while stack:
                node, name = stack.pop()
                for child in node.children:
                    if child.tag == "default":
                        parents[child.values["class"]] = name
                        stack.append((child, child.values["class"]))
        for name, found in self.defaults.classes.items():
            self._class(name, found, parents)

    def _class(self, name: str, found: Any, parents: dict[str, str]) -> None:
        if name == "main":
            made = self.spec.default
        else:
            made = self.spec.add_default(name, self.spec.find_default(parents.get(name, "main")))
        for kind, item in _ITEMS.items():
            prototype = made._prototypes[kind]
            prototype._take(type(prototype)())
            set_item(prototype, found.prototypes[item])
        self.classes.setdefault(id(found), made)

    def _item(self, node: Node, kind: str, inherited: Any) -> tuple[Any, MjsDefault]:
        """What the compiler makes of an element, and its class."""
        found = self.defaults.find(node, "class") or inherited or self.defaults.main(node.model)
        item = found.under(node.prefix).make(_ITEMS[kind])
        if kind == "camera":
            item.user = ()
        if kind == "material":
            item.layers = dict(item.layers)
        _APPLY.get(kind, _overlaid)(item, node)
        return item, self.classes.get(id(found), self.spec.default)

    # the tree

    def _tree(self, section: Node) -> None:
        stack = [(iter(section.children), self.spec.worldbody, None, None, "main")]
        while stack:
            children, body, frame, inherited, name = stack[-1]
            node = next(children, None)
            if node is None:
                stack.pop()
            elif node.tag in ("body", "frame"):
                own = self.defaults.find(node, "childclass")
                word = self._class_name(own) if own is not None else name
                made = self._container(node, body, frame, word)
                inside = (made, None) if isinstance(made, MjsBody) else (body, made)
                stack.append((iter(node.children), *inside, own or inherited, word))
            else:
                self._part(node, body, frame, inherited)

    def _class_name(self, found: Any) -> str:
        return str(self.classes[id(found)].name) if id(found) in self.classes else "main"

    def _new(self, kind: Any, node: Node) -> Any:
        element = kind(self.spec)
        element._values["name"] = node.values.get("name", "")
        element._values["info"] = f"line {node.line}"
        element._place = (node.file if node.file != "<string>" else "", node.line)
        element._settings = self.settings[node.model]
        element._origin = str(self.library.loaders[node.model].directory)
        return element

    def _container(self, node: Node, body: MjsBody, frame: MjsFrame | None, childclass: str) -> Any:
        made = self._new(MjsBody if node.tag == "body" else MjsFrame, node)
        set_fields(made, {name: value for name, value in node.values.items() if name != "name"})
        _orient(made, node, "quat", "alt")
        made._values["childclass"] = childclass
        made._parent, made._frame = body, frame
        made._class = self.spec.find_default(childclass)
        body._children[made.KIND].append(made)
        if node.tag == "frame":
            self.frames[node] = made
        elif MOVED_TO in node.values:
            self.moved.append((made, node.values[MOVED_TO]))
        return made

    def _part(self, node: Node, body: MjsBody, frame: MjsFrame | None, inherited: Any) -> None:
        if node.tag == "inertial":
            _inertial(body, node)
        elif node.tag == "plugin":
            self.use_plugin(body, node)
        elif node.tag == "flexcomp":
            body._raw.append((frame, self._flexcomp(node)))
        else:
            kind = "joint" if node.tag == "freejoint" else node.tag
            element = self._new(_TREE[kind], node)
            if node.tag == "freejoint":
                item: Any = JointItem(type=0)
                overlay(item, node.values)
                element._class = self.spec.default
            else:
                item, element._class = self._item(node, kind, inherited)
            set_item(element, item)
            element._parent, element._frame = body, frame
            body._children[kind].append(element)
            for child in node.children:
                self.use_plugin(element, child)

    def _flexcomp(self, node: Node) -> Node:
        """A flexcomp as it was written, but for angles."""
        if LOST_WORLD in node.values or ATTACHED_FLEX in node.values:
            raise SpecError(f"{node.file}:{node.line}: a spec cannot hold a flexcomp of an attached model")
        values = dict(node.values)
        for word in ORIENTATIONS:
            if word in values:
                rules = self.library.settings[node.model]
                values["quat"] = rotation.resolve(word, values.pop(word), rules.degrees, rules.eulerseq)
        return _rewritten(node, values)

    # engine plugins

    def _extension(self, section: Node) -> None:
        for node in section.children:
            self.spec.activate_plugin(node.values["plugin"])
            for child in node.children:
                plugin = self._new(LISTED["plugin"], child)
                plugin._values.update(plugin_name=node.values["plugin"], active=1)
                plugin._config = _config(child)
                self.spec._lists["plugin"].append(plugin)

    def use_plugin(self, element: Any, node: Node) -> None:
        used = self._new(LISTED["plugin"], node)
        used._values.update(name=node.values.get("instance", ""), active=1)
        used._values["plugin_name"] = node.values.get("plugin", "")
        used._config = _config(node)
        element._values["plugin"] = used

    # lists

    def _listed(self, node: Node, section: str) -> None:
        kind = {"tendon": "tendon", "equality": "equality", "actuator": "actuator", "sensor": "sensor"}.get(
            section, node.tag
        )
        if kind == "flexcomp" or node.tag == "flexcomp":
            return  # it stands in the tree
        element = self._new(LISTED[kind], node)
        if kind in _ITEMS:
            item, element._class = self._item(node, kind, None)
            set_item(element, item)
        else:
            set_fields(element, {name: value for name, value in node.values.items() if name != "name"})
        more = MORE.get(kind)
        if more is not None:
            more(self, element, node)
        self.spec._lists[kind].append(element)


def _plain(value: Any) -> Any:
    return tuple(value.tolist()) if isinstance(value, np.ndarray) else value


def _config(node: Node) -> dict[str, str]:
    return {child.values["key"]: child.values["value"] for child in node.children if child.tag == "config"}


def _orient(element: Any, node: Node, quat: str, alt: str) -> None:
    if "quat" in node.values:
        element._values[quat] = np.array(node.values["quat"], float)
    for word in ORIENTATIONS:
        if word in node.values:
            element._values[alt].choose(word, node.values[word])


def _inertial(body: MjsBody, node: Node) -> None:
    values = body._values
    values["explicitinertial"], values["mass"] = 1, node.values["mass"]
    values["ipos"] = np.array(node.values["pos"], float)
    _orient(body, node, "iquat", "ialt")
    for name, attribute in (("inertia", "diaginertia"), ("fullinertia", "fullinertia")):
        if attribute in node.values:
            values[name] = np.array(node.values[attribute], float)


def _rewritten(node: Node, values: dict[str, Any]) -> Node:
    """A copy of an element and all in it, with attributes as text."""
    raw = {
        name: written(node.schema.attributes[name], value)
        for name, value in values.items()
        if name in node.schema.attributes
    }
    new = Node(node.tag, node.file, node.line, raw)
    new.children = [_rewritten(child, child.values) for child in node.children]
    return new

"""From a spec to MJCF elements, for compiling and for `to_xml`: one way for both, so that they cannot differ.

Elements hold all their values, so an attribute is written where it differs from that of the element's class. Angles
are written in radians and orientations as quaternions, each by the rules of the spec that the element was made in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.mj.spec.defaults import PROTOTYPES
from dovetail.mj.spec.problems import SpecError
from dovetail.mj.spec.units import in_radians, pose_quat
from dovetail.mjcf.read.schema import MUJOCO
from dovetail.mjcf.read.source import Node
from dovetail.mjcf.write.text import numbers, printed, written

if TYPE_CHECKING:
    from dovetail.mj.spec.defaults import MjsDefault
    from dovetail.mj.spec.element import Element
    from dovetail.mj.spec.spec import MjSpec
    from dovetail.mj.spec.tree import MjsBody, MjsFrame

SOURCE = "<MjSpec>"
"""What stands for the file of elements that a spec was written into; their line is their number."""
_WORLD = MUJOCO.children["worldbody"].children
_DEFAULT = MUJOCO.children["default"].children
_DEFAULT_TAGS = {"actuator": "general"}
_BUILT_IN: dict[str, Any] = {}
"""An element of each kind with MuJoCo's own values."""
_ORDER = ("joint", "geom", "site", "camera", "light", "body")
"""Order in which a body is written."""
_FREE = 0
"""Number of the free joint's type."""


def to_text(spec: MjSpec) -> str:
    """A spec as MJCF text."""
    writer = Writer(spec)
    root = writer.document()
    if writer.assets:
        name = next(iter(writer.assets))
        raise SpecError(f"MJCF has no place for the bytes of {name}; save it as a file and give its name")
    if len(writer.settings) > 1:
        _same_rules(writer.settings)
    return printed(root)


def _same_rules(settings: list[Any]) -> None:
    """Refuse specs whose attached parts are compiled by other rules: a text has only one `<compiler>`."""
    for other in settings[1:]:
        for name in ("autolimits", "inertiafromgeom", "balanceinertia", "boundmass", "boundinertia"):
            if getattr(other, name) != getattr(settings[0], name):
                raise SpecError(f"an attached spec has another compiler.{name}; one text cannot say both")


def attributes(element: Element, row: Any) -> dict[str, str]:
    """All attributes of an element that a row of the schema has, as text."""
    found: dict[str, str] = {}
    for field in element.FIELDS.values():
        kind = row.attributes.get(field.mjcf) if field.mjcf else None
        if kind is None:
            continue
        value = element._values[field.name]
        if (isinstance(value, str) and not value) or (hasattr(value, "copied") and not len(value)):
            continue
        found[field.mjcf] = written(kind, in_radians(element, field.name, value))
    found.update(SPECIAL[element.KIND](element, row) if element.KIND in SPECIAL else {})
    return {name: text for name, text in found.items() if name in row.attributes or name in _MARKS}


_MARKS = ("quat", "fromto")


def _geom(element: Any, row: Any) -> dict[str, str]:
    values = element._values
    found = _placed(element)
    found["shellinertia"] = "true" if int(values["typeinertia"]) else "false"
    found["fluidshape"] = "ellipsoid" if values["fluid_ellipsoid"] > 0 else "none"
    if not math.isnan(values["mass"]):
        found["mass"] = numbers([values["mass"]])
    return found


def _placed(element: Any, row: Any = None) -> dict[str, str]:
    """Pose by two ends, or by a place and a quaternion."""
    values = element._values
    if "fromto" in values and not math.isnan(values["fromto"][0]):
        return {"fromto": numbers(values["fromto"])}
    return {"quat": numbers(pose_quat(element))}


def _camera(element: Any, row: Any) -> dict[str, str]:
    found = _placed(element)
    values = element._values
    if values["resolution"].any():
        found["resolution"] = " ".join(str(int(x)) for x in values["resolution"])
    return found


def _material(element: Any, row: Any) -> dict[str, str]:
    used = {role: name for role, name in enumerate(element._values["textures"]) if name}
    return {"texture": used[1]} if set(used) == {1} else {}


SPECIAL: dict[str, Any] = {"geom": _geom, "site": _placed, "camera": _camera, "material": _material}
"""What kinds write in another way than attribute by attribute."""


def difference(element: Any, base: Any, row: Any) -> dict[str, str]:
    """What an element must write beside its class."""
    own, given = attributes(element, row), attributes(base, row)
    if "fromto" in own:
        own.pop("pos", None)
    if element.KIND == "camera" and element._values["sensor_size"].all():
        given = {name: text for name, text in given.items() if name not in ("resolution", "sensorsize")}
        own.pop("fovy")
    found = {name: text for name, text in own.items() if given.get(name) != text}
    for name in given.keys() - own.keys() - {"pos", "quat", "fovy", "name"}:
        found[name] = _unset(element, name, row)
    return found


def _unset(element: Any, name: str, row: Any) -> str:
    """What takes back an attribute of the class: an empty text, where that means nothing."""
    from dovetail.mjcf.read.kinds import Reference

    if isinstance(row.attributes.get(name), Reference):
        return ""
    raise SpecError(
        f"{element.KIND} {element._values['name']!r} lacks {name}, which its default class "
        f"{element.classname.name!r} has; MJCF cannot take that back: give it another classname"
    )


def _built_in(kind: str) -> Any:
    if kind not in _BUILT_IN:
        from dovetail.mj.spec.settings import MjsCompiler

        _BUILT_IN[kind] = PROTOTYPES[kind]()
        _BUILT_IN[kind]._settings = MjsCompiler()
    return _BUILT_IN[kind]


class Writer:
    """Writes one spec. Every element remembers what it was made of, for messages."""

    def __init__(self, spec: MjSpec) -> None:
        self.spec = spec
        self.made: list[Any] = [None]
        self.assets: dict[str, Any] = {}
        """Files that are not in the spec's own: the bytes of images."""
        self.settings: list[Any] = [spec.compiler]
        self.rules: dict[int, Any] = {}
        self.named_frames: set[int] = set()
        self.bodies: dict[int, Node] = {}
        """Bodies that are written already."""

    def node(self, tag: str, raw: dict[str, str], element: Any = None, children: Any = ()) -> Node:
        """An element of the document, made of something in the spec."""
        self.made.append(element)
        made = Node(tag, SOURCE, len(self.made) - 1, raw)
        made.children = list(children)
        if element is not None:
            made.rules = self._rules(element)
        return made

    def _rules(self, element: Any) -> Any:
        """Settings of the spec that an element was made in, if it is another one."""
        settings = getattr(element, "_settings", None)
        if settings is None or settings is self.spec.compiler:
            return None
        if id(settings) not in self.rules:
            self.rules[id(settings)] = compiler_rules(settings)
            self.settings.append(settings)
        return self.rules[id(settings)]

    def document(self) -> Node:
        """The whole spec."""
        from dovetail.mj.spec.writing_lists import sections

        root = self.node("mujoco", {"model": self.spec.modelname})
        before, after = sections(self)
        defaults = self._defaults(self.spec.default, None)
        world = self.node("worldbody", {}, None, self._tree())
        middle = [defaults] if defaults.children else []
        body = [world] if world.children else []
        root.children = [*before["settings"], *middle, *before["assets"], *body, *after]
        return root

    # default classes

    def _defaults(self, default: MjsDefault, parent: MjsDefault | None) -> Node:
        raw = {} if parent is None else {"class": default.name}
        node = self.node("default", raw)
        for kind in PROTOTYPES:
            tag = _DEFAULT_TAGS.get(kind, kind)
            if tag not in _DEFAULT:
                continue  # flexes have no defaults in MJCF
            base = parent._prototype(kind) if parent is not None else _built_in(kind)
            found = difference(default._prototype(kind), base, _DEFAULT[tag])
            if found:
                node.children.append(self.node(tag, found))
        node.children += [self._defaults(child, default) for child in default._children]
        return node

    # the tree

    def element(self, element: Any, row: Any, inherited: MjsDefault | None = None, tag: str = "") -> Node:
        """An element with the attributes that its class does not give it."""
        raw = {"name": element._values["name"]} if element._values["name"] else {}
        used = element.classname
        if inherited is not None and used is not inherited:
            raw["class"] = used.name
        found = difference(element, used._prototype(element.KIND), row)
        raw |= {name: text for name, text in found.items() if name != "name"}
        return self.node(tag or row.tag, raw, element)

    def _tree(self) -> list[Node]:
        """All that stands in the world; bodies from the last to the first, so that depth costs no Python stack."""
        world = self.spec.worldbody
        bodies = list(world._subtree())
        inherited: dict[int, MjsDefault] = {id(world): self.spec.default}
        for body in bodies:
            passed = self._childclass(body) or inherited[id(body)]
            inherited |= dict.fromkeys(map(id, body._children["body"]), passed)
        for body in reversed(bodies[1:]):
            self.bodies[id(body)] = self._body(body, inherited[id(body)])
        return self._contents(world, self.spec.default)

    def _childclass(self, body: MjsBody) -> MjsDefault | None:
        """The class that a body passes on, if it says one."""
        name = body._values["childclass"]
        found = self.spec.find_default(name) if name else None
        if name and found is None:
            raise SpecError(f"Error: unknown default class '{name}' of body '{body._values['name']}'")
        return found

    def _contents(self, body: MjsBody, inherited: MjsDefault) -> list[Node]:
        """All that stands in a body; frames are opened for each run of elements that stand in one."""
        pieces: list[tuple[Any, Node]] = []
        for kind in _ORDER:
            pieces += [(child._frame, self._child(child, inherited)) for child in body._children[kind]]
        pieces += [(frame, _anew(node)) for frame, node in body._raw]
        used = {id(frame) for inner, _ in pieces for frame in _chain(inner)}
        pieces += [
            (frame, self.node("", {}))
            for frame in body._children["frame"]
            if id(frame) not in used and frame._values["name"]
        ]
        return self._framed(pieces, None)

    def _framed(self, pieces: list[tuple[Any, Node]], around: MjsFrame | None) -> list[Node]:
        """Put runs of elements into their frames, outermost first."""
        out: list[Node] = []
        place = 0
        while place < len(pieces):
            outer = _frame_inside(pieces[place][0], around)
            run = place
            while run < len(pieces) and _frame_inside(pieces[run][0], around) is outer:
                run += 1
            if outer is None:
                out += [node for _, node in pieces[place:run] if node.tag]
            else:
                out.append(self._frame(outer, self._framed(pieces[place:run], outer)))
            place = run
        return out

    def _frame(self, frame: Any, children: list[Node]) -> Node:
        raw = self._pose(frame)
        if frame._values["name"] and id(frame) not in self.named_frames:
            self.named_frames.add(id(frame))
            raw = {"name": frame._values["name"], **raw}
        return self.node("frame", raw, frame, children)

    @staticmethod
    def _pose(element: Any) -> dict[str, str]:
        quat, pos = pose_quat(element), element._values["pos"]
        found = {"pos": numbers(pos)} if pos.any() else {}
        return found | ({"quat": numbers(quat)} if tuple(quat) != (1.0, 0.0, 0.0, 0.0) else {})

    def _child(self, child: Any, inherited: MjsDefault) -> Node:
        if child.KIND == "body":
            return self.bodies[id(child)]
        if child.KIND == "joint":
            return self._joint(child, inherited)
        node = self.element(child, _WORLD[child.KIND], inherited)
        if child.KIND == "site" and "fromto" not in node.raw:
            node.raw.setdefault("pos", numbers(child._values["pos"]))
            names = [name for name in ("name", "class", "pos") if name in node.raw]
            node.raw = {name: node.raw[name] for name in (*names, *(n for n in node.raw if n not in names))}
        if child.KIND == "geom":
            node.children += self.plugin(child)
        return node

    def _body(self, body: MjsBody, inherited: MjsDefault) -> Node:
        values = body._values
        own = self._childclass(body)
        raw = {"name": values["name"]} if values["name"] else {}
        if own is not None and own is not inherited:
            raw["childclass"] = own.name
        raw |= self._pose(body)
        row = _WORLD["body"]
        raw |= {"mocap": "true"} if values["mocap"] else {}
        raw |= {"gravcomp": numbers([values["gravcomp"]])} if values["gravcomp"] else {}
        raw |= {"sleep": written(row.attributes["sleep"], int(values["sleep"]))} if values["sleep"] else {}
        raw |= {"user": numbers(list(values["userdata"]))} if len(values["userdata"]) else {}
        node = self.node("body", raw, body)
        node.children = [
            *self._inertial(body),
            *self.plugin(body),
            *self._contents(body, own or inherited),
        ]
        return node

    def _inertial(self, body: MjsBody) -> list[Node]:
        values = body._values
        if math.isnan(values["ipos"][0]) and not values["explicitinertial"]:
            return []
        raw = {"pos": numbers(np.nan_to_num(values["ipos"])), "mass": numbers([values["mass"]])}
        if math.isnan(values["fullinertia"][0]):
            raw |= {
                "quat": numbers(pose_quat(body, "iquat", "ialt")),
                "diaginertia": numbers(values["inertia"]),
            }
        else:
            raw["fullinertia"] = numbers(values["fullinertia"])
        return [self.node("inertial", raw, body)]

    def _joint(self, joint: Any, inherited: MjsDefault) -> Node:
        values = joint._values
        if int(values["type"]) != _FREE:
            return self.element(joint, _WORLD["joint"], inherited)
        plain = difference(joint, _built_in("joint"), _WORLD["joint"])
        if plain.keys() <= {"type", "group", "name", "pos", "axis"}:
            raw = {"name": values["name"]} if values["name"] else {}
            raw |= {"group": str(values["group"])} if values["group"] else {}
            raw |= {"align": ("false", "true")[values["align"]]} if values["align"] in (0, 1) else {}
            return self.node("freejoint", raw, joint)
        if values["align"] in (0, 1) and values["align"] != self.spec.compiler.alignfree:
            raise SpecError(
                f"free joint {values['name']!r} has align and attributes that MJCF's freejoint has not; "
                "set compiler.alignfree instead"
            )
        return self.element(joint, _WORLD["joint"], inherited)

    # engine plugins

    def plugin(self, element: Any) -> list[Node]:
        """The `<plugin>` of an element that uses one."""
        used = element._values["plugin"]
        if not used._values["active"]:
            return []
        return [self.node("plugin", self.plugin_attributes(used), element, self.configs(used))]

    def plugin_attributes(self, used: Any) -> dict[str, str]:
        """Which plugin an element uses: an instance by its name, or one of its own."""
        values = used._values
        listed = any(other._values["name"] == values["name"] for other in self.spec._lists["plugin"])
        if values["name"] and listed:
            return {"instance": values["name"]}
        return {"plugin": values["plugin_name"]}

    def configs(self, used: Any) -> list[Node]:
        """The configuration, unless it is that of a shared instance."""
        if "instance" in self.plugin_attributes(used):
            return []
        return self.config_nodes(used)

    def config_nodes(self, used: Any) -> list[Node]:
        """The configuration of a plugin."""
        return [
            self.node("config", {"key": key, "value": value}, used) for key, value in used._config.items()
        ]


def compiler_rules(settings: Any) -> Any:
    """What the compiler calls the settings of an attached spec; angles and files are settled when it is written."""
    from dovetail.mjcf.elements.compiler import CompilerSettings

    flags = (
        "autolimits",
        "balanceinertia",
        "fitaabb",
        "discardvisual",
        "fusestatic",
        "saveinertial",
        "alignfree",
    )
    rules = CompilerSettings(angle="radian", inertiafromgeom=int(settings.inertiafromgeom))
    low, high = settings.inertiagrouprange.tolist()
    rules.inertiagrouprange = low, high
    for name in flags:
        setattr(rules, name, bool(getattr(settings, name)))
    for name in ("boundmass", "boundinertia", "settotalmass"):
        setattr(rules, name, float(getattr(settings, name)))
    return rules


def _anew(node: Node) -> Node:
    """A copy of an element that was kept as it was written: compiling leaves marks on it."""
    new = Node(node.tag, node.file, node.line, dict(node.raw))
    new.children = [_anew(child) for child in node.children]
    return new


def _chain(frame: Any) -> Iterator[Any]:
    """A frame and those around it."""
    while frame is not None:
        yield frame
        frame = frame._frame


def _frame_inside(frame: Any, around: Any) -> Any:
    """The outermost frame of a chain that stands in `around`; None if the chain ends there."""
    found = None
    while frame is not None and frame is not around:
        found, frame = frame, frame._frame
    return found

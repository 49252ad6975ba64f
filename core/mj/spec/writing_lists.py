"""Sections of a spec outside of the tree, as MJCF elements."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.enums import EqType, ObjType, SensorType, TextureRole, TrnType
from dovetail.mj.spec.problems import SpecError
from dovetail.mj.spec.sensor_rules import check_sensor
from dovetail.mj.spec.settings import MjLROpt, MjOption, MjsCompiler, MjStatistic, MjVisual
from dovetail.mj.spec.units import in_radians
from dovetail.mjcf.read.schema import MUJOCO
from dovetail.mjcf.write.text import numbers, written
from dovetail.mjcf.write.words import TARGETS, Sensed, equality_attributes, sensor_attributes

if TYPE_CHECKING:
    from dovetail.mj.spec.element import Record
    from dovetail.mj.spec.writing import Writer
    from dovetail.mjcf.read.source import Node

_ROWS = MUJOCO.children
_USER_SIZES = {
    "nuser_body": "body",
    "nuser_jnt": "joint",
    "nuser_geom": "geom",
    "nuser_site": "site",
    "nuser_cam": "camera",
    "nuser_tendon": "tendon",
    "nuser_actuator": "actuator",
    "nuser_sensor": "sensor",
}
_FACES = ("fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_MARKS = ("none", "edge", "cross", "random")
_ELASTIC = ("none", "bend", "stretch", "both")
_TEXTURE_TYPE = "image/vnd.mujoco.texture"


def sections(writer: Writer) -> tuple[dict[str, list[Node]], list[Node]]:
    """All sections but the default classes and the world: those before, and those after it."""
    before = {
        "settings": _settings(writer),
        "assets": [*_extension(writer), *_custom(writer), *_assets(writer)],
    }
    after = [
        _section(writer, "contact", ("pair", "exclude")),
        _section(writer, "deformable", ("flex", "skin")),
        _section(writer, "equality", ("equality",)),
        _section(writer, "tendon", ("tendon",)),
        _section(writer, "actuator", ("actuator",)),
        _section(writer, "sensor", ("sensor",)),
        _section(writer, "keyframe", ("key",)),
    ]
    return before, [section for section in after if section.children]


def _section(writer: Writer, tag: str, kinds: tuple[str, ...]) -> Node:
    nodes = [_WRITERS[kind](writer, element) for kind in kinds for element in writer.spec._lists[kind]]
    return writer.node(tag, {}, None, nodes)


# settings


def changed(record: Record, base: Record, row: Any) -> dict[str, str]:
    """Settings that are not MuJoCo's own."""
    found = {}
    for name, field in record.FIELDS.items():
        kind = row.attributes.get(field.mjcf) if field.mjcf else None
        value = record._values[name]
        if kind is not None and not np.array_equal(value, base._values[name], equal_nan=_real(value)):
            found[field.mjcf] = written(kind, value)
    return found


def _real(value: Any) -> bool:
    return np.asarray(value).dtype.kind == "f"


def _settings(writer: Writer) -> list[Node]:
    spec = writer.spec
    compiler = _compiler(writer)
    option = writer.node("option", changed(spec.option, MjOption(), _ROWS["option"]))
    groups = [str(bit) for bit in range(31) if spec.option.disableactuator >> bit & 1]
    option.raw |= {"actuatorgroupdisable": " ".join(groups)} if groups else {}
    flags = {word: "enable" if on else "disable" for word, on in spec.option.flags.items()}
    option.children = [writer.node("flag", flags)] if flags else []
    visual = writer.node("visual", {})
    for tag, row in _ROWS["visual"].children.items():
        name = "global_" if tag == "global" else tag
        found = changed(spec.visual._values[name], MjVisual()._values[name], row)
        visual.children += [writer.node(tag, found)] if found else []
    statistic = writer.node("statistic", changed(spec.stat, MjStatistic(), _ROWS["statistic"]))
    every = [compiler, option, writer.node("size", _sizes(spec)), visual, statistic]
    return [node for node in every if node.raw or node.children]


def _compiler(writer: Writer) -> Node:
    spec = writer.spec
    raw = {"angle": "radian", **changed(spec.compiler, MjsCompiler(), _ROWS["compiler"])}
    if spec.strippath:
        raw["strippath"] = "true"
    if _several(spec):
        raw.pop("meshdir", None)
        raw.pop("texturedir", None)
    node = writer.node("compiler", raw)
    row = _ROWS["compiler"].children["lengthrange"]
    ranges = changed(spec.compiler.LRopt, MjLROpt(), row)
    node.children = [writer.node("lengthrange", ranges)] if ranges else []
    return node


def _sizes(spec: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in ("memory", "njmax", "nconmax", "nstack"):
        found |= {name: str(getattr(spec, name))} if getattr(spec, name) != -1 else {}
    for name in ("nuserdata", "nkey"):
        found |= {name: str(getattr(spec, name))} if getattr(spec, name) else {}
    for name, kind in _USER_SIZES.items():
        given = getattr(spec, name)
        longest = max((len(e._values["userdata"]) for e in spec._of_kind(kind)), default=0)
        size = longest if given == -1 else given
        found |= {name: str(size)} if size or given != -1 else {}
    return found


# assets and custom data


def _extension(writer: Writer) -> list[Node]:
    spec = writer.spec
    names = list(spec._plugins_used)
    instances = [plugin for plugin in spec._lists["plugin"] if plugin._values["name"]]
    names += [p._values["plugin_name"] for p in instances if p._values["plugin_name"] not in names]
    nodes = []
    for name in dict.fromkeys(names):
        node = writer.node("plugin", {"plugin": name})
        for plugin in instances:
            if plugin._values["plugin_name"] == name:
                raw = {"name": plugin._values["name"]}
                node.children.append(writer.node("instance", raw, plugin, writer.config_nodes(plugin)))
        nodes.append(node)
    return [writer.node("extension", {}, None, nodes)] if nodes else []


def _custom(writer: Writer) -> list[Node]:
    node = _section(writer, "custom", ("numeric", "text", "tuple"))
    return [node] if node.children else []


def _assets(writer: Writer) -> list[Node]:
    node = _section(writer, "asset", ("texture", "material", "mesh", "hfield"))
    return [node] if node.children else []


def _plain(writer: Writer, element: Any, row: Any, **more: str) -> Node:
    """An element without default class: what is not MuJoCo's own value."""
    from dovetail.mj.spec.writing import attributes

    base = type(element)()
    base._settings = element._settings
    own, given = attributes(element, row), attributes(base, row)
    raw = {name: text for name, text in own.items() if given.get(name) != text}
    return writer.node(row.tag, {**raw, **{name: text for name, text in more.items() if text}}, element)


def _several(spec: Any) -> bool:
    """Whether assets of several specs are together, each with folders of its own."""
    kinds = ("mesh", "texture", "hfield", "skin")
    return any(e._settings is not spec.compiler for kind in kinds for e in spec._lists[kind])


def _file(writer: Writer, element: Any, name: str) -> str:
    """The path of an asset's file as the document has to say it."""
    spec, owner = writer.spec, getattr(element, "_origin", None)
    if not name or not _several(spec):
        return name
    folder = element._settings.texturedir if element.KIND == "texture" else element._settings.meshdir
    path = os.path.join(folder, name)
    if os.path.normpath(path) in spec._assets or name in spec._assets or os.path.isabs(path):
        return name if name in spec._assets else path
    return os.path.abspath(os.path.join(owner, path)) if owner else path


def _mesh(writer: Writer, element: Any) -> Node:
    values = element._values
    for name in ("userfacenormal", "userfacetexcoord"):
        if len(values[name]):
            raise SpecError(
                f"mesh '{values['name']}' has {name}, which MJCF cannot say; give normals and texture coordinates "
                "for each vertex, or name a file"
            )
    node = writer.element(element, _ROWS["asset"].children["mesh"])
    if element.classname is not writer.spec.default:
        node.raw = {"class": element.classname.name, **node.raw}
    if values["file"]:
        node.raw["file"] = _file(writer, element, values["file"])
    node.children += writer.plugin(element)
    return node


def _hfield(writer: Writer, element: Any) -> Node:
    values = element._values
    data = np.array(list(values["userdata"]), np.float32)
    if data.size == values["nrow"] * values["ncol"] and data.size:
        data = data.reshape(values["nrow"], values["ncol"])[::-1]
    row = _ROWS["asset"].children["hfield"]
    node = _plain(writer, element, row, elevation=numbers(data, single=True))
    node.raw.setdefault("size", numbers(values["size"]))
    if values["file"]:
        node.raw["file"] = _file(writer, element, values["file"])
    return node


def _texture(writer: Writer, element: Any) -> Node:
    values = element._values
    more = {
        face: _file(writer, element, name) for face, name in zip(_FACES, values["cubefiles"], strict=False)
    }
    letters = "".join(values["gridlayout"])
    if letters.strip("."):
        more["gridlayout"] = letters[: int(np.prod(values["gridsize"]))]
    more["mark"] = _MARKS[values["mark"]] if values["mark"] else ""
    node = _plain(writer, element, _ROWS["asset"].children["texture"], **more)
    if len(values["data"]):
        node.raw |= _image(writer, element)
        for name in ("width", "height", "builtin"):
            node.raw.pop(name, None)
    elif values["file"]:
        node.raw["file"] = _file(writer, element, values["file"])
    return node


def _image(writer: Writer, element: Any) -> dict[str, str]:
    """The bytes of an image as a file that goes along with the document."""
    values = element._values
    pixels = np.array(list(values["data"]), np.uint8)
    width, height, channels = values["width"], values["height"], values["nchannel"]
    if pixels.size != width * height * channels:
        raise SpecError(
            f"texture '{values['name']}' has {pixels.size} bytes for {width} x {height} pixels of {channels} channels"
        )
    name = f"texture {len(writer.assets)} of the spec"
    if channels == 3:
        writer.assets[name] = struct.pack("<2i", width, height) + pixels.tobytes()
        return {"file": name, "content_type": _TEXTURE_TYPE}
    from dovetail.mjcf.geometry.images import encode_png

    writer.assets[name] = encode_png(pixels.reshape(height, width, channels))
    return {"file": name, "content_type": "image/png"}


def _material(writer: Writer, element: Any) -> Node:
    node = writer.element(element, _ROWS["asset"].children["material"], writer.spec.default)
    if "texture" not in node.raw:
        used = {role: name for role, name in enumerate(element._values["textures"]) if name}
        if set(used) != {1}:
            for role, name in used.items():
                raw = {"texture": name, "role": TextureRole(role).keyword}
                node.children.append(writer.node("layer", raw, element))
    return node


def _numeric(writer: Writer, element: Any) -> Node:
    return _plain(writer, element, _ROWS["custom"].children["numeric"])


def _text(writer: Writer, element: Any) -> Node:
    node = _plain(writer, element, _ROWS["custom"].children["text"])
    node.raw.setdefault("data", "")
    return node


def _tuple(writer: Writer, element: Any) -> Node:
    values = element._values
    node = _plain(writer, element, _ROWS["custom"].children["tuple"])
    counts = {len(values[name]) for name in ("objtype", "objname", "objprm")}
    if len(counts) > 1:
        raise SpecError(f"tuple '{values['name']}': objtype, objname and objprm must have one length")
    for number, name, prm in zip(values["objtype"], values["objname"], values["objprm"], strict=True):
        raw = {"objtype": ObjType(number).keyword, "objname": name, "prm": numbers([prm])}
        node.children.append(writer.node("element", raw, element))
    return node


# what connects


def _pair(writer: Writer, element: Any) -> Node:
    return writer.element(element, _ROWS["contact"].children["pair"], writer.spec.default)


def _exclude(writer: Writer, element: Any) -> Node:
    return _plain(writer, element, _ROWS["contact"].children["exclude"])


def _skin(writer: Writer, element: Any) -> Node:
    values = element._values
    node = _plain(writer, element, _ROWS["deformable"].children["skin"])
    if values["file"]:
        node.raw["file"] = _file(writer, element, values["file"])
    places = np.array(list(values["bindpos"]), np.float32).reshape(-1, 3)
    turns = np.array(list(values["bindquat"]), np.float32).reshape(-1, 4)
    lists = (values["bodyname"], places, turns, values["vertid"], values["vertweight"])
    if len({len(part) for part in lists}) > 1:
        raise SpecError(f"skin '{values['name']}': each of its bodies needs a pose, vertices and weights")
    for body, pos, quat, vertices, weights in zip(*lists, strict=True):
        raw = {"body": body, "bindpos": numbers(pos, True), "bindquat": numbers(quat, True)}
        raw |= {"vertid": " ".join(map(str, vertices)), "vertweight": numbers(weights, True)}
        node.children.append(writer.node("bone", raw, element))
    return node


def _flex(writer: Writer, element: Any) -> Node:
    values = element._values
    row = _ROWS["deformable"].children["flex"]
    bodies = {"body": " ".join(values["vertbody"]), "node": " ".join(values["nodebody"])}
    if len(values["node"]):
        raise SpecError(f"flex '{values['name']}' gives places of nodes, which MJCF cannot say; use bodies")
    node = _plain(writer, element, row, **bodies)
    contact = _plain(writer, element, row.children["contact"])
    edge = writer.node("edge", {}, element)
    for field, name in (("edgestiffness", "stiffness"), ("edgedamping", "damping")):
        edge.raw |= {name: numbers([values[field]])} if values[field] else {}
    elastic = _plain(writer, element, _without(row.children["elasticity"], "elastic2d"))
    if values["elastic2d"]:
        elastic.raw["elastic2d"] = _ELASTIC[values["elastic2d"]]
    node.children = [child for child in (contact, edge, elastic) if child.raw]
    return node


def _without(row: Any, name: str) -> Any:
    import attrs

    return attrs.evolve(row, attributes={key: kind for key, kind in row.attributes.items() if key != name})


def _equality(writer: Writer, element: Any) -> Node:
    values = element._values
    kind, data = EqType(int(values["type"])), values["data"]
    if kind.keyword not in _ROWS["equality"].children:
        raise SpecError(f"equalities of type {kind.keyword} are no longer supported; use another")
    row = _ROWS["equality"].children[kind.keyword]
    node = writer.element(element, row, writer.spec.default)
    names = (values["name1"], values["name2"])
    node.raw |= equality_attributes(kind, int(values["objtype"]), names, data)
    return node


def _tendon(writer: Writer, element: Any) -> Node:
    fixed = bool(element._path) and element._path[0]._kind == "joint"
    row = _ROWS["tendon"].children["fixed" if fixed else "spatial"]
    node = writer.element(element, row, writer.spec.default)
    for wrap in element._path:
        raw = {} if wrap._kind == "pulley" else {wrap._kind: wrap._name}
        raw |= {"sidesite": wrap._side} if wrap._side else {}
        raw |= {
            "joint": {"coef": numbers([wrap._number])},
            "pulley": {"divisor": numbers([wrap._number])},
        }.get(wrap._kind, {})
        node.children.append(writer.node(wrap._kind, raw, element))
    return node


def _actuator(writer: Writer, element: Any) -> Node:
    values = element._values
    used = values["plugin"]
    row = _ROWS["actuator"].children["plugin" if used._values["active"] else "general"]
    node = writer.element(element, row, writer.spec.default)
    if values["inheritrange"] > 0:
        node.raw |= _inherited(writer, element)
    kind = int(values["trntype"])
    if kind in list(TARGETS) and values["target"]:
        node.raw[TARGETS[TrnType(kind)]] = values["target"]
    if kind == TrnType.SLIDERCRANK:
        node.raw |= {"cranklength": numbers([values["cranklength"]])}
        node.raw |= {"slidersite": values["slidersite"]} if values["slidersite"] else {}
    if values["refsite"]:
        node.raw["refsite"] = values["refsite"]
    if used._values["active"]:
        node.raw |= writer.plugin_attributes(used)
        node.children = writer.configs(used)
    return node


def _inherited(writer: Writer, element: Any) -> dict[str, str]:
    """The range of the joint or tendon, scaled about its middle, which an actuator takes over."""
    values = element._values
    kind = {TrnType.JOINT: "joint", TrnType.TENDON: "tendon"}.get(values["trntype"])
    target = writer.spec._find(kind, values["target"]) if kind else None
    if target is None:
        raise SpecError(f"actuator '{values['name']}': inheritrange needs a joint or tendon with a range")
    low, high = in_radians(target, "range", target._values["range"])
    if not low < high:
        raise SpecError(f"actuator '{values['name']}': {kind} '{values['target']}' has no range to inherit")
    middle, radius = 0.5 * (low + high), 0.5 * (high - low) * values["inheritrange"]
    name = "actrange" if int(values["dyntype"]) == 1 else "ctrlrange"
    return {name: numbers([middle - radius, middle + radius])}


def _sensor(writer: Writer, element: Any) -> Node:
    values = element._values
    kind = SensorType(int(values["type"]))
    check_sensor(element, kind)
    row = _ROWS["sensor"].children[kind.keyword]
    node = _plain(writer, element, row)
    sensed = Sensed(
        kind,
        (int(values["objtype"]), int(values["reftype"])),
        (values["objname"], values["refname"]),
        tuple(int(number) for number in values["intprm"]),
        (int(values["datatype"]), int(values["needstage"]), int(values["dim"])),
    )
    node.raw |= sensor_attributes(sensed, row)
    if kind == SensorType.PLUGIN:
        node.raw |= writer.plugin_attributes(values["plugin"])
        node.children = writer.configs(values["plugin"])
    return node


def _key(writer: Writer, element: Any) -> Node:
    return _plain(writer, element, _ROWS["keyframe"].children["key"])


_WRITERS: dict[str, Any] = {
    "texture": _texture,
    "material": _material,
    "mesh": _mesh,
    "hfield": _hfield,
    "numeric": _numeric,
    "text": _text,
    "tuple": _tuple,
    "pair": _pair,
    "exclude": _exclude,
    "flex": _flex,
    "skin": _skin,
    "equality": _equality,
    "tendon": _tendon,
    "actuator": _actuator,
    "sensor": _sensor,
    "key": _key,
}

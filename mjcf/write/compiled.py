"""A compiled Model as MJCF: its arrays, element by element, so that reading gives the same Model.

Which field an attribute becomes is known from the elements' own tables (`COLUMNS`), and an attribute is written
where it differs from the item's default. Everything the compiler would derive is written down: inertias, limits,
reference positions, ranges of lengths. Meshes, height fields and skins are written with their numbers; textures as
the built-in pattern that gives the same pixels, or as files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from dovetail.contracts.engine_plugins import ATTRIBUTES
from dovetail.contracts.enums import (
    DisableBit,
    EnableBit,
    GeomType,
    JointType,
    ObjType,
    SleepPolicy,
    TextureRole,
)
from dovetail.contracts.fields import specs_of
from dovetail.contracts.option import Option
from dovetail.contracts.visual import VISUAL_GROUPS
from dovetail.errors import CannotWriteError
from dovetail.mjcf.elements import (
    body,
    camera,
    geom,
    joint,
    light,
    material,
    site,
)
from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.object_kinds import USER_SIZES
from dovetail.mjcf.read.schema import MUJOCO
from dovetail.mjcf.read.source import Node
from dovetail.mjcf.write import connections
from dovetail.mjcf.write.meshes import MeshWriter
from dovetail.mjcf.write.text import numbers, written
from dovetail.mjcf.write.textures import texture_attributes

_ROWS = MUJOCO.children
_TREE = _ROWS["worldbody"].children
_DEFAULT = _ROWS["default"].children
_IDENTITY = (1.0, 0.0, 0.0, 0.0)
_WITH_MESH = (GeomType.MESH, GeomType.SDF)
_USER = {kind: size for size, kind in USER_SIZES.items()}
_LISTS = {ObjType.XBODY: "body"}


class ModelWriter:
    """Writes one Model; `files`, if given, takes what MJCF can only name (images)."""

    def __init__(self, model: Any, files: dict[str, bytes] | None, tables: Any) -> None:
        self.model, self.files, self.tables = model, files, tables
        self.meshes = MeshWriter(self)
        self.classes: dict[tuple[str, str], tuple[str, Node]] = {}
        """Default classes for what elements cannot say themselves."""
        self.children: dict[int, list[int]] = {}
        for number, parent in enumerate(model.body_parentid[1:], 1):
            self.children.setdefault(int(parent), []).append(number)

    def document(self) -> Node:
        """The whole Model."""
        model = self.model
        if model.sizes["nflex"]:
            raise CannotWriteError(
                f"flex {self.label('flex', 0)}: a compiled flex no longer has its material constants, which MJCF "
                "needs; write the model it was compiled from"
            )
        root = self.node("mujoco", {"model": model.modelname})
        sections = [
            self.node("compiler", {"angle": "radian", "inertiafromgeom": "false"}),
            self._option(),
            self.node("size", self._sizes()),
            self._visual(),
            self.node("statistic", self._statistic()),
            self.node("extension", {}, self._plugins()),
            self.node("custom", {}, self._custom()),
            self.node("asset", {}, self._assets()),
            self.node("worldbody", {}, self._contents(0)),
            self.node("contact", {}, connections.contact_nodes(self)),
            self.node("deformable", {}, self.each("skin", partial(connections.skin_node, self))),
            self.node("equality", {}, self.each("equality", partial(connections.equality_node, self))),
            self.node("tendon", {}, self.each("tendon", partial(connections.tendon_node, self))),
            self.node("actuator", {}, self.each("actuator", partial(connections.actuator_node, self))),
            self.node("sensor", {}, self.each("sensor", partial(connections.sensor_node, self))),
            self.node("keyframe", {}, self.each("key", partial(connections.key_node, self))),
        ]
        sections.insert(5, self._defaults())
        root.children = [section for section in sections if section.raw or section.children]
        return root

    def class_name(self, tag: str, raw: dict[str, str]) -> str:
        """Name of a default class with some attributes."""
        key = tag, repr(raw)
        if key not in self.classes:
            self.classes[key] = f"{tag} {len(self.classes)}", self.node(tag, raw)
        return self.classes[key][0]

    def _defaults(self) -> Node:
        classes = [self.node("default", {"class": name}, [node]) for name, node in self.classes.values()]
        return self.node("default", {}, classes)

    # what all elements need

    def node(self, tag: str, raw: dict[str, str], children: Iterable[Node] = ()) -> Node:
        """An element."""
        made = Node(tag, "<Model>", 0, raw)
        made.children = list(children)
        return made

    def name(self, kind: str, number: int) -> str:
        """Name of an object, or an empty text."""
        names = self.model.object_names[kind]
        return str(names[number]) if number < len(names) else ""

    def label(self, kind: str, number: int) -> str:
        """An object for a message."""
        return repr(self.name(kind, number)) if self.name(kind, number) else f"number {number}"

    def refer(self, kind: str, number: int, what: str) -> str:
        """Name of an object that another one refers to; without one MJCF cannot."""
        name = self.name(kind, number)
        if not name:
            raise CannotWriteError(
                f"{what} refers to {kind} number {number}, which has no name: MJCF needs one"
            )
        return name

    def named(self, kind: str, number: int) -> dict[str, str]:
        """The attribute `name`, if the object has one."""
        name = self.name(kind, number)
        return {"name": name} if name else {}

    def columns(
        self, columns: Columns, number: int, item: Any, row: Any, skip: Iterable[str] = ()
    ) -> dict[str, str]:
        """Attributes of one object by the table that fills the model, where they differ from the item's defaults."""
        found: dict[str, str] = {}
        for field, attribute in columns.items():
            if not isinstance(attribute, str) or attribute in skip or attribute not in row.attributes:
                continue
            value = np.asarray(self.model.field(field))[number]
            default = np.asarray(getattr(item, attribute), value.dtype)
            same = value.shape == default.shape and np.array_equal(value, default)
            if not same and (attribute != "user" or value.any()):
                found[attribute] = written(row.attributes[attribute], value)
        return found

    def each(self, kind: str, write: Callable[[int], Node]) -> list[Node]:
        """All objects of a kind."""
        return [write(number) for number in range(len(self.model.object_names[kind]))]

    # settings

    def _option(self) -> Node:
        option, row = self.model.opt, _ROWS["option"]
        raw = {}
        for spec in specs_of(Option):
            value = np.asarray(getattr(option, spec.name))
            if spec.name in row.attributes and not np.array_equal(
                value, np.broadcast_to(spec.init, value.shape)
            ):
                raw[spec.name] = written(row.attributes[spec.name], value if value.ndim else value.item())
        groups = [str(bit) for bit in range(31) if int(option.disableactuator) >> bit & 1]
        raw |= {"actuatorgroupdisable": " ".join(groups)} if groups else {}
        flags = {bit.keyword: "disable" for bit in DisableBit if int(option.disableflags) & int(bit)}
        flags |= {bit.keyword: "enable" for bit in EnableBit if int(option.enableflags) & int(bit)}
        return self.node("option", raw, [self.node("flag", flags)] if flags else [])

    def _sizes(self) -> dict[str, str]:
        sizes = self.model.sizes
        found = {name: str(sizes[name]) for name in ("njmax", "nconmax") if sizes[name] != -1}
        found |= {"nuserdata": str(sizes["nuserdata"])} if sizes["nuserdata"] else {}
        return found | {name: str(sizes[name]) for name in USER_SIZES if sizes[name]}

    def _visual(self) -> Node:
        section = self.node("visual", {})
        for path, declared in VISUAL_GROUPS.items():
            tag = path.removeprefix("vis.").rstrip("_")
            row, raw = _ROWS["visual"].children[tag], {}
            for spec in specs_of(declared):
                value = np.asarray(self.model.field(f"{path}.{spec.name}"))
                if not np.array_equal(value, np.broadcast_to(spec.init, value.shape).astype(value.dtype)):
                    raw[spec.name] = written(row.attributes[spec.name], value if value.ndim else value.item())
            section.children += [self.node(tag, raw)] if raw else []
        return section

    def _statistic(self) -> dict[str, str]:
        stat = self.model.stat
        names = ("meaninertia", "meanmass", "meansize", "extent")
        return {**{name: numbers([getattr(stat, name)]) for name in names}, "center": numbers(stat.center)}

    # engine plugins

    def _plugins(self) -> list[Node]:
        """Every plugin that is used, with its instances that have names."""
        known = list(ATTRIBUTES)
        used = [known[int(slot)] for slot in self.model.plugin]
        made = []
        for name in dict.fromkeys(used):
            node = self.node("plugin", {"plugin": name})
            for number, other in enumerate(used):
                if other == name and self.name("plugin", number):
                    node.children.append(
                        self.node("instance", self.named("plugin", number), self._config(number))
                    )
            made.append(node)
        return made

    def _config(self, number: int) -> list[Node]:
        model = self.model
        names = list(ATTRIBUTES.values())[int(model.plugin[number])]
        start = int(model.plugin_attradr[number])
        texts = bytes(np.asarray(model.plugin_attr, np.uint8)[start:]).split(b"\0")
        pairs = zip(names, texts, strict=False)
        return [self.node("config", {"key": key, "value": text.decode()}) for key, text in pairs if text]

    def plugin_use(self, number: int) -> tuple[dict[str, str], list[Node]]:
        """Which plugin an element uses: an instance by its name, or one of its own."""
        if self.name("plugin", number):
            return {"instance": self.name("plugin", number)}, []
        return {"plugin": list(ATTRIBUTES)[int(self.model.plugin[number])]}, self._config(number)

    def _plugin(self, number: int) -> list[Node]:
        if number < 0:
            return []
        raw, configs = self.plugin_use(number)
        return [self.node("plugin", raw, configs)]

    # custom data and assets

    def _custom(self) -> list[Node]:
        return [
            *self.each("numeric", self._numeric),
            *self.each("text", self._text),
            *self.each("tuple", self._tuple),
        ]

    def _numeric(self, number: int) -> Node:
        model = self.model
        start, size = int(model.numeric_adr[number]), int(model.numeric_size[number])
        data = model.numeric_data[start : start + size]
        return self.node(
            "numeric", {**self.named("numeric", number), "size": str(size), "data": numbers(data)}
        )

    def _text(self, number: int) -> Node:
        model = self.model
        start, size = int(model.text_adr[number]), int(model.text_size[number])
        data = bytes(np.asarray(model.text_data, np.uint8)[start : start + size - 1]).decode()
        return self.node("text", {**self.named("text", number), "data": data})

    def _tuple(self, number: int) -> Node:
        model = self.model
        node = self.node("tuple", self.named("tuple", number))
        start = int(model.tuple_adr[number])
        for place in range(start, start + int(model.tuple_size[number])):
            kind = ObjType(int(model.tuple_objtype[place]))
            word = _LISTS.get(kind, kind.keyword)
            name = self.refer(word, int(model.tuple_objid[place]), f"tuple {self.label('tuple', number)}")
            raw = {"objtype": kind.keyword, "objname": name, "prm": numbers([model.tuple_objprm[place]])}
            node.children.append(self.node("element", raw))
        return node

    def _assets(self) -> list[Node]:
        return [
            *self.each("texture", self._texture),
            *self.each("material", self._material),
            *self.each("mesh", self.meshes.write),
            *self.each("hfield", self._hfield),
        ]

    def _texture(self, number: int) -> Node:
        found = texture_attributes(self.model, number, self.label("texture", number), self.files)
        return self.node("texture", {**self.named("texture", number), **found})

    def _material(self, number: int) -> Node:
        row = _ROWS["asset"].children["material"]
        raw = self.columns(material.COLUMNS, number, material.MaterialItem(), row)
        node = self.node("material", {**self.named("material", number), **raw})
        used = {
            role: self.refer("texture", int(texture), f"material {self.label('material', number)}")
            for role, texture in enumerate(self.model.mat_texid[number])
            if texture >= 0
        }
        if set(used) == {int(TextureRole.RGB)}:
            node.raw["texture"] = used[int(TextureRole.RGB)]
        else:
            node.children = [
                self.node("layer", {"texture": name, "role": TextureRole(role).keyword})
                for role, name in used.items()
            ]
        return node

    def _hfield(self, number: int) -> Node:
        model = self.model
        rows, columns = int(model.hfield_nrow[number]), int(model.hfield_ncol[number])
        start = int(model.hfield_adr[number])
        data = model.hfield_data[start : start + rows * columns].reshape(rows, columns)[::-1]
        raw = {"nrow": str(rows), "ncol": str(columns), "size": numbers(model.hfield_size[number])}
        return self.node("hfield", {**self.named("hfield", number), **raw, "elevation": numbers(data, True)})

    # the tree

    def _contents(self, number: int) -> list[Node]:
        """All that stands in a body; iterative over bodies, so that depth costs no Python stack."""
        top: list[Node] = []
        stack = [(number, top)]
        while stack:
            place, target = stack.pop()
            target += self._parts(place)
            for child in self.children.get(place, []):
                made = self._body(child)
                target.append(made)
                stack.append((child, made.children))
        return top

    def _parts(self, number: int) -> list[Node]:
        model = self.model
        own = {
            "joint": (model.jnt_bodyid, self._joint),
            "geom": (model.geom_bodyid, self._geom),
            "site": (model.site_bodyid, self._site),
            "camera": (model.cam_bodyid, self._camera),
            "light": (model.light_bodyid, self._light),
        }
        return [write(int(place)) for ids, write in own.values() for place in np.flatnonzero(ids == number)]

    def _pose(self, pos: Any, quat: Any) -> dict[str, str]:
        found = {"pos": numbers(pos)} if np.any(pos) else {}
        return found | ({"quat": numbers(quat)} if tuple(quat) != _IDENTITY else {})

    def _body(self, number: int) -> Node:
        model = self.model
        raw = {**self.named("body", number), **self._pose(model.body_pos[number], model.body_quat[number])}
        raw |= {"mocap": "true"} if model.body_mocapid[number] >= 0 else {}
        raw |= self.columns(body.COLUMNS, number, body.BodyItem(), _TREE["body"], ("pos", "quat"))
        raw |= self._sleep(number)
        inertial = {
            "pos": numbers(model.body_ipos[number]),
            "quat": numbers(model.body_iquat[number]),
            "mass": numbers([model.body_mass[number]]),
            "diaginertia": numbers(model.body_inertia[number]),
        }
        parts = (model.body_mass[number], *model.body_inertia[number], *model.body_ipos[number])
        weighs = any(parts) or tuple(model.body_iquat[number]) != _IDENTITY
        children = [self.node("inertial", inertial)] if weighs else []
        return self.node("body", raw, [*children, *self._plugin(int(model.body_plugin[number]))])

    def _sleep(self, number: int) -> dict[str, str]:
        """The policy of a tree, at its first body, if somebody asked for it."""
        model = self.model
        tree = int(model.body_treeid[number])
        if tree < 0 or int(model.tree_bodyadr[tree]) != number:
            return {}
        policy = SleepPolicy(int(model.tree_sleep_policy[tree]))
        asked = (SleepPolicy.NEVER, SleepPolicy.ALLOWED, SleepPolicy.INIT)
        return {"sleep": policy.keyword} if policy in asked else {}

    def _joint(self, number: int) -> Node:
        model, row = self.model, _TREE["joint"]
        item = joint.JointItem()
        raw = {**self.named("joint", number), **self.columns(joint.COLUMNS, number, item, row)}
        raw |= self.columns(joint.DOF_COLUMNS, int(model.jnt_dofadr[number]), item, row)
        if int(model.jnt_type[number]) in (JointType.HINGE, JointType.SLIDE):
            place = int(model.jnt_qposadr[number])
            for name, values in (("ref", model.qpos0), ("springref", model.qpos_spring)):
                raw |= {name: numbers([values[place]])} if values[place] else {}
        return self.node("joint", raw)

    def _geom(self, number: int) -> Node:
        model, row = self.model, _TREE["geom"]
        kind, data = int(model.geom_type[number]), int(model.geom_dataid[number])
        raw = self.columns(geom.COLUMNS, number, geom.GeomItem(), row, ("pos", "quat"))
        pose = model.geom_pos[number], model.geom_quat[number]
        if kind == GeomType.HFIELD:
            raw["hfield"] = self.refer("hfield", data, f"geom {self.label('geom', number)}")
            raw.pop("size", None)
        elif data >= 0:
            raw["mesh"] = self.refer("mesh", data, f"geom {self.label('geom', number)}")
            raw.pop("size", None)
            pose = self.meshes.placed(number)
            raw |= self.meshes.fitted(number)
        raw |= self._pose(*pose)
        fluid = model.geom_fluid[number]
        if fluid[0]:
            raw |= {"fluidshape": "ellipsoid", "fluidcoef": numbers(fluid[1:6])}
        raw |= self.material_of("geom", int(model.geom_matid[number]), number)
        return self.node(
            "geom", {**self.named("geom", number), **raw}, self._plugin(int(model.geom_plugin[number]))
        )

    def material_of(self, kind: str, number: int, owner: int) -> dict[str, str]:
        if number < 0:
            return {}
        return {"material": self.refer("material", number, f"{kind} {self.label(kind, owner)}")}

    def _site(self, number: int) -> Node:
        model = self.model
        raw = {
            **self.named("site", number),
            **self.columns(site.COLUMNS, number, site.SiteItem(), _TREE["site"], ("pos", "quat")),
            **self._pose(model.site_pos[number], model.site_quat[number]),
        }
        return self.node("site", raw | self.material_of("site", int(model.site_matid[number]), number))

    def _camera(self, number: int) -> Node:
        model = self.model
        skip = ["pos", "quat"]
        raw: dict[str, str] = {}
        if model.cam_sensorsize[number].all():
            skip.append("fovy")
            lens = model.cam_intrinsic[number]
            raw = {"focal": numbers(lens[:2], True), "principal": numbers(lens[2:], True)}
            raw["resolution"] = " ".join(str(int(pixels)) for pixels in model.cam_resolution[number])
        raw |= self.columns(camera.COLUMNS, number, camera.CameraItem(), _TREE["camera"], skip)
        raw |= self._pose(model.cam_pos[number], model.cam_quat[number])
        return self.node(
            "camera", {**self.named("camera", number), **raw, **self._aim("camera", "cam", number)}
        )

    def _aim(self, kind: str, prefix: str, number: int) -> dict[str, str]:
        target = int(self.model.field(f"{prefix}_targetbodyid")[number])
        if target < 0:
            return {}
        return {"target": self.refer("body", target, f"{kind} {self.label(kind, number)}")}

    def _light(self, number: int) -> Node:
        raw = self.columns(light.COLUMNS, number, light.LightItem(), _TREE["light"])
        texture = int(self.model.light_texid[number])
        if texture >= 0:
            raw["texture"] = self.refer("texture", texture, f"light {self.label('light', number)}")
        return self.node(
            "light", {**self.named("light", number), **raw, **self._aim("light", "light", number)}
        )

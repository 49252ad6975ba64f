"""`<attach>`: a body of another model, or all of it, with what belongs to it, under a prefix.

It brings its model's assets, custom data and keyframes along. See `mjs_attach` and the attach case of
`mjXReader::Body`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dovetail.errors import listing, nearest
from dovetail.mjcf.compose.copies import frame_at, refer_attached, refer_same, with_prefix
from dovetail.mjcf.compose.document import LISTS, Document, Level, names_in, owner
from dovetail.mjcf.compose.key_copies import attach_keys
from dovetail.mjcf.compose.namespace import (
    ATTACHED_FLEX,
    ATTACHED_MAIN,
    LOST_WORLD,
    MOVED_TO,
    Named,
    Rename,
    copied,
    names_below,
)
from dovetail.mjcf.compose.plugin_instances import instances
from dovetail.mjcf.geometry.rotation import IDENTITY, ORIGIN
from dovetail.mjcf.read.source import Node, walk

if TYPE_CHECKING:
    from dovetail.mjcf.compose.composer import Submodel

_NESTING = ("body", "frame", "replicate")
_BODY_LISTS = ("body", "node")
"""Attributes of a flex that list names of bodies."""
_PLUGIN_USERS = ("body", "geom", "mesh", "actuator", "sensor")
"""What may use an instance of a plugin, in the order in which MuJoCo copies instances for them."""


def is_there(document: Document, node: Node) -> bool:
    """Whether the body to be attached is there already, under the name that it would get."""
    return "body" in node.values and _new_name(node) in document.bodies


def _new_name(node: Node) -> str:
    return f"{node.values['prefix']}{node.values['body']}"


def attach(document: Document, node: Node, model: Submodel, around: Node | None) -> Node:
    """The frame that an `<attach>` becomes, with the part of the model in it."""
    prefix = node.values["prefix"]
    trunk, childclass = _trunk(model.root, node)
    parts = [trunk] if trunk.tag == "body" else trunk.children
    became: dict[Node, Node] = {}
    frame = frame_at(node, ORIGIN, IDENTITY, childclass, model.number)
    document.spend(node, sum(1 for part in parts for _ in walk(part)))
    _graft(frame, parts, prefix, became)
    document.enter([frame], around)
    _bring(document, model, node, names_below(parts), became)
    document.padded = document.padded if document.replicated else document.joints
    return frame


def _trunk(root: Node, node: Node) -> tuple[Node, str]:
    """The element to attach, a body or the whole world, and the class that its contents inherit."""
    world = Node("worldbody", root.file, root.line, {}, schema=root.schema.children["worldbody"])
    world.children = [part for s in root.children if s.tag == "worldbody" for part in s.children]
    wanted = node.values.get("body")
    if wanted is None:
        return world, "main"
    if wanted == "world":
        world.tag, world.schema, world.model = "body", world.schema.children["body"], root.model
        world.values = {"name": "world"}
        return world, "main"
    stack = [(child, "main") for child in reversed(world.children)]
    names = []
    while stack:
        part, childclass = stack.pop()
        if part.tag not in _NESTING:
            continue
        if part.tag == "body":
            if part.values.get("name") == wanted:
                return part, childclass
            names.append(part.values.get("name", ""))
        below = part.values.get("childclass", childclass)
        stack.extend((child, below) for child in reversed(part.children))
    known = [name for name in names if name]
    raise node.error(
        f"the model has no body {wanted!r}{nearest(wanted, known)}; its bodies: {listing(known)}", "body"
    )


def _graft(frame: Node, parts: list[Node], prefix: str, became: dict[Node, Node]) -> None:
    """Copy parts of an attached model into a frame."""
    rename = partial(with_prefix, prefix=prefix)
    refer = partial(refer_attached, rename)
    frame.children = [copied(part, rename, refer, prefix, became) for part in parts]
    for old, new in became.items():
        if old.tag == "flexcomp":
            _keep_flex_names(old, new)
    for part in _outside_bodies(frame):
        part.values[LOST_WORLD] = True


def _outside_bodies(frame: Node) -> Iterator[Node]:
    """The flexcomps in a frame and the frames in it."""
    stack = [frame]
    while stack:
        node = stack.pop()
        yield from (child for child in node.children if child.tag == "flexcomp")
        stack.extend(child for child in node.children if child.tag == "frame")


def _keep_flex_names(old: Node, new: Node) -> None:
    """The flex of an attached flexcomp keeps its name and material; what moves it is renamed."""
    new.values[ATTACHED_FLEX] = old.values.get(ATTACHED_FLEX, old.values["name"])
    new.values |= {key: old.values[key] for key in ("material",) if key in old.values}


def _bring(
    document: Document, model: Submodel, node: Node, names: set[Named], became: dict[Node, Node]
) -> None:
    """What comes along with a part of an attached model, of which these are the names."""
    prefix = node.values["prefix"]
    rename = partial(with_prefix, prefix=prefix)
    users = [(part, part.tag) for part in became.values()]
    users += [(part, part.tag) for part in _adopt(document, model, prefix, node)]
    _attach_deformables(document, model.root, names, rename, node)
    for tag in LISTS:
        everything = [e for s in model.root.children if s.tag == tag for e in s.children]
        listed = [e for e in everything if tag != "custom" or e.tag == "tuple"]
        new = document.take_along(tag, listed, rename, became, node, prefix)
        users += [(element, tag) for element in new]
        document.append(tag, new)
    _attach_plugins(document, model.root, rename, users)
    attach_keys(document, model, rename, became)


def _adopt(document: Document, model: Submodel, prefix: str, node: Node) -> list[Node]:
    """Assets and custom numbers and texts come whole; returns the assets."""
    adopted: list[Node] = []
    if (prefix, model.number) not in document.attached:
        document.attached.append((prefix, model.number))
    document.classes |= {prefix + name for name in model.composer.document.classes}
    document.main = document.main if prefix else f"{ATTACHED_MAIN}{model.number}"
    rename = partial(with_prefix, prefix=prefix)
    for tag in ("asset", "custom"):
        everything = [e for s in model.root.children if s.tag == tag for e in s.children]
        old = [e for e in everything if e.tag not in ("tuple", "skin")]
        document.spend(node, len(old))
        new = [copied(element, rename, partial(refer_attached, rename), prefix) for element in old]
        for element in new:
            document.name_once(element, tag, node)
        document.append(tag, new)
        adopted += new
    return adopted


def _attach_deformables(
    document: Document, source: Node, names: set[Named], rename: Rename, node: Node
) -> None:
    """Flexes and skins whose bodies all come along.

    Like MuJoCo 3.4, keep their names and materials without prefix: the material is this model's.
    """
    sections = [s for s in source.children if s.tag in ("asset", "deformable")]
    new = []
    for element in [e for s in sections for e in s.children if e.tag in ("flex", "skin")]:
        if names.issuperset(("body", body) for body in _deformed_bodies(element)):
            document.spend(node, 1 + len(element.children))
            new.append(_attached_deformable(element, rename))
    document.names.update(names_in(new, "deformable"))
    document.append("deformable", new)


def _deformed_bodies(element: Node) -> list[str]:
    """Bodies that move a flex or a skin."""
    bones = [bone.values["body"] for bone in element.children if bone.tag == "bone"]
    return bones + [word for key in _BODY_LISTS for word in element.values.get(key, "").split()]


def _attached_deformable(element: Node, rename: Rename) -> Node:
    copy = copied(element, rename, partial(_refer_body, rename))
    copy.values |= {key: element.values[key] for key in ("name",) if key in element.values}
    for key in _BODY_LISTS:
        if key in element.values:
            copy.values[key] = " ".join(map(rename, element.values[key].split()))
    return copy


def _refer_body(rename: Rename, node: Node, attribute: str, kind: str, name: str) -> str:
    return rename(name) if kind == "body" else name


def _attach_plugins(document: Document, source: Node, rename: Rename, users: list[tuple[Node, str]]) -> None:
    """Declarations of plugins come whole; of their instances those that something uses, unless they are there."""
    ranks: dict[str, int] = {}
    for part, kind in users:
        if kind in _PLUGIN_USERS:
            for name in instances(part):
                ranks[name] = min(ranks.get(name, len(_PLUGIN_USERS)), _PLUGIN_USERS.index(kind))
    declared = [e for s in source.children if s.tag == "extension" for e in s.children]
    refer = partial(refer_attached, rename)
    copies = [copied(element, rename, refer) for element in declared]
    used = [
        (ranks[child.values["name"]], element, child)
        for element in copies
        for child in element.children
        if child.values.get("name") in ranks and not document.exists("plugin", child.values["name"])
    ]
    for element in copies:
        element.children = []
    for _, element, child in sorted(used, key=lambda found: found[0]):
        alone = copied(element, str, refer_same)
        alone.children = [child]
        copies.append(alone)
        document.names["plugin", child.values["name"]] += 1
    document.append("extension", copies)


def move(document: Document, node: Node, stack: list[Level]) -> None:
    """Attach a body that is there already: it is put into the frames of this place, if it has the same parent."""
    name = _new_name(node)
    body, around = document.bodies[name]
    if body is None or around is not owner(stack):
        raise node.error(
            f"there is a body {name!r} already, in another body; choose another prefix", "prefix"
        )
    frames: list[Node] = []
    for part, _, _ in stack:
        frames = [*frames, part] if part.tag == "frame" else []
    body.values[MOVED_TO] = frames

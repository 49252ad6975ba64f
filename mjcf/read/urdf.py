"""URDF: a `<robot>` rewritten as the MJCF document that means the same, by MuJoCo's rules.

Links become bodies, and a link called `world` is the world. Collision geometry collides; visual geometry has no
mass, is in group 1, and is left out unless `<mujoco><compiler discardvisual="false"/></mujoco>` keeps it. Of the
extension `<mujoco>` the settings compiler, option and size count. Angles are radians, static bodies are fused, and
paths of meshes are cut to the file's name unless the extension says otherwise. What MuJoCo does not read
(transmissions, mimic, safety controllers, extensions of other programs, the orientation of an inertial frame) is
ignored here too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from dovetail.errors import MJCFError, listing, nearest
from dovetail.mjcf.geometry.rotation import (
    IDENTITY,
    ORIGIN,
    Vec,
    from_euler,
    from_z_axis,
    norm,
    rotate,
    scaled,
)
from dovetail.mjcf.read.kinds import BadValueError, Float, Floats
from dovetail.mjcf.read.schema import MUJOCO, Element
from dovetail.mjcf.read.source import Node, walk

ROOT = "robot"
WORLD = "world"
_SETTINGS = ("compiler", "option", "size")
_DEFAULTS = {"strippath": "true", "discardvisual": "true", "fusestatic": "true"}
_ENFORCED = {"angle": "radian"}
_SHAPES = ("box", "cylinder", "capsule", "sphere", "mesh")
"""In the order in which they are looked for if a geometry has several."""
_JOINT_TYPES = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide", "floating": "free"}
_OTHER_TYPES = ("fixed", "planar")
_VISUAL = {"contype": "0", "conaffinity": "0", "group": "1", "density": "0"}
_MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_RPY = "XYZ"
"""Roll, pitch and yaw turn about fixed axes."""


def is_urdf(root: Node) -> bool:
    """Whether a document is a robot description."""
    return root.tag.lower() == ROOT


def to_mjcf(robot: Node) -> Node:
    """The MJCF document of a robot; what is wrong with the robot is said at its place."""
    return _Robot(robot).document()


@attrs.define(eq=False)
class _Robot:
    """One conversion."""

    root: Node
    colours: dict[str, str] = attrs.field(factory=dict)
    """Materials by name, those that visuals define included."""
    meshes: list[Node] = attrs.field(factory=list)
    scales: dict[str, list[str]] = attrs.field(factory=dict)
    """Scales in which each mesh was asked for."""
    names: set[str] = attrs.field(factory=set)
    """Names of geoms so far; one that is taken is left out."""
    strippath: bool = True
    discardvisual: bool = True

    def document(self) -> Node:
        settings = list(self._settings())
        self._learn_colours()
        world = self._tree()
        assets = _made(self.root, "asset", {}, self.meshes)
        model = {"model": self.root.raw["name"]} if "name" in self.root.raw else {}
        return _made(self.root, "mujoco", model, [*settings, assets, world])

    def _settings(self) -> Iterator[Node]:
        """The settings of `<mujoco>`, between those that URDF starts from and those that it needs."""
        extension = _one(self.root, "mujoco")
        yield _made(self.root, "compiler", _DEFAULTS)
        for tag in _SETTINGS:
            found = _one(extension, tag) if extension else None
            if found:
                yield _known(found, MUJOCO.children[tag])
            if found and tag == "compiler":
                self.strippath, self.discardvisual = (
                    found.raw.get(name) != "false" for name in ("strippath", "discardvisual")
                )
        yield _made(self.root, "compiler", _ENFORCED)

    def _tree(self) -> Node:
        """The world with all links; joints say which link hangs on which."""
        links = self._links()
        bodies = {name: _made(link, "body", {"name": name}) for name, link in links.items()}
        world = bodies[WORLD] = _made(self.root, "worldbody", {})
        joints = self._joints(links)
        below: dict[str, list[str]] = {name: [] for name in bodies}
        for child, (parent, _) in joints.items():
            below[parent].append(child)
        below[WORLD] = list(_first(links, joints, below[WORLD]))
        reached = _walk(below, bodies)
        for name, link in links.items():
            if name not in reached and name != WORLD:
                raise link.error(f"link {name!r} is part of a loop of joints; a robot is a tree", "name")
            self._fill(bodies[name], link)
        for child, (_, joint) in joints.items():
            self._join(bodies[child], joint)
        return world

    def _links(self) -> dict[str, Node]:
        links: dict[str, Node] = {}
        for link in _all(self.root, "link"):
            name = _text(link, "name")
            if name in links:
                raise link.error(f"two links are called {name!r}; rename one", "name")
            links[name] = link
        return links

    def _joints(self, links: dict[str, Node]) -> dict[str, tuple[str, Node]]:
        """For each link that hangs on another, that other one and the joint between them."""
        joints: dict[str, tuple[str, Node]] = {}
        for joint in _all(self.root, "joint"):
            parent, child = (_end(joint, tag, links) for tag in ("parent", "child"))
            if child in joints:
                raise joint.error(f"link {child!r} hangs on two joints; keep one", "name")
            if child == WORLD:
                raise joint.error("the world cannot hang on a joint; swap parent and child", "name")
            joints[child] = parent, joint
        return joints

    def _fill(self, body: Node, link: Node) -> None:
        """What a link has itself: its mass, and its shapes in the order of the file."""
        inertial = _one(link, "inertial")
        if inertial and body.tag != "body":
            raise inertial.unsupported(
                "a mass of the link world: remove it, as nothing moves the world, or save the "
                "model as MJCF with mujoco's compile tool; it"
            )
        if inertial:
            body.children.append(_inertial(inertial))
        colour: dict[str, str] = {}
        for node in link.children:
            if node.tag == "visual":
                material = _one(node, "material")
                colour = (self._colour(material) if material else {}) or colour
            if node.tag == "collision" or (node.tag == "visual" and not self.discardvisual):
                geom = self._geom(node)
                geom.raw.update(colour)
                body.children.append(geom)

    def _learn_colours(self) -> None:
        """Materials are known by their names everywhere; of several with one name the first counts."""
        for material in walk(self.root):
            colour = _one(material, "color") if material.tag == "material" else None
            if colour and "name" in material.raw:
                rgba = _written(_required(colour, "rgba", Floats(4, single=True)))
                self.colours.setdefault(material.raw["name"], rgba)

    def _colour(self, material: Node) -> dict[str, str]:
        """The colour of a visual's material; nothing if it has none."""
        colour = _one(material, "color")
        if colour:
            return {"rgba": _written(_required(colour, "rgba", Floats(4, single=True)))}
        name = _text(material, "name")
        return {"rgba": self.colours[name]} if name in self.colours else {}

    def _geom(self, node: Node) -> Node:
        geometry = _one(node, "geometry", needed=True)
        assert geometry is not None
        shape = next((found for tag in _SHAPES if (found := _one(geometry, tag))), None)
        if shape is None:
            raise geometry.error(f"has no shape; add one of {', '.join(_SHAPES)}")
        raw = {**(_VISUAL if node.tag == "visual" else {}), **self._shape(shape), **_origin(node)}
        name = node.raw.get("name", "")
        if name and name not in self.names:
            raw["name"] = name
            self.names.add(name)
        return _made(node, "geom", raw)

    def _shape(self, shape: Node) -> dict[str, str]:
        if shape.tag == "mesh":
            return {"type": "mesh", "mesh": self._mesh(shape)}
        if shape.tag == "box":
            return {"type": "box", "size": _written(scaled(_required(shape, "size", Floats(3)), 0.5))}
        radius = _required(shape, "radius", Float())
        if shape.tag == "sphere":
            return {"type": "sphere", "size": _written((radius,))}
        return {"type": shape.tag, "size": _written((radius, _required(shape, "length", Float()) / 2))}

    def _mesh(self, shape: Node) -> str:
        """The name of a mesh: that of its file, with a number from the second scale on."""
        file = _text(shape, "filename")
        scale = _optional(shape, "scale", Floats(3)) or (1.0, 1.0, 1.0)
        base = file.replace("\\", "/").rpartition("/")[2]
        name = base.rpartition(".")[0] or base
        seen, written = self.scales.setdefault(name, []), _written(scale)
        if written in seen:
            return name  # even if it was not the first scale: MuJoCo 3.4.0 does not look for the others
        own = f"{name}{len(seen) or ''}"
        seen.append(written)
        raw = {"name": own, "file": base if self.strippath else file, "scale": written}
        self.meshes.append(_made(shape, "mesh", raw))
        return own

    def _join(self, body: Node, joint: Node) -> None:
        """What a joint says of the link that hangs on it: its pose, and how it moves."""
        body.raw.update(_origin(joint))
        kind, name = _text(joint, "type"), _text(joint, "name")
        if kind not in _JOINT_TYPES and kind not in _OTHER_TYPES:
            known = [*_JOINT_TYPES, *_OTHER_TYPES]
            raise joint.error(f"unknown type {kind!r}{nearest(kind, known)}; types: {listing(known)}", "type")
        axis = _axis(joint)
        common, limits = _dynamics(joint), _limits(joint)
        made = []
        if kind in _JOINT_TYPES:
            made = [{"name": name, "type": _JOINT_TYPES[kind], "axis": _written(axis), **common, **limits}]
        elif kind == "planar":
            made = [{**own, **common} for own in _planar(name, axis)]
            made[0].update(limits)
        place = next((i for i, node in enumerate(body.children) if node.tag == "geom"), len(body.children))
        body.children[place:place] = [_made(joint, "joint", raw) for raw in made]


def _first(links: dict[str, Node], joints: dict[str, Any], on_world: list[str]) -> Iterator[str]:
    """Bodies of the world: links that hang on nothing, and where the world is listed what hangs on it."""
    for name in links:
        if name == WORLD:
            yield from on_world
        elif name not in joints:
            yield name


def _walk(below: dict[str, list[str]], bodies: dict[str, Node]) -> set[str]:
    """Hang every body on its parent, starting with the world; the names that were reached."""
    reached, pending = {WORLD}, [WORLD]
    while pending:
        name = pending.pop()
        reached.add(name)
        bodies[name].children += [bodies[child] for child in below[name]]
        pending.extend(below[name])
    return reached


def _inertial(node: Node) -> Node:
    """Mass and inertia. MuJoCo takes the position of their frame but not its orientation; none at all is allowed."""
    pos = _origin(node).get("pos", _written(ORIGIN))
    inertia, mass = _one(node, "inertia", needed=True), _one(node, "mass", needed=True)
    assert inertia is not None
    assert mass is not None
    moments = tuple(_required(inertia, name, Float()) for name in _MOMENTS)
    full = {"fullinertia": _written(moments)} if any(moments) else {"diaginertia": _written(ORIGIN)}
    return _made(
        node, "inertial", {"pos": pos, "mass": _written((_required(mass, "value", Float()),)), **full}
    )


def _origin(node: Node) -> dict[str, str]:
    """The pose that an element's `<origin>` gives."""
    origin = _one(node, "origin")
    if origin is None:
        return {}
    pos = _optional(origin, "xyz", Floats(3)) or ORIGIN
    rpy = _optional(origin, "rpy", Floats(3))
    quat = from_euler(rpy, _RPY) if rpy else IDENTITY
    return {"pos": _written(pos), "quat": _written(quat)}


def _axis(joint: Node) -> Vec:
    axis = _one(joint, "axis")
    return _required(axis, "xyz", Floats(3)) if axis else (1.0, 0.0, 0.0)


def _planar(name: str, axis: Vec) -> Iterator[dict[str, str]]:
    """Two sliders in the plane and a hinge across it."""
    quat = from_z_axis(axis) if norm(axis) > 0 else IDENTITY
    for suffix, local in (("_TX", (1.0, 0.0, 0.0)), ("_TY", (0.0, 1.0, 0.0))):
        yield {"name": name + suffix, "type": "slide", "axis": _written(rotate(quat, local))}
    yield {"name": f"{name}_RZ", "type": "hinge", "axis": _written(axis)}


def _dynamics(joint: Node) -> dict[str, str]:
    found = _one(joint, "dynamics")
    names = {"damping": "damping", "friction": "frictionloss"}
    values = {new: _optional(found, old, Float()) for old, new in names.items()} if found else {}
    return {name: _written((value,)) for name, value in values.items() if value is not None}


def _limits(joint: Node) -> dict[str, str]:
    """Range of the joint, if both ends are given, and of the force on it."""
    found = _one(joint, "limit")
    if found is None:
        return {}
    lower, upper, effort = (_optional(found, name, Float()) for name in ("lower", "upper", "effort"))
    both = lower is not None and upper is not None
    low, high = lower or 0.0, upper or 0.0
    limits = {"range": _written((low, high))} | ({} if both and low < high else {"limited": "false"})
    return limits | ({"actuatorfrcrange": _written((-abs(effort), abs(effort)))} if effort else {})


# reading elements


def _all(node: Node, tag: str) -> list[Node]:
    return [child for child in node.children if child.tag == tag]


def _one(node: Node, tag: str, needed: bool = False) -> Node | None:
    """The child with a tag, which may be there only once."""
    found = _all(node, tag)
    if len(found) > 1:
        raise found[1].error(f"<{tag}> appears {len(found)} times in <{node.tag}>; write it once")
    if needed and not found:
        raise node.error(f"<{tag}> is missing; add it")
    return found[0] if found else None


def _text(node: Node, attribute: str) -> str:
    if attribute not in node.raw:
        raise _missing(node, attribute)
    return node.raw[attribute]


def _missing(node: Node, attribute: str) -> MJCFError:
    return node.error(f"required attribute {attribute!r} is missing; add it")


def _end(joint: Node, tag: str, links: dict[str, Node]) -> str:
    """The link at one end of a joint."""
    node = _one(joint, tag, needed=True)
    assert node is not None
    name = _text(node, "link")
    if name not in links:
        raise node.error(f"unknown link {name!r}{nearest(name, links)}; links: {listing(links)}", "link")
    return name


def _optional(node: Node, attribute: str, kind: Float | Floats) -> Any:
    """The numbers of an attribute; None if it is not there or empty."""
    text = node.raw.get(attribute, "")
    if not text.strip():
        return None
    try:
        return kind.parse(text)
    except BadValueError as problem:
        raise node.error(f"attribute {attribute!r}: {problem}", attribute) from None


def _required(node: Node, attribute: str, kind: Float | Floats) -> Any:
    value = _optional(node, attribute, kind)
    if value is None:
        raise _missing(node, attribute)
    return value


# writing elements


def _made(place: Node, tag: str, raw: dict[str, str], children: list[Node] | None = None) -> Node:
    return Node(tag, place.file, place.line, dict(raw), children or [])


def _written(numbers: Vec) -> str:
    return " ".join(map(repr, numbers))


def _known(node: Node, row: Element) -> Node:
    """A setting without the attributes and children that it does not have in MJCF: URDF allows extensions."""
    raw = {name: text for name, text in node.raw.items() if name in row.attributes}
    children = [
        _known(child, row.children[child.tag]) for child in node.children if child.tag in row.children
    ]
    return _made(node, node.tag, raw, children)

"""`<worldbody>`, `<body>`, `<frame>` and what stands in them: read into the typed tree, in document order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import attrs

from dovetail.contracts.enums import JointType
from dovetail.mjcf.compose.namespace import MOVED_TO
from dovetail.mjcf.elements.flex import make_flexcomp
from dovetail.mjcf.elements.looks import apply_camera, apply_light
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.geometry.inertia import diagonalize
from dovetail.mjcf.geometry.rotation import OrientationError
from dovetail.mjcf.model.context import Context
from dovetail.mjcf.model.defaults import MAIN, DefaultClass, check_single_orientation
from dovetail.mjcf.read.source import Node
from dovetail.mjcf.tree import (
    ORIENTATIONS,
    Body,
    Camera,
    Frame,
    Geom,
    Item,
    Joint,
    Light,
    Posed,
    Site,
    overlay,
)

P = TypeVar("P", bound=Posed)


@attrs.define
class Scope:
    """Where a child element stands: its body, the frame around it, and the class it inherits."""

    body: Body
    frame: Frame | None
    childclass: DefaultClass | None
    bodyclass: DefaultClass | None = None
    """The class that the body itself passes on, without that of frames."""


def add_world(context: Context) -> None:
    """The world body, which every model has."""
    context.add("body", Body(name="world"))


def read_worldbody(context: Context, section: Node) -> None:
    """Read a `<worldbody>` section; iterative, so that deep models need no Python stack."""
    world = Scope(context.bodies[0], None, None)
    stack: list[tuple[Iterator[Node], Scope]] = [(iter(section.children), world)]
    while stack:
        children, scope = stack[-1]
        node = next(children, None)
        if node is None:
            stack.pop()
        elif node.tag in _CONTAINERS:
            check_single_orientation(node)
            stack.append((iter(node.children), _CONTAINERS[node.tag](context, node, scope)))
        else:
            _PARTS[node.tag](context, node, scope)


def resolve_quat(context: Context, item: Posed) -> tuple[float, ...]:
    """The orientation of a body, geom, … as a quaternion, from whichever way it was written."""
    if item.alt is None:
        return rotation.normalized(item.quat)
    return orientation(context, item.place, *item.alt)


def orientation(context: Context, node: Node, kind: str, numbers: tuple[float, ...]) -> tuple[float, ...]:
    """The quaternion of one of the alternatives, or an error at the element that wrote it."""
    try:
        settings = context.compiler_of(node)
        return rotation.resolve(kind, numbers, settings.degrees, settings.eulerseq)
    except OrientationError as problem:
        raise node.error(f"{kind}: {problem}", kind) from None


def _body(context: Context, node: Node, scope: Scope) -> Scope:
    body = Body(node=node, parent=scope.body, frame=scope.frame)
    overlay(body, {name: value for name, value in node.values.items() if name != MOVED_TO})
    if MOVED_TO in node.values:
        body.frame = None
        for frame in node.values[MOVED_TO]:
            body.frame = _frame_pose(context, frame, body.frame)
    context.add("body", body)
    scope.body.has_children = True
    own = context.defaults.find(node, "childclass") or scope.childclass
    return Scope(body, None, own, own)


def _frame(context: Context, node: Node, scope: Scope) -> Scope:
    name = node.values.get("name")
    if name and name in context.frames:
        raise node.error(f"frame name {name!r} is used twice; names must be unique", "name")
    if name:
        context.frames[name] = node
    frame = _frame_pose(context, node, scope.frame)
    own = context.defaults.find(node, "childclass") or scope.childclass
    return Scope(scope.body, frame, own, scope.bodyclass)


def _frame_pose(context: Context, node: Node, around: Frame | None) -> Frame:
    """Pose of a frame in the body that owns its contents, given the frame around it."""
    posed = Posed(node=node)
    overlay(posed, node.values)
    # as in MuJoCo, a quaternion is made a unit one after the frames around have turned it
    pos, quat = posed.pos, resolve_quat(context, posed) if posed.alt else posed.quat
    if around:
        pos, quat = rotation.accumulate(around.pos, around.quat, pos, quat)
    return Frame(pos=pos, quat=rotation.normalized(quat))


def _inertial(context: Context, node: Node, scope: Scope) -> None:
    body = scope.body
    if body.parent is None:
        raise node.error("the world has no inertia; put <inertial> in a body")
    check_single_orientation(node)
    values = node.values
    body.explicit_inertial = True
    body.ipos, body.mass = values["pos"], values["mass"]
    oriented = [name for name in ("quat", *ORIENTATIONS) if name in values]
    if "fullinertia" in values:
        if oriented or "diaginertia" in values:
            other = oriented[0] if oriented else "diaginertia"
            raise node.error(f"fullinertia and {other} exclude each other; write one", other)
        body.inertia, body.iquat = _diagonalized(node)
        return
    body.inertia = values.get("diaginertia", body.inertia)
    if oriented:
        body.iquat = (
            rotation.normalized(values["quat"])
            if oriented[0] == "quat"
            else orientation(context, node, oriented[0], values[oriented[0]])
        )


def _diagonalized(node: Node) -> tuple[tuple[float, ...], tuple[float, ...]]:
    moments, quat = diagonalize(node.values["fullinertia"])
    if moments[2] < rotation.EPS:
        raise node.error("fullinertia must have positive principal moments", "fullinertia")
    return moments, quat


def _joint(context: Context, node: Node, scope: Scope) -> None:
    joint = context.defaults.of(node, scope.childclass).make(Joint)
    _place_joint(context, joint, node, scope)


def _freejoint(context: Context, node: Node, scope: Scope) -> None:
    """A free joint that takes nothing from the defaults."""
    _place_joint(context, Joint(type=JointType.FREE), node, scope)


def _place_joint(context: Context, joint: Joint, node: Node, scope: Scope) -> None:
    if scope.body.parent is None:
        raise node.error("the world cannot move; put joints in a body")
    joint.node, joint.frame, joint.bodyid = node, scope.frame, scope.body.id
    overlay(joint, node.values)
    scope.body.joints.append(joint)


def _geom(context: Context, node: Node, scope: Scope) -> None:
    _place(context, node, scope, Geom, scope.body.geoms)
    for child in node.children:
        context.plugin_users.append((child, scope.body.geoms[-1], "signed distance"))


def _plugin(context: Context, node: Node, scope: Scope) -> None:
    context.plugin_users.append((node, scope.body, "passive forces"))


def _site(context: Context, node: Node, scope: Scope) -> None:
    _place(context, node, scope, Site, scope.body.sites)


def _camera(context: Context, node: Node, scope: Scope) -> None:
    check_single_orientation(node)
    camera = context.defaults.of(node, scope.childclass).make(Camera)
    camera.user = ()  # MuJoCo forgets that of defaults
    camera.node, camera.frame, camera.bodyid = node, scope.frame, scope.body.id
    apply_camera(camera, node)
    scope.body.cameras.append(camera)


def _light(context: Context, node: Node, scope: Scope) -> None:
    light = context.defaults.of(node, scope.childclass).make(Light)
    light.node, light.frame, light.bodyid = node, scope.frame, scope.body.id
    apply_light(light, node)
    scope.body.lights.append(light)


def _flexcomp(context: Context, node: Node, scope: Scope) -> None:
    check_single_orientation(node)
    posed = Posed(node=node)
    overlay(
        posed, {name: node.values[name] for name in ("pos", "quat", *ORIENTATIONS) if name in node.values}
    )
    # as in MuJoCo, a quaternion is not normalised here: one that is longer than 1 enlarges the flex
    quat = node.values["quat"] if "quat" in node.values else resolve_quat(context, posed)
    pose = posed.pos, quat
    own = context.defaults.classes_of(node.model)[MAIN]
    make_flexcomp(context, node, scope.body, scope.bodyclass or own, pose)


def _place(context: Context, node: Node, scope: Scope, kind: type[P], where: list[P]) -> None:
    check_single_orientation(node)
    item = context.defaults.of(node, scope.childclass).make(kind)
    item.node, item.frame, item.bodyid = node, scope.frame, scope.body.id
    overlay(item, node.values)
    where.append(item)


_CONTAINERS: dict[str, Callable[[Context, Node, Scope], Scope]] = {"body": _body, "frame": _frame}
_PARTS: dict[str, Callable[[Context, Node, Scope], None]] = {
    "inertial": _inertial,
    "joint": _joint,
    "freejoint": _freejoint,
    "geom": _geom,
    "site": _site,
    "camera": _camera,
    "light": _light,
    "plugin": _plugin,
    "flexcomp": _flexcomp,
}


def number_tree(context: Context) -> None:
    """Number what bodies contain, body by body, as mjModel lists it."""
    for body in context.bodies:
        lists: dict[str, Sequence[Item]] = {
            "joint": body.joints,
            "geom": body.geoms,
            "site": body.sites,
            "camera": body.cameras,
            "light": body.lights,
        }
        for kind, items in lists.items():
            for item in items:
                context.add(kind, item)

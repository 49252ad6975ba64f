"""`<worldbody>`, `<body>`, `<frame>` and what stands in them: read into the typed tree, in document order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dovetail.mjcf.compose.namespace import MOVED_TO
from dovetail.mjcf.elements.body import BodyItem, read_body_plugin, read_inertial
from dovetail.mjcf.elements.camera import read_camera
from dovetail.mjcf.elements.flexcomp import read_flexcomp
from dovetail.mjcf.elements.geom import read_geom
from dovetail.mjcf.elements.items import overlay
from dovetail.mjcf.elements.joint import read_freejoint, read_joint
from dovetail.mjcf.elements.light import read_light
from dovetail.mjcf.elements.poses import FramePose, PosedItem, Scope, check_single_orientation, resolve_quat
from dovetail.mjcf.elements.site import read_site
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context


def add_world(context: Context) -> None:
    """The world body, which every model has."""
    context.add("body", BodyItem(name="world"))


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


def _body(context: Context, node: Node, scope: Scope) -> Scope:
    body = BodyItem(node=node, parent=scope.body, frame=scope.frame)
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


def _frame_pose(context: Context, node: Node, around: FramePose | None) -> FramePose:
    """Pose of a frame in the body that owns its contents, given the frame around it."""
    posed = PosedItem(node=node)
    overlay(posed, node.values)
    # as in MuJoCo, a quaternion is made a unit one after the frames around have turned it
    pos, quat = posed.pos, resolve_quat(context, posed) if posed.alt else posed.quat
    if around:
        pos, quat = rotation.accumulate(around.pos, around.quat, pos, quat)
    return FramePose(pos=pos, quat=rotation.normalized(quat))


_CONTAINERS: dict[str, Callable[[Context, Node, Scope], Scope]] = {"body": _body, "frame": _frame}
_PARTS: dict[str, Callable[[Context, Node, Scope], None]] = {
    "inertial": read_inertial,
    "joint": read_joint,
    "freejoint": read_freejoint,
    "geom": read_geom,
    "site": read_site,
    "camera": read_camera,
    "light": read_light,
    "plugin": read_body_plugin,
    "flexcomp": read_flexcomp,
}


def number_tree(context: Context) -> None:
    """Number what bodies contain, body by body, as mjModel lists it."""
    for body in context.bodies:
        for kind, items in body.parts.items():
            for item in items:
                context.add(kind, item)

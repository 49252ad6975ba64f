"""`<compiler fusestatic>`: bodies that cannot move become part of their parent (`mjCModel::FuseStatic`).

A body without joints is fused unless it is a mocap body or something names it: what it holds moves to the end of
its parent's lists, its children take its place, and its inertia is added to the parent's, except to the
world's. All poses are compiled already, so each is only seen from another frame. Bounding volumes are those
of the fused bodies; MuJoCo 3.4.0 leaves unused rows behind.
"""

from __future__ import annotations

from dovetail.mjcf.compose.namespace import references
from dovetail.mjcf.elements.body import BodyItem
from dovetail.mjcf.elements.light import LightItem
from dovetail.mjcf.elements.poses import PosedItem
from dovetail.mjcf.geometry.inertia import RigidPart, combine
from dovetail.mjcf.geometry.rotation import Pose, accumulate, add, normalized, point, rotate
from dovetail.mjcf.model.context import Context
from dovetail.mjcf.read.source import Node, walk
from dovetail.plugins.shared.constants import MINVAL


def fuse_static_bodies(context: Context, root: Node) -> None:
    """Fuse what can be fused, and number the tree again."""
    if not context.compiler.fusestatic:
        return
    named = _named_bodies(root)
    kept: list[BodyItem] = []
    for body in context.bodies:
        if body.parent is None or body.joints or body.mocap or body.name in named:
            kept.append(body)
        else:
            _fuse(body, body.parent, [child for child in context.bodies if child.parent is body])
    if len(kept) < len(context.bodies):
        _number_again(context, kept)


def _named_bodies(root: Node) -> set[str]:
    """Names of bodies that some element refers to; those of flexes do not count, as in MuJoCo."""
    return {
        name for node in walk(root) if node.schema for _, kind, name in references(node) if kind == "body"
    }


def _fuse(body: BodyItem, parent: BodyItem, children: list[BodyItem]) -> None:
    if parent.parent is not None and body.mass >= MINVAL:
        _add_inertia(parent, body)
    pose = (body.pos, body.quat)
    for child in children:
        child.parent = parent
        _see_from(pose, child)
    posed: list[PosedItem] = [*body.geoms, *body.sites, *body.cameras]
    for item in posed:
        _see_from(pose, item)
    for light in body.lights:
        _turn_light(pose, light)
    parent.geoms += body.geoms
    parent.sites += body.sites
    parent.cameras += body.cameras
    parent.lights += body.lights


def _see_from(pose: Pose, item: PosedItem) -> None:
    pos, quat = accumulate(*pose, item.pos, item.quat)
    item.pos, item.quat = pos, normalized(quat)


def _turn_light(pose: Pose, light: LightItem) -> None:
    light.pos, light.dir = point(pose, light.pos), rotate(pose[1], light.dir)


def _add_inertia(parent: BodyItem, body: BodyItem) -> None:
    """The inertia of both, about their common centre of mass, in the parent's frame.

    MuJoCo 3.4.0 composes the poses in the wrong order: it turns the body's position by the inertial frame and
    leaves out the body's own orientation. The numbers here are its numbers; they are those of the physics
    when neither the body nor its inertial frame is turned.
    """
    assert parent.ipos is not None
    assert body.ipos is not None
    pos, quat = add(body.ipos, rotate(body.iquat, body.pos)), body.iquat
    parts = [
        RigidPart(parent.mass, parent.ipos, parent.iquat, parent.inertia),
        RigidPart(body.mass, pos, quat, body.inertia),
    ]
    parent.mass, parent.ipos, parent.inertia, parent.iquat = combine(parts)


def _number_again(context: Context, bodies: list[BodyItem]) -> None:
    for kind in ("body", *bodies[0].parts):
        context.objects[kind].clear()
        context.ids[kind].clear()
    for body in bodies:
        context.add_named("body", body, body.name)
    for body in bodies:
        body.weldid = 0 if body.parent is None else body.id if body.joints else body.parent.weldid
        for kind, items in body.parts.items():
            for item in items:
                item.bodyid = body.id
                context.add_named(kind, item, item.name)

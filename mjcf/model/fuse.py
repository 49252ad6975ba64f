"""`<compiler fusestatic>`: bodies that cannot move become part of their parent (`mjCModel::FuseStatic`).

A body without joints is fused unless it is a mocap body or something needs it (`Needs`): what it holds moves to the
end of its parent's lists, its children take its place, and its inertia is added to the parent's, except to the
world's. All poses are compiled already, so each is only seen from another frame. Bounding volumes are those
of the fused bodies; MuJoCo 3.4.0 leaves unused rows behind.

MuJoCo 3.4.0 finds things under the number that they had when it last numbered them. Fusing a body moves all that come
after it, but MuJoCo numbers them again late, or never. The numbers here are its numbers, so three things follow.
A body that nothing names may stay, because the search for another one fails just then. Geoms and sites keep their old
numbers, so a name may lead to another geom or site than its own; a warning says so. And MuJoCo has no numbers under
the word `xbody`, so a sensor or tuple that names a body that way does not keep it.
"""

from __future__ import annotations

from collections.abc import Iterator
from warnings import warn

import attrs

from dovetail.mjcf.compose.namespace import references
from dovetail.mjcf.elements.body import BodyItem
from dovetail.mjcf.elements.light import LightItem
from dovetail.mjcf.elements.poses import PosedItem
from dovetail.mjcf.geometry.inertia import RigidPart, combine
from dovetail.mjcf.geometry.rotation import Pose, accumulate, add, normalized, point, rotate
from dovetail.mjcf.model.context import Context
from dovetail.mjcf.read.source import Node, walk
from dovetail.plugins.shared.constants import MINVAL

_KIND_IN = {"objname": "objtype", "refname": "reftype"}
"""Attributes whose kind of object stands in another attribute."""
_SUBTREES = ("subtree1", "subtree2")
"""Attributes that name a body as MuJoCo's xbody."""
_STALE = ("geom", "site")
"""Kinds whose objects MuJoCo goes on finding under their old numbers."""


def fuse_static_bodies(context: Context, root: Node) -> None:
    """Fuse what can be fused, and number the tree again."""
    if not context.compiler.fusestatic:
        return
    bodies, needs = list(context.bodies), Needs.of(context, root)
    at = 1
    while at < len(bodies):
        body = bodies[at]
        keeps = needs.body(body, bodies, at)
        if keeps or body.joints or body.mocap or body.parent is None:
            at += 1
            continue
        _fuse(body, body.parent, [child for child in bodies if child.parent is body])
        context.fused.add(body.name)
        del bodies[at]
    if len(bodies) < len(context.bodies):
        _number_again(context, bodies)
        _warn_of_others(context, root)


class OtherObjectWarning(UserWarning):
    """A name leads to another object than its own, as in MuJoCo."""


@attrs.define
class Needs:
    """What else in a model needs its bodies, and the numbers under which MuJoCo looks for them."""

    named: list[str]
    """Bodies that something names."""
    tied: list[tuple[str, str]]
    """Pairs of bodies that an equality ties."""
    measuring: list[str]
    """Sites of force and torque sensors: they measure what goes through their body."""
    numbers: dict[str, int]
    """Number of each body as MuJoCo knows it: it is right again when the body's turn comes."""
    sites: dict[str, int]

    @classmethod
    def of(cls, context: Context, root: Node) -> Needs:
        nodes = [node for node in walk(root) if node.schema]
        return cls(
            named=[name for node in nodes for name in _named_bodies(node)],
            tied=[
                (node.values["body1"], node.values["body2"])
                for node in nodes
                if node.tag in ("connect", "weld") and {"body1", "body2"} <= node.values.keys()
            ],
            measuring=[
                node.values["site"]
                for node in nodes
                if node.tag in ("force", "torque") and "site" in node.values
            ],
            numbers=dict(context.ids["body"]),
            sites=dict(context.ids["site"]),
        )

    def body(self, body: BodyItem, bodies: list[BodyItem], at: int) -> bool:
        """Whether MuJoCo keeps the body whose turn it is. It never asks about one without a name."""
        if not body.name:
            return False
        kept = body.name in self.named or self._fails(len(bodies)) or self._measures(body, bodies)
        self.numbers[body.name] = at
        return kept

    def _fails(self, nbody: int) -> bool:
        """Whether MuJoCo fails to find some body that is there."""
        beyond = any(self.numbers.get(name, 0) >= nbody for name in self.named)
        repeated = any(a in self.numbers and self.numbers[a] == self.numbers.get(b) for a, b in self.tied)
        return beyond or repeated

    def _measures(self, body: BodyItem, bodies: list[BodyItem]) -> bool:
        if not self.measuring:
            return False
        owners = [owner for owner in bodies for _ in owner.sites]
        return any(owners[self.sites[name]] is body for name in self.measuring if name in self.sites)


def _named_bodies(node: Node) -> Iterator[str]:
    """Bodies that an element names; those of flexes do not count, as in MuJoCo, nor do those named as `xbody`."""
    for attribute, kind, name in references(node):
        word = node.values.get(_KIND_IN.get(attribute, ""), "")
        if kind == "body" and word != "xbody" and attribute not in _SUBTREES:
            yield name


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
    stale = {kind: dict(context.ids[kind]) for kind in _STALE}
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
    context.ids.update(stale)


def _warn_of_others(context: Context, root: Node) -> None:
    """Warn of each name that leads to another geom or site than its own."""
    for node in walk(root):
        for attribute, kind, name in references(node) if node.schema else ():
            number = context.ids[kind].get(name) if kind in _STALE else None
            if number is not None and context.objects[kind][number].name != name:
                other = context.objects[kind][number].name
                warn(
                    f"{node.file}:{node.line}: {node.describe(attribute)}: fusestatic gives {kind} {name!r} another "
                    f"number, and MuJoCo 3.4.0 takes {kind} {number} ({other!r}) instead; so does this model. Set "
                    'fusestatic="false", or put the bodies that cannot move before their siblings',
                    OtherObjectWarning,
                    stacklevel=2,
                )

"""What has a pose in a body: frames, orientations in whichever way they are written, and where an element stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import attrs

from dovetail.mjcf.elements.items import ORIENTATIONS, Item, overlay
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.geometry.rotation import IDENTITY, ORIGIN, OrientationError, Pose, Vec, accumulate
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.elements.body import BodyItem
    from dovetail.mjcf.model.context import Context
    from dovetail.mjcf.model.defaults import DefaultClass


@attrs.define(eq=False, kw_only=True)
class FramePose:
    """A `<frame>`, composed with the frames around it: pose in the body that owns its contents."""

    pos: Vec = ORIGIN
    quat: Vec = IDENTITY


@attrs.define(eq=False, kw_only=True)
class PosedItem(Item):
    """Something with a pose in a body; `alt` is an orientation written in another way than `quat`."""

    pos: Vec = ORIGIN
    quat: Vec = IDENTITY
    alt: tuple[str, Vec] | None = None
    frame: FramePose | None = None
    bodyid: int = -1
    user: Vec = ()


P = TypeVar("P", bound=PosedItem)


@attrs.define
class Scope:
    """Where a child element stands: its body, the frame around it, and the class it inherits."""

    body: BodyItem
    frame: FramePose | None
    childclass: DefaultClass | None
    bodyclass: DefaultClass | None = None
    """The class that the body itself passes on, without that of frames."""


def read_posed(context: Context, node: Node, scope: Scope, kind: type[P], where: list[P]) -> None:
    """Read a geom or site into the list of its body."""
    check_single_orientation(node)
    item = context.defaults.of(node, scope.childclass).make(kind)
    item.node, item.frame, item.bodyid = node, scope.frame, scope.body.id
    overlay(item, node.values)
    where.append(item)


def check_single_orientation(node: Node) -> None:
    """Refuse two orientations on one element, and the quaternion that is none."""
    written = [name for name in ("quat", *ORIENTATIONS) if name in node.values]
    if len(written) > 1:
        raise node.error(f"has several orientations ({', '.join(written)}); keep one", written[1])
    if "quat" in node.values and not any(node.values["quat"]):
        raise node.error("a zero quaternion is no orientation; write e.g. 1 0 0 0", "quat")


def resolve_quat(context: Context, item: PosedItem) -> tuple[float, ...]:
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


def in_frame(item: PosedItem) -> tuple[Vec, Vec]:
    """Pose in the body, through the frame around the item."""
    assert item.frame is not None
    return rotation.accumulate(item.frame.pos, item.frame.quat, item.pos, item.quat)


def put_in_frame(item: PosedItem, written: Vec) -> None:
    """A quaternion is, as in MuJoCo, made a unit one after the frame has turned it; `written` is the one before."""
    if item.frame:
        item.quat = item.quat if item.alt else written
        item.pos, quat = in_frame(item)
        item.quat = rotation.normalized(quat)


def align(item: PosedItem, back: tuple[Vec, Vec] | None) -> None:
    """See an item from a body frame that has moved; `back` leads from the new one to the old one."""
    if back:
        item.pos, item.quat = rotation.accumulate(*back, item.pos, item.quat)


def world_poses(bodies: list[BodyItem]) -> list[Pose]:
    """Where each body frame is at qpos0."""
    poses: list[Pose] = []
    for body in bodies:
        pos, quat = poses[body.parentid] if body.parent else (ORIGIN, IDENTITY)
        poses.append(accumulate(pos, quat, body.pos, body.quat))
    return poses

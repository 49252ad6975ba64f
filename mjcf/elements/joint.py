"""`<joint>` and `<freejoint>`: how a body moves, and its degrees of freedom."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs

from dovetail.contracts.enums import AutoBool, JointType
from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.items import SOLIMP, SOLREF, Item, overlay
from dovetail.mjcf.elements.poses import FramePose, Scope
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.geometry.rotation import ORIGIN, Vec
from dovetail.mjcf.read.source import Node
from dovetail.plugins.shared.quaternions_numpy import quat_rotate

if TYPE_CHECKING:
    from dovetail.mjcf.elements.body import BodyItem
    from dovetail.mjcf.model.context import Context


@attrs.define(eq=False, kw_only=True)
class JointItem(Item):
    """A `<joint>` or `<freejoint>`."""

    type: int = JointType.HINGE
    pos: Vec = ORIGIN
    axis: Vec = (0.0, 0.0, 1.0)
    group: int = 0
    limited: int = AutoBool.AUTO
    range: Vec = (0.0, 0.0)
    actuatorfrclimited: int = AutoBool.AUTO
    actuatorfrcrange: Vec = (0.0, 0.0)
    actuatorgravcomp: bool = False
    solreflimit: Vec = SOLREF
    solimplimit: Vec = SOLIMP
    solreffriction: Vec = SOLREF
    solimpfriction: Vec = SOLIMP
    stiffness: float = 0.0
    springdamper: Vec = (0.0, 0.0)
    margin: float = 0.0
    ref: float = 0.0
    springref: float = 0.0
    armature: float = 0.0
    damping: float = 0.0
    frictionloss: float = 0.0
    align: int = AutoBool.AUTO
    user: Vec = ()
    frame: FramePose | None = None
    bodyid: int = -1
    qposadr: int = -1
    dofadr: int = -1

    @property
    def nq(self) -> int:
        return {JointType.FREE: 7, JointType.BALL: 4}.get(JointType(self.type), 1)

    @property
    def nv(self) -> int:
        return {JointType.FREE: 6, JointType.BALL: 3}.get(JointType(self.type), 1)


COLUMNS: Columns = {
    "jnt_type": "type",
    "jnt_qposadr": "qposadr",
    "jnt_dofadr": "dofadr",
    "jnt_bodyid": "bodyid",
    "jnt_group": "group",
    "jnt_limited": "limited",
    "jnt_actfrclimited": "actuatorfrclimited",
    "jnt_actgravcomp": "actuatorgravcomp",
    "jnt_solref": "solreflimit",
    "jnt_solimp": "solimplimit",
    "jnt_pos": "pos",
    "jnt_axis": "axis",
    "jnt_stiffness": "stiffness",
    "jnt_range": "range",
    "jnt_actfrcrange": "actuatorfrcrange",
    "jnt_margin": "margin",
    "jnt_user": "user",
}
DOF_COLUMNS: Columns = {
    "dof_bodyid": "bodyid",
    "dof_jntid": "id",
    "dof_solref": "solreffriction",
    "dof_solimp": "solimpfriction",
    "dof_frictionloss": "frictionloss",
    "dof_armature": "armature",
    "dof_damping": "damping",
}
"""A row for each degree of freedom, from its joint."""
_MAX_DOFS = 6
"""Most degrees of freedom of one body."""


def read_joint(context: Context, node: Node, scope: Scope) -> None:
    """Read a `<joint>` into its body."""
    joint = context.defaults.of(node, scope.childclass).make(JointItem)
    _place_joint(context, joint, node, scope)


def read_freejoint(context: Context, node: Node, scope: Scope) -> None:
    """A free joint that takes nothing from the defaults."""
    _place_joint(context, JointItem(type=JointType.FREE), node, scope)


def _place_joint(context: Context, joint: JointItem, node: Node, scope: Scope) -> None:
    if scope.body.parent is None:
        raise node.error("the world cannot move; put joints in a body")
    joint.node, joint.frame, joint.bodyid = node, scope.frame, scope.body.id
    overlay(joint, node.values)
    scope.body.joints.append(joint)


def compile_joint(context: Context, joint: JointItem) -> None:
    """Ranges in radians, anchor and axis in the body's frame (`mjCJoint::Compile`)."""
    node = joint.place
    joint.user = context.padded_user(joint, "nuser_jnt", joint.user)
    if any(joint.springdamper) and min(joint.springdamper) <= 0:
        raise node.error("springdamper needs two positive numbers: time constant, ratio", "springdamper")
    _set_range(context, joint)
    _set_force_range(context, joint)
    _set_frame(joint)
    if joint.type == JointType.HINGE and context.compiler_of(joint.node).degrees:
        joint.ref, joint.springref = math.radians(joint.ref), math.radians(joint.springref)


def _set_range(context: Context, joint: JointItem) -> None:
    node, (low, high) = joint.place, joint.range
    limited = joint.type != JointType.FREE and context.resolve_limited(joint, "", joint.limited, joint.range)
    if limited and joint.type == JointType.BALL and low:
        raise node.error("a ball joint's range is the largest angle: it must start at 0", "range")
    if limited and joint.type != JointType.BALL and low >= high:
        raise node.error(f"range must increase, it is {low:g} {high:g}", "range")
    degrees = context.compiler_of(joint.node).degrees
    if limited and degrees and joint.type in (JointType.HINGE, JointType.BALL):
        joint.range = (math.radians(low), math.radians(high))
    joint.limited = int(limited)


def _set_force_range(context: Context, joint: JointItem) -> None:
    if joint.type in (JointType.FREE, JointType.BALL):
        joint.actuatorfrclimited = AutoBool.FALSE
        return
    low, high = limits = joint.actuatorfrcrange
    limited = context.resolve_limited(joint, "actuatorfrc", joint.actuatorfrclimited, limits)
    if limited and low >= high:
        raise joint.place.error(f"range must increase, it is {low:g} {high:g}", "actuatorfrcrange")
    joint.actuatorfrclimited = int(limited)


def _set_frame(joint: JointItem) -> None:
    """Anchor and unit axis in the body frame; free and ball joints have fixed ones."""
    if joint.type in (JointType.FREE, JointType.BALL):
        joint.axis = (0.0, 0.0, 1.0)
    elif joint.frame:
        joint.axis = quat_rotate(joint.frame.quat, joint.axis)
    if rotation.too_short(joint.axis):
        raise joint.place.error("the axis has no direction; give it a length", "axis")
    joint.axis = rotation.normalized(joint.axis)
    if joint.type == JointType.FREE:
        joint.pos = ORIGIN
    elif joint.frame:
        joint.pos, _ = rotation.accumulate(joint.frame.pos, joint.frame.quat, joint.pos, rotation.IDENTITY)


def check_joints(body: BodyItem) -> None:
    """Which joints may stand together in one body."""
    types = [joint.type for joint in body.joints]
    if JointType.FREE in types:
        free = body.joints[types.index(JointType.FREE)]
        if len(types) > 1:
            raise free.place.error("a free joint must be the only joint of its body")
        if body.parent is not None and body.parent.id > 0:
            raise free.place.error("a free joint is only possible in a child of the world")
    if body.dofnum > _MAX_DOFS:
        raise body.joints[-1].place.error(f"a body can have at most {_MAX_DOFS} degrees of freedom")
    for index, joint in enumerate(body.joints):
        if joint.type in (JointType.BALL, JointType.HINGE) and JointType.BALL in types[:index]:
            raise joint.place.error("a rotation cannot follow a ball joint in the same body")
    if body.mocap and (types or body.parent is None or body.parent.id > 0):
        raise body.place.error("a mocap body must be a fixed child of the world", "mocap")


def assign_addresses(joints: list[JointItem]) -> tuple[int, int]:
    """Give every joint its place in qpos and qvel; returns nq and nv."""
    nq = nv = 0
    for joint in joints:
        joint.qposadr, joint.dofadr = nq, nv
        nq, nv = nq + joint.nq, nv + joint.nv
    return nq, nv

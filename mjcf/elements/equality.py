"""`<equality>`: connect, weld, joint, tendon and flex couplings.

`eq_data` holds by type: connect, the anchor in both bodies; weld, the anchor in body 2, the pose of body 2 in
body 1 and the weight of rotations; joint and tendon, five coefficients. What depends on the pose at qpos0 is
left to finalize_model: a connect's second anchor, and the relative pose of a weld whose quaternion is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from dovetail.contracts.enums import EqType, JointType, ObjType
from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.items import SOLIMP, SOLREF, Item, overlay
from dovetail.mjcf.geometry.rotation import Vec, unit_quat
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

_ROWS = {EqType.CONNECT: 3, EqType.WELD: 7, EqType.JOINT: 1, EqType.TENDON: 1, EqType.FLEX: 1}
"""Most constraint rows of one equality, as MuJoCo counts them for `nemax` (a weld makes 6)."""


@attrs.define(eq=False, kw_only=True)
class EqualityItem(Item):
    """A constraint of `<equality>`."""

    active: bool = True
    solref: Vec = SOLREF
    solimp: Vec = SOLIMP
    type: int = EqType.CONNECT
    objtype: int = ObjType.UNKNOWN
    obj1id: int = -1
    obj2id: int = -1
    data: Vec = (0.0, 1.0, *(0.0,) * 8, 1.0)
    """Before anything is written: the polynomial y = x, and torquescale 1."""


COLUMNS: Columns = {
    "eq_type": "type",
    "eq_obj1id": "obj1id",
    "eq_obj2id": "obj2id",
    "eq_objtype": "objtype",
    "eq_active0": "active",
    "eq_solref": "solref",
    "eq_solimp": "solimp",
    "eq_data": "data",
}


def apply_equality(equality: EqualityItem, node: Node) -> None:
    """Lay the attributes that all equalities share over one."""
    overlay(
        equality, {name: node.values[name] for name in ("active", "solref", "solimp") if name in node.values}
    )


def read_equalities(context: Context, section: Node) -> None:
    """Read an `<equality>` section; a flexcomp in it stands for its own equality, if it makes one."""
    for node in section.children:
        if node.tag == "flexcomp":
            if node in context.held_flexes:
                context.add("equality", context.held_flexes[node])
            continue
        equality = context.defaults.of(node).make(EqualityItem)
        equality.node, equality.type = node, int(EqType.from_keyword(node.tag))
        apply_equality(equality, node)
        context.add("equality", equality)


def most_rows(context: Context) -> int:
    """nemax: the most constraint rows of all equalities together, edges of flexes counted elsewhere."""
    return sum(_ROWS.get(EqType(equality.type), 0) for equality in context.objects["equality"])


def compile_equalities(context: Context) -> None:
    """Resolve what every equality refers to, and lay out its data (`mjCEquality::Compile`)."""
    for equality in context.objects["equality"]:
        if equality.node is not None:
            _COMPILERS[EqType(equality.type)](context, equality)
        if equality.obj1id == equality.obj2id:
            raise equality.place.error("an equality needs two different objects; name another one")


def _connect(context: Context, equality: EqualityItem) -> None:
    if _join(context, equality, "anchor"):
        anchor = equality.place.values["anchor"]
        equality.data = (*anchor, *(0.0,) * 7, 1.0)
    else:
        equality.data = (0.0,) * 11


def _weld(context: Context, equality: EqualityItem) -> None:
    values = equality.place.values
    if _join(context, equality, ""):
        anchor, pose = values.get("anchor", (0.0,) * 3), values.get("relpose", (0.0,) * 7)
        quat: Vec = pose[3:]
        equality.data = (*anchor, *pose[:3], *(unit_quat(quat) if any(quat) else quat), 1.0)
    scale = values.get("torquescale", equality.data[10])
    equality.data = (*equality.data[:10], scale)


def _join(context: Context, equality: EqualityItem, needed: str) -> bool:
    """Find the two bodies or the two sites; whether they are bodies."""
    node = equality.place
    of_bodies = [name for name in ("body1", "body2", "anchor", "relpose") if name in node.values]
    of_sites = [name for name in ("site1", "site2") if name in node.values]
    if of_bodies and of_sites:
        raise node.error(
            f"{of_sites[0]} and {of_bodies[0]} exclude each other; use bodies or sites", of_sites[0]
        )
    if len(of_sites) == 2:
        equality.objtype = int(ObjType.SITE)
        equality.obj1id, equality.obj2id = (_find(context, "site", node, name) for name in of_sites)
        return False
    if "body1" not in node.values or (needed and needed not in node.values):
        wanted = f"body1 and {needed}" if needed else "body1"
        raise node.error(f"write {wanted} (body2 may be left out), or site1 and site2")
    equality.objtype = int(ObjType.BODY)
    equality.obj1id = _find(context, "body", node, "body1")
    equality.obj2id = _find(context, "body", node, "body2") if node.values.get("body2") else 0
    return True


def _find(context: Context, kind: str, node: Node, attribute: str) -> int:
    return context.find(kind, node.values[attribute], node, attribute)


def _joint(context: Context, equality: EqualityItem) -> None:
    _couple(context, equality, "joint")
    for attribute, joint in (("joint1", equality.obj1id), ("joint2", equality.obj2id)):
        if joint >= 0 and context.joints[joint].type in (JointType.BALL, JointType.FREE):
            raise equality.place.error("only hinge and slide joints can be coupled", attribute)


def _tendon(context: Context, equality: EqualityItem) -> None:
    _couple(context, equality, "tendon")


def _couple(context: Context, equality: EqualityItem, kind: str) -> None:
    """Object 1 as a polynomial of object 2, or as a constant."""
    node = equality.place
    equality.obj1id = _find(context, kind, node, f"{kind}1")
    if node.values.get(f"{kind}2"):
        equality.obj2id = _find(context, kind, node, f"{kind}2")
    coefficients = node.values.get("polycoef", ())
    equality.data = coefficients + equality.data[len(coefficients) :]


def _flex(context: Context, equality: EqualityItem) -> None:
    equality.obj1id = _find(context, "flex", equality.place, "flex")
    if context.objects["flex"][equality.obj1id].built.rigid:
        raise equality.place.error("this flex is rigid: all its vertices are on one body; remove it", "flex")


_COMPILERS: dict[EqType, Callable[[Context, EqualityItem], None]] = {
    EqType.CONNECT: _connect,
    EqType.WELD: _weld,
    EqType.JOINT: _joint,
    EqType.TENDON: _tendon,
    EqType.FLEX: _flex,
}

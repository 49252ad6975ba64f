"""Shapes of geoms and sites: a type, three sizes and a pose, or a size and two end points (`fromto`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs

from dovetail.contracts.enums import GeomType
from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.poses import PosedItem, resolve_quat
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.geometry.rotation import ORIGIN, Vec

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context


_ALONG_FROMTO = (GeomType.CAPSULE, GeomType.CYLINDER, GeomType.ELLIPSOID, GeomType.BOX)
SIZES = {
    GeomType.SPHERE: 1,
    GeomType.CAPSULE: 2,
    GeomType.CYLINDER: 2,
    GeomType.ELLIPSOID: 3,
    GeomType.BOX: 3,
}
"""How many of the three size numbers each type uses."""


@attrs.define(eq=False, kw_only=True)
class ShapedItem(PosedItem):
    """What geoms and sites have in common."""

    type: int = GeomType.SPHERE
    size: Vec = ORIGIN
    fromto: Vec | None = None
    group: int = 0
    material: str = ""
    rgba: Vec = (0.5, 0.5, 0.5, 1.0)
    matid: int = -1


def shape_columns(kind: str) -> Columns:
    """What both put into the model, field by field."""
    return {
        f"{kind}_type": "type",
        f"{kind}_bodyid": "bodyid",
        f"{kind}_matid": "matid",
        f"{kind}_group": "group",
        f"{kind}_size": "size",
        f"{kind}_pos": "pos",
        f"{kind}_quat": "quat",
        f"{kind}_user": "user",
        f"{kind}_rgba": "rgba",
    }


def set_pose_and_size(context: Context, item: ShapedItem) -> None:
    """Pose from pos and orientation, or pose and length from fromto, which a NaN at its start says is not there."""
    if item.fromto is not None and math.isnan(item.fromto[0]):
        item.fromto = None
    if item.fromto is None:
        item.quat = resolve_quat(context, item)
        return
    node = item.place
    if item.type not in _ALONG_FROMTO:
        raise node.error("fromto is for capsule, cylinder, ellipsoid and box", "fromto")
    if any(item.pos):
        raise node.error("pos and fromto both give the position; write one", "fromto")
    start, end = item.fromto[:3], item.fromto[3:]
    direction = rotation.subtract(start, end)
    half = rotation.norm(direction) / 2
    if rotation.too_short(direction):
        raise node.error("the two points of fromto coincide; move them apart", "fromto")
    across = (
        (item.size[0], item.size[0]) if item.type in (GeomType.ELLIPSOID, GeomType.BOX) else item.size[:1]
    )
    item.size = (*across, half, *item.size[len(across) + 1 :])
    item.pos = rotation.scaled(rotation.add(start, end), 0.5)
    item.quat = rotation.from_z_axis(rotation.normalized(direction))


def check_size(item: ShapedItem) -> None:
    """As many positive numbers as the type needs."""
    node = item.place
    if item.type == GeomType.PLANE:
        if item.size[2] <= 0:
            raise node.error(
                "a plane needs three sizes: half-width, half-height (0: infinite), grid spacing > 0"
            )
        return
    needed = SIZES.get(GeomType(item.type), 0)
    if needed and min(item.size[:needed]) <= 0:
        word = GeomType(item.type).keyword
        raise node.error(f"a {word} needs {needed} positive size number{'s' * (needed > 1)}", "size")

"""`<body>`: the item, its `<inertial>`, and what it puts into the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.items import ORIENTATIONS
from dovetail.mjcf.elements.plugins import PluginUser
from dovetail.mjcf.elements.poses import PosedItem, Scope, check_single_orientation, orientation
from dovetail.mjcf.elements.same_frames import body_sameframe
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.geometry.inertia import diagonalize
from dovetail.mjcf.geometry.rotation import IDENTITY, ORIGIN, Vec
from dovetail.mjcf.read.source import Node
from dovetail.plugins.shared.constants import EPS

if TYPE_CHECKING:
    from dovetail.mjcf.elements.camera import CameraItem
    from dovetail.mjcf.elements.geom import GeomItem
    from dovetail.mjcf.elements.items import Item
    from dovetail.mjcf.elements.joint import JointItem
    from dovetail.mjcf.elements.light import LightItem
    from dovetail.mjcf.elements.site import SiteItem
    from dovetail.mjcf.model.context import Context


@attrs.define(eq=False, kw_only=True)
class BodyItem(PosedItem):
    """A `<body>`, with what stands in it."""

    parent: BodyItem | None = None
    mocap: bool = False
    gravcomp: float = 0.0
    sleep: int = 0
    explicit_inertial: bool = False
    mass: float = 0.0
    inertia: Vec = ORIGIN
    ipos: Vec | None = None
    iquat: Vec = IDENTITY
    joints: list[JointItem] = attrs.field(factory=list)
    geoms: list[GeomItem] = attrs.field(factory=list)
    sites: list[SiteItem] = attrs.field(factory=list)
    cameras: list[CameraItem] = attrs.field(factory=list)
    lights: list[LightItem] = attrs.field(factory=list)
    has_children: bool = False
    plugin: int = -1
    weldid: int = 0
    mocapid: int = -1

    @property
    def parentid(self) -> int:
        return self.parent.id if self.parent else 0

    @property
    def dofnum(self) -> int:
        return sum(joint.nv for joint in self.joints)

    @property
    def parts(self) -> Mapping[str, Sequence[JointItem | LightItem | PosedItem]]:
        """What stands in the body, by kind, in the order in which mjModel numbers it."""
        return {
            "joint": self.joints,
            "geom": self.geoms,
            "site": self.sites,
            "camera": self.cameras,
            "light": self.lights,
        }


def _first(items: Sequence[Item]) -> int:
    return items[0].id if items else -1


def _union(bits: Iterable[int]) -> int:
    total = 0
    for bit in bits:
        total |= bit
    return total


COLUMNS: Columns = {
    "body_parentid": "parentid",
    "body_weldid": "weldid",
    "body_mocapid": "mocapid",
    "body_jntnum": lambda body: len(body.joints),
    "body_jntadr": lambda body: _first(body.joints),
    "body_dofnum": "dofnum",
    "body_dofadr": lambda body: body.joints[0].dofadr if body.joints else -1,
    "body_geomnum": lambda body: len(body.geoms),
    "body_geomadr": lambda body: _first(body.geoms),
    "body_sameframe": body_sameframe,
    "body_pos": "pos",
    "body_quat": "quat",
    "body_ipos": "ipos",
    "body_iquat": "iquat",
    "body_mass": "mass",
    "body_inertia": "inertia",
    "body_gravcomp": "gravcomp",
    "body_margin": lambda body: max((0.0, *(geom.margin for geom in body.geoms))),
    "body_plugin": "plugin",
    "body_contype": lambda body: _union(geom.contype for geom in body.geoms),
    "body_conaffinity": lambda body: _union(geom.conaffinity for geom in body.geoms),
    "body_user": "user",
}


def read_inertial(context: Context, node: Node, scope: Scope) -> None:
    """Read an `<inertial>` into its body."""
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
    if moments[2] < EPS:
        raise node.error("fullinertia must have positive principal moments", "fullinertia")
    return moments, quat


def read_body_plugin(context: Context, node: Node, scope: Scope) -> None:
    """Read a `<plugin>` that acts on its body."""
    context.plugin_users.append(PluginUser(node, scope.body, "passive forces"))

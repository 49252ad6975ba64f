"""`<geom>`: a shape that collides, weighs and is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs
import numpy as np

from dovetail.contracts.enums import AutoBool, GeomType
from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.contact_settings import ContactSettings, check_condim, contact_columns
from dovetail.mjcf.elements.hfield import hfield_box, hfield_radius, set_hfield_size
from dovetail.mjcf.elements.mesh import MESH_TYPES, mesh_box, mesh_moments, place_mesh_geom
from dovetail.mjcf.elements.plugins import PluginUser
from dovetail.mjcf.elements.poses import Scope, in_frame, read_posed
from dovetail.mjcf.elements.shapes import ShapedItem, check_size, set_pose_and_size, shape_columns
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.geometry.fluid import fluid_coefficients
from dovetail.mjcf.geometry.inertia import RigidPart
from dovetail.mjcf.geometry.rotation import ORIGIN, Vec
from dovetail.mjcf.read.source import Node
from dovetail.plugins.shared.constants import EPS

if TYPE_CHECKING:
    from dovetail.mjcf.elements.body import BodyItem
    from dovetail.mjcf.model.context import Context


@attrs.define(eq=False, kw_only=True)
class GeomItem(ContactSettings, ShapedItem):
    """A `<geom>`."""

    mass: float | None = None
    density: float = 1000.0
    shellinertia: bool = False
    fluidshape: str = "none"
    fluidcoef: Vec = (0.5, 0.25, 1.5, 1.0, 1.0)
    mesh: str = ""
    hfield: str = ""
    fitscale: float = 1.0
    dataid: int = -1
    """Number of the mesh or height field."""
    computed_mass: float = 0.0
    """Mass that counts towards the body, kg."""
    inertia: Vec = ORIGIN
    """Principal moments about the geom's centre, kg·m²."""
    aabb: Vec = (0.0,) * 6
    rbound: float = 0.0
    plugin: int = -1

    @property
    def rigid_part(self) -> RigidPart:
        """What the geom adds to its body."""
        return RigidPart(self.computed_mass, self.pos, self.quat, self.inertia)


COLUMNS: Columns = {
    **shape_columns("geom"),
    **contact_columns("geom"),
    "geom_dataid": "dataid",
    "geom_plugin": "plugin",
    "geom_aabb": "aabb",
    "geom_rbound": "rbound",
    "geom_fluid": fluid_coefficients,
}
_FAR = 1e10
"""mjMAXVAL: half-size of an infinite plane's bounding box."""


def read_geom(context: Context, node: Node, scope: Scope) -> None:
    """Read a `<geom>` into its body."""
    read_posed(context, node, scope, GeomItem, scope.body.geoms)
    for child in node.children:
        context.plugin_users.append(PluginUser(child, scope.body.geoms[-1], "signed distance"))


def compile_geom(context: Context, body: BodyItem, geom: GeomItem) -> None:
    """Pose, size, bounds and inertia of a geom, in its body's frame (`mjCGeom::Compile`)."""
    _check_geom(body, geom)
    set_pose_and_size(context, geom)
    if geom.mesh:
        place_mesh_geom(context, geom)
    elif geom.hfield:
        set_hfield_size(context, geom)
    if any(map(math.isnan, geom.size)):
        raise geom.place.error("a size is nan; write numbers", "size")
    check_size(geom)
    geom.aabb = _bounding_box(context, geom)
    geom.rbound = _bounding_radius(context, geom)
    if _infers_inertia(context, body, geom):
        _set_inertia(context, geom)
    if geom.frame:
        geom.pos, geom.quat = in_frame(geom)
    geom.user = context.padded_user(geom, "nuser_geom", geom.user)


def _check_geom(body: BodyItem, geom: GeomItem) -> None:
    node = geom.place
    if (geom.type == GeomType.HFIELD) != bool(geom.hfield):
        raise node.error(
            'type="hfield" and hfield="…" belong together; write both, or none',
            "hfield" if geom.hfield else "type",
        )
    if geom.type in MESH_TYPES and not geom.mesh:
        raise node.error(f'a geom of type {GeomType(geom.type).keyword} needs a mesh; add mesh="…"', "type")
    check_condim(geom)
    if geom.type == GeomType.PLANE and body.weldid != 0:
        raise node.error("a plane can only stand in a body that cannot move", "type")


def _bounding_box(context: Context, geom: GeomItem) -> Vec:
    """Centre and half-sizes of the axis-aligned box in the geom's frame."""
    a, b, c = geom.size
    if geom.type in MESH_TYPES:
        return mesh_box(context.objects["mesh"][geom.dataid])
    if geom.type == GeomType.HFIELD:
        return hfield_box(context.objects["hfield"][geom.dataid])
    if geom.type == GeomType.PLANE:
        return (0.0, 0.0, -_FAR / 2, _FAR, _FAR, _FAR / 2)
    halves = {
        GeomType.SPHERE: (a, a, a),
        GeomType.CAPSULE: (a, a, a + b),
        GeomType.CYLINDER: (a, a, b),
    }
    return ORIGIN + halves.get(GeomType(geom.type), (a, b, c))


def _bounding_radius(context: Context, geom: GeomItem) -> float:
    if geom.type == GeomType.HFIELD:
        return hfield_radius(context.objects["hfield"][geom.dataid])
    return _BOUNDING_RADIUS[GeomType(geom.type)](geom.size)


_BOUNDING_RADIUS: dict[GeomType, Callable[[Vec], float]] = {
    GeomType.PLANE: lambda size: 0.0,
    GeomType.SPHERE: lambda size: size[0],
    GeomType.CAPSULE: lambda size: size[0] + size[1],
    GeomType.CYLINDER: lambda size: math.hypot(size[0], size[1]),
    GeomType.ELLIPSOID: max,
    GeomType.BOX: rotation.norm,
    GeomType.MESH: rotation.norm,
    GeomType.SDF: rotation.norm,
}


def _infers_inertia(context: Context, body: BodyItem, geom: GeomItem) -> bool:
    """Whether this geom's mass counts towards its body."""
    settings = context.compiler_of(body.node)
    low, high = settings.inertiagrouprange
    overrides = settings.inertiafromgeom == AutoBool.TRUE
    return body.id > 0 and (not body.explicit_inertial or overrides) and low <= geom.group <= high


def _set_inertia(context: Context, geom: GeomItem) -> None:
    measure, moments = _integrated(context, geom)
    density = geom.density
    if geom.mass is not None:
        density = geom.mass / measure if measure > EPS else 0.0
    if density < 0:
        attribute = "density" if geom.mass is None else "mass"
        raise geom.place.error(f"{attribute} cannot be negative", attribute)
    if density:
        geom.computed_mass = density * measure if geom.mass is None else geom.mass
        geom.inertia = tuple(float(density * moment) for moment in moments)
        if geom.type in MESH_TYPES:
            geom.inertia = mesh_moments(context.objects["mesh"][geom.dataid], geom.computed_mass)


def _integrated(context: Context, geom: GeomItem) -> tuple[float, np.ndarray]:
    """Volume or area of a geom, and its principal moments for unit density."""
    if geom.type in MESH_TYPES:
        mesh = context.objects["mesh"][geom.dataid]
        return mesh.measure, np.array(mesh.moments)
    kind = GeomType.BOX if geom.type == GeomType.HFIELD else GeomType(geom.type)
    row = context.tables.geom_inertia[kind.keyword]
    try:
        return row(np.array(geom.size), geom.shellinertia)
    except OverflowError:
        return math.inf, np.full(3, math.inf)  # as where MuJoCo's numbers overflow

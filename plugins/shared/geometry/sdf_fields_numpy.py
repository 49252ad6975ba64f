"""The signed distance field of a geom, of whichever kind: primitive, mesh, or shape of a plugin.

Fields take points as rows (n, 3) in the frame of the geom. Which function serves a shape of one of MuJoCo's engine
plugins is the table `sdf_shape`. Compare geomDistance and geomGradient of engine_collision_sdf.c.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from dovetail.contracts.engine_plugins import plugin_config, plugin_name
from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.errors import ArgumentError, MissingStageError, listing
from dovetail.plugins.shared.geometry.distance_fields_numpy import FIELDS
from dovetail.plugins.shared.geometry.octree_numpy import octree_distance, octree_gradient
from dovetail.plugins.shared.geometry.sdf_frames_numpy import RelativeFrame, carried, turned_rows
from dovetail.plugins.shared.geometry.triangle_distance_numpy import DistanceSurface


class GeomField(NamedTuple):
    """Distance (n,) and gradient (n, 3) at points (n, 3)."""

    distance: Callable[[Array], Array]
    gradient: Callable[[Array], Array]


def field_of(model: ModelLike, data: DataLike, geom: int, parts: Mapping[str, Any]) -> GeomField:
    """The field of a geom."""
    kind = GeomType(model.geom_type[geom])
    if kind == GeomType.SDF and model.geom_plugin[geom] >= 0:
        return shape_field(model, int(model.geom_plugin[geom]), parts["sdf_shape"])
    if kind in (GeomType.SDF, GeomType.MESH):
        return mesh_field(model, int(model.geom_dataid[geom]))
    if kind not in FIELDS:
        known = ", ".join(k.keyword for k in (*FIELDS, GeomType.MESH, GeomType.SDF))
        raise ArgumentError(f"geom {geom} is a {kind.keyword}, which has no distance field; known: {known}")
    size = model.geom_size[geom]
    field = FIELDS[kind]
    return GeomField(lambda x: field.distance(x, size), lambda x: field.gradient(x, size))


def known_field(model: ModelLike, data: DataLike, geom: int) -> GeomField:
    """The field of a geom, for whoever is given no rows of `sdf_shape`: those that loading would take serve."""
    parts = {"sdf_shape": known_shapes()} if model.geom_plugin[geom] >= 0 else {}
    return field_of(model, data, geom, parts)


def known_shapes() -> Mapping[str, Any]:
    """The rows of `sdf_shape` that loading would take."""
    from dovetail.planning.loading_selection import Loading

    shapes: Mapping[str, Any] = Loading.of().tables()["sdf_shape"]
    return shapes


def mesh_field(model: ModelLike, mesh: int) -> GeomField:
    """The field of a mesh: its octree's, or else the distance to its faces.

    MuJoCo 3.4 takes, for geoms of type mesh, the octree of the mesh whose number is the geom's, by mistake, and
    without one the distance along a ray to the origin of the world.
    """
    if model.mesh_octadr[mesh] >= 0:
        return GeomField(partial(octree_distance, model, mesh), partial(octree_gradient, model, mesh))
    corners = slice(int(model.mesh_vertadr[mesh]), int(model.mesh_vertadr[mesh] + model.mesh_vertnum[mesh]))
    sides = slice(int(model.mesh_faceadr[mesh]), int(model.mesh_faceadr[mesh] + model.mesh_facenum[mesh]))
    surface = DistanceSurface(model.mesh_vert[corners].astype(float), model.mesh_face[sides])
    return GeomField(surface.distance, surface.gradient)


def shape_field(model: ModelLike, instance: int, shapes: Mapping[str, Any]) -> GeomField:
    """The field of a plugin's shape."""
    name = plugin_name(model, instance)
    if name not in shapes:
        raise MissingStageError(
            f"a geom has the shape of plugin {name!r}, but sdf_shape has no such row; there are: {listing(shapes)}. "
            "A plugin can add the row"
        )
    shape = shapes[name](plugin_config(model, instance))
    return GeomField(shape.distance, shape.gradient)


def moved(field: GeomField, frame: RelativeFrame) -> GeomField:
    """A field at points of another frame, given by where that is in the field's own."""
    return GeomField(
        lambda x: field.distance(carried(x, frame)),
        lambda x: turned_rows(field.gradient(carried(x, frame)), frame.rotation.T),
    )

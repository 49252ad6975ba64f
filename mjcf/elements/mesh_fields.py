"""What meshes put into the model: surfaces, hulls, polygons, bounding volumes and octrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.mjcf.elements.columns import Columns, Pieces, column, stacked, starts

if TYPE_CHECKING:
    from dovetail.mjcf.elements.mesh import MeshItem
    from dovetail.mjcf.model.context import Context


def _facetexcoord(mesh: MeshItem) -> Any:
    surface = mesh.surface
    return surface.facetexcoord if len(surface.texcoord) else 0 * surface.face


def _of_octree(name: str) -> Any:
    return lambda mesh: mesh.octree.get(name, ())


COLUMNS: Columns = {"mesh_scale": "scale", "mesh_pos": "pos", "mesh_quat": "quat"}
SURFACES = Pieces(
    rows={
        "mesh_vert": lambda mesh: mesh.surface.vertex,
        "mesh_normal": lambda mesh: mesh.surface.normal,
        "mesh_texcoord": lambda mesh: mesh.surface.texcoord,
        "mesh_face": lambda mesh: mesh.surface.face,
        "mesh_facenormal": lambda mesh: mesh.surface.facenormal,
        "mesh_facetexcoord": _facetexcoord,
        "mesh_graph": lambda mesh: () if mesh.graph is None else mesh.graph,
        "mesh_polynormal": lambda mesh: mesh.polygon_normals,
        **{name: _of_octree(name) for name in ("oct_depth", "oct_child", "oct_aabb", "oct_coeff")},
    },
    begins={
        "mesh_vertadr": "mesh_vert",
        "mesh_faceadr": "mesh_face",
        "mesh_normaladr": "mesh_normal",
        "mesh_texcoordadr": "mesh_texcoord",
        "mesh_graphadr": "mesh_graph",
        "mesh_octadr": "oct_depth",
    },
    numbers={
        "mesh_vertnum": "mesh_vert",
        "mesh_facenum": "mesh_face",
        "mesh_normalnum": "mesh_normal",
        "mesh_texcoordnum": "mesh_texcoord",
        "mesh_octnum": "oct_depth",
    },
    absent=frozenset(["mesh_texcoordadr", "mesh_graphadr", "mesh_octadr"]),
)


def mesh_fields(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """Polygons and bounding volumes, which are counted through several meshes."""
    meshes: list[MeshItem] = context.objects["mesh"]
    return {**_polygons(meshes), **_volumes(meshes, values)}


def _polygons(meshes: list[MeshItem]) -> dict[str, Any]:
    """Sides of each mesh, and for each vertex the sides around it."""
    sizes = np.concatenate([np.zeros(0, np.int64), *(mesh.polygons.sizes for mesh in meshes)])
    corners = stacked("mesh_polyvert", [mesh.polygons.corners for mesh in meshes])
    owners = np.repeat(np.arange(len(sizes)), sizes)
    counts = np.array([len(mesh.polygons) for mesh in meshes], np.int64)
    vertices = np.array([len(mesh.surface.vertex) for mesh in meshes], np.int64)
    mesh_of = np.repeat(np.arange(len(meshes)), counts)[owners]
    vertex = corners + (np.cumsum(vertices) - vertices)[mesh_of]
    order = np.argsort(vertex, kind="stable")
    around = np.bincount(vertex, minlength=int(vertices.sum()))
    return {
        "mesh_polynum": column("mesh_polynum", counts),
        "mesh_polyadr": starts(counts),
        "mesh_polyvertadr": starts(sizes),
        "mesh_polyvertnum": column("mesh_polyvertnum", sizes),
        "mesh_polyvert": corners,
        "mesh_polymapadr": starts(around),
        "mesh_polymapnum": column("mesh_polymapnum", around),
        "mesh_polymap": column("mesh_polymap", (owners - (np.cumsum(counts) - counts)[mesh_of])[order]),
    }


def _volumes(meshes: list[MeshItem], values: dict[str, Any]) -> dict[str, Any]:
    """Bounding volumes of the meshes' faces, after those of the bodies."""
    lengths = [len(mesh.tree["bvh_depth"]) for mesh in meshes]
    joined = {
        name: np.concatenate([values[name], *(mesh.tree[name] for mesh in meshes)])
        for name in ("bvh_depth", "bvh_child", "bvh_nodeid", "bvh_aabb")
    }
    before = len(values["bvh_depth"])
    return {
        "mesh_bvhadr": column("mesh_bvhadr", starts(lengths) + before),
        "mesh_bvhnum": column("mesh_bvhnum", lengths),
        **joined,
    }

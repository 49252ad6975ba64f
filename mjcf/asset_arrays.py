"""Arrays of meshes, height fields and skins: what the compiled assets put into mjModel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dovetail.mjcf.asset_tree import HField, Mesh, Skin
from dovetail.mjcf.model.context import Context

_INT = np.int32


def asset_fields(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """All fields of meshes, height fields and skins; bounding volumes follow those of the bodies."""
    return {**_meshes(context, values), **_hfields(context), **_skins(context), **_paths(context)}


_LENGTHS = {
    "nmeshvert": "mesh_vert",
    "nmeshnormal": "mesh_normal",
    "nmeshtexcoord": "mesh_texcoord",
    "nmeshface": "mesh_face",
    "nmeshgraph": "mesh_graph",
    "nmeshpoly": "mesh_polynormal",
    "nmeshpolyvert": "mesh_polyvert",
    "nmeshpolymap": "mesh_polymap",
    "nhfielddata": "hfield_data",
    "nskinvert": "skin_vert",
    "nskintexvert": "skin_texcoord",
    "nskinface": "skin_face",
    "nskinbone": "skin_bonebodyid",
    "nskinbonevert": "skin_bonevertid",
    "npaths": "paths",
    "noct": "oct_depth",
}
"""Sizes, and the array of which each is the length."""


def asset_sizes(values: dict[str, Any]) -> dict[str, int]:
    """Sizes of the arrays that `asset_fields` makes."""
    return {size: len(values[name]) for size, name in _LENGTHS.items()}


def starts(lengths: Iterable[int] | np.ndarray, absent: bool = False) -> np.ndarray:
    """Where each piece begins when pieces follow one another; with `absent`, −1 for empty pieces."""
    numbers = lengths if isinstance(lengths, np.ndarray) else np.array(list(lengths), np.int64)
    begins = np.cumsum(numbers) - numbers
    return np.where((numbers == 0) & absent, -1, begins).astype(_INT)


def _stacked(arrays: list[np.ndarray], shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    return np.concatenate([np.zeros((0, *shape), dtype), *(a.astype(dtype) for a in arrays)])


def _meshes(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    meshes: list[Mesh] = context.objects["mesh"]
    surfaces = [mesh.surface for mesh in meshes]
    graphs = [np.zeros(0, _INT) if mesh.graph is None else mesh.graph for mesh in meshes]
    texcoords = [surface.facetexcoord if len(surface.texcoord) else 0 * surface.face for surface in surfaces]
    return {
        "mesh_vertadr": starts(len(s.vertex) for s in surfaces),
        "mesh_vertnum": np.array([len(s.vertex) for s in surfaces], _INT),
        "mesh_faceadr": starts(len(s.face) for s in surfaces),
        "mesh_facenum": np.array([len(s.face) for s in surfaces], _INT),
        "mesh_normaladr": starts(len(s.normal) for s in surfaces),
        "mesh_normalnum": np.array([len(s.normal) for s in surfaces], _INT),
        "mesh_texcoordadr": starts((len(s.texcoord) for s in surfaces), absent=True),
        "mesh_texcoordnum": np.array([len(s.texcoord) for s in surfaces], _INT),
        "mesh_graphadr": starts((len(graph) for graph in graphs), absent=True),
        "mesh_vert": _stacked([s.vertex for s in surfaces], (3,), np.float32),
        "mesh_normal": _stacked([s.normal for s in surfaces], (3,), np.float32),
        "mesh_texcoord": _stacked([s.texcoord for s in surfaces], (2,), np.float32),
        "mesh_face": _stacked([s.face for s in surfaces], (3,), _INT),
        "mesh_facenormal": _stacked([s.facenormal for s in surfaces], (3,), _INT),
        "mesh_facetexcoord": _stacked(texcoords, (3,), _INT),
        "mesh_graph": _stacked(graphs, (), _INT),
        "mesh_scale": np.array([mesh.scale for mesh in meshes], np.float64).reshape(-1, 3),
        "mesh_pos": np.array([mesh.pos for mesh in meshes], np.float64).reshape(-1, 3),
        "mesh_quat": np.array([mesh.quat for mesh in meshes], np.float64).reshape(-1, 4),
        **_polygons(meshes),
        **_volumes(meshes, values),
        **_octrees(meshes),
    }


def _polygons(meshes: list[Mesh]) -> dict[str, Any]:
    """Sides of each mesh, and for each vertex the sides around it."""
    sizes = np.concatenate([np.zeros(0, np.int64), *(mesh.polygons.sizes for mesh in meshes)])
    corners = _stacked([mesh.polygons.corners for mesh in meshes], (), _INT)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    counts = np.array([len(mesh.polygons) for mesh in meshes], np.int64)
    vertices = np.array([len(mesh.surface.vertex) for mesh in meshes], np.int64)
    mesh_of = np.repeat(np.arange(len(meshes)), counts)[owners]
    vertex = corners + (np.cumsum(vertices) - vertices)[mesh_of]
    order = np.argsort(vertex, kind="stable")
    around = np.bincount(vertex, minlength=int(vertices.sum()))
    return {
        "mesh_polynum": counts.astype(_INT),
        "mesh_polyadr": starts(counts),
        "mesh_polynormal": _stacked([mesh.polygon_normals for mesh in meshes], (3,), np.float64),
        "mesh_polyvertadr": starts(sizes),
        "mesh_polyvertnum": sizes.astype(_INT),
        "mesh_polyvert": corners,
        "mesh_polymapadr": starts(around),
        "mesh_polymapnum": around.astype(_INT),
        "mesh_polymap": (owners - (np.cumsum(counts) - counts)[mesh_of])[order].astype(_INT),
    }


def _volumes(meshes: list[Mesh], values: dict[str, Any]) -> dict[str, Any]:
    """Bounding volumes of the meshes' faces, after those of the bodies."""
    lengths = [len(mesh.tree["bvh_depth"]) for mesh in meshes]
    joined = {
        name: np.concatenate([values[name], *(mesh.tree[name] for mesh in meshes)])
        for name in ("bvh_depth", "bvh_child", "bvh_nodeid", "bvh_aabb")
    }
    before = len(values["bvh_depth"])
    return {
        "mesh_bvhadr": (starts(lengths) + before).astype(_INT),
        "mesh_bvhnum": np.array(lengths, _INT),
        **joined,
    }


_OCTREE = {
    "oct_depth": ((), _INT),
    "oct_child": ((8,), _INT),
    "oct_aabb": ((6,), float),
    "oct_coeff": ((8,), float),
}
"""Fields of octrees: shape and type of a row."""


def _octrees(meshes: list[Mesh]) -> dict[str, Any]:
    """Octrees of meshes that are signed distance fields."""
    lengths = [len(mesh.octree.get("oct_depth", ())) for mesh in meshes]
    made = [mesh.octree for mesh in meshes if mesh.octree]
    rows = {name: _stacked([tree[name] for tree in made], *kind) for name, kind in _OCTREE.items()}
    return {"mesh_octadr": starts(lengths, absent=True), "mesh_octnum": np.array(lengths, _INT), **rows}


def _hfields(context: Context) -> dict[str, Any]:
    fields: list[HField] = context.objects["hfield"]
    return {
        "hfield_size": np.array([field.size for field in fields], np.float64).reshape(-1, 4),
        "hfield_nrow": np.array([field.nrow for field in fields], _INT),
        "hfield_ncol": np.array([field.ncol for field in fields], _INT),
        "hfield_adr": starts(field.data.size for field in fields),
        "hfield_data": _stacked([field.data.reshape(-1) for field in fields], (), np.float32),
    }


def _skins(context: Context) -> dict[str, Any]:
    skins: list[Skin] = context.objects["skin"]
    bones = [bone for skin in skins for bone in skin.bones]
    return {
        "skin_matid": np.array([skin.matid for skin in skins], _INT),
        "skin_group": np.array([skin.group for skin in skins], _INT),
        "skin_rgba": np.array([skin.rgba for skin in skins], np.float32).reshape(-1, 4),
        "skin_inflate": np.array([skin.inflate for skin in skins], np.float32),
        "skin_vertadr": starts(len(skin.vertex) for skin in skins),
        "skin_vertnum": np.array([len(skin.vertex) for skin in skins], _INT),
        "skin_texcoordadr": starts((len(skin.texcoord) for skin in skins), absent=True),
        "skin_faceadr": starts(len(skin.face) for skin in skins),
        "skin_facenum": np.array([len(skin.face) for skin in skins], _INT),
        "skin_boneadr": starts(len(skin.bones) for skin in skins),
        "skin_bonenum": np.array([len(skin.bones) for skin in skins], _INT),
        "skin_vert": _stacked([skin.vertex for skin in skins], (3,), np.float32),
        "skin_texcoord": _stacked([skin.texcoord for skin in skins], (2,), np.float32),
        "skin_face": _stacked([skin.face for skin in skins], (3,), _INT),
        "skin_bonevertadr": starts(len(bone.vertid) for bone in bones),
        "skin_bonevertnum": np.array([len(bone.vertid) for bone in bones], _INT),
        "skin_bonebindpos": _stacked([bone.bindpos.reshape(1, 3) for bone in bones], (3,), np.float32),
        "skin_bonebindquat": _stacked([bone.bindquat.reshape(1, 4) for bone in bones], (4,), np.float32),
        "skin_bonebodyid": np.array([bone.bodyid for bone in bones], _INT),
        "skin_bonevertid": _stacked([bone.vertid for bone in bones], (), _INT),
        "skin_bonevertweight": _stacked([bone.vertweight for bone in bones], (), np.float32),
    }


def _paths(context: Context) -> dict[str, Any]:
    """Names of the files that assets came from, one after the other, and where each begins."""
    fields: dict[str, Any] = {}
    buffer = b""
    for prefix, kind in (("hfield", "hfield"), ("mesh", "mesh"), ("skin", "skin"), ("tex", "texture")):
        begins = []
        for item in context.objects[kind]:
            begins.append(len(buffer) if item.file else -1)
            buffer += item.file.encode() + b"\0" if item.file else b""
        fields[f"{prefix}_pathadr"] = np.array(begins, _INT)
    fields["paths"] = np.frombuffer(buffer or b"\0", np.uint8).copy()
    return fields

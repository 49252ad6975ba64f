"""`<mesh>`: where its surface comes from (a file, attributes, or a built-in shape), and what geoms take from it.

Reading a file is the compile-time stage `load_mesh`, integrating its inertia `mesh_inertia`. A geom of type mesh
gets the mesh's own frame; any other type is fitted to the mesh (`mjCMesh::FitGeom`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs
import numpy as np

from dovetail.contracts.enums import GeomType, MeshBuiltin, MeshInertia
from dovetail.mjcf.elements.items import Item, overlay
from dovetail.mjcf.elements.plugins import PluginUser, instance_of
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.geometry.builtin_meshes import ShapeError, make_builtin
from dovetail.mjcf.geometry.flat_meshes import boxed
from dovetail.mjcf.geometry.marching_cubes import shape_mesh
from dovetail.mjcf.geometry.mesh_surface import MeshSurface, points
from dovetail.mjcf.geometry.rotation import IDENTITY, ORIGIN, Vec
from dovetail.mjcf.geometry.sides import MeshSides
from dovetail.mjcf.geometry.surfaces import faces_wanted, process
from dovetail.mjcf.read.kinds import shorten
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.elements.geom import GeomItem
    from dovetail.mjcf.model.context import Context

SUFFIXES = {"model/stl": ".stl", "model/obj": ".obj", "model/vnd.mujoco.msh": ".msh"}
"""Suffix that each content type stands for."""
MESH_TYPES = (GeomType.MESH, GeomType.SDF)
_MIN_VERTICES = 4
_LEAST_HULL = 4
"""Fewest vertices that maxhullvert may allow."""
_WIDTHS = {"vertex": 3, "normal": 3, "texcoord": 2, "face": 3}


@attrs.define(eq=False, kw_only=True)
class MeshItem(Item):
    """A `<mesh>`."""

    file: str = ""
    content_type: str = ""
    builtin: int = MeshBuiltin.NONE
    params: Vec = ()
    material: str = ""
    vertex: Vec | None = None
    normal: Vec | None = None
    texcoord: Vec | None = None
    face: tuple[int, ...] | None = None
    scale: Vec = (1.0, 1.0, 1.0)
    refpos: Vec = ORIGIN
    refquat: Vec = IDENTITY
    smoothnormal: bool = False
    maxhullvert: int = -1
    inertia: int = MeshInertia.LEGACY
    needs_hull: bool = False
    surface: MeshSurface = attrs.field(factory=MeshSurface)
    graph: np.ndarray | None = None
    """mesh_graph, if the mesh has a convex hull."""
    polygons: MeshSides = attrs.field(factory=MeshSides)
    polygon_normals: np.ndarray = attrs.field(factory=points)
    pos: Vec = ORIGIN
    quat: Vec = IDENTITY
    """Frame of the centre of mass and principal axes, in the file's coordinates."""
    measure: float = 0.0
    """Volume, or area of a shell."""
    moments: Vec = ORIGIN
    """Principal moments for unit density."""
    box: Vec = ORIGIN
    """Half-sizes of the box with the same inertia."""
    low: Vec = ORIGIN
    high: Vec = ORIGIN
    """Corners of the bounding box in the mesh frame."""
    tree: dict[str, np.ndarray] = attrs.field(factory=dict)
    """Bounding volumes of the faces."""
    plugin: int = -1
    """Engine plugin instance whose shape the mesh has."""
    needs_octree: bool = False
    octree: dict[str, np.ndarray] = attrs.field(factory=dict)
    """Samples of the signed distance, if a geom of type sdf uses the mesh."""


def read_mesh(context: Context, node: Node) -> None:
    """Read one `<mesh>`."""
    mesh = context.defaults.of(node).make(MeshItem)
    mesh.node = node
    apply_mesh(mesh, node)
    context.add("mesh", mesh)
    if not mesh.name:
        raise node.error("a mesh needs a name; add name=…, or file=…, which gives it one")
    if "builtin" in node.values:
        _check_builtin(mesh)
    for child in node.children:
        context.plugin_users.append(PluginUser(child, mesh, "signed distance", turn=0))
    for name, width in _WIDTHS.items():
        values = getattr(mesh, name)
        if values and len(values) % width:
            raise node.error(f"{name} has {len(values)} numbers; write {width} per {name}", name)


def apply_mesh(mesh: MeshItem, node: Node) -> None:
    """Lay a mesh element over a mesh."""
    if node.values.get("maxhullvert", -1) != -1 and node.values["maxhullvert"] < _LEAST_HULL:
        raise node.error(f"maxhullvert must be at least {_LEAST_HULL}, or -1 for no limit", "maxhullvert")
    overlay(mesh, node.values)


def _check_builtin(mesh: MeshItem) -> None:
    node = mesh.place
    if "params" not in node.values:
        raise node.error("a built-in mesh needs params; add them", "builtin")
    for other in ("vertex", "file"):
        if other in node.values:
            raise node.error(f"builtin and {other} both give the vertices; write one", other)


def compile_meshes(context: Context) -> None:
    """Read and process every mesh; must come before geoms are compiled."""
    meshes: list[MeshItem] = context.objects["mesh"]
    pairs = [pair.place.values for pair in context.objects["pair"]]
    paired = {values[name] for values in pairs for name in ("geom1", "geom2") if name in values}
    for geom in context.geoms:
        if geom.mesh:
            geom.dataid = context.find("mesh", geom.mesh, geom.place, "mesh")
            mesh = meshes[geom.dataid]
            geom.material = geom.material or mesh.material
            touches = geom.contype or geom.conaffinity or geom.name in paired
            if touches and geom.type in MESH_TYPES:
                mesh.needs_hull = True
            if geom.type == GeomType.SDF:
                mesh.needs_octree = True
    for mesh in meshes:
        mesh.surface = _surface(context, mesh)
        _check_surface(mesh)
        row = context.tables.mesh_inertia[MeshInertia(mesh.inertia).keyword]
        boxes = context.flat_meshes_are_boxes
        process(mesh, boxed(mesh, row) if boxes else row, faces=faces_wanted(row), needs_area=not boxes)


# where the surface comes from


def _surface(context: Context, mesh: MeshItem) -> MeshSurface:
    given = {name: values for name in _WIDTHS if (values := getattr(mesh, name))}
    parts = {
        name: np.array(values, np.int32 if name == "face" else np.float32).reshape(-1, _WIDTHS[name])
        for name, values in given.items()
    }
    if mesh.plugin >= 0:
        parts = _shaped(context, mesh)
    elif mesh.file:
        parts = _combined(mesh, _from_file(context, mesh), parts)
    elif mesh.builtin != MeshBuiltin.NONE:
        parts = {**parts, **_built(mesh)}
    return _typed(parts)


def _shaped(context: Context, mesh: MeshItem) -> dict[str, np.ndarray]:
    """The surface of a plugin's shape, whatever vertices the mesh has of its own."""
    node = mesh.place
    if mesh.file:
        raise node.error("file and plugin both give the surface; write one", "file")
    if mesh.scale != (1.0, 1.0, 1.0):
        raise node.error("a plugin's shape cannot be scaled; change its configuration instead", "scale")
    name, config = instance_of(context, mesh.plugin)
    if name not in context.tables.sdf_shape:
        raise node.error(
            f"no plugin tells the shape of {name}; known: {', '.join(sorted(context.tables.sdf_shape))}"
        )
    shape = context.tables.sdf_shape[name](config)
    if not (np.isfinite(shape.box).all() and min(shape.box[3:]) > 0):
        raise node.error(f"the shape of {name} has no extent; check its configuration")
    return shape_mesh(shape.distance, shape.box)


def _combined(
    mesh: MeshItem, loaded: dict[str, np.ndarray], given: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    twice = sorted(set(loaded) & set(given))
    if twice:
        raise mesh.place.error(f"{twice[0]} is in the file already; remove the attribute", twice[0])
    return {**given, **loaded}


def _typed(parts: dict[str, np.ndarray]) -> MeshSurface:
    """Vertices pass through single precision, as in MuJoCo, and are double from there on."""
    kinds = {"vertex": np.float64, "normal": np.float32, "texcoord": np.float32}
    return MeshSurface(**{name: array.astype(kinds.get(name, np.int32)) for name, array in parts.items()})


def _built(mesh: MeshItem) -> dict[str, np.ndarray]:
    try:
        parts = make_builtin(mesh.builtin, mesh.params)
    except ShapeError as problem:
        raise mesh.place.error(str(problem), "params") from None
    if mesh.builtin == MeshBuiltin.PLATE:
        mesh.inertia = MeshInertia.SHELL
    single = {"vertex", "normal"}
    return {name: array.astype(np.float32) if name in single else array for name, array in parts.items()}


def _from_file(context: Context, mesh: MeshItem) -> dict[str, np.ndarray]:
    node = mesh.place
    suffix = _suffix(context, mesh)
    content, filename = context.read_asset(node, "file", mesh.file, context.compiler_of(node).meshdir)
    try:
        parts = context.tables.load_mesh[suffix](content, filename)
    except ValueError as problem:
        raise node.error(f"{filename}: {problem}", "file") from None
    for name, array in parts.items():
        bad = (
            np.isinf(array) if name == "normal" else ~np.isfinite(array)
        )  # a normal that is no number looks along z
        if array.dtype.kind == "f" and bad.any():
            row = int(np.flatnonzero(bad.any(axis=1))[0])
            raise node.error(f"{filename}: {name} {row} is not finite; repair the file", "file")
    return _mirrored(parts) if math.prod(mesh.scale) <= 0 else parts


def _suffix(context: Context, mesh: MeshItem) -> str:
    """Which reader to use: by content type, otherwise by the file's suffix."""
    node, known = mesh.place, ", ".join(sorted(context.tables.load_mesh))
    if mesh.content_type:
        suffix = SUFFIXES.get(mesh.content_type, "")
        if suffix not in context.tables.load_mesh:
            types = ", ".join(kind for kind, s in SUFFIXES.items() if s in context.tables.load_mesh)
            raise node.error(f"unknown content type; meshes are {types}", "content_type")
        return suffix
    dot = mesh.file.rfind(".")
    suffix = mesh.file[dot:].lower() if dot >= 0 else ""
    if suffix not in context.tables.load_mesh:
        raise node.error(f"unknown kind of mesh file {shorten(suffix)!r}; known suffixes: {known}", "file")
    return suffix


def _mirrored(parts: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Faces turned round, because the scale mirrors the mesh; index lists that the file lacks stay unturned."""
    parts = dict(parts)
    if "face" not in parts:
        return parts
    for indices, values in (("facenormal", "normal"), ("facetexcoord", "texcoord")):
        if indices in parts:
            parts[indices] = parts[indices][:, [0, 2, 1]]
        elif values in parts:
            parts[indices] = parts["face"]
    return {**parts, "face": np.ascontiguousarray(parts["face"][:, [0, 2, 1]])}


def _check_surface(mesh: MeshItem) -> None:
    surface, node = mesh.surface, mesh.place
    nvert = len(surface.vertex)
    where = "file" if mesh.file else "vertex"
    if nvert < _MIN_VERTICES:
        raise node.error(f"a mesh needs at least {_MIN_VERTICES} vertices, it has {nvert}", where)
    _check_indices(node, "face", surface.face, 0, nvert)
    _check_indices(node, "facenormal", surface.facenormal, -1, len(surface.normal))
    _check_indices(node, "facetexcoord", surface.facetexcoord, -1, len(surface.texcoord))
    loose = len(surface.texcoord) and not len(surface.facetexcoord)
    if loose and len(surface.texcoord) != nvert and not mesh.file.lower().endswith(".obj"):
        raise node.error(
            f"has {len(surface.texcoord)} texture coordinates for {nvert} vertices; give one per vertex",
            "texcoord",
        )


def _check_indices(node: Node, what: str, indices: np.ndarray, low: int, count: int) -> None:
    bad = np.argwhere((indices < low) | (indices >= count))
    if len(bad):
        row, column = bad[0]
        raise node.error(
            f"{what} {row} uses index {indices[row, column]}, which does not exist; indices are 0 to {count - 1}",
            "face" if "face" in node.values else "file",
        )


# geoms


def place_mesh_geom(context: Context, geom: GeomItem) -> None:
    """Pose of a geom with a mesh, and its size if it is not a mesh itself but fitted to one."""
    mesh: MeshItem = context.objects["mesh"][geom.dataid]
    if geom.fromto is not None:
        raise geom.place.error("fromto cannot be used with a mesh; write pos and an orientation", "fromto")
    pos = mesh.pos
    if geom.type not in MESH_TYPES:
        pos = _fitted(context, geom, mesh)
    elif geom.shellinertia:
        raise geom.place.error(
            'whether a mesh is hollow is said in its asset; remove shellinertia and write <mesh inertia="shell">',
            "shellinertia",
        )
    geom.pos, geom.quat = rotation.accumulate(geom.pos, geom.quat, pos, mesh.quat)
    if geom.type in MESH_TYPES:
        geom.size = tuple(max(abs(a), abs(b)) for a, b in zip(mesh.low, mesh.high, strict=True))


def mesh_box(mesh: MeshItem) -> Vec:
    """Centre and half-sizes of the bounding box in the mesh frame."""
    pairs = list(zip(mesh.low, mesh.high, strict=True))
    return (*((b + a) / 2 for a, b in pairs), *((b - a) / 2 for a, b in pairs))


def mesh_moments(mesh: MeshItem, mass: float) -> Vec:
    """Principal moments by way of the equivalent box: for a flat shell rounding decides if they are possible."""
    a, b, c = mesh.box
    return mass * (b**2 + c**2) / 3, mass * (a**2 + c**2) / 3, mass * (a**2 + b**2) / 3


def _fitted(context: Context, geom: GeomItem, mesh: MeshItem) -> Vec:
    """Fit a primitive to a mesh; returns where its centre lies in the mesh's coordinates."""
    if geom.type not in _FITTED:
        raise geom.place.error(
            f"a {GeomType(geom.type).keyword} cannot be fitted to a mesh; use mesh, or a bounded primitive",
            "type",
        )
    if context.compiler_of(geom.node).fitaabb:
        box = mesh_box(mesh)
        size, pos = _AROUND[GeomType(geom.type)](*box[3:]), rotation.point((mesh.pos, mesh.quat), box[:3])
    else:
        size, pos = _FITTED[GeomType(geom.type)](*mesh.box), mesh.pos
    geom.size = rotation.scaled(size + geom.size[len(size) :], geom.fitscale)
    return pos


_FITTED: dict[GeomType, Callable[[float, float, float], Vec]] = {
    GeomType.SPHERE: lambda a, b, c: ((a + b + c) / 3,),
    GeomType.CAPSULE: lambda a, b, c: ((a + b) / 2, max(0.0, c - (a + b) / 4)),
    GeomType.CYLINDER: lambda a, b, c: ((a + b) / 2, c),
    GeomType.ELLIPSOID: lambda a, b, c: (a, b, c),
    GeomType.BOX: lambda a, b, c: (a, b, c),
}
"""Sizes that give a primitive roughly the inertia of a box with the given half-sizes."""
_AROUND: dict[GeomType, Callable[[float, float, float], Vec]] = {
    GeomType.SPHERE: lambda a, b, c: (max(a, b, c),),
    GeomType.CAPSULE: lambda a, b, c: (max(a, b), max(0.0, c - max(a, b))),
    GeomType.CYLINDER: lambda a, b, c: (max(a, b), c),
    GeomType.ELLIPSOID: lambda a, b, c: (a, b, c),
    GeomType.BOX: lambda a, b, c: (a, b, c),
}
"""Sizes of a primitive as large as a box with the given half-sizes along each axis."""

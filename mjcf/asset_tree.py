"""The typed tree of assets with many numbers: meshes, height fields and skins.

Field names and defaults are MJCF's, as in `tree`; arrays are filled in when the asset is compiled.
"""

from __future__ import annotations

import attrs
import numpy as np

from dovetail.contracts.enums import MeshBuiltin, MeshInertia
from dovetail.mjcf.geometry.rotation import IDENTITY, ORIGIN
from dovetail.mjcf.geometry.sides import Sides
from dovetail.mjcf.read.kinds import Vec
from dovetail.mjcf.tree import Item


def _points() -> np.ndarray:
    return np.zeros((0, 3))


def _single_points() -> np.ndarray:
    return np.zeros((0, 3), np.float32)


def _single_pairs() -> np.ndarray:
    return np.zeros((0, 2), np.float32)


def _triples() -> np.ndarray:
    return np.zeros((0, 3), np.int32)


@attrs.define(eq=False, kw_only=True)
class Surface:
    """Vertices with faces, normals and texture coordinates; indices into each other, −1 for none."""

    vertex: np.ndarray = attrs.field(factory=_points)
    face: np.ndarray = attrs.field(factory=_triples)
    normal: np.ndarray = attrs.field(factory=_single_points)
    facenormal: np.ndarray = attrs.field(factory=_triples)
    texcoord: np.ndarray = attrs.field(factory=_single_pairs)
    facetexcoord: np.ndarray = attrs.field(factory=_triples)


@attrs.define(eq=False, kw_only=True)
class Mesh(Item):
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
    surface: Surface = attrs.field(factory=Surface)
    graph: np.ndarray | None = None
    """mesh_graph, if the mesh has a convex hull."""
    polygons: Sides = attrs.field(factory=Sides)
    polygon_normals: np.ndarray = attrs.field(factory=_points)
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


@attrs.define(eq=False, kw_only=True)
class HField(Item):
    file: str = ""
    content_type: str = ""
    nrow: int = 0
    ncol: int = 0
    size: Vec = (0.0,) * 4
    elevation: Vec | None = None
    data: np.ndarray = attrs.field(factory=lambda: np.zeros(0, np.float32))
    """Elevations from 0 to 1, row by row."""


@attrs.define(eq=False, kw_only=True)
class Bone:
    """A body that moves part of a skin."""

    body: str = ""
    bodyid: int = -1
    bindpos: np.ndarray = attrs.field(factory=lambda: np.zeros(3, np.float32))
    bindquat: np.ndarray = attrs.field(factory=lambda: np.array([1, 0, 0, 0], np.float32))
    vertid: np.ndarray = attrs.field(factory=lambda: np.zeros(0, np.int32))
    vertweight: np.ndarray = attrs.field(factory=lambda: np.zeros(0, np.float32))


@attrs.define(eq=False, kw_only=True)
class Skin(Item):
    file: str = ""
    material: str = ""
    group: int = 0
    rgba: Vec = (0.5, 0.5, 0.5, 1.0)
    inflate: float = 0.0
    vertex: np.ndarray = attrs.field(factory=_single_points)
    texcoord: np.ndarray = attrs.field(factory=_single_pairs)
    face: np.ndarray = attrs.field(factory=_triples)
    bones: list[Bone] = attrs.field(factory=list)
    matid: int = -1

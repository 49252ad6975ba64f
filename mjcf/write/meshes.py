"""Meshes of a compiled Model as MJCF: the file's coordinates are found again, and how they were processed is tried.

A Model keeps vertices in single precision in the frame of the mesh's centre of mass and principal axes. Written back
into the coordinates of the file and processed again they give the same frame, but for rounding in single precision;
the way of processing (which inertia, whose normals, with faces or without) is the first that gives the Model's
numbers. Geoms are placed by the frame that reading will find, so that they are where they were.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.contracts.enums import GeomType, MeshInertia
from dovetail.errors import CannotWriteError, DovetailError
from dovetail.mjcf.elements.mesh import _FITTED, MESH_TYPES, MeshItem
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.geometry.inertia import rotation_matrix
from dovetail.mjcf.geometry.mesh_surface import MeshSurface
from dovetail.mjcf.geometry.rotation import Pose, Vec
from dovetail.mjcf.geometry.surfaces import faces_wanted, process
from dovetail.mjcf.read.source import Node
from dovetail.mjcf.write.text import numbers

if TYPE_CHECKING:
    from dovetail.mjcf.write.compiled import ModelWriter

TOLERANCE = 2e-6
"""How far vertices may be off, relative to the mesh's size: a few roundings in single precision."""
_NORMALS = 1e-3
"""How far normals may be off: thin faces magnify rounding."""
_ROUNDING = 5e-7
"""How far a vertex can be from what was written, relative to the decade of the largest, by rounding alone."""
_MODES = (MeshInertia.LEGACY, MeshInertia.EXACT, MeshInertia.CONVEX, MeshInertia.SHELL)


@attrs.frozen(eq=False)
class Stored:
    """What a Model has of one mesh."""

    vertex: np.ndarray
    face: np.ndarray
    normal: np.ndarray
    facenormal: np.ndarray
    texcoord: np.ndarray
    facetexcoord: np.ndarray
    graph: np.ndarray
    scale: Vec
    pos: Vec
    quat: Vec
    collides: bool

    @property
    def extent(self) -> float:
        return float(np.abs(self.vertex).max(initial=1e-12))


@attrs.frozen(eq=False)
class Way:
    """One way to write a mesh."""

    mode: MeshInertia
    faces: bool
    normals: str
    """"none", "smooth", or "given"."""
    hull: int = -1


class MeshWriter:
    """Writes the meshes of one Model."""

    def __init__(self, writer: ModelWriter) -> None:
        self.writer = writer
        self.frames: dict[int, Pose] = {}
        self.boxes: dict[int, Vec] = {}
        self.rows: Mapping[str, Any] = writer.tables.mesh_inertia

    def write(self, number: int) -> Node:
        """One mesh, with the numbers that bring it back."""
        stored = self._stored(number)
        places, normal = _in_file(stored)
        for vertex, tolerance in _spelled(places):
            for mode, hull in _modes(stored):
                found = self._found(stored, mode, hull, vertex, normal, tolerance)
                if found is not None:
                    way, item = found
                    self.frames[number], self.boxes[number] = (item.pos, item.quat), item.box
                    return self.writer.node("mesh", self._attributes(number, stored, way, vertex, normal))
        raise CannotWriteError(
            f"mesh {self.writer.label('mesh', number)}: no MJCF attributes bring its numbers back (normals or "
            "texture coordinates of their own for each face, a plugin's shape, or axes that rounding decides); "
            "write the model it was compiled from"
        )

    def _found(
        self,
        stored: Stored,
        mode: MeshInertia,
        hull: int,
        vertex: np.ndarray,
        normal: np.ndarray,
        tolerance: float,
    ) -> tuple[Way, MeshItem] | None:
        """The way to write a mesh with this inertia, if there is one. Vertices depend on nothing else, so one look
        tells whether others are worth trying."""
        for way in _ways(stored, mode, hull):
            item = self._tried(stored, way, vertex, normal)
            if item is None:
                continue
            if not _near(item.surface.vertex, stored, tolerance):
                return None
            if _same(stored, item, tolerance):
                return way, item
        return None

    def fitted(self, geom: int) -> dict[str, str]:
        """By how much a primitive is larger than it was fitted to its mesh."""
        model = self.writer.model
        kind, number = GeomType(int(model.geom_type[geom])), int(model.geom_dataid[geom])
        if kind not in _FITTED:
            return {}
        scale = float(model.geom_size[geom][0]) / _FITTED[kind](*self.boxes[number])[0]
        return {"fitscale": numbers([scale])} if abs(scale - 1.0) > TOLERANCE else {}

    def placed(self, geom: int) -> Pose:
        """The pose that a geom must say to end where it is."""
        model = self.writer.model
        mesh = int(model.geom_dataid[geom])
        if mesh not in self.frames:
            self.write(mesh)
        pose = tuple(model.geom_pos[geom].tolist()), tuple(model.geom_quat[geom].tolist())
        return rotation.accumulate(*pose, *rotation.inverse(*self.frames[mesh]))

    def _stored(self, number: int) -> Stored:
        model = self.writer.model

        def part(data: str, start: str, count: str) -> np.ndarray:
            first = int(model.field(start)[number])
            return np.array(model.field(data)[first : first + int(model.field(count)[number])])

        graph = int(model.mesh_graphadr[number])
        textured = bool(model.mesh_texcoordnum[number])
        face = part("mesh_face", "mesh_faceadr", "mesh_facenum")
        return Stored(
            vertex=part("mesh_vert", "mesh_vertadr", "mesh_vertnum"),
            face=face,
            normal=part("mesh_normal", "mesh_normaladr", "mesh_normalnum"),
            facenormal=part("mesh_facenormal", "mesh_faceadr", "mesh_facenum"),
            texcoord=part("mesh_texcoord", "mesh_texcoordadr", "mesh_texcoordnum")
            if textured
            else np.zeros((0, 2)),
            facetexcoord=part("mesh_facetexcoord", "mesh_faceadr", "mesh_facenum") if textured else face,
            graph=_graph(np.asarray(model.mesh_graph), graph),
            scale=tuple(model.mesh_scale[number].tolist()),
            pos=tuple(model.mesh_pos[number].tolist()),
            quat=tuple(model.mesh_quat[number].tolist()),
            collides=self._collides(number),
        )

    def _collides(self, number: int) -> bool:
        """Whether reading gives the mesh a hull because of its geoms."""
        model = self.writer.model
        geoms = np.flatnonzero(model.geom_dataid == number)
        paired = {*model.pair_geom1.tolist(), *model.pair_geom2.tolist()}
        return any(
            int(model.geom_type[geom]) in [int(kind) for kind in MESH_TYPES]
            and bool(model.geom_contype[geom] or model.geom_conaffinity[geom] or geom in paired)
            for geom in geoms
        )

    def _tried(self, stored: Stored, way: Way, vertex: np.ndarray, normal: np.ndarray) -> MeshItem | None:
        """What reading would make of the mesh; None if it would refuse it."""
        surface = MeshSurface(vertex=vertex.astype(np.float64))
        surface.face = stored.face.copy() if way.faces else surface.face
        if way.normals == "given":
            surface.normal = normal
        surface.texcoord = stored.texcoord.astype(np.float32)
        item = MeshItem(
            node=Node("mesh", "<Model>", 0, {}),
            scale=stored.scale,
            inertia=int(way.mode),
            smoothnormal=way.normals == "smooth",
            maxhullvert=way.hull,
            needs_hull=stored.collides,
            surface=surface,
        )
        row = self.rows[way.mode.keyword]
        try:
            process(item, row, faces=faces_wanted(row))
        except DovetailError:
            return None
        return item

    def _attributes(
        self, number: int, stored: Stored, way: Way, vertex: np.ndarray, normal: np.ndarray
    ) -> dict[str, str]:
        raw = self.writer.named("mesh", number)
        raw |= {"inertia": way.mode.keyword} if way.mode != MeshInertia.LEGACY else {}
        raw |= {"smoothnormal": "true"} if way.normals == "smooth" else {}
        raw |= {"maxhullvert": str(way.hull)} if way.hull > 0 else {}
        raw |= {"scale": numbers(stored.scale)} if stored.scale != (1.0, 1.0, 1.0) else {}
        raw["vertex"] = numbers(vertex, True)
        raw |= {"normal": numbers(normal, True)} if way.normals == "given" else {}
        raw |= {"texcoord": numbers(stored.texcoord, True)} if len(stored.texcoord) else {}
        raw |= {"face": " ".join(map(str, stored.face.reshape(-1)))} if way.faces else {}
        return raw


def _graph(every: np.ndarray, start: int) -> np.ndarray:
    """The graph of one hull: its two counts say how long it is."""
    if start < 0:
        return np.zeros(0, np.int32)
    vertices, faces = int(every[start]), int(every[start + 1])
    return np.array(every[start : start + 2 + 3 * vertices + 6 * faces])


def _in_file(stored: Stored) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and normals in the coordinates of the file."""
    turn = np.array(rotation_matrix(stored.quat))
    vertex: np.ndarray = (stored.vertex.astype(np.float64) @ turn.T + stored.pos) / stored.scale
    normal = (stored.normal.astype(np.float64) @ turn.T) / stored.scale
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return vertex, (normal / np.where(length > 0, length, 1)).astype(np.float32)


def _spelled(vertex: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
    """Vertices as somebody may have written them, if that gives the very numbers, and else as they are."""
    size = math.floor(math.log10(max(float(np.abs(vertex).max(initial=0.0)), 1e-30)))
    for digits in (3, 5, 6):
        rounded = np.round(vertex, digits - size)
        if np.abs(rounded - vertex).max() <= _ROUNDING * 10.0**size:
            yield rounded.astype(np.float32), 0.0
    yield vertex.astype(np.float32), TOLERANCE


def _modes(stored: Stored) -> Iterator[tuple[MeshInertia, int]]:
    """Kinds of inertia and sizes of hulls, the likely ones first."""
    hulls = (-1, int(stored.graph[0])) if len(stored.graph) and stored.graph[0] >= 4 else (-1,)
    return itertools.product(_MODES, hulls)


def _ways(stored: Stored, mode: MeshInertia, hull: int) -> Iterator[Way]:
    """Ways to write a mesh with this inertia."""
    for normals in ("none", "smooth", "given"):
        for faces in (True, False):
            if normals != "given" or len(stored.normal) == len(stored.vertex):
                yield Way(mode, faces, normals, hull)


def _same(stored: Stored, item: MeshItem, tolerance: float) -> bool:
    """Whether a mesh that was processed again has the numbers of the stored one; without tolerance, all bits."""
    surface = item.surface
    if len(stored.texcoord) and not np.array_equal(surface.facetexcoord, stored.facetexcoord):
        return False
    graph = item.graph if item.graph is not None else np.zeros(0)
    return (
        surface.vertex.shape == stored.vertex.shape
        and _near(surface.vertex, stored, tolerance)
        and np.array_equal(surface.face, stored.face)
        and np.array_equal(surface.facenormal, stored.facenormal)
        and surface.normal.shape == stored.normal.shape
        and bool(np.abs(surface.normal - stored.normal).max(initial=0) <= _NORMALS)
        and np.array_equal(np.sort(graph), np.sort(stored.graph))
    )


def _near(vertex: np.ndarray, stored: Stored, tolerance: float) -> bool:
    if not tolerance:
        return np.array_equal(vertex.astype(np.float32), stored.vertex)
    return bool(np.abs(vertex - stored.vertex).max() <= tolerance * stored.extent)

"""Processing of a mesh after it was read: hull, normals, polygons, frame, inertia and bounding volumes.

Everything happens in the order of `mjCMesh::Process`: hull, normals and polygons in the file's coordinates, then
refpos, refquat and scale, then the move into the frame of the centre of mass and principal axes. Vertices are
double precision, normals single, as in MuJoCo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.enums import MeshInertia
from dovetail.mjcf.geometry.bvh import build_tree
from dovetail.mjcf.geometry.hull import Hull, HullError, convex_hull
from dovetail.mjcf.geometry.inertia import diagonalize, rotation_matrix
from dovetail.mjcf.geometry.octree import octree_fields
from dovetail.mjcf.geometry.polygons import polygons, unit_normals
from dovetail.mjcf.geometry.rotation import IDENTITY, ORIGIN, Vec, normalized
from dovetail.plugins.shared.constants import EPS, MINVAL
from dovetail.plugins.shared.geometry.triangle_areas_numpy import surface_centroid, triangles
from dovetail.plugins.shared.quaternions_numpy import quat_conjugate
from dovetail.plugins.shared.sums_numpy import dots

if TYPE_CHECKING:
    from dovetail.mjcf.elements.mesh import MeshItem
    from dovetail.mjcf.model.tables import MeshInertiaRow

_SHARP = 0.8
"""Faces whose normal's cosine with the vertex normal is smaller take no part in it, unless normals are smooth."""
_SLACK_ABSOLUTE, _SLACK_RELATIVE = 1e-9, 1e-6
"""How far principal moments may violate A + B ≥ C."""


FACES_OF_ROW = "hull"
"""Which faces a row of `mesh_inertia` gets in mode convex, unless its record says otherwise with `facts["faces"]`."""


def faces_wanted(row: MeshInertiaRow) -> str:
    """Which faces a row of `mesh_inertia` gets in mode convex: those of the hull, the mesh's own, or both."""
    wanted: str = getattr(row, "facts", {}).get("faces", FACES_OF_ROW)
    return wanted


def process(
    mesh: MeshItem, row: MeshInertiaRow, *, faces: str = FACES_OF_ROW, needs_area: bool = True
) -> None:
    """Compile one mesh whose surface has been read; `row` integrates its inertia, over the `faces` it wants."""
    surface, node = mesh.surface, mesh.place
    if mesh.inertia == MeshInertia.EXACT:
        _check_orientation(mesh)
    hull, graph = _hull(mesh)
    if not len(surface.face):
        assert hull is not None
        surface.face = hull.faces.copy()
    _complete(mesh)
    sides = hull.faces if hull else surface.face
    mesh.polygons = polygons(surface.vertex, sides)
    _transform(mesh)
    area, _ = surface_centroid(surface.vertex, surface.face)
    if area < MINVAL and needs_area:
        raise node.error("the surface has no area; move the vertices apart, or scale the mesh")
    _set_frame(mesh, row, _integrated(mesh, sides, faces))
    _set_polygon_normals(mesh)
    _set_volumes(mesh)
    mesh.graph = graph
    if mesh.needs_octree and mesh.plugin < 0:
        mesh.octree = octree_fields(surface.vertex, surface.face)


def _check_orientation(mesh: MeshItem) -> None:
    """With exact inertia no two faces may run along an edge in the same direction."""
    vertex, face = mesh.surface.vertex, mesh.surface.face
    area, _, _ = triangles(vertex, face)
    proper = face[area > np.sqrt(MINVAL)].astype(np.int64)
    start = proper.reshape(-1)
    end = proper[:, [1, 2, 0]].reshape(-1)
    keys = np.sort(start * len(vertex) + end)
    twice = keys[1:][keys[1:] == keys[:-1]]
    if len(twice):
        a, b = divmod(int(twice[0]), len(vertex))
        raise mesh.place.error(
            f"faces are oriented inconsistently at vertices {a} and {b}; turn them the same way round, or use "
            'another inertia than "exact"',
            "inertia",
        )


def _hull(mesh: MeshItem) -> tuple[Hull | None, np.ndarray | None]:
    """The convex hull and its graph, for meshes that collide, that have no faces, or whose mass is their hull's."""
    wanted = mesh.needs_hull or mesh.inertia == MeshInertia.CONVEX or not len(mesh.surface.face)
    if not wanted:
        return None, None
    try:
        hull = convex_hull(mesh.surface.vertex, mesh.maxhullvert)
        return hull, hull.graph()
    except HullError as problem:
        raise mesh.place.error(
            f'the mesh {problem}; a flat mesh must not collide (contype="0" conaffinity="0") and needs faces'
        ) from None


def _complete(mesh: MeshItem) -> None:
    """Fill in normals and index lists that were not given."""
    surface = mesh.surface
    if not len(surface.normal):
        surface.normal = vertex_normals(surface.vertex, surface.face, mesh.smoothnormal)
        surface.facenormal = surface.face.copy()
    if not len(surface.facenormal):
        # several normals per vertex (wedges and plates): the first of them
        surface.facenormal = surface.face * (len(surface.normal) // len(surface.vertex))
    if len(surface.texcoord) and not len(surface.facetexcoord):
        surface.facetexcoord = surface.face.copy()


def vertex_normals(vertex: np.ndarray, face: np.ndarray, smooth: bool) -> np.ndarray:
    """Unit normals at vertices: of the faces around each, weighted by area, sharp corners apart."""
    a, b, c = (vertex[face[:, k]] for k in range(3))
    weighted = np.cross(b - a, c - a)
    square = dots(weighted, weighted)
    weighted[square < EPS] = 0.0
    corners = np.repeat(weighted, 3, axis=0)
    incidence = _Incidence(face.reshape(-1), len(vertex))
    summed = incidence.summed(corners)
    if not smooth:
        single = _unit(corners)
        around = _unit(summed.astype(np.float64))[face.reshape(-1)]
        sharp = dots(single, around) < _SHARP
        summed = summed - incidence.summed(np.where(sharp[:, None], corners, 0.0))
    length = np.sqrt(summed[:, 0] ** 2 + summed[:, 1] ** 2 + summed[:, 2] ** 2)
    return _single_units(summed, length)


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.sqrt(dots(vectors, vectors))
    proper = length * length >= EPS
    return np.divide(vectors, length[:, None], out=vectors.copy(), where=proper[:, None])


def _single_units(vectors: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Vectors of single precision by their length; those without one look along z."""
    result = np.tile(np.array([0, 0, 1], np.float32), (len(vectors), 1))
    proper = length > MINVAL
    result[proper] = vectors[proper] / length[proper, None]
    return result


class _Incidence:
    """Which corners meet at each vertex, to add up vectors in single precision one after the other."""

    def __init__(self, corner_vertex: np.ndarray, count: int) -> None:
        self._count = count
        order = np.argsort(corner_vertex, kind="stable")
        sorted_vertex = corner_vertex[order]
        first = np.searchsorted(sorted_vertex, sorted_vertex)
        rank = np.arange(len(order)) - first
        by_rank = np.argsort(rank, kind="stable")
        self._corners, self._vertices = order[by_rank], sorted_vertex[by_rank]
        self._rounds = np.cumsum(np.bincount(rank)) if len(rank) else np.zeros(0, np.int64)

    def summed(self, corners: np.ndarray) -> np.ndarray:
        """Sum at each vertex; every partial sum is rounded to single precision, as in MuJoCo."""
        total = np.zeros((self._count, 3), np.float32)
        start = 0
        for end in self._rounds:
            at = self._vertices[start:end]
            total[at] = (total[at].astype(np.float64) + corners[self._corners[start:end]]).astype(np.float32)
            start = end
        return total


def _transform(mesh: MeshItem) -> None:
    """refpos, refquat and scale."""
    surface = mesh.surface
    vertex, normal = surface.vertex - np.array(mesh.refpos), surface.normal
    if mesh.refquat != (1.0, 0.0, 0.0, 0.0):
        turn = np.array(rotation_matrix(normalized(mesh.refquat)))
        vertex = _turned(vertex, turn.T)
        normal = _turned(normal.astype(np.float64), turn.T).astype(np.float32)
    if mesh.scale != (1.0, 1.0, 1.0):
        vertex = vertex * mesh.scale
        normal = (normal.astype(np.float64) * mesh.scale).astype(np.float32)
    square = normal[:, 0] ** 2 + normal[:, 1] ** 2 + normal[:, 2] ** 2
    surface.vertex, surface.normal = (
        vertex,
        _single_units(normal, np.where(square > MINVAL, np.sqrt(square), 0)),
    )


def _integrated(mesh: MeshItem, sides: np.ndarray, wanted: str) -> list[np.ndarray]:
    """The faces to integrate over; in mode convex those of the hull, which the mesh's own may follow."""
    own = mesh.surface.face
    if mesh.inertia != MeshInertia.CONVEX:
        return [own]
    return {"own": [own], "hull": [sides], "both": [sides, own]}[wanted]


def _set_frame(mesh: MeshItem, row: MeshInertiaRow, faces: list[np.ndarray]) -> None:
    """Measure, inertia and frame; then vertices and normals in that frame."""
    surface = mesh.surface
    mesh.measure, centre, tensor = row(surface.vertex, *faces)
    _check_measure(mesh)
    mesh.moments, mesh.quat = diagonalize(
        tuple(float(tensor[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    )
    mesh.pos = tuple(float(x) for x in centre)
    _check_moments(mesh)
    mesh.box = _equivalent_box(mesh.moments, mesh.measure)
    if mesh.plugin >= 0:
        # the plugin's distances are in the frame of its shape, so the mesh stays there, whatever its inertia
        mesh.pos, mesh.quat, centre = ORIGIN, IDENTITY, np.zeros(3)
    turn = np.array(rotation_matrix(quat_conjugate(mesh.quat)))
    surface.vertex = _turned(surface.vertex - centre, turn)
    surface.normal = _turned(surface.normal.astype(np.float64), turn).astype(np.float32)
    mesh.low = tuple(surface.vertex.min(axis=0).tolist())
    mesh.high = tuple(surface.vertex.max(axis=0).tolist())


def _turned(vectors: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Vectors (n, 3) times a rotation, added up from x to z: thin polygons magnify any other rounding."""
    x, y, z = vectors.T
    return np.stack([row[0] * x + row[1] * y + row[2] * z for row in matrix], axis=1)


def _check_measure(mesh: MeshItem) -> None:
    if mesh.measure >= MINVAL:
        return
    if mesh.inertia == MeshInertia.SHELL:
        raise mesh.place.error("the surface has no area; move the vertices apart, or scale the mesh")
    if mesh.measure < 0:
        raise mesh.place.error(
            'the volume is negative: the faces look inward; turn them round, or use another inertia than "exact"'
        )
    raise mesh.place.error('the mesh has no volume; for a flat or open mesh use inertia="shell"')


def _check_moments(mesh: MeshItem) -> None:
    a, b, c = mesh.moments
    if c <= 0:
        raise mesh.place.error("a principal moment of inertia is not positive; check the faces")
    for x, y, z in ((a, b, c), (a, c, b), (b, c, a)):
        if x + y < z * (1 - _SLACK_RELATIVE) - _SLACK_ABSOLUTE:
            raise mesh.place.error(
                f"the moments of inertia {a:g} {b:g} {c:g} are impossible: none can exceed the sum of the others; "
                "the faces are probably oriented inconsistently"
            )


def _equivalent_box(moments: Vec, measure: float) -> Vec:
    """Half-sizes of the box of the same mass that has these principal moments."""
    a, b, c = moments
    squares = (b + c - a, a + c - b, a + b - c)
    return tuple(0.5 * float(np.sqrt(max(6 * square / measure, 0.0))) for square in squares)


def _set_polygon_normals(mesh: MeshItem) -> None:
    mesh.polygon_normals = unit_normals(mesh.surface.vertex, mesh.polygons.triples)


def _set_volumes(mesh: MeshItem) -> None:
    """Bounding volumes of the faces, split at the centres of their circumcircles."""
    surface = mesh.surface
    corners = surface.vertex[surface.face]
    mesh.tree = build_tree(_circumcentres(corners), corners.min(axis=1), corners.max(axis=1))


def _circumcentres(corners: np.ndarray) -> np.ndarray:
    a, b = corners[:, 0] - corners[:, 2], corners[:, 1] - corners[:, 2]
    normal = np.cross(a, b)
    across = np.cross(dots(a, a)[:, None] * b - dots(b, b)[:, None] * a, normal)
    area = np.sqrt(dots(normal, normal))
    with np.errstate(divide="ignore", invalid="ignore"):
        return across / (2 * area * area)[:, None] + corners[:, 2]

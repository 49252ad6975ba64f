"""Binary STL: a soup of triangles, whose equal vertices are merged (`mjCMesh::LoadSTL`).

The header's face count must agree with the file's size before anything is allocated. Vertices are numbered in
the order in which they first appear; the normals in the file are ignored.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array

MAX_FACES = 200_000
"""MuJoCo's limit."""
_HEADER, _RECORD = 84, 50
"""Bytes before the first triangle, and per triangle: normal, three vertices, two unused bytes."""
_FAR = 2.0**30
"""Largest coordinate."""


def load_mesh(content: bytes, filename: str) -> dict[str, Array]:
    """Vertices and faces of a binary STL file."""
    if len(content) < _HEADER:
        raise ValueError("is too short for an STL file; binary STL has a header of 84 bytes")
    count = int.from_bytes(content[80:84], "little", signed=True)
    if not 1 <= count <= MAX_FACES:
        raise ValueError(
            f"the STL header counts {count} faces, possible are 1 to {MAX_FACES}; ASCII STL must be "
            "converted to binary, a larger mesh reduced or saved as OBJ or MSH"
        )
    if len(content) != _HEADER + _RECORD * count:
        raise ValueError(
            f"the STL header counts {count} faces, which need {_HEADER + _RECORD * count} bytes, but the file has "
            f"{len(content)}; save it again as binary STL"
        )
    records = np.frombuffer(content, np.uint8, offset=_HEADER).reshape(count, _RECORD)
    corners = np.ascontiguousarray(records[:, 12:48]).view("<f4").reshape(-1, 3)
    if not (np.abs(corners) <= _FAR).all():
        raise ValueError(f"has a vertex coordinate that is no number below {_FAR:g}; repair the file")
    vertices, faces = merged(corners.astype(np.float32))
    return {"vertex": vertices, "face": faces.reshape(-1, 3)}


def merged(points: Array) -> tuple[Array, Array]:
    """Distinct points in order of first appearance, and the number of each point's representative."""
    keys = np.ascontiguousarray(points + np.float32(0))  # adding zero makes −0 and 0 the same bits
    rows = keys.view(np.dtype((np.void, keys.dtype.itemsize * 3))).reshape(-1)
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), np.int32)
    rank[order] = np.arange(len(first), dtype=np.int32)
    return points[np.sort(first)], rank[inverse.reshape(-1)]

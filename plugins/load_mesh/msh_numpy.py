"""MSH, MuJoCo's binary mesh format: four counts, then vertices, normals, texture coordinates and faces.

Normals and texture coordinates are per vertex, or absent (`mjCMesh::LoadMSH`).
"""

from __future__ import annotations

import struct

import numpy as np

from dovetail.contracts.fields import Array

_HEADER = 16
"""Bytes of the four counts."""


def load_mesh(content: bytes, filename: str) -> dict[str, Array]:
    """What an MSH file holds; parts that are absent are left out."""
    if len(content) < _HEADER:
        raise ValueError("is too short for an MSH file; it begins with four 32-bit counts")
    counts = struct.unpack("<4i", content[:_HEADER])
    nvert, nnormal, ntexcoord, nface = counts
    if nvert < 4 or min(counts) < 0 or nnormal not in (0, nvert) or ntexcoord not in (0, nvert):
        raise ValueError(
            f"the MSH header counts {nvert} vertices, {nnormal} normals, {ntexcoord} texture coordinates and "
            f"{nface} faces; there must be at least 4 vertices, and as many of the others as vertices, or none"
        )
    needed = _HEADER + 4 * (3 * nvert + 3 * nnormal + 2 * ntexcoord + 3 * nface)
    if len(content) != needed:
        raise ValueError(f"should have {needed} bytes by its header, but has {len(content)}; it is damaged")
    parts: dict[str, Array] = {}
    offset = _HEADER
    for name, count, width, dtype in (
        ("vertex", nvert, 3, np.float32),
        ("normal", nnormal, 3, np.float32),
        ("texcoord", ntexcoord, 2, np.float32),
        ("face", nface, 3, np.int32),
    ):
        if count:
            flat = np.frombuffer(content, np.dtype(dtype).newbyteorder("<"), count * width, offset)
            parts[name] = flat.astype(dtype).reshape(count, width)
        offset += 4 * count * width
    return parts

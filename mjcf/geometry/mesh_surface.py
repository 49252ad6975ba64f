"""The surface of a mesh as arrays: vertices, faces, normals and texture coordinates."""

from __future__ import annotations

import attrs
import numpy as np


def points() -> np.ndarray:
    """No points, in double precision."""
    return np.zeros((0, 3))


def single_points() -> np.ndarray:
    """No points, in single precision."""
    return np.zeros((0, 3), np.float32)


def single_pairs() -> np.ndarray:
    """No pairs of numbers, in single precision."""
    return np.zeros((0, 2), np.float32)


def triples() -> np.ndarray:
    """No triples of indices."""
    return np.zeros((0, 3), np.int32)


@attrs.define(eq=False, kw_only=True)
class MeshSurface:
    """Vertices with faces, normals and texture coordinates; indices into each other, −1 for none."""

    vertex: np.ndarray = attrs.field(factory=points)
    face: np.ndarray = attrs.field(factory=triples)
    normal: np.ndarray = attrs.field(factory=single_points)
    facenormal: np.ndarray = attrs.field(factory=triples)
    texcoord: np.ndarray = attrs.field(factory=single_pairs)
    facetexcoord: np.ndarray = attrs.field(factory=triples)

"""What a `<flexcomp>` asks for, and the points and elements that a `flex_build` row answers with."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

Ints = np.ndarray
Reals = np.ndarray


@attrs.frozen(eq=False, kw_only=True)
class FlexRecipe:
    """The attributes of a flexcomp that decide its shape; lengths in metres, in the flexcomp's own frame."""

    type: str
    dim: int
    count: tuple[int, int, int]
    """Points along each axis."""
    spacing: tuple[float, float, float]
    """Distance between neighbouring points along each axis."""
    origin: tuple[float, ...] | None = None
    """Where a solid made from a surface has its centre point."""
    textured: bool = False
    """Whether texture coordinates are wanted: there is a material and none are written."""
    content: bytes = b""
    """Content of the file, for types that need one."""
    filename: str = ""
    load_mesh: Any = None
    """Reader for the file's suffix (a `load_mesh` row), for types that read meshes."""


@attrs.frozen(eq=False, kw_only=True)
class FlexShape:
    """Points and elements of a flex before it is scaled and posed."""

    dim: int
    point: Reals
    """(n, 3)."""
    element: Ints
    """Point numbers, one element after the other."""
    texcoord: Reals = attrs.field(factory=lambda: np.zeros((0, 2)))
    """One row per point, or with `elemtexcoord` as many as that refers to; empty: none."""
    elemtexcoord: Ints = attrs.field(factory=lambda: np.zeros(0, np.int64))
    """Numbers of texture coordinates, in the order of `element`; empty: those of the points."""

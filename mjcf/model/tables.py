"""The compile-time stages that the compiler calls, as tables of functions; whoever loads a model chooses them.

`dovetail.loading` makes them from the registry, so that the compiler knows no plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.contracts.flexcomp import FlexRecipe, FlexShape
from dovetail.contracts.sdf_shapes import SdfShape
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

InertiaRow = Callable[[NDArray[np.float64], bool], tuple[float, NDArray[np.float64]]]
"""(size, shell) → volume or area, and principal inertia for unit density."""
MeshReader = Callable[[bytes, str], dict[str, Any]]
"""(content, filename) → vertices and what else a mesh file holds."""
MeshInertiaRow = Callable[..., tuple[float, Any, Any]]
"""(vertices, faces) → volume or area, centre of mass and inertia about it for unit density. A row that wants both
kinds of faces gets those of the hull, then the mesh's own."""
FlexRow = Callable[[FlexRecipe], FlexShape]
"""What a flexcomp asks for → its points and elements."""
ShapeRow = Callable[[Mapping[str, str]], SdfShape]
"""The configuration of an engine plugin → the shape."""
ElementRow = Callable[["Context", Node], None]
"""Reads one element of a third party, directly under `<mujoco>`, into the model under construction."""


@attrs.frozen(kw_only=True)
class Tables:
    """One table for each stage, under its name."""

    geom_inertia: Mapping[str, InertiaRow]
    """How to integrate a geom of each type."""
    load_mesh: Mapping[str, MeshReader]
    """How to read a mesh file of each suffix."""
    mesh_inertia: Mapping[str, MeshInertiaRow]
    """How to integrate a mesh in each inertia mode."""
    flex_build: Mapping[str, FlexRow]
    """How to make a flexcomp of each type."""
    sdf_shape: Mapping[str, ShapeRow]
    """The shape that each engine plugin gives to meshes."""
    mjcf_element: Mapping[str, ElementRow]
    """How to read the elements of third parties."""
    option_defaults: Mapping[str, Any] = attrs.field(factory=dict)
    """Attributes of `<option>` and `<flag>` that have another default than MuJoCo 3.4's."""

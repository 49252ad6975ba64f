"""Hooks that turn a model file into a Model. They return values and run once per model.

They are chosen as any stage is, in `dovetail.load(path, stages={"mesh_inertia:exact": …})`; `model.stages` tells what
was used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dovetail.contracts.fields import Array
from dovetail.hookspecs.markers import stage

if TYPE_CHECKING:
    from dovetail.contracts.flexcomp import FlexRecipe, FlexShape
    from dovetail.contracts.types import Model


@stage("compile", "table")
def mjcf_element(context: Any, node: Any) -> None:
    """Read one element of your own, directly under `<mujoco>`, into the model under construction; its content
    is yours to check (`node.raw`, `node.children`, `node.error`). Key: the element's tag, none of MJCF's own."""


@stage("compile", "table")
def load_mesh(content: bytes, filename: str) -> dict[str, Array]:  # type: ignore[empty-body]
    """Decode a mesh file: float32 `vertex` (n, 3) and, if the file has them, int32 `face` (m, 3), float32 `normal`
    (k, 3) and `texcoord` (k, 2), and int32 `facenormal` and `facetexcoord` (m, 3). Raises ValueError, which says
    what is wrong with the file. Key: the suffix, as `.stl`."""


@stage("compile", "table")
def mesh_inertia(vertices: Array, faces: Array) -> tuple[float, Array, Array]:  # type: ignore[empty-body]
    """Volume (or area), centre of mass (3) and full inertia about it (3, 3), per unit density, of a mesh.
    In mode convex `faces` are those of the convex hull; a record that says `facts={"faces": "own"}` gets the
    mesh's own instead, one that says "both" gets them as a third argument. Key: the `inertia` mode: legacy, exact,
    convex or shell."""


@stage("compile", "table")
def geom_inertia(size: Array, shell: bool) -> tuple[float, Array]:  # type: ignore[empty-body]
    """Volume (solid) or area (shell) and principal moments (3) per unit density of a primitive geom, in its own
    frame. Key: the geom type, as `capsule`."""


@stage("compile", "table")
def flex_build(recipe: FlexRecipe) -> FlexShape:  # type: ignore[empty-body]
    """Make the points and elements of a flexcomp, in its own frame. Key: the flexcomp type, as `grid`."""


@stage("compile", "one")
def finalize_model(model: Model) -> Mapping[str, Any]:  # type: ignore[empty-body]
    """Compute the Model values that need dynamics at qpos0: invweight0, dof_M0, lengths, acc0, statistics.
    Returns values by Model field name."""


@stage("compile", "all")
def check_model(model: Model) -> list[str]:  # type: ignore[empty-body]
    """Return problems of a finished model, one sentence each; all plugins are asked."""


@stage("compile", "one")
def length_range(  # type: ignore[empty-body]
    model: Model, actuator: int, settings: Mapping[str, Any]
) -> tuple[float, float]:
    """Smallest and largest length of one actuator, for models whose muscles do not say theirs (mj_setLengthRange).
    `settings` holds the attributes of `<lengthrange>`, with MuJoCo's defaults. Raises ValueError, which says why a
    range cannot be found. A function with an attribute `together(model, actuators, settings)` may give the ranges of
    many at once, by actuator; those it leaves out are asked for one by one."""

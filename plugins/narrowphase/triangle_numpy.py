"""Contacts of the candidate pairs, meshes colliding as they are and not as their convex hulls.

Rows for meshes against planes, spheres, capsules, boxes and meshes work on the mesh's triangles, found by its
bounding volume tree; every other pair goes to the collide_pair rows as in the `convex` narrowphase. World frame.
MuJoCo has no counterpart: its meshes are convex.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from dovetail.contracts.enums import GeomType
from dovetail.contracts.pairs import PairContacts
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.narrowphase import triangle_pairs_numpy as pairs
from dovetail.plugins.narrowphase.dispatch_numpy import Row, collide_candidates, geom_label

TRIANGLE_ROWS: Mapping[str, Row] = {
    "plane-mesh": pairs.plane_mesh,
    "sphere-mesh": pairs.sphere_mesh,
    "capsule-mesh": pairs.capsule_mesh,
    "box-mesh": pairs.box_mesh,
    "mesh-mesh": pairs.mesh_mesh,
}


def narrowphase(model: ModelLike, data: DataLike, parts: Mapping[str, Any]) -> None:
    """Write ncon, the geometry of the contacts, and the candidate each comes from."""
    given = parts["collide_pair"]
    hulls = {key: as_hull(given[key]) for key in given if "mesh" in key.split("-")}
    collide_candidates(model, data, parts, {**given, **hulls, **TRIANGLE_ROWS})


def as_hull(row: Row) -> Callable[..., PairContacts]:
    """The given row of a pair that has no row for triangles, with a warning that it takes the hull."""

    def collide(model: ModelLike, data: DataLike, geom1: int, geom2: int, margin: float) -> PairContacts:
        kinds = "-".join(GeomType(model.geom_type[geom]).name.lower() for geom in (geom1, geom2))
        warnings.warn(
            f"the triangle narrowphase has no row {kinds!r}: geoms {geom_label(model, geom1)} and "
            f"{geom_label(model, geom2)} collide by the convex hull of the mesh",
            RuntimeWarning,
            stacklevel=2,
        )
        return row(model, data, geom1, geom2, margin)

    return collide

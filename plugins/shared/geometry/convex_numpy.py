"""How two convex shapes lie to each other: distance and nearest points, or depth and witness points.

Spheres and capsules first shrink to a point or segment: as long as these cores do not touch, the distance iteration
alone gives the answer, to rounding; only deeper does the expanding polytope take over. Compare mjc_ccd.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from dovetail.plugins.shared.geometry.contact_patch_numpy import contact_patch, polyhedron
from dovetail.plugins.shared.geometry.epa_numpy import Penetration, around, penetration
from dovetail.plugins.shared.geometry.gjk_numpy import closest_points
from dovetail.plugins.shared.geometry.support_numpy import ConvexShape
from dovetail.plugins.shared.vectors_numpy import Vector, along, sub, unit

if TYPE_CHECKING:
    from dovetail.contracts.types import Model


class Witness(NamedTuple):
    """Signed distance of two shapes, and the points on each that realise it."""

    distance: float
    points: list[tuple[Vector, Vector]]


class Query(NamedTuple):
    """How to look for contacts."""

    iterations: int
    tolerance: float
    cutoff: float = 0.0
    """Distances of shapes apart are computed up to this; 0: only overlap counts."""

    @classmethod
    def of(cls, model: Model, cutoff: float = 0.0) -> Query:
        """As the model's options say."""
        return cls(int(model.opt.ccd_iterations), float(model.opt.ccd_tolerance), cutoff)


class PatchSearch(NamedTuple):
    """Where to find the faces of two polyhedra, and how many contacts are wanted."""

    model: Model
    geom1: int
    geom2: int
    wanted: int

    def points(
        self, deep: Penetration, first: ConvexShape, second: ConvexShape
    ) -> list[tuple[Vector, Vector]]:
        """Points on the first and second along the overlap of the touching faces."""
        faces1 = polyhedron(self.model, self.geom1, first)
        faces2 = polyhedron(self.model, self.geom2, second)
        return contact_patch(deep, faces1, faces2, self.wanted)


def _core_witness(first: ConvexShape, second: ConvexShape, query: Query) -> Witness | None:
    """The witness of shapes of which one is round, unless their cores touch."""
    skin1, skin2 = first.skin, second.skin
    found = closest_points(
        first.shrunk(), second.shrunk(), query.iterations, query.tolerance, query.cutoff + (skin1 + skin2)
    )
    if not found.distance > query.tolerance:
        return None
    distance = found.distance - (skin1 + skin2)
    if found.points is None:
        return Witness(inf, [])
    a, b = found.points
    normal = unit(sub(b, a))
    points = [(along(a, skin1, normal), along(b, -skin2, normal))]
    return Witness(inf if distance > query.cutoff else distance, points)


def convex_witness(
    first: ConvexShape, second: ConvexShape, query: Query, patch: PatchSearch | None = None
) -> Witness:
    """How two shapes lie to each other; with `patch`, overlapping polyhedra get several pairs of points."""
    if first.core is not None or second.core is not None:
        witness = _core_witness(first, second, query)
        if witness is not None:
            return witness
    found = closest_points(first, second, query.iterations, query.tolerance, query.cutoff)
    apart = [] if found.points is None else [found.points]
    if not found.distance <= query.tolerance or len(found.simplex) < 2:
        return Witness(found.distance, apart)
    polytope = around(found.simplex, first, second)
    if polytope is None:
        return Witness(0.0, apart)
    deep = penetration(polytope, query.iterations, query.tolerance)
    if deep is None:
        return Witness(0.0, [])
    points = [(deep.first, deep.second)] if patch is None else patch.points(deep, first, second)
    return Witness(-deep.depth, points)

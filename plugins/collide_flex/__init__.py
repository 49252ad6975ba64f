"""Contacts of which at least one side is a flex: many pairs of one kind at a time, by the shapes of the two sides.

`planes`, `segments`, `triangles` and `tetrahedra` have formulas and take all pairs at once (boxes with segments one
by one, by the formula of geoms); `convex` and `hfield` iterate on support functions (`shared.geometry`: gjk, epa,
portal) pair by pair, elements being the shapes of `element_shapes`. Which pairs there are and in which order contacts
stand comes from the broadphase; `narrowphase/flex_dispatch_numpy.py` calls the rows. In lanes there are planes with
vertices, and geoms with elements: where there are formulas for all worlds of a tile at once, convex shapes one world
after the other. Begin with `planes_numpy.py`.
Tests: tests/stages/collide_flex.
"""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.contacts.pair_types import MOST_CONTACTS
from dovetail.plugins.shared.flex.in_lanes import CONVEX, FORMULAS
from dovetail.plugins.shared.flex.shapes import ELEMENTS

_VERTICES = "flexvert_xpos"
_GEOMS = f"geom_xpos geom_xmat {_VERTICES}"
_SHAPES = f"{_GEOMS} flexelem_aabb"

_FORMULAS = {
    "plane-vertex": ("planes", _GEOMS, "Height of the vertex"),
    "sphere-segment": ("segments", _GEOMS, "Nearest point of the axis"),
    "capsule-segment": ("segments", _GEOMS, "Nearest points of the axes, two contacts if these are parallel"),
    "box-segment": ("segments", _GEOMS, "The formula of capsule and box"),
    "segment-segment": (
        "segments",
        _VERTICES,
        "Nearest points of the axes, two contacts if these are parallel",
    ),
    "vertex-segment": ("segments", _VERTICES, "Nearest point of the axis"),
    "sphere-triangle": ("triangles", _GEOMS, "Nearest point of the triangle"),
    "vertex-triangle": ("triangles", _VERTICES, "Nearest point of the triangle"),
    "vertex-tetrahedron": ("tetrahedra", _VERTICES, "Height of the vertex over the face opposite"),
}
"""File, fields read and summary of each pair with a formula."""

_SOLIDS = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")

_CONVEX = tuple(
    key
    for key in (
        *(f"{solid}-{element}" for solid in _SOLIDS for element in ELEMENTS),
        *(f"{first}-{second}" for i, first in enumerate(ELEMENTS) for second in ELEMENTS[i:]),
    )
    if key not in _FORMULAS
)


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    formulas = [
        _record(key, "analytic", file, key.replace("-", "_"), reads, summary)
        for key, (file, reads, summary) in _FORMULAS.items()
    ]
    iterated = [
        _record(
            key, "convex", "convex", _function(key), _SHAPES, "Distance iteration, then expanding polytope"
        )
        for key in _CONVEX
    ]
    fields = [
        _record(
            f"hfield-{element}",
            "convex",
            "hfield",
            "height_field",
            _SHAPES,
            "The same on the prisms under the grid",
        )
        for element in ELEMENTS
    ]
    return [*formulas, *iterated, *fields, *_in_lanes()]


def _function(key: str) -> str:
    """The function of `convex_numpy` for a pair; in lanes there is the first only."""
    first = key.partition("-")[0]
    return {"sdf": "distance_field", **dict.fromkeys(ELEMENTS, "two_elements")}.get(first, "convex")


def _in_lanes() -> list[Implementation]:
    return [
        Implementation(
            stage="collide_flex",
            key=key,
            name="analytic",
            backend="lanes",
            target=f"dovetail.plugins.collide_flex.{_FORMULAS[key][0]}_lanes:{key.replace('-', '_')}",
            default=True,
            reads=_GEOMS,
            facts={"most_contacts": MOST_CONTACTS[key]},
            summary="The same in lanes",
        )
        for key in ("plane-vertex", *FORMULAS)
    ] + [
        Implementation(
            stage="collide_flex",
            key=key,
            name="convex",
            backend="lanes",
            target="dovetail.plugins.collide_flex.convex_lanes:convex",
            default=True,
            reads=_SHAPES,
            supports="ccd.native ccd.multiple",
            facts={"most_contacts": 1},
            summary="The same in lane kernels, one world after the other",
        )
        for key in CONVEX
    ]


def _record(key: str, name: str, file: str, function: str, reads: str, summary: str) -> Implementation:
    return Implementation(
        stage="collide_flex",
        name=name,
        key=key,
        backend="numpy",
        target=f"dovetail.plugins.collide_flex.{file}_numpy:{function}",
        default=True,
        reads=reads,
        summary=summary,
    )

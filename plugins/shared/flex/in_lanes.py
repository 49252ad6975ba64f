"""Which flexes lane kernels can do: words for `supports` of records. Everything else runs on the reference."""

from __future__ import annotations

from dovetail.plugins.shared.flex.shapes import ELEMENTS

VERTICES_ON_BODIES = (
    "deformable.none deformable.vertices deformable.passive deformable.self deformable.internal"
)
"""Positions and forces: flexes whose vertices sit on bodies, whatever they touch."""

_CONTACTS = "deformable.none deformable.vertices flex_meeting.plane-vertex"

FORMULAS = ("sphere-segment", "capsule-segment", "box-segment", "sphere-triangle")
"""Geoms with elements that have a formula, for all worlds of a tile at once."""

_SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")

CONVEX = tuple(
    key for key in (f"{shape}-{element}" for shape in _SHAPES for element in ELEMENTS) if key not in FORMULAS
)
"""Those found by iteration on convex shapes, one world after the other."""

FOUND = " ".join((_CONTACTS, *(f"flex_meeting.{key}" for key in (*FORMULAS, *CONVEX))))
"""Contacts that lanes find."""

ROWS = " ".join(
    (
        FOUND,
        *(f"flex_meeting.{shape}-{element}" for shape in ("hfield", "sdf") for element in ELEMENTS),
    )
)
"""Contacts that lanes make rows of: of vertices with planes, of elements with any geoms."""

DUAL = _CONTACTS
"""Contacts that solvers over forces know: those that act on two bodies at most."""

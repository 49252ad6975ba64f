"""Which flexes lane kernels can do: words for `supports` of records. Everything else runs on the reference."""

from __future__ import annotations

from dovetail.plugins.shared.flex.shapes import ELEMENTS

VERTICES_ON_BODIES = (
    "deformable.none deformable.vertices deformable.passive deformable.self deformable.internal"
)
"""Positions and forces: flexes whose vertices sit on bodies, whatever they touch."""

_CONTACTS = "deformable.none deformable.vertices flex_meeting.plane-vertex"

SOLIDS = ("hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")

FORMULAS = ("sphere-segment", "capsule-segment", "box-segment", "sphere-triangle")

FOUND = " ".join((_CONTACTS, *(f"flex_meeting.{key}" for key in FORMULAS)))
"""Contacts that lanes find: of vertices with planes, of elements with geoms by formulas."""

ROWS = " ".join((_CONTACTS, *(f"flex_meeting.{solid}-{element}" for solid in SOLIDS for element in ELEMENTS)))
"""Contacts that lanes make rows of: of vertices with planes, of elements with any geoms."""

DUAL = _CONTACTS
"""Contacts that solvers over forces know: those that act on two bodies at most."""

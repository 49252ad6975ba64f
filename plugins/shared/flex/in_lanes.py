"""Which flexes lane kernels can do: words for `supports` of records. Everything else runs on the reference."""

from __future__ import annotations

VERTICES_ON_BODIES = (
    "deformable.none deformable.vertices deformable.passive deformable.self deformable.internal"
)
"""Positions and forces: flexes whose vertices sit on bodies, whatever they touch."""

IN_LANES = "deformable.none deformable.vertices flex_meeting.plane-vertex"
"""Contacts: vertices on bodies that touch planes, and nothing else with a flex."""

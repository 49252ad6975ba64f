"""Contacts of pairs with a flex, by the shapes of their two sides. Compare mj_collidePlaneFlex.

Tests: `tests/stages/collide_flex`.
"""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="collide_flex",
            key="plane-vertex",
            name="analytic",
            backend="lanes",
            target="dovetail.plugins.collide_flex.planes_lanes:plane_vertex",
            default=True,
            reads="geom_xpos geom_xmat flexvert_xpos",
            facts={"most_contacts": 1},
            summary="Height of the vertex",
        ),
    ]

"""Where flexes are: vertices, boxes of elements, edge lengths and edge Jacobians. Compare mj_flex.

Begin with `vertices_lanes.py`. Tests: `tests/stages/flex_kinematics`.
"""

from __future__ import annotations

from dovetail.plugin import Implementation, Transfer, hookimpl
from dovetail.plugins.shared.flex.in_lanes import VERTICES_ON_BODIES
from dovetail.plugins.shared.passing.transfers import FLEX_EDGES


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="flex_kinematics",
            name="vertices",
            backend="lanes",
            target="dovetail.plugins.flex_kinematics.vertices_lanes:flex_kinematics",
            default=True,
            reads="xpos xmat subtree_com cdof",
            supports=VERTICES_ON_BODIES,
            summary="Vertices that sit on bodies, with their boxes and edges",
        ),
    ]


@hookimpl
def dovetail_transfers() -> list[Transfer]:
    return [FLEX_EDGES]

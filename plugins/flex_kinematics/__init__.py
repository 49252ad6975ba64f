"""Where flexes are: vertices, boxes around elements and their trees, lengths of edges and how dofs change them.

`vertices_numpy.py` is the stage; `boxes_numpy.py` and `edges_numpy.py` have its parts. `vertices_lanes.py` has all of
it for vertices that sit on bodies. Which entries the edges' Jacobian has is in `shared.flex.edge_rows`, tables for
lanes in `shared.flex.tables`, how nodes move vertices in `shared.flex.interpolation_numpy`. Compare mj_flex. Tests:
`tests/stages/flex_kinematics`.
"""

from __future__ import annotations

import attrs

from dovetail.plugin import Implementation, Transfer, hookimpl
from dovetail.plugins.shared.flex.in_lanes import VERTICES_ON_BODIES
from dovetail.plugins.shared.passing.transfers import FLEX_EDGES
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    numpy, lanes = siblings(
        "flex_kinematics",
        "vertices",
        default=True,
        reads="xpos xmat subtree_com cdof",
        writes="flexvert_xpos flexelem_aabb bvh_aabb_dyn flexedge_length flexedge_J flexedge_J_rownnz "
        "flexedge_J_rowadr flexedge_J_colind",
        summary="Vertices on bodies or between nodes, boxes, edge lengths and their Jacobian",
    )
    on_bodies = "Vertices on bodies, boxes, edge lengths and their Jacobian"
    return [numpy, attrs.evolve(lanes, supports=VERTICES_ON_BODIES, summary=on_bodies)]


@hookimpl
def dovetail_transfers() -> list[Transfer]:
    return [FLEX_EDGES]

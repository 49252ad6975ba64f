"""Where flexes are: vertices, boxes around elements and their trees, lengths of edges and how dofs change them.

`vertices_numpy.py` is the stage; `boxes_numpy.py` and `edges_numpy.py` have its parts. Which entries the edges'
Jacobian has is in `shared.flex.edge_rows`, how nodes move vertices in `shared.flex.interpolation_numpy`. Compare
mj_flex. Tests: `tests/stages/flex_kinematics`.
"""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="flex_kinematics",
            name="vertices",
            backend="numpy",
            target="dovetail.plugins.flex_kinematics.vertices_numpy:flex_kinematics",
            default=True,
            reads="xpos xmat subtree_com cdof",
            writes="flexvert_xpos flexelem_aabb bvh_aabb_dyn flexedge_length flexedge_J flexedge_J_rownnz "
            "flexedge_J_rowadr flexedge_J_colind",
            summary="Vertices on bodies or between nodes, boxes, edge lengths and their Jacobian",
        )
    ]

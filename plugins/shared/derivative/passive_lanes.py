"""How damping forces of dofs, tendons and flex edges change with velocity, in lanes.

Each damper pulls with −damping × its velocity along its arm, so its derivative is −damping·armᵀ·arm. Compare
mjd_passive_vel.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.shared.flex.edges_lanes import flex_of_edge
from dovetail.plugins.shared.flex.tables import row_arms as edge_arms
from dovetail.plugins.shared.mass_pairs_lanes import Stored, each_pair
from dovetail.plugins.shared.tendons.layout import row_arms
from dovetail.plugins.shared.tendons.rows_lanes import entry


def add_dampers(k: Kernel, matrix: LaneField, scale: Any, stored: Stored | None = None) -> None:
    """Add scale·∂qfrc_damper/∂qvel to a matrix with M's layout, or with the one that `stored` knows, which is D's."""
    m = k.model
    with k.when(~k.disabled(DisableBit.DAMPER)):
        with k.loop(0, m.nv) as dof:
            diagonal = m.D_rowadr[dof] + m.D_diag[dof] if stored else m.M_rowadr[dof] + m.M_rownnz[dof] - 1
            matrix[diagonal] -= scale * m.dof_damping[dof]
        if m.ntendon:
            add_tendons(k, matrix, scale, stored)
        if m.nflexedge and k.frozen_model.flex_edgedamping.any():
            add_flex_edges(k, matrix, scale, stored)


def add_tendons(k: Kernel, matrix: LaneField, scale: Any, stored: Stored | None) -> None:
    """Dampers of tendons."""
    m = k.model
    rows = row_arms(k.frozen_model)
    with (
        k.loop(0, m.ntendon) as tendon,
        k.when(k.any(m.tendon_damping[tendon] != 0.0)),
        each_pair(k, "tendon_damper", rows, tendon, stored) as (one, other, at),
    ):
        matrix[at] -= scale * m.tendon_damping[tendon] * entry(k, one) * entry(k, other)


def add_flex_edges(k: Kernel, matrix: LaneField, scale: Any, stored: Stored | None) -> None:
    """Dampers of the edges of flexes; neither rigid flexes nor rigid edges have any."""
    m, J = k.model, k.data.flexedge_J
    rows = edge_arms(k.frozen_model)
    with k.loop(0, m.nflexedge) as edge:
        damping = m.flex_edgedamping[flex_of_edge(k, edge)]
        with (
            k.when(k.any(damping != 0.0)),
            k.when(m.flexedge_rigid[edge] == 0),
            each_pair(k, "flex_damper", rows, edge, stored) as (one, other, at),
        ):
            matrix[at] -= scale * damping * J[one] * J[other]

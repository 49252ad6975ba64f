"""Accelerations under constraints: the best accelerations (primal), or the best forces (dual).

Compare mj_fwdConstraint. On NumPy:

- Primal: `newton_numpy.py`, `cg_numpy.py` choose directions; `primal_numpy.py` descends along them,
  `problem_numpy.py` states the problem of all dofs or of an island, `line_search_numpy.py` finds how far to go,
  `shared.solver.cost_numpy` what it costs; `fill_numpy.py` counts what MuJoCo would store.
- Dual: `pgs_numpy.py` and `sequential_numpy.py` visit the rows of `shared.solver.dual_numpy`, as `noslip` does.

In lanes no Jacobian is stored, so these are other algorithms for the same answer: `newton_lanes.py` is Newton's
method (and the descent that `cg_lanes.py` shares), `hessian_lanes.py` its matrix with the pattern of a tile,
`sparse_hessian_lanes.py` the one of many trees, with the pattern of each world and the order of
`elimination_order_lanes.py`; `by_island_lanes.py` has the descent of models with several trees;
`shared.solver.row_costs_lanes` the costs; `pgs_lanes.py` sweeps over `shared.solver.own_rows_lanes` where rows are
few, else over `shared.solver.dual_matrix_free_lanes`.

Begin with `primal_numpy.py`, or with `newton_lanes.py`. Tests: `tests/stages/solve_constraints`.
"""

from __future__ import annotations

from dovetail.plugin import Implementation, Transfer, hookimpl
from dovetail.plugins.shared.flex.in_lanes import DUAL
from dovetail.plugins.shared.passing.transfers import ITERATIONS
from dovetail.plugins.shared.records import siblings

_ROWS = (
    "nefc efc_J efc_J_rownnz efc_J_rowadr efc_J_colind efc_D efc_R efc_aref efc_type efc_id efc_frictionloss "
    "contact.dim contact.mu contact.friction"
)
_SMOOTH = "qacc_smooth qfrc_smooth qacc_warmstart M qLD qLDiagInv"
_ISLANDS = (
    "nisland nidof map_idof2dof map_iefc2efc island_nv island_idofadr island_nefc island_iefcadr iM iM_rownnz "
    "iM_rowadr iM_colind iefc_J iefc_J_rownnz iefc_J_rowadr iefc_J_colind"
)
_ANSWER = "qacc qfrc_constraint efc_force efc_state efc_b solver_niter solver_nnz"
_STATISTICS = (
    "solver.improvement solver.gradient solver.lineslope solver.nactive solver.nchange solver.neval "
    "solver.nupdate"
)
_DUAL_MATRIX = "efc_AR efc_AR_rownnz efc_AR_rowadr efc_AR_colind nA"
_BY_ISLAND = "ifrc_smooth iacc_smooth iacc iefc_aref iefc_state iefc_force ifrc_constraint"
_LANE_DOFS = "dof_rows.coefficient dof_rows.D dof_rows.loss dof_rows.offset"
_LANE_DUAL = (
    "body_rows.dim body_rows.near_wrench body_rows.far_wrench body_rows.D body_rows.offset "
    f"contact_list.count contact_list.pair contact_list.dim contact_list.friction {_LANE_DOFS}"
)
_LANE_PRIMAL = (
    "body_rows.kind body_rows.dim body_rows.near body_rows.far body_rows.near_wrench body_rows.far_wrench "
    "body_rows.spread_wrench body_rows.D body_rows.offset contact_list.count contact_list.pair contact_list.dim "
    f"contact_list.friction {_LANE_DOFS}"
)
_LANE_ANSWER = "qacc qfrc_constraint body_rows.force dof_rows.force dual.known iterations.by_island"

_FEW_LANES = {"most_lanes": "dovetail.plugins.solve_constraints.sparse_hessian_lanes:most_lanes"}
"""In heaps of many bodies the worlds of a tile have little in common."""

_FORCES = {
    "follows": {
        "given": ("qacc",),
        "fields": ("efc_force", "efc_state", "iefc_force", "iefc_state", "iacc", "ifrc_constraint"),
        "target": "dovetail.plugins.solve_constraints.known_acceleration_numpy:forces_at_acceleration",
    }
}
"""What primal solvers write besides the acceleration follows from it, whoever has found it."""


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    unconstrained = siblings(
        "solve_constraints",
        "unconstrained",
        summary="No constraint is active: the smooth acceleration",
        reads="qacc_smooth",
        writes="qacc qfrc_constraint",
    )
    primal = f"{_ANSWER} {_STATISTICS} {_DUAL_MATRIX} {_BY_ISLAND}"
    return [
        *unconstrained,
        Implementation(
            stage="solve_constraints",
            name="newton",
            backend="numpy",
            target="dovetail.plugins.solve_constraints.newton_numpy:solve_constraints",
            facts=_FORCES,
            default=True,
            summary="Newton's method with exact line search, island by island",
            reads=f"{_SMOOTH} {_ROWS} {_ISLANDS} ncon",
            writes=f"{primal} contact.H",
        ),
        Implementation(
            stage="solve_constraints",
            name="newton",
            backend="lanes",
            target="dovetail.plugins.solve_constraints.newton_lanes:solve_constraints",
            facts=_FEW_LANES,
            default=True,
            reads=f"qacc_smooth qfrc_smooth qacc_warmstart M cdof {_LANE_PRIMAL}",
            writes=_LANE_ANSWER,
            summary="Newton's method with exact line search, the worlds of a tile together",
        ),
        Implementation(
            stage="solve_constraints",
            name="cg",
            backend="numpy",
            target="dovetail.plugins.solve_constraints.cg_numpy:solve_constraints",
            facts=_FORCES,
            summary="Conjugate gradients with exact line search, island by island",
            reads=f"{_SMOOTH} {_ROWS} {_ISLANDS}",
            writes=primal,
        ),
        Implementation(
            stage="solve_constraints",
            name="cg",
            backend="lanes",
            target="dovetail.plugins.solve_constraints.cg_lanes:solve_constraints",
            facts=_FEW_LANES,
            reads=f"qacc_smooth qfrc_smooth qacc_warmstart M qLD qLDiagInv cdof {_LANE_PRIMAL}",
            writes=_LANE_ANSWER,
            summary="Conjugate gradients with exact line search, the worlds of a tile together",
        ),
        Implementation(
            stage="solve_constraints",
            name="pgs",
            backend="numpy",
            target="dovetail.plugins.solve_constraints.pgs_numpy:solve_constraints",
            summary="Projected Gauss-Seidel over forces",
            reads=f"{_SMOOTH} {_ROWS}",
            writes=f"{_ANSWER} {_STATISTICS} {_DUAL_MATRIX}",
        ),
        Implementation(
            stage="solve_constraints",
            name="pgs",
            backend="lanes",
            target="dovetail.plugins.solve_constraints.pgs_lanes:solve_constraints",
            facts=_FEW_LANES,
            supports=DUAL,
            reads=f"qacc_smooth qacc_warmstart qLD qLDiagInv cdof {_LANE_DUAL}",
            writes=f"{_LANE_ANSWER} dual.force",
            summary="Projected Gauss-Seidel over forces, the worlds of a tile together",
        ),
        Implementation(
            stage="solve_constraints",
            name="sequential",
            backend="numpy",
            target="dovetail.plugins.solve_constraints.sequential_numpy:solve_constraints",
            summary="Gauss-Seidel over forces, elliptic contacts projected onto their cone",
            reads=f"{_SMOOTH} {_ROWS}",
            writes=f"{_ANSWER} {_STATISTICS} {_DUAL_MATRIX}",
        ),
    ]


@hookimpl
def dovetail_transfers() -> list[Transfer]:
    return [ITERATIONS]

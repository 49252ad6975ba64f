"""Constraint rows (efc_*) and their grouping into islands (island_*, i*).

Rows come in the order equality, friction loss, limit, contact; only the first nefc are meaningful, and
of sparse arrays the first nJ (nA). Arrays sorted by island start with i; map_* translate. In constraint
space a row's force f and acceleration a obey a − aref + R f = 0 while it is active.
MuJoCo: mj_makeConstraint, mj_island, mj_projectConstraint, mj_referenceConstraint, mj_fwdConstraint.
"""

# ruff: noqa: N815  (the names are mjData's)

from dovetail.contracts.fields import Array, array, entity


@entity
class Constraint:
    """Rows per scalar constraint, per island, and per dof sorted by island."""

    # One row per scalar constraint.
    efc_type: Array = array(
        "nefc_max",
        dtype="int32",
        doc="What the row comes from (enums.ConstraintType).",
        writer="constraint_rows",
    )
    efc_id: Array = array(
        "nefc_max",
        dtype="int32",
        doc="Equality, dof, joint, tendon or contact the row comes from.",
        writer="constraint_rows",
    )
    efc_J_rownnz: Array = array(
        "nefc_max", dtype="int32", doc="Number of dofs in each constraint row.", writer="constraint_rows"
    )
    efc_J_rowadr: Array = array(
        "nefc_max",
        dtype="int32",
        doc="Where each row begins in efc_J and efc_J_colind.",
        writer="constraint_rows",
    )
    efc_J_rowsuper: Array = array(
        "nefc_max",
        dtype="int32",
        doc="How many rows after this one have the same dofs.",
        writer="constraint_rows",
    )
    efc_J_colind: Array = array(
        "nJ_max", dtype="int32", doc="Dof of each entry of efc_J.", writer="constraint_rows"
    )
    efc_J: Array = array(
        "nJ_max",
        doc="Constraint Jacobian by row: joint velocity to constraint velocity.",
        writer="constraint_rows",
    )
    efc_pos: Array = array(
        "nefc_max",
        unit="m or rad",
        doc="Violation of the row: residual, distance to the limit, or contact distance.",
        writer="constraint_rows",
    )
    efc_margin: Array = array(
        "nefc_max", unit="m or rad", doc="Distance at which the row starts to act.", writer="constraint_rows"
    )
    efc_frictionloss: Array = array(
        "nefc_max",
        unit="N or N m",
        doc="Largest friction force of a friction loss row.",
        writer="constraint_rows",
    )
    efc_diagApprox: Array = array(
        "nefc_max",
        doc="Estimate of the row's diagonal of J M⁻¹ Jᵀ, from the model's inverse weights.",
        writer="constraint_rows",
    )
    efc_KBIP: Array = array(
        "nefc_max",
        4,
        doc="Stiffness, damping, impedance, and the impedance's slope.",
        writer="constraint_rows",
    )
    efc_D: Array = array(
        "nefc_max", doc="Weight of the row in the solver's cost: 1/R.", writer="constraint_rows"
    )
    efc_R: Array = array(
        "nefc_max", doc="Regularisation of the row: how soft it is.", writer="constraint_rows"
    )
    tendon_efcadr: Array = array(
        "ntendon",
        dtype="int32",
        doc="First constraint row of each tendon; -1: none.",
        writer="constraint_rows",
    )

    # Groups of trees that constraints tie together, and arrays sorted by group.
    tree_island: Array = array("ntree", dtype="int32", doc="Island of each tree; -1: none.", writer="islands")
    island_ntree: Array = array(
        "nisland_max", dtype="int32", doc="Number of trees in each island.", writer="islands"
    )
    island_itreeadr: Array = array(
        "nisland_max", dtype="int32", doc="First tree of each island in map_itree2tree.", writer="islands"
    )
    map_itree2tree: Array = array("ntree", dtype="int32", doc="Trees sorted by island.", writer="islands")
    dof_island: Array = array("nv", dtype="int32", doc="Island of each dof; -1: none.", writer="islands")
    island_nv: Array = array(
        "nisland_max", dtype="int32", doc="Number of dofs in each island.", writer="islands"
    )
    island_idofadr: Array = array(
        "nisland_max", dtype="int32", doc="First dof of each island in the sorted order.", writer="islands"
    )
    island_dofadr: Array = array(
        "nisland_max", dtype="int32", doc="First dof of each island in the model's order.", writer="islands"
    )
    map_dof2idof: Array = array(
        "nv", dtype="int32", doc="Place of each dof in the sorted order.", writer="islands"
    )
    map_idof2dof: Array = array(
        "nv",
        dtype="int32",
        doc="Dof at each place of the sorted order; those from nidof on have no constraint.",
        writer="islands",
    )
    ifrc_smooth: Array = array(
        "nv", unit="N or N m", doc="qfrc_smooth, sorted by island.", writer="solve_constraints"
    )
    iacc_smooth: Array = array(
        "nv", unit="m/s^2 or rad/s^2", doc="qacc_smooth, sorted by island.", writer="solve_constraints"
    )
    iM_rownnz: Array = array(
        "nv", dtype="int32", doc="Number of entries in each row of iM.", writer="islands"
    )
    iM_rowadr: Array = array("nv", dtype="int32", doc="Where each row of iM begins.", writer="islands")
    iM_colind: Array = array(
        "nC",
        dtype="int32",
        doc="Column of each entry of iM, counted in the sorted order of its island.",
        writer="islands",
    )
    iM: Array = array("nC", unit="kg or kg m^2", doc="Mass matrix, sorted by island.", writer="islands")
    iLD: Array = array("nC", doc="Factors of the mass matrix, sorted by island.", writer="islands")
    iLDiagInv: Array = array(
        "nv", unit="1/kg or 1/(kg m^2)", doc="qLDiagInv, sorted by island.", writer="islands"
    )
    iacc: Array = array(
        "nv",
        unit="m/s^2 or rad/s^2",
        doc="qacc, sorted by island.",
        writer="solve_constraints",
        tolerance=1e-8,
    )
    efc_island: Array = array(
        "nefc_max", dtype="int32", doc="Island of each constraint row.", writer="islands"
    )
    island_ne: Array = array(
        "nisland_max", dtype="int32", doc="Number of equality rows in each island.", writer="islands"
    )
    island_nf: Array = array(
        "nisland_max", dtype="int32", doc="Number of friction loss rows in each island.", writer="islands"
    )
    island_nefc: Array = array(
        "nisland_max", dtype="int32", doc="Number of constraint rows in each island.", writer="islands"
    )
    island_iefcadr: Array = array(
        "nisland_max",
        dtype="int32",
        doc="First constraint row of each island in the sorted order.",
        writer="islands",
    )
    map_efc2iefc: Array = array(
        "nefc_max", dtype="int32", doc="Place of each constraint row in the sorted order.", writer="islands"
    )
    map_iefc2efc: Array = array(
        "nefc_max", dtype="int32", doc="Constraint row at each place of the sorted order.", writer="islands"
    )
    iefc_type: Array = array("nefc_max", dtype="int32", doc="efc_type, sorted by island.", writer="islands")
    iefc_id: Array = array("nefc_max", dtype="int32", doc="efc_id, sorted by island.", writer="islands")
    iefc_J_rownnz: Array = array(
        "nefc_max", dtype="int32", doc="efc_J_rownnz, sorted by island.", writer="islands"
    )
    iefc_J_rowadr: Array = array(
        "nefc_max", dtype="int32", doc="Where each sorted row begins in iefc_J.", writer="islands"
    )
    iefc_J_rowsuper: Array = array(
        "nefc_max", dtype="int32", doc="efc_J_rowsuper, sorted by island.", writer="islands"
    )
    iefc_J_colind: Array = array(
        "nJ_max",
        dtype="int32",
        doc="Dof of each entry of iefc_J, counted in the sorted order of its island.",
        writer="islands",
    )
    iefc_J: Array = array(
        "nJ_max", doc="Constraint Jacobian, rows and columns sorted by island.", writer="islands"
    )
    iefc_frictionloss: Array = array(
        "nefc_max", unit="N or N m", doc="efc_frictionloss, sorted by island.", writer="islands"
    )
    iefc_D: Array = array("nefc_max", doc="efc_D, sorted by island.", writer="islands")
    iefc_R: Array = array("nefc_max", doc="efc_R, sorted by island.", writer="islands")

    # The dynamics in constraint space, and its solution.
    efc_AR_rownnz: Array = array(
        "nefc_max", dtype="int32", doc="Number of entries in each row of efc_AR.", writer="solve_constraints"
    )
    efc_AR_rowadr: Array = array(
        "nefc_max", dtype="int32", doc="Where each row of efc_AR begins.", writer="solve_constraints"
    )
    efc_AR_colind: Array = array(
        "nA_max", dtype="int32", doc="Column of each entry of efc_AR.", writer="solve_constraints"
    )
    efc_AR: Array = array(
        "nA_max",
        doc="J M⁻¹ Jᵀ + R, for solvers that work on forces (PGS, no-slip).",
        writer="solve_constraints",
    )
    efc_vel: Array = array(
        "nefc_max", unit="m/s or rad/s", doc="Velocity of each row, J qvel.", writer="constraint_reference"
    )
    efc_aref: Array = array(
        "nefc_max",
        unit="m/s^2 or rad/s^2",
        doc="Acceleration each row aims at, from its spring and damper.",
        writer="constraint_reference",
    )
    efc_b: Array = array(
        "nefc_max",
        unit="m/s^2 or rad/s^2",
        doc="J qacc_smooth − efc_aref: how far smooth motion misses the aim.",
        writer="solve_constraints",
    )
    iefc_aref: Array = array(
        "nefc_max", unit="m/s^2 or rad/s^2", doc="efc_aref, sorted by island.", writer="solve_constraints"
    )
    iefc_state: Array = array(
        "nefc_max", dtype="int32", doc="efc_state, sorted by island.", writer="solve_constraints"
    )
    iefc_force: Array = array(
        "nefc_max",
        unit="N or N m",
        doc="efc_force, sorted by island.",
        writer="solve_constraints",
        tolerance=1e-8,
    )
    efc_state: Array = array(
        "nefc_max",
        dtype="int32",
        doc="Piece of its cost each row is on (enums.ConstraintState).",
        writer="solve_constraints",
    )
    efc_force: Array = array(
        "nefc_max", unit="N or N m", doc="Force of each row.", writer="solve_constraints", tolerance=1e-8
    )
    ifrc_constraint: Array = array(
        "nv",
        unit="N or N m",
        doc="qfrc_constraint, sorted by island.",
        writer="solve_constraints",
        tolerance=1e-8,
    )

"""How many contacts, rows and islands there are, and how the solver fared.

MuJoCo: mjData's variable sizes and solver statistics, mjSolverStat.
"""

# ruff: noqa: N815  (the names are mjData's)

from dovetail.contracts.fields import Array, array, entity, scalar


@entity
class Solver:
    """Solver statistics per island (the first 20), and counts of growing arrays."""

    solver_niter: Array = array(
        20, dtype="int32", doc="Iterations the solver made in each island.", writer="solve_constraints"
    )
    solver_nnz: Array = array(
        20, dtype="int32", doc="Entries of each island's Hessian, or of efc_AR.", writer="solve_constraints"
    )
    solver_fwdinv: Array = array(
        2,
        doc="Norm of forward minus inverse dynamics: joint force, constraint force; fwdinv flag.",
        writer="inverse",
        tolerance=1e-8,
    )
    ncon: int = scalar(dtype="int32", doc="Number of contacts found.", writer="narrowphase")
    ne: int = scalar(dtype="int32", doc="Number of equality rows.", writer="constraint_rows")
    nf: int = scalar(dtype="int32", doc="Number of friction loss rows.", writer="constraint_rows")
    nl: int = scalar(dtype="int32", doc="Number of limit rows.", writer="constraint_rows")
    nefc: int = scalar(dtype="int32", doc="Number of constraint rows.", writer="constraint_rows")
    nJ: int = scalar(
        dtype="int32", doc="Number of entries in the constraint Jacobian.", writer="constraint_rows"
    )
    nA: int = scalar(dtype="int32", doc="Number of entries in efc_AR.", writer="solve_constraints")
    nisland: int = scalar(dtype="int32", doc="Number of islands.", writer="islands")
    nidof: int = scalar(dtype="int32", doc="Number of dofs in all islands.", writer="islands")


@entity
class SolverStat:
    """What the solver did in each iteration: of the first 20 islands (or of all rows together) one after another,
    200 iterations each. Entries beyond the iterations made are left over from earlier solutions."""

    improvement: Array = array(
        4000, doc="How much the cost fell, scaled by inertia.", writer="solve_constraints", tolerance=1e-6
    )
    gradient: Array = array(
        4000,
        doc="Length of the cost's gradient, scaled by inertia; primal solvers.",
        writer="solve_constraints",
        tolerance=1e-6,
    )
    lineslope: Array = array(
        4000,
        doc="Slope of the cost where the line search stopped, scaled; primal solvers.",
        writer="solve_constraints",
        tolerance=1e-6,
    )
    nactive: Array = array(4000, dtype="int32", doc="Constraint rows that act.", writer="solve_constraints")
    nchange: Array = array(
        4000, dtype="int32", doc="Constraint rows whose state changed.", writer="solve_constraints"
    )
    neval: Array = array(
        4000, dtype="int32", doc="Evaluations of the line search.", writer="solve_constraints"
    )
    nupdate: Array = array(
        4000,
        dtype="int32",
        doc="Constraint rows that the Hessian gained or lost, and rows of cones; Newton.",
        writer="solve_constraints",
    )

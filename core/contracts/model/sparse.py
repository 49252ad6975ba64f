"""Sparsity patterns that depend only on the kinematic tree, in compressed row form.

Row i has rownnz[i] entries from index rowadr[i] on, with columns colind. B: body × dof, which dofs move a
body. M: lower triangle of the mass matrix, dof × ancestor dofs. D: the same with both triangles.
MuJoCo: mjModel's B_*, M_*, D_*, mapM2M, mapM2D, mapD2M.
"""

# ruff: noqa: N815  (the names are mjModel's)

from dovetail.contracts.fields import Array, array, entity


@entity
class Sparse:
    """Rows of the three patterns, and maps between their entries."""

    B_rownnz: Array = array("nbody", dtype="int32", doc="Number of dofs that move each body.")
    B_rowadr: Array = array("nbody", dtype="int32", doc="Where each body's dofs begin in B_colind.")
    B_colind: Array = array("nB", dtype="int32", doc="Dofs that move each body, in increasing order.")
    M_rownnz: Array = array("nv", dtype="int32", doc="Number of entries in each row of M.")
    M_rowadr: Array = array("nv", dtype="int32", doc="Where each row of M begins.")
    M_colind: Array = array(
        "nC", dtype="int32", doc="Column of each entry of M; a row's last is its diagonal."
    )
    mapM2M: Array = array("nC", dtype="int32", doc="For each entry of M, its index in qM.")
    D_rownnz: Array = array("nv", dtype="int32", doc="Number of entries in each row of D.")
    D_rowadr: Array = array("nv", dtype="int32", doc="Where each row of D begins.")
    D_diag: Array = array(
        "nv", dtype="int32", doc="Where each row's diagonal lies, counted from the row's start."
    )
    D_colind: Array = array("nD", dtype="int32", doc="Column of each entry of D, in increasing order.")
    mapM2D: Array = array("nD", dtype="int32", doc="For each entry of D, its index in M.")
    mapD2M: Array = array("nC", dtype="int32", doc="For each entry of M, its index in D.")

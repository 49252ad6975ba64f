"""Islands: kinematic trees that constraint rows tie together, directly or through others.

Two trees are neighbours if a constraint moves both. Islands are numbered in the order of their first tree; trees
without constraints belong to none (-1). Dofs and rows are then sorted by island, each keeping its order within it,
and the mass matrix and the Jacobian fall into a block per island: arrays whose names begin with i. Their columns
count from the first dof of the island. Compare mj_island.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import ConstraintType, DisableBit, EqType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.solver.sparse_numpy import entries
from dovetail.plugins.shared.sparse_rows_numpy import supernodes

CONNECT, WELD = int(EqType.CONNECT), int(EqType.WELD)
EQUALITY, FRICTION_DOF, FRICTION_TENDON, LIMIT_TENDON, FRICTIONLESS = map(
    int,
    (
        ConstraintType.EQUALITY,
        ConstraintType.FRICTION_DOF,
        ConstraintType.FRICTION_TENDON,
        ConstraintType.LIMIT_TENDON,
        ConstraintType.CONTACT_FRICTIONLESS,  # the first of the contact types
    ),
)


def islands(model: ModelLike, data: DataLike) -> None:
    """Write the islands and all arrays sorted by island."""
    data.nisland = data.nidof = 0
    data.tree_island[:] = -1
    data.dof_island[:] = -1
    if not data.nefc or model.opt.disableflags & DisableBit.ISLAND:
        return
    row, tree = touched_trees(model, data)
    first_tree = np.zeros(data.nefc, int)  # a row that moves nothing may belong anywhere
    first_tree[row[::-1]] = tree[::-1]
    island = components(model.ntree, np.append(first_tree, first_tree[row]), np.append(first_tree, tree))
    data.reserve(nisland_max=int(island.max()) + 1)
    data.nisland = int(island.max()) + 1
    data.tree_island[:] = island
    sort_trees(data)
    sort_dofs(model, data)
    sort_mass(model, data)
    sort_rows(data, island[first_tree])
    sort_jacobian(data)


# ---- which trees belong together


def touched_trees(model: ModelLike, data: DataLike) -> tuple[Array, Array]:
    """Constraint row and tree of each entry of the Jacobian that ties trees together, in the order of rows.

    Where MuJoCo's Jacobian would be dense, it looks at numbers, not at structure, for constraints that can have any
    number of trees (tendons, joint equalities, flexes), so that entries that happen to be zero do not count."""
    nefc = data.nefc
    row, at = entries(data.efc_J_rownnz[:nefc], data.efc_J_rowadr[:nefc])
    tree = model.dof_treeid[data.efc_J_colind[at]]
    if not is_sparse(model):
        nonzero = data.efc_J[at] != 0.0
        has_nonzero = np.bincount(row[nonzero], minlength=nefc) > 0
        counts = nonzero | ~(scanned(model, data) & has_nonzero)[row]
        row, tree = row[counts], tree[counts]
    return row, tree


def scanned(model: ModelLike, data: DataLike) -> Array:
    """Rows whose trees MuJoCo reads from the Jacobian: all but those on one joint or between two bodies. Rows of a
    plugin's own belong to no object and may couple anything."""
    kind, owner = data.efc_type[: data.nefc], data.efc_id[: data.nefc]
    equality = kind == EQUALITY
    bodies = (model.eq_type == CONNECT) | (model.eq_type == WELD)
    any_number = (kind == FRICTION_TENDON) | (kind == LIMIT_TENDON)
    any_number[equality] = ~np.append(bodies, False)[owner[equality]]  # -1: no object's
    contact = kind >= FRICTIONLESS
    any_number[contact] = (data.contact.geom[owner[contact]] < 0).any(axis=1)  # a flex
    return any_number


def components(count: int, first: Array, second: Array) -> Array:
    """Number of the connected component of each of `count` nodes, given edges; -1 for nodes without any edge.
    Components are numbered in the order of their smallest node."""
    first, second = np.divmod(np.unique(first * count + second), count)
    label = np.arange(count)
    while True:
        smaller = np.minimum(label[first], label[second])
        new = label.copy()
        np.minimum.at(new, first, smaller)
        np.minimum.at(new, second, smaller)
        new = new[new]
        if np.array_equal(new, label):
            break
        label = new
    used = np.zeros(count, bool)
    used[first] = used[second] = True
    number = np.cumsum(used & (label == np.arange(count))) - 1
    return np.where(used, number[label], -1)


# ---- sorting by island


def sorted_by(island: Array, nisland: int) -> tuple[Array, Array, Array]:
    """Places in the order of islands (those of none last), how many each island has, and where its first is."""
    order = np.argsort(np.where(island < 0, nisland, island), kind="stable")
    size = np.bincount(island[island >= 0], minlength=nisland)
    return order, size, np.cumsum(size) - size


def sort_trees(data: DataLike) -> None:
    nisland = data.nisland
    order, size, first = sorted_by(data.tree_island, nisland)
    data.map_itree2tree[:] = order
    data.island_ntree[:nisland] = size
    data.island_itreeadr[:nisland] = first


def sort_dofs(model: ModelLike, data: DataLike) -> None:
    nisland = data.nisland
    data.dof_island[:] = data.tree_island[model.dof_treeid]
    order, size, first = sorted_by(data.dof_island, nisland)
    data.nidof = int(size.sum())
    data.map_idof2dof[:] = order
    data.map_dof2idof[order] = np.arange(model.nv)
    data.island_nv[:nisland] = size
    data.island_idofadr[:nisland] = first
    data.island_dofadr[:nisland] = order[first]


def sort_mass(model: ModelLike, data: DataLike) -> None:
    """The blocks of the mass matrix and of its factors."""
    dof = data.map_idof2dof[: data.nidof]
    count = model.M_rownnz[dof]
    row, at = entries(count, model.M_rowadr[dof])
    total = len(at)
    data.iM_rownnz[: len(dof)] = count
    data.iM_rowadr[: len(dof)] = np.cumsum(count) - count
    data.iM_colind[:total] = local_column(data, model.M_colind[at], data.dof_island[dof][row])
    data.iM[:total] = data.M[at]
    data.iLD[:total] = data.qLD[at]
    data.iLDiagInv[: len(dof)] = data.qLDiagInv[dof]


def local_column(data: DataLike, dof: Array, island: Array) -> Array:
    """Places of dofs counted from the first of their island."""
    return data.map_dof2idof[dof] - data.island_idofadr[island]


def sort_rows(data: DataLike, island: Array) -> None:
    """Constraint rows and what solvers need of them; `island` is that of each row."""
    nisland, nefc = data.nisland, data.nefc
    order, size, first = sorted_by(island, nisland)
    kind = data.efc_type[:nefc]
    data.efc_island[:nefc] = island
    data.map_iefc2efc[:nefc] = order
    data.map_efc2iefc[order] = np.arange(nefc)
    data.island_nefc[:nisland] = size
    data.island_iefcadr[:nisland] = first
    dry = (kind == FRICTION_DOF) | (kind == FRICTION_TENDON)
    data.island_ne[:nisland] = np.bincount(island[kind == EQUALITY], minlength=nisland)
    data.island_nf[:nisland] = np.bincount(island[dry], minlength=nisland)
    data.iefc_type[:nefc] = kind[order]
    data.iefc_id[:nefc] = data.efc_id[order]
    data.iefc_frictionloss[:nefc] = data.efc_frictionloss[order]
    data.iefc_D[:nefc] = data.efc_D[order]
    data.iefc_R[:nefc] = data.efc_R[order]


def sort_jacobian(data: DataLike) -> None:
    """The blocks of the Jacobian; entries outside them, which are zero, are left out."""
    nefc = data.nefc
    order = data.map_iefc2efc[:nefc]
    row, at = entries(data.efc_J_rownnz[order], data.efc_J_rowadr[order])
    island = data.efc_island[order]
    inside = data.dof_island[data.efc_J_colind[at]] == island[row]
    row, at = row[inside], at[inside]
    count = np.bincount(row, minlength=nefc)
    column = local_column(data, data.efc_J_colind[at], island[row])
    data.iefc_J_rownnz[:nefc] = count
    data.iefc_J_rowadr[:nefc] = np.cumsum(count) - count
    data.iefc_J_colind[: len(at)] = column
    data.iefc_J[: len(at)] = data.efc_J[at]
    data.iefc_J_rowsuper[:nefc] = following_rows_alike(count, column, island)


def following_rows_alike(count: Array, column: Array, island: Array) -> Array:
    """How many rows after each, in the same island, have the same columns."""
    last = np.searchsorted(island, island, side="right") - 1
    return np.minimum(supernodes(count, column), last - np.arange(len(island)))

"""Which dofs change the lengths of flex edges: the structure of `flexedge_J`, which does not depend on the state.

An edge's row has the dofs that move the body of either end, ascending. Rows stand one after another, or full, nv
numbers each, where the model's Jacobians are dense. Flexes that are rigid or interpolated have no rows, and neither
have those for whose edges nobody needs them; edges between vertices of one body have rows, of zeros. Compare mj_flex.

Two deviations in where entries stand, none in the matrix. If one of three flexes has no rows, MuJoCo 3.4 writes
those of the next over those of the one before, where rows are sparse; here all follow one another. In its rows of
edges within one body with a diagonal mass matrix each dof stands twice, and the entries cancel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.errors import CapacityError
from dovetail.plugins.shared.constants import SPARSE_FROM
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.sparse_rows_numpy import SparseRows, from_dense, ranges


class EdgeEntries(NamedTuple):
    """Entries of the Jacobian, by edge and there by dof."""

    edge: Array
    dof: Array
    moves: Array
    """(n, 2) whether the dof moves the first and the second end."""


def ends_of_edges(model: ModelLike) -> Array:
    """(nflexedge, 2) vertices at the ends, counted through all flexes."""
    first = np.repeat(model.flex_vertadr, model.flex_edgenum)
    return model.flex_edge + first[:, None]


def deforms(model: ModelLike) -> Array:
    """(nflex,) flexes whose edges have lengths of their own."""
    return (model.flex_rigid == 0) & (model.flex_interp == 0)


def needs_rows(model: ModelLike) -> Array:
    """(nflex,) flexes whose edges are held or pull or are damped, or whose elements are: only they have rows."""
    pulls = (model.flex_edgestiffness != 0) | (model.flex_edgedamping != 0) | (model.flex_damping != 0)
    return deforms(model) & (pulls | (model.flex_edgeequality != 0))


def has_row(model: ModelLike) -> Array:
    """(nflexedge,) edges that can have rows."""
    return of_edges(model, deforms(model))


def of_edges(model: ModelLike, flexes: Array) -> Array:
    """Values of flexes (nflex,), for each of their edges (nflexedge,)."""
    return np.repeat(flexes, model.flex_edgenum)


def edge_entries(model: ModelLike, flexes: Array | None = None) -> EdgeEntries:
    """The entries of all rows that some flexes (nflex,), a mask, can have, or that all can have."""
    edges = np.flatnonzero(has_row(model) if flexes is None else of_edges(model, flexes))
    bodies = model.flex_vertbodyid[ends_of_edges(model)[edges]]
    places, sides = [], []
    for side in (0, 1):
        which, dof = dofs_that_move(model, bodies[:, side])
        places.append(edges[which] * np.int64(max(int(model.nv), 1)) + dof)
        sides.append(np.full(len(dof), side))
    place, number = np.unique(np.concatenate(places), return_inverse=True)
    moves = np.zeros((len(place), 2), bool)
    moves[number.reshape(-1), np.concatenate(sides)] = True
    edge, dof = np.divmod(place, max(int(model.nv), 1))
    return EdgeEntries(edge, dof, moves)


def dofs_that_move(model: ModelLike, bodies: Array) -> tuple[Array, Array]:
    """Every dof above each of some bodies: the number of the body in the list, and the dof."""
    weld = model.body_weldid[bodies]
    dof = np.where(model.body_dofnum[weld] > 0, model.body_dofadr[weld] + model.body_dofnum[weld] - 1, -1)
    number = np.arange(len(bodies))
    found: list[tuple[Array, Array]] = []
    while len(number):
        there = dof >= 0
        number, dof = number[there], dof[there]
        found.append((number, dof))
        dof = model.dof_parentid[dof]
    both = zip(*found, strict=True) if found else ([], [])
    which, dofs = (np.concatenate([*parts, np.zeros(0, int)]).astype(int) for parts in both)
    return which, dofs


def jacobian_room(model: ModelLike) -> int:
    """nJfe: entries that flexedge_J has room for: its own, and full rows unless the model is large and sparse."""
    full = int(model.nflexedge) * int(model.nv)
    may_be_dense = not is_sparse(model) or model.nv < SPARSE_FROM
    return max(len(edge_entries(model).dof), full if may_be_dense else 0)


# ---- what is stored ---------------------------------------------------------------------------------------


def full_rows(model: ModelLike, data: DataLike) -> Array:
    """flexedge_J as a matrix (nflexedge, nv), where Jacobians are dense."""
    nrow, nv = int(model.nflexedge), int(model.nv)
    stored = data.flexedge_J.reshape(-1)
    if len(stored) < nrow * nv:
        raise CapacityError(
            f"flexedge_J has room for {len(stored)} entries, and full rows of {nrow} edges have {nrow * nv}: "
            'opt.jacobian was sparse when the model was loaded; leave it so, or load the model with jacobian="dense"'
        )
    return stored[: nrow * nv].reshape(nrow, nv)


def stored_rows(model: ModelLike, data: DataLike, edges: Array | None = None) -> SparseRows:
    """The derivatives of the lengths of edges, all or some, in whichever way they are stored."""
    if not is_sparse(model):
        matrix = full_rows(model, data)
        return from_dense(matrix if edges is None else matrix[edges])
    rownnz, rowadr = data.flexedge_J_rownnz, data.flexedge_J_rowadr
    if edges is not None:
        rownnz, rowadr = rownnz[edges], rowadr[edges]
    entry = ranges(rowadr, rownnz)
    return SparseRows(rownnz, data.flexedge_J_colind.reshape(-1)[entry], data.flexedge_J.reshape(-1)[entry])

"""Which dofs change the lengths of flex edges: the structure of `flexedge_J`, which does not depend on the state.

An edge's row has the dofs that move the body of either end, ascending. Rows stand one after another, or full, nv
numbers each, where the model's Jacobians are dense. Rigid and interpolated flexes have no rows. Compare mj_flex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.constants import SPARSE_FROM
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse


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


def has_row(model: ModelLike) -> Array:
    """(nflexedge,) whether the edge's flex is one whose edges have rows."""
    deforms = (model.flex_rigid == 0) & (model.flex_interp == 0)
    return np.repeat(deforms, model.flex_edgenum)


def edge_entries(model: ModelLike) -> EdgeEntries:
    """The entries that all rows have."""
    edges = np.flatnonzero(has_row(model))
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

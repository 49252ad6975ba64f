"""What the vertices, edges and elements of flexes are made of, as tables for lane kernels: ids and places only.

Nothing here depends on the state. Edges whose two ends sit on bodies that slide freely along the world's axes are
*straight*: a row of the Jacobian is then minus the edge's direction at the first end's dofs, and the direction itself
at the second's. Vertices, edges and elements are counted through all flexes. Compare mj_flex and mj_springdamper.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dovetail.contracts.enums import JointType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.flex.edge_rows import (
    EdgeEntries,
    edge_entries,
    ends_of_edges,
    has_row,
    jacobian_room,
    needs_rows,
    of_edges,
)
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.sparse_rows_numpy import ranges
from dovetail.recorded_model import by_value

SLIDES = 3
"""Dofs of a body that slides along all axes."""

LOCAL_EDGES = {2: 3, 3: 6}
"""Edges of an element by its flex's dimension."""


def flex_of(model: ModelLike, numbers: Array) -> Array:
    """The flex of each vertex, edge or element, from how many each flex has."""
    return np.repeat(np.arange(model.nflex), numbers)


# ---- bodies -----------------------------------------------------------------------------------------------


def slides_along_axes(model: ModelLike) -> Array:
    """(nbody,) whether a body has three slides, along x, y and z of the world wherever it is, and nothing else."""
    by_value(model, "body_quat", "jnt_axis")
    straight = np.zeros(model.nbody, bool)
    straight[0] = True
    upright = (model.body_quat == [1.0, 0.0, 0.0, 0.0]).all(axis=1)
    parent = model.body_parentid
    for body in np.flatnonzero(upright & (model.body_dofnum == 0) & (model.body_mocapid < 0)).tolist():
        straight[body] = body == 0 or straight[parent[body]]
    first = model.body_jntadr
    found = upright & straight[parent] & (model.body_jntnum == SLIDES) & (np.arange(model.nbody) > 0)
    found &= model.body_mocapid < 0
    for n, axis in enumerate(np.eye(SLIDES)):
        joint = np.where(found, first + n, 0)
        if model.njnt:
            found &= (model.jnt_type[joint] == int(JointType.SLIDE)) & (model.jnt_axis[joint] == axis).all(
                axis=1
            )
    return found


def is_simple(model: ModelLike, bodies: Array) -> Array:
    """Which bodies have forces at their vertices added to their own dofs as they are."""
    return (bodies >= 0) & (model.body_simple[np.maximum(bodies, 0)] == 2)


# ---- edges ------------------------------------------------------------------------------------------------


class StraightEdges(NamedTuple):
    """Edges between bodies that slide along the world's axes."""

    edge: Array
    vertex: Array
    """(n, 2) their ends."""
    dof: Array
    """(n, 2) the first dof of either end's body."""
    place: Array
    """(n, 2) where the three numbers of either end are in flexedge_J."""


class OtherEdges(NamedTuple):
    """All other edges that have rows, and the entries of their rows."""

    edge: Array
    vertex: Array
    first: Array
    """Where the entries of each edge begin, and the end of the last."""
    dof: Array
    place: Array
    """Of each entry, its place in flexedge_J."""
    moves: Array
    """(entries, 2) whether the dof moves the first and the second end."""


class Edges(NamedTuple):
    """How the rows of the edges' Jacobian are made."""

    straight: StraightEdges
    other: OtherEdges
    measured: Array
    """Edges that have a length, but no row."""
    without: Array
    """Edges without either."""


def edges_of(model: ModelLike, *, straight: bool = True) -> Edges:
    """The edges of a model; with `straight=False` none counts as straight."""
    ends, entries = ends_of_edges(model), edge_entries(model, needs_rows(model))
    place = entry_places(model, entries)
    has_length, rows = has_row(model), of_edges(model, needs_rows(model))
    row = np.flatnonzero(rows)
    bodies = model.flex_vertbodyid[ends[row]].reshape(-1, 2)
    plain = slides_along_axes(model)[bodies].all(axis=1) & (bodies[:, 0] != bodies[:, 1])
    plain &= straight
    low = np.searchsorted(entries.edge, row)
    count = np.searchsorted(entries.edge, row, side="right") - low
    chosen = row[plain]
    dofs = model.body_dofadr[bodies[plain]]
    at = place[low[plain]] if len(chosen) else np.zeros(0, int)
    if is_sparse(model):
        places = at[:, None] + SLIDES * np.argsort(np.argsort(dofs, axis=1), axis=1)
    else:
        places = chosen[:, None] * int(model.nv) + dofs
    rest = row[~plain]
    own = ranges(low[~plain], count[~plain])
    first = np.concatenate([[0], np.cumsum(count[~plain])])
    others = OtherEdges(rest, ends[rest], first, entries.dof[own], place[own], entries.moves[own])
    measured, without = np.flatnonzero(has_length & ~rows), np.flatnonzero(~has_length)
    return Edges(StraightEdges(chosen, ends[chosen], dofs, places), others, measured, without)


def entry_places(model: ModelLike, entries: EdgeEntries) -> Array:
    """Where each entry is in flexedge_J: one after another, or in full rows."""
    if is_sparse(model):
        return np.arange(len(entries.dof))
    return entries.edge * int(model.nv) + entries.dof


def row_arms(model: ModelLike) -> list[list[tuple[int, int]]]:
    """(dof, place in flexedge_J) of the entries of each edge's row."""
    entries = edge_entries(model, needs_rows(model))
    both = list(zip(entries.dof.tolist(), entry_places(model, entries).tolist(), strict=True))
    ends = np.searchsorted(entries.edge, np.arange(int(model.nflexedge) + 1)).tolist()
    return [both[start:end] for start, end in pairwise(ends)]


def jacobian_structure(model: ModelLike) -> Mapping[str, Array]:
    """flexedge_J_rownnz, flexedge_J_rowadr and flexedge_J_colind; all zero where rows are full."""
    count = np.zeros(model.nflexedge, np.int32)
    address = np.zeros(model.nflexedge, np.int32)
    columns = np.zeros(jacobian_room(model), np.int32)
    if is_sparse(model):
        entries = edge_entries(model, needs_rows(model))
        count[:] = np.bincount(entries.edge, minlength=model.nflexedge)
        address[:] = np.where(of_edges(model, needs_rows(model)), np.cumsum(count) - count, 0)
        columns[: len(entries.dof)] = entries.dof
    return {
        "flexedge_J_rownnz": count,
        "flexedge_J_rowadr": address,
        "flexedge_J_colind": columns,
    }


# ---- elements ---------------------------------------------------------------------------------------------


class Elements(NamedTuple):
    """Elements of one dimension."""

    elem: Array
    flex: Array
    vertex: Array
    """(n, dim + 1)."""
    edge: Array
    """(n, edges) in the order of the stiffness; of segments, none."""


def elements_of(model: ModelLike, dim: int) -> Elements:
    """The elements of all flexes of a dimension."""
    corners, sides = dim + 1, LOCAL_EDGES.get(dim, 0)
    elem, flex = [np.zeros(0, int)], [np.zeros(0, int)]
    vertex, edge = [np.zeros((0, corners), int)], [np.zeros((0, sides), int)]
    for f in np.flatnonzero(model.flex_dim == dim).tolist():
        count, data = int(model.flex_elemnum[f]), int(model.flex_elemdataadr[f])
        elem.append(int(model.flex_elemadr[f]) + np.arange(count))
        flex.append(np.full(count, f))
        own = model.flex_elem[data : data + corners * count].reshape(count, corners)
        vertex.append(own + int(model.flex_vertadr[f]))
        start = int(model.flex_elemedgeadr[f])
        edges = model.flex_elemedge[start : start + sides * count].reshape(count, sides)
        edge.append(edges + int(model.flex_edgeadr[f]))
    return Elements(*(np.concatenate(parts) for parts in (elem, flex, vertex, edge)))

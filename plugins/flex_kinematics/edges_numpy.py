"""Lengths of flex edges, and how dofs change them.

The length changes by uᵀ(J(x₂) − J(x₁)) per unit velocity of the dofs, u the unit vector from the first end to the
second and J how each end moves with its body. A slide moves all points of a body alike, any other dof by v + ω × r, r
from the tree's centre of mass. Compare mj_flex, mj_jacDifPair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.flex.edge_rows import (
    deforms,
    edge_entries,
    ends_of_edges,
    full_rows,
    has_row,
    needs_rows,
    of_edges,
)
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.remembered import Remembered
from dovetail.plugins.shared.tree_numpy import SLIDE
from dovetail.plugins.shared.vectors_numpy import cross_rows, dot_rows


class Edges(NamedTuple):
    """Edges that have lengths, and the entries of those that have rows."""

    measured: Array
    """Edges of flexes that deform."""
    first: Array
    second: Array
    """Vertices at their ends."""
    rownnz: Array
    rowadr: Array
    edge: Array
    """Of each entry, its edge."""
    dof: Array
    slide: Array
    """Entries of slides, or all of them."""
    sign: Array
    """Of entries of slides: −1, 1 or, where both ends go along, 0."""
    turning: Array
    """Entries of other dofs."""
    moves: Array
    """(n, 2) of those, whether the dof moves the first and the second end."""
    root: Array
    """(n, 2) of those, the bodies at whose subtree_com the ends' motion is known."""


def find_edges(model: ModelLike) -> Edges:
    """The structure of all edges."""
    ends = ends_of_edges(model)
    entries = edge_entries(model, needs_rows(model))
    rownnz = np.bincount(entries.edge, minlength=len(ends))
    slides = model.jnt_type[model.dof_jntid[entries.dof]] == SLIDE
    turning = np.flatnonzero(~slides)
    slide = np.flatnonzero(slides)
    sign = entries.moves[slide, 1].astype(float) - entries.moves[slide, 0]
    measured = np.flatnonzero(has_row(model))
    bodies = model.flex_vertbodyid[ends[entries.edge[turning]]]
    return Edges(
        measured,
        ends[measured, 0],
        ends[measured, 1],
        rownnz,
        np.where(of_edges(model, needs_rows(model)), np.cumsum(rownnz) - rownnz, 0),
        entries.edge,
        entries.dof,
        slide,
        sign,
        turning,
        entries.moves[turning],
        model.body_rootid[bodies],
    )


def _structure_of_edges(model: ModelLike) -> tuple[Array, ...]:
    flexes = model.flex_vertadr, model.flex_edgenum, deforms(model), needs_rows(model)
    bodies = model.body_weldid, model.body_rootid, model.body_dofadr, model.body_dofnum
    return model.flex_edge, model.flex_vertbodyid, *flexes, *bodies, model.dof_parentid, model.jnt_type


edges_of = Remembered(find_edges, _structure_of_edges)


def write_edges(model: ModelLike, data: DataLike) -> None:
    """Write flexedge_length and the Jacobian."""
    found = edges_of(model)
    length, unit = lengths(data, found)
    data.flexedge_length[:] = 0.0
    data.flexedge_length[found.measured] = length
    direction = np.zeros((len(data.flexedge_length), 3))
    direction[found.measured] = unit
    store = store_sparse if is_sparse(model) else store_dense
    store(model, data, found, entries(model, data, found, direction))


def lengths(data: DataLike, found: Edges) -> tuple[Array, Array]:
    """Lengths (n,) of edges and unit vectors (n, 3) along them; the x axis where an edge has no direction."""
    place = data.flexvert_xpos
    along = place[found.second] - place[found.first]
    x, y, z = along.T
    length = np.sqrt(x * x + y * y + z * z)
    short = length < MINVAL
    unit = along * (1.0 / np.where(short, 1.0, length))[:, None]
    unit[short] = 1.0, 0.0, 0.0
    return length, unit


def entries(model: ModelLike, data: DataLike, found: Edges, direction: Array) -> Array:
    """The Jacobian's entries."""
    value = np.empty(len(found.edge))
    edge, dof = found.edge[found.slide], found.dof[found.slide]
    value[found.slide] = found.sign * dot_rows(direction[edge], data.cdof[dof, 3:])
    if len(found.turning):
        edge, dof = found.edge[found.turning], found.dof[found.turning]
        apart = end_motion(model, data, found, edge, dof, 1) - end_motion(model, data, found, edge, dof, 0)
        value[found.turning] = dot_rows(direction[edge], apart)
    return value


def end_motion(model: ModelLike, data: DataLike, found: Edges, edge: Array, dof: Array, end: int) -> Array:
    """How fast dofs (n,) move one end of edges (n,); zero where they do not."""
    vertex = ends_of_edges(model)[edge, end]
    lever = data.flexvert_xpos[vertex] - data.subtree_com[found.root[:, end]]
    axis = data.cdof[dof]
    motion = axis[:, 3:] + cross_rows(axis[:, :3], lever)
    return np.where(found.moves[:, end, None], motion, 0.0)


def store_sparse(model: ModelLike, data: DataLike, found: Edges, value: Array) -> None:
    """Rows one after another."""
    data.flexedge_J_rownnz[:] = found.rownnz
    data.flexedge_J_rowadr[:] = found.rowadr
    for field, entry in ((data.flexedge_J, value), (data.flexedge_J_colind, found.dof)):
        flat = field.reshape(-1)
        flat[: len(entry)] = entry
        flat[len(entry) :] = 0


def store_dense(model: ModelLike, data: DataLike, found: Edges, value: Array) -> None:
    """Full rows."""
    for field in (data.flexedge_J_rownnz, data.flexedge_J_rowadr, data.flexedge_J_colind):
        field[:] = 0
    rows = full_rows(model, data)
    rows[:] = 0.0
    rows[found.edge, found.dof] = value

"""Where entries of velocity derivatives are stored: the pattern D, each dof with its ancestors and descendants.

Row i of D lists the ancestors of dof i, the dof itself, then its descendants, which number on from i. So an
address follows from two counts: how many ancestors a dof has (D_diag), and how many descendants. Forces that
couple dofs of different branches (a tendon's, say) have no place in D and are left out, as in MuJoCo's qDeriv.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.vectors_numpy import apply_rows, dot_rows

Entries: TypeAlias = tuple[Array, Array, Array]
"""A matrix over dofs by its entries, row after row: rows, dofs, values."""


def entry_rows(model: ModelLike) -> Array:
    """The row of each entry of D; D_colind holds the columns."""
    return np.repeat(np.arange(model.nv), model.D_rownnz)


def address(model: ModelLike, row: Array, column: Array) -> Array:
    """Where the entries (row, column) are stored; each pair must be a dof and an ancestor, in either order."""
    beyond = model.D_diag[row] + column - row
    return model.D_rowadr[row] + np.where(column > row, beyond, model.D_diag[column])


def related(model: ModelLike, row: Array, column: Array) -> Array:
    """Which pairs of dofs are a dof and itself or an ancestor, in either order."""
    upper, lower = np.minimum(row, column), np.maximum(row, column)
    descendants = model.D_rownnz[upper] - model.D_diag[upper] - 1
    return lower - upper <= descendants


def add_along(model: ModelLike, deriv: Array, arms: Entries, slope: Array) -> None:
    """Add what forces do that act along arms and are `slope` (one per arm) × the arm's velocity: Σ slope·armᵀ·arm,
    as far as D has entries. An arm names a dof at most once; its entries stand together."""
    row, dof, value = arms
    kept = (value != 0.0) & (slope[row] != 0.0)
    row, dof, value = row[kept], dof[kept], value[kept]
    count = np.bincount(row, minlength=len(slope))
    partners = count[row]
    one = np.repeat(np.arange(len(row)), partners)
    before = np.repeat(np.cumsum(partners) - partners, partners)
    other = np.arange(len(one)) - before + np.repeat((np.cumsum(count) - count)[row], partners)
    inside = related(model, dof[one], dof[other])
    one, other = one[inside], other[inside]
    product = slope[row[one]] * value[one] * value[other]
    deriv += np.bincount(address(model, dof[one], dof[other]), product, minlength=model.nD)


def subtree_product(model: ModelLike, left: Array, subtree: Array, right: Array) -> Array:
    """Entries leftᵢ · S · rightⱼ of D, with S the (6, 6) matrix of the deeper dof's body and all it carries."""
    matrix = subtree[model.dof_bodyid]
    onto, back = apply_rows(matrix, right), apply_rows(matrix.transpose(0, 2, 1), left)
    row, column = entry_rows(model), model.D_colind
    deep = column >= row
    entries = np.empty(len(row))
    entries[deep] = dot_rows(left[row[deep]], onto[column[deep]])
    entries[~deep] = dot_rows(back[row[~deep]], right[column[~deep]])
    return entries

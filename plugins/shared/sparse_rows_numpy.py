"""Rows of a sparse matrix held as arrays: how many entries each row has, their columns, their values.

Every row source builds its Jacobian in this form, so that memory grows with the dofs that a row touches and not
with nv. Columns are dofs, ascending within a row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array


class SparseRows(NamedTuple):
    """Rows one after the other."""

    rownnz: Array
    """Entries of each row (n)."""
    colind: Array
    """Dof of each entry (nnz)."""
    values: Array
    """Entries (nnz), or vectors (nnz, k) where a row stands for k of them with the same dofs."""

    @property
    def row_of_entry(self) -> Array:
        return np.repeat(np.arange(len(self.rownnz)), self.rownnz)

    def take(self, rows: Array) -> SparseRows:
        """The rows with the given numbers, in that order; a row may be taken more than once."""
        start = np.cumsum(self.rownnz) - self.rownnz
        count = self.rownnz[rows]
        entry = ranges(start[rows], count)
        return SparseRows(count, self.colind[entry], self.values[entry])


def ranges(start: Array | int, count: Array) -> Array:
    """The numbers start[0], start[0] + 1, … (count[0] of them), then those from start[1], and so on."""
    end = np.cumsum(count)
    return np.repeat(start - (end - count), count) + np.arange(count.sum())


def from_dense(matrix: Array) -> SparseRows:
    """The non-zero entries of a matrix (n, nv)."""
    row, dof = np.nonzero(matrix)
    return SparseRows(np.bincount(row, minlength=len(matrix)), dof, matrix[row, dof])


def merged(row: Array, dof: Array, values: Array, nrow: int, nv: int) -> SparseRows:
    """Rows from entries in any order; entries of the same row and dof are added up."""
    place = row.astype(np.int64) * nv + dof
    order = np.argsort(place, kind="stable")
    place = place[order]
    first = np.flatnonzero(np.diff(place, prepend=-1))
    total = np.add.reduceat(values[order], first, axis=0) if len(first) else values[:0]
    place = place[first]
    return SparseRows(np.bincount(place // nv, minlength=nrow), place % nv, total)


def joined(parts: list[SparseRows]) -> SparseRows:
    """The rows of several matrices, below one another."""
    return SparseRows(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def supernodes(rownnz: Array, colind: Array) -> Array:
    """How many rows directly after each one have the same dofs as it (mju_superSparse)."""
    count = len(rownnz)
    same = np.zeros(count, bool)
    same[:-1] = rownnz[:-1] == rownnz[1:]
    here = ranges((np.cumsum(rownnz) - rownnz)[same], rownnz[same])
    width = np.repeat(rownnz[same], rownnz[same])
    row = np.repeat(np.flatnonzero(same), rownnz[same])
    same[row[colind[here] != colind[here + width]]] = False
    run_ends = np.flatnonzero(~same)
    return run_ends[np.searchsorted(run_ends, np.arange(count))] - np.arange(count)

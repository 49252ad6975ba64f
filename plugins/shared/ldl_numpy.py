"""Factors Lᵀ·D·L of matrices with the mass matrix's sparsity, without fill-in, and solutions with them.

Eliminating from the leaves to the root keeps the sparsity of the tree: row k of L has entries only at the ancestors
of dof k, and the columns of an ancestor's row are the first columns of row k. Factors have M's layout: D on the
diagonal, L (its unit diagonal left out) below. Most rows are short, and are worked on as lists of floats, which is
quicker than arrays of a few elements; those of long chains are arrays. Dofs that nothing is coupled to need no work,
and many small trees of one shape are worked on together; no bit depends on it. Compare mj_factorM and mj_solveM;
Featherstone, Rigid Body Dynamics Algorithms, section 6.5. In lanes: ldl_lanes.py.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.tree_numpy import CHAINS, equal_chains
from dovetail.warned import warn

LONG = 12
"""Entries of a row, on average, from which arrays are quicker: measured on chains of hinges."""


def factor(model: ModelLike, M: Array) -> tuple[Array, Array]:
    """L and D of M = Lᵀ·D·L in M's layout, and 1/D."""
    chains, rows = chains_and_rows(model)
    factors = np.array(M) if chains or not rows else M
    for chain in chains:
        factors[chain.at] = chain.eliminated(factors[chain.at])
    if rows:
        factors = np.array(eliminated(model, factors, rows))
    return factors, inverse_pivots(factors[model.M_rowadr + model.M_rownnz - 1])


def inverse_pivots(pivots: Array) -> Array:
    """1/D; infinite where a dof has no inertia, which is warned of."""
    low = pivots < MINVAL
    if not low.any():
        return 1.0 / pivots
    for k in np.flatnonzero(low)[::-1].tolist():
        warn_singular(k, float(pivots[k]))
    zero = pivots == 0.0
    return np.where(zero, math.inf, 1.0 / np.where(zero, 1.0, pivots))


def eliminated(model: ModelLike, M: Array, rows: list[int]) -> Any:
    """L and D in M's layout; only `rows` (ascending) have anything to eliminate."""
    start = model.M_rowadr.tolist()
    count = model.M_rownnz.tolist()
    column = model.M_colind.tolist()
    long_rows = len(column) > LONG * model.nv
    entries: Any = np.array(M) if long_rows else M.tolist()
    eliminate = partial(eliminate_arrays, np.tril_indices(max(count))) if long_rows else eliminate_lists
    for k in reversed(rows):
        first = start[k]
        diagonal = first + count[k] - 1
        pivot = float(entries[diagonal])
        inverse = 1.0 / pivot if pivot else math.inf
        eliminate(entries, first, [start[ancestor] for ancestor in column[first:diagonal]], inverse)
    return entries


def coupled(model: ModelLike) -> Array:
    """Dofs, ascending, whose row of M has more than its diagonal."""
    return np.flatnonzero(model.M_rownnz > 1)


def chains_and_rows(model: ModelLike) -> tuple[list[Chains], list[int]]:
    """What there is to eliminate: trees that are chains of one length, of which there are many (free bodies, or
    bodies on a few slides), and the rows of all other dofs that are coupled."""
    rows = coupled(model)
    if not len(rows) or model.ntree < CHAINS:
        return [], rows.tolist()
    dof = np.arange(model.nv)
    whole = model.M_rownnz == dof - model.tree_dofadr[model.dof_treeid] + 1
    chains = [Chains(model, length, first) for length, first in equal_chains(model, whole)]
    if chains:
        taken = np.concatenate([chain.dofs.ravel() for chain in chains])
        rows = np.setdiff1d(rows, taken, assume_unique=True)
    return chains, rows.tolist()


class Chains:
    """Trees without branches that have the same number of dofs. Each has a full lower triangle of M; all are worked
    on together, with the operations of `eliminate_lists` in their order."""

    def __init__(self, model: ModelLike, length: int, first: Array) -> None:
        self.length = length
        self.dofs = first[:, None] + np.arange(length)
        """(n, length)."""
        self.at = model.M_rowadr[first][:, None] + np.arange(length * (length + 1) // 2)
        """Places of the entries, row by row (n, length · (length + 1) / 2)."""

    def row(self, k: int) -> slice:
        """Entries of the k-th row, but for the diagonal."""
        return slice(k * (k + 1) // 2, k * (k + 1) // 2 + k)

    def eliminated(self, entries: Array) -> Array:
        """L and D of every chain, from the entries of M."""
        for k in range(self.length - 1, 0, -1):
            row = entries[:, self.row(k)].copy()
            pivot = entries[:, self.row(k).stop]
            zero = pivot == 0.0
            scaled = row * np.where(zero, math.inf, 1.0 / np.where(zero, 1.0, pivot))[:, None]
            for j in range(k):
                here = self.row(j)
                entries[:, here.start : here.stop + 1] -= scaled[:, j, None] * row[:, : j + 1]
            entries[:, self.row(k)] = scaled
        return entries

    def solve(self, L: Array, inverse_diagonal: Array, y: Array) -> Array:
        """Lᵀ·D·L z = y for every chain, in place."""
        for k in range(self.length - 1, 0, -1):
            y[:, :k] -= L[:, self.row(k)] * y[:, k, None]
        y *= inverse_diagonal
        for k in range(1, self.length):
            for j in range(k):
                y[:, k] -= L[:, self.row(k).start + j] * y[:, j]
        return y


def eliminate_lists(entries: list[float], first: int, targets: list[int], inverse: float) -> None:
    """Take a dof's row, which begins at `first`, out of its ancestors' rows, which begin at `targets`, and leave
    its row of L."""
    row = entries[first : first + len(targets)]
    for j, target in enumerate(targets):
        scale = row[j] * inverse
        for i in range(j + 1):
            entries[target + i] -= scale * row[i]
        entries[first + j] = scale


def eliminate_arrays(
    triangle: tuple[Array, Array], entries: Array, first: int, targets: list[int], inverse: float
) -> None:
    """The same for long rows, all ancestors at once; `triangle` has the pairs i ≤ j in order of j."""
    count = len(targets)
    j, i = (place[: count * (count + 1) // 2] for place in triangle)
    row = entries[first : first + count].copy()
    scaled = row * inverse
    entries[np.array(targets, int)[j] + i] -= scaled[j] * row[i]
    entries[first : first + count] = scaled


def warn_singular(dof: int, pivot: float) -> None:
    """Say which dof has no inertia: like MuJoCo's, the result goes on to infinity or NaN."""
    warn(
        f"the mass matrix is singular at dof {dof} (pivot {pivot:g}): what it moves has no mass or inertia; "
        "give it some, or give its joint armature",
        RuntimeWarning,
        stacklevel=3,
    )


def solve(model: ModelLike, qLD: Array, qLDiagInv: Array, x: Array) -> Array:
    """M⁻¹·x for a vector x (nv,), from the factors."""
    chains, rows = chains_and_rows(model)
    y = np.array(x) if chains else x
    for chain in chains:
        y[chain.dofs] = chain.solve(qLD[chain.at], qLDiagInv[chain.dofs], y[chain.dofs])
    return solve_rows(model, qLD, qLDiagInv, y, rows, [chain.dofs for chain in chains])


def solve_rows(
    model: ModelLike, qLD: Array, qLDiagInv: Array, x: Array, rows: list[int], solved: list[Array]
) -> Array:
    """The same where only `rows` (ascending) are coupled to others; dofs that are solved already stay."""
    scale = np.array(qLDiagInv) if solved else qLDiagInv
    for dofs in solved:
        scale[dofs] = 1.0
    if not rows:
        return x * scale
    entries = qLD.tolist()
    column = model.M_colind.tolist()
    start = model.M_rowadr.tolist()
    diagonal = (model.M_rowadr + model.M_rownnz - 1).tolist()
    y = x.tolist()
    for k in reversed(rows):  # Lᵀ y = x
        value = y[k]
        for at in range(start[k], diagonal[k]):
            y[column[at]] -= entries[at] * value
    y = (np.array(y) * scale).tolist()
    for k in rows:  # L z = y
        value = y[k]
        for at in range(start[k], diagonal[k]):
            value -= entries[at] * y[column[at]]
        y[k] = value
    return np.array(y)

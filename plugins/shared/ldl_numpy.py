"""Factors Lᵀ·D·L of matrices with the mass matrix's sparsity, without fill-in, and solutions with them.

Eliminating from the leaves to the root keeps the sparsity of the tree: row k of L has entries only at the ancestors
of dof k, and the columns of an ancestor's row are the first columns of row k. Factors have M's layout: D on the
diagonal, L (its unit diagonal left out) below. Most rows are short, and are worked on as lists of floats, which is
quicker than arrays of a few elements; those of long chains are arrays. Compare mj_factorM and mj_solveM;
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
from dovetail.warned import warn

LONG = 12
"""Entries of a row, on average, from which arrays are quicker: measured on chains of hinges."""


def factor(model: ModelLike, M: Array) -> tuple[Array, Array]:
    """L and D of M = Lᵀ·D·L in M's layout, and 1/D."""
    diagonal = model.M_rowadr + model.M_rownnz - 1
    factors = np.array(eliminated(model, M)) if len(M) > model.nv else np.array(M)
    pivots = factors[diagonal]
    low = pivots < MINVAL
    if not low.any():
        return factors, 1.0 / pivots
    for k in np.flatnonzero(low)[::-1].tolist():
        warn_singular(k, float(pivots[k]))
    zero = pivots == 0.0
    return factors, np.where(zero, math.inf, 1.0 / np.where(zero, 1.0, pivots))


def eliminated(model: ModelLike, M: Array) -> Any:
    """L and D in M's layout. A dof that nothing is coupled to has only its diagonal, and is passed over."""
    start = model.M_rowadr.tolist()
    count = model.M_rownnz.tolist()
    column = model.M_colind.tolist()
    long_rows = len(column) > LONG * model.nv
    entries: Any = np.array(M) if long_rows else M.tolist()
    eliminate = partial(eliminate_arrays, np.tril_indices(max(count))) if long_rows else eliminate_lists
    for k in coupled(model)[::-1]:
        first = start[k]
        diagonal = first + count[k] - 1
        pivot = float(entries[diagonal])
        inverse = 1.0 / pivot if pivot else math.inf
        eliminate(entries, first, [start[ancestor] for ancestor in column[first:diagonal]], inverse)
    return entries


def coupled(model: ModelLike) -> list[int]:
    """Dofs, ascending, whose row of M has more than its diagonal."""
    dofs: list[int] = np.flatnonzero(model.M_rownnz > 1).tolist()
    return dofs


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
    rows = coupled(model)
    if not rows:
        return x * qLDiagInv
    entries = qLD.tolist()
    column = model.M_colind.tolist()
    start = model.M_rowadr.tolist()
    diagonal = (model.M_rowadr + model.M_rownnz - 1).tolist()
    y = x.tolist()
    for k in reversed(rows):  # Lᵀ y = x
        value = y[k]
        for at in range(start[k], diagonal[k]):
            y[column[at]] -= entries[at] * value
    y = (np.array(y) * qLDiagInv).tolist()
    for k in rows:  # L z = y
        value = y[k]
        for at in range(start[k], diagonal[k]):
            value -= entries[at] * y[column[at]]
        y[k] = value
    return np.array(y)

"""Factor the mass matrix as Lᵀ·D·L without fill-in, and solve with it.

Eliminating from the leaves to the root keeps the sparsity of the tree: row k of L has entries only at the
ancestors of dof k, and the columns of an ancestor's row are the first columns of row k. `qLD` has M's layout:
D on the diagonal, L (its unit diagonal left out) below. Rows are short, so they are worked on as lists of
floats, which is quicker than arrays of a few elements. Compare mj_factorM and mj_solveM; Featherstone, Rigid
Body Dynamics Algorithms, section 6.5.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from dovetail.plugins.spatial import MINVAL, Array


def factor_mass(model: Any, data: Any) -> None:
    """Write qLD and qLDiagInv."""
    if model.nv:
        data.qLD[:], data.qLDiagInv[:] = factor(model, data.M)


def factor(model: Any, M: Array) -> tuple[Array, Array]:
    """L and D of M = Lᵀ·D·L in M's layout, and 1/D."""
    entries = M.tolist()
    start = model.M_rowadr.tolist()
    count = model.M_rownnz.tolist()
    column = model.M_colind.tolist()
    inverse_diagonal = [0.0] * model.nv
    for k in range(model.nv - 1, -1, -1):
        first = start[k]
        diagonal = first + count[k] - 1
        pivot = entries[diagonal]
        if pivot < MINVAL:
            warn_singular(k, pivot)
        inverse_diagonal[k] = inverse = 1.0 / pivot if pivot else math.inf
        row = entries[first:diagonal]
        for j, entry in enumerate(row):
            scale = entry * inverse
            target = start[column[first + j]]
            for i in range(j + 1):
                entries[target + i] -= scale * row[i]
            entries[first + j] = scale
    return np.array(entries), np.array(inverse_diagonal)


def warn_singular(dof: int, pivot: float) -> None:
    """Say which dof has no inertia: like MuJoCo's, the result goes on to infinity or NaN."""
    warnings.warn(
        f"the mass matrix is singular at dof {dof} (pivot {pivot:g}): what it moves has no mass or inertia; "
        "give it some, or give its joint armature",
        RuntimeWarning,
        stacklevel=3,
    )


def solve(model: Any, qLD: Array, qLDiagInv: Array, x: Array) -> Array:
    """M⁻¹·x for a vector x (nv,), from the factors."""
    entries = qLD.tolist()
    column = model.M_colind.tolist()
    start = model.M_rowadr.tolist()
    diagonal = (model.M_rowadr + model.M_rownnz - 1).tolist()
    y = x.tolist()
    for k in range(model.nv - 1, -1, -1):  # Lᵀ y = x
        value = y[k]
        for at in range(start[k], diagonal[k]):
            y[column[at]] -= entries[at] * value
    y = (np.array(y) * qLDiagInv).tolist()
    for k in range(model.nv):  # L z = y
        value = y[k]
        for at in range(start[k], diagonal[k]):
            value -= entries[at] * y[column[at]]
        y[k] = value
    return np.array(y)

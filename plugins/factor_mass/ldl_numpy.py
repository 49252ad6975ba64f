"""Factor the mass matrix as Lᵀ·D·L without fill-in, and solve with it.

Eliminating from the leaves to the root keeps the sparsity of the tree: row k of L has entries only at the
ancestors of dof k, and the columns of an ancestor's row are the first columns of row k. `qLD` has M's layout:
D on the diagonal, L (its unit diagonal left out) below. Most rows are short, and are worked on as lists of
floats, which is quicker than arrays of a few elements; those of long chains are arrays. Compare mj_factorM and
mj_solveM; Featherstone, Rigid Body Dynamics Algorithms, section 6.5.
"""

from __future__ import annotations

from typing import Any

from dovetail.plugins.shared.ldl_numpy import factor


def factor_mass(model: Any, data: Any) -> None:
    """Write qLD and qLDiagInv."""
    if model.nv:
        data.qLD[:], data.qLDiagInv[:] = factor(model, data.M)

"""Factor the mass matrix as Lᵀ·D·L without fill-in, and solve with it, in lanes.

Eliminating from the leaves to the root keeps the sparsity of the tree: row k of L has entries only at the
ancestors of dof k, and the columns of an ancestor's row are the first columns of row k. `qLD` has M's layout:
D on the diagonal, L below. Three rows of which each is the parent of the next are taken together where there are
such, so that what they share is loaded and stored once. Compare mj_factorM and mj_solveM; Featherstone, Rigid Body
Dynamics Algorithms, section 6.5.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.ldl_lanes import copy, factor


def factor_mass(k: Kernel) -> None:
    """Write qLD and qLDiagInv."""
    if k.model.nv:
        copy(k, k.data.M, k.data.qLD)
        factor(k, k.data.qLD, k.data.qLDiagInv)

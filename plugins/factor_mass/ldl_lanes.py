"""The mass matrix as Lᵀ·D·L without fill-in, in lanes: see `shared.ldl_lanes`. Compare mj_factorM."""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.ldl_lanes import copy, factor


def factor_mass(k: Kernel) -> None:
    """Write qLD and qLDiagInv."""
    if k.model.nv:
        copy(k, k.data.M, k.data.qLD)
        factor(k, k.data.qLD, k.data.qLDiagInv)

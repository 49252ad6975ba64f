"""The mass matrix as Lᵀ·D·L without fill-in: see `shared.ldl_numpy`. Compare mj_factorM."""

from __future__ import annotations

from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.ldl_numpy import factor


def factor_mass(model: ModelLike, data: DataLike) -> None:
    """Write qLD and qLDiagInv."""
    if model.nv:
        data.qLD[:], data.qLDiagInv[:] = factor(model, data.M)

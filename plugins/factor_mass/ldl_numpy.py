"""The mass matrix as Lᵀ·D·L without fill-in: see `shared.ldl_numpy`. Compare mj_factorM."""

from __future__ import annotations

from typing import Any

from dovetail.plugins.shared.ldl_numpy import factor


def factor_mass(model: Any, data: Any) -> None:
    """Write qLD and qLDiagInv."""
    if model.nv:
        data.qLD[:], data.qLDiagInv[:] = factor(model, data.M)

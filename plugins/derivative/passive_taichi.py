"""How damping forces of dofs and tendons change with velocity, in lanes.

Each damper pulls with −damping × its velocity along its arm, so its derivative is −damping·armᵀ·arm. Compare
mjd_passive_vel.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.taichi.lanes import Field, Kernel
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.mass_matrix.pairs_taichi import each_pair
from dovetail.plugins.tendon.rows_taichi import entry
from dovetail.plugins.tendon.structure import row_arms


def add_dampers(k: Kernel, matrix: Field, scale: Any) -> None:
    """Add scale·∂qfrc_damper/∂qvel to a matrix with M's layout."""
    m = k.model
    with k.when(~k.disabled(DisableBit.DAMPER)):
        with k.loop(0, m.nv) as dof:
            matrix[m.M_rowadr[dof] + m.M_rownnz[dof] - 1] -= scale * m.dof_damping[dof]
        if m.ntendon:
            add_tendons(k, matrix, scale)


def add_tendons(k: Kernel, matrix: Field, scale: Any) -> None:
    """Dampers of tendons."""
    m = k.model
    rows = row_arms(k.structure)
    with (
        k.loop(0, m.ntendon) as tendon,
        k.when(m.tendon_damping[tendon] != 0.0),
        each_pair(k, "tendon_damper", rows, tendon) as (one, other, at),
    ):
        matrix[at] -= scale * m.tendon_damping[tendon] * entry(k, one) * entry(k, other)

"""Velocity of each constraint row, and the acceleration it aims at.

velocity = J·qvel; reference = −B·velocity − K·I·(pos − margin), with stiffness K, damping B and impedance I of the
row, in constraint space. Compare mj_referenceConstraint.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike


def constraint_reference(model: ModelLike, data: DataLike) -> None:
    """Write efc_vel and efc_aref."""
    count = data.nefc
    velocity = row_products(data, data.qvel)
    stiffness, damping, impedance, _ = data.efc_KBIP[:count].T
    violation = data.efc_pos[:count] - data.efc_margin[:count]
    data.efc_vel[:count] = velocity
    data.efc_aref[:count] = -damping * velocity - stiffness * impedance * violation


def row_products(data: DataLike, vector: Array) -> Array:
    """The constraint Jacobian times a vector over dofs (mj_mulJacVec)."""
    row = np.repeat(np.arange(data.nefc), data.efc_J_rownnz[: data.nefc])
    used = len(row)
    terms = data.efc_J[:used] * vector[data.efc_J_colind[:used]]
    return np.bincount(row, terms, minlength=data.nefc)

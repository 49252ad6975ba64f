"""Joint-space inertia by the composite-rigid-body algorithm.

`crb` is the inertia of each body with everything it carries, about its tree's centre of mass; then
M[i, j] = cdofⱼ · crb(body of i) · cdofᵢ for every ancestor j of i. `M` holds the lower triangle by rows
(M_rowadr, M_colind), `qM` the same numbers in MuJoCo's older order (dof_Madr: from the diagonal towards the
root), with zeros for ancestors that a simple dof does not couple to. The diagonal of a simple dof is
`dof_M0`, a constant of the model. A tendon with armature adds armature·JᵀJ, as far as that falls on stored
entries: it does not couple trees. Compare mj_crb, mj_tendonArmature and mj_makeM.
"""

from __future__ import annotations

from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.crb_numpy import composite_inertias, mass_entries, tendon_inertia


def mass_matrix(model: ModelLike, data: DataLike) -> None:
    """Write crb, M and qM."""
    data.crb[:] = composite_inertias(model, data.cinert)
    if not model.nv:
        return
    data.M[:] = mass_entries(model, data.crb, data.cdof)
    if model.tendon_armature.any():
        data.M[:] += tendon_inertia(model, data)
    data.qM[:] = 0.0
    data.qM[model.mapM2M] = data.M

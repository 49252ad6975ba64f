"""Constraint forces and states at an acceleration that another solver has found.

In the primal problem the forces are a function of the acceleration. So what a kernel does not leave of its answer,
which is the acceleration, follows from it, to the bit of where that solver stopped. Compare mj_constraintUpdate.
"""

from __future__ import annotations

from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.solver.cost_numpy import constraint_forces
from dovetail.plugins.shared.solver.sparse_numpy import jacobian, joint_forces


def forces_at_acceleration(model: ModelLike, data: DataLike) -> None:
    """Write forces and states of the constraint rows, and their copies by island, at qacc."""
    nefc = data.nefc
    if not nefc:
        return
    J = jacobian(model, data)
    force, state = constraint_forces(model, data, J @ data.qacc - data.efc_aref[:nefc])
    data.efc_force[:nefc] = force
    data.efc_state[:nefc] = state
    data.qfrc_constraint[:] = joint_forces(J, force)
    if not data.nisland:
        return
    rows, dofs = data.map_iefc2efc[:nefc], data.map_idof2dof[: data.nidof]
    data.iefc_force[:nefc] = force[rows]
    data.iefc_state[:nefc] = state[rows]
    data.iacc[: data.nidof] = data.qacc[dofs]
    data.ifrc_constraint[: data.nidof] = data.qfrc_constraint[dofs]

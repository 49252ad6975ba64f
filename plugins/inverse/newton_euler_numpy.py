"""Inverse dynamics: the forces that would produce given accelerations.

qfrc_inverse = M·qacc + bias − passive − constraint forces. Constraint forces follow from the acceleration row by
row, without solving: they are the slope of the solver's cost there. With the flag invdiscrete, qacc is what the
integrator made of it, (v_next − v)/h, and is first turned into the acceleration that the integrator was given.
As a stage (flag fwdinv) it measures how well forward and inverse dynamics agree. Compare mj_inverse,
mj_discreteAcc and mj_compareFwdInv.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import DisableBit, EnableBit, Integrator
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.cartesian_forces_numpy import cartesian_forces
from dovetail.plugins.shared.derivative.pattern import entry_rows
from dovetail.plugins.shared.derivative.rne_numpy import bias_velocity
from dovetail.plugins.shared.derivative.velocity_numpy import force_velocity
from dovetail.plugins.shared.ldl_numpy import solve
from dovetail.plugins.shared.solver.cost_numpy import constraint_forces
from dovetail.plugins.shared.symmetric_numpy import multiply_symmetric


@attrs.frozen(eq=False)
class InverseDynamics:
    """What inverse dynamics computes."""

    qacc: Array
    """The acceleration in continuous time: what the integrator was given."""
    qfrc_inverse: Array
    qfrc_constraint: Array
    efc_force: Array
    efc_state: Array


def inverse(model: ModelLike, data: DataLike) -> None:
    """Write solver_fwdinv: how far the forces that inverse dynamics finds are from those that acted, constraint
    forces first; and qfrc_inverse. Without constraint rows there is nothing to compare."""
    data.solver_fwdinv[:] = 0.0
    if not data.nefc:
        return
    found = inverse_dynamics(model, data)
    acted = data.qfrc_applied + data.qfrc_actuator + cartesian_forces(model, data)
    data.qfrc_inverse[:] = found.qfrc_inverse
    data.solver_fwdinv[0] = np.linalg.norm(data.qfrc_constraint - found.qfrc_constraint)
    data.solver_fwdinv[1] = np.linalg.norm(acted - found.qfrc_inverse)


def inverse_dynamics(model: ModelLike, data: DataLike) -> InverseDynamics:
    """Forces at data.qacc; positions and velocities are up to date."""
    qacc = np.array(data.qacc)
    if model.opt.enableflags & EnableBit.INVDISCRETE:
        qacc = continuous_acceleration(model, data, qacc)
    efc_force, efc_state, qfrc_constraint = constraint_part(model, data, qacc)
    qfrc = data.qfrc_bias + multiply_symmetric(model, data.M, qacc) - data.qfrc_passive - qfrc_constraint
    return InverseDynamics(qacc, qfrc, qfrc_constraint, efc_force, efc_state)


def constraint_part(model: ModelLike, data: DataLike, qacc: Array) -> tuple[Array, Array, Array]:
    """Forces and states of the constraint rows at an acceleration, and the joint forces they make."""
    nefc = int(data.nefc)
    if not nefc:
        return np.zeros(0), np.zeros(0, int), np.zeros(model.nv)
    count = data.efc_J_rownnz[:nefc]
    row = np.repeat(np.arange(nefc), count)
    at = np.arange(len(row)) + np.repeat(data.efc_J_rowadr[:nefc] - (np.cumsum(count) - count), count)
    dof, entry = data.efc_J_colind[at], data.efc_J[at]
    jar = np.bincount(row, entry * qacc[dof], minlength=nefc) - data.efc_aref[:nefc]
    force, state = constraint_forces(model, data, jar)
    return force, state, np.bincount(dof, entry * force[row], minlength=model.nv)


# ---- from discrete to continuous time ---------------------------------------------------------------------


def continuous_acceleration(model: ModelLike, data: DataLike, qacc: Array) -> Array:
    """The acceleration a that the integrator turned into qacc: M·a = (M − h·∂f/∂v)·qacc."""
    product = INTEGRATORS[Integrator(int(model.opt.integrator))](model, data, qacc)
    return qacc if product is None else solve(model, data.qLD, data.qLDiagInv, product)


def after_euler(model: ModelLike, data: DataLike, qacc: Array) -> Array | None:
    """Euler takes joint damping implicitly, unless there is none or eulerdamp is off. The flag damper, which the
    integrator heeds too, does not count here in MuJoCo 3.4."""
    if model.opt.disableflags & DisableBit.EULERDAMP or not (model.dof_damping > 0.0).any():
        return None
    return multiply_symmetric(model, data.M, qacc) + model.opt.timestep * model.dof_damping * qacc


def after_implicit(model: ModelLike, data: DataLike, qacc: Array) -> Array:
    """`implicit` takes all velocity derivatives at the end of the step."""
    slope = force_velocity(model, data) - bias_velocity(model, data)
    changed = np.bincount(entry_rows(model), slope * qacc[model.D_colind], minlength=model.nv)
    return multiply_symmetric(model, data.M, qacc) - model.opt.timestep * changed


def after_implicitfast(model: ModelLike, data: DataLike, qacc: Array) -> Array:
    """`implicitfast` takes those of damping, actuators and fluid, where M has entries."""
    slope = force_velocity(model, data, symmetric=True)[model.mapD2M]
    return multiply_symmetric(model, data.M - model.opt.timestep * slope, qacc)


def after_rk4(model: ModelLike, data: DataLike, qacc: Array) -> Array:
    """Four evaluations cannot be undone from one."""
    raise ValueError(
        "the flag invdiscrete asks for inverse dynamics in discrete time, which the integrator RK4 does not have; "
        "use Euler, implicit or implicitfast, or switch the flag off"
    )


INTEGRATORS: Mapping[Integrator, Callable[[Any, Any, Array], Array | None]] = {
    Integrator.EULER: after_euler,
    Integrator.RK4: after_rk4,
    Integrator.IMPLICIT: after_implicit,
    Integrator.IMPLICITFAST: after_implicitfast,
}
"""M − h·∂f/∂v as each integrator has it, times qacc; None where that is M·qacc."""

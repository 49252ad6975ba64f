"""Moving the state forward in time, shared by the integrators. Compare mj_advance and mj_integratePos."""

from __future__ import annotations

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.activation_numpy import activation_owners, disabled_actuators, next_activation
from dovetail.plugins.shared.positions_numpy import move


def advance(model: ModelLike, data: DataLike, qacc: Array, act_dot: Array, qvel: Array | None = None) -> None:
    """Take act, qvel, qpos and time one step on; positions move with `qvel`, or with the new velocity."""
    timestep = model.opt.timestep
    if model.na and not model.opt.disableflags & DisableBit.ACTUATION:
        # Disabled actuators do not drive their activation, but actrange still holds for it.
        driven = ~disabled_actuators(model)[activation_owners(model)]
        data.act[:] = next_activation(model, data.act, act_dot * driven)
    data.qvel[:] += timestep * qacc
    move(model, data.qpos, data.qvel if qvel is None else qvel, timestep)
    data.time = data.time + timestep
    data.qacc_warmstart[:] = data.qacc

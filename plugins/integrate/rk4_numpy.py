"""The classical Runge-Kutta method of fourth order, in four evaluations of the forward dynamics.

After evaluations 0, 1 and 2 the state is set to the point where the next one is wanted; after evaluation 3
the state advances from where it began by the weighted mean of the four derivatives. qacc_warmstart stays as
it was until then. Needs per world, in data.extra: rk4:qpos0 (nq), rk4:qvel0 (nv), rk4:act0 (na), rk4:time0
(1), and the sums rk4:qvel (nv), rk4:qacc (nv), rk4:act_dot (na). Compare mj_RungeKutta.
"""

from __future__ import annotations

from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.integrate.advance_numpy import advance
from dovetail.plugins.shared.positions_numpy import move

WEIGHT = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
"""Share of each evaluation in the step."""

REACH = (1 / 2, 1 / 2, 1.0)
"""Fraction of the time step at which the next evaluation is wanted."""


def integrate(model: ModelLike, data: DataLike, evaluation: int) -> None:
    """Take in evaluation 0, 1, 2 or 3; after the last the state has advanced by one time step."""
    if evaluation == 0:
        remember_start(data)
    add_derivative(data, WEIGHT[evaluation])
    if evaluation < 3:
        visit(model, data, REACH[evaluation] * model.opt.timestep)
    else:
        return_to_start(data)
        extra = data.extra
        advance(model, data, extra["rk4:qacc"], extra["rk4:act_dot"], extra["rk4:qvel"])


def remember_start(data: DataLike) -> None:
    """Keep the state at the beginning of the step and clear the sums."""
    extra = data.extra
    extra["rk4:time0"][0] = data.time
    extra["rk4:qpos0"][:] = data.qpos
    extra["rk4:qvel0"][:] = data.qvel
    extra["rk4:act0"][:] = data.act
    for name in ("rk4:qvel", "rk4:qacc", "rk4:act_dot"):
        extra[name][:] = 0.0


def add_derivative(data: DataLike, weight: float) -> None:
    """Add the derivative of the state, as just evaluated, to the weighted sums."""
    extra = data.extra
    extra["rk4:qvel"][:] += weight * data.qvel
    extra["rk4:qacc"][:] += weight * data.qacc
    extra["rk4:act_dot"][:] += weight * data.act_dot


def visit(model: ModelLike, data: DataLike, duration: float) -> None:
    """Set the state to the start plus the latest derivative kept up for `duration`."""
    extra = data.extra
    velocity = data.qvel.copy()
    data.qpos[:] = extra["rk4:qpos0"]
    move(model, data.qpos, velocity, duration)
    data.qvel[:] = extra["rk4:qvel0"] + duration * data.qacc
    data.act[:] = extra["rk4:act0"] + duration * data.act_dot
    data.time = float(extra["rk4:time0"][0]) + duration


def return_to_start(data: DataLike) -> None:
    """Put back the state from which the step began."""
    extra = data.extra
    data.qpos[:] = extra["rk4:qpos0"]
    data.qvel[:] = extra["rk4:qvel0"]
    data.act[:] = extra["rk4:act0"]
    data.time = float(extra["rk4:time0"][0])

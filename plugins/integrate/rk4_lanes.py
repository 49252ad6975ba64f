"""The classical Runge-Kutta method of fourth order in lanes, in four evaluations of the forward dynamics.

After evaluations 0, 1 and 2 the state is set to the point where the next one is wanted; after evaluation 3 the
state advances from where it began by the weighted mean of the four derivatives. The fields rk4:* of the record hold
both, so that the evaluations need not run in one launch. Compare mj_RungeKutta.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.plugins.integrate.advance_lanes import advance, move
from dovetail.plugins.shared.ldl_lanes import copy

OUTER_WEIGHT, INNER_WEIGHT = 1 / 6, 1 / 3
"""Share of the first and last evaluations, and of the two between, in the step."""

HALF, WHOLE = 0.5, 1.0
"""Fraction of the time step at which the next evaluation is wanted: halfway twice, then at the end."""


SUMS = ("qvel", "qacc", "act_dot")
"""The derivatives that are summed; positions move with the sum of velocities."""


def integrate(k: Kernel, evaluation: Int) -> None:
    """Take in evaluation 0, 1, 2 or 3; after the last the state has advanced by one time step."""
    with k.when(evaluation == 0):
        remember_start(k)
    outer = (evaluation == 0) | (evaluation == 3)
    add_derivative(k, k.select(outer, OUTER_WEIGHT, INNER_WEIGHT))
    with k.when(evaluation < 3):
        visit(k, k.select(evaluation < 2, HALF, WHOLE) * k.model.opt.timestep)
    with k.otherwise():
        return_to_start(k)
        extra = k.data.extra
        advance(k, extra["rk4:qacc"], extra["rk4:act_dot"], extra["rk4:qvel"])


def remember_start(k: Kernel) -> None:
    """Keep the state at the beginning of the step and clear the sums."""
    d = k.data
    d.extra["rk4:time0"][0] = d.time
    for name in ("qpos", "qvel", "act"):
        copy(k, getattr(d, name), d.extra[f"rk4:{name}0"])
    for name in SUMS:
        total = d.extra[f"rk4:{name}"]
        with k.loop(0, total.shape[0]) as i:
            total[i] = 0.0


def add_derivative(k: Kernel, weight: Any) -> None:
    """Add the derivative of the state, as just evaluated, to the weighted sums."""
    for name in SUMS:
        total, derivative = k.data.extra[f"rk4:{name}"], getattr(k.data, name)
        with k.loop(0, total.shape[0]) as i:
            total[i] += weight * derivative[i]


def visit(k: Kernel, duration: Any) -> None:
    """Set the state to the start plus the latest derivative kept up for `duration`."""
    d = k.data
    copy(k, d.extra["rk4:qpos0"], d.qpos)
    move(k, d.qvel, duration)
    for name, rate in (("qvel", d.qacc), ("act", d.act_dot)):
        field, start = getattr(d, name), d.extra[f"rk4:{name}0"]
        with k.loop(0, field.shape[0]) as i:
            field[i] = start[i] + duration * rate[i]
    d.time = d.extra["rk4:time0"][0] + duration


def return_to_start(k: Kernel) -> None:
    """Put back the state from which the step began."""
    d = k.data
    d.time = d.extra["rk4:time0"][0]
    for name in ("qpos", "qvel", "act"):
        copy(k, d.extra[f"rk4:{name}0"], getattr(d, name))

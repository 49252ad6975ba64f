"""The classical Runge-Kutta method of fourth order in lanes, in four evaluations of the forward dynamics.

After evaluations 0, 1 and 2 the state is set to the point where the next one is wanted; after evaluation 3 the
state advances from where it began by the weighted mean of the four derivatives. Compare mj_RungeKutta.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.taichi.lanes import Field, Int, Kernel
from dovetail.plugins.factor_mass.ldl_taichi import copy
from dovetail.plugins.integrate.advance_taichi import advance, move

OUTER_WEIGHT, INNER_WEIGHT = 1 / 6, 1 / 3
"""Share of the first and last evaluations, and of the two between, in the step."""

HALF, WHOLE = 0.5, 1.0
"""Fraction of the time step at which the next evaluation is wanted: halfway twice, then at the end."""

STATE = {"qpos0": "nq", "qvel0": "nv", "act0": "na"}
SUMS = {"qvel": "nv", "qacc": "nv", "act_dot": "na"}


def integrate(k: Kernel, evaluation: Int) -> None:
    """Take in evaluation 0, 1, 2 or 3; after the last the state has advanced by one time step."""
    sums = {name: k.scratch(name, getattr(k.model, size)) for name, size in SUMS.items()}
    start = {name: k.scratch(name, getattr(k.model, size)) for name, size in STATE.items()}
    start["time0"] = k.scratch("time0", 1)
    with k.when(evaluation == 0):
        remember_start(k, start, sums)
    outer = (evaluation == 0) | (evaluation == 3)
    add_derivative(k, sums, k.select(outer, OUTER_WEIGHT, INNER_WEIGHT))
    with k.when(evaluation < 3):
        visit(k, start, k.select(evaluation < 2, HALF, WHOLE) * k.model.opt.timestep)
    with k.otherwise():
        return_to_start(k, start)
        advance(k, sums["qacc"], sums["act_dot"], sums["qvel"])


def remember_start(k: Kernel, start: dict[str, Field], sums: dict[str, Field]) -> None:
    """Keep the state at the beginning of the step and clear the sums."""
    d = k.data
    start["time0"][0] = d.time
    for field, kept in ((d.qpos, "qpos0"), (d.qvel, "qvel0"), (d.act, "act0")):
        copy(k, field, start[kept])
    for total in sums.values():
        with k.loop(0, total.shape[0]) as i:
            total[i] = 0.0


def add_derivative(k: Kernel, sums: dict[str, Field], weight: Any) -> None:
    """Add the derivative of the state, as just evaluated, to the weighted sums."""
    for name, total in sums.items():
        derivative = getattr(k.data, name)
        with k.loop(0, total.shape[0]) as i:
            total[i] += weight * derivative[i]


def visit(k: Kernel, start: dict[str, Field], duration: Any) -> None:
    """Set the state to the start plus the latest derivative kept up for `duration`."""
    d = k.data
    copy(k, start["qpos0"], d.qpos)
    move(k, d.qvel, duration)
    with k.loop(0, k.model.nv) as dof:
        d.qvel[dof] = start["qvel0"][dof] + duration * d.qacc[dof]
    with k.loop(0, k.model.na) as i:
        d.act[i] = start["act0"][i] + duration * d.act_dot[i]
    d.time = start["time0"][0] + duration


def return_to_start(k: Kernel, start: dict[str, Field]) -> None:
    """Put back the state from which the step began."""
    d = k.data
    d.time = start["time0"][0]
    for field, kept in ((d.qpos, "qpos0"), (d.qvel, "qvel0"), (d.act, "act0")):
        copy(k, start[kept], field)

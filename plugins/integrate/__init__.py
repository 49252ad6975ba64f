"""Advancing the state by a time step."""

from __future__ import annotations

from dovetail.implementation import data_field
from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings

_RK4_FIELDS = (
    data_field("rk4:time0", 1, unit="s", doc="Time at the start of the step."),
    data_field("rk4:qpos0", "nq", doc="qpos at the start of the step."),
    data_field("rk4:qvel0", "nv", doc="qvel at the start of the step."),
    data_field("rk4:act0", "na", doc="act at the start of the step."),
    data_field("rk4:qvel", "nv", doc="Weighted sum of velocities so far."),
    data_field("rk4:qacc", "nv", doc="Weighted sum of accelerations so far."),
    data_field("rk4:act_dot", "na", doc="Weighted sum of activation rates so far."),
)


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    common = {"writes": "time qpos qvel act qacc_warmstart"}
    euler = siblings(
        "integrate",
        "euler",
        function="integrate",
        default=True,
        reads="time qpos qvel act act_dot qacc qfrc_smooth qfrc_constraint M",
        summary="Semi-implicit Euler, joint damping implicit",
        **common,
    )
    rk4 = siblings(
        "integrate",
        "rk4",
        function="integrate",
        evaluations=4,
        reads="time qpos qvel act act_dot qacc qacc_warmstart",
        fields=_RK4_FIELDS,
        summary="Runge-Kutta of fourth order",
        **common,
    )
    return [*euler, *rk4]

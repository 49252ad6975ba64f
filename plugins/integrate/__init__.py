"""Advancing the state by a time step. Compare mj_Euler, mj_implicit and mj_RungeKutta.

`euler`, `implicit`, `implicitfast` and `rk4`, each on NumPy and in lanes; all end in `advance`, which moves
activations, velocities, positions and time. Derivatives of forces by velocity are in `shared.derivative`. Begin
with `euler_{numpy,lanes}.py`. Tests: `tests/stages/integrate`.
"""

from __future__ import annotations

import attrs

from dovetail.hookspecs.acceleration import FORCE_VELOCITY
from dovetail.implementation import data_field
from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings

_RK4_FIELDS = (
    data_field("rk4:time0", 1, unit="s", doc="Time at the start of the step."),
    data_field("rk4:qpos0", "nq", doc="qpos at the start of the step."),
    data_field("rk4:qvel0", "nv", doc="qvel at the start of the step."),
    data_field("rk4:act0", "na", doc="act at the start of the step."),
    data_field("rk4:qvel", "nv", doc="Weighted sum of velocities so far."),
    data_field("rk4:qacc", "nv", doc="Weighted sum of accelerations so far."),
    data_field("rk4:act_dot", "na", doc="Weighted sum of activation rates so far."),
)

_STATE = "time qpos qvel act qacc_warmstart"
_INPUTS = "time qpos act_dot qacc qfrc_smooth qfrc_constraint M"
_OF_BIAS = ("cdof_dot", "cinert", "crb")
"""What only the derivative of bias forces depends on."""

_ARMS = (
    "qvel ctrl act actuator_length actuator_velocity actuator_moment moment_rownnz moment_rowadr moment_colind "
    "ten_J ten_J_rownnz ten_J_rowadr ten_J_colind flexedge_J"
)
"""What derivatives of actuator and damping forces depend on."""

_IN_MEDIUM = "cvel cdof subtree_com xipos ximat geom_xpos geom_xmat"
"""What the derivative of fluid forces depends on."""


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [*_euler(), *_rk4(), *_implicit()]


def _euler() -> list[Implementation]:
    numpy, lanes = siblings(
        "integrate",
        "euler",
        function="integrate",
        default=True,
        reads="time qpos qvel act act_dot qacc qfrc_smooth qfrc_constraint M",
        writes=_STATE,
        summary="Semi-implicit Euler, joint damping implicit",
    )
    return [attrs.evolve(numpy, writes=f"{_STATE} qH qHDiagInv"), lanes]


def _rk4() -> list[Implementation]:
    return siblings(
        "integrate",
        "rk4",
        function="integrate",
        evaluations=4,
        # qacc_warmstart too: it is kept until the last evaluation.
        reads="time qpos qvel act act_dot qacc qacc_warmstart",
        writes=_STATE,
        fields=_RK4_FIELDS,
        summary="Runge-Kutta of fourth order",
    )


def _implicit() -> list[Implementation]:
    without_bias = " ".join(name for name in FORCE_VELOCITY.split() if name not in _OF_BIAS)
    return [
        Implementation(
            stage="integrate",
            name="implicit",
            backend="numpy",
            target="dovetail.plugins.integrate.implicit_numpy:integrate",
            reads=f"{_INPUTS} {FORCE_VELOCITY}",
            writes=f"{_STATE} qDeriv qLU",
            summary="Implicit in velocity, Coriolis forces too",
        ),
        Implementation(
            stage="integrate",
            name="implicitfast",
            backend="numpy",
            target="dovetail.plugins.integrate.implicitfast_numpy:integrate",
            reads=f"{_INPUTS} {without_bias}",
            writes=f"{_STATE} qDeriv qH qHDiagInv",
            summary="Implicit in velocity, except for Coriolis forces",
        ),
        Implementation(
            stage="integrate",
            name="implicitfast",
            backend="lanes",
            target="dovetail.plugins.integrate.implicitfast_lanes:integrate",
            reads=f"{_INPUTS} {_ARMS} {_IN_MEDIUM}",
            writes=_STATE,
            supports="trn.joint trn.jointinparent trn.tendon trn.site trn.slidercrank",
            summary="Implicit in velocity, except for Coriolis forces",
        ),
        Implementation(
            stage="integrate",
            name="implicit",
            backend="lanes",
            target="dovetail.plugins.integrate.implicit_lanes:integrate",
            reads=f"{_INPUTS} {_ARMS} {_IN_MEDIUM} {' '.join(_OF_BIAS)}",
            writes=_STATE,
            supports="trn.joint trn.jointinparent trn.tendon trn.site trn.slidercrank",
            summary="Implicit in velocity, Coriolis forces too",
        ),
    ]

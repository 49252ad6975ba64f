"""Derivatives by finite differences: of a step and of inverse dynamics. Compare mjd_transitionFD, mjd_inverseFD.

Positions are nudged and compared in the tangent space (nv numbers), so quaternions are no special case. The Data
given is left as it was. Differences of a smooth function have an error of about eps, or eps² if centred, plus
rounding of 1e-16/eps; where contacts make or break, derivatives do not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import Integrator
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.planning.plan import Plan
from dovetail.plugins.integrate import implicit_numpy, implicitfast_numpy
from dovetail.plugins.queries.inverse_dynamics import inverse_with
from dovetail.plugins.queries.partial import (
    ACCELERATION,
    OBSERVE,
    POSITION,
    VELOCITY,
    plan_of_one_world,
    run_stages,
    stages_of,
)
from dovetail.plugins.queries.positions import differentiate_pos, integrate_pos


@attrs.frozen(eq=False)
class Transition:
    """dx_next = A·dx + B·du and dsensor = C·dx + D·du, with x = (qpos in tangent space, qvel, act), u = ctrl."""

    A: Array
    B: Array
    C: Array
    D: Array

    def __iter__(self) -> Iterator[Array]:
        return iter((self.A, self.B, self.C, self.D))


@attrs.frozen(eq=False)
class InverseJacobians:
    """Derivatives of qfrc_inverse (f), sensordata (s) and qM (m) by qpos in tangent space (q), qvel (v) and qacc (a):
    row i is the derivative by input i, as MuJoCo has them."""

    DfDq: Array
    DfDv: Array
    DfDa: Array
    DsDq: Array
    DsDv: Array
    DsDa: Array
    DmDq: Array


# ---- a step ---------------------------------------------------------------------------------------------------


def transition_fd(model: ModelLike, data: DataLike, eps: float = 1e-6, centered: bool = False) -> Transition:
    """Linearise one step of one world (mjd_transitionFD).

    Controls are nudged only within their ctrlrange: forwards if possible, else backwards; not at all outside it,
    where the derivative is zero. While controls and activations are nudged, implicit integrators keep the matrix
    they had. One deviation: with `centered`, MuJoCo 3.4's D has the wrong sign; this one has not.
    """
    _refuse_rk4(model, "transition_fd")
    step = _NudgedStep(model, data)
    by_position = [step.slope(step.nudge_position(i), eps, centered) for i in range(model.nv)]
    by_velocity = [step.slope(step.nudge("qvel", i), eps, centered) for i in range(model.nv)]
    by_activation = [step.slope(step.nudge("act", i), eps, centered) for i in range(model.na)]
    by_control = [step.control_slope(i, eps, centered) for i in range(model.nu)]
    nx, ns = 2 * model.nv + model.na, int(model.nsensordata)
    states = _columns([*by_position, *by_velocity, *by_activation], nx + ns)
    controls = _columns(by_control, nx + ns)
    return Transition(states[:nx], controls[:nx], states[nx:], controls[nx:])


def _columns(slopes: list[Array], rows: int) -> Array:
    return np.array(slopes).reshape(-1, rows).T.copy()


def _refuse_rk4(model: ModelLike, name: str) -> None:
    if int(model.opt.integrator) == Integrator.RK4:
        raise ValueError(
            f"{name} does not support the integrator RK4; set model.opt.integrator to Euler, implicit or implicitfast"
        )


class _NudgedStep:
    """A step as a function of nudged inputs."""

    def __init__(self, model: Any, data: Any) -> None:
        self.model = model
        self.plan: Plan = plan_of_one_world(model, data)
        self.start = data.copy()
        self.base = data.copy()
        self._run(self.base, "qpos")
        self.work = self.base.copy()

    def nudge(self, field: str, index: int) -> Callable[[float], Any]:
        """The Data after a step with one number of a field changed, as a function of the change."""

        def stepped(change: float) -> Any:
            work = self._inputs()
            getattr(work, field)[index] += change
            return self._run(work, field)

        return stepped

    def nudge_position(self, dof: int) -> Callable[[float], Any]:
        """The same for a move of qpos along one dof."""
        along = np.eye(self.model.nv)[dof]

        def stepped(change: float) -> Any:
            work = self._inputs()
            work.qpos[:] = integrate_pos(self.model, work.qpos, along, change)
            return self._run(work, "qpos")

        return stepped

    def _inputs(self) -> Any:
        """The results of the unchanged step, with the state put back to its start."""
        self.work.copy_from(self.base)
        for name in ("time", "qpos", "qvel", "act", "ctrl", "qacc_warmstart", "plugin_state"):
            self.work.field(name)[...] = self.start.field(name)
        return self.work

    def _run(self, work: Any, nudged: str) -> Any:
        """Run the stages that depend on the nudged input, then integrate."""
        stages = ACCELERATION | OBSERVE
        if nudged in ("qvel", "qpos"):
            stages |= VELOCITY
        if nudged == "qpos":
            stages |= POSITION
        run_stages(self.plan, work, stages)
        advance = KEEPING_FACTORS.get(int(self.model.opt.integrator))
        if advance is not None and nudged in ("act", "ctrl"):
            advance(self.model, work)
        else:
            stages_of(self.plan, {"integrate"}).step(work)
        return work

    def slope(self, stepped: Callable[[float], Any], eps: float, centered: bool) -> Array:
        """Difference quotient of the next state and the sensors."""
        after = _StepOutcome(stepped(eps))
        before = _StepOutcome(stepped(-eps) if centered else self.base)
        return after.minus(self.model, before, 2.0 * eps if centered else eps)

    def control_slope(self, index: int, eps: float, centered: bool) -> Array:
        """The same for a control, which stays within its range."""
        value = float(self.start.ctrl[index])
        forwards, backwards = (self._allowed(index, value, value + change) for change in (eps, -eps))
        stepped = self.nudge("ctrl", index)
        if centered and forwards and backwards:
            return self.slope(stepped, eps, centered=True)
        if forwards:
            return self.slope(stepped, eps, centered=False)
        if backwards:
            return self.slope(stepped, -eps, centered=False)
        return np.zeros(2 * self.model.nv + self.model.na + int(self.model.nsensordata))

    def _allowed(self, index: int, *values: float) -> bool:
        low, high = self.model.actuator_ctrlrange[index]
        return not self.model.actuator_ctrllimited[index] or all(low <= v <= high for v in values)


KEEPING_FACTORS = {
    int(Integrator.IMPLICIT): implicit_numpy.advance_factored,
    int(Integrator.IMPLICITFAST): implicitfast_numpy.advance_factored,
}
"""Integrators with a matrix that depends on activations and controls: how to step with the one they have."""


class _StepOutcome:
    """What a step leads to, taken out of a Data that will be used again."""

    def __init__(self, data: DataLike) -> None:
        self.qpos = np.array(data.qpos)
        self.rest = np.concatenate([data.qvel, data.act, data.sensordata])

    def minus(self, model: ModelLike, other: _StepOutcome, divisor: float) -> Array:
        """Difference quotient: qpos in tangent space, qvel, act, sensordata."""
        moved = differentiate_pos(model, other.qpos, self.qpos, divisor)
        return np.concatenate([moved, (self.rest - other.rest) / divisor])


# ---- inverse dynamics -----------------------------------------------------------------------------------------


def inverse_fd(
    model: ModelLike, data: DataLike, eps: float = 1e-6, actuation: bool = False
) -> InverseJacobians:
    """Derivatives of inverse dynamics of one world by forward differences (mjd_inverseFD).

    With `actuation`, of qfrc_inverse − qfrc_actuator; actuator sensors then see the forces of the nudged state,
    while MuJoCo 3.4 computes those after the sensors, which show the evaluation before.
    """
    _refuse_rk4(model, "inverse_fd")
    if model.opt.noslip_iterations:
        raise ValueError(
            "inverse_fd does not support the noslip solver, whose forces do not follow from qacc; set "
            "model.opt.noslip_iterations to 0"
        )
    evaluate = _Inverse(model, data, actuation)
    by_acceleration = evaluate.slopes("qacc", eps)
    by_velocity = evaluate.slopes("qvel", eps)
    by_position = evaluate.slopes("qpos", eps)
    first, second = model.nv, model.nv + int(model.nsensordata)
    return InverseJacobians(
        DfDq=by_position[:, :first],
        DfDv=by_velocity[:, :first],
        DfDa=by_acceleration[:, :first],
        DsDq=by_position[:, first:second],
        DsDv=by_velocity[:, first:second],
        DsDa=by_acceleration[:, first:second],
        DmDq=by_position[:, second:],
    )


BEFORE_INVERSE = {"qacc": frozenset[str](), "qvel": VELOCITY, "qpos": POSITION | VELOCITY}
"""The stages that have to run again when an input changes."""


class _Inverse:
    """Inverse dynamics as a function of nudged inputs."""

    def __init__(self, model: Any, data: Any, actuation: bool) -> None:
        self.model, self.actuation = model, actuation
        self.plan: Plan = plan_of_one_world(model, data)
        self.base = data.copy()
        self.centre = self._outputs(self.base, "qpos")
        self.work = self.base.copy()

    def slopes(self, field: str, eps: float) -> Array:
        """Rows of difference quotients of (qfrc_inverse, sensordata, qM), one for each dof of the field."""
        rows = np.empty((self.model.nv, len(self.centre)))
        for dof in range(self.model.nv):
            self.work.copy_from(self.base)
            self._nudge(field, dof, eps)
            rows[dof] = (self._outputs(self.work, field) - self.centre) / eps
        return rows

    def _nudge(self, field: str, dof: int, eps: float) -> None:
        if field == "qpos":
            along = np.eye(self.model.nv)[dof]
            self.work.qpos[:] = integrate_pos(self.model, self.work.qpos, along, eps)
        else:
            getattr(self.work, field)[dof] += eps

    def _outputs(self, work: Any, nudged: str) -> Array:
        before = BEFORE_INVERSE[nudged] | ({"actuation"} if self.actuation else frozenset())
        inverse_with(self.plan, work, before)
        force = work.qfrc_inverse - (work.qfrc_actuator if self.actuation else 0.0)
        return np.concatenate([force, work.sensordata, work.qM])

"""Velocity derivatives are the derivatives of the forces, and implicit integrators do what they say with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from moving_models import machine
from numpy.typing import NDArray

import dovetail
from dovetail.contracts.enums import Integrator
from dovetail.plugins.derivative.analytic_numpy import derivative
from dovetail.plugins.queries.jacobian import full_m
from dovetail.plugins.queries.partial import VELOCITY, run_stages
from dovetail.plugins.shared.derivative.velocity_numpy import force_velocity
from dovetail.simulation import plan_for

Matrix = NDArray[np.float64]


def smooth_force(plan: Any, data: Any, velocity: Matrix) -> tuple[Matrix, Matrix]:
    """qfrc_actuator + qfrc_passive, and qfrc_bias, at another velocity."""
    changed = data.copy()
    changed.qvel[:] = velocity
    run_stages(plan, changed, VELOCITY | {"actuation"})
    return changed.qfrc_actuator + changed.qfrc_passive, np.array(changed.qfrc_bias)


def difference_quotients(plan: Any, data: Any, eps: float) -> tuple[Matrix, Matrix]:
    """Both forces' derivatives (nv, nv) by central differences."""
    columns = []
    for nudge in eps * np.eye(plan.model.nv):
        above, below = (smooth_force(plan, data, data.qvel + sign * nudge) for sign in (1.0, -1.0))
        columns.append([(a - b) / (2.0 * eps) for a, b in zip(above, below, strict=True)])
    force, bias = np.array(columns).transpose(1, 2, 0)
    return force, bias


@pytest.mark.parametrize("shape", ["none", "ellipsoid"])
@pytest.mark.parametrize("medium", ["vacuum", "windy"])
def test_derivatives_are_those_of_the_forces(medium: str, shape: str) -> None:
    """Where no clamp acts; the tiny spheres are left out because MINVAL spoils their derivatives, as in MuJoCo."""
    text = machine(medium, shape).replace(' forcerange="-.001 .001"', "").replace('size=".01"', 'size=".1"')
    text = text.replace(' actearly="true"', "")
    model = dovetail.loads(text)
    data = dovetail.make_data(model)
    rng = np.random.default_rng(4)
    data.qpos[:] += 0.2 * rng.normal(size=model.nq)
    data.qvel[:] = rng.normal(size=model.nv)
    data.act[:] = rng.uniform(size=model.na)
    data.ctrl[:] = rng.uniform(0.0, 0.1, size=model.nu)
    dovetail.forward(model, data)
    row = np.repeat(np.arange(model.nv), model.D_rownnz)
    force, bias = difference_quotients(plan_for(model, data), data, 1e-5)
    # Forces are at most cubic in velocity over short ranges: eps² of truncation, 1e-16/eps of rounding.
    assert_close(force_velocity(model, data), force[row, model.D_colind])
    derivative(model, data)
    assert_close(data.qDeriv, (force - bias)[row, model.D_colind])


def assert_close(ours: Matrix, expected: Matrix) -> None:
    np.testing.assert_allclose(ours, expected, atol=1e-8 * max(1.0, float(np.abs(expected).max())))


# ---- integrators


def stepped(model: Any, integrator: Integrator, seed: int = 0) -> Any:
    """A simulation after one step from a random state."""
    model.opt.integrator = int(integrator)
    sim = dovetail.Simulation(model)
    rng = np.random.default_rng(seed)
    sim.data.qpos[:] += 0.3 * rng.normal(size=model.nq)
    sim.data.qvel[:] = rng.normal(size=model.nv)
    sim.data.ctrl[:] = rng.uniform(0.0, 0.1, size=model.nu)
    sim.step()
    return sim


def dense(model: Any, values: Matrix) -> Matrix:
    """A matrix of the pattern D."""
    matrix = np.zeros((model.nv, model.nv))
    matrix[np.repeat(np.arange(model.nv), model.D_rownnz), model.D_colind] = values
    return matrix


def factors(model: Any, values: Matrix) -> tuple[Matrix, Matrix]:
    """U and L that share the pattern D."""
    both = dense(model, values)
    return np.triu(both, 1) + np.eye(model.nv), np.tril(both)


def test_factors_multiply_to_the_implicit_matrix() -> None:
    model = dovetail.loads(machine("windy", "ellipsoid"))
    sim = stepped(model, Integrator.IMPLICIT)
    upper, lower = factors(model, sim.data.qLU)
    wanted = full_m(model, sim.data) - model.opt.timestep * dense(model, sim.data.qDeriv)
    np.testing.assert_allclose(upper @ lower, wanted, atol=1e-12 * np.abs(wanted).max())


RAILS = """<mujoco><option timestep="0.05"><flag constraint="disable"/></option><worldbody>
  <body><joint name="x" type="slide" axis="1 0 0" damping="3"/><geom size=".1"/>
    <body pos="0 1 0"><joint name="y" type="slide" axis="1 2 0" damping="1"/><geom size=".1"/></body></body>
  </worldbody>
  <tendon><fixed name="both" damping="20"><joint joint="x" coef="1"/><joint joint="y" coef="-1"/></fixed></tendon>
  <actuator><velocity joint="y" kv="7"/></actuator></mujoco>"""


def test_both_implicit_integrators_agree_where_nothing_turns() -> None:
    """On rails there are no Coriolis forces, and every other derivative is symmetric."""
    model = dovetail.loads(RAILS)
    full, fast = (stepped(model, i) for i in (Integrator.IMPLICIT, Integrator.IMPLICITFAST))
    np.testing.assert_allclose(fast.data.qvel, full.data.qvel, rtol=1e-13)
    np.testing.assert_allclose(fast.data.qDeriv, full.data.qDeriv, rtol=1e-13)


def test_implicit_step_satisfies_the_backward_equation_of_linear_forces() -> None:
    """Dampers and servos are linear in velocity, so M·(v' − v) = h·f(v') exactly."""
    model = dovetail.loads(RAILS)
    sim = stepped(model, Integrator.IMPLICIT)
    data = sim.data.copy()
    momentum = full_m(model, data) @ (np.array(data.qvel) - stepped_from(model))
    dovetail.forward(model, data)
    np.testing.assert_allclose(momentum, model.opt.timestep * data.qfrc_smooth, atol=1e-12)


def stepped_from(model: Any) -> Matrix:
    """The velocity from which `stepped` starts."""
    rng = np.random.default_rng(0)
    rng.normal(size=model.nq)
    return rng.normal(size=model.nv)


@pytest.mark.parametrize("integrator", [Integrator.IMPLICIT, Integrator.IMPLICITFAST])
def test_stiff_damping_between_bodies_is_stable(integrator: Integrator) -> None:
    """A velocity servo a thousand times stiffer than explicit integration bears."""
    model = dovetail.loads(RAILS.replace('kv="7"', 'kv="1e5"').replace('damping="20"', 'damping="1e5"'))
    model.opt.integrator = int(integrator)
    sim = dovetail.Simulation(model)
    sim.data.qvel[:] = 1.0, -1.0
    for _ in range(20):
        before = np.abs(sim.data.qvel).max()
        sim.step()
        assert np.abs(sim.data.qvel).max() <= before


def test_euler_with_damping_is_implicitfast_if_only_joints_are_damped() -> None:
    model = dovetail.loads(RAILS.partition("<tendon>")[0] + "</mujoco>")
    euler, fast = (stepped(model, i) for i in (Integrator.EULER, Integrator.IMPLICITFAST))
    np.testing.assert_allclose(euler.data.qvel, fast.data.qvel, rtol=1e-14)
    np.testing.assert_allclose(euler.data.qH, fast.data.qH, rtol=1e-14)


@pytest.mark.parametrize("integrator", list(Integrator))
def test_quaternions_stay_of_unit_length(integrator: Integrator) -> None:
    model = dovetail.loads(machine("gas", "ellipsoid"))
    model.opt.integrator = int(integrator)
    sim = dovetail.Simulation(model)
    sim.data.qvel[:] = 3.0 * np.random.default_rng(2).normal(size=model.nv)
    sim.step(50)
    starts = [3, 7]  # the trunk's, then the ball's
    lengths = [np.linalg.norm(sim.data.qpos[i : i + 4]) for i in starts]
    np.testing.assert_allclose(lengths, 1.0, atol=1e-14)


SWING = """<mujoco><option gravity="{gravity}"><flag constraint="disable" energy="enable"/></option><worldbody>
  <body>{root}<geom type="capsule" size=".05 .3" pos=".2 0 -.3"/>
    <body pos=".3 0 -.5"><joint axis="1 1 0" damping="{damping}"/><geom size=".1" pos="0 .1 -.2"/></body></body>
  </worldbody></mujoco>"""


def run(model: Any, integrator: Integrator, timestep: float, duration: float = 0.32) -> Any:
    """The data at the end of a run from a fixed start, everything up to date."""
    model.opt.timestep, model.opt.integrator = timestep, int(integrator)
    sim = dovetail.Simulation(model)
    sim.data.qvel[:] = np.linspace(1.0, -2.0, model.nv)
    sim.step(round(duration / timestep))
    sim.forward()
    return sim.data


ORDERS = [(Integrator.EULER, 1), (Integrator.IMPLICIT, 1), (Integrator.IMPLICITFAST, 1), (Integrator.RK4, 4)]


@pytest.mark.parametrize(("integrator", "order"), ORDERS)
def test_error_falls_with_the_order_of_the_method(integrator: Integrator, order: int) -> None:
    model = dovetail.loads(SWING.format(gravity="0 0 -9.81", root='<joint axis="0 1 0"/>', damping=".1"))
    ends = [run(model, integrator, timestep) for timestep in (0.02, 0.01, 0.005)]
    coarse, middle, fine = (np.concatenate([end.qpos, end.qvel]) for end in ends)
    ratio = np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine)
    assert np.log2(ratio) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize(("integrator", "order"), ORDERS)
def test_drift_of_momentum_and_energy_falls_with_the_order_of_the_method(
    integrator: Integrator, order: int
) -> None:
    """Of a floating pair of bodies; a free joint costs RK4 two orders, so only the second is asked of it."""
    model = dovetail.loads(SWING.format(gravity="0 0 0", root="<freejoint/>", damping="0"))
    start = run(model, integrator, 0.01, duration=0.0)
    momentum, energy = full_m(model, start) @ start.qvel, start.energy.sum()
    drifts = []
    for timestep in (0.004, 0.002):
        end = run(model, integrator, timestep)
        drift = (full_m(model, end) @ end.qvel)[:3] - momentum[:3]
        drifts.append((np.linalg.norm(drift), abs(end.energy.sum() - energy)))
    falls = np.log2(np.array(drifts[0]) / np.array(drifts[1]))
    assert (falls > min(order, 2) - 0.3).all()

"""Sequential projection: a selectable solver whose contacts stay in their cones."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail.plugins.solve_constraints.sequential_numpy import project

BALL = """<mujoco><option cone="elliptic" gravity="{push} 0 -9.81"/><worldbody>
<geom type="plane" size="5 5 .1" condim="{condim}" friction="{mu} .02 .01"/>
<body pos="0 0 .0999"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide"/>
<geom size=".1" friction="{mu} .02 .01" condim="{condim}"/></body></worldbody></mujoco>"""


FRICTION = 0.5


def ball(solver: str, push: float, condim: int) -> dovetail.Simulation:
    """A ball that slides without turning, pushed sideways, after one evaluation."""
    model = dovetail.loads(BALL.format(push=push, condim=condim, mu=FRICTION))
    sim = dovetail.Simulation(model, stages={"solve_constraints": solver})
    model.opt.iterations, model.opt.tolerance = 2000, 1e-12
    sim.forward()
    return sim


@pytest.mark.parametrize("condim", [1, 3, 4, 6])
@pytest.mark.parametrize("push", [0.0, 2.0])
def test_a_contact_that_holds_gets_the_exact_force(push: float, condim: int) -> None:
    """At friction 0.5 a push of 2 m/s² is not enough to slip."""
    exact, projected = ball("newton", push, condim).data, ball("sequential", push, condim).data
    assert exact.nefc == condim
    np.testing.assert_allclose(projected.qacc, exact.qacc, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("condim", [3, 4, 6])
def test_a_contact_that_slips_obeys_coulombs_law(condim: int) -> None:
    """Its normal force is that without slip, its friction force the largest that this allows."""
    resting, slipping = ball("sequential", 0.0, condim).data, ball("sequential", 20.0, condim).data
    normal = resting.efc_force[0]
    assert normal > 0.0
    assert slipping.efc_force[0] == pytest.approx(normal)
    assert np.linalg.norm(slipping.efc_force[1:3]) == pytest.approx(FRICTION * normal)
    exact = ball("newton", 20.0, condim).data
    assert exact.efc_force[0] > 1.1 * normal


def test_the_plan_shows_the_choice() -> None:
    sim = ball("sequential", 0.0, 3)
    assert "sequential@numpy" in str(sim.plan.explain())


def test_projection_makes_the_normal_push() -> None:
    np.testing.assert_array_equal(project(np.array([-1.0, 3.0, 4.0]), np.array([1.0, 1.0])), np.zeros(3))


def test_projection_shortens_friction_in_its_direction() -> None:
    force = project(np.array([1.0, 3.0, 4.0]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(force, [1.0, 0.3, 0.4])


def test_projection_onto_an_ellipse() -> None:
    """With different friction along the two tangents, the scaled length is what counts."""
    friction = np.array([1.0, 0.5])
    force = project(np.array([2.0, 3.0, 3.0]), friction)
    assert np.linalg.norm(force[1:] / friction) == pytest.approx(2.0)
    assert force[1] == pytest.approx(force[2])


def test_projection_leaves_what_is_inside() -> None:
    inside = np.array([2.0, 0.3, -0.4])
    np.testing.assert_array_equal(project(inside, np.array([1.0, 1.0])), inside)


def test_projection_without_friction() -> None:
    np.testing.assert_array_equal(project(np.array([2.0, 0.3, 5.0]), np.array([1.0, 0.0])), [2.0, 0.3, 0.0])

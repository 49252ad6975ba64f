"""Acceptance of contact dimensions and friction cones, criterion by criterion.

    1  condim 1 has no tangential force            here
    2  condim 3 as before                          b_stage/test_constraints_along_trajectories (MuJoCo's condim 3)
    3  torsion is bounded; condim 4 stops a top    here
    4  rolling is bounded; condim 6 stops a ball   here
    5  condims coexist in a scene                  here; stages/test_constraint_rows
                                                   test_contacts_of_different_condim_stand_side_by_side
    6  the larger condim counts                    here; stages/test_contact_params
                                                   test_priority_equal_combines_and_takes_the_larger_condim
    7  the default is 3                            here
    8  isotropic friction: a circle                here
    9  anisotropic friction: an ellipse            here
    10 pyramidal cones                             here: MuJoCo has them, and so there is no warning nor another cone
    11 PGS converges with mixed condims            here; with elliptic cones as far as MuJoCo's does
    12 CG converges with mixed condims             here
    13 CG falls back on PGS                        here: MuJoCo has no such fall-back; CG ends by itself
    14 torsion row by finite differences           stages/test_constraint_rows_derivative test_elliptic_contact[4-…]
    15 rolling rows by finite differences          stages/test_constraint_rows_derivative test_elliptic_contact[6-…]
    16 all condim 1: as many rows as contacts      stages/test_constraint_rows
                                                   test_frictionless_contacts_have_one_row_each
    17 warm start                                  here: MuJoCo starts from accelerations, whatever the rows
    18 no contacts                                 stages/test_constraint_rows test_no_contact_no_rows; here a step

Other condims than 1, 3, 4 and 6 are refused when the file is read: here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.errors import MJCFError
from dovetail.plugins.queries.contact_force import contact_force

CONES = ["pyramidal", "elliptic"]
SCENE = """<mujoco><option timestep=".002" tolerance="1e-12" iterations="{iterations}" cone="{cone}" {option}>
  </option><worldbody><geom name="floor" type="plane" size="50 50 1" condim="1" friction="{friction}"/>{bodies}
  </worldbody><contact>{contact}</contact></mujoco>"""


def ball(geom: str, x: float = 0.0, z: float = 0.0995) -> str:
    return f'<body pos="{x} 0 {z}"><freejoint/><geom size=".1" {geom}/></body>'


def scene(
    *bodies: str,
    cone: str = "elliptic",
    contact: str = "",
    friction: str = ".5 .05 .02",
    option: str = "",
    iterations: int = 200,
) -> dovetail.Simulation:
    xml = SCENE.format(
        cone=cone,
        bodies="".join(bodies),
        contact=contact,
        friction=friction,
        option=option,
        iterations=iterations,
    )
    return dovetail.Simulation(dovetail.loads(xml))


def forces(sim: dovetail.Simulation) -> Any:
    """Forces of all contacts in their frames: normal, two tangents, torsion, two of rolling."""
    return np.array([contact_force(sim.model, sim.data, i) for i in range(sim.data.ncon)])


def thrown(sim: dovetail.Simulation, steps: int, **velocity: float) -> Any:
    """Run from a velocity (dofs by number); returns the forces of the first contact at each step that has one."""
    for dof, value in velocity.items():
        sim.data.qvel[int(dof[1:])] = value
    found = []
    for _ in range(steps):
        sim.step()
        if sim.data.ncon:
            found.append(forces(sim)[0])
    return np.array(found)


# ---- dimensions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cone", CONES)
def test_condim_ac1_frictionless_contact_has_no_tangential_force(cone: str) -> None:
    sim = scene(ball('condim="1"'), cone=cone)
    found = thrown(sim, 150, v0=1.0, v5=2.0)
    assert (found[:, 0] >= 0.0).all()
    assert found[-20:, 0].mean() == pytest.approx(9.81 * sim.model.body_mass[1], rel=1e-2)
    assert not found[:, 1:].any()
    assert sim.data.qvel[0] == pytest.approx(1.0, abs=1e-12)
    assert sim.data.qvel[5] == pytest.approx(2.0, abs=1e-12)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize(("condim", "stops"), [(3, False), (4, True)])
def test_condim_ac3_torsion_stops_a_spinning_top(cone: str, condim: int, stops: bool) -> None:
    """|torsion| is at most its friction times the normal force, and that is what brakes."""
    sim = scene(ball(f'condim="{condim}" friction=".5 .05 .02"'), cone=cone)
    found = thrown(sim, 100, v5=10.0)
    assert (np.abs(found[:, 3]) <= 0.05 * found[:, 0] * (1 + 1e-9)).all()
    if stops:
        assert abs(sim.data.qvel[5]) < 1e-2
        assert abs(found[0, 3]) == pytest.approx(0.05 * found[0, 0], rel=1e-9)  # slipping: at the bound
    else:
        assert sim.data.qvel[5] == pytest.approx(10.0, abs=1e-9)


@pytest.mark.by_default("6-True-elliptic", "3-False-pyramidal")
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize(("condim", "stops"), [(3, False), (6, True)])
def test_condim_ac4_rolling_friction_stops_a_ball(cone: str, condim: int, stops: bool) -> None:
    """|rolling moment| is at most its friction times the normal force; without it a ball rolls on."""
    sim = scene(ball(f'condim="{condim}" friction=".5 .05 .02"'), cone=cone)
    found = thrown(sim, 300, v0=0.3, v4=3.0)
    rolling = np.linalg.norm(found[:, 4:] / 0.02, axis=1)
    bound = found[:, 0] * (1.0 if cone == "elliptic" else np.sqrt(2.0))
    assert (rolling <= bound * (1 + 1e-9)).all()
    if stops:
        assert np.abs(sim.data.qvel[[0, 4]]).max() < 1e-2
    else:
        assert sim.data.qvel[0] > 0.27


@pytest.mark.parametrize("cone", CONES)
def test_condim_ac5_contacts_of_all_condims_act_by_themselves(cone: str) -> None:
    """Balls side by side move as each would alone."""
    start = {"v0": 0.5, "v3": 1.0, "v5": 8.0}
    together = scene(*(ball(f'condim="{n}"', x=2.0 * i) for i, n in enumerate((1, 3, 4, 6))), cone=cone)
    for body in range(4):
        for dof, value in start.items():
            together.data.qvel[6 * body + int(dof[1:])] = value
    together.step(60)
    assert sorted(together.data.contact.dim[: together.data.ncon]) == [1, 3, 4, 6]
    for i, condim in enumerate((1, 3, 4, 6)):
        alone = scene(ball(f'condim="{condim}"', x=2.0 * i), cone=cone)
        thrown(alone, 60, **start)
        np.testing.assert_allclose(together.data.qvel[6 * i : 6 * i + 6], alone.data.qvel, atol=1e-8)


@pytest.mark.parametrize(("mine", "wins"), [(1, 1), (3, 3), (4, 4), (6, 6)])
def test_condim_ac6_the_larger_condim_counts(mine: int, wins: int) -> None:
    """The floor has 1."""
    sim = scene(ball(f'condim="{mine}"'))
    sim.forward()
    assert sim.data.contact.dim[: sim.data.ncon].tolist() == [wins]


def test_condim_ac7_default_is_three() -> None:
    said, unsaid = scene(ball('condim="3"')), scene(ball(""))
    for sim in (said, unsaid):
        thrown(sim, 100, v0=1.0, v5=3.0)
    assert unsaid.data.contact.dim[0] == 3
    assert np.array_equal(said.data.qpos, unsaid.data.qpos)


# ---- cones ------------------------------------------------------------------------------------------------

SLED = '<body pos="0 0 .0995"><freejoint/><geom name="sled" type="box" size=".3 .3 .1"/></body>'


def braking(angle: float, contact: str = "") -> Any:
    """Friction on a sliding sled whose velocity makes an angle with the first tangent, over the normal force."""
    sim = scene(SLED, contact=contact, friction=".5")
    sim.step(60)
    tangent1, tangent2 = sim.data.contact.frame[0].reshape(3, 3)[1:]
    sim.data.qvel[:3] = 3.0 * (np.cos(angle) * tangent1 + np.sin(angle) * tangent2)
    sim.forward()
    total = forces(sim).sum(axis=0)
    return -total[1:3] / total[0]


@pytest.mark.parametrize("angle", np.linspace(0.0, np.pi, 7)[:-1])
def test_condim_ac8_isotropic_elliptic_cone_is_a_circle(angle: float) -> None:
    friction = braking(angle)
    assert np.linalg.norm(friction) == pytest.approx(1.0, rel=1e-2)  # floor .5, sled 1: the larger
    np.testing.assert_allclose(friction / np.linalg.norm(friction), [np.cos(angle), np.sin(angle)], atol=0.02)


@pytest.mark.parametrize("angle", [0.0, 0.3, 0.8, 1.2, np.pi / 2])
def test_condim_ac9_anisotropic_elliptic_cone_is_an_ellipse(angle: float) -> None:
    pair = '<pair geom1="floor" geom2="sled" friction="1 .5 .005 .0001 .0001"/>'
    along, across = braking(angle, pair)
    assert along**2 / 1.0 + across**2 / 0.25 == pytest.approx(1.0, rel=2e-2)


def test_condim_ac10_pyramidal_cones_are_pyramids() -> None:
    """Pushed along a tangent a box resists with the full friction; between the tangents with less: a square cone.
    No warning, and not the elliptic cone."""
    bounds = []
    for cone in CONES:
        sim = scene('<body pos="0 0 .0995"><freejoint/><geom type="box" size=".3 .3 .1"/></body>', cone=cone)
        sim.step(60)
        mass = sim.model.body_mass[1]
        sim.data.qfrc_applied[:2] = 3.0 * 9.81 * mass * np.sqrt(0.5)
        sim.forward()
        total = forces(sim).sum(axis=0)
        bounds.append(np.linalg.norm(total[1:3]) / total[0])
    pyramidal, elliptic = bounds
    assert elliptic == pytest.approx(1.0, rel=1e-3)
    assert pyramidal == pytest.approx(np.sqrt(0.5), rel=1e-2)


# ---- solvers ----------------------------------------------------------------------------------------------


def mixed_xml(solver: str, cone: str, iterations: int) -> str:
    """Balls of condims 1, 3, 4 and 6, on the floor and each on the next."""
    bodies = "".join(ball(f'condim="{n}"', x=0.19 * i) for i, n in enumerate((1, 3, 4, 6)))
    options = {"friction": ".5 .05 .02", "contact": "", "cone": cone, "option": f'solver="{solver}"'}
    return SCENE.format(bodies=bodies, iterations=iterations, **options)


def mixed(solver: str, cone: str, iterations: int, speed: float = 1.0) -> dovetail.Simulation:
    sim = dovetail.Simulation(dovetail.loads(mixed_xml(solver, cone, iterations)))
    sim.data.qvel[:] = speed * np.random.default_rng(0).normal(size=sim.model.nv)
    return sim


def assert_newtons(solver: str, cone: str, iterations: int) -> None:
    """The answer is Newton's, and the iterations are not used up."""
    ours, newton = mixed(solver, cone, iterations), mixed("Newton", cone, 200)
    ours.forward()
    newton.forward()
    assert ours.data.ncon == 7
    assert sorted(set(ours.data.contact.dim[:7].tolist())) == [1, 3, 4, 6]
    scale = np.abs(newton.data.qacc).max()
    np.testing.assert_allclose(ours.data.qacc, newton.data.qacc, atol=1e-5 * scale)
    assert 0 < ours.data.solver_niter[0] < iterations


def test_condim_ac11_pgs_converges_on_mixed_condims() -> None:
    assert_newtons("PGS", "pyramidal", 2000)


def test_condim_ac11_pgs_with_elliptic_cones_comes_to_rest_where_mujoco_does() -> None:
    """Near the answer but not there: a sweep moves a contact's normal and tangential forces one after the other, and
    where both are at the cone's edge neither can move alone. MuJoCo's sweeps stop at the same forces."""
    mujoco = pytest.importorskip("mujoco")
    ours, newton = mixed("PGS", "elliptic", 2000), mixed("Newton", "elliptic", 200)
    ours.forward()
    newton.forward()
    model = mujoco.MjModel.from_xml_string(mixed_xml("PGS", "elliptic", 2000))
    oracle = mujoco.MjData(model)
    oracle.qvel[:] = ours.data.qvel
    mujoco.mj_forward(model, oracle)
    scale = np.abs(oracle.qacc).max()
    np.testing.assert_allclose(ours.data.qacc, oracle.qacc, atol=1e-9 * scale)
    assert ours.data.solver_niter[0] == oracle.solver_niter[0] < 2000
    np.testing.assert_allclose(ours.data.qacc, newton.data.qacc, atol=0.4 * scale)


@pytest.mark.parametrize("cone", CONES)
def test_condim_ac12_conjugate_gradients_converge_on_mixed_condims(cone: str) -> None:
    assert_newtons("CG", cone, 1000)


def test_condim_ac13_conjugate_gradients_end_by_themselves() -> None:
    """One iteration is one iteration: the answer is rougher, and no other solver takes over."""
    rough, fine = mixed("CG", "elliptic", 1), mixed("CG", "elliptic", 1000)
    rough.forward()
    fine.forward()
    assert rough.data.solver_niter[0] == 1
    assert np.isfinite(rough.data.qacc).all()
    assert np.abs(rough.data.qacc - fine.data.qacc).max() > 1e-3
    assert "cg@numpy" in rough.plan.explain()


# ---- edges ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cone", CONES)
def test_condim_ac17_a_warm_start_saves_iterations(cone: str) -> None:
    sim = mixed("Newton", cone, 200)
    sim.forward()
    cold, qacc = int(sim.data.solver_niter.sum()), np.array(sim.data.qacc)
    sim.data.qacc_warmstart[:] = qacc
    sim.forward()
    assert sim.data.solver_niter.sum() <= min(1, cold - 1)
    np.testing.assert_allclose(sim.data.qacc, qacc, atol=1e-9 * np.abs(qacc).max())


@pytest.mark.parametrize("cone", CONES)
def test_condim_ac17_a_warm_start_survives_another_condim(cone: str) -> None:
    """It is an acceleration, so rows may come, go and change dimension: the answer is that of a cold start."""
    cold, warm = (mixed("Newton", cone, 200, speed=0.02) for _ in range(2))
    for sim in (cold, warm):
        sim.step(5)
        sim.model.geom_condim[1:] = (3, 4, 6, 1)
    cold.data.qacc_warmstart[:] = 0.0
    cold.forward()
    warm.forward()
    assert set(warm.data.contact.dim[: warm.data.ncon].tolist()) == {1, 3, 4, 6}
    scale = np.abs(cold.data.qacc).max()
    np.testing.assert_allclose(warm.data.qacc, cold.data.qacc, atol=1e-7 * scale)


def test_condim_ac18_a_step_without_contacts() -> None:
    sim = scene(ball("", z=5.0))
    sim.step(3)
    assert (sim.data.ncon, sim.data.nefc) == (0, 0)
    assert sim.data.qvel[2] == pytest.approx(-9.81 * 0.006, rel=1e-12)


@pytest.mark.parametrize("condim", [0, 2, 5, 7, -1])
def test_condim_other_dimensions_are_refused(condim: int) -> None:
    with pytest.raises(MJCFError, match="condim"):
        scene(ball(f'condim="{condim}"'))

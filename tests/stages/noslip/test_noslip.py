"""The no-slip pass gives mj_solNoSlip's forces after any solver, and stops slip."""

from __future__ import annotations

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from constraint_zoo import shaken, zoo  # noqa: E402
from implementations import How, assert_mujocos, implementations  # noqa: E402
from solver_reference import SOLVERS, answer_error, copied, error, solved  # noqa: E402
from yard import WARMUP, some_switched_off, yard  # noqa: E402

from dovetail.plugins.noslip.gauss_seidel_numpy import noslip  # noqa: E402

SLOW_YARDS = [pytest.param(name, marks=pytest.mark.slow) for name in ("pyramidal 3 4", "elliptic 4 6")]


@pytest.mark.covering(2)
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("condim", [1, 3, 6])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("solver", ["newton", "pgs"])
def test_answer_and_iterations_are_mujocos(solver: str, cone: str, condim: int, jacobian: str) -> None:
    mj_model = zoo(f'cone="{cone}" jacobian="{jacobian}" noslip_iterations="4"', condim)
    mj_model.opt.solver = SOLVERS[solver][0]
    for expected in shaken(mj_model):
        data = solved(mj_model, expected, solver)
        assert answer_error(data, expected) < 1e-10
        np.testing.assert_array_equal(data.solver_niter, expected.solver_niter)
        made = slice(0, data.solver_niter[0])
        assert error(data.solver.improvement[made], expected.solver.improvement[made]) < 1e-9


def test_the_answer_after_conjugate_gradients_is_mujocos() -> None:
    """Started from slightly other forces, for conjugate gradients magnify rounding."""
    mj_model = zoo('cone="elliptic" solver="CG" tolerance="0" iterations="200" noslip_iterations="5"')
    for expected in shaken(mj_model):
        assert answer_error(solved(mj_model, expected, "cg"), expected) < 1e-4


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_a_block_on_a_slope_stops_creeping(cone: str) -> None:
    """It can only slide, so that its acceleration is that of its contacts."""
    mj_model = mujoco.MjModel.from_xml_string(f"""<mujoco><option cone="{cone}" gravity="3 0 -9"/><worldbody>
    <geom type="plane" size="3 3 .1"/>
    <body pos="0 0 .0995"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide"/>
    <geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>""")
    expected = mujoco.MjData(mj_model)
    mujoco.mj_forward(mj_model, expected)
    creeping = float(solved(mj_model, expected, "newton").qacc[0])
    mj_model.opt.noslip_iterations = 50
    mujoco.mj_forward(mj_model, expected)
    data = solved(mj_model, expected, "newton")
    assert creeping > 0.01
    assert abs(data.qacc[0]) < 1e-6 * creeping
    assert answer_error(data, expected) < 1e-9


def test_nothing_is_done_without_constraints() -> None:
    mj_model = mujoco.MjModel.from_xml_string(
        "<mujoco><option noslip_iterations='3'/><worldbody>"
        "<body><joint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    expected = mujoco.MjData(mj_model)
    mujoco.mj_forward(mj_model, expected)
    model, data = copied(mj_model, expected)
    data.qacc[:] = 1.0
    noslip(model, data)
    assert (data.qacc == 1.0).all()


@pytest.mark.parametrize("name", ["elliptic 3 3", *SLOW_YARDS])
@pytest.mark.parametrize("solver", ["PGS", pytest.param("Newton", marks=pytest.mark.slow)])
@pytest.mark.parametrize("how", implementations("noslip"))
def test_every_implementation_has_mujocos_accelerations(how: How, solver: str, name: str) -> None:
    """Newton's tolerance is tight because MuJoCo finds its own minimum, to which the pass then adds."""
    assert_mujocos(
        yard(name, solver=solver, noslip_iterations=4, tolerance=1e-14 if solver == "Newton" else 1e-8),
        "noslip",
        how,
        seeds=1,
        warmup=WARMUP,
        prepare=some_switched_off,
        fields=("qacc", "qfrc_constraint"),
        others={"solve_constraints": f"{solver.lower()}@{how.label.partition('@')[2]}"},
        tolerance=1e-8 if solver == "Newton" else 1e-10,
    )

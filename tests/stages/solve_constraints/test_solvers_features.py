"""All kinds of constraint rows at once: every solver gives MuJoCo's answer, iterations and statistics."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from constraint_zoo import shaken, zoo  # noqa: E402
from solver_reference import SOLVERS, answer_error, copied, error, solved  # noqa: E402

from dovetail.contracts.enums import DisableBit  # noqa: E402

TOLERANCE = {"newton": 1e-11, "cg": 1e-3, "pgs": 1e-11}
"""Conjugate gradients magnify rounding on these stiff equalities (see `test_conjugate_gradients_when_converged`)."""


@pytest.mark.covering(2)
@pytest.mark.parametrize("impratio", [1, 5])
@pytest.mark.parametrize("condim", [1, 3, 6])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_answers_are_mujocos(solver: str, cone: str, condim: int, impratio: int) -> None:
    model = zoo(
        f'solver="{solver.upper() if solver != "newton" else "Newton"}" cone="{cone}" impratio="{impratio}"',
        condim,
    )
    for expected in shaken(model):
        assert answer_error(solved(model, expected, solver), expected) < TOLERANCE[solver]


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_statistics_of_newton_are_mujocos(cone: str, jacobian: str) -> None:
    model = zoo(f'cone="{cone}" jacobian="{jacobian}"')
    for expected in shaken(model):
        data = solved(model, expected, "newton")
        np.testing.assert_array_equal(data.solver_niter, expected.solver_niter)
        islands = range(expected.nisland)
        np.testing.assert_array_equal(data.solver_nnz[islands], expected.solver_nnz[islands])
        for island in islands:
            made = slice(200 * island, 200 * island + data.solver_niter[island])
            for name in ("nactive", "nchange", "neval", "nupdate"):
                np.testing.assert_array_equal(
                    getattr(data.solver, name)[made], getattr(expected.solver, name)[made], err_msg=name
                )
            for name in ("improvement", "gradient"):
                actual, theirs = getattr(data.solver, name)[made], getattr(expected.solver, name)[made]
                assert error(actual, theirs) < 1e-9, name


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_statistics_of_pgs_are_mujocos(cone: str, jacobian: str) -> None:
    model = zoo(f'solver="PGS" cone="{cone}" jacobian="{jacobian}"')
    for expected in shaken(model):
        data = solved(model, expected, "pgs")
        np.testing.assert_array_equal(data.solver_niter, expected.solver_niter)
        assert data.solver_nnz[0] == expected.solver_nnz[0]
        made = slice(0, data.solver_niter[0])
        assert error(data.solver.improvement[made], expected.solver.improvement[made]) < 1e-9


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("ratio", [0.0, 0.5])
def test_the_dual_matrix_is_mujocos(ratio: float, jacobian: str) -> None:
    model = zoo(f'solver="PGS" jacobian="{jacobian}"', ratio=ratio)
    for expected in shaken(model):
        data = solved(model, expected, "pgs")
        nefc = expected.nefc
        rows = np.repeat(np.arange(nefc), data.efc_AR_rownnz[:nefc])
        actual = np.zeros((nefc, nefc))
        actual[rows, data.efc_AR_colind[: data.nA]] = data.efc_AR[: data.nA]
        if jacobian == "sparse":
            assert data.nA == expected.nA
            np.testing.assert_array_equal(data.efc_AR_colind[: data.nA], expected.efc_AR_colind)
            theirs = np.zeros((nefc, nefc))
            theirs[rows, expected.efc_AR_colind] = expected.efc_AR
        else:
            theirs = expected.efc_AR.reshape(nefc, nefc)
        assert error(actual, theirs) < 1e-12
        assert error(data.efc_b[:nefc], expected.efc_b) < 1e-12


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_conjugate_gradients_when_converged(cone: str) -> None:
    model = zoo(f'solver="Newton" cone="{cone}" tolerance="0" iterations="50"')
    for expected in shaken(model):
        longer = copy(model)
        longer.opt.iterations = 400
        assert answer_error(solved(longer, expected, "cg"), expected) < 1e-5


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("flag", [DisableBit.WARMSTART, DisableBit.ISLAND])
def test_answers_are_mujocos_under_every_flag(flag: DisableBit, solver: str) -> None:
    model = zoo('cone="elliptic"')
    model.opt.solver = SOLVERS[solver][0]
    model.opt.disableflags |= int(flag)
    for expected in shaken(model):
        data = solved(model, expected, solver)
        assert answer_error(data, expected) < TOLERANCE[solver]
        if solver != "cg":
            np.testing.assert_array_equal(data.solver_niter, expected.solver_niter)


@pytest.mark.parametrize("iterations", [0, 1, 3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_answers_after_few_iterations_are_mujocos(solver: str, iterations: int) -> None:
    """The path, not only its end, is MuJoCo's."""
    model = zoo(f'iterations="{iterations}" cone="elliptic"')
    model.opt.solver = SOLVERS[solver][0]
    for expected in shaken(model):
        assert answer_error(solved(model, expected, solver), expected) < 1e-9


@pytest.mark.parametrize("ls_iterations", [1, 3])
def test_few_line_search_evaluations(ls_iterations: int) -> None:
    model = zoo(f'ls_iterations="{ls_iterations}" cone="elliptic"')
    for expected in shaken(model):
        data = solved(model, expected, "newton")
        np.testing.assert_array_equal(data.solver_niter, expected.solver_niter)
        assert answer_error(data, expected) < 1e-9


def test_cone_hessians_at_the_answer() -> None:
    model = zoo('cone="elliptic"')
    compared = 0
    for expected in shaken(model):
        data = solved(model, expected, "newton")
        coned = np.unique(data.efc_id[: data.nefc][data.efc_state[: data.nefc] == 4])
        for contact in coned.tolist():
            dim = int(data.contact.dim[contact])
            actual = data.contact.H[contact, : dim * dim]
            assert error(actual, expected.contact.H[contact, : dim * dim]) < 1e-9
            compared += 1
    assert compared


def test_nothing_to_solve_leaves_the_smooth_acceleration() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    expected = mujoco.MjData(model)
    mujoco.mj_forward(model, expected)
    for solver in SOLVERS:
        data = solved(model, expected, solver)
        np.testing.assert_array_equal(data.qacc, expected.qacc_smooth)
        assert not data.qfrc_constraint.any()
        assert not data.solver_niter.any()


def test_a_copy_holds_what_the_solvers_read() -> None:
    """The tests' own copying: without it a solver would have nothing to solve."""
    model = zoo()
    expected = next(shaken(model))
    _, data = copied(model, expected)
    dense = np.zeros((data.nefc, model.nv))
    dense[np.repeat(np.arange(data.nefc), data.efc_J_rownnz[: data.nefc]), data.efc_J_colind[: data.nJ]] = (
        data.efc_J[: data.nJ]
    )
    np.testing.assert_array_equal(dense, expected.efc_J.reshape(data.nefc, model.nv))

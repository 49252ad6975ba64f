"""Constraint rows and forces of every Gymnasium and dm_control model along a trajectory of MuJoCo's.

MuJoCo's state is injected before each comparison. Rows agree to 1e-10. Accelerations and forces agree to 1e-8 when
Newton's method goes on to 1e-14, and to 1e-6 with the model's own settings.

CG and PGS are compared where MuJoCo's defaults (100 iterations, tolerance 1e-8) end them, which need not be the
optimum: the iterates themselves agree to 1e-8 (measured 1e-10 at worst). Asked for 1e-14, CG stops within rounding of
the last improvements, in MuJoCo too: moving its start by 1e-15 changes the number of iterations and qacc by 5e-6.

Contacts of curved convex shapes are MuJoCo's own: it finds them by an iteration in which the last bit of a pose moves
the normal by 1e-5 and more, so that rows could not be compared to 1e-10. test_contacts_along_trajectories compares
those contacts themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import robots

import dovetail
from dovetail.compare.errors import relative_error
from dovetail.contracts.enums import Cone, GeomType, Jacobian, Solver
from dovetail.contracts.types import Data, Model
from dovetail.plugins.narrowphase import convex_numpy

mujoco = pytest.importorskip("mujoco")

ROW_INTEGERS = ("efc_type", "efc_id")
ROWS = (
    *("efc_pos", "efc_margin", "efc_frictionloss", "efc_diagApprox", "efc_KBIP", "efc_D", "efc_R"),
    *("efc_vel", "efc_aref"),
)
SOLVED = ("qacc", "qfrc_constraint")


@contextmanager
def options(models: tuple[Any, ...], **values: float) -> Iterator[None]:
    """Both models with other options for a while."""
    before = [{name: getattr(model.opt, name) for name in values} for model in models]
    try:
        for model in models:
            for name, value in values.items():
                setattr(model.opt, name, value)
        yield
    finally:
        for model, old in zip(models, before, strict=True):
            for name, value in old.items():
                setattr(model.opt, name, value)


def dense(data: Any, nv: int) -> Any:
    """efc_J of an MjData or a Data, sparse by row, as a dense matrix."""
    matrix = np.zeros((data.nefc, nv))
    for row in range(data.nefc):
        start, count = data.efc_J_rowadr[row], data.efc_J_rownnz[row]
        matrix[row, data.efc_J_colind[start : start + count]] = data.efc_J[start : start + count]
    return matrix


# ---- contacts of curved shapes ------------------------------------------------------------------------------

CURVED = {int(GeomType.ELLIPSOID), int(GeomType.CYLINDER)}
CLOSED_FORM = {int(GeomType.PLANE), int(GeomType.SPHERE)}
"""With these even curved shapes touch where a formula says."""


def found_by_iteration(model: Model, geoms: Any) -> bool:
    kinds = {int(model.geom_type[geom]) for geom in geoms}
    return bool(kinds & CURVED) and not kinds & CLOSED_FORM


class Beside:
    """Our simulation of a model, taking from an MjData the state and the contacts of curved shapes."""

    def __init__(self, model: Model) -> None:
        self.oracle: Any = None
        self.simulation = dovetail.Simulation(model, stages={"narrowphase": self._narrowphase()})

    def _narrowphase(self) -> Callable[..., None]:
        def narrowphase(model: Model, data: Data, parts: Mapping[str, Any]) -> None:
            convex_numpy.narrowphase(model, data, parts)
            theirs = self.oracle.contact
            for index in range(min(data.ncon, self.oracle.ncon)):
                if found_by_iteration(model, data.contact.geom[index]):
                    for field in ("dist", "pos", "frame"):
                        getattr(data.contact, field)[index] = getattr(theirs, field)[index]

        return narrowphase

    def forward(self, oracle: Any) -> Data:
        """Everything that follows from MuJoCo's state."""
        self.oracle = oracle
        robots.inject(self.simulation.data, oracle)
        self.simulation.forward()
        return self.simulation.data


# ---- comparisons --------------------------------------------------------------------------------------------


def assert_same_rows(model: Model, ours: Any, theirs: Any) -> None:
    assert [getattr(ours, n) for n in ("ne", "nf", "nl", "nefc")] == [
        getattr(theirs, n) for n in ("ne", "nf", "nl", "nefc")
    ]
    for field in ROW_INTEGERS:
        assert np.array_equal(getattr(ours, field)[: ours.nefc], getattr(theirs, field)), field
    for field in ROWS:
        assert relative_error(getattr(ours, field)[: ours.nefc], getattr(theirs, field)) < 1e-10, field
    assert relative_error(dense(ours, model.nv), dense(theirs, model.nv)) < 1e-10


def worst_solution_errors(name: str, steps: int, every: int, **settings: float) -> dict[str, float]:
    """Compare rows at every visited state; the largest error of what the solver found."""
    model, oracle_model = robots.ours(name), robots.theirs(name)
    worst = dict.fromkeys((*SOLVED, "efc_force"), 0.0)
    with options((model, oracle_model), jacobian=int(Jacobian.SPARSE), **settings):
        beside = Beside(model)
        for oracle in robots.trajectory(oracle_model, steps, every=every):
            mujoco.mj_forward(oracle_model, oracle)
            data = beside.forward(oracle)
            assert_same_rows(model, data, oracle)
            for field in SOLVED:
                error = relative_error(getattr(data, field), getattr(oracle, field))
                worst[field] = max(worst[field], error)
            error = relative_error(data.efc_force[: data.nefc], oracle.efc_force)
            worst["efc_force"] = max(worst["efc_force"], error)
    return worst


CONVERGED = {"tolerance": 1e-14, "iterations": 500}
ITERATED = {"tolerance": 1e-8, "iterations": 100}
QUICK = [
    *(
        "gymnasium/ant",
        "gymnasium/half_cheetah",
        "gymnasium/humanoid",
        "gymnasium/pusher",
        "gymnasium/walker2d",
    ),
    *("suite/ball_in_cup", "suite/finger", "suite/hopper", "suite/humanoid", "suite/walker"),
]
"""The default run; the slow one takes all models."""
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in robots.FILES]


@pytest.mark.parametrize("cone", Cone, ids=lambda c: c.name.lower())
@pytest.mark.parametrize("name", NAMES)
def test_converged_newton_is_mujocos(name: str, cone: Cone) -> None:
    worst = worst_solution_errors(name, 200, 25, solver=Solver.NEWTON, cone=cone, **CONVERGED)
    assert max(worst.values()) < 1e-8, worst


@pytest.mark.parametrize("name", NAMES)
def test_answers_with_the_models_own_settings_are_mujocos(name: str) -> None:
    worst = worst_solution_errors(name, 200, 25)
    assert max(worst.values()) < 1e-6, worst


@pytest.mark.parametrize("solver", [Solver.CG, Solver.PGS], ids=lambda s: s.name.lower())
@pytest.mark.parametrize("name", [name for name in QUICK if name in robots.FILES])
def test_other_solvers_as_far_as_they_go(name: str, solver: Solver) -> None:
    worst = worst_solution_errors(name, 200, 40, solver=solver, **ITERATED)
    assert max(worst.values()) < 1e-8, worst


@pytest.mark.slow
@pytest.mark.parametrize("cone", Cone, ids=lambda c: c.name.lower())
@pytest.mark.parametrize("solver", Solver, ids=lambda s: s.name.lower())
@pytest.mark.parametrize("name", robots.FILES)
def test_every_solver_and_cone(name: str, solver: Solver, cone: Cone) -> None:
    settings = CONVERGED if solver == Solver.NEWTON else ITERATED
    worst = worst_solution_errors(name, 200, 10, solver=solver, cone=cone, **settings)
    assert max(worst.values()) < 1e-8, worst

"""Every implementation of every solver beside MuJoCo's: every kind of row, both cones, iteration by iteration."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from implementations import How, Scene, assert_mujocos, computed, errors, implementations, scene
from row_zoo import zoo_text
from yard import WARMUP, some_switched_off, yard

PYRAMIDS, CONES = "pyramidal 3 4", "elliptic 3 3"
FIELDS = ("qacc", "qfrc_constraint")
SOLVERS = ("newton", "cg", "pgs")
TOLERANCE = {"newton": 1e-8, "cg": 1e-8, "pgs": 1e-10}
"""Largest error relative to the largest number of a world's field. Conjugate gradients and sweeps stop short of the
minimum, so both engines must take the same steps. Measured: 9e-14, 4e-9, 5e-15."""
LAST_STEP = 1e-4
"""The same for the few worlds where rounding decides whether conjugate gradients take a step more. Measured: 4e-6."""
MINIMUM = 1e-6
"""Where both go on until nothing is gained any more: a minimum is only known to the root of the rounding."""
TIGHT = 1e-14
"""Tolerance of Newton's method: MuJoCo solves islands one by one, so that at a looser one both stop at different
places, each right within the tolerance."""
SINGLE = {"newton": 1e-4, "cg": 1e-3, "pgs": 1e-4}
"""In single precision. Measured: 6e-6, 2e-4 and 2e-5."""


def each(*solvers: str) -> Any:
    """Parametrises over solvers and their implementations."""
    return pytest.mark.parametrize(
        ("solver", "how"),
        [
            pytest.param(solver, *case.values, id=case.id, marks=case.marks)
            for solver in solvers
            for case in implementations("solve_constraints", solver)
        ],
    )


def text_of(solver: str, name: str, flags: str = "", **option: Any) -> str:
    """A yard for a solver; conjugate gradients of MuJoCo's solve all islands at once, as lanes do."""
    given = {"newton": {"solver": "Newton", "tolerance": TIGHT}}.get(solver, {"solver": solver.upper()})
    return yard(name, f'{flags} island="{"disable" if solver == "cg" else "enable"}"', **{**given, **option})


def worlds(text: str) -> Scene:
    return scene(text, 0, WARMUP, some_switched_off)


def many_rows(cone: str) -> Scene:
    return scene(zoo_text(cone, 4, tolerance=TIGHT), 0, 90)


def assert_solved(given: Scene, solver: str, how: How, quantile: float = 1.0, **settings: Any) -> None:
    tolerance = SINGLE[solver] if settings.get("precision") == "f32" else TOLERANCE[solver]
    found = errors(given, *computed(given, "solve_constraints", how, **settings))
    for name in FIELDS:
        assert np.quantile(found[name], quantile) <= tolerance, (name, found[name])
        assert max(found[name]) <= max(tolerance, LAST_STEP if quantile < 1 else 0), (name, found[name])


def test_the_states_have_every_kind_of_row() -> None:
    for name, kinds in ((PYRAMIDS, {0, 1, 3, 5, 6}), (CONES, {0, 1, 3, 5, 7})):
        given = worlds(text_of("pgs", name))
        assert {int(kind) for data in given.worlds for kind in data.efc_type} == kinds
        assert max(data.solver_niter[0] for data in given.worlds) > 20
    zoos = [many_rows(cone) for cone in ("pyramidal", "elliptic")]
    assert {int(kind) for data in zoos[0].worlds for kind in data.efc_type} == {0, 1, 2, 3, 4, 5, 6}
    assert {int(dim) for data in zoos[1].worlds for dim in data.contact.dim} >= {1, 4, 6}


@pytest.mark.parametrize("name", [PYRAMIDS, CONES, pytest.param("elliptic 4 6", marks=pytest.mark.slow)])
@each("cg", "pgs")
def test_accelerations_are_mujocos(name: str, solver: str, how: How) -> None:
    assert_solved(worlds(text_of(solver, name)), solver, how, quantile=0.75 if solver == "cg" else 1.0)


@pytest.mark.parametrize("cone", ["elliptic", pytest.param("pyramidal", marks=pytest.mark.slow)])
@each("newton")
def test_accelerations_are_mujocos_with_very_many_rows(cone: str, solver: str, how: How) -> None:
    assert_solved(many_rows(cone), solver, how)


@pytest.mark.parametrize("name", [PYRAMIDS, CONES])
@pytest.mark.parametrize("iterations", [0, 1, 3])
@each("pgs")
def test_every_sweep_is_mujocos(name: str, iterations: int, solver: str, how: How) -> None:
    """Without sweeps, what remains is the choice between last step's forces and none."""
    assert_solved(worlds(text_of(solver, name, iterations=iterations)), solver, how)


@pytest.mark.parametrize("name", [PYRAMIDS, CONES])
@pytest.mark.parametrize("iterations", [1, 2, 5])
@each("cg")
def test_every_iteration_is_mujocos(name: str, iterations: int, solver: str, how: How) -> None:
    assert_solved(worlds(text_of(solver, name, iterations=iterations)), solver, how)


@pytest.mark.parametrize("name", [PYRAMIDS, CONES])
@each("pgs")
def test_a_cold_start_is_mujocos(name: str, solver: str, how: How) -> None:
    warm, cold = (worlds(text_of(solver, name, f'warmstart="{able}"')) for able in ("enable", "disable"))
    assert [data.solver_niter[0] for data in warm.worlds] != [data.solver_niter[0] for data in cold.worlds]
    assert_solved(cold, solver, how)


@pytest.mark.covering
@pytest.mark.parametrize("name", [PYRAMIDS, CONES])
@each("cg")
def test_islands_have_the_same_minimum(name: str, solver: str, how: How) -> None:
    text = yard(name, solver="CG", tolerance=0, iterations=300)
    assert_mujocos(
        text,
        "solve_constraints",
        how,
        seeds=1,
        warmup=WARMUP,
        prepare=some_switched_off,
        fields=FIELDS,
        tolerance=MINIMUM,
    )


@pytest.mark.slow
@each(*SOLVERS)
def test_single_precision_stays_close(solver: str, how: How) -> None:
    assert_solved(worlds(text_of(solver, PYRAMIDS)), solver, how, precision="f32")


@each(*SOLVERS)
def test_a_world_does_not_depend_on_its_neighbours(solver: str, how: How) -> None:
    """Other worlds change which rows a tile has and how long it iterates; a broken one must not spread."""
    given = many_rows("elliptic") if solver == "newton" else worlds(text_of(solver, CONES))
    usual = computed(given, "solve_constraints", how)[1]
    mixed = [copy.copy(data) for data in reversed(given.worlds)]
    mixed[4].qvel[:] = np.nan
    other = computed(given._replace(worlds=tuple(mixed)), "solve_constraints", how)[1]
    for name in FIELDS:
        found = np.array(other.field(name))[::-1]
        sound = np.arange(len(found)) != len(found) - 1 - 4
        np.testing.assert_array_equal(found[sound], np.array(usual.field(name))[sound])


FLYING = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 .0999"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""


def lifted(data: Any, world: int) -> None:
    data.qpos[:3] = 0.0, 0.0, 3.0 if world == 0 else 0.0999


@each("newton")
def test_a_world_without_rows_has_the_smooth_acceleration(solver: str, how: How) -> None:
    given = scene(FLYING, 0, 11, lifted)
    assert [data.nefc > 0 for data in given.worlds[:2]] == [False, True]
    data = computed(given, "solve_constraints", how)[1]
    np.testing.assert_array_equal(data.qacc[0], data.qacc_smooth[0])
    assert not np.any(data.qfrc_constraint[0])

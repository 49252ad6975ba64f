"""The one definition of error."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.compare.errors import FAST, FLOOR, SINGLE, Worst, meaningful, relative_error, tolerance_of
from dovetail.contracts.types import DATA_SPECS, MODEL_SPECS
from dovetail.testing.samples import sample


def test_error_is_relative_to_the_largest_entry_of_the_field() -> None:
    assert relative_error([100.0, 1.5], [100.0, 1.0]) == pytest.approx(0.005)


def test_small_fields_are_measured_against_the_floor() -> None:
    assert relative_error([1e-9], [0.0]) == pytest.approx(1e-9 / FLOOR)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_infinitely_wrong(bad: float) -> None:
    assert relative_error([1.0, bad], [1.0, 2.0]) == np.inf
    assert relative_error([1.0, 2.0], [1.0, bad]) == np.inf
    assert relative_error([bad], [bad]) == np.inf


def test_empty_fields_are_equal() -> None:
    assert relative_error(np.zeros((0, 3)), np.zeros((0, 3))) == 0.0


def test_each_world_of_a_batch_is_measured_by_itself() -> None:
    """A small world is not excused by a large one."""
    worst = Worst(sample("chain"))
    theirs = np.array([[1e6] * 4, [1.0] * 4])
    ours = theirs.copy()
    ours[1, 1] += 0.1
    row = worst.add("integrate", DATA_SPECS["qvel"], ours, theirs, batch=True)
    assert row.error == pytest.approx(0.1)
    assert row.where == '[1] (joint "reach") in world 1'


def test_worst_entry_is_named_and_kept() -> None:
    model = sample("chain")
    worst = Worst(model)
    theirs = np.ones((model.nbody, 3))
    for size in (1e-3, 1e-2, 1e-4):
        ours = theirs.copy()
        ours[2, 1] += size
        worst.add("kinematics", DATA_SPECS["xpos"], ours, theirs)
    (row,) = worst.sorted_rows()
    assert row.error == pytest.approx(1e-2)
    assert not row.ok
    assert str(row).startswith('kinematics xpos[2][1] (body "elbow"): error 1.0e-02, tolerance 1.0e-10')


def test_other_shape_is_an_error_that_says_so() -> None:
    row = Worst(sample("chain")).add("kinematics", DATA_SPECS["xpos"], np.zeros((2, 3)), np.zeros((5, 3)))
    assert row.error == np.inf
    assert row.note == "shape (2, 3) instead of (5, 3)"


def test_tolerances_follow_from_the_declaration_the_backend_and_the_precision() -> None:
    xpos, qacc = DATA_SPECS["xpos"], DATA_SPECS["qacc"]
    assert tolerance_of(xpos) == xpos.tolerance == 1e-10
    assert tolerance_of(xpos, reference=False) == FAST
    assert tolerance_of(qacc, reference=False) == qacc.tolerance
    assert tolerance_of(xpos, precision="f32") == SINGLE
    assert tolerance_of(DATA_SPECS["moment_colind"], precision="f32", reference=False) == 0.0
    assert tolerance_of(MODEL_SPECS["geom_rgba"]) == 1e-6


def test_room_at_the_end_of_an_array_is_not_compared() -> None:
    spec = DATA_SPECS["efc_pos"]
    values = {"nefc": np.array(2)}
    assert meaningful(spec, np.array([1.0, 2.0, 77.0]), values.__getitem__).tolist() == [1.0, 2.0]

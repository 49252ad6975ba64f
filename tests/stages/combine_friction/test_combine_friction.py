"""Friction of a contact from that of its two geoms, by every rule and implementation."""

from __future__ import annotations

import numpy as np
import pytest
from collisions import contacts
from contact_scene import poses, scene
from implementations import How, implementations
from two_spheres import close, parameters

import dovetail


def test_friction_asymmetric_is_the_larger_of_each() -> None:
    found = parameters('friction="0.3 0.005 0.0001"', 'friction="0.7 0.01 0.001"')
    close(found["friction"], [0.7, 0.7, 0.01, 0.001, 0.001])


def test_friction_of_each_kind_is_compared_by_itself() -> None:
    close(
        parameters('friction="0.3 0.02 0.0001"', 'friction="0.7 0.01 0.001"')["friction"],
        [0.7, 0.7, 0.02, 0.001, 0.001],
    )


def test_friction_symmetric_is_itself() -> None:
    same = 'friction="0.5 0.005 0.0001"'
    close(parameters(same, same)["friction"], [0.5, 0.5, 0.005, 0.0001, 0.0001])


def test_friction_zero_against_some_is_the_other() -> None:
    found = parameters('friction="0 0 0"', 'friction="0.5 0.005 0.0001"')
    close(found["friction"], [0.5, 0.5, 0.005, 0.0001, 0.0001])


def test_friction_never_falls_below_the_least_and_keeps_its_dimension() -> None:
    found = parameters('friction="0 0 0"', 'friction="0 0 0"')
    close(found["friction"], [1e-5] * 5)
    assert found["dim"] == 3


def test_friction_by_geometric_mean() -> None:
    rules = {"combine_friction": "geometric_mean"}
    found = parameters('friction="0.3 0.005 0.0001"', 'friction="0.7 0.01 0.001"', rules=rules)
    expected = np.sqrt([0.21, 0.21, 5e-5, 1e-7, 1e-7])
    close(found["friction"], expected)
    slippery = parameters('friction="0 0 0"', 'friction="0.5"', rules=rules)
    close(slippery["friction"], [1e-5] * 5)


MEANING = {"max": np.maximum, "geometric_mean": lambda a, b: np.sqrt(a * b)}
LEAST = 1e-5
"""mjMINMU, MuJoCo 3.4: no friction is smaller."""


@pytest.mark.parametrize("how", implementations("combine_friction", *MEANING))
def test_every_implementation_does_what_its_name_says(how: How) -> None:
    name, backend = how.label.split("@")
    model = dovetail.loads(scene(priorities=False, pairs=False))
    for found in contacts(model, *poses(), backend, rules=(("combine_friction", name),)):
        first, second = (model.geom_friction[found.geoms[:, side]] for side in range(2))
        wanted = np.maximum(MEANING[name](first, second), LEAST)[:, [0, 0, 1, 2, 2]]
        np.testing.assert_allclose(found.fields["friction"], wanted, rtol=1e-15)

"""solref and solimp of a contact from those of its two geoms, by every rule and implementation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from collisions import contacts
from contact_scene import poses, scene
from implementations import How, implementations
from two_spheres import close, parameters

import dovetail


def test_solmix_default_weighs_both_the_same() -> None:
    found = parameters('solref="0.02 1"', 'solref="0.04 0.8"')
    close(found["solref"], [0.03, 0.9])


def test_solmix_weighs_two_to_one() -> None:
    found = parameters(
        'solmix="2" solref="0.02 1" solimp="0.9 0.95 0.001 0.5 2"',
        'solmix="1" solref="0.05 0.7" solimp="0.6 0.8 0.004 0.2 5"',
    )
    np.testing.assert_allclose(found["solref"], [0.03, 0.9], rtol=1e-14)
    np.testing.assert_allclose(found["solimp"], [0.8, 0.9, 0.002, 0.4, 3.0], rtol=1e-14)


@pytest.mark.parametrize(
    ("first", "second", "solref"),
    [
        ("0", "0", [0.03, 0.9]),
        ("0", "1", [0.04, 0.8]),
        ("1", "0", [0.02, 1.0]),
        ("1e-16", "1e-3", [0.04, 0.8]),
        ("1e-16", "9e-16", [0.03, 0.9]),
    ],
)
def test_solmix_of_nothing_gives_the_other_all(first: str, second: str, solref: list[float]) -> None:
    found = parameters(f'solmix="{first}" solref="0.02 1"', f'solmix="{second}" solref="0.04 0.8"')
    close(found["solref"], solref)


@pytest.mark.parametrize(
    ("first", "second", "solref"),
    [
        ("-100 1", "-200 1", [-200, 1]),
        ("0.02 1", "-100 1", [-100, 1]),
        ("-100 -10", "-200 -5", [-200, -10]),
        ("0 0", "0.02 1", [0, 0]),
    ],
)
def test_solref_direct_takes_the_smaller(first: str, second: str, solref: list[float]) -> None:
    """Mixed signs are kept here; what they mean is the constraint's business."""
    found = parameters(f'solref="{first}" solmix="9"', f'solref="{second}"')
    close(found["solref"], solref)


def test_solimp_is_mixed_even_where_solref_is_direct() -> None:
    found = parameters('solref="-100 -1" solimp="0.8 0.9 0.001"', 'solref="-50 -1" solimp="0.6 0.7 0.003"')
    np.testing.assert_allclose(found["solimp"][:3], [0.7, 0.8, 0.002], rtol=1e-14)


def test_solmix_does_not_affect_friction() -> None:
    close(parameters('solmix="100" friction="0.3"', 'friction="0.8"')["friction"][0], 0.8)


def test_solmix_does_not_affect_a_pair() -> None:
    contact = '<pair geom1="a" geom2="b" solref="0.07 0.5" solimp="0.5 0.6 0.01 0.3 4"/>'
    found = parameters('solmix="100" solref="0.5 1"', contact=contact)
    close(found["solref"], [0.07, 0.5])
    close(found["solimp"], [0.5, 0.6, 0.01, 0.3, 4])


def weighted(first: Any, second: Any, weights: tuple[float, float]) -> Any:
    total = sum(weights)
    share = weights[0] / total if total else 0.5
    return share * first + (1 - share) * second


@pytest.mark.parametrize("how", implementations("mix_solver", "solmix", "min_max"))
def test_every_implementation_does_what_its_name_says(how: How) -> None:
    name, backend = how.label.split("@")
    model = dovetail.loads(scene(priorities=False, pairs=False))
    for found in contacts(model, *poses(), backend, rules=(("mix_solver", name),)):
        for row, (a, b) in enumerate(found.geoms):
            solref, solimp = model.geom_solref[[a, b]], model.geom_solimp[[a, b]]
            weights = tuple(model.geom_solmix[[a, b]].tolist())
            direct = name == "min_max" or (solref[:, 0] <= 0).any()
            wanted = solref.min(axis=0) if direct else weighted(*solref, weights)
            np.testing.assert_allclose(found.fields["solref"][row], wanted, rtol=1e-14)
            wanted = solimp.max(axis=0) if name == "min_max" else weighted(*solimp, weights)
            np.testing.assert_allclose(found.fields["solimp"][row], wanted, rtol=1e-14)

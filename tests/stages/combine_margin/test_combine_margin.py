"""Margin and gap of a contact from those of its two geoms, by every rule and implementation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from collisions import contacts
from contact_scene import poses, scene
from implementations import How, implementations
from two_spheres import close, parameters

import dovetail


@pytest.mark.parametrize(
    ("a", "b", "largest", "summed"),
    [
        ((0.002, 0.0), (0.002, 0.0), 0.002, 0.004),
        ((0.003, 0.001), (0.002, 0.0005), 0.002, 0.0035),
        ((0.005, 0.003), (0.005, 0.002), 0.002, 0.005),
        ((0.0, 0.0), (0.0, 0.0), 0.0, 0.0),
        ((0.01, 0.02), (0.0, 0.0), -0.01, -0.01),
    ],
)
def test_includemargin_is_margin_less_gap(a: Any, b: Any, largest: float, summed: float) -> None:
    texts = [f'margin="{margin}" gap="{gap}"' for margin, gap in (a, b)]
    close(parameters(*texts)["includemargin"], largest)
    close(parameters(*texts, rules={"combine_margin": "sum"})["includemargin"], summed)


MEANING = {"max": np.maximum, "sum": np.add}


@pytest.mark.parametrize("how", implementations("combine_margin", *MEANING))
def test_every_implementation_does_what_its_name_says(how: How) -> None:
    name, backend = how.label.split("@")
    model = dovetail.loads(scene(priorities=False, pairs=False))
    for found in contacts(model, *poses(), backend, rules=(("combine_margin", name),)):
        both = [found.geoms[:, side] for side in range(2)]
        margin, gap = (
            MEANING[name](*(field[ids] for ids in both)) for field in (model.geom_margin, model.geom_gap)
        )
        np.testing.assert_allclose(found.fields["includemargin"], margin - gap, rtol=0, atol=1e-15)

"""Random models of several files: dovetail and MuJoCo agree on what is a model, and on its numbers."""

from __future__ import annotations

import both
import composed
import pytest


def disagreements(seeds: range) -> dict[int, list[str]]:
    found = {seed: both.disagreement(*composed.files(seed)) for seed in seeds}
    return {seed: lines[:3] for seed, lines in found.items() if lines}


def test_random_composed_models():
    assert disagreements(range(60)) == {}


def test_many_of_them_are_models():
    """So that agreement means something: at least a third are accepted."""
    accepted = 0
    for seed in range(60):
        try:
            both.accepted(*composed.files(seed))
            accepted += 1
        except ValueError:
            pass
    assert accepted >= 20


@pytest.mark.slow
def test_more_random_composed_models():
    assert disagreements(range(1000, 3000)) == {}

"""The lesser, the larger and clipping are MuJoCo's, to the bit, NaN, infinities and zeros included."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dovetail.plugins.shared.ordered_numpy import clip, larger, lesser

mujoco = pytest.importorskip("mujoco")

NUMBERS = (np.nan, -np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, np.inf)


def bits(values: list[float]) -> bytes:
    """As bytes; every NaN counts the same."""
    array = np.array(values)
    return np.where(np.isnan(array), np.nan, array).tobytes()


def test_two_numbers() -> None:
    a, b = (np.array(each) for each in zip(*product(NUMBERS, repeat=2), strict=True))
    for ours, theirs in ((lesser, mujoco.mju_min), (larger, mujoco.mju_max)):
        assert bits(ours(a, b).tolist()) == bits([theirs(x, y) for x, y in zip(a, b, strict=True)])


def test_clipping_also_between_limits_in_the_wrong_order() -> None:
    x, low, high = (np.array(each) for each in zip(*product(NUMBERS, repeat=3), strict=True))
    theirs = [mujoco.mju_clip(*numbers) for numbers in zip(x, low, high, strict=True)]
    assert bits(clip(x, low, high).tolist()) == bits(theirs)

"""Every operation does on a device what it does in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from device import DEVICE
from lane_small import apply
from test_lane_operations import CASES, X, try_case

from dovetail.backends.lanes.kernel import Kernel

pytestmark = pytest.mark.device

COMPLETE = ("any exp real integer", "and or not select", "eq ne lt ge")
"""Cases of the default suite; the others are simpler."""


@pytest.mark.parametrize("name", COMPLETE)
def test_an_operation_on_the_device(name: str) -> None:
    try_case(name, "f64", backend="taichi", arch=DEVICE, lanes=1)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.parametrize("name", CASES)
def test_every_operation_on_the_device(name: str, precision: str) -> None:
    try_case(name, precision, backend="taichi", arch=DEVICE, lanes=1)


FACTORS = (0.25, -6.5, -133.5, 235.0)
"""Of 3: drivers take (x * a) / b for x * (a / b), so there is no quotient."""


def exponentials(k: Kernel) -> None:
    for n, factor in enumerate(FACTORS):
        k.data.y[n] = k.exp(k.model.real[3] * factor) + 0.0 * k.data.x[0]


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_the_exponential(precision: str) -> None:
    found: Any = apply(exponentials, X, backend="taichi", arch=DEVICE, lanes=1, precision=precision)["y"]
    with np.errstate(over="ignore"):
        expected = np.exp(3.0 * np.array(FACTORS)).astype(found.dtype)
    np.testing.assert_allclose(
        found, np.tile(expected, (len(X), 1)), rtol=1e-14 if precision == "f64" else 1e-6
    )


def beyond(k: Kernel) -> None:
    for n, factor in enumerate((-800.0, 800.0, 0.0, -30.0)):
        k.data.y[n] = k.exp(k.model.real[3] * factor / 3.0) + 0.0 * k.data.x[0]


@pytest.mark.slow
def test_exponentials_of_the_largest_and_the_smallest() -> None:
    found: Any = apply(beyond, X, backend="taichi", arch=DEVICE, lanes=1, precision="f64")["y"]
    np.testing.assert_allclose(found[0], [0.0, np.inf, 1.0, np.exp(-30.0)], rtol=1e-14)


def smaller_and_larger(k: Kernel) -> None:
    """NaN passes as on processors: the second is taken unless the first is smaller, or larger."""
    zero = k.data.x[0] - k.data.x[0]
    nan = zero / zero
    results = (k.min(nan, 1.0), k.min(k.data.x[1], nan), k.max(nan, 1.0), k.max(k.data.x[1], nan))
    k.data.y[:] = np.array(results, dtype=object)


@pytest.mark.slow
def test_nan_passes_through_min_and_max_as_on_the_processor() -> None:
    found = apply(smaller_and_larger, X, backend="taichi", arch=DEVICE, lanes=1)["y"]
    expected = apply(smaller_and_larger, X, backend="native", lanes=1)["y"]
    np.testing.assert_array_equal(found, expected)

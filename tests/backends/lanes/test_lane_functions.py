"""Sine, cosine, their inverses and powers on lanes against NumPy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lane_small import N, apply

from dovetail.backends.lanes.functions import acos, asin, atan2, atan_half_plane, power, sincos
from dovetail.backends.lanes.kernel import Kernel

EPS = {"f64": np.finfo(np.float64).eps, "f32": np.finfo(np.float32).eps}
DTYPE = {"f64": np.float64, "f32": np.float32}


@pytest.mark.parametrize(("precision", "reach"), [("f64", 1e5), ("f32", 3e3)])
def test_sine_and_cosine_are_numpys(precision: str, reach: float) -> None:
    rng = np.random.default_rng(2)
    x = np.concatenate(
        [rng.uniform(-reach, reach, 2000), rng.uniform(-4, 4, 1960), np.arange(-20, 20) * np.pi / 4]
    )
    x = x.astype(DTYPE[precision]).astype(float).reshape(-1, N)

    def stage(k: Kernel) -> None:
        with k.loop(0, N) as i:
            s, c = sincos(k, k.data.x[i])
            k.data.y[i] = s
            k.data.z[i] = c

    out = apply(stage, x, precision=precision)
    assert np.abs(out["y"] - np.sin(x)).max() < 2 * EPS[precision]
    assert np.abs(out["z"][..., 0] - np.cos(x)).max() < 2 * EPS[precision]


def test_sine_and_cosine_are_rounded_as_by_the_c_library() -> None:
    """With one rounding each, both are nearly always the nearest number; with the usual few, in three of four."""
    x = np.random.default_rng(5).uniform(-4, 4, (5000, N))

    def stage(k: Kernel) -> None:
        with k.loop(0, N) as i:
            s, c = sincos(k, k.data.x[i])
            k.data.y[i] = s
            k.data.z[i] = c

    out = apply(stage, x)
    for found, exact in ((out["y"], math.sin), (out["z"][..., 0], math.cos)):
        wanted = np.array([exact(angle) for angle in x.ravel()]).reshape(x.shape)
        assert np.mean(found != wanted) < 0.005


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_arc_tangent_of_the_upper_half_plane(precision: str) -> None:
    rng = np.random.default_rng(3)
    y = np.abs(rng.normal(size=1000)) * 10.0 ** rng.uniform(-12, 3, 1000)
    x = rng.normal(size=1000) * 10.0 ** rng.uniform(-12, 3, 1000)
    edges = [(0.0, 0.0), (0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (1.0, 1.0), (1.0, -1.0)]
    pairs = np.concatenate([np.stack([y, x], axis=1), edges])
    given = np.zeros((len(pairs), N))
    given[:, :2] = pairs.astype(DTYPE[precision])

    def stage(k: Kernel) -> None:
        k.data.y[0] = atan_half_plane(k, k.data.x[0], k.data.x[1])

    found = apply(stage, given, precision=precision)["y"][:, 0]
    wanted = np.arctan2(given[:, 0], given[:, 1])
    np.testing.assert_allclose(found, wanted, rtol=4 * EPS[precision], atol=0)


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_arc_sine_and_cosine(precision: str) -> None:
    rng = np.random.default_rng(4)
    near_one = 1.0 - 10.0 ** rng.uniform(-15, 0, 500)
    x = np.concatenate(
        [rng.uniform(-1, 1, 492), near_one, -near_one, [0.0, 1.0, -1.0, 0.5, -0.5, 1e-9, -1e-9, 0.0]]
    )
    x = x.astype(DTYPE[precision]).astype(float).reshape(-1, N)

    def stage(k: Kernel) -> None:
        with k.loop(0, N) as i:
            k.data.y[i] = asin(k, k.data.x[i])
            k.data.z[i] = acos(k, k.data.x[i])

    out = apply(stage, x, precision=precision)
    np.testing.assert_allclose(out["y"], np.arcsin(x), rtol=4 * EPS[precision], atol=0)
    np.testing.assert_allclose(out["z"][..., 0], np.arccos(x), rtol=4 * EPS[precision], atol=0)


def test_arc_sine_and_cosine_beyond_one_are_those_of_one() -> None:
    x = np.array([[1.5, -1.5, 1.0 + 1e-15, -1.0 - 1e-15]])

    def stage(k: Kernel) -> None:
        with k.loop(0, N) as i:
            k.data.y[i] = asin(k, k.data.x[i])
            k.data.z[i] = acos(k, k.data.x[i])

    out = apply(stage, x)
    np.testing.assert_allclose(out["y"], np.arcsin(np.clip(x, -1, 1)), rtol=1e-15)
    np.testing.assert_allclose(out["z"][..., 0], np.arccos(np.clip(x, -1, 1)), rtol=1e-15)


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_angle_of_a_point(precision: str) -> None:
    rng = np.random.default_rng(5)
    given = np.zeros((1004, N))
    given[:1000, :2] = rng.normal(size=(1000, 2)) * 10.0 ** rng.uniform(-12, 3, (1000, 2))
    given[1000:, :2] = [(0.0, 0.0), (-1.0, 0.0), (-1.0, -1.0), (1.0, -1.0)]
    given = given.astype(DTYPE[precision]).astype(float)

    def stage(k: Kernel) -> None:
        k.data.y[0] = atan2(k, k.data.x[0], k.data.x[1])

    found = apply(stage, given, precision=precision)["y"][:, 0]
    np.testing.assert_allclose(found, np.arctan2(given[:, 0], given[:, 1]), rtol=4 * EPS[precision], atol=0)


@pytest.mark.parametrize(("precision", "tolerance"), [("f64", 1e-13), ("f32", 1e-4)])
def test_powers_are_numpys(precision: str, tolerance: float) -> None:
    rng = np.random.default_rng(4)
    x = 10.0 ** rng.uniform(-30, 0, (300, N))
    x[0], x[1] = 0.0, 1.0

    def stage(k: Kernel) -> None:
        for i, exponent in enumerate((0.5, 1.0, 2.7, 0.01)):
            k.data.y[i] = power(k, k.data.x[i], exponent)

    found = apply(stage, x, precision=precision)["y"][:, :4]
    given = x[:, :4].astype(np.float32 if precision == "f32" else np.float64).astype(float)
    wanted = given ** np.array([0.5, 1.0, 2.7, 0.01])
    tiny = 1e-37 if precision == "f32" else 0.0
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tiny)

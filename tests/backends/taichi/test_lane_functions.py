"""Sine, cosine and arc tangent on lanes against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from lane_small import N, apply

from dovetail.backends.taichi.functions import atan_half_plane, sincos
from dovetail.backends.taichi.lanes import Kernel

EPS = {"f64": np.finfo(np.float64).eps, "f32": np.finfo(np.float32).eps}
DTYPE = {"f64": np.float64, "f32": np.float32}


@pytest.mark.parametrize(("precision", "reach"), [("f64", 1e5), ("f32", 3e3)])
def test_sine_and_cosine(precision: str, reach: float) -> None:
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

"""The device that tests run on, and worlds that differ."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np

import dovetail

DEVICE = os.environ.get("TEST_DEVICE", "")
"""What the tests of this process run on; empty: they have a process of their own."""

PROBE = """
from dovetail.backends.taichi import runtime
runtime.start("auto", {arch!r})
"""


@cache
def why_no_device(arch: str = DEVICE or "vulkan") -> str:
    """Why nothing can be run there, or an empty string; asked in another process, as a runtime has one device."""
    if not any(importlib.util.find_spec(name) for name in ("quadrants", "taichi")):
        return "no Taichi runtime is installed"
    asked = [sys.executable, "-c", PROBE.format(arch=arch)]
    found = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=False)
    return (
        "" if found.returncode == 0 else f"there is no {arch} here: {found.stderr.strip().splitlines()[-1:]}"
    )


def simulation(model: dovetail.Model, nworld: int, **settings: Any) -> dovetail.Simulation:
    """On the device."""
    return dovetail.Simulation(model, nworld=nworld, backend="taichi", arch=DEVICE, **settings)


def on_processor(model: dovetail.Model, nworld: int, **settings: Any) -> dovetail.Simulation:
    return dovetail.Simulation(model, nworld=nworld, backend="native", **settings)


def spread(sim: Any, seed: int = 0, speed: float = 0.3) -> None:
    """Give every world other velocities and controls."""
    rng = np.random.default_rng(seed)
    sim.data.qvel[...] = speed * rng.normal(size=sim.data.qvel.shape)
    if sim.model.nu:
        sim.data.ctrl[...] = 0.5 * rng.normal(size=sim.data.ctrl.shape)


def numbers(sim: Any, name: str) -> np.ndarray:
    return np.array(sim.data.field(name))


def largest_difference(
    one: Any, other: Any, names: tuple[str, ...] = ("qpos", "qvel", "act", "time")
) -> float:
    """Of the states of two batches."""
    errors = [np.abs(numbers(one, name) - numbers(other, name)).max(initial=0.0) for name in names]
    return float(max(errors))

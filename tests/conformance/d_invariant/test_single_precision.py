"""Single precision loses no world that double keeps: real models thrown about, none of their numbers goes bad."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
import robots

import dovetail
from dovetail.bad_states import StateWarning
from dovetail.compare.rollout import Start
from dovetail.contracts.types import Model

LANES = os.environ.get("TEST_LANES", "native")
"""The lane backend that is tested."""

FRAGILE = ("suite/finger", "suite/manipulator", "suite/stacker")
"""Models with contacts so stiff beside so light parts that the solver once left them with NaN."""


def lost(model: Model, nworld: int, steps: int, precision: str) -> set[int]:
    """The worlds that stop on the way because a number of theirs goes bad."""
    sim = dovetail.Simulation(
        model, nworld=nworld, backend=LANES, precision=precision, threads=2, keep="state", on_nan="freeze"
    )
    Start.near(model, nworld).write(sim.data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StateWarning)
        sim.step(steps)
    time = np.asarray(sim.data.time, float).reshape(-1)
    return set(np.flatnonzero(time < (steps - 0.5) * model.opt.timestep).tolist())


def check(name: str, nworld: int, steps: int) -> None:
    """Worlds that single precision loses are lost in double too."""
    if name not in robots.FILES:
        pytest.skip("its package is not installed")
    model = robots.ours(name)
    bad = lost(model, nworld, steps, "f32")
    assert not bad or bad <= lost(model, nworld, steps, "f64")


@pytest.mark.by_default("suite/finger")
@pytest.mark.parametrize("name", FRAGILE)
def test_fragile_models_stay_whole(name: str) -> None:
    check(name, nworld=256, steps=200)


@pytest.mark.slow
@pytest.mark.parametrize("name", robots.FILES)
def test_all_models_stay_whole(name: str) -> None:
    check(name, nworld=1024, steps=1000)


def chain(mass: float) -> Model:
    """Eight links of a mass between two points that hold, a hundred kilograms at the end."""
    link = (
        '<body pos=".1 0 0"><joint axis="0 1 0" range="-30 30" limited="true"/>'
        f'<geom type="capsule" fromto="0 0 0 .1 0 0" size=".01" mass="{mass}"/>'
    )
    end = '<body name="end" pos=".1 0 0"><joint axis="0 1 0"/><geom size=".05" mass="100"/></body>'
    return dovetail.loads(
        f"<mujoco><worldbody>{8 * link}{end}{8 * '</body>'}</worldbody>"
        '<equality><connect body1="end" anchor="0 0 0"/></equality></mujoco>'
    )


def test_light_links_between_heavy_ones_hold() -> None:
    """The Hessian's pivots there are smaller than the rounding of its entries."""
    assert not lost(chain(0.3), 64, 300, "f32")

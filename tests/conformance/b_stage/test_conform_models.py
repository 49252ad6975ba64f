"""Whole plans against MuJoCo, slot by slot: the compiled model, every field written, and the state after a step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import robots
from hypothesis import given, settings
from hypothesis import strategies as st
from lane_backend import LANES
from trees import random_tree, tree_models

from dovetail.errors import UnsupportedMJCFError

Conform = Callable[..., Any]

REFERENCE = 1e-10
"""Largest error of any field of any slot of the reference; the tolerances of the fields allow more after solvers."""
FAST = 1e-9
"""The same for Taichi in double precision."""

BUILT_IN = ("arm", "humanoid", "pendulum", "tumbler")

trees = settings(max_examples=25, deadline=None, derandomize=True)


def conform_any(conform: Conform, model: Any, **options: Any) -> Any:
    """With dovetail's compiler where it reads the model, else with MuJoCo's compiled numbers."""
    try:
        return conform(model, disable=("constraint",), **options)
    except UnsupportedMJCFError:
        return conform(model, disable=("constraint",), compiled_by="mujoco", **options)


@pytest.mark.slow
@trees
@given(xml=tree_models(), seed=st.integers(min_value=0, max_value=2**32 - 1))
def test_random_trees_conform(conform_model: Conform, xml: str, seed: int) -> None:
    report = conform_any(conform_model, xml, seed=seed, steps=3, states=2)
    assert report.worst() <= REFERENCE, report.table()


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_models_conform(conform_model: Conform, name: str) -> None:
    report = conform_model(name, steps=5)
    assert report.complete
    assert report.worst() <= REFERENCE, report.table()


@pytest.mark.slow_cases("suite/dog")
@pytest.mark.parametrize("name", robots.FILES)
def test_smooth_dynamics_of_collections_conform(conform_model: Conform, name: str) -> None:
    report = conform_model(
        robots.FILES[name],
        compiled_by="mujoco",
        disable=("constraint",),
        enable=("energy",),
        steps=3,
        states=3,
    )
    assert report.complete
    assert report.worst() <= FAST, report.table()  # what falls freely becomes fast, and differences cancel


@pytest.mark.parametrize("name", ["reacher", "inverted_pendulum", "inverted_double_pendulum"])
def test_models_that_dovetail_compiles_itself_conform(conform_model: Conform, name: str) -> None:
    report = conform_model(gymnasium_path(name), stages=("compile",), steps=0, states=0)
    assert report.rows
    assert report.worst("compile") <= REFERENCE


@pytest.mark.parametrize(("seed", "nworld"), [(3, None), pytest.param(7, 5, marks=pytest.mark.slow)])
def test_lanes_conform_on_a_random_tree(conform_model: Conform, seed: int, nworld: int | None) -> None:
    report = conform_any(conform_model, random_tree(seed, 4), backend=LANES, nworld=nworld, steps=3)
    assert report.worst() <= FAST, report.table()
    assert {label.partition("@")[2] for label in report.implementations.values()} == {LANES}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["humanoid", pytest.param("arm", marks=pytest.mark.slow)])
def test_lanes_conform_on_a_built_in_model(conform_model: Conform, name: str) -> None:
    report = conform_model(name, backend=LANES, nworld=3, steps=3)
    assert report.worst() <= FAST, report.table()


@pytest.mark.slow
def test_single_precision_is_another_precision(conform_model: Conform) -> None:
    report = conform_model("arm", backend=LANES, precision="f32", nworld=3, steps=3)
    assert report.worst() > FAST  # it really ran in single precision


def gymnasium_path(name: str) -> Path:
    gymnasium = pytest.importorskip("gymnasium")
    return Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{name}.xml"

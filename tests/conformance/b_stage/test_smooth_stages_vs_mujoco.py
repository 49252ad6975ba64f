"""Every reference stage of the smooth dynamics writes MuJoCo's numbers, on random trees in random states."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smooth_reference import STAGES, WithExtra, data_with, forward, load, spoil, step, worst_error
from trees import random_state, tree_models

TOLERANCE = 1e-10
"""Relative to the field's largest value (or to 1); rounding alone gives 1e-12 with badly scaled inertias."""

seeds = st.integers(min_value=0, max_value=2**32 - 1)
on_random_trees = settings(max_examples=40, deadline=None, derandomize=True)
on_few_random_trees = settings(max_examples=12, deadline=None, derandomize=True)


def skips(model: Any, name: str) -> bool:
    """With actuation off MuJoCo leaves act_dot as it was: there is nothing to compare."""
    return name == "act_dot" and bool(model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_ACTUATION)


def assert_equal(model: Any, ours: Any, theirs: Any, names: tuple[str, ...]) -> None:
    errors = {name: worst_error(getattr(ours, name), getattr(theirs, name)) for name in names}
    wrong = {name: error for name, error in errors.items() if error > TOLERANCE and not skips(model, name)}
    assert not wrong


@pytest.mark.parametrize("stage", STAGES)
@on_few_random_trees
@given(xml=tree_models(), seed=seeds)
def test_stage_alone_agrees_with_mujoco(stage: str, xml: str, seed: int) -> None:
    model = load(xml)
    state = random_state(model, np.random.default_rng(seed))
    ours, theirs = data_with(model, state), data_with(model, state)
    mujoco.mj_forward(model, ours)
    mujoco.mj_forward(model, theirs)
    function, outputs = STAGES[stage]
    for name in outputs:
        spoil(getattr(ours, name))
    function(model, ours)
    assert_equal(model, ours, theirs, outputs)


@on_random_trees
@given(xml=tree_models(), seed=seeds)
def test_forward_from_state_alone_agrees_with_mujoco(xml: str, seed: int) -> None:
    model = load(xml)
    state = random_state(model, np.random.default_rng(seed))
    ours, theirs = data_with(model, state), data_with(model, state)
    mujoco.mj_forward(model, theirs)
    forward(model, ours)
    for _, outputs in STAGES.values():
        assert_equal(model, ours, theirs, outputs)


@on_random_trees
@given(xml=tree_models(), seed=seeds)
def test_steps_agree_with_mujoco(xml: str, seed: int) -> None:
    model = load(xml)
    state = random_state(model, np.random.default_rng(seed))
    ours, theirs = WithExtra(model, data_with(model, state)), data_with(model, state)
    for _ in range(3):
        step(model, ours)
        mujoco.mj_step(model, theirs)
    assert_equal(model, ours, theirs, ("qpos", "qvel", "act", "time", "qacc", "qacc_warmstart", "energy"))


@on_few_random_trees
@given(xml=tree_models(), seed=seeds)
def test_stages_leave_the_state_alone(xml: str, seed: int) -> None:
    model = load(xml)
    state = random_state(model, np.random.default_rng(seed))
    data = data_with(model, state)
    forward(model, data)
    for name, value in state.items():
        np.testing.assert_array_equal(getattr(data, name), value)

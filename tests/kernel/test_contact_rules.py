"""Second rules for contacts: parameters without weights, and priorities that do not count."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import Model
from dovetail.compare.ab import compare
from dovetail.plugins.mix_solver import min_max_numpy
from dovetail.plugins.resolve_priority import ignore_numpy

SCENE = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 1" {floor}/>
    <body pos="0 0 0.095"><joint type="ball"/><geom size="0.1" {ball}/></body>
  </worldbody>
</mujoco>
"""
SOFT = 'solref="0.04 0.8" solimp="0.7 0.8 0.002 0.4 3" friction="0.2" solmix="5"'
HARD = 'solref="0.02 1.0" solimp="0.9 0.95 0.001 0.5 2" friction="0.7"'
RULES = [("mix_solver", "solmix", "min_max"), ("resolve_priority", "higher", "ignore")]


@pytest.fixture
def scene() -> Model:
    return dovetail.loads(SCENE.format(floor=f'{SOFT} priority="0"', ball=HARD))


@pytest.fixture
def ranked() -> Model:
    return dovetail.loads(SCENE.format(floor=f'{SOFT} priority="1"', ball=HARD))


def contact(model: Model, **stages: str) -> Any:
    sim = dovetail.Simulation(model, stages=stages)
    sim.forward()
    assert sim.data.ncon == 1
    return sim.data.contact


def test_min_max_takes_the_harder_of_both(scene: Model) -> None:
    found = contact(scene, mix_solver="min_max")
    assert found.solref[0] == pytest.approx([0.02, 0.8])
    assert found.solimp[0] == pytest.approx([0.9, 0.95, 0.002, 0.5, 3])
    mean = contact(scene).solref[0]
    assert mean == pytest.approx([0.04 * 5 / 6 + 0.02 / 6, 0.8 * 5 / 6 + 1 / 6])


def test_ignored_priorities_let_both_geoms_share(ranked: Model, scene: Model) -> None:
    assert contact(ranked).friction[0, 0] == pytest.approx(0.2)
    shared = contact(ranked, resolve_priority="ignore")
    assert shared.friction[0, 0] == pytest.approx(0.7)
    assert shared.solref[0] == pytest.approx(contact(scene).solref[0])


def test_rules_are_entry_by_entry() -> None:
    random = np.random.default_rng(0)
    solref, solimp = random.normal(size=(9, 2, 2)), random.normal(size=(9, 2, 5))
    mixed = min_max_numpy.mix_solver(random.normal(size=(9, 2)), solref, solimp)
    for pair in range(9):
        assert mixed[0][pair].tolist() == [min(column) for column in solref[pair].T.tolist()]
        assert mixed[1][pair].tolist() == [max(column) for column in solimp[pair].T.tolist()]
    priorities = random.integers(-2, 3, size=(2, 9))
    assert ignore_numpy.resolve_priority(*priorities).tolist() == [0] * 9


@pytest.mark.skipif(
    not any(importlib.util.find_spec(name) for name in ("quadrants", "taichi")), reason="no Taichi runtime"
)
@pytest.mark.parametrize(("rule", "usual", "other"), RULES)
def test_the_lane_sibling_agrees(rule: str, usual: str, other: str, ranked: Model) -> None:
    worlds = 3
    sims = [
        dovetail.Simulation(ranked, nworld=worlds, backend=backend, stages={rule: other}, keep="all")
        for backend in ("numpy", "taichi")
    ]
    for sim in sims:
        sim.data.qvel = np.random.default_rng(1).normal(size=(worlds, ranked.nv))
        sim.step(5)
    reference, lanes = (sim.data for sim in sims)
    assert sims[1].plan.choices["contact_params"].record.backend == "taichi"
    assert np.asarray(lanes.qvel) == pytest.approx(np.asarray(reference.qvel), abs=1e-9)


@pytest.mark.parametrize(("rule", "usual", "other"), RULES)
def test_they_can_be_compared(rule: str, usual: str, other: str, ranked: Model, scene: Model) -> None:
    model = ranked if rule == "resolve_priority" else scene
    report = compare(model, rule, f"{usual}@numpy", f"{other}@numpy", steps=3)
    assert "contact.solref" in {row.field for row in report.failures}

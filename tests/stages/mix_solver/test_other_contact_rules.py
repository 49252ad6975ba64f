"""Second rules for contacts: parameters without weights, and priorities that do not count."""

from __future__ import annotations

from typing import Any

import pytest

import dovetail
from dovetail import Model
from dovetail.compare.ab import compare

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


@pytest.mark.parametrize(("rule", "usual", "other"), RULES)
def test_a_comparison_tells_the_rules_apart(
    rule: str, usual: str, other: str, ranked: Model, scene: Model
) -> None:
    model = ranked if rule == "resolve_priority" else scene
    report = compare(model, rule, f"{usual}@numpy", f"{other}@numpy", steps=3)
    assert "contact.solref" in {row.field for row in report.failures}

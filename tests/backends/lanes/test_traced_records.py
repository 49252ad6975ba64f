"""Contact rules of packages that are written for NumPy alone: worked into the kernel, as a function in a call is."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.errors import PluginError
from dovetail.implementation import Implementation
from dovetail.registry import Registry, build_registry

ACME = """
import numpy as np

SCALE = 0.25
TABLE = [0.5]


def slippery(first, second):
    return np.minimum(first, second) * SCALE


def one_by_one(first, second):
    return np.array([[min(float(a), float(b)) for a, b in zip(p, q)] for p, q in zip(first, second)])


def of_a_list(first, second):
    return np.minimum(first, second) * TABLE[0]


def of_the_first_contact(first, second):
    return np.minimum(first, second[0])


def misnamed(one, other):
    return np.minimum(one, other)


def in_lanes(k, first, second):
    return np.array([k.min(a, b) for a, b in zip(first, second)], dtype=object)
"""
BOXES = """
<mujoco>
  <option timestep="0.004" solver="PGS"/>
  <worldbody>
    <geom type="plane" size="5 5 1" friction="0.9 0.01 0.001"/>
    <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2" friction="0.4 0.02 0.002"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of a package."""
    module = ModuleType("acme_rules")
    exec(compile(ACME, "acme_rules", "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "acme_rules", module)
    return module


@pytest.fixture
def registry(acme: Any, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """Where simulations of a test find what is installed."""
    found = build_registry(third_party=False)
    monkeypatch.setattr("dovetail.simulation.default_registry", lambda: found)
    return found


def install(registry: Registry, function: str, backend: str = "numpy", **said: Any) -> None:
    registry.add(
        Implementation(
            stage="combine_friction",
            name="acme",
            backend=backend,
            target=f"acme_rules:{function}",
            provider="dovetail-acme",
            **said,
        )
    )


def run(
    rule: Any, *, backend: str = LANES, nworld: int | None = 3, steps: int = 20, **said: Any
) -> dovetail.Simulation:
    stages = {} if rule is None else {"combine_friction": rule}
    sim = dovetail.Simulation(dovetail.loads(BOXES), nworld=nworld, backend=backend, stages=stages, **said)
    speeds = np.random.default_rng(0).normal(size=(nworld or 1, 6)) * [1, 1, 0.1, 1, 1, 1]
    sim.data.qvel = speeds if nworld else speeds[0]
    sim.step(steps)
    return sim


def chosen(sim: dovetail.Simulation, slot: str = "combine_friction") -> str:
    return sim.plan.choices[slot].record.label


def places(sim: dovetail.Simulation) -> Any:
    return np.array(sim.data.qpos)


SLOW = [pytest.param(said, marks=pytest.mark.slow) for said in ({"nworld": None}, {"precision": "f32"})]


@pytest.mark.parametrize("said", [{}, *SLOW], ids=str)
def test_a_rule_of_a_package_runs_in_the_kernel_with_the_bits_of_the_function(
    registry: Registry, acme: Any, said: Any
) -> None:
    install(registry, "slippery")
    by_name, by_function = run("acme", **said), run(acme.slippery, **said)
    assert chosen(by_name) == f"acme@{LANES}"
    assert len(by_name.plan.segments()) == 1
    assert np.array_equal(places(by_name), places(by_function))
    assert not np.array_equal(places(by_name), places(run(None, **said)))
    if not said:
        assert places(by_name) == pytest.approx(places(run("acme", backend="numpy")), abs=1e-9)


def test_the_plan_says_who_chose_it_and_whose_it_is(registry: Registry) -> None:
    install(registry, "slippery")
    line = next(r for r in run("acme", steps=0).plan.lines() if r.slot == "combine_friction")
    assert (line.origin, line.provider, line.fallback) == ("call argument", "dovetail-acme", "")


def test_a_configuration_file_chooses_it(registry: Registry, tmp_path: Path) -> None:
    install(registry, "slippery")
    (tmp_path / "dovetail.toml").write_text('[stages]\ncombine_friction = "acme"\n', encoding="utf-8")
    sim = run(None, steps=0)
    assert chosen(sim) == f"acme@{LANES}"
    assert "dovetail.toml" in sim.plan.choices["combine_friction"].origin


def test_a_rule_that_is_the_default_is_worked_in_too(registry: Registry) -> None:
    registry.implementations[:] = [r for r in registry.implementations if r.stage != "combine_friction"]
    install(registry, "slippery", default=True)
    sim = run(None, steps=0)
    assert (chosen(sim), sim.plan.choices["combine_friction"].origin) == (f"acme@{LANES}", "default")


def test_with_a_wrapper_around_the_stages_it_goes_the_way_of_a_function(
    registry: Registry, acme: Any
) -> None:
    install(registry, "slippery")
    sims = [run(rule, steps=0, wrap=dovetail.Profiler()) for rule in ("acme", acme.slippery)]
    labels = [s.plan.choices["contact_params"].record.backend for s in sims]
    assert labels[0] == labels[1]


def test_on_numpy_it_is_what_its_package_wrote(registry: Registry) -> None:
    install(registry, "slippery")
    assert chosen(run("acme", backend="numpy", steps=0)) == "acme@numpy"
    assert chosen(run("acme@numpy", steps=0)) == "acme@numpy"


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("one_by_one", "cannot be worked into a kernel"),
        ("of_a_list", "takes TABLE from around it, a list"),
        ("of_the_first_contact", "other numbers alone than among others"),
    ],
)
def test_what_cannot_be_traced_runs_on_numpy_and_says_why(
    registry: Registry, acme: Any, function: str, why: str
) -> None:
    install(registry, function)
    sim = run("acme", steps=0)
    assert chosen(sim) == "acme@numpy"
    assert why in sim.plan.choices["combine_friction"].fallback
    assert chosen(sim, "solve_constraints").endswith(LANES)
    given = run(getattr(acme, function), steps=0)
    assert why in given.plan.choices["combine_friction"].fallback


def test_nothing_fell_back_where_numpy_was_asked_for(registry: Registry) -> None:
    install(registry, "one_by_one")
    assert run("acme", backend="numpy", steps=0).plan.choices["combine_friction"].fallback == ""


def test_other_arguments_are_refused_as_on_numpy(registry: Registry) -> None:
    install(registry, "misnamed")
    with pytest.raises(PluginError, match="does not fit the stage"):
        run("acme", steps=0)


def test_the_sibling_that_a_package_brings_is_taken(registry: Registry) -> None:
    install(registry, "slippery")
    install(registry, "in_lanes", backend="lanes")
    sim = run("acme", steps=0)
    assert sim.plan.choices["combine_friction"].record.target == "acme_rules:in_lanes"
    assert sim.plan.choices["combine_friction"].record.function is None


def test_a_number_that_changes_makes_one_new_plan(registry: Registry, acme: Any) -> None:
    install(registry, "slippery")
    sims = [run("acme", steps=5), run("acme", backend="numpy", steps=5)]
    before = sims[0].plan
    acme.SCALE = 4.0
    for sim in sims:
        sim.step(10)
    after = sims[0].plan
    assert after is not before
    assert places(sims[0]) == pytest.approx(places(sims[1]), abs=1e-9)
    sims[0].step(1)
    assert sims[0].plan is after


def test_a_number_that_becomes_a_list_takes_the_rule_out_of_the_kernel(registry: Registry, acme: Any) -> None:
    install(registry, "slippery")
    sim = run("acme", steps=0)
    acme.SCALE = [0.25, 0.25, 0.25]
    assert not sim.plan.is_current
    assert sim.lock.stages["combine_friction"].implementation == "acme@numpy"
    assert chosen(sim) == "acme@numpy"


def test_nothing_stays_in_the_registry(registry: Registry) -> None:
    install(registry, "slippery")
    run("acme", steps=0)
    assert [r.label for r in registry.of("combine_friction") if r.name == "acme"] == ["acme@numpy"]


def test_a_function_in_a_call_makes_one_new_plan_too(registry: Registry, acme: Any) -> None:
    sim = run(acme.slippery, steps=0)
    acme.SCALE = 2.0
    assert not sim.plan.is_current
    assert sim.lock.stages["combine_friction"].implementation == f"slippery@{LANES}"
    assert sim.plan.is_current


def test_the_lock_names_the_source_of_the_package(
    registry: Registry, tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "acme_rules.py").write_text(ACME, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acme_rules")
    from dovetail import sources

    sources.forget()
    install(registry, "slippery")
    locked = [run("acme", backend=b, steps=0).lock.stages["combine_friction"] for b in (LANES, "numpy")]
    assert locked[0].source == locked[1].source != sources.UNKNOWN
    sources.forget()

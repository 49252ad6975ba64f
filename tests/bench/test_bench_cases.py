"""Models by name: where they come from, and that both engines read the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail.bench import cases
from dovetail.bench.cases import AbsentPackageError, UnknownModelError, chains, find, spheres
from dovetail.compare.rollout import Batch, Start, oracle_model, without_energy
from dovetail.contracts.enums import Integrator
from dovetail.simulation import Simulation


def test_a_plus_sets_the_integrator() -> None:
    assert find("humanoid").integrator is None
    model = find("humanoid+rk4").load()
    assert model.opt.integrator == Integrator.RK4
    assert find("humanoid").load().opt.integrator == Integrator.EULER


def test_a_file_may_have_a_plus_in_its_name(tmp_path: Path) -> None:
    path = tmp_path / "two+rk4"
    path.write_text("<mujoco/>")
    assert find(path).file == path


def test_an_unknown_name_has_suggestions() -> None:
    with pytest.raises(UnknownModelError, match=r"did you mean 'boxes'\?.*Known: .*gymnasium/ant\+euler"):
        find("boxs")


def test_models_of_installed_packages_are_found_by_prefix() -> None:
    pytest.importorskip("gymnasium")
    assert find("gymnasium/ant").load().nv == 14
    with pytest.raises(UnknownModelError, match="gymnasium has no model 'aunt'; did you mean 'ant'"):
        find("gymnasium/aunt")


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "find_spec", lambda name: None)
    with pytest.raises(AbsentPackageError, match="suite/quadruped: the package dm_control is not installed"):
        find("suite/quadruped")


def test_the_suite_has_no_name_twice_and_is_known() -> None:
    assert len(set(cases.SUITE)) == len(cases.SUITE)
    assert set(cases.SUITE) <= set(cases.known())


# ---- own models


@pytest.mark.parametrize(("name", "nv", "contacts"), [("boxes", 60, 30), ("meshes", 18, 3)])
def test_own_scenes_are_piles_that_touch(name: str, nv: int, contacts: int) -> None:
    """At least so many contacts per world after half a second."""
    pytest.importorskip("mujoco")
    case = find(name)
    oracle = oracle_model(case.source)
    start = Batch.of(oracle, Start.near(oracle, 4)).rolled_in(250)
    activity = Batch.of(oracle, start).after_one_step(4).activity
    assert oracle.nv == nv
    assert activity.contacts >= contacts


@pytest.mark.parametrize("case", [chains(2), spheres(3), find("boxes"), find("meshes")], ids=lambda c: c.name)
def test_both_engines_step_generated_models_alike(case: cases.Case) -> None:
    pytest.importorskip("mujoco")
    oracle = oracle_model(case.source)
    start = Batch.of(oracle, Start.near(oracle, 2)).rolled_in(50)
    one = Batch.of(oracle, start).after_one_step(2)
    sim = Simulation(without_energy(case.load()), nworld=2, backend="numpy", keep="state")
    start.write(sim.data)
    sim.step(1)
    after = {name: np.array(sim.data.field(name)) for name in ("qpos", "qvel")}
    # 1e-6: where curved or cornered meshes touch is found by iteration
    assert one.errors(after, 2).max() < (1e-6 if case.name == "meshes" else 1e-9)


def test_chains_have_eight_degrees_of_freedom_each() -> None:
    assert [chains(n).load().nv for n in (1, 3)] == [8, 24]


@pytest.mark.parametrize("touching", [0, 5])
def test_only_the_spheres_asked_for_touch_the_floor(touching: int) -> None:
    mujoco = pytest.importorskip("mujoco")
    oracle = oracle_model(spheres(touching).source)
    data = mujoco.MjData(oracle)
    mujoco.mj_step(oracle, data, 100)
    assert (data.ncon, oracle.nv) == (touching, 6 * cases.SPHERES)

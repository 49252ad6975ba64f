"""Rows of installed packages that add to what others compute take part only where somebody asks for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import dovetail
from dovetail import Model, compile_plan
from dovetail.config import Config
from dovetail.errors import ConfigError, SelectionError
from dovetail.implementation import Implementation
from dovetail.planning.plan import Plan
from dovetail.registry import PluginInfo, Registry

ADDING = {
    "passive_force:wind": {"key": "wind", "writes": "qfrc_passive"},
    "constraint_rows:door": {"key": "door", "writes": "nefc"},
    "step_begin": {"writes": ""},
    "step_end": {"writes": ""},
}
"""A row in every kind of stage of which all rows run."""


@pytest.fixture
def humanoid() -> Model:
    return dovetail.load("humanoid")


@pytest.fixture
def installed(registry: Registry, record: Any) -> Registry:
    """A package `acme-winds` with plugin `winds`, and a row in every such stage."""
    for slot, said in ADDING.items():
        made = record(slot.partition(":")[0], name="acme", reads="", **said)
        registry.implementations[-1] = attrs.evolve(made, provider="acme-winds")
    registry.plugins.append(PluginInfo("winds", "acme-winds", "1", "active"))
    return registry


def plan(model: Model, registry: Registry, stages: dict[str, str] | None = None, **said: Any) -> Plan:
    return compile_plan(model, Config.of_call(stages, **said), registry=registry)


def taking_part(found: Plan) -> set[str]:
    return {slot.label for slot in found.slots if slot.record.provider == "acme-winds"}


def test_what_is_only_installed_stays_out(humanoid: Model, installed: Registry) -> None:
    found = plan(humanoid, installed)
    assert taking_part(found) == set()
    assert {record.slot for record in found.unasked} == set(ADDING)
    assert "installed, not asked for: passive_force:wind acme@numpy of acme-winds" in found.explain()


@pytest.mark.parametrize("name", ["acme-winds", "winds"])
def test_the_package_or_plugin_can_be_asked_for(humanoid: Model, installed: Registry, name: str) -> None:
    expected = {"passive_force:wind", "constraint_rows:door", "step_begin#acme", "step_end#acme"}
    assert taking_part(plan(humanoid, installed, plugins=(name,))) == expected
    assert taking_part(plan(humanoid, installed, plugins=name)) == expected


@pytest.mark.parametrize(("slot", "wish"), [(slot, "acme") for slot in ADDING])
def test_a_single_row_can_be_asked_for(humanoid: Model, installed: Registry, slot: str, wish: str) -> None:
    labels = taking_part(plan(humanoid, installed, {slot: wish}))
    assert {label.partition("#")[0] for label in labels} == {slot}


def test_by_a_file_and_by_the_environment(
    humanoid: Model, installed: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.dovetail]\nplugins = ["acme-winds"]\n')
    assert taking_part(compile_plan(humanoid, registry=installed))
    (tmp_path / "pyproject.toml").unlink()
    assert not taking_part(compile_plan(humanoid, registry=installed))
    monkeypatch.setenv("DOVETAIL_PLUGINS", "other, winds")
    with pytest.raises(SelectionError, match="environment DOVETAIL_PLUGINS: plugins names 'other'"):
        compile_plan(humanoid, registry=installed)
    monkeypatch.setenv("DOVETAIL_PLUGINS", "winds")
    assert taking_part(compile_plan(humanoid, registry=installed))


def test_a_plugin_that_is_not_there_names_the_nearest(humanoid: Model, installed: Registry) -> None:
    with pytest.raises(
        SelectionError, match=r"plugins names 'acme-wind', which is not installed; did you mean"
    ):
        plan(humanoid, installed, plugins=("acme-wind",))
    with pytest.raises(ConfigError, match="plugins = 3 should be a list of plugins' names"):
        plan(humanoid, installed, plugins=3)


def test_what_took_part_is_recorded_with_its_provider(humanoid: Model, installed: Registry) -> None:
    found = plan(humanoid, installed, plugins=("winds",))
    assert found.implementations["passive_force:wind"] == "acme@numpy/1 of acme-winds"
    assert found.implementations["kinematics"] == "tree@numpy/1"


def test_rows_that_only_look_need_no_asking(registry: Registry, record: Any, humanoid: Model) -> None:
    """The model asks for them: by a sensor of their type, or as here by any rule of theirs."""
    made = record("energy", name="other", reads="qpos", writes="energy")
    registry.implementations[-1] = attrs.evolve(made, provider="acme-winds")
    assert plan(humanoid, registry, {"energy": "other"}).choices["energy"].record.name == "other"


def test_a_function_in_the_call_is_asked_for_by_being_there(humanoid: Model, registry: Registry) -> None:
    def wind(model: Any, data: Any) -> None:
        data.qfrc_passive[:] += 1.0

    extended, names = registry.extended({"passive_force:wind": wind})
    found = compile_plan(humanoid, Config.of_call(names), registry=extended)
    data = found.make_data()
    found.forward(data)
    assert np.all(data.qfrc_passive >= 1.0 - 1e-9)


def test_a_second_default_names_both_packages(humanoid: Model, registry: Registry) -> None:
    registry.add(
        Implementation(
            stage="mass_matrix",
            name="quick",
            backend="numpy",
            target="dovetail.plugins.mass_matrix.crb_numpy:mass_matrix",
            default=True,
            provider="acme-maths",
        )
    )
    with pytest.raises(SelectionError) as caught:
        plan(humanoid, registry)
    text = str(caught.value)
    assert "mass_matrix: 'crb' of dovetail and 'quick' of acme-maths both claim to be the default" in text
    assert 'stages={"mass_matrix": "crb"}' in text
    assert plan(humanoid, registry, {"mass_matrix": "quick"}).choices["mass_matrix"].record.name == "quick"


def test_a_package_s_check_of_models_is_asked_for_too(
    registry: Registry, record: Any, tmp_path: Path
) -> None:
    """Else a package could keep other people's models from loading."""
    made = record("check_model", lambda model: ["too heavy"], name="scales")
    registry.implementations[-1] = attrs.evolve(made, provider="acme-winds")
    registry.plugins.append(PluginInfo("winds", "acme-winds", "1", "active"))
    text = "<mujoco><worldbody/></mujoco>"
    assert dovetail.loads(text, registry=registry).nbody == 1
    (tmp_path / "dovetail.toml").write_text('plugins = ["winds"]\n')
    with pytest.raises(dovetail.DovetailError, match="too heavy"):
        dovetail.loads(text, registry=registry)

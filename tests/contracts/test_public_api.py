"""The public interface is the recorded one: nobody changes it by accident."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import dovetail
from dovetail.contracts.types import DATA_SPECS

FILE = Path(__file__).parents[2] / "docs" / "generate_api.py"


@pytest.fixture(scope="module")
def api() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_api", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_public_interface_is_the_recorded_one(api: ModuleType) -> None:
    changes = api.difference(api.recorded(), api.lines())
    assert not changes, api.complaint(changes)


def test_the_record_has_every_kind_of_promise(api: ModuleType) -> None:
    lines = api.recorded()
    for promise in (
        "dovetail.step(model: Model, data: Data, nstep: int = 1) -> None",
        "dovetail.Simulation(keyword precision: Precision | None = None)",
        "dovetail.plugin.Implementation = dovetail.Implementation",
        "dovetail.plugin.JointType.HINGE = 3",
        "dovetail.errors.LockError: class of SelectionError",
        "dovetail.errors.LockError(*arguments: object) -> None",
        "dovetail run MODEL",
        "dovetail run --precision: choice f64|f32",
        "setting backend",
        "variable DOVETAIL_LOCKED",
        "factor_mass writes qLD qLDiagInv",
        "Data.qpos: real(nq), state",
        "Model.body_mass: float64(nbody)",
    ):
        assert promise in lines


def test_a_lost_parameter_a_lost_name_and_a_changed_field_are_seen(
    api: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step(model: dovetail.Model, data: dovetail.Data) -> None: ...

    monkeypatch.setattr(dovetail, "step", step)
    monkeypatch.setattr(dovetail, "__all__", [name for name in dovetail.__all__ if name != "ray"])
    fewer = {name: spec for name, spec in DATA_SPECS.items() if name != "qvel"}
    monkeypatch.setattr("dovetail.contracts.types.DATA_SPECS", fewer)
    changes = api.difference(api.recorded(), api.lines())
    assert "-dovetail.step(model: Model, data: Data, nstep: int = 1) -> None" in changes
    assert "+dovetail.step(model: dovetail.Model, data: dovetail.Data) -> None" in changes
    assert any(change.startswith("-dovetail.ray(") for change in changes)
    assert "-Data.qvel: real(nv), state" in changes
    said = api.complaint(changes)
    assert "To accept the change: python docs/generate_api.py" in said
    assert "-Data.qvel: real(nv), state" in said


def test_the_record_depends_on_the_code_alone(api: ModuleType) -> None:
    assert api.lines() == api.lines()
    assert not [line for line in api.recorded() if " at 0x" in line or str(FILE.parents[1]) in line]

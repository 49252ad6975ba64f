"""Each house check catches the fault it is there for."""

from __future__ import annotations

import itertools
import subprocess
import sys
from types import ModuleType
from typing import Any

import attrs
import numpy as np
import pytest

from dovetail.errors import PluginError
from dovetail.implementation import Implementation
from dovetail.testing import checks, parametrize_with_checks
from dovetail.testing.cases import NotApplicableError, Subject

MODULE = "faulty_stages"


def drag(model: Any, data: Any) -> None:
    """A well-behaved passive force."""
    data.qfrc_passive[:] -= 0.1 * data.qvel


GOOD = Implementation(
    stage="passive_force",
    key="drag",
    name="linear",
    backend="numpy",
    target=f"{MODULE}:drag",
    reads="qvel qfrc_passive",
    writes="qfrc_passive",
    summary="Linear drag",
)


@pytest.fixture(autouse=True)
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module in which the implementations under test live."""
    made = ModuleType(MODULE)
    made.drag = drag  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, MODULE, made)
    return made


def subject(record: Implementation = GOOD, **changes: Any) -> Subject:
    return Subject.of(attrs.evolve(record, **changes))


@pytest.mark.parametrize("check", [*checks.RECORD_CHECKS, *checks.RUN_CHECKS])
def test_well_behaved_plugin_passes_without_being_installed(check: checks.Check) -> None:
    if check is checks.check_agrees_with_reference:
        with pytest.raises(NotApplicableError):
            check(subject())
    else:
        check(subject())


def test_missing_summary() -> None:
    with pytest.raises(AssertionError, match="passive_force:drag linear@numpy has no summary"):
        checks.check_summary(subject(summary=""))


def test_unknown_fields_are_refused_before_any_check() -> None:
    with pytest.raises(PluginError, match="there is no Data or kernel field 'qfrc_drag'; did you mean"):
        subject(writes="qfrc_passive qfrc_drag")


def test_wrong_signature(module: ModuleType) -> None:
    module.drag = lambda model, data, wind: None
    with pytest.raises(PluginError, match="does not fit the stage"):
        checks.check_target(subject())


def test_undeclared_write(module: ModuleType) -> None:
    def faulty(model: Any, data: Any) -> None:
        drag(model, data)
        data.qfrc_bias[:] += 1.0

    module.drag = faulty
    with pytest.raises(AssertionError, match="changes fields it does not declare: qfrc_bias"):
        checks.check_writes_only_declared(subject())


def test_write_to_the_model(module: ModuleType) -> None:
    def faulty(model: Any, data: Any) -> None:
        model.dof_damping[:] += 1.0

    module.drag = faulty
    from dovetail.testing.samples import sample

    kept = {name: np.array(sample(name).dof_damping) for name in ("chain", "loose", "undriven")}
    try:
        with pytest.raises(AssertionError, match="changes the Model"):
            checks.check_writes_only_declared(subject())
    finally:
        for name, value in kept.items():
            sample(name).dof_damping[:] = value


def test_undeclared_read(module: ModuleType) -> None:
    def faulty(model: Any, data: Any) -> None:
        data.qfrc_passive[:] -= data.qvel * (1.0 + 1e-300 * data.qacc_smooth)

    module.drag = faulty
    with pytest.raises(AssertionError, match="reads undeclared fields: poisoned, they change qfrc_passive"):
        checks.check_reads_only_declared(subject())


def test_chance(module: ModuleType) -> None:
    counter = itertools.count()

    def faulty(model: Any, data: Any) -> None:
        data.qfrc_passive[:] = next(counter)

    module.drag = faulty
    with pytest.raises(AssertionError, match="gives other bits the second time: qfrc_passive"):
        checks.check_deterministic(subject())


def test_dependence_on_other_worlds(module: ModuleType) -> None:
    seen: list[float] = []

    def faulty(model: Any, data: Any) -> None:
        seen.append(1.0)
        data.qfrc_passive[:] -= len(seen) * data.qvel

    module.drag = faulty
    with pytest.raises(AssertionError, match="has other bits than the same world alone"):
        checks.check_independent_of_world_count(subject())


def test_division_by_an_empty_mean(module: ModuleType) -> None:
    def faulty(model: Any, data: Any) -> None:
        data.qfrc_passive[:] = np.float64(0.0) / np.float64(model.nu) if model.nu else np.nan

    module.drag = faulty
    with pytest.raises(AssertionError, match="leaves NaN or infinity in qfrc_passive"):
        checks.check_zero_sizes(subject())


def test_no_model_that_makes_it_run_is_said() -> None:
    record = attrs.evolve(GOOD, stage="sleep", key=None, name="mine", writes=None, reads=None)
    with pytest.raises(NotApplicableError, match="makes it run; give one with parametrize_with_checks"):
        checks.check_deterministic(subject(record))


def test_expected_failure_must_exist() -> None:
    with pytest.raises(ValueError, match="names checks that do not exist: nonsense"):
        parametrize_with_checks([GOOD], expected_failures={"nonsense": "because"})


def test_every_check_says_what_it_checks() -> None:
    assert all(check.__doc__ for check in (*checks.RECORD_CHECKS, *checks.RUN_CHECKS))


def test_pytest_plugin_is_light() -> None:
    """Every pytest session in an environment with dovetail loads it."""
    code = (
        "import sys, dovetail.testing.pytest_plugin; "
        "print([m for m in ('numpy', 'mujoco', 'taichi', 'quadrants', 'attrs') if m in sys.modules])"
    )
    heavy = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert heavy.strip() == "[]"

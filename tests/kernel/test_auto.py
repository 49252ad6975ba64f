"""`backend="auto"`, which is meant where nobody says: the fastest backend that is here, and what is said of it."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from lane_backend import NO_COMPILER

import dovetail
from dovetail import Model, Simulation, compile_plan
from dovetail.backends.native.backend import NativeBackend
from dovetail.backends.taichi.backend import TaichiBackend
from dovetail.config import Config
from dovetail.once import Once
from dovetail.planning import auto, planner
from dovetail.planning.plan import Plan
from dovetail.planning.wrappers import Profiler

NATIVE_IS_HERE = pytest.mark.skipif(NO_COMPILER, reason="there is no C compiler here")


@pytest.fixture(autouse=True)
def real_auto(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`auto` as users have it, not as other tests do; nothing was told before; no configuration but the test's."""
    monkeypatch.setattr(planner, "preferred", auto.preferred)
    monkeypatch.setattr(auto, "_told", Once())
    monkeypatch.delenv("DOVETAIL_BACKEND", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NativeBackend, "missing", lambda self: "ziglang")


@pytest.fixture
def no_taichi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TaichiBackend, "missing", lambda self: "taichi")


@pytest.fixture
def taichi(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if one of its runtimes were installed; nothing is compiled here."""
    monkeypatch.setattr(TaichiBackend, "missing", lambda self: "")


def backends(plan: Plan) -> set[str]:
    return {slot.record.backend for slot in plan.slots}


def planned(model: Model, nworld: int | None = None, **more: Any) -> Plan:
    return compile_plan(model, Config.of_call(**more), nworld=nworld)


# ---- what is taken


@NATIVE_IS_HERE
@pytest.mark.parametrize("nworld", [None, 1, 9])
@pytest.mark.parametrize("said", [{}, {"backend": "auto"}], ids=["nothing said", "auto"])
def test_native_where_a_compiler_is_there(
    pendulum: Model, nworld: int | None, said: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    plan = planned(pendulum, nworld, **said)
    assert backends(plan) == {"native"}
    assert plan.auto is not None
    assert plan.auto.backend == "native"
    assert "   -  backend auto: native, the fastest that is here" in plan.explain()
    assert not caplog.records


@pytest.mark.usefixtures("no_compiler", "taichi")
def test_taichi_for_batches_without_a_compiler(pendulum: Model, caplog: pytest.LogCaptureFixture) -> None:
    plan = planned(pendulum, 4)
    assert backends(plan) == {"taichi"}
    assert '-  backend auto: taichi, native needs ziglang (pip install "dovetail' in plan.explain()
    (told,) = caplog.records
    assert told.levelno == logging.WARNING
    assert told.getMessage().startswith("running on taichi: native needs ziglang (pip install ")


@pytest.mark.usefixtures("no_compiler", "taichi")
def test_numpy_for_one_world_without_a_compiler(pendulum: Model, caplog: pytest.LogCaptureFixture) -> None:
    """Taichi's kernels take longer to compile than one world takes on NumPy."""
    plan = planned(pendulum)
    assert backends(plan) == {"numpy"}
    (told,) = caplog.records
    assert told.getMessage().startswith("running on numpy: native needs ziglang")
    assert "\n" not in told.getMessage()


@pytest.mark.usefixtures("no_compiler", "no_taichi")
@pytest.mark.parametrize("nworld", [None, 4])
def test_numpy_where_nothing_else_is(
    pendulum: Model, nworld: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    plan = planned(pendulum, nworld)
    assert backends(plan) == {"numpy"}
    (told,) = caplog.records
    text = told.getMessage()
    assert text.startswith("running on numpy: native needs ziglang")
    assert ("taichi needs taichi (pip install" in text) == (nworld is not None)
    assert "backend auto: numpy, native needs ziglang" in plan.explain()


@NATIVE_IS_HERE
@pytest.mark.usefixtures("taichi")
def test_numpy_where_something_stands_between_stages(
    pendulum: Model, caplog: pytest.LogCaptureFixture
) -> None:
    plan = compile_plan(pendulum, Config.of_call(), wrappers=(Profiler(),), nworld=3)
    assert backends(plan) == {"numpy"}
    assert "backend auto: numpy, something stands between stages" in plan.explain()
    sim = Simulation(pendulum, wrap=(Profiler(),))
    assert backends(sim.plan) == {"numpy"}
    assert not caplog.records  # it is in the plan, and what the user asked for


@pytest.mark.usefixtures("no_compiler", "no_taichi")
def test_it_is_told_once(pendulum: Model, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        Simulation(pendulum)
        Simulation(pendulum, nworld=2)
    assert len(caplog.records) == 2  # for one world, and for a batch
    assert len({record.getMessage() for record in caplog.records}) == 2


@NATIVE_IS_HERE
def test_a_plan_made_again_after_an_edit_stays_where_it_was(pendulum: Model) -> None:
    sim = Simulation(pendulum)
    sim.step()
    pendulum.opt.integrator = 1  # Runge-Kutta
    sim.step()
    assert backends(sim.plan) == {"native"}


@NATIVE_IS_HERE
def test_what_has_no_kernel_falls_back_and_is_told(pendulum: Model) -> None:
    """A function of the user's own that is no builder."""
    sim = Simulation(pendulum, stages={"passive_force:mine": lambda model, data: None})
    assert sim.plan.choices["passive_force:mine"].record.backend == "numpy"
    assert "native" in backends(sim.plan)


@NATIVE_IS_HERE
def test_auto_computes_what_its_backend_by_name_does(pendulum: Model) -> None:
    for nworld in (None, 3):
        sims = [Simulation(pendulum, nworld, backend=backend) for backend in (None, "auto", "native")]
        for sim in sims:
            sim.data.qpos[...] = 0.3
            sim.step(5)
        bits = {np.asarray(sim.data.qpos).tobytes() for sim in sims}
        assert len(bits) == 1


# ---- who overrides it


@pytest.mark.parametrize("name", ["numpy", "native"])
@NATIVE_IS_HERE
def test_a_backend_by_name_is_taken(pendulum: Model, name: str) -> None:
    plan = planned(pendulum, backend=name)
    assert backends(plan) == {name}
    assert plan.auto is None
    assert "backend auto" not in plan.explain()


@NATIVE_IS_HERE
def test_one_stage_by_name_leaves_auto_to_the_others(pendulum: Model) -> None:
    plan = planned(pendulum, stages={"bias_force": "@numpy"})
    assert plan.choices["bias_force"].record.backend == "numpy"
    assert backends(plan) == {"native", "numpy"}


def configured(folder: Path, text: str) -> None:
    (folder / "dovetail.toml").write_text(text)


def test_a_configuration_and_the_environment_override_it(
    pendulum: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(tmp_path, 'backend = "numpy"\n')
    assert backends(Simulation(pendulum).plan) == {"numpy"}
    configured(tmp_path, "")
    monkeypatch.setenv("DOVETAIL_BACKEND", "numpy")
    plan = Simulation(pendulum).plan
    assert backends(plan) == {"numpy"}
    assert plan.auto is None


@NATIVE_IS_HERE
def test_auto_can_be_said_everywhere(
    pendulum: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(tmp_path, 'backend = "auto"\n')
    assert backends(Simulation(pendulum).plan) == {"native"}
    configured(tmp_path, 'backend = "numpy"\n')
    monkeypatch.setenv("DOVETAIL_BACKEND", "auto")
    assert backends(Simulation(pendulum).plan) == {"native"}
    monkeypatch.setenv("DOVETAIL_BACKEND", "numpy")
    assert backends(Simulation(pendulum, backend="auto").plan) == {"native"}


def test_a_named_compiler_that_does_not_work_is_an_error_and_no_silent_change(
    pendulum: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CC", "no_such_compiler")
    with pytest.raises(
        dovetail.DovetailError, match="DOVETAIL_CC: the compiler 'no_such_compiler' cannot be run"
    ):
        Simulation(pendulum)


# ---- threads


def processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def test_threads_are_all_processors_for_a_batch_and_one_for_a_world(pendulum: Model) -> None:
    assert planned(pendulum).threads == 1
    assert planned(pendulum, 5).threads == processors()
    assert planned(pendulum, 5, threads=1).threads == 1
    assert auto.default_threads(None) == 1


def test_threads_are_no_more_than_this_process_may_use(
    pendulum: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 2, 5}, raising=False)
    assert planned(pendulum, 5).threads == 3


def test_a_preference_is_not_asked_of_who_has_none(pendulum: Model) -> None:
    """A backend of someone else's is taken by name only."""
    from dovetail.registry import default_registry

    registry = default_registry()
    found = {name: auto._preference(backend, 8) for name, backend in registry.backends.items()}
    assert found["native"] > found["taichi"] > 0
    assert found["numpy"] == 0
    assert auto._preference(attrs.make_class("Other", ["name"])("other"), 8) == 0

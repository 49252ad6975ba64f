"""Sixteen ways in which a stranger's package can be wrong: each is told with the package's name and what to do."""

from __future__ import annotations

import importlib.metadata
import sys
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import attrs
import numpy as np
import pytest

import dovetail
from dovetail import registry as registry_module
from dovetail.backends.lanes.kernel import LaneError
from dovetail.errors import ArgumentError, DovetailError, PluginError, UndeclaredFieldError, WrittenKindError
from dovetail.once import Once
from dovetail.plugin import Implementation, hookimpl
from dovetail.registry import build_registry, default_registry

MODULE = "third_party_stages"
SLOT = "passive_force:bad"


def record(**said: Any) -> Implementation:
    usual = {
        "stage": "passive_force",
        "key": "bad",
        "name": "mine",
        "backend": "numpy",
        "target": f"{MODULE}:stage",
        "reads": "qvel qfrc_passive",
        "writes": "qfrc_passive",
        "summary": "Wrong in one way",
    }
    return Implementation(**{**usual, **said})


def plugin(answer: object) -> ModuleType:
    """A plugin whose hook gives this answer."""
    module = ModuleType("bad_plugin")

    def dovetail_implementations() -> object:
        return answer

    module.dovetail_implementations = hookimpl(dovetail_implementations)  # type: ignore[attr-defined]
    return module


def good(model: Any, data: Any) -> None:
    data.qfrc_passive[:] -= 0.1 * data.qvel


class Entry:
    """An installed entry point."""

    name = "bad"
    dist = SimpleNamespace(name="dovetail-bad", version="0.1")

    def __init__(self, found: object) -> None:
        self.found = found

    def load(self) -> object:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Pretend that a package with this plugin, and this function for its stage, is installed."""

    def pretend(found: object, stage: object = good) -> None:
        def entry_points(group: str) -> tuple[Entry, ...]:
            return (Entry(found),) if group == "dovetail.plugins" else ()

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
        monkeypatch.setattr(registry_module, "_cached", None)
        monkeypatch.setattr(registry_module, "_told", Once())
        module = ModuleType(MODULE)
        module.stage = stage  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, MODULE, module)

    yield pretend
    registry_module._cached = None


# ---- told when plugins are found: a warning, and the run goes on


@attrs.frozen
class Found:
    """What is installed, and what the warning says about it."""

    plugin: object
    text: str
    rest_is_used: bool = False


AT_DISCOVERY = {
    "unknown stage": Found(plugin([record(stage="passive_forcee")]), r"did you mean 'passive_force'\?"),
    "unknown backend": Found(
        plugin([record(backend="nunpy")]),
        r"passive_force:bad mine@nunpy is for a backend that is not installed; did you mean 'numpy'\?.*"
        "Correct backend= of the record",
        rest_is_used=True,
    ),
    "unknown field": Found(
        plugin([record(reads="qvell")]), r"no Data or kernel field 'qvell'; did you mean 'qvel'\?"
    ),
    "module without hooks": Found(
        ModuleType("empty_module"), "empty_module has no hooks, so it offers nothing; write a function"
    ),
    "string for a list": Found(
        plugin("passive_force"), r"returns 'passive_force'; it should return a list: return \[Implementation"
    ),
    "list of wrong things": Found(
        plugin([record(), {"stage": "energy"}]), r"entry 1 is \{'stage': 'energy'\}, not an Implementation"
    ),
    "crash at import": Found(ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
    "duplicate name": Found(
        plugin([record(key="spring", name="joint")]),
        "registered twice: by dovetail and by dovetail-bad; disable",
    ),
    "unknown feature": Found(
        plugin([record(supports="joint.bal")]), r"supports names 'joint.bal', .*did you mean 'joint.ball'\?"
    ),
}


@pytest.mark.parametrize("kind", AT_DISCOVERY)
def test_what_cannot_be_registered_is_told_once_and_left_out(install: Callable[..., None], kind: str) -> None:
    case = AT_DISCOVERY[kind]
    install(case.plugin)
    with pytest.warns(UserWarning, match=f"plugin 'bad' of dovetail-bad(.|\n)*{case.text}") as told:
        dovetail.Simulation("pendulum", backend="numpy").step(2)
    assert len(told) == 1
    info = next(p for p in default_registry().plugins if p.name == "bad")
    assert info.status == ("active" if case.rest_is_used else "broken")
    assert info.detail
    with warnings.catch_warnings():  # also when the registry is built again
        warnings.simplefilter("error")
        registry_module._cached = None
        default_registry()


def test_a_broken_plugin_can_be_silenced_as_its_warning_says(
    install: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(ImportError("gone"))
    with pytest.warns(UserWarning, match="or set DOVETAIL_DISABLED_PLUGINS=bad to leave it out"):
        build_registry()
    monkeypatch.setenv("DOVETAIL_DISABLED_PLUGINS", "bad")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_registry()


def test_an_unmarked_hook_is_named(install: Callable[..., None]) -> None:
    module = ModuleType("unmarked")
    module.dovetail_implementations = lambda: [record()]  # type: ignore[attr-defined]
    install(module)
    with pytest.warns(UserWarning, match="mark dovetail_implementations with @hookimpl"):
        build_registry()


# ---- told when the stage is selected


AT_SELECTION: dict[str, tuple[Any, str]] = {
    "too few arguments": (
        lambda model: None,
        r"whose arguments are \(model, data\): it takes \(model\) and lacks data; add it",
    ),
    "too many arguments": (
        lambda model, data, wind: None,
        r"whose arguments are \(model, data\): it also wants wind; take it out, or give a default",
    ),
    "arguments in another order": (lambda data, model: None, "put them in the stage's order"),
    "not a function": ("a string", "it is 'a string', which cannot be called"),
}


@pytest.mark.parametrize("kind", AT_SELECTION)
def test_what_does_not_fit_is_an_error_for_who_selects_it(install: Callable[..., None], kind: str) -> None:
    function, text = AT_SELECTION[kind]
    install(plugin([record()]), function)
    dovetail.Simulation("pendulum", backend="numpy").step()  # nobody asked for it
    with pytest.raises(PluginError, match=f"{SLOT} mine@numpy from dovetail-bad: .*{text}"):
        dovetail.Simulation("pendulum", backend="numpy", plugins="bad")


def test_a_target_that_crashes_when_imported_is_an_error_for_who_selects_it(
    install: Callable[..., None],
) -> None:
    install(plugin([record(target="no_such_package.stages:stage")]))
    dovetail.Simulation("pendulum", backend="numpy").step()
    with pytest.raises(PluginError, match=r"from dovetail-bad: importing no_such_package\.stages failed"):
        dovetail.Simulation("pendulum", backend="numpy", plugins="bad")


# ---- told when the stage runs


def undeclared_write(model: Any, data: Any) -> None:
    data.qfrc_bias[:] += 1.0


def undeclared_sum(model: Any, data: Any) -> None:
    bias = data.qvel
    bias += 1.0


def undeclared_read(model: Any, data: Any) -> None:
    data.qfrc_passive[:] -= data.qpos[: model.nv]


def single_precision(model: Any, data: Any) -> None:
    data.qfrc_passive[:] = -data.qvel.astype(np.float32)


def complex_numbers(model: Any, data: Any) -> None:
    data.qfrc_passive = data.qvel + 0j


def wrong_shape(model: Any, data: Any) -> None:
    data.qfrc_passive = np.zeros(model.nv + 1)


def crash(model: Any, data: Any) -> None:
    raise KeyError("drag coefficient")


@attrs.frozen
class Running:
    stage: Callable[..., None]
    error: type[Exception]
    text: str
    strict: bool = True


AT_RUN = {
    "undeclared write": Running(
        undeclared_write,
        UndeclaredFieldError,
        "reads qfrc_bias, which its record does not declare.*Add it to",
    ),
    "undeclared write in place": Running(
        undeclared_sum,
        UndeclaredFieldError,
        "writes qvel, which its record does not declare.*Add it to writes=",
    ),
    "undeclared read": Running(
        undeclared_read,
        UndeclaredFieldError,
        "reads qpos, which its record does not declare.*Add it to reads=",
    ),
    "wrong dtype": Running(
        single_precision,
        WrittenKindError,
        "writes numbers of type float32 into qfrc_passive, which holds float64",
    ),
    "complex numbers": Running(complex_numbers, WrittenKindError, "type complex128 into qfrc_passive"),
    "wrong shape": Running(wrong_shape, ArgumentError, r"qfrc_passive has shape \(2,\)", strict=False),
    "crash at call": Running(crash, KeyError, "drag coefficient", strict=False),
}


@pytest.mark.parametrize("kind", AT_RUN)
def test_what_goes_wrong_while_it_runs_names_stage_package_and_world(
    install: Callable[..., None], kind: str
) -> None:
    case = AT_RUN[kind]
    install(plugin([record()]), case.stage)
    sim = dovetail.Simulation("pendulum", 2, backend="numpy", plugins="bad", strict=case.strict)
    with pytest.raises(case.error, match=case.text) as caught:
        sim.step()
    note = f"in stage {SLOT} mine@numpy of dovetail-bad, in world 0 ({MODULE}:stage)"
    assert caught.value.__notes__ == [note]
    if issubclass(case.error, PluginError):
        assert f"{SLOT} mine@numpy of dovetail-bad" in str(caught.value)


@pytest.mark.parametrize("strict", [False, True])
def test_a_right_plugin_runs_strictly_too_and_gives_the_same_bits(
    install: Callable[..., None], strict: bool
) -> None:
    install(plugin([record()]))
    sims = [
        dovetail.Simulation("pendulum", backend="numpy", plugins="bad", strict=how) for how in (False, strict)
    ]
    for sim in sims:
        sim.reset("level")
        sim.step(20)
    assert sims[0].data.qvel.any()
    assert sims[0].data.qpos.tobytes() == sims[1].data.qpos.tobytes()


def test_a_builder_that_touches_what_it_does_not_declare_is_an_error_of_the_plan(
    install: Callable[..., None],
) -> None:
    def builder(k: Any) -> None:
        with k.loop(0, k.model.nv) as dof:
            k.data.qfrc_passive[dof] -= k.data.qacc_warmstart[dof]

    install(plugin([record(backend="lanes")]), builder)
    with pytest.raises(LaneError, match="of dovetail-bad reads qacc_warmstart without declaring it"):
        dovetail.Simulation("pendulum", stages={SLOT: "mine@native"})


def test_a_builder_that_crashes_is_named(install: Callable[..., None]) -> None:
    def builder(k: Any) -> None:
        raise KeyError("drag coefficient")

    install(plugin([record(backend="lanes")]), builder)
    with pytest.raises(KeyError) as caught:
        dovetail.Simulation("pendulum", stages={SLOT: "mine@native"})
    assert caught.value.__notes__ == [f"in stage {SLOT} mine@native of dovetail-bad ({MODULE}:stage)"]


def test_strict_can_be_asked_for_by_variable_and_is_refused_when_unclear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOVETAIL_STRICT", "yes")
    assert dovetail.Simulation("pendulum", backend="numpy").plan.options["strict"] is True
    monkeypatch.setenv("DOVETAIL_STRICT", "perhaps")
    with pytest.raises(DovetailError, match="DOVETAIL_STRICT: strict = 'perhaps' should be true or false"):
        dovetail.Simulation("pendulum", backend="numpy")


def test_there_are_the_sixteen_kinds_of_the_guide() -> None:
    kinds = {*AT_DISCOVERY, *AT_SELECTION, *AT_RUN}
    assert len(kinds) >= 16

"""Choosing implementations: who wins, what falls back, and errors that say what exists and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dovetail
from dovetail import Model
from dovetail.config import Config
from dovetail.contracts.enums import Integrator
from dovetail.errors import (
    MissingDependencyError,
    PluginError,
    SelectionError,
    UnknownImplementationError,
    UnknownStageError,
    UnsuitableImplementationError,
)
from dovetail.planning.needs import ModelFacts
from dovetail.planning.plan import Plan
from dovetail.planning.plan_selection import PlanSelector
from dovetail.planning.planner import compile_plan
from dovetail.planning.selection import Choice
from dovetail.registry import Registry

Compile = Callable[..., Plan]


@pytest.fixture
def plan(pendulum: Model, registry: Registry) -> Compile:
    """Compile a plan for the pendulum: `plan({"integrate": "rk4"}, backend="toy")`."""

    def compile_for_call(stages: dict[str, str] | None = None, **settings: object) -> Plan:
        return compile_plan(pendulum, Config.of_call(stages, **settings), registry=registry)

    return compile_for_call


def chosen(plan: Plan, slot: str) -> tuple[str, str]:
    choice: Choice = plan.choices[slot]
    return choice.record.label, choice.origin


# ---- order


def test_call_beats_file_beats_environment_beats_model_beats_default(
    pendulum: Model, registry: Registry, record: Callable[..., object], tmp_path: Path
) -> None:
    for name in ("by_call", "by_file", "by_environment"):
        record("integrate", lambda model, data, evaluation: None, name=name)
    file = tmp_path / "dovetail.toml"
    file.write_text('[stages]\nintegrate = "by_file"\n')
    pendulum.opt.integrator = Integrator.RK4
    sources = [
        (Config.of_call({"integrate": "by_call"}), "by_call", "call argument"),
        (Config.of_file(file), "by_file", f"{file}:2"),
        (
            Config.of_environment({"DOVETAIL_STAGE_INTEGRATE": "by_environment"}),
            "by_environment",
            "environment DOVETAIL_STAGE_INTEGRATE",
        ),
        (Config(), "rk4", "model option integrator=rk4"),
    ]
    for n, (_, name, origin) in enumerate(sources):
        config = Config.merge([source for source, _, _ in sources[n:]])
        choice = PlanSelector(registry, config, ModelFacts(pendulum, registry)).choose("integrate")
        assert (choice.record.name, choice.origin) == (name, origin)


def test_the_default_is_the_record_marked_so(plan: Compile, record: Callable[..., object]) -> None:
    record("bias_force", name="another")
    assert chosen(plan(), "bias_force") == ("rne@numpy", "default")


def test_a_wish_for_a_row_beats_a_wish_for_its_stage(plan: Compile, record: Callable[..., object]) -> None:
    for key in ("spring", "damper"):
        record("passive_force", name="other", key=key)
    compiled = plan({"passive_force": "other", "passive_force:spring": "joint"})
    assert chosen(compiled, "passive_force:spring")[0] == "joint@numpy"
    assert chosen(compiled, "passive_force:damper")[0] == "other@numpy"


def test_name_and_backend_may_be_wished_for_in_different_places(
    pendulum: Model, registry: Registry, record: Callable[..., object], toy_backend: object
) -> None:
    record("bias_force", name="mine", backend="toy")
    config = Config.merge(
        [Config.of_call({"bias_force": "@toy"}), Config.of_environment({"DOVETAIL_STAGE_BIAS_FORCE": "mine"})]
    )
    assert (
        PlanSelector(registry, config, ModelFacts(pendulum, registry)).choose("bias_force").record.label
        == "mine@toy"
    )


# ---- fallback


def test_a_backend_wished_for_everywhere_falls_back_and_the_plan_says_so(
    plan: Compile, record: Callable[..., object], toy_backend: object
) -> None:
    record("bias_force", name="rne", backend="toy")
    compiled = plan(backend="toy")
    assert chosen(compiled, "bias_force") == ("rne@toy", "backend by call argument")
    assert chosen(compiled, "kinematics")[0] == "tree@numpy"
    assert compiled.choices["bias_force"].fallback == ""
    assert compiled.choices["kinematics"].fallback == (
        "toy wished by call argument: tree has no toy implementation"
    )
    assert "fell back: toy wished by call argument: tree has no toy implementation" in compiled.explain()


def test_a_default_backend_that_does_not_suit_the_model_falls_back_too(
    plan: Compile, record: Callable[..., object], toy_backend: object
) -> None:
    record("bias_force", name="rne", backend="toy", supports="joint.slide")
    compiled = plan(backend="toy")
    assert chosen(compiled, "bias_force")[0] == "rne@numpy"
    assert compiled.choices["bias_force"].fallback.endswith("rne@toy does not handle joint.hinge")


@pytest.mark.parametrize("wish", ["rne@toy", "@toy"])
def test_a_named_choice_never_falls_back(plan: Compile, toy_backend: object, wish: str) -> None:
    with pytest.raises(
        UnknownImplementationError,
        match=r"bias_force: 'rne@toy', asked for by call argument, is not installed; did you mean 'rne@\w+'\? "
        "Installed: rne@native, rne@numpy, rne@taichi",
    ):
        plan({"bias_force": wish})


# ---- what cannot be satisfied


def test_an_unknown_stage_is_named_with_its_origin(plan: Compile, tmp_path: Path) -> None:
    with pytest.raises(
        UnknownStageError, match=r"call argument: there is no stage 'kinematic'; did you mean 'kinematics'"
    ):
        plan({"kinematic": "tree"})


def test_an_unknown_row_lists_the_rows(plan: Compile) -> None:
    with pytest.raises(
        UnknownStageError,
        match=r"stage passive_force has no row 'sprung'; did you mean 'spring'\? Rows: contact, damper, .*spring",
    ):
        plan({"passive_force:sprung": "joint"})


def test_an_unknown_algorithm_says_who_asked_and_what_exists(plan: Compile) -> None:
    with pytest.raises(
        UnknownImplementationError,
        match=r"integrate: 'rk5', asked for by call argument, is not installed; did you mean 'rk4'\? Installed: "
        "euler@native, euler@numpy, euler@taichi, .*rk4@numpy",
    ):
        plan({"integrate": "rk5"})


def test_an_unknown_backend_is_named_for_one_stage_and_for_all(plan: Compile) -> None:
    for arguments in ({"stages": {"integrate": "@taici"}}, {"backend": "taici"}):
        with pytest.raises(UnknownImplementationError, match=r"no backend 'taici'; did you mean 'taichi'\?"):
            plan(**arguments)


def test_a_missing_package_tells_the_pip_install(plan: Compile, record: Callable[..., object]) -> None:
    record("bias_force", name="quick", requires="no_such_package", install="dovetail-quick[all]")
    with pytest.raises(
        MissingDependencyError,
        match=r"bias_force: quick@numpy \(asked for by call argument\) needs the package 'no_such_package', "
        r'which is not installed; run: pip install "dovetail-quick\[all\]"',
    ):
        plan({"bias_force": "quick"})


def test_a_required_module_without_advice_is_itself_the_advice(
    plan: Compile, record: Callable[..., object]
) -> None:
    record("bias_force", name="quick", requires="no_such_package")
    with pytest.raises(MissingDependencyError, match='pip install "no_such_package"'):
        plan({"bias_force": "quick"})


def test_a_missing_runtime_tells_the_backends_pip_install(
    plan: Compile, record: Callable[..., object], toy_backend: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    record("bias_force", name="rne", backend="toy")
    monkeypatch.setattr(toy_backend, "missing", lambda: "toyrt")
    with pytest.raises(MissingDependencyError, match=r"needs the package 'toyrt'.*pip install .toy-runtime."):
        plan({"bias_force": "@toy"})


def test_an_implementation_that_cannot_handle_the_model_lists_those_that_can(
    plan: Compile, record: Callable[..., object]
) -> None:
    record("bias_force", name="sliders", supports="joint.slide joint.free")
    with pytest.raises(
        UnsuitableImplementationError,
        match=r"sliders@numpy does not handle joint.hinge, which this model uses \(asked for by call argument\)\. "
        "Suitable: rne@native, rne@numpy, rne@taichi",
    ):
        plan({"bias_force": "sliders"})


def test_groups_a_record_does_not_mention_it_handles_wholly(
    plan: Compile, record: Callable[..., object]
) -> None:
    record("bias_force", name="any_joint", supports="geom.capsule")
    assert chosen(plan({"bias_force": "any_joint"}), "bias_force")[0] == "any_joint@numpy"


def test_several_without_a_default_must_be_chosen_from(plan: Compile, record: Callable[..., object]) -> None:
    record("passive_force", key="wind", name="linear")
    record("passive_force", key="wind", name="quadratic")
    with pytest.raises(
        SelectionError,
        match=r'passive_force:wind: several .* none is the default: linear, quadratic\. Choose one, e\.g\. stages={"',
    ):
        plan()
    assert chosen(plan({"passive_force:wind": "linear"}), "passive_force:wind")[0] == "linear@numpy"


def test_an_added_row_joins_without_being_asked_for(plan: Compile, record: Callable[..., object]) -> None:
    record("passive_force", key="wind", name="quadratic")
    assert chosen(plan(), "passive_force:wind") == ("quadratic@numpy", "only one installed")


# ---- parts


def test_a_part_runs_on_the_backend_of_its_dispatcher(plan: Compile, toy_backend: object) -> None:
    with pytest.raises(
        SelectionError,
        match="actuator_gain:fixed: call argument asks for backend 'toy', but it runs inside actuation, which is on "
        "'numpy'; choose the backend of actuation instead",
    ):
        plan({"actuator_gain:fixed": "@toy"})


def test_a_part_can_be_chosen_by_name(plan: Compile, record: Callable[..., object]) -> None:
    record("actuator_gain", lambda model, data, ids: 2.0, key="fixed", name="doubled")
    compiled = plan({"actuator_gain:fixed": "doubled"})
    assert chosen(compiled, "actuator_gain:fixed") == ("doubled@numpy", "call argument")


def test_a_dispatcher_falls_back_when_the_wished_backend_lacks_one_of_its_parts(
    plan: Compile, registry: Registry, record: Callable[..., object], toy_backend: object
) -> None:
    record(
        "actuation", lambda model, data, parts: None, name="gain_bias", backend="toy", provider="dovetail-toy"
    )
    compiled = plan(backend="toy")
    assert chosen(compiled, "actuation")[0] == "gain_bias@numpy"
    assert compiled.choices["actuation"].fallback == (
        "toy wished by call argument: actuator_dynamics:none none has no toy implementation"
    )


def test_a_dispatcher_named_on_a_backend_that_lacks_a_part_is_an_error(
    plan: Compile, record: Callable[..., object], toy_backend: object
) -> None:
    record("actuation", lambda model, data, parts: None, name="gain_bias", backend="toy")
    with pytest.raises(
        SelectionError,
        match=r"none \(default\) has no toy implementation, but it runs inside actuation, which is on "
        r"'toy'; choose another backend for actuation, e\.g\. stages={\"actuation\": \"@numpy\"}\. Installed: none@",
    ):
        plan({"actuation": "@toy"})


def test_without_a_near_name_the_message_is_still_a_sentence(plan: Compile) -> None:
    with pytest.raises(
        UnknownImplementationError, match=r"'zzz', asked for by call argument, is not installed\. Installed"
    ):
        plan({"integrate": "zzz"})


# ---- broken when selected


def test_a_target_that_cannot_be_imported_raises_only_when_selected(
    plan: Compile, record: Callable[..., object]
) -> None:
    record("bias_force", name="gone", target="no_such_module:bias_force")
    plan()
    with pytest.raises(
        PluginError,
        match=r"bias_force gone@numpy from dovetail: importing no_such_module failed: ModuleNotFound",
    ):
        plan({"bias_force": "gone"})


def test_a_target_without_the_function_names_the_nearest(
    plan: Compile, record: Callable[..., object]
) -> None:
    record("bias_force", name="gone", target="dovetail.plugins.bias_force.rne_numpy:bias_forc")
    with pytest.raises(PluginError, match=r"rne_numpy has no 'bias_forc'; did you mean 'bias_force'\?"):
        plan({"bias_force": "gone"})


def test_a_function_that_does_not_fit_the_stage_tells_the_stages_arguments(
    plan: Compile, record: Callable[..., object]
) -> None:
    record("bias_force", lambda model, state: None, name="misfit")
    with pytest.raises(PluginError, match=r"does not fit the stage, whose arguments are \(model, data\)"):
        plan({"bias_force": "misfit"})


def test_an_unknown_choice_mentions_plugins_that_could_not_be_loaded(
    plan: Compile, registry: Registry
) -> None:
    registry.plugins.append(
        dovetail.registry.PluginInfo("wind", "dovetail-wind", "1", "broken", "ImportError: no left_pad")
    )
    with pytest.raises(
        UnknownImplementationError,
        match=r"\(plugin 'wind' of dovetail-wind could not be loaded: ImportError: no left_pad\)",
    ):
        plan({"bias_force": "windy"})

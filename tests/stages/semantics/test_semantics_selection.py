"""Bundles of rules: who may ask for them, what beats them, what is said of them."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner

import dovetail
from dovetail.cli import main
from dovetail.config import Config
from dovetail.errors import PluginError, SelectionError
from dovetail.planning.planner import compile_plan
from dovetail.plugin import Semantics
from dovetail.registry import build_registry

TEXT = """<mujoco><worldbody><geom size=".1" margin=".01"/><body pos="0 0 .3"><freejoint/><geom size=".1"/></body>
</worldbody></mujoco>"""


def chosen(sim: dovetail.Simulation, slot: str = "combine_margin") -> tuple[str, str]:
    choice = sim.plan.choices[slot]
    return choice.record.name, choice.origin


def simulation(semantics: str | None = None, **more: object) -> dovetail.Simulation:
    model = dovetail.loads(TEXT, config=Config())
    return dovetail.Simulation(model, backend="numpy", semantics=semantics, **{"config": Config(), **more})  # type: ignore[arg-type]


def test_the_default_is_mujoco_3_4() -> None:
    sim = simulation()
    assert chosen(sim) == ("max", "default")
    assert sim.plan.semantics.value == "mujoco-3.4"
    assert "semantics" not in sim.plan.explain()
    assert chosen(simulation("mujoco-3.4")) == ("max", "default")


def test_a_bundle_chooses_stages_and_says_so() -> None:
    sim = simulation("mujoco-4")
    assert chosen(sim) == ("sum", "semantics mujoco-4, call argument")
    assert chosen(sim, "contact_range") == ("outer_gap", "semantics mujoco-4, call argument")
    assert "semantics mujoco-4 (call argument)" in sim.plan.explain()


def test_a_named_choice_beats_the_bundle() -> None:
    sim = simulation("mujoco-4", stages={"combine_margin": "max"})
    assert chosen(sim) == ("max", "call argument")
    assert chosen(sim, "contact_range")[0] == "outer_gap"


def test_a_model_keeps_the_bundle_that_it_was_loaded_with() -> None:
    model = dovetail.loads(TEXT, semantics="mujoco-4", config=Config())
    assert model.stages["semantics"] == "mujoco-4 (call argument)"
    sim = dovetail.Simulation(model, backend="numpy", config=Config())
    assert chosen(sim) == ("sum", "semantics mujoco-4, as the model was loaded")
    other = dovetail.Simulation(model, backend="numpy", semantics="mujoco-3.4", config=Config())
    assert chosen(other) == ("max", "default")


def test_loading_defaults_hold_where_the_model_is_silent() -> None:
    text = '<mujoco><option sleep_tolerance=".2"><flag multiccd="disable"/></option></mujoco>'
    silent, said = (dovetail.loads(t, semantics="mujoco-4", config=Config()) for t in ("<mujoco/>", text))
    assert (float(silent.opt.sleep_tolerance), int(silent.opt.enableflags)) == (1e-3, 16)
    assert (float(said.opt.sleep_tolerance), int(said.opt.enableflags)) == (0.2, 0)


def test_files_and_environment_choose_bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "dovetail.toml"
    file.write_text('semantics = "mujoco-4"\n')
    assert chosen(simulation(config=Config.of_file(file))) == ("sum", f"semantics mujoco-4, {file}:1")
    monkeypatch.setenv("DOVETAIL_SEMANTICS", "mujoco-4")
    found = simulation(config=Config.of_environment())
    assert chosen(found) == ("sum", "semantics mujoco-4, environment DOVETAIL_SEMANTICS")


@pytest.mark.parametrize(
    "call", [lambda: simulation("mujoco-5"), lambda: dovetail.loads(TEXT, semantics="mujoco-5")]
)
def test_an_unknown_bundle_is_an_error_that_names_the_nearest(call: object) -> None:
    with pytest.raises(SelectionError) as error:
        call()  # type: ignore[operator]
    assert str(error.value) == (
        "call argument: there is no semantics 'mujoco-5'; did you mean 'mujoco-4'? Known: mujoco-3.4, mujoco-4"
    )


def test_plugins_add_bundles_and_may_not_replace_others() -> None:
    registry = build_registry(third_party=False)
    registry.add_semantics(Semantics("house", "Our own", stages={"combine_friction": "geometric_mean"}))
    model = dovetail.loads(TEXT, config=Config())
    plan = compile_plan(model, Config.of_call(semantics="house", backend="numpy"), registry=registry)
    assert plan.choices["combine_friction"].record.name == "geometric_mean"
    with pytest.raises(PluginError, match="'house' of acme is stated by dovetail already"):
        registry.add_semantics(attrs.evolve(registry.semantics["house"], provider="acme"))


def test_the_command_line_chooses_bundles(tmp_path: Path) -> None:
    file = tmp_path / "model.xml"
    file.write_text(TEXT)
    result = CliRunner().invoke(main, ["plan", str(file), "--semantics", "mujoco-4", "--json"])
    report = json.loads(result.output)
    assert report["semantics"] == {"name": "mujoco-4", "origin": "call argument"}
    wrong = CliRunner().invoke(main, ["plan", str(file), "--semantics", "mujoco-5"])
    assert wrong.exit_code != 0


@pytest.mark.parametrize("backend", ["native"])
def test_kernels_follow_the_bundle(backend: str) -> None:
    from dovetail.registry import default_registry

    if default_registry().backend(backend).missing():
        pytest.skip("there is no C compiler")
    text = TEXT.replace("0 0 .3", "0 0 .205").replace(
        'size=".1" margin=".01"', 'size=".1" margin=".002" gap=".004"'
    )
    found = []
    for where in ("numpy", backend):
        model = dovetail.loads(text, semantics="mujoco-4", config=Config())
        sim = dovetail.Simulation(model, nworld=2, backend=where, keep="all", config=Config())  # type: ignore[arg-type]
        sim.forward()
        found.append(
            [(int(w.ncon), int(w.nefc), float(w.contact.includemargin[0])) for w in sim.data.worlds()]
        )
    assert found[0] == found[1] == [(1, 0, 0.002)] * 2

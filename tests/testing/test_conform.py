"""The conformance report: what it compares, what it says, and how it refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from without_stage import hide

import dovetail
from dovetail.compare import mujoco_moves, oracle
from dovetail.compare.conform import compare_models, conform
from dovetail.compare.errors import Worst
from dovetail.errors import (
    ArgumentError,
    MissingDependencyError,
    SelectionError,
    UnknownStageError,
    ValidationError,
)
from dovetail.plugins.bias_force import rne_numpy as bias_numpy
from dovetail.plugins.solve_constraints import newton_numpy
from dovetail.testing.samples import SAMPLES

CHAIN = SAMPLES["chain"]
CLOTH = """
<mujoco><worldbody>
  <flexcomp name="cloth" type="grid" count="2 2 2" spacing="1 1 1" mass="1" dim="3">
    <contact contype="0" conaffinity="0"/>
  </flexcomp>
</worldbody></mujoco>
"""
TOUCHING = """
<mujoco model="touching">
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body name="ball" pos="0 0 .09"><freejoint/><geom name="ball" size=".1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def mujoco() -> Any:
    return pytest.importorskip("mujoco")


@pytest.mark.usefixtures("mujoco")
def test_every_slot_of_the_plan_is_compared() -> None:
    report = conform(CHAIN, steps=2, states=2)
    assert report.ok
    assert report.complete
    plan = dovetail.Simulation(dovetail.loads(CHAIN)).plan
    assert {row.slot for row in report.rows} == {"compile", *(slot.label for slot in plan.slots)}


@pytest.mark.usefixtures("mujoco")
def test_accumulated_field_is_compared_once_it_is_complete() -> None:
    report = conform(CHAIN, steps=1, states=1)
    rows = {(row.slot, row.field) for row in report.rows}
    assert ("passive_force:damper", "qfrc_passive") in rows
    assert ("passive_force:spring", "qfrc_passive") not in rows


@pytest.mark.usefixtures("mujoco")
def test_report_can_be_narrowed_to_stages() -> None:
    report = conform(CHAIN, stages=("passive_force", "integrate"), steps=1, states=0)
    assert {row.slot for row in report.rows} == {"passive_force:spring", "passive_force:damper", "integrate"}
    with pytest.raises(UnknownStageError, match="did you mean 'integrate'"):
        conform(CHAIN, stages=("integrat",))


@pytest.mark.usefixtures("mujoco")
def test_report_is_text_and_json() -> None:
    report = conform(CHAIN, steps=1, states=1)
    assert report.table().startswith("chain: conforms; compared with MuJoCo 3.4.0 in 3 states of 2 starts")
    assert "not compared: names" in report.table()
    text = json.loads(json.dumps(report.to_dict()))
    assert text["mujoco"] == "3.4.0"
    assert text["ok"] is True
    assert text["starts"] == ["random", "near"]
    (part,) = text["parts"]
    assert (part["name"], part["ok"], part["disagreements"]) == ("own options", True, [])
    assert {row["field"] for row in part["steps"]} > {"qpos", "qvel", "qfrc_bias", "xpos"}


@pytest.mark.usefixtures("mujoco")
def test_a_report_fits_eighty_columns() -> None:
    report = conform(TOUCHING, steps=2, states=1, backend="numpy", starts=["near"])
    for text in (report.table(), report.table(fields=True)):
        assert max(map(len, text.splitlines())) <= 80
    assert "constraint_rows:contact" in report.table()


# ---- options and states


@pytest.mark.usefixtures("mujoco")
def test_solvers_are_compared_as_the_model_has_them_and_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    report = conform(TOUCHING, steps=2, states=0, backend="numpy")
    assert [part.name for part in report.parts] == ["own options", "converged"]
    assert "solver_niter" in {row.field for row in report.parts[0].steps}
    assert "solver_niter" not in {row.field for row in report.parts[1].steps}
    right = newton_numpy.solve_constraints

    def wrong_at_first(model: Any, data: Any) -> None:
        right(model, data)
        data.qacc[:] *= 1.0 + 1e-5 * (model.opt.iterations < 10)

    monkeypatch.setattr(newton_numpy, "solve_constraints", wrong_at_first)
    few = TOUCHING.replace("<worldbody>", '<option iterations="2" ls_iterations="1"/><worldbody>')
    wrong = conform(few, steps=6, states=0, backend="numpy")
    assert [part.ok for part in wrong.parts] == [False, True], wrong.table()
    assert {row.slot for row in wrong.failures} <= {"solve_constraints", "integrate", "noslip"}
    assert conform(TOUCHING, steps=2, states=0, backend="numpy", solver_tolerance=None).parts[1:] == ()


@pytest.mark.usefixtures("mujoco")
def test_models_without_a_row_have_nothing_to_converge() -> None:
    assert [part.name for part in conform(CHAIN, steps=1, states=1, backend="numpy").parts] == ["own options"]


@pytest.mark.usefixtures("mujoco")
def test_every_keyframe_is_a_start_and_those_left_out_are_told() -> None:
    keys = "".join(f'<key name="k{n}" qpos="0 0 {0.09 + n} 1 0 0 0"/>' for n in range(18))
    many = TOUCHING.replace("</mujoco>", f"<keyframe>{keys}</keyframe></mujoco>")
    report = conform(many, steps=1, states=0, backend="numpy")
    assert len([start for start in report.starts if start.startswith("k")]) == 16
    assert len(report.left_out) == 2
    assert f"keyframes left out: 2 ({report.left_out[0]}" in report.table()
    named = conform(many, steps=1, states=0, backend="numpy", keyframes=[report.left_out[0], "3"])
    assert named.starts == (report.left_out[0], "k3")
    assert named.left_out == ()
    with pytest.raises(SelectionError, match="no such keyframe; did you mean 'k1'"):
        conform(many, keyframes=["k1O"], backend="numpy")


@pytest.mark.usefixtures("mujoco")
def test_starts_are_those_that_are_asked_for() -> None:
    assert conform(CHAIN, steps=1, states=2, backend="numpy", starts=["rest", "near"]).starts == (
        "rest",
        "near",
    )
    with pytest.raises(SelectionError, match="neither near, rest, random"):
        conform(CHAIN, starts=["nearr"], backend="numpy")


@pytest.mark.usefixtures("mujoco")
@pytest.mark.parametrize(
    "asked",
    [{"starts": 3}, {"starts": [None]}, {"starts": {"qpos": 1}}, {"keyframes": [3]}, {"keyframes": None}],
)
def test_what_is_no_start_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=r"starts?|keyframes"):
        conform(CHAIN, backend="numpy", **asked)


@pytest.mark.usefixtures("mujoco")
def test_what_mujoco_itself_does_not_tell_is_said_and_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deviation far beyond the tolerance counts, until MuJoCo is said to move by a thousandth of it."""
    right = bias_numpy.bias_force

    def wrong(model: Any, data: Any) -> None:
        right(model, data)
        data.qfrc_bias[0] += 1e-5

    monkeypatch.setattr(bias_numpy, "bias_force", wrong)
    asked: dict[str, Any] = {"steps": 1, "states": 1, "backend": "numpy"}
    assert "bias_force" in {row.slot for row in conform(CHAIN, **asked).failures}
    monkeypatch.setattr(mujoco_moves, "NUDGE", {"f64": 1e-5})
    report = conform(CHAIN, **asked)
    assert report.ok, report.table()
    (part,) = report.parts
    assert part.explained
    assert "bias_force" in {one.slot for one in part.moved}
    assert "of the moves that nudges of 1e-14 make MuJoCo take" in " ".join(report.table().split())


@pytest.mark.usefixtures("mujoco")
def test_mujocos_warnings_are_neither_printed_nor_filed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    conform(CHAIN, steps=1, states=1, backend="numpy")
    assert capfd.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("mujoco")
def test_missing_slots_are_listed_and_their_effect_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "flex_kinematics")
    report = conform(CLOTH, steps=2, states=0)
    assert not report.complete
    assert "flex_kinematics" in report.missing
    assert "missing (MuJoCo ran them" in report.table()


@pytest.mark.usefixtures("mujoco")
def test_flags_are_set_in_both_engines() -> None:
    report = conform(TOUCHING, disable=("constraint",), enable=("energy",), steps=2, states=1)
    assert report.ok
    assert report.complete
    assert "energy" in {row.slot for row in report.rows}
    with pytest.raises(ValidationError, match="unknown flag 'contacts'; did you mean 'contact'"):
        conform(TOUCHING, disable=("contacts",))


@pytest.mark.usefixtures("mujoco")
def test_a_batch_has_another_state_in_each_world() -> None:
    report = conform(CHAIN, steps=2, states=1, nworld=3)
    assert report.ok
    assert report.worlds == 3
    assert any("in world" in row.where for row in report.rows)


@pytest.mark.usefixtures("mujoco")
def test_wrong_number_in_the_compiled_model_is_named() -> None:
    ours, theirs = oracle.load_both(CHAIN)
    ours.body_mass[2] *= 1.0 + 1e-6
    worst = Worst(ours)
    compare_models(worst, ours, theirs)
    (row,) = [row for row in worst.sorted_rows() if not row.ok]
    assert row.field == "body_mass"
    assert '(body "elbow")' in row.where


@pytest.mark.usefixtures("mujoco")
def test_model_compiled_by_mujoco_needs_no_compiler_of_ours() -> None:
    report = conform(CHAIN, compiled_by="mujoco", steps=1, states=1)
    assert report.ok
    assert "compile" not in {row.slot for row in report.rows}


@pytest.mark.usefixtures("mujoco")
def test_a_loaded_model_is_compared_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "chain.xml"
    file.write_text(CHAIN)
    assert conform(dovetail.load(file), steps=1, states=1).ok
    with pytest.raises(ValidationError, match="no file that MuJoCo could read"):
        conform(dovetail.loads(CHAIN))


@pytest.mark.usefixtures("mujoco")
def test_unknown_file_is_an_error_that_lists_built_in_models() -> None:
    with pytest.raises(ValidationError, match=r"no such file; built in are: .*pendulum"):
        conform("pendulun.xml")


def test_without_mujoco_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingDependencyError, match=r"pip install mujoco==3\.4\.0"):
        conform(CHAIN)


def test_another_version_of_mujoco_is_refused(mujoco: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mujoco, "__version__", "3.3.0")
    with pytest.raises(MissingDependencyError, match=r"needs mujoco 3\.4\.0, but 3\.3\.0 is installed"):
        conform(CHAIN)


@pytest.mark.usefixtures("mujoco")
def test_states_are_those_of_the_seed() -> None:
    first, second, third = (conform(CHAIN, seed=seed, steps=1, states=1).to_dict() for seed in (1, 1, 2))
    assert first == second
    assert not np.array_equal([r["ours"] for r in first["rows"]], [r["ours"] for r in third["rows"]])

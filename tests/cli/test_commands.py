"""Each command: what it prints, what its JSON says, and how it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.contracts.types import DATA_SPECS, MODEL_SPECS
from dovetail.pipeline import STAGES

# ---- every command refuses cleanly

REFUSALS = {
    "unknown model": (["info", "humanid"], "did you mean 'humanoid'?", "BadParameter"),
    "run: unknown model": (["run", "nothing.xml"], "Built in: arm, humanoid", "BadParameter"),
    "run: both lengths": (["run", "arm", "--steps", "1", "--duration", "1"], "not both", "UsageError"),
    "run: too short": (["run", "arm", "--duration", "0"], "shorter than one step", "BadParameter"),
    "run: keyframe": (["run", "arm", "--keyframe", "rech"], "did you mean 'reach'?", "BadParameter"),
    "run: quantity": (["run", "arm", "--plot", "elbwo"], "did you mean 'elbow'?", "BadParameter"),
    "run: field": (["run", "arm", "--plot", "qpso[0]"], "did you mean 'qpos'?", "BadParameter"),
    "run: index": (["run", "arm", "--plot", "qpos[99]"], "qpos has shape (10,)", "BadParameter"),
    "run: directory": (["run", "arm", "--output", "no/dir/x.npz"], "no directory", "BadParameter"),
    "run: backend": (
        ["run", "arm", "--backend", "tachi"],
        "did you mean 'taichi'?",
        "UnknownImplementationError",
    ),
    "plan: stage form": (["plan", "arm", "--stage", "rk4"], "SLOT=CHOICE", "BadParameter"),
    "plan: stage": (
        ["plan", "arm", "--stage", "integrat=rk4"],
        "did you mean 'integrate'?",
        "UnknownStageError",
    ),
    "plan: choice": (
        ["plan", "arm", "--stage", "integrate=rk5"],
        "did you mean 'rk4'?",
        "UnknownImplementationError",
    ),
    "stages": (["stages", "kinematic"], "did you mean 'kinematics'?", "UnknownStageError"),
    "fields": (["fields", "qpoz"], "did you mean 'qpos", "UsageError"),
    "plugins": (["plugins", "extra"], "No such command", "NoSuchCommand"),
    "bench": (["bench", "humanoyd"], "did you mean 'humanoid'?", "BadParameter"),
    "compare": (
        ["compare", "arm", "--stage", "mass_matrix", "--a", "crb@numpy", "--b", "crb@jax"],
        "Installed: crb@native, crb@numpy",
        "UnknownImplementationError",
    ),
    "check": (["check"], "Missing argument", "MissingParameter"),
}


@pytest.mark.parametrize(("words", "text", "kind"), REFUSALS.values(), ids=REFUSALS)
def test_a_request_that_cannot_be_met_is_one_message_and_code_2(run, words, text, kind) -> None:
    answer = run(*words)
    assert answer.code == 2
    assert text in answer.err
    assert "Traceback" not in answer.err
    assert answer.out == ""
    machine = run(*words, "--json")
    assert machine.code == 2
    assert text in machine.json["error"]
    assert machine.json["type"] == kind


def test_an_mjcf_error_names_file_and_line(run, bad_model: Path) -> None:
    answer = run("run", bad_model)
    assert answer.code == 2
    assert answer.err.startswith(f"dovetail: {bad_model}:3: ")


def test_an_unwritable_file_is_no_traceback(run, tmp_path: Path) -> None:
    answer = run("bench", "pendulum", "--backend", "numpy", "--nworld", 1, "--steps", 1, "--repeat", 1,
                 "--no-mujoco", "--history", tmp_path / "no" / "file")  # fmt: skip
    assert answer.code == 2
    assert "no such file" in answer.err


# ---- check


def test_check_is_content_with_the_built_in_models(run) -> None:
    answer = run("check", "humanoid", "arm", "pendulum", "tumbler")
    assert answer.code == 0
    assert answer.out.splitlines() == ["humanoid: ok", "arm: ok", "pendulum: ok", "tumbler: ok"]


def test_check_reports_every_model_not_only_the_first_bad_one(run, bad_model, soft_model) -> None:
    answer = run("check", bad_model, soft_model, "arm", "nowhere.xml")
    assert answer.code == 1
    assert f"{bad_model}:3: " in answer.out
    assert f"{soft_model}: no plugin implements flex_kinematics" in answer.out
    assert "arm: ok" in answer.out
    assert "3 of 4 models cannot run" in answer.out


def test_check_as_json_has_file_and_line(run, bad_model) -> None:
    answer = run("check", bad_model, "--json")
    assert answer.code == 1
    [report] = answer.json["models"]
    [problem] = report["problems"]
    assert (problem["file"], problem["line"], problem["kind"]) == (str(bad_model), 3, "mjcf")


# ---- info


def test_info_shows_the_tree_of_bodies(run) -> None:
    answer = run("info", "pendulum")
    assert answer.code == 0
    assert "└── upper" in answer.out
    assert "    └── lower" in answer.out
    assert "elbow (hinge)" in answer.out
    assert "level, inverted" in answer.out


def test_info_as_json_agrees_with_the_model(run) -> None:
    report = run("info", "humanoid", "--json").json
    assert report["sizes"]["nv"] == 27
    assert len(report["actuators"]) == 21
    assert report["mass"] == pytest.approx(sum(body["mass"] for body in report["bodies"]))
    assert run("info", "pendulum", "--json").json["options"]["disabled"] == ["contact"]
    torso = report["bodies"][1]
    assert torso["name"] == "torso"
    assert torso["joints"][0]["type"] == "free"


# ---- plan


def test_plan_says_who_chose_what(run) -> None:
    answer = run("plan", "humanoid", "--stage", "integrate=rk4")
    assert answer.code == 0
    line = next(line for line in answer.out.splitlines() if line.startswith("integrate "))
    assert "rk4@numpy" in line
    assert "call argument" in line
    assert "each step evaluates the dynamics 4 times" in answer.out


def test_plan_reads_the_configuration_file(run, tmp_path: Path) -> None:
    (tmp_path / "dovetail.toml").write_text('[stages]\nintegrate = "rk4"\n')
    slots = run("plan", "humanoid", "--json").json["slots"]
    integrate = next(s for s in slots if s["slot"] == "integrate")
    assert integrate["implementation"] == "rk4@numpy"
    assert integrate["origin"].endswith("dovetail.toml:2")


def test_plan_counts_memory_without_allocating_it(run) -> None:
    one = run("plan", "humanoid", "--json").json["memory"]
    many = run("plan", "humanoid", "--nworld", 10**9, "--json").json["memory"]
    assert one["total_bytes"] == one["world_bytes"]
    assert many["total_bytes"] == many["world_bytes"] * 10**9


def test_plan_counts_what_a_data_of_it_takes(run) -> None:
    import dovetail

    said = run("plan", "arm", "--nworld", 3, "--precision", "f32", "--json").json["memory"]
    data = dovetail.Simulation("arm", nworld=3, precision="f32").data
    assert said["total_bytes"] == data.arena.nbytes


def test_plan_with_a_missing_stage_has_code_1_and_names_it(run, soft_model) -> None:
    answer = run("plan", soft_model)
    assert answer.code == 1
    assert "1 flex object" in answer.out
    assert "flex_kinematics" in {m["slot"] for m in run("plan", soft_model, "--json").json["missing"]}


# ---- stages, fields, plugins


def test_stages_lists_all_of_them(run) -> None:
    assert {s["name"] for s in run("stages", "--json").json["stages"]} == set(STAGES)
    answer = run("stages")
    assert answer.code == 0
    assert all(name in answer.out for name in STAGES)


def test_stages_come_in_the_order_of_the_pipeline(run) -> None:
    names = [s["name"] for s in run("stages", "--json").json["stages"]]
    assert names.index("kinematics") < names.index("mass_matrix") < names.index("integrate")
    assert names[names.index("actuation") + 1] == "actuator_dynamics"


def test_one_stage_is_described(run) -> None:
    answer = run("stages", "kinematics")
    assert "World poses of bodies" in answer.out
    assert "tree@numpy" in answer.out
    assert "qpos" in answer.out


def test_fields_are_the_declared_ones(run) -> None:
    listed = run("fields", "--json").json["fields"]
    assert [f["name"] for f in listed if f["owner"] == "model"] == list(MODEL_SPECS)
    assert {f["name"] for f in listed if f["owner"] == "data"} >= set(DATA_SPECS)


def test_fields_are_found_by_pattern_owner_and_writer(run) -> None:
    assert [f["name"] for f in run("fields", "xpos", "--json").json["fields"]][:1] == ["xpos"]
    assert all(
        f["owner"] == "model" for f in run("fields", "mass", "--owner", "model", "--json").json["fields"]
    )
    written = run("fields", "--writer", "energy", "--json").json["fields"]
    assert [f["name"] for f in written] == ["energy"]


def test_a_field_is_shown_with_shape_unit_and_meaning(run) -> None:
    line = next(line for line in run("fields", "xpos").out.splitlines() if " xpos " in line)
    assert "nbody × 3" in line
    assert " m " in line
    assert "kinematics" in line


def test_plugins_lists_the_built_in_ones_as_active(run) -> None:
    answer = run("plugins", "--json")
    assert answer.code == 0
    by_name = {p["name"]: p for p in answer.json["plugins"]}
    assert by_name["kinematics"]["status"] == "active"
    assert "kinematics tree@numpy" in by_name["kinematics"]["implementations"]
    assert {b["name"] for b in answer.json["backends"]} >= {"numpy", "taichi"}
    assert "backend numpy: ready" in run("plugins").out


def test_no_colour_codes_without_a_terminal(run) -> None:
    for words in (["info", "arm"], ["plan", "arm"], ["stages"], ["run", "arm", "--steps", "2"]):
        assert "\x1b" not in run(*words).out


# ---- conform, compare


def test_conform_compares_with_mujoco(run) -> None:
    pytest.importorskip("mujoco")
    answer = run("conform", "pendulum", "--steps", 2, "--states", 1)
    assert answer.code == 0
    assert "pendulum: conforms" in answer.out
    report = run("conform", "pendulum", "--steps", 2, "--states", 1, "--stage", "integrate", "--json").json
    assert report["ok"]
    assert {row["slot"] for row in report["models"][0]["rows"]} == {"integrate"}


def test_conform_has_code_1_when_stages_are_missing(run, soft_model) -> None:
    pytest.importorskip("mujoco")
    words = ("conform", soft_model, "--steps", 1, "--states", 1)
    assert run(*words, "--stage", "kinematics").code == 1


def test_conform_refuses_an_unknown_flag(run) -> None:
    pytest.importorskip("mujoco")
    answer = run("conform", "pendulum", "--disable", "contacts")
    assert answer.code == 2
    assert "did you mean 'contact'?" in answer.err


def test_compare_of_an_implementation_with_itself_agrees(run) -> None:
    words = (
        "compare",
        "pendulum",
        "--stage",
        "mass_matrix",
        "--a",
        "crb@numpy",
        "--b",
        "crb@numpy",
        "--steps",
        2,
    )
    answer = run(*words)
    assert answer.code == 0
    assert "agree" in answer.out
    report = run(*words, "--json").json
    assert report["ok"]
    assert all(row["error"] == 0 for row in report["rows"])

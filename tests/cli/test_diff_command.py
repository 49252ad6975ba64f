"""`dovetail diff`: exit codes, and dumps that it repeats."""

from __future__ import annotations

from pathlib import Path

import pytest

import dovetail
from dovetail.compare.shadow import Shadow


def test_a_dump_is_repeated(run, tmp_path: Path) -> None:
    path = tmp_path / "first.npz"
    shadow = Shadow("integrate", "rk4@numpy", every=2, worlds=[1], dump=path)
    sim = dovetail.Simulation("pendulum", nworld=2, stages={"integrate": "euler"}, wrap=[shadow])
    sim.data.qvel = 1.0
    sim.step(4)
    answer = run("diff", "--from", path)
    assert answer.code == 1
    assert answer.out.startswith("reproduced: ")
    assert "integrate" in answer.out
    assert run("diff", "--from", path, "--json").json["ok"] is False


def test_a_dump_stands_alone(run, tmp_path: Path) -> None:
    assert "--from repeats one moment" in run("diff", "arm", "--from", tmp_path / "x.npz").err
    assert "give a MODEL, or a dump with --from" in run("diff", "--b", "native").err
    assert run("diff", "--from", tmp_path / "nowhere.npz").code == 2


def test_exit_codes_tell_agreement_from_difference(run) -> None:
    assert run("diff", "pendulum", "--steps", 2).code == 0
    answer = run("diff", "pendulum", "--a", "integrate=rk4", "--b", "integrate=euler", "--steps", 2)
    assert answer.code == 1
    assert "integrate" in answer.out


KEYED = """<mujoco model="keyed">
<worldbody><body><joint axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></worldbody>
<keyframe><key name="home" qpos="1"/><key qpos="2"/></keyframe></mujoco>"""


def test_starts_can_be_repeated(run, tmp_path: Path) -> None:
    (tmp_path / "keyed.xml").write_text(KEYED)
    answer = run("diff", "keyed.xml", "--start", "home", "--start", "#1", "--start", "rest", "--steps", 2)
    assert answer.code == 0, answer.err
    assert "2 steps from each of 3 starts" in answer.out
    wrong = run("diff", "keyed.xml", "--start", "hom", "--steps", 2)
    assert wrong.code == 2
    assert "did you mean 'home'?" in wrong.err


def test_compare_begins_where_it_is_told(run, tmp_path: Path) -> None:
    (tmp_path / "keyed.xml").write_text(KEYED)
    words = (
        "compare",
        "keyed.xml",
        "--stage",
        "mass_matrix",
        "--a",
        "crb@numpy",
        "--b",
        "crb@numpy",
        "--steps",
        2,
    )
    assert "2 comparisons from random" in run(*words).out
    assert "4 comparisons from home, 1" in run(*words, "--start", "home", "--start", 1).out


def test_conform_begins_where_it_is_told(run, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "keyed.xml").write_text(KEYED)
    words = ("conform", "keyed.xml", "--backend", "numpy", "--steps", 2, "--states", 1)
    (report,) = run(*words, "--json").json["models"]
    assert report["starts"] == ["random", "near", "home", "#1"]
    answer = run(*words, "--keyframe", 1, "--start", "rest", "--json")
    (report,) = answer.json["models"]
    assert report["starts"] == ["rest", "#1"]
    assert [part["name"] for part in report["parts"]] == ["own options"]
    assert run(*words, "--keyframe", "away").code == 2

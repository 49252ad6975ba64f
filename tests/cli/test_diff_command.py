"""`dovetail diff`: exit codes, and dumps that it repeats."""

from __future__ import annotations

from pathlib import Path

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

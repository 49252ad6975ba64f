"""Where comparisons begin: `compare` and `diff` take the same starts, one or several, and say which it was."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.compare import diff_runs
from dovetail.compare.ab import compare
from dovetail.compare.run_report import DiffRunsReport
from dovetail.compare.run_starts import begin_at, keyframe_start, said_starts
from dovetail.contracts.derive import make_data
from dovetail.errors import ArgumentError, SelectionError
from dovetail.plugins.bias_force import rne_numpy

SWING = """
<mujoco model="swing">
  <worldbody>
    <body><joint name="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/></body>
  </worldbody>
  <keyframe><key name="low" qpos="1.5"/><key name="high" qpos="-9"/></keyframe>
</mujoco>
"""


def wrong_when_high(model: Any, data: Any) -> None:
    rne_numpy.bias_force(model, data)
    if data.qpos[0] < -8.0:
        data.qfrc_bias[0] += 1e-3


wrong_when_high.__signature__ = inspect.signature(rne_numpy.bias_force)  # type: ignore[attr-defined]


def test_diff_runs_from_every_start_and_names_the_one_that_differs() -> None:
    starts = ["near", "low", "#1", "rest"]
    report = diff_runs(SWING, {}, {"bias_force": wrong_when_high}, steps=3, start=starts)
    assert report.first is not None
    assert (report.first.start, report.first.step, report.first.stage) == ("#1", 0, "bias_force")
    assert "from #1, step 0" in report.table()
    assert report.to_dict()["starts"] == starts
    assert len(report.times) == 12
    stage = next(stage for stage in report.stages if stage.stage == "bias_force")
    assert [step for step, error in stage.errors if error] == [6, 7, 8], "three steps of the third run"


def test_diff_from_one_start_does_not_speak_of_starts() -> None:
    report = diff_runs(SWING, {}, {"bias_force": wrong_when_high}, steps=2, start="high")
    assert report.first is not None
    assert report.first.start == ""
    assert report.table().splitlines()[1].startswith("first divergence: step 0")


def test_free_runs_from_every_start_are_told() -> None:
    report = diff_runs(
        SWING, {}, {"bias_force": wrong_when_high}, steps=5, start=["low", "high"], mode="free"
    )
    assert report.free is not None
    assert report.free.verdict == "error"
    assert "stage bias_force differs first, in qfrc_bias" in report.free.cause
    assert [note.partition(",")[0] for note in report.notes] == ["from low", "from high"]


def test_compare_takes_several_starts() -> None:
    words = (SWING_MODEL := dovetail.loads(SWING), "bias_force", "rne@numpy", "rne@numpy")
    report = compare(*words, steps=2, start=["near", "high", "0"])
    assert (report.comparisons, report.starts) == (6, ("near", "high", "0"))
    assert "6 comparisons from near, high, 0" in report.headline()
    assert report.to_dict()["starts"] == ["near", "high", "0"]
    with pytest.raises(SelectionError, match="Keyframes: high, low"):
        compare(SWING_MODEL, *words[1:], steps=1, start="hi")


def test_saved_states_and_states_themselves_are_starts(tmp_path: Path) -> None:
    model = dovetail.loads(SWING)
    sim = dovetail.Simulation(model, backend="numpy")
    sim.data.qpos[:] = -8.5
    sim.save(tmp_path / "state.npz")
    for start in (tmp_path / "state.npz", {"qpos": np.array([-8.5])}):
        report = diff_runs(model, {}, {"bias_force": wrong_when_high}, steps=1, start=start)
        assert report.first is not None
    data = make_data(model, 3)
    begin_at(data, {"qpos": np.array([-8.5])}, 0)
    assert np.array(data.qpos).ravel().tolist() == [-8.5] * 3


def test_a_nan_on_both_sides_is_no_divergence_but_a_lost_one_is() -> None:
    start = {"qvel": np.array([np.nan])}
    assert diff_runs(SWING, {}, {"backend": "numpy"}, steps=1, start=start).verdict == "agree"

    def loses(model: Any, data: Any) -> None:
        rne_numpy.bias_force(model, data)
        data.qfrc_bias[:] = np.nan_to_num(data.qfrc_bias) + (data.qvel != data.qvel)

    loses.__signature__ = inspect.signature(rne_numpy.bias_force)  # type: ignore[attr-defined]
    lost = diff_runs(
        SWING.replace('axis="0 1 0"/>', 'axis="0 1 0"/><joint axis="1 0 0"/>').replace("qpos=", "qvel="),
        {},
        {"bias_force": loses},
        steps=1,
        start={"qvel": np.array([np.nan, 1.0])},
    )
    assert lost.first is not None
    assert lost.first.stage == "bias_force"


@pytest.mark.parametrize(
    ("start", "words"), [([], "at least one"), (3, "should be near, rest, random"), ([None], "should be")]
)
def test_what_is_no_start_is_refused(start: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        said_starts(start)
    with pytest.raises(ArgumentError, match=words):
        diff_runs(SWING, {}, {}, steps=1, start=start)


def test_a_state_with_another_field_or_shape_is_refused() -> None:
    with pytest.raises(SelectionError, match="no field 'qposs'; did you mean 'qpos'"):
        diff_runs(SWING, {}, {}, steps=1, start={"qposs": 1.0})
    with pytest.raises(ArgumentError, match=r"qpos has shape \(2,\), which should be \(1,\)"):
        diff_runs(SWING, {}, {}, steps=1, start={"qpos": [1.0, 2.0]})


def test_a_start_that_is_said_twice_is_run_once() -> None:
    assert said_starts(["near", "low", "near"]) == ("near", "low")


def test_one_run_is_saved(tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="save records one run"):
        diff_runs(SWING, {}, {}, steps=1, start=["near", "low"], save=tmp_path / "run.npz")


def test_keyframes_go_by_name_and_number() -> None:
    model = dovetail.loads(SWING)
    assert [keyframe_start(model, name) for name in ("low", "1", "#0")] == ["low", "high", "low"]
    with pytest.raises(SelectionError, match="no such keyframe"):
        keyframe_start(model, "near")


def test_rounding_that_a_block_magnifies_is_marked_and_no_divergence() -> None:
    """A difference of two numbers that are equal, times a billion: the last bit of either is large."""

    def bias(offset: float, magnified: float) -> Callable[..., None]:
        def made(model: Any, data: Any) -> None:
            rne_numpy.bias_force(model, data)
            data.qfrc_bias[0] += offset + magnified * (data.cvel[1, 1] - data.qvel[0])

        made.__signature__ = inspect.signature(rne_numpy.bias_force)  # type: ignore[attr-defined]
        return made

    def compared(magnified: float) -> DiffRunsReport:
        sides = ({"bias_force": bias(offset, magnified)} for offset in (0.0, 1e-7))
        start = {"qvel": np.array([2.0]), "qpos": np.array([0.3])}
        return diff_runs(SWING, *sides, steps=1, start=start)

    assert compared(0.0).verdict == "differ"
    report = compared(1e9)
    assert report.verdict == "agree", report.table()
    stage = next(stage for stage in report.stages if stage.stage == "bias_force")
    assert (stage.verdict, stage.moved) == ("moved", 1)
    assert "within a thousand of the moves of A itself" in " ".join(report.table().split())

"""The history: one line of JSON per result, whatever happened to the line before."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from bench_results import RESULT, ROW

from dovetail.bench import read_history
from dovetail.bench.results import append_line, machine


def test_the_history_is_one_line_of_json_per_result(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    for _ in range(2):
        RESULT.append_to(path)
    lines = path.read_text().splitlines()
    assert len(lines) == 2
    assert json.loads(lines[0])["rows"][0]["microseconds"] == ROW.microseconds
    first, second = read_history(path)
    assert first["model"] == second["model"] == "arm"
    assert first["rows"][0]["ratio_range"] == [3.5, 4.5]


@pytest.mark.parametrize("cut", ['{"time": "2026-01-0', "[1, 2]", '{"model": "half', "\x00\x00"])
def test_a_damaged_line_costs_only_itself(tmp_path: Path, cut: str) -> None:
    path = tmp_path / "history.jsonl"
    append_line(path, {"model": "before"})
    with path.open("a") as stream:
        stream.write(cut)  # no end of line: the writer was interrupted
    append_line(path, {"model": "after"})
    with pytest.warns(UserWarning, match=r"history\.jsonl:2: not a line of JSON, left out"):
        reports = read_history(path)
    assert [report["model"] for report in reports] == ["before", "after"]


def test_an_intact_history_is_read_without_warning(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    append_line(path, {"model": "µ ✓"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [report] = read_history(path)
    assert report["model"] == "µ ✓"
    assert report["time"].endswith("Z")


def test_the_machine_is_described() -> None:
    found = machine()
    assert found["cores"] >= 1
    assert found["processor"]
    assert "numpy" in found["packages"]

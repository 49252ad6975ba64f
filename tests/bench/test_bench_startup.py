"""Time to the first step, in new processes."""

from __future__ import annotations

import os

import pytest

from dovetail.bench import Case, Measurement
from dovetail.bench.startup import first_steps
from dovetail.errors import DovetailError

HINGE = Case(
    "hinge",
    '<mujoco><worldbody><body><joint/><geom size=".1" pos=".1 0 0"/></body></worldbody></mujoco>',
)


def test_times_follow_each_other() -> None:
    found = first_steps(HINGE, Measurement(nworld=(2,), precisions=("f64",), backend="numpy"))
    assert [one.cached for one in found] == [False, True]
    for one in found:
        assert 0 < one.imported <= one.loaded <= one.planned <= one.first_step
        assert one.later_step > 0


def test_a_failing_process_says_why() -> None:
    with pytest.raises(DovetailError, match=r"first step failed:(?s:.*)bodi"):
        first_steps(
            Case("bad", "<mujoco><worldbody><bodi/></worldbody></mujoco>"), Measurement(backend="numpy")
        )


@pytest.mark.slow
def test_kernels_come_from_a_cache_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """The user's cache stays as it was, and the second process compiles less."""
    pytest.importorskip("quadrants")
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path))
    compiled, cached = first_steps(
        HINGE, Measurement(nworld=(8,), precisions=("f64",), runtimes=("quadrants",))
    )
    assert os.listdir(tmp_path) == []
    assert compiled.runtime == "quadrants"
    assert cached.first_step - cached.planned < compiled.first_step - compiled.planned

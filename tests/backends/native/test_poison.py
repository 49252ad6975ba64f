"""Memory that a step must not read is filled with numbers that no result survives, and no result changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lane_backend import NO_COMPILER
from lane_small import N, compile_small, run, stage

from dovetail.backends.lanes.kernel import Kernel
from dovetail.backends.native.poison import VARIABLE
from dovetail.errors import ConfigError

pytestmark = pytest.mark.skipif(NO_COMPILER, reason="there is no C compiler here")


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    monkeypatch.setenv(VARIABLE, request.param)
    return request.param


def counting(**how: Any) -> Any:
    """A stage that adds 1 to what it finds in its memory, of each kind, and shows it."""

    def count(k: Kernel) -> None:
        numbers, integers, reals = k.scratch("a", 1, **how), k.integers("a", 1, **how), k.reals("a", 1, **how)
        numbers[0] = numbers[0] + 1.0
        integers[0] = integers[0] + 1
        reals[0] = reals[0] + 1.0
        k.data.y[0], k.data.y[1], k.data.y[2] = numbers[0], integers[0] * 1.0, reals[0]
        k.data.y[3] = 0.0

    return count


def counted(builder: Any, nstep: int = 3, launches: int = 2) -> list[list[float]]:
    """What the stage shows in a world of each of two tiles after every launch."""
    program = compile_small(stage(builder), lanes=4)
    shown = [run(program, np.zeros((8, N)), nstep)["y"][::4, :3].tolist() for _ in range(launches)]
    return [row for rows in shown for row in rows]


@pytest.mark.parametrize("poison", ["0"], indirect=True)
def test_without_it_memory_stays_as_it_is(poison: str) -> None:
    assert counted(counting()) == [[3.0] * 3, [6.0] * 3, [9.0] * 3, [12.0] * 3]


@pytest.mark.parametrize("poison", ["1", "2"], indirect=True)
def test_what_is_not_declared_is_filled_before_every_step(poison: str) -> None:
    for row in counted(counting()):
        assert np.isnan(row[0]) if poison == "1" else row[0] == 1e30
        assert abs(row[1]) > 2e9
        assert np.isnan(row[2]) if poison == "1" else row[2] == 1e30


@pytest.mark.parametrize("poison", ["1"], indirect=True)
def test_what_is_kept_is_filled_when_a_launch_begins_with_a_tile(poison: str) -> None:
    def begin(k: Kernel) -> None:
        begun = k.forgotten_integers("begun", 1)
        with k.when(begun[0] == 0):
            begun[0] = 1
            k.scratch("a", 1)[0] = 0.0
            k.reals("a", 1)[0] = 0.0
        counting(kept="steps are counted")(k)

    for row in counted(begin):
        assert [row[0], row[2]] == [3.0, 3.0]
        assert row[1] < -2e9


@pytest.mark.parametrize("poison", ["1", "2"], indirect=True)
def test_a_memo_is_as_in_a_new_program_when_a_launch_begins_with_a_tile(poison: str) -> None:
    assert counted(counting(memo="steps are counted")) == [[3.0] * 3] * 4


@pytest.mark.parametrize("poison", ["yes"], indirect=True)
def test_a_word_that_means_nothing_is_an_error(poison: str) -> None:
    with pytest.raises(ConfigError, match=r"DOVETAIL_NATIVE_POISON: 'yes' should be 0, 1 or 2"):
        counted(counting())

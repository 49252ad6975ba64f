"""Functions of others may be annotated with names that only type checkers know."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail import Model
from dovetail.implementation import Deferred, Implementation

LATE = pytest.mark.skipif(
    sys.version_info < (3, 14), reason="names are looked up when the function is defined"
)
SPELLINGS = ["'Missing'", pytest.param("Missing", marks=LATE)]
FALLING = """
<mujoco><worldbody>
  <geom type="plane" size="1 1 1"/><body pos="0 0 .09"><freejoint/><geom size=".1"/></body>
</worldbody></mujoco>
"""


def defined(text: str) -> Callable[..., Any]:
    """A function by its text, without this file's `from __future__ import annotations`."""
    names: dict[str, Any] = {"np": np}
    exec(compile(text, "<text>", "exec", dont_inherit=True), names)
    return names["f"]


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_row_of_a_table(pendulum: Model, name: str) -> None:
    wind = defined(f"def f(model: {name}, data: {name}) -> {name}: data.qfrc_passive[:] += 0.5")
    windy = dovetail.Simulation(pendulum, stages={"passive_force:wind": wind})
    still = dovetail.Simulation(pendulum)
    windy.forward()
    still.forward()
    assert np.allclose(windy.data.qfrc_passive, still.data.qfrc_passive + 0.5)


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("backend", ["numpy", LANES])
def test_a_rule_that_others_call(name: str, backend: str) -> None:
    slippery = defined(f"def f(first: {name}, second: {name}) -> {name}: return np.minimum(first, second)")
    sim = dovetail.Simulation(dovetail.loads(FALLING), backend=backend, stages={"combine_friction": slippery})
    sim.step()
    assert sim.data.ncon == 1


@pytest.mark.parametrize("name", SPELLINGS)
def test_an_imported_function_tells_what_it_takes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "f", defined(f"def f(k: {name}): pass"), raising=False)
    record = Implementation(stage="energy", name="f", backend="lanes", target=f"{__name__}:f")
    assert list(inspect.signature(Deferred(record)).parameters) == ["k"]

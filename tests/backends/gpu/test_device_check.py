"""A device that computes something else than the processor is refused, with the field and the world that show it."""

from __future__ import annotations

from typing import Any

import pytest
from device import numbers, simulation, spread

import dovetail
from dovetail.backends.lanes.values import Num
from dovetail.backends.taichi import device_check, device_text
from dovetail.backends.taichi.device_errors import DeviceMismatchError
from dovetail.backends.taichi.world_text import WorldPrinter

pytestmark = pytest.mark.device

SLIDER = """
<mujoco model="slider">
  <option timestep="{timestep}"><flag constraint="disable"/></option>
  <worldbody><body><joint type="slide" damping="0.3" stiffness="2"/><geom size="0.1"/></body></worldbody>
</mujoco>
"""


def slider(timestep: float) -> dovetail.Model:
    """Other kernels for other timesteps they are not, but this says whose they are."""
    return dovetail.loads(SLIDER.format(timestep=timestep))


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(device_check.SWITCH, "always")


class Wrong(WorldPrinter):
    """Differences of numbers where sums are meant; places in memory stay as they are."""

    def _code(self, op: str, value: Any, args: list[str]) -> str:
        return super()._code("sub" if op == "add" and isinstance(value, Num) else op, value, args)


def test_wrong_arithmetic_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_text, "WorldPrinter", Wrong)
    sim = simulation(slider(0.002), 4)
    spread(sim)
    before = numbers(sim, "qvel")
    with pytest.raises(
        DeviceMismatchError, match=r"q(pos|vel|acc_warmstart) at 0 of world \d+ is .*, not .*cpu"
    ):
        sim.step(1)
    assert (numbers(sim, "qvel") == before).all()


@pytest.mark.slow
def test_worlds_that_stand_still_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = device_text._definition

    def some(name: str, *given: Any) -> list[str]:
        """Only every third thread has a world."""
        lines = text(name, *given)
        return [
            line.replace("range(n)", "range(n // 3)").replace("w = at + i", "w = at + i // 3")
            for line in lines
        ]

    monkeypatch.setattr(device_text, "_definition", some)
    with pytest.raises(DeviceMismatchError):
        simulation(slider(0.003), 4).step(1)


def test_a_device_that_passed_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation(slider(0.004), 4).step(1)
    monkeypatch.delenv(device_check.SWITCH)

    def fail(*_: Any) -> None:
        raise AssertionError("tried again")

    monkeypatch.setattr(device_check.DeviceCheck, "_reference", fail)
    simulation(slider(0.004), 4).step(1)


@pytest.mark.slow
def test_without_a_compiler_the_device_is_compared_with_python(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(device_check.DeviceCheck, "_reference", lambda _self: None)
    simulation(slider(0.005), 4).step(1)
    assert "is compared with Python" in caplog.text
    monkeypatch.setattr(device_check, "_difference", lambda *_: "differs")
    with pytest.raises(DeviceMismatchError, match="differs"):
        simulation(slider(0.005), 4).step(1)

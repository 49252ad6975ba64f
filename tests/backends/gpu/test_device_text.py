"""The kernels of a device as text, which needs no device."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest

import dovetail
from dovetail.backends.lanes.fuse import FusedKernel, fuse
from dovetail.backends.taichi import device_text
from dovetail.backends.taichi.backend import TaichiBackend
from dovetail.backends.taichi.device_memory import MEMORY, world_bytes, worlds_at_once
from dovetail.backends.taichi.device_text import DeviceText

SCENE = """
<mujoco>
  <option integrator="{integrator}"/>
  <worldbody>
    <geom type="plane" size="3 3 1"/>
    <body pos="0 0 0.1"><freejoint/><geom size="0.1"/></body>
  </worldbody>
</mujoco>
"""


class StoppedError(Exception):
    pass


def fused(monkeypatch: pytest.MonkeyPatch, integrator: str = "Euler") -> FusedKernel:
    """The kernel of a scene with contacts, before it is printed."""
    found: list[FusedKernel] = []

    def take(_self: Any, sources: Any, target: Any) -> None:
        found.append(fuse(sources, target))
        raise StoppedError

    monkeypatch.setattr(TaichiBackend, "compile_program", take)
    monkeypatch.setattr(TaichiBackend, "missing", lambda _self: "")
    model = dovetail.loads(SCENE.format(integrator=integrator))
    sim = dovetail.Simulation(model, nworld=4, backend="taichi", arch="vulkan", keep=("ncon",))
    with pytest.raises(StoppedError):
        sim.step(1)
    return found[0]


@pytest.fixture
def text(monkeypatch: pytest.MonkeyPatch) -> DeviceText:
    return device_text.device_text(fused(monkeypatch), "taichi")


def test_the_text_is_python(text: DeviceText) -> None:
    ast.parse(text.source)


def test_all_stages_are_called_once_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = fused(monkeypatch)
    text = device_text.device_text(kernel, "taichi")
    called = re.findall(r"^ {12,}(s\d\d_\w+)\(", text.source, re.MULTILINE)
    assert len(called) == len(set(called))
    own = [name for name in called if any(t.function == name for t in kernel.with_role("stage"))]
    assert own == sorted(own)


def test_kernels_are_short_unless_a_stage_is_long(text: DeviceText) -> None:
    assert len(text.steps) > 2
    for kernel in text.steps:
        assert kernel.lines <= device_text.KERNEL_LINES or len(kernel.stages) == 1


def test_nothing_integrates_in_a_kernel_after_which_a_world_may_wait(text: DeviceText) -> None:
    assert text.steps[-1].groups == ("integrate",)


def test_there_is_one_place_for_each_row(text: DeviceText) -> None:
    rows = {run.device + i for run in (*text.load, *text.store) for i in range(run.count)}
    assert rows == set(range(text.rows))


def test_quadrants_finds_kernels_by_their_text(monkeypatch: pytest.MonkeyPatch) -> None:
    source = device_text.device_text(fused(monkeypatch), "quadrants").source
    assert "@ti.kernel(fastcache=True)" in source
    assert not re.search(r"\bfp\b", source)


def test_as_many_worlds_at_once_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = fused(monkeypatch)
    monkeypatch.setenv(MEMORY, str(100 * world_bytes(kernel)))
    assert worlds_at_once(kernel, 1000) == 96
    assert worlds_at_once(kernel, 40) == 64
    assert worlds_at_once(kernel, 1) == 32

"""`--arch`: what the taichi backend runs on."""

from __future__ import annotations

import pytest


def test_on_a_device_every_world_has_a_thread(run) -> None:
    pytest.importorskip("quadrants")
    words = ("plan", "pendulum", "--nworld", 8, "--backend", "taichi")
    assert "8 worlds, a thread each" in run(*words, "--arch", "vulkan").out
    assert "a thread each" not in run(*words).out


def test_what_is_none_is_refused(run) -> None:
    pytest.importorskip("quadrants")
    answer = run("plan", "pendulum", "--backend", "taichi", "--arch", "vulcan")
    assert answer.code != 0
    assert "'vulcan'" in answer.err
    assert "vulkan" in answer.err

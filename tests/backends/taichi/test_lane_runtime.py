"""Choosing a runtime, and what is said when there is none."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from dovetail.backends.taichi import runtime


def test_auto_prefers_quadrants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOVETAIL_TAICHI_RUNTIME", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert runtime.choose_runtime() == "quadrants"


def test_the_environment_chooses_for_auto_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_TAICHI_RUNTIME", "taichi")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert runtime.choose_runtime() == "taichi"
    assert runtime.choose_runtime("quadrants") == "quadrants"


def test_an_unknown_runtime_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="choose one of: auto, quadrants, taichi"):
        runtime.choose_runtime("numba")


def test_a_missing_runtime_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(runtime, "_started", {})
    monkeypatch.delenv("DOVETAIL_TAICHI_RUNTIME", raising=False)
    with pytest.raises(runtime.RuntimeUnavailableError, match=r'pip install "dovetail-physics\[taichi\]"'):
        runtime.choose_runtime()


def test_the_cache_directory_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path))
    assert runtime.cache_directory() == tmp_path / "taichi"

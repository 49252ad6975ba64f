"""A kernel of one's own: no settings from outside, a registry to add to, and a module to put functions in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dovetail import config
from dovetail.backends.native import poison
from dovetail.backends.numpy import NumpyBackend
from dovetail.implementation import Implementation
from dovetail.registry import Registry, build_registry

MODULE = "toy_stages"
OF_TESTS = ("DOVETAIL_CACHE_DIR", "DOVETAIL_MODEL_CACHE", poison.VARIABLE)
"""Where kernels are kept, whether models are, and that memory is poisoned."""


@pytest.fixture(autouse=True)
def _no_outside_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither variables nor configuration files of the place where the tests run, except what the tests set."""
    for name in [n for n in os.environ if n.startswith("DOVETAIL_") and n not in OF_TESTS]:
        monkeypatch.delenv(name)
    config._told.forget()
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def registry() -> Registry:
    """The built-in records alone, in a registry that a test may change."""
    return build_registry(third_party=False)


class ToyBackend(NumpyBackend):
    """Runs like NumPy under another name: a second backend on any machine."""

    name = "toy"
    install = "toy-runtime"


@pytest.fixture
def toy_backend(registry: Registry) -> ToyBackend:
    backend = ToyBackend()
    registry.backends["toy"] = backend
    return backend


RecordMaker = Callable[..., Implementation]


@pytest.fixture
def record(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> RecordMaker:
    """Register a function as an implementation: `record("energy", function, name="mine", …)`."""
    module = ModuleType(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, module)

    def register(stage: str, function: Callable[..., Any] | None = None, **said: Any) -> Implementation:
        attribute = f"f{len(vars(module))}"
        setattr(module, attribute, function or _nothing)
        said = {"name": "mine", "backend": "numpy", "target": f"{MODULE}:{attribute}", **said}
        made = Implementation(stage=stage, **said)
        registry.add(made)
        return made

    return register


def _nothing(model: Any, data: Any) -> None:
    """A stage that leaves everything as it was."""

"""The generated reference pages are what the code gives now."""

from __future__ import annotations

import importlib.util

import pages


def test_reference_is_current() -> None:
    spec = importlib.util.spec_from_file_location("generate", pages.DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.stale() == [], "run: python docs/generate.py"

"""The MJCF compiler alone, with the built-in stages: what it makes before the constants that need dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from dovetail import mjcf
from dovetail.config import Config
from dovetail.planning.loading_selection import Loading


@cache
def tables() -> mjcf.Tables:
    """The built-in implementations, whatever configuration files and the environment say."""
    return mjcf.Tables(**Loading.of(config=Config()).tables())


def compile_text(xml: str | bytes, *, rows: Mapping[str, Any] | None = None, **options: Any) -> mjcf.Compiled:
    """A model given as text; `rows` replaces whole tables, by stage."""
    return mjcf.compile_text(xml, attrs.evolve(tables(), **(rows or {})), **options)


def compile_file(path: str | Path, **options: Any) -> mjcf.Compiled:
    """A model file."""
    return mjcf.compile_file(path, tables(), **options)

"""Fixtures of the MJCF tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import comparing
import pytest
from compiling import compile_text

from dovetail.mjcf import Compiled


@pytest.fixture
def same_as_mujoco() -> Callable[..., Compiled]:
    """A check that MuJoCo compiles a text to the same values; returns what we compiled."""
    mujoco = pytest.importorskip("mujoco")

    def check(
        xml: str, relative: float = comparing.RELATIVE, assets: dict[str, Any] | None = None
    ) -> Compiled:
        theirs = mujoco.MjModel.from_xml_string(xml, {k: _bytes(v) for k, v in (assets or {}).items()})
        ours = compile_text(xml, assets=assets)
        assert comparing.differences(ours, theirs, relative) == []
        return ours

    return check


def _bytes(data: bytes | str) -> bytes:
    return data.encode() if isinstance(data, str) else data

"""A registry in which nobody implements some stage, for as long as a test lasts."""

from __future__ import annotations

import pytest

from dovetail import builtin, registry


def hide(monkeypatch: pytest.MonkeyPatch, *stages: str) -> None:
    """Leave out the plugins of some stages."""
    others = [name for name in builtin.stages() if name not in stages]
    monkeypatch.setattr(builtin, "stages", lambda: others)
    monkeypatch.setattr(registry, "_cached", None)

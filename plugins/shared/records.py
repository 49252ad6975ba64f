"""Records of implementations that exist on NumPy and in lanes under the same name."""

from __future__ import annotations

from typing import Any

from dovetail.implementation import Implementation


def siblings(
    stage: str,
    name: str,
    *,
    key: str | None = None,
    file: str | None = None,
    function: str | None = None,
    **common: Any,
) -> list[Implementation]:
    """The NumPy reference and its sibling in lanes: `<file>_numpy.py` and `<file>_lanes.py` in the stage's folder,
    with the same function name in both."""
    module = f"dovetail.plugins.{stage}.{file or name}"
    return [
        Implementation(
            stage=stage,
            name=name,
            key=key,
            backend=backend,
            target=f"{module}_{backend}:{function or stage}",
            **common,
        )
        for backend in ("numpy", "lanes")
    ]

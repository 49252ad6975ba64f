"""Objects in words, for warnings."""

from __future__ import annotations

from dovetail.contracts.protocols import ModelLike


def named(model: ModelLike, kind: str, index: int) -> str:
    """`joint "knee"`, or `joint 3` if it has no name."""
    name = getattr(model, kind)(int(index)).name
    return f'{kind} "{name}"' if name else f"{kind} {index}"

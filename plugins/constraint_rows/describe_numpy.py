"""Objects in words, for warnings."""

from __future__ import annotations

from dovetail.contracts.protocols import ModelLike


def named(model: ModelLike, kind: str, index: int) -> str:
    """`joint "knee"`, or `joint 3` if it has no name. MuJoCo's own models know flexes only by number."""
    of_kind = getattr(model, kind, None)
    name = of_kind(int(index)).name if of_kind else ""
    return f'{kind} "{name}"' if name else f"{kind} {index}"

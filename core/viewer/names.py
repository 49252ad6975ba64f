"""Names of a model's objects for menus: every one has a name there, and no two the same."""

from __future__ import annotations

from dovetail.contracts.named import KINDS
from dovetail.contracts.types import Model


def names_of(model: Model, kind: str) -> list[str]:
    """Names in order of number; what has none is called by kind and number."""
    stated = model.object_names.get(kind, ())
    count = model.sizes[KINDS[kind].size]
    names = [stated[i] if i < len(stated) and stated[i] else f"{kind} {i}" for i in range(count)]
    return [name if names.count(name) == 1 else f"{name} ({i})" for i, name in enumerate(names)]

"""`<visual>`: settings of how a model looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context


DEFAULT_ZNEAR = 0.01
"""Near clipping plane relative to the model's extent (visual.map.znear)."""


def read_visual(context: Context, section: Node) -> None:
    """Read `<visual>`; later sections override."""
    for node in section.children:
        for name in ("znear", "realtime"):
            if node.values.get(name, 1.0) <= 0:
                raise node.error(f"{name} must be positive", name)
        context.visual.setdefault(node.tag, {}).update(node.values)

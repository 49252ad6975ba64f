"""`<deformable>`: which reader each of its children has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..source import Node
from .flex import read_flex
from .skin import read_skin

if TYPE_CHECKING:
    from ..context import Context

_READERS: dict[str, Callable[[Context, Node], None]] = {"flex": read_flex, "skin": read_skin}


def read_deformable(context: Context, section: Node) -> None:
    """Read a `<deformable>` section."""
    for node in section.children:
        _READERS[node.tag](context, node)

"""`<deformable>`: which reader each of its children has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dovetail.mjcf.elements.flex import read_flex
from dovetail.mjcf.elements.skin import read_skin
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

_READERS: dict[str, Callable[[Context, Node], None]] = {"flex": read_flex, "skin": read_skin}


def read_deformable(context: Context, section: Node) -> None:
    """Read a `<deformable>` section."""
    for node in section.children:
        _READERS[node.tag](context, node)
    _number_flexes(context)


def _number_flexes(context: Context) -> None:
    """MuJoCo reads `<deformable>` before the tree, so that flexcomps come last."""
    flexes = context.objects["flex"]
    flexes.sort(key=lambda flex: flex.place.tag == "flexcomp")
    for number, flex in enumerate(flexes):
        flex.id = number
    context.ids["flex"] = {flex.name: flex.id for flex in flexes if flex.name}

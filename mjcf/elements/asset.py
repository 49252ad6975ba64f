"""`<asset>`: which reader each of its children has, and the files that they came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dovetail.mjcf.elements.columns import column, text
from dovetail.mjcf.elements.hfield import read_hfield
from dovetail.mjcf.elements.material import read_material
from dovetail.mjcf.elements.mesh import read_mesh
from dovetail.mjcf.elements.object_kinds import SHORT
from dovetail.mjcf.elements.skin import read_skin
from dovetail.mjcf.elements.texture import read_texture
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context


def read_asset(context: Context, section: Node) -> None:
    """Read an `<asset>` section."""
    for node in section.children:
        if node.tag in _ASSETS:
            _ASSETS[node.tag](context, node)


_ASSETS: dict[str, Callable[[Context, Node], None]] = {
    "texture": read_texture,
    "material": read_material,
    "mesh": read_mesh,
    "hfield": read_hfield,
    "skin": read_skin,
}


def path_fields(context: Context) -> dict[str, Any]:
    """Names of the files that assets came from, one after the other, and where each begins."""
    fields: dict[str, Any] = {}
    buffer = b""
    for kind in ("hfield", "mesh", "skin", "texture"):
        prefix, begins = SHORT[kind], []
        for item in context.objects[kind]:
            begins.append(len(buffer) if item.file else -1)
            buffer += item.file.encode() + b"\0" if item.file else b""
        fields[f"{prefix}_pathadr"] = column(f"{prefix}_pathadr", begins)
    fields["paths"] = text([buffer or b"\0"])
    return fields

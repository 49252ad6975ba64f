"""What cameras and lights look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context


def find_targets(context: Context) -> None:
    """Resolve the bodies that cameras and lights look at, and the textures of lights."""
    for item in (*context.objects["camera"], *context.objects["light"]):
        if item.target:
            item.targetbodyid = context.find("body", item.target, item.place, "target")
    for light in context.objects["light"]:
        if light.texture:
            light.texid = context.find("texture", light.texture, light.place, "texture")

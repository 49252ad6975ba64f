"""`<compiler discardvisual="true">`: leaving out what has no part in physics (`mjCModel::DiscardVisual`).

Geoms that cannot collide go, unless something else in the model names them, and with them all materials and
textures, and meshes that no geom is left to use. Masses have been counted before.
"""

from __future__ import annotations

from typing import Any

from dovetail.mjcf.compose.namespace import references
from dovetail.mjcf.elements.geom import GeomItem
from dovetail.mjcf.model.context import Context
from dovetail.mjcf.read.source import Node, walk

_ELSEWHERE = ("worldbody", "asset", "default")
"""Sections that cannot name a geom."""


def discard_visual(context: Context, root: Node) -> None:
    """Leave out visual geoms and assets, if the model asks for it; bodies must be compiled."""
    if not context.compiler.discardvisual:
        return
    named = _named_geoms(root)
    kept = [geom for geom in context.geoms if geom.contype or geom.conaffinity or geom.name in named]
    _keep_geoms(context, kept)
    _keep_meshes(context, kept)
    for site in context.sites:
        if site.material:
            raise site.place.error(
                "discardvisual removes all materials, but this site has one; remove material or discardvisual",
                "material",
            )
    for geom in kept:
        geom.material = ""
    for kind in ("material", "texture"):
        _renumber(context, kind, [])


def _named_geoms(root: Node) -> set[str]:
    """Geoms that pairs, sensors, tendons or tuples refer to."""
    sections = [section for section in root.children if section.tag not in _ELSEWHERE]
    return {
        name
        for section in sections
        for node in walk(section)
        if node.schema is not None
        for _, kind, name in references(node)
        if kind == "geom"
    }


def _keep_geoms(context: Context, kept: list[GeomItem]) -> None:
    _renumber(context, "geom", kept)
    numbers = {id(geom) for geom in kept}
    for body in context.bodies:
        body.geoms = [geom for geom in body.geoms if id(geom) in numbers]


def _keep_meshes(context: Context, kept: list[GeomItem]) -> None:
    used = [mesh for mesh in context.objects["mesh"] if any(g.mesh == mesh.name for g in kept)]
    _renumber(context, "mesh", used)
    for geom in kept:
        if geom.mesh:
            geom.dataid = context.ids["mesh"][geom.mesh]


def _renumber(context: Context, kind: str, kept: list[Any]) -> None:
    """Make these the only objects of a kind."""
    context.objects[kind] = kept
    for number, item in enumerate(kept):
        item.id = number
    context.ids[kind] = {item.name: item.id for item in kept if item.name}

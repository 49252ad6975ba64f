"""`<contact>`: geom pairs that are always tested, and body pairs that never collide.

Both are listed by signature, the two body numbers in one, as MuJoCo's broad phase expects them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.mjcf.links import Exclude, Pair
from dovetail.mjcf.read.source import Node
from dovetail.mjcf.tree import Item, overlay

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

_CONDIMS = (1, 3, 4, 6)


def apply_pair(pair: Pair, node: Node) -> None:
    """Lay the attributes of a pair over it; a pair takes nothing from its geoms."""
    overlay(pair, {name: value for name, value in node.values.items() if name not in ("geom1", "geom2")})


def read_contacts(context: Context, section: Node) -> None:
    """Read a `<contact>` section."""
    for node in section.children:
        if node.tag == "exclude":
            context.add("exclude", Exclude(node=node))
            continue
        pair = context.defaults.of(node).make(Pair)
        pair.node = node
        apply_pair(pair, node)
        context.add("pair", pair)


def compile_contacts(context: Context) -> None:
    """Resolve the names in all pairs and exclusions, then sort both by signature."""
    for pair in context.objects["pair"]:
        _compile_pair(context, pair)
    for exclude in context.objects["exclude"]:
        node = exclude.place
        exclude.signature = _signature(
            *(context.find("body", node.values[name], node, name) for name in ("body1", "body2"))
        )
    _sort(context, "pair")
    _sort(context, "exclude")


def _compile_pair(context: Context, pair: Pair) -> None:
    node = pair.place
    for name in ("geom1", "geom2"):
        if name not in node.values:
            raise node.error(f"a pair needs two geoms; add {name}")
    if pair.condim not in _CONDIMS:
        raise node.error(f"condim {pair.condim} does not exist; it is 1, 3, 4 or 6", "condim")
    first, second = (context.find("geom", node.values[name], node, name) for name in ("geom1", "geom2"))
    bodies = context.geoms[first].bodyid, context.geoms[second].bodyid
    pair.geomid = (first, second) if bodies[0] <= bodies[1] else (second, first)
    pair.signature = _signature(*bodies)


def _signature(body1: int, body2: int) -> int:
    return (min(body1, body2) << 16) + max(body1, body2)


def _sort(context: Context, kind: str) -> None:
    items: list[Item] = context.objects[kind]
    items.sort(key=lambda item: getattr(item, "signature"))  # noqa: B009 - pairs and excludes have one
    for index, item in enumerate(items):
        item.id = index
        if item.name:
            context.ids[kind][item.name] = index

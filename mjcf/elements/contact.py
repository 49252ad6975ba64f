"""`<contact>`: geom pairs that are always tested, and body pairs that never collide.

Both are listed by signature, the two body numbers in one, as MuJoCo's broad phase expects them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.contact_settings import check_condim
from dovetail.mjcf.elements.items import SOLIMP, SOLREF, Item, overlay
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context


@attrs.define(eq=False, kw_only=True)
class PairItem(Item):
    """A `<pair>` of geoms."""

    condim: int = 3
    friction: Vec = (1.0, 1.0, 0.005, 0.0001, 0.0001)
    solref: Vec = SOLREF
    solreffriction: Vec = (0.0, 0.0)
    solimp: Vec = SOLIMP
    margin: float = 0.0
    gap: float = 0.0
    geomid: tuple[int, int] = (-1, -1)
    signature: int = 0


@attrs.define(eq=False, kw_only=True)
class ExcludeItem(Item):
    """An `<exclude>`, of two bodies."""

    signature: int = 0


PAIR_COLUMNS: Columns = {
    "pair_dim": "condim",
    "pair_geom1": lambda pair: pair.geomid[0],
    "pair_geom2": lambda pair: pair.geomid[1],
    "pair_signature": "signature",
    "pair_solref": "solref",
    "pair_solreffriction": "solreffriction",
    "pair_solimp": "solimp",
    "pair_margin": "margin",
    "pair_gap": "gap",
    "pair_friction": "friction",
}
EXCLUDE_COLUMNS: Columns = {"exclude_signature": "signature"}


def apply_pair(pair: PairItem, node: Node) -> None:
    """Lay the attributes of a pair over it; a pair takes nothing from its geoms."""
    overlay(pair, {name: value for name, value in node.values.items() if name not in ("geom1", "geom2")})


def read_contacts(context: Context, section: Node) -> None:
    """Read a `<contact>` section."""
    for node in section.children:
        if node.tag == "exclude":
            context.add("exclude", ExcludeItem(node=node))
            continue
        pair = context.defaults.of(node).make(PairItem)
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


def _compile_pair(context: Context, pair: PairItem) -> None:
    node = pair.place
    for name in ("geom1", "geom2"):
        if name not in node.values:
            raise node.error(f"a pair needs two geoms; add {name}")
    check_condim(pair)
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

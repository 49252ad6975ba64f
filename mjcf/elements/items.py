"""What every item of the typed tree has, and how written attributes are laid over it.

An item is one element between XML and arrays; its class stands in the element's own module. Field names are MJCF's
attribute names and field defaults are MuJoCo's built-in ones (`mjs_default…`), so a default class is simply one
instance of each, and reading an element means copying that instance and laying the written attributes over it.
Lengths in metres, masses in kilograms, angles as written until compiled.
"""

from __future__ import annotations

import math
from typing import Any

import attrs

from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.source import Node

SOLREF: Vec = (0.02, 1.0)
SOLIMP: Vec = (0.9, 0.95, 0.001, 0.5, 2.0)
"""MuJoCo's default solver reference and impedance (mj_defaultSolRefImp)."""
ORIENTATIONS = ("axisangle", "xyaxes", "zaxis", "euler")
"""Attributes that give an orientation in another way than `quat`."""


@attrs.define(eq=False, kw_only=True)
class Item:
    """What every element has: a place in the file, a name, a number."""

    node: Node | None = None
    name: str = ""
    id: int = -1

    @property
    def place(self) -> Node:
        """Where to point an error message."""
        assert self.node is not None
        return self.node


def overlay(item: Item, values: dict[str, Any]) -> None:
    """Lay parsed attributes over an item: a vector with fewer values leaves the rest as it was."""
    for name, value in values.items():
        if name in ORIENTATIONS:
            setattr(item, "alt", (name, value))  # noqa: B010 - only posed items have orientations
        elif name in ("class", "childclass"):
            continue
        elif name == "mass" and math.isnan(value):
            setattr(
                item, name, None
            )  # as in MuJoCo, where nan stands for a mass that follows from the density
        else:
            setattr(item, name, _laid_over(getattr(item, name), value, name))


def _laid_over(old: Any, new: Any, name: str) -> Any:
    if isinstance(old, tuple) and isinstance(new, tuple) and name != "user":
        return new + old[len(new) :]
    return new

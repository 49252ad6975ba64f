"""What geoms and flexes say about their contacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.items import SOLIMP, SOLREF
from dovetail.mjcf.geometry.rotation import Vec

if TYPE_CHECKING:
    from dovetail.mjcf.elements.items import Item

_CONDIMS = (1, 3, 4, 6)
"""Dimensions that a contact can have."""


@attrs.define(eq=False, kw_only=True, slots=False)
class ContactSettings:
    """To be inherited besides an item: without slots, as Python allows only one base with them."""

    contype: int = 1
    conaffinity: int = 1
    condim: int = 3
    priority: int = 0
    friction: Vec = (1.0, 0.005, 0.0001)
    solmix: float = 1.0
    solref: Vec = SOLREF
    solimp: Vec = SOLIMP
    margin: float = 0.0
    gap: float = 0.0


def contact_columns(kind: str) -> Columns:
    """The settings as fields of the model: every one has a field of its name."""
    return {f"{kind}_{field.name}": field.name for field in attrs.fields(ContactSettings)}


def check_condim(item: Item) -> None:
    """Refuse contacts of a dimension that does not exist."""
    condim: int = getattr(item, "condim")  # noqa: B009 - geoms, flexes and pairs have one
    if condim not in _CONDIMS:
        raise item.place.error(f"condim {condim} does not exist; it is 1, 3, 4 or 6", "condim")

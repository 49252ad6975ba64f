"""One world of a Data, and what drawing reads of it."""

from __future__ import annotations

from typing import Any

from dovetail.errors import ArgumentError, NotKeptError

FIELDS = (
    "xpos",
    "xmat",
    "xipos",
    "ximat",
    "xanchor",
    "xaxis",
    "geom_xpos",
    "geom_xmat",
    "site_xpos",
    "site_xmat",
    "cam_xpos",
    "cam_xmat",
    "light_xpos",
    "light_xdir",
    "subtree_com",
    "flexvert_xpos",
    "ten_wrapadr",
    "ten_wrapnum",
    "wrap_obj",
    "wrap_xpos",
)
"""Fields of Data that pictures are made from: `Simulation(model, nworld=…, keep=dovetail.visual.FIELDS)`."""


def one_world(data: Any, world: int | None = None) -> Any:
    """The world to draw: a Data of one world as it is, of a batch the one that is asked for."""
    nworld = getattr(data, "nworld", None)
    if world is not None:
        if hasattr(data, "world"):
            return data.world(world)
        if world != 0:
            raise ArgumentError(f"this Data has one world; there is no world {world}")
    elif nworld is not None:
        raise ArgumentError(
            f"this Data has {nworld} worlds and a scene shows one: say which with world=, 0 to {nworld - 1}"
        )
    return data


def needed(data: Any) -> None:
    """Raise an error that names all that drawing needs, if the plan that fills a Data keeps it to itself."""
    try:
        _ = data.geom_xpos, data.geom_xmat, data.xpos
    except NotKeptError as problem:
        raise NotKeptError(
            f"{problem}. For pictures make it with keep=dovetail.visual.FIELDS, and with 'contact' and 'efc' fields "
            "too if contacts and constraints are to be marked"
        ) from None

"""What two touching geoms' settings say about their contact."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import CONTACT_DELIVERY, LANE_CHAIN

_WRITES = (
    "contact.dim contact.friction contact.solref contact.solreffriction contact.solimp contact.includemargin "
    "contact.exclude"
)


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="contact_params",
            name="mujoco",
            backend="numpy",
            target="dovetail.plugins.contact_params.mujoco_numpy:contact_params",
            default=True,
            reads="ncon contact.geom contact.flex contact.vert contact.dist contact_candidate candidate_pair",
            writes=_WRITES,
            summary="Explicit pairs, then priorities, then the replaceable rules that combine two geoms",
        ),
        Implementation(
            stage="contact_params",
            name="mujoco",
            backend="taichi",
            target="dovetail.plugins.contact_params.mujoco_taichi:contact_params",
            default=True,
            chain=LANE_CHAIN,
            reads="",
            writes=_WRITES,
            delivery=CONTACT_DELIVERY,
            supports="flex.none flex.untouchable",
            summary="The same for the tile's list of contacts",
        ),
    ]

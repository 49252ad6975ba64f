"""Contacts of two geoms, by their types."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.collide_pair.analytic_records import analytic_records
from dovetail.plugins.collide_pair.convex_records import convex_records
from dovetail.plugins.collide_pair.lane_records import lane_records
from dovetail.plugins.collide_pair.sdf_records import sdf_records


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [*analytic_records(), *convex_records(), *sdf_records(), *lane_records()]

"""`<site>`: a place on a body, with a shape to be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from dovetail.contracts.enums import GeomType
from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.poses import Scope, put_in_frame, read_posed
from dovetail.mjcf.elements.shapes import SIZES, ShapedItem, check_size, set_pose_and_size, shape_columns
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context


@attrs.define(eq=False, kw_only=True)
class SiteItem(ShapedItem):
    """A `<site>`."""

    size: Vec = (0.005, 0.005, 0.005)


COLUMNS: Columns = shape_columns("site")


def read_site(context: Context, node: Node, scope: Scope) -> None:
    """Read a `<site>` into its body."""
    read_posed(context, node, scope, SiteItem, scope.body.sites)


def compile_site(context: Context, site: SiteItem) -> None:
    """Pose and size in the body's frame."""
    node = site.place
    if site.type not in SIZES and site.type != GeomType.SDF:
        raise node.error(f"a site cannot be a {GeomType(site.type).keyword}; use a primitive shape", "type")
    written = site.quat
    set_pose_and_size(context, site)
    check_size(site)
    put_in_frame(site, written if site.fromto is None else site.quat)
    site.user = context.padded_user(site, "nuser_site", site.user)

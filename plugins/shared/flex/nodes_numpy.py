"""Where points of bodies are, and among them the nodes of interpolated flexes."""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.vectors_numpy import to_world_rows


def points_of_bodies(data: DataLike, body: Array, offset: Array | None) -> Array:
    """Points (n, 3) in the world, given in the frames of bodies (n,); None: at the bodies' origins."""
    origin: Array = data.xpos[body]
    return origin if offset is None else to_world_rows(data.xmat[body], offset) + origin


def nodes_of(model: ModelLike, flex: int) -> slice:
    """The nodes of a flex."""
    return slice(int(model.flex_nodeadr[flex]), int(model.flex_nodeadr[flex] + model.flex_nodenum[flex]))


def places_of_nodes(model: ModelLike, data: DataLike, flex: int) -> Array:
    """The nodes (n, 3) of a flex in the world."""
    nodes = nodes_of(model, flex)
    offset = None if model.flex_centered[flex] else model.flex_node[nodes]
    return points_of_bodies(data, model.flex_nodebodyid[nodes], offset)

"""Flexes in the world: vertices, boxes, edges.

A vertex is at a fixed place of its body, or follows the nodes of its flex: a sum of their places, weighted by where
the vertex is in the flex's box at qpos0. World frame throughout. Compare mj_flex, mj_updateDynamicBVH.

What MuJoCo leaves as it was is zero here: lengths of edges of rigid and interpolated flexes, and boxes of trees where
the flag midphase is off.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.flex_kinematics.boxes_numpy import write_boxes
from dovetail.plugins.flex_kinematics.edges_numpy import write_edges
from dovetail.plugins.shared.flex.interpolation_numpy import node_weights
from dovetail.plugins.shared.flex.nodes_numpy import places_of_nodes, points_of_bodies


def flex_kinematics(model: ModelLike, data: DataLike) -> None:
    """Write everything about flexes that follows from where bodies are."""
    for flex in range(model.nflex):
        of_flex = slice(model.flex_vertadr[flex], model.flex_vertadr[flex] + model.flex_vertnum[flex])
        place = follow_nodes if model.flex_interp[flex] else follow_bodies
        data.flexvert_xpos[of_flex] = place(model, data, flex, of_flex)
    write_boxes(model, data)
    write_edges(model, data)


def follow_bodies(model: ModelLike, data: DataLike, flex: int, vertices: slice) -> Array:
    """Vertices (n, 3) that are fixed in bodies."""
    offset = None if model.flex_centered[flex] else model.flex_vert[vertices]
    return points_of_bodies(data, model.flex_vertbodyid[vertices], offset)


def follow_nodes(model: ModelLike, data: DataLike, flex: int, vertices: slice) -> Array:
    """Vertices (n, 3) between the nodes of their flex."""
    weight = node_weights(int(model.flex_interp[flex]), model.flex_vert0[vertices])
    place = np.zeros((len(weight), 3))
    for share, node in zip(weight.T, places_of_nodes(model, data, flex), strict=True):
        place += share[:, None] * node
    return place

"""Boxes around the elements of flexes and around branches of their trees: centre and half-sizes, world axes.

An element's box holds its vertices and a radius around them. A leaf of a tree has its element's box, an inner node
the box around its two children's. Compare mj_flex and mj_updateDynamicBVH.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.flex.elements_numpy import corners_of, elements_of
from dovetail.plugins.shared.remembered import Remembered


def write_boxes(model: ModelLike, data: DataLike) -> None:
    """Write flexelem_aabb and bvh_aabb_dyn."""
    for flex in range(model.nflex):
        corners = [data.flexvert_xpos[corner] for corner in corners_of(model, flex).T]
        box = box_of(reduce(np.minimum, corners), reduce(np.maximum, corners))
        box[:, 3:] += model.flex_radius[flex]
        data.flexelem_aabb[elements_of(model, flex)] = box
    if model.opt.disableflags & DisableBit.MIDPHASE:
        data.bvh_aabb_dyn[:] = 0.0
    elif model.nbvhdynamic:
        data.bvh_aabb_dyn[:] = boxes_of_trees(trees(model), data.flexelem_aabb, int(model.nbvhdynamic))


def box_of(low: Array, high: Array) -> Array:
    """Centres and half-sizes (n, 6) of boxes between corners."""
    return np.hstack([0.5 * (high + low), 0.5 * (high - low)])


class Trees(NamedTuple):
    """All trees of flexes, nodes counted among the dynamic ones."""

    leaf: Array
    element: Array
    """Of each leaf, counted through all flexes."""
    levels: list[tuple[Array, Array, Array]]
    """Inner nodes and their first and second children, from the deepest to the roots."""


def find_trees(model: ModelLike) -> Trees:
    """The trees that the Model has."""
    nodes = slice(int(model.nbvhstatic), None)
    child, element, depth = model.bvh_child[nodes], model.bvh_nodeid[nodes], model.bvh_depth[nodes]
    root, first = np.zeros(len(depth), int), np.zeros(len(depth), int)
    for flex in np.flatnonzero(model.flex_bvhadr >= 0).tolist():
        start = int(model.flex_bvhadr[flex]) - int(model.nbvhstatic)
        root[start : start + model.flex_bvhnum[flex]] = start
        first[start : start + model.flex_bvhnum[flex]] = model.flex_elemadr[flex]
    leaf = np.flatnonzero(element >= 0)
    inner = element < 0
    levels = []
    for level in np.unique(depth[inner])[::-1].tolist():
        node = np.flatnonzero(inner & (depth == level))
        levels.append((node, child[node, 0] + root[node], child[node, 1] + root[node]))
    return Trees(leaf, element[leaf] + first[leaf], levels)


def _structure_of_trees(model: ModelLike) -> tuple[Array, ...]:
    nodes = slice(int(model.nbvhstatic), None)
    own = model.flex_bvhadr, model.flex_bvhnum, model.flex_elemadr
    return model.bvh_child[nodes], model.bvh_nodeid[nodes], model.bvh_depth[nodes], *own


trees = Remembered(find_trees, _structure_of_trees)


def boxes_of_trees(found: Trees, elements: Array, count: int) -> Array:
    """Boxes (count, 6) of all nodes, from those of elements."""
    box = np.zeros((count, 6))
    box[found.leaf] = elements[found.element]
    for node, one, other in found.levels:
        first, second = box[one], box[other]
        low = np.minimum(first[:, :3] - first[:, 3:], second[:, :3] - second[:, 3:])
        high = np.maximum(first[:, :3] + first[:, 3:], second[:, :3] + second[:, 3:])
        box[node] = box_of(low, high)
    return box

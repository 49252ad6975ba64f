"""Candidate pairs within one flex: internal ones, which keep elements from turning inside out, and elements that
collide with each other.

Contacts of a flex with itself are not sorted in MuJoCo 3.4: they come as its search finds them, and the search says
which of two elements is the first. So each search here gives its pairs in the same order:

- narrow: every element with every later one;
- sap: along the longest axis of the flex's box elements enter and leave; a newcomer meets those that are there, in
  the order in which they came. Ends are compared in single precision, and equal ones stay as they are;
- bvh: two nodes of the tree of boxes at a time, last in first out. Of two inner nodes the one of larger surface is
  opened, where the surface is computed from half sizes less centres, by mistake; kept, because it decides the order.

Elements with corners on a common body do not collide. Margins do not count. World frame. Compare
mj_collideFlexInternal, mj_collideFlexSAP and mj_collideTree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from dovetail.contracts.enums import FlexSelf
from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import FlexPairs
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.contacts.flex_candidates_numpy import (
    SLACK,
    any_common,
    finite,
    largest,
    meeting_boxes,
    overlap,
    pairs_of,
)
from dovetail.plugins.shared.contacts.index_pairs_numpy import expand
from dovetail.plugins.shared.flex.element_boxes_numpy import (
    SOLID,
    Boxes,
    active,
    corner_bodies,
    element_boxes,
    has_tree,
    vertex_places,
)
from dovetail.plugins.shared.flex.elements_numpy import corners_of

Search = Callable[[ModelLike, DataLike, int], tuple[Array, Array]]
"""How pairs of elements are found: first and second ones in the order of contacts."""


def within_flexes(model: ModelLike, data: DataLike) -> Iterator[FlexPairs]:
    """Candidates of every flex with itself, in the order of contacts."""
    for flex in range(int(model.nflex)):
        if model.flex_rigid[flex] or not model.flex_contype[flex] & model.flex_conaffinity[flex]:
            continue
        if model.flex_internal[flex]:
            yield from internal(model, data, flex)
        if model.flex_selfcollide[flex] != FlexSelf.NONE:
            yield elements_among_themselves(model, data, flex)


# ---- internal ---------------------------------------------------------------------------------------------

FACES = np.array([[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 3, 2, 0]])
"""Corners of a tetrahedron's faces, turning so that normals point outwards, and the corner opposite."""


def internal(model: ModelLike, data: DataLike, flex: int) -> Iterator[FlexPairs]:
    """Elements with vertices beside them; of a tetrahedron each face with the vertex opposite."""
    first = int(model.flex_evpairadr[flex])
    pairs = model.flex_evpair[first : first + int(model.flex_evpairnum[flex])].reshape(-1, 2)
    if len(pairs):
        box = element_boxes(model, data, flex).of(pairs[:, 0])
        place = vertex_places(model, data, flex)[pairs[:, 1]]
        reach = float(model.flex_radius[flex]) + SLACK * (1.0 + np.abs(place))
        pairs = pairs[overlap(Boxes(place - reach, place + reach), box)]
        yield pairs_of(flex=(flex, flex), elem=(-1, pairs[:, 0]), vert=(pairs[:, 1], -1))
    if model.flex_dim[flex] == SOLID:
        corner = corners_of(model, flex) - model.flex_vertadr[flex]
        whole = np.isfinite(vertex_places(model, data, flex)[corner]).all(axis=(1, 2))
        elem = np.repeat(np.flatnonzero(whole), len(FACES))
        vert = corner[whole][:, FACES[:, 3]].reshape(-1)
        yield pairs_of(flex=(flex, flex), elem=(elem, -1), vert=(-1, vert))


# ---- elements among themselves ----------------------------------------------------------------------------


def elements_among_themselves(model: ModelLike, data: DataLike, flex: int) -> FlexPairs:
    """Elements whose boxes meet, by the search that the flex asks for."""
    boxes = element_boxes(model, data, flex)
    search = SEARCHES[mode(model, flex)] if finite(boxes).all() else narrow
    first, second = search(model, data, flex)
    bodies = corner_bodies(model, flex)
    keep = overlap(boxes.of(first), boxes.of(second))
    first, second = first[keep], second[keep]
    keep = ~any_common(bodies[first], bodies[second])
    return pairs_of(flex=(flex, flex), elem=(first[keep], second[keep]))


def mode(model: ModelLike, flex: int) -> FlexSelf:
    """Which search a flex asks for."""
    wanted = FlexSelf(int(model.flex_selfcollide[flex]))
    if wanted == FlexSelf.NARROW or not has_tree(model, flex):
        return FlexSelf.NARROW
    if wanted == FlexSelf.AUTO:
        return FlexSelf.BVH if model.flex_dim[flex] == SOLID else FlexSelf.SAP
    return wanted


def narrow(model: ModelLike, data: DataLike, flex: int) -> tuple[Array, Array]:
    """Every active element with every later one."""
    boxes, ids = element_boxes(model, data, flex), active(model, flex)
    ids = ids[finite(boxes.of(ids))]
    found = [
        np.stack([first, second], axis=1)[first < second]
        for first, second in meeting_boxes(boxes.of(ids), boxes.of(ids))
    ]
    pairs = np.concatenate([np.zeros((0, 2), int), *found])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return ids[pairs[:, 0]], ids[pairs[:, 1]]


def sap(model: ModelLike, data: DataLike, flex: int) -> tuple[Array, Array]:
    """Active elements by a sweep along one axis."""
    ids = active(model, flex)
    boxes = element_boxes(model, data, flex).of(ids)
    axis = longest_axis(model, data, flex)
    ends = np.stack([boxes.low[:, axis], boxes.high[:, axis]], axis=1).astype(np.float32).reshape(-1)
    turn = np.empty(len(ends), int)
    turn[np.argsort(ends, kind="stable")] = np.arange(len(ends))
    enters, leaves = turn[::2], turn[1::2]
    order = np.argsort(enters)
    place = np.arange(len(order))
    stop = np.searchsorted(enters[order], leaves[order])
    across = np.delete(np.arange(3), axis)
    low, high = boxes.low[order][:, across], boxes.high[order][:, across]
    found = []
    for there, newcomer in expand(place, place, place + 1, stop):
        meet = (low[there, 0] <= high[newcomer, 0]) & (low[newcomer, 0] <= high[there, 0])
        there, newcomer = there[meet], newcomer[meet]
        meet = (low[there, 1] <= high[newcomer, 1]) & (low[newcomer, 1] <= high[there, 1])
        found.append(np.stack([there[meet], newcomer[meet]], axis=1))
    pairs = np.concatenate([np.zeros((0, 2), int), *found])
    pairs = order[pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]]
    return ids[pairs[:, 0]], ids[pairs[:, 1]]


def longest_axis(model: ModelLike, data: DataLike, flex: int) -> int:
    """Along which a flex's box is longest; of equal ones the last."""
    x, y, z = data.bvh_aabb_dyn[int(model.flex_bvhadr[flex]) - int(model.nbvhstatic), 3:].tolist()
    return 0 if x > y and x > z else 1 if y > z else 2


def bvh(model: ModelLike, data: DataLike, flex: int) -> tuple[Array, Array]:
    """Leaves of the tree of boxes with each other.

    All pairs of nodes that are open go down one level at once, each replaced in its place by its children, the last
    to be put on a stack first; so the leaves stand in the order in which a stack gives them out.
    """
    begin, count = int(model.flex_bvhadr[flex]), int(model.flex_bvhnum[flex])
    child = model.bvh_child[begin : begin + count]
    start = begin - int(model.nbvhstatic)
    box = data.bvh_aabb_dyn[start : start + count]
    leaf = np.all(child < 0, axis=1)
    x, y, z = (box[:, 3:] - box[:, :3]).T
    surface = x * y + y * z + z * x
    bounds = Boxes(box[:, :3] - box[:, 3:], box[:, :3] + box[:, 3:])
    bounds = bounds.widened(SLACK * (1.0 + largest(bounds)))
    one = other = np.zeros(1, int)
    while not (leaf[one] & leaf[other]).all():
        open_pair = ~(leaf[one] & leaf[other])
        opens_first = open_pair & ~leaf[one] & (leaf[other] | (surface[one] > surface[other]))
        parent = np.repeat(np.arange(len(one)), np.where(open_pair, 2, 1))
        again = np.append(False, parent[1:] == parent[:-1]).astype(int)
        first, second = one[parent], other[parent]
        opened = np.where(opens_first[parent], first, second)
        below = child[opened, 1 - again]
        one = np.where(opens_first[parent], below, first)
        other = np.where(open_pair[parent] & ~opens_first[parent], below, second)
        keep = (one >= 0) & (other >= 0) & (one <= other)
        one, other = one[keep], other[keep]
        keep = overlap(bounds.of(one), bounds.of(other))
        one, other = one[keep], other[keep]
    node = model.bvh_nodeid[begin : begin + count]
    return node[one], node[other]


SEARCHES: Mapping[FlexSelf, Search] = {FlexSelf.NARROW: narrow, FlexSelf.SAP: sap, FlexSelf.BVH: bvh}

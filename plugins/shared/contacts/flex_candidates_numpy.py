"""Candidate pairs with a flex: its vertices near planes, its elements near other geoms and near elements of other
flexes. Those within one flex are in `flex_self_numpy`.

A body and a flex, or two flexes, are looked at if their masks meet; `<exclude>`, parents and welds do not matter to
flexes. With the midphase on a flex is searched by its tree: only elements in it count, which leaves out the inner
layers of solids, and of planes the body's masks are asked but not their own. Without it all elements count. An
element is no candidate with a geom on the body of one of its corners, nor with an element that has a corner on the
same body. What is left is found by boxes, which must only not miss anything.

World frame. Compare mj_collision, mj_collideTree, mj_collidePlaneFlex, mj_collideGeomElem and mj_collideElems. As for
geoms, boxes are widened by the sum of margins, and what is at no finite place is left out with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from dovetail.contracts.enums import EnableBit, GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import FlexPairs
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.contacts.index_pairs_numpy import Pairs, expand
from dovetail.plugins.shared.flex.element_boxes_numpy import (
    Boxes,
    corner_bodies,
    element_boxes,
    has_tree,
    in_tree,
    vertex_places,
)

PLANE = int(GeomType.PLANE)

SLACK = 1e-12
"""By how much of the coordinates boxes are wider than they must be, against rounding."""


def between_units(model: ModelLike, data: DataLike, geom_margin: Array) -> Iterator[FlexPairs]:
    """Candidates of flexes with bodies and with other flexes, in any order. `geom_margin`: what each geom adds to the
    distance at which contacts are looked for."""
    margin = flex_margins(model)
    for flex in range(int(model.nflex)):
        if touchable(model, flex):
            yield from with_planes(model, data, flex, geom_margin + margin[flex])
            yield from with_solids(model, data, flex, geom_margin + margin[flex])
    for one, other in combinations(range(int(model.nflex)), 2):
        if flexes_meet(model, one, other):
            yield from with_flex(model, data, one, other, float(margin[one] + margin[other]))


# ---- who may collide --------------------------------------------------------------------------------------


def touchable(model: ModelLike, flex: int) -> bool:
    return bool(model.flex_contype[flex] or model.flex_conaffinity[flex])


def flexes_meet(model: ModelLike, one: int, other: int) -> bool:
    """Whether the masks of two flexes meet."""
    contype, conaffinity = model.flex_contype, model.flex_conaffinity
    return bool((contype[one] & conaffinity[other]) | (contype[other] & conaffinity[one]))


def bodies_that_meet(model: ModelLike, flex: int) -> Array:
    """(nbody,) bodies whose masks meet those of a flex."""
    meet = (model.body_contype & model.flex_conaffinity[flex]) | (
        model.body_conaffinity & model.flex_contype[flex]
    )
    return meet != 0


def geoms_that_meet(model: ModelLike, flex: int) -> Array:
    """(ngeom,) geoms whose own masks meet those of a flex."""
    meet = (model.geom_contype & model.flex_conaffinity[flex]) | (
        model.geom_conaffinity & model.flex_contype[flex]
    )
    return meet != 0


def by_tree(model: ModelLike, flex: int) -> Array:
    """(nbody,) bodies that are searched together with a flex by trees of boxes."""
    if not has_tree(model, flex):
        return np.zeros(int(model.nbody), bool)
    return model.body_bvhadr >= 0


def planes_that_meet(model: ModelLike, flex: int) -> Array:
    """(ngeom,) planes that the vertices of a flex may touch wherever they are."""
    body = model.geom_bodyid
    tree = by_tree(model, flex)[body]
    wanted = np.where(tree, model.body_weldid[body] == 0, geoms_that_meet(model, flex))
    return wanted & (model.geom_type == PLANE) & bodies_that_meet(model, flex)[body]


def elements_that_meet(model: ModelLike, flex: int) -> tuple[Array, Array]:
    """Geoms that are no planes, and elements of a flex: all pairs (n) that may touch wherever they are."""
    found = []
    for geoms, elements, _ in searched_solids(model, flex):
        geom, elem = np.repeat(geoms, len(elements)), np.tile(elements, len(geoms))
        apart = ~(corner_bodies(model, flex)[elem] == model.geom_bodyid[geom][:, None]).any(axis=1)
        found.append((geom[apart], elem[apart]))
    both = zip((np.zeros(0, int), np.zeros(0, int)), *found, strict=True)
    first, second = (np.concatenate(column) for column in both)
    return first, second


def searched_solids(model: ModelLike, flex: int) -> Iterator[tuple[Array, Array, bool]]:
    """Geoms that are no planes and whose masks meet a flex, the elements that they may touch, and whether both are
    searched by trees: then only elements in the flex's tree count."""
    body = model.geom_bodyid
    wanted = (model.geom_type != PLANE) & geoms_that_meet(model, flex) & bodies_that_meet(model, flex)[body]
    tree = by_tree(model, flex)[body]
    for searched in (True, False):
        geoms = np.flatnonzero(wanted & (tree == searched))
        if len(geoms):
            elements = in_tree(model, flex) if searched else np.arange(int(model.flex_elemnum[flex]))
            yield geoms, elements, searched


def any_common(first: Array, second: Array) -> Array:
    """(n,) whether rows (n, p) and (n, q) of bodies have one in common; -1 is none."""
    same = (first[:, :, None] == second[:, None, :]) & (first >= 0)[:, :, None]
    return same.any(axis=(1, 2))


# ---- with geoms -------------------------------------------------------------------------------------------


def with_planes(model: ModelLike, data: DataLike, flex: int, margin: Array) -> Iterator[FlexPairs]:
    """Planes with the vertices that are as near as the margin (ngeom) says."""
    wanted = planes_that_meet(model, flex) & finite_geoms(data)
    place = vertex_places(model, data, flex)
    for geom in np.flatnonzero(wanted).tolist():
        normal = data.geom_xmat[geom].reshape(-1)[2::3]
        height = (place - data.geom_xpos[geom]) @ normal
        reach = float(margin[geom] + model.flex_radius[flex])
        slack = SLACK * (1.0 + float(np.abs(data.geom_xpos[geom]).max()))
        near = np.flatnonzero(height <= reach + slack * (1.0 + np.abs(height)))
        yield pairs_of(geom=(geom, -1), flex=(-1, flex), vert=(-1, near))


def with_solids(model: ModelLike, data: DataLike, flex: int, margin: Array) -> Iterator[FlexPairs]:
    """Other geoms with the elements whose boxes come as near as the margin (ngeom) says."""
    there = finite_geoms(data)
    for geoms, elements, searched in searched_solids(model, flex):
        yield from geoms_with_elements(model, data, geoms[there[geoms]], flex, elements, margin, searched)


def geoms_with_elements(
    model: ModelLike, data: DataLike, geoms: Array, flex: int, elements: Array, margin: Array, oriented: bool
) -> Iterator[FlexPairs]:
    """Some geoms with some elements, by bounding spheres and, where trees are searched, by the geoms' own boxes."""
    boxes = element_boxes(model, data, flex)
    elements = elements[finite(boxes.of(elements))]
    around = geom_boxes(model, data, geoms, margin[geoms], oriented)
    bodies = corner_bodies(model, flex)
    for geom, elem in meeting_boxes(around, boxes.of(elements)):
        geom, elem = geoms[geom], elements[elem]
        keep = ~(bodies[elem] == model.geom_bodyid[geom][:, None]).any(axis=1)
        geom, elem = geom[keep], elem[keep]
        if oriented:
            keep = ~apart_in_frame(model, data, geom, boxes.of(elem), margin[geom])
            geom, elem = geom[keep], elem[keep]
        yield pairs_of(geom=(geom, -1), flex=(-1, flex), elem=(-1, elem))


def geom_boxes(model: ModelLike, data: DataLike, geoms: Array, margin: Array, oriented: bool) -> Boxes:
    """Boxes around bounding spheres and, if wanted, around the geoms' own boxes."""
    centre, half = data.geom_xpos[geoms], (model.geom_rbound[geoms] + margin)[:, None]
    low, high = centre - half, centre + half
    if oriented:
        frame, box = data.geom_xmat[geoms].reshape(-1, 3, 3), model.geom_aabb[geoms]
        centre = centre + np.einsum("nij,nj->ni", frame, box[:, :3])
        half = np.einsum("nij,nj->ni", np.abs(frame), box[:, 3:]) + margin[:, None]
        slack = SLACK * (1.0 + np.abs(centre) + half)
        low, high = np.maximum(low, centre - half - slack), np.minimum(high, centre + half + slack)
    return Boxes(low, high)


def apart_in_frame(model: ModelLike, data: DataLike, geom: Array, boxes: Boxes, margin: Array) -> Array:
    """Whether a face of a geom's box separates it from a box along the world's axes by more than the margin."""
    frame, box = data.geom_xmat[geom].reshape(-1, 3, 3), model.geom_aabb[geom]
    centre = 0.5 * (boxes.low + boxes.high) - data.geom_xpos[geom]
    away = np.einsum("nji,nj->ni", frame, centre) - box[:, :3]
    reach = np.einsum("nji,nj->ni", np.abs(frame), 0.5 * (boxes.high - boxes.low)) + box[:, 3:]
    reach = reach + margin[:, None]
    return (np.abs(away) > reach + SLACK * (1.0 + np.abs(away) + reach)).any(axis=1)


# ---- with other flexes ------------------------------------------------------------------------------------


def with_flex(model: ModelLike, data: DataLike, one: int, other: int, margin: float) -> Iterator[FlexPairs]:
    """Elements of two flexes whose boxes are no farther apart than the margin."""
    trees = has_tree(model, one) and has_tree(model, other)
    elements, boxes, bodies = [], [], []
    for flex in (one, other):
        box = element_boxes(model, data, flex)
        ids = in_tree(model, flex) if trees else np.arange(int(model.flex_elemnum[flex]))
        ids = ids[finite(box.of(ids))]
        elements.append(ids)
        boxes.append(box.of(ids))
        bodies.append(corner_bodies(model, flex)[ids])
    slack = SLACK * (1.0 + largest(boxes[0]))
    for first, second in meeting_boxes(boxes[0].widened(margin + slack), boxes[1]):
        keep = ~any_common(bodies[0][first], bodies[1][second])
        yield pairs_of(flex=(one, other), elem=(elements[0][first[keep]], elements[1][second[keep]]))


def largest(boxes: Boxes) -> float:
    """The largest coordinate of any box."""
    return float(max(np.abs(boxes.low).max(initial=0.0), np.abs(boxes.high).max(initial=0.0)))


# ---- boxes ------------------------------------------------------------------------------------------------


def meeting_boxes(one: Boxes, other: Boxes) -> Pairs:
    """Blocks of pairs of boxes of two lists that have a point in common.

    Along the axis on which the second list is spread most, a box can only meet those that begin inside of it or at
    most the widest one's width before it.
    """
    if not len(one.low) or not len(other.low):
        return
    along = int(np.argmax(np.ptp(other.low, axis=0)))
    order = np.argsort(other.low[:, along], kind="stable")
    begins = other.low[order, along]
    widest = float((other.high - other.low)[:, along].max()) + SLACK * (1.0 + largest(other))
    start = np.searchsorted(begins, one.low[:, along] - widest, side="left")
    stop = np.searchsorted(begins, one.high[:, along], side="right")
    for first, second in expand(np.arange(len(one.low)), order, start, stop):
        keep = overlap(one.of(first), other.of(second))
        yield first[keep], second[keep]


def overlap(one: Boxes, other: Boxes) -> Array:
    """Which rows of boxes have a point in common."""
    return np.all((one.low <= other.high) & (other.low <= one.high), axis=1)


def finite(boxes: Boxes) -> Array:
    return np.all(np.isfinite(boxes.low) & np.isfinite(boxes.high), axis=1)


def finite_geoms(data: DataLike) -> Array:
    """Which geoms are at a place one can compute with."""
    return np.all(np.isfinite(data.geom_xpos), axis=1) & np.all(np.isfinite(data.geom_xmat), axis=1)


def warn_of_lost_vertices(model: ModelLike, data: DataLike) -> None:
    """Say which flexes would collide but have vertices that are nowhere."""
    if np.isfinite(data.flexvert_xpos).all():
        return
    for flex in range(int(model.nflex)):
        lost = np.flatnonzero(~np.isfinite(vertex_places(model, data, flex)).all(axis=1))
        if len(lost) and touchable(model, flex):
            warnings.warn(
                f"flex {flex_label(model, flex)} cannot collide where it is at no finite place: vertices "
                f"{', '.join(map(str, lost[:5].tolist()))}"
                + (f" and {len(lost) - 5} more" if len(lost) > 5 else ""),
                RuntimeWarning,
                stacklevel=4,
            )


def flex_label(model: Any, flex: int) -> str:
    """A flex's name and id, for messages."""
    name = model.flex(flex).name
    return f'"{name}" ({flex})' if name else str(flex)


# ---- rows -------------------------------------------------------------------------------------------------


Side = tuple[int | Array, int | Array]

NONE: Side = (-1, -1)


def pairs_of(geom: Side = NONE, flex: Side = NONE, elem: Side = NONE, vert: Side = NONE) -> FlexPairs:
    """Pairs with these ids on the two sides: arrays, or one number for all."""
    count = max(np.size(value) for side in (geom, flex, elem, vert) for value in side if np.ndim(value))
    columns = []
    for side in (geom, flex, elem, vert):
        column = np.empty((count, 2), np.int32)
        column[:, 0], column[:, 1] = side
        columns.append(column)
    return FlexPairs(*columns)


def joined(blocks: Iterable[FlexPairs]) -> FlexPairs:
    """All blocks in one."""
    listed = [FlexPairs(*[np.zeros((0, 2), np.int32)] * 4), *blocks]
    return FlexPairs(*(np.concatenate(column) for column in zip(*listed, strict=True)))


def flex_margins(model: ModelLike) -> Array:
    """What each flex adds to the distance at which its contacts with others are looked for."""
    if model.opt.enableflags & EnableBit.OVERRIDE:
        return np.maximum(model.flex_gap, 0.0) + 0.5 * max(float(model.opt.o_margin), 0.0)
    return np.maximum(model.flex_margin, 0.0) + np.maximum(model.flex_gap, 0.0)

"""Whether the boxes of two geoms come near each other, in lanes: see `oriented_boxes_numpy`.

A box that holds its geom separates nothing that touches, so boxes are compared only of pairs of which one geom has
outgrown its box, by an edit. Of meshes and height fields that is not known, and they are searched for longer than it
takes to compare boxes.
"""

from __future__ import annotations

from functools import reduce
from operator import and_, or_
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import IntegerField, Kernel
from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.plugins.shared.contacts.contacts_lanes import Contacts
from dovetail.plugins.shared.contacts.oriented_boxes_numpy import searched_by_tree
from dovetail.plugins.shared.vectors_lanes import Vector, dot, to_frame, to_world

SLACK = {"f64": 0.0, "f32": 1e-5}
"""Part of the boxes' extent by which they are widened: in single precision against rounding."""

ROUNDING = {"f64": 1e-12, "f32": 1e-6}
"""Part of a geom's size by which it may seem to be outside of a box that was made for it."""

BOXES, PLANE_AND_BOX = 1, 2
"""What two sides of a pair are."""


def boxes_meet(contacts: Contacts, p: Any, near: Any, margin: Any) -> Any:
    """Mask of the worlds in which pair p is near, and its boxes too where MuJoCo looks at these."""
    k, kinds = contacts.k, kinds_of_boxes(contacts)
    if not kinds.any():
        return near
    apart = k.local(0.0)
    kind, outgrown = k.table("boxes/kind", np.append(kinds, 0))[p], geoms_outside(k)
    asked = (outgrown[contacts.of_pair("geom1", p)] + outgrown[contacts.of_pair("geom2", p)]) != 0
    for number, test in {BOXES: boxes_apart, PLANE_AND_BOX: box_above_plane}.items():
        if (kinds == number).any():
            with k.when((kind == number) & asked), k.when(k.any(near)):
                apart.set(k.select(test(contacts, p, margin), 1.0, 0.0))
    return near & (apart.value < 0.5)


def geoms_outside(k: Kernel) -> IntegerField:
    """1 for geoms that may be larger than their boxes; worked out when a launch begins with a tile."""
    ngeom = int(k.frozen_model.ngeom)
    outside = k.forgotten_integers("boxes/outside", ngeom + 1)
    with k.when(outside[ngeom] == 0):
        with k.loop(0, ngeom) as geom:
            outside[geom] = k.select(holds_geom(k, geom), 0, 1)
        outside[ngeom] = 1
    return outside


def holds_geom(k: Kernel, geom: Any) -> Any:
    """Whether a geom of a primitive type is inside its box; of a plane whether its box ends at the plane."""
    m = k.model
    kind, (a, b, c) = m.geom_type[geom], m.geom_size[geom]
    centre, half = halves(m.geom_aabb[geom])
    round_one = (kind == GeomType.SPHERE) | (kind == GeomType.CAPSULE)
    long_one = (kind == GeomType.CAPSULE) | (kind == GeomType.CYLINDER)
    wide = k.select(round_one | long_one, a, b)
    high = k.select(kind == GeomType.SPHERE, a, k.select(long_one, b + k.select(round_one, a, 0.0), c))
    tight = 1.0 - ROUNDING[k.precision]
    inside = reduce(
        and_, (half[n] - k.abs(centre[n]) >= size * tight for n, size in enumerate((a, wide, high)))
    )
    plane = kind == GeomType.PLANE
    of_plane = plane & (centre[2] + half[2] == 0.0)
    of_solid = inside & (kind >= GeomType.SPHERE) & (kind <= GeomType.BOX)
    return of_plane | of_solid


def kinds_of_boxes(contacts: Contacts) -> Array:
    """Of every pair whether its boxes are compared, and how."""
    pairs, model = contacts.pairs, contacts.k.frozen_model
    kinds = np.zeros(pairs.count, int)
    geoms = np.flatnonzero((pairs.flex < 0) & (pairs.pair < 0))
    first, second = pairs.geom1[geoms], pairs.geom2[geoms]
    planes = model.geom_type[first] == int(GeomType.PLANE)
    kinds[geoms] = searched_by_tree(model, first, second) * np.where(planes, PLANE_AND_BOX, BOXES)
    return kinds


def boxes_apart(contacts: Contacts, p: Any, margin: Any) -> Any:
    """Whether a face of one box separates it from the other by more than `margin`."""
    k, d = contacts.k, contacts.k.data
    geoms = contacts.of_pair("geom1", p), contacts.of_pair("geom2", p)
    frames = [d.geom_xmat[geom].reshape(3, 3) for geom in geoms]
    centre, half = zip(*(halves(k.model.geom_aabb[geom]) for geom in geoms), strict=True)
    offset = d.geom_xpos[geoms[1]] - d.geom_xpos[geoms[0]]
    offset = offset + to_world(frames[1], centre[1]) - to_world(frames[0], centre[0])
    across = [[k.abs(dot(frames[0][:, i], frames[1][:, j])) for j in range(3)] for i in range(3)]
    tests = []
    for one, other, turned in ((0, 1, across), (1, 0, list(zip(*across, strict=True)))):
        along = to_frame(frames[one], offset)
        for axis in range(3):
            extent = half[one][axis] + dot(turned[axis], half[other])
            tests.append(k.abs(along[axis]) > extent + (margin + SLACK[k.precision] * extent))
    return reduce(or_, tests)


def box_above_plane(contacts: Contacts, p: Any, margin: Any) -> Any:
    """Whether a box is higher than the upper face of a plane's by more than `margin`."""
    k, d = contacts.k, contacts.k.data
    plane, geom = contacts.of_pair("geom1", p), contacts.of_pair("geom2", p)
    normal, frame = d.geom_xmat[plane].reshape(3, 3)[:, 2], d.geom_xmat[geom].reshape(3, 3)
    centre, half = halves(k.model.geom_aabb[geom])
    middle = dot(d.geom_xpos[geom] - d.geom_xpos[plane] + to_world(frame, centre), normal)
    extent = dot([k.abs(dot(normal, frame[:, axis])) for axis in range(3)], half)
    own = k.model.geom_aabb[plane]
    return middle - extent > own[2] + own[5] + (margin + SLACK[k.precision] * extent)


def halves(box: Vector) -> tuple[Vector, Vector]:
    """Centre and half-sizes of a box."""
    return box[:3], box[3:]

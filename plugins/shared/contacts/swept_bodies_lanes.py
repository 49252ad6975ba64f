"""Bodies whose boxes MuJoCo's sweep takes for apart although they touch, in lanes: see `swept_bodies_numpy`.

The axes along which geoms are spread are computed only where two bounding spheres barely touch in some world. In
single precision nothing is left out: there rounding decides more than this.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.fields import Array
from dovetail.plugins.shared.contacts.contacts_lanes import Contacts
from dovetail.plugins.shared.contacts.pair_margins_lanes import overridden
from dovetail.plugins.shared.contacts.reach_lanes import FAR
from dovetail.plugins.shared.contacts.swept_bodies_numpy import BARELY, swept
from dovetail.plugins.shared.principal_axes_lanes import principal_axes
from dovetail.plugins.shared.vectors_lanes import Vector, dot, vector

SPLIT = float(2**29 + 1)
"""A number times this, less what it has more than itself, has the 24 digits of single precision (Veltkamp)."""


def found_by_sweep(contacts: Contacts, p: Any, near: Any) -> Any:
    """Mask of the worlds in which pair p is near and MuJoCo's sweep finds its bodies."""
    k, pairs = contacts.k, contacts.pairs
    swept_pairs = swept_flags(contacts)
    if k.precision != "f64" or not swept_pairs.any():
        return near
    missed = k.local(0.0)
    with k.when(k.table("sweep/swept", np.append(swept_pairs, 0))[p] != 0):
        barely = near & barely_touching(contacts, p)
        with k.when(k.any(barely)):
            lower = k.table("sweep/lower", np.append(np.minimum(pairs.body1, pairs.body2), 0))[p]
            higher = k.table("sweep/higher", np.append(np.maximum(pairs.body1, pairs.body2), 0))[p]
            frame = spread_axes(k)
            apart = boxes_apart(k, box_of_body(k, frame, lower), box_of_body(k, frame, higher))
            missed.set(k.select(barely & apart, 1.0, 0.0))
    return near & (missed.value < 0.5)


def swept_flags(contacts: Contacts) -> Array:
    """1 for pairs of geoms that MuJoCo's sweep finds; it does not look for explicit pairs."""
    pairs = contacts.pairs
    found = np.zeros(pairs.count, int)
    geoms = np.flatnonzero((pairs.flex < 0) & (pairs.pair < 0))
    found[geoms] = swept(contacts.k.frozen_model, pairs.geom1[geoms], pairs.geom2[geoms])
    return found


def widening(k: Kernel, geom: Any) -> Any:
    """By how much a geom's box is wider than its bounding sphere."""
    m = k.model
    margin = k.select(overridden(k), 0.5 * k.max(m.opt.o_margin, 0.0), k.max(m.geom_margin[geom], 0.0))
    return margin + k.max(m.geom_gap[geom], 0.0)


def barely_touching(contacts: Contacts, p: Any) -> Any:
    """Whether the bounding spheres are hardly farther inside each other than rounding; also those of no radius, of
    which nothing but the boxes of their bodies is known."""
    k = contacts.k
    geom1, geom2 = contacts.of_pair("geom1", p), contacts.of_pair("geom2", p)
    place1, place2 = k.data.geom_xpos[geom1], k.data.geom_xpos[geom2]
    radius1, radius2 = k.model.geom_rbound[geom1], k.model.geom_rbound[geom2]
    bound = radius1 + widening(k, geom1) + radius2 + widening(k, geom2)
    scale = bound + largest(k, place1) + largest(k, place2)
    sure = k.max(bound - BARELY * scale, 0.0)
    offset = place2 - place1
    return dot(offset, offset) > k.select(k.min(radius1, radius2) <= 0.0, -1.0, sure * sure)


def largest(k: Kernel, place: Vector) -> Any:
    """The largest coordinate, without its sign."""
    x, y, z = (k.abs(part) for part in place)
    return k.max(k.max(x, y), z)


# ---- boxes ------------------------------------------------------------------------------------------------


def spread_axes(k: Kernel) -> Vector:
    """The axes (3, 3), by row, along which boxes are made."""
    frozen = k.frozen_model
    geoms = np.flatnonzero(np.asarray(frozen.geom_bodyid) > 0)
    vertices = np.flatnonzero(np.asarray(frozen.flex_vertbodyid) > 0) if frozen.nflex else geoms[:0]
    share = 1.0 / (len(geoms) + len(vertices))
    sources = [("geoms", geoms, "geom_xpos"), ("vertices", vertices, "flexvert_xpos")]
    places = [
        (k.table(f"sweep/{name}", ids), getattr(k.data, field)) for name, ids, field in sources if len(ids)
    ]
    centre = k.local(vector(0.0, 0.0, 0.0))
    for ids, place in places:
        with k.loop(0, ids.shape[0]) as n:
            centre.set(centre.value + place[ids[n]])
    middle = k.local(centre.value * share).value
    products = k.local(vector(*(0.0 for _ in range(6))))
    for ids, place in places:
        with k.loop(0, ids.shape[0]) as n:
            x, y, z = place[ids[n]] - middle
            products.set(products.value + vector(x * x, y * y, z * z, x * y, x * z, y * z))
    return principal_axes(k, products.value * share)


def box_of_body(k: Kernel, frame: Vector, body: Any) -> tuple[Vector, Vector]:
    """Lower and upper ends of a body's box along the axes."""
    m = k.model
    low, high = k.local(vector(FAR, FAR, FAR)), k.local(vector(-FAR, -FAR, -FAR))
    with k.loop(0, m.body_geomnum[body]) as n:
        geom = m.body_geomadr[body] + n
        radius, wider = m.geom_rbound[geom], widening(k, geom)
        centre = [dot(k.data.geom_xpos[geom], axis) for axis in frame]
        low.set(vector(*(k.min(a, c - radius - wider) for a, c in zip(low.value, centre, strict=True))))
        high.set(vector(*(k.max(a, c + radius + wider) for a, c in zip(high.value, centre, strict=True))))
    return low.value, high.value


def boxes_apart(k: Kernel, lower: tuple[Vector, Vector], higher: tuple[Vector, Vector]) -> Any:
    """Whether the sweep takes the boxes of a lower body and of a higher one for apart."""
    (begin1, end1), (begin2, end2) = lower, higher
    across = begin1[1] > end2[1]
    for axis in (1, 2):
        across = across | (begin1[axis] > end2[axis]) | (begin2[axis] > end1[axis])
    first, second = [single(begin1[0]), single(end1[0])], [single(begin2[0]), single(end2[0])]
    comes_first = first[0] <= second[0]
    ended = (comes_first & (first[1] <= second[0])) | (~comes_first & (second[1] < first[0]))
    return across | ended


def single(x: Any) -> Any:
    """Rounded to single precision."""
    wide = x * SPLIT
    return wide - (wide - x)

"""Smallest signed distance of two geoms, and the segment between their nearest points.

Pairs with a formula of their own use it, with the largest distance of interest as the margin, and the nearest of
their contacts counts; other convex pairs, and two boxes, run the distance iteration of the convex collider without
margin. Height fields go through their contacts too, so the margin raises their surface (as in MuJoCo 3.4, which
does not offer them to distance sensors).

World frame. See mj_geomDistance in MuJoCo 3.4. Known peculiarity: between polyhedra that are apart, MuJoCo's
iteration takes a few percent of the poses for touching and returns 0, and so does this. With the flag nativeccd off
all pairs go through their contacts, so that distances of convex pairs are those of portal refinement with a wide
margin: a little too small.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.enums import DisableBit, GeomType
from dovetail.errors import UnknownIndexError
from dovetail.plugins.shared.contacts.pair_types import CONVEX_PAIRS
from dovetail.plugins.shared.geometry.convex_numpy import Query, convex_witness
from dovetail.plugins.shared.geometry.support_numpy import geom_shape
from dovetail.plugins.shared.reference import names, reference

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail.contracts.fields import Array
    from dovetail.contracts.named import Which
    from dovetail.contracts.pairs import PairContacts
    from dovetail.contracts.types import Data, Model

ITERATED = frozenset((*CONVEX_PAIRS, "box-box"))
"""Pairs whose distance comes from the convex iteration, if the flag nativeccd is on."""

_NAMES = {int(kind): kind.name.lower() for kind in GeomType}


@cache
def _contacts_of(pair: str) -> Callable[..., PairContacts] | None:
    """The reference's contact function of a pair; None: geoms of these types do not collide."""
    slot = f"collide_pair:{pair}"
    known = [name for name in ("analytic", "convex") if name in names(slot)]
    return reference(slot, known[0]) if known else None


def _iterated_distance(
    model: Model, data: Data, geom1: int, geom2: int, distmax: float
) -> tuple[float, Array]:
    """Distance and segment from the convex iteration, in the order the geoms are given."""
    first, second = geom_shape(model, data, geom1, 0.0), geom_shape(model, data, geom2, 0.0)
    witness = convex_witness(first, second, Query.of(model, distmax))
    fromto = np.zeros(6)
    if witness.points:
        fromto[:3], fromto[3:] = witness.points[0]
    return (witness.distance if witness.distance < distmax else distmax), fromto


def _contact_distance(
    collide: Callable[..., PairContacts], model: Model, data: Data, geoms: tuple[int, int], distmax: float
) -> tuple[float, Array]:
    """Distance and segment of the nearest contact, from the first of `geoms` to the second."""
    contacts = collide(model, data, *geoms, distmax)
    near = [i for i, dist in enumerate(contacts.dist) if dist < distmax]
    if not near:
        return distmax, np.zeros(6)
    nearest = min(near, key=contacts.dist.__getitem__)
    dist = float(contacts.dist[nearest])
    half = 0.5 * dist * contacts.normal[nearest]
    return dist, np.concatenate([contacts.pos[nearest] - half, contacts.pos[nearest] + half])


def geom_distance(
    model: Model, data: Data, geom1: Which, geom2: Which, distmax: float
) -> tuple[float, Array]:
    """Smallest signed distance of two geoms, at most `distmax`, and the segment from the first to the second: two
    points (6), zero if the geoms are farther apart or of types that do not collide."""
    for geom in (geom1, geom2):
        if not 0 <= geom < model.ngeom:
            raise UnknownIndexError(
                f"geom_distance: no geom {geom}; the model has {model.ngeom}, numbered from 0"
            )
    swapped = int(model.geom_type[geom1]) > int(model.geom_type[geom2])
    lower, higher = (geom2, geom1) if swapped else (geom1, geom2)
    pair = f"{_NAMES[int(model.geom_type[lower])]}-{_NAMES[int(model.geom_type[higher])]}"
    if pair in ITERATED and not int(model.opt.disableflags) & int(DisableBit.NATIVECCD):
        return _iterated_distance(model, data, geom1, geom2, distmax)
    collide = _contacts_of(pair)
    if collide is None:
        return distmax, np.zeros(6)
    dist, fromto = _contact_distance(collide, model, data, (lower, higher), distmax)
    return dist, np.roll(fromto, 3) if swapped else fromto

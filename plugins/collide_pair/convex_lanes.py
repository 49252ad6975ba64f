"""Contacts of two convex geoms, and of height fields with them, in lane kernels: one world after the other.

Iterations that walk from one support point to the next take other ways in every world, so here the worlds of a tile
take turns: their poses are laid out number by number, the algorithm of `convex_numpy` runs for one world in uniform
numbers, and what it finds is put together to lanes again. Only worlds in which the bounds of the geoms meet take
part, and of these only those in which no earlier step has left the knowledge that they are apart. One body of code
serves all pairs of types, since compiling takes time.

World frame. See mjc_Convex, mjc_ConvexHField and mjc_ccd in MuJoCo 3.4. The flag multiccd and the flag nativeccd
off are the reference's matter: see the records.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from dovetail.backends.lanes.kernel import Kernel, SplitField, Variable
from dovetail.contracts.enums import GeomType
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.collide_pair.prisms_lanes import HeightField
from dovetail.plugins.shared.contacts.contacts_lanes import LaneContact, StoredContacts, pairs_of
from dovetail.plugins.shared.contacts.pair_types import CONVEX_PAIRS, HFIELD_PAIRS, MOST_CONTACTS
from dovetail.plugins.shared.geometry.separations_lanes import Separation
from dovetail.plugins.shared.geometry.support_numpy import HFIELD
from dovetail.plugins.shared.geometry.support_one_world_lanes import Shapes
from dovetail.plugins.shared.geometry.witness_one_world_lanes import margin_by_world, witness
from dovetail.plugins.shared.vectors_lanes import dot, vector

POSE = 12
"""Numbers of a geom's position and matrix."""


def kinds_of(model: ModelLike) -> list[int]:
    """Types of the geoms that may touch in the pairs of this file."""
    keys = [key for key in pairs_of(model).keys if key in (*CONVEX_PAIRS, *HFIELD_PAIRS)]
    return sorted({int(GeomType[name.upper()]) for key in keys for name in key.split("-")})


def convex(k: Kernel, geom1: Any, geom2: Any, margin: Any) -> StoredContacts:
    """Contacts of two convex geoms, or of a height field and a convex geom."""
    kinds = kinds_of(k.frozen_model)
    most_contacts = MOST_CONTACTS["hfield-box"] if HFIELD in kinds else 1
    poses, found = k.split("convex/poses", 2, POSE), k.split("convex/found", most_contacts, 7)
    count, most = k.split("convex/count", 1), k.local(0)
    lay_out(k, poses, geom1, geom2)
    own_margin = margin_by_world(k, "convex/margin", margin)
    count[0] = 0.0
    separation = Separation(k, geom1, geom2)
    with k.worlds(in_reach(k, geom1, geom2, margin) & ~separation.known(margin)) as world:
        pair = ConvexPair(k, kinds, (geom1, geom2), own_margin(world))
        pair.collide(poses.of(world), found.of(world))
        with k.when(pair.apart.value == 1):
            separation.note(world, poses.of(world), pair.direction.value, pair.reach.value)
        count.of(world)[0] = pair.count.value
        most.set(k.max(most.value, pair.count.value))
    return StoredContacts(most.value, partial(contact, found, count))


def lay_out(k: Kernel, poses: SplitField, geom1: Any, geom2: Any) -> None:
    """The poses of both geoms, number by number."""
    for row, geom in enumerate((geom1, geom2)):
        with k.loop(0, 3) as n:
            poses[row, n] = k.data.geom_xpos[geom, n]
        with k.loop(0, 9) as n:
            poses[row, 3 + n] = k.data.geom_xmat[geom, n]


def in_reach(k: Kernel, geom1: Any, geom2: Any, margin: Any) -> Any:
    """Mask of the worlds in which the bounding spheres are no farther apart than the margin."""
    radius1, radius2 = k.model.geom_rbound[geom1], k.model.geom_rbound[geom2]
    offset = k.data.geom_xpos[geom2] - k.data.geom_xpos[geom1]
    bound = radius1 + radius2 + margin
    return dot(offset, offset) <= k.select(k.min(radius1, radius2) <= 0.0, 1e30, bound * bound)


def contact(found: SplitField, count: SplitField, index: Any) -> LaneContact:
    """A contact as lanes."""
    numbers = found[index]
    return LaneContact(count[0] > index, numbers[0], numbers[1:4], numbers[4:7])


class ConvexPair:
    """Two geoms in one world."""

    def __init__(self, k: Kernel, kinds: list[int], geoms: tuple[Any, Any], margin: Any) -> None:
        self.k = k
        self.geoms = geoms
        self.margin = margin
        self.shapes = Shapes(k, kinds)
        self.count: Variable = k.local(0)
        self.apart = k.local(0)
        """1 if a search found the geoms apart; not said of a height field, of which it knows one prism only."""
        self.direction = k.uniform(vector(1.0, 0.0, 0.0))
        """In which they are apart."""
        self.reach = k.uniform(0.0)
        """How far both reach in it."""
        self.field = HeightField(k, self.shapes, geoms, margin) if HFIELD in kinds else None

    def collide(self, poses: Any, found: Any) -> None:
        """Store distance, place and normal of the contacts of this world, and count them."""
        k = self.k
        tasks = k.local(1)
        if self.field is None:
            self._take_geoms(poses)
        else:
            with k.when(self.field.concerned):
                tasks.set(self.field.prepare(poses))
            with k.otherwise():
                self._take_geoms(poses)
        with k.loop(0, tasks.value) as task:
            ready = k.local(1)
            if self.field is not None:
                with k.when(self.field.concerned):
                    ready.set(self.field.take_prism(task))
            with k.when(ready.value == 1):
                self._search(found)
            if self.field is not None:
                k.leave_when(self.count.value == self.field.most)

    def _take_geoms(self, poses: Any) -> None:
        for s in range(2):
            self.shapes.take_geom(s, self.geoms[s], poses[s], self.margin)

    def _search(self, found: Any) -> None:
        """Look for the contact of the two shapes."""
        k = self.k
        search = witness(k, self.shapes, self.margin)
        with k.when(search.touches.value == 1):
            dist = k.uniform(self.margin + search.distance.value)
            place, normal = k.uniform(search.place), k.uniform(search.normal)
            if self.field is not None:
                with k.when(self.field.concerned):
                    dist.set(search.distance.value)
                    place.set(self.field.to_world(place.value) + self.field.origin)
                    normal.set(self.field.to_world(normal.value))
            found[self.count.value] = vector(dist.value, place.value, normal.value)
            self.count += 1
        apart = search.apart.value == 1
        with k.when(apart if self.field is None else apart & ~self.field.concerned):
            self.apart.set(1)
            self.direction.set(search.direction.value)
            self.reach.set(search.reach())

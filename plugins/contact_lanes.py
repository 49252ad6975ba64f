"""Contacts between the stages of one lane kernel: which pairs there are, and where their contacts are kept.

The pairs of geoms that may touch are worked out while the plan is made, by the filters of the broadphase; which of
them are near is found at run time. Contacts are a compact list for the whole tile: a contact is in it if it exists
in any of the tile's worlds, and in the worlds without it its distance is ABSENT. Pairs and contacts come in
MuJoCo's order. World frame. Compare mj_collision.

The list lies in memory shared by the stages of the kernel, not in Data, so the whole chain from the broadphase to
the solver must run in lanes: their records name one `chain`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.plugins.broadphase.candidates_numpy import (
    by_body,
    by_type,
    colliding_geoms,
    may_collide,
    report_order,
)
from dovetail.plugins.broadphase.pairs_numpy import unordered_pairs
from dovetail.plugins.collide_pair.convex_records import CONVEX_PAIRS, HFIELD_PAIRS
from dovetail.plugins.collide_pair.multicontact_numpy import MAX_CONTACTS
from dovetail.plugins.narrowphase.dispatch_numpy import NEVER_TOUCH
from dovetail.plugins.spatial import Array

if TYPE_CHECKING:
    from dovetail.backends.lanes.kernel import Field, Int, IntegerField, Kernel

ABSENT = 1e10
"""Distance of a contact in a world that does not have it."""

SLOTS = {
    "plane-sphere": 1,
    "plane-capsule": 2,
    "plane-ellipsoid": 1,
    "plane-cylinder": 4,
    "plane-box": 4,
    "sphere-sphere": 1,
    "sphere-capsule": 1,
    "sphere-cylinder": 1,
    "sphere-box": 1,
    "capsule-capsule": 2,
    "capsule-box": 2,
    "box-box": 12,
    "plane-mesh": 3,
    "plane-sdf": 3,
    **dict.fromkeys(CONVEX_PAIRS, 1),
    **dict.fromkeys(HFIELD_PAIRS, MAX_CONTACTS),
}
"""Most contacts of a pair, by its types. Two rectangles overlap in eight corners at most; a box may add its lowest
corner just beside the face, and corners on an outline are found twice."""

LEAST_ROOM = 2048
"""Contacts that every model has room for, as far as its pairs can have them: some twenty megabytes of addresses, of
which only what is used becomes memory."""

ROOM_PER_GEOM = 6
"""Contacts per geom that a large model has room for: equal spheres packed as densely as possible have six each. A
tile that needs more is run again by a kernel with more room."""

MANY_SLOTS = 8
"""Most contacts of a pair of other types."""


@attrs.frozen(eq=False)
class Pairs:
    """The pairs of geoms that may touch, in the order of their contacts; one row each."""

    geom1: Array
    geom2: Array
    """The geom of lower type is the first."""
    pair: Array
    """Id of the explicit pair, or -1."""
    kind: Array
    """Index in `keys`."""
    slots: Array
    """Most contacts the pair can have."""
    first: Array
    """The first of its slots among those of all pairs."""
    dim: Array
    """condim of its contacts."""
    body1: Array
    body2: Array
    moves: Array
    """0 if both bodies are fixed to the world: such contacts make no constraint rows."""
    keys: tuple[str, ...]
    """Keys of collide_pair that occur, as `sphere-box`."""

    @property
    def count(self) -> int:
        """Number of pairs."""
        return len(self.geom1)

    @property
    def capacity(self) -> int:
        """Most contacts that all pairs together can have."""
        return int(self.slots.sum())


def pairs_of(model: Any) -> Pairs:
    """The pairs of a model; needs ids, types, masks and flags only."""
    geoms, pair = static_pairs(model)
    keys, kind = _type_pairs(model, geoms)
    touching = np.array([key not in NEVER_TOUCH for key in keys], bool)[kind]
    geoms, pair = geoms[touching], pair[touching]
    order = report_order(model, geoms, pair)
    geoms, pair = by_type(model, geoms[order]), pair[order]
    keys, kind = _type_pairs(model, geoms)
    slots = np.array([SLOTS.get(key, MANY_SLOTS) for key in keys], int)[kind]
    body1, body2 = model.geom_bodyid[geoms].reshape(-1, 2).T
    return Pairs(
        geom1=geoms[:, 0],
        geom2=geoms[:, 1],
        pair=pair,
        kind=kind,
        slots=slots,
        first=np.cumsum(slots) - slots,
        dim=contact_dims(model, geoms, pair, priority_rule(model, geoms)),
        body1=body1,
        body2=body2,
        moves=((model.body_weldid[body1] != 0) | (model.body_weldid[body2] != 0)).astype(int),
        keys=keys,
    )


def static_pairs(model: Any) -> tuple[Array, Array]:
    """Geoms (n, 2) and ids of explicit pairs (n) of all that may touch wherever they are, in no special order."""
    explicit = np.stack([model.pair_geom1, model.pair_geom2], axis=1).astype(int).reshape(-1, 2)
    found = [by_type(model, explicit)]
    for first, second in unordered_pairs(np.flatnonzero(colliding_geoms(model))):
        keep = may_collide(model, first, second)
        found.append(by_body(model, np.stack([first[keep], second[keep]], axis=1)))
    geoms = np.concatenate(found).astype(int)
    pair = np.full(len(geoms), -1)
    pair[: len(explicit)] = np.arange(len(explicit))
    return geoms, pair


def _type_pairs(model: Any, geoms: Array) -> tuple[tuple[str, ...], Array]:
    """Keys of collide_pair that occur, in alphabetical order, and for each pair the index of its own."""
    names = {kind.value: kind.name.lower() for kind in GeomType}
    types = np.sort(model.geom_type[geoms], axis=1).reshape(-1, 2).astype(int)
    codes, kind = np.unique(types[:, 0] * len(names) + types[:, 1], return_inverse=True)
    keys = ["-".join(names[t] for t in divmod(code, len(names))) for code in codes.tolist()]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    place = np.zeros(len(keys), int)
    place[order] = np.arange(len(keys))
    return tuple(keys[n] for n in order), place[kind.reshape(-1)]


def priority_rule(model: Any, geoms: Array) -> Array:
    """Which geom decides: -1 the first, 1 the second, 0 both."""
    first, second = model.geom_priority[geoms].reshape(-1, 2).T
    return np.sign(second.astype(int) - first)


def contact_dims(model: Any, geoms: Array, pair: Array, decides: Array) -> Array:
    """Dimension of the contacts of pairs: the explicit pair's, the deciding geom's, or the larger one."""
    own = model.geom_condim[geoms].reshape(-1, 2)
    dim = np.where(decides < 0, own[:, 0], np.where(decides > 0, own[:, 1], own.max(axis=1)))
    explicit = pair >= 0
    dim[explicit] = model.pair_dim[pair[explicit]]
    return dim


class LaneContact(NamedTuple):
    """What a `collide_pair` row in lanes returns for each of its slots, in MuJoCo's order."""

    exists: Any
    """Mask: the worlds that have this contact."""
    dist: Any
    pos: Any
    normal: Any
    """(3) from the first geom to the second; need not have length one."""
    tangent: Any = None
    """(3) wished direction of the first tangent."""


@attrs.frozen
class StoredContacts:
    """What a row with many slots may return instead of a list: contacts in memory, to loop over."""

    count: Any
    """Int: slots that any world of the tile may have filled."""
    contact: Callable[[Any], LaneContact]
    """The contact of a slot."""


@attrs.define(eq=False)
class Contacts:
    """The list of contacts of the tile, as the stages of a kernel see it."""

    k: Kernel
    pairs: Pairs = attrs.field()

    @pairs.default
    def _pairs_of_structure(self) -> Pairs:
        memo = self.k.layout.memo
        if "contacts/pairs" not in memo:
            memo["contacts/pairs"] = pairs_of(self.k.structure)
        pairs: Pairs = memo["contacts/pairs"]
        return pairs

    @property
    def capacity(self) -> int:
        """Length of the arrays: what all pairs together can have, or in large models what they usually have."""
        usual = max(LEAST_ROOM, ROOM_PER_GEOM * int(self.k.structure.ngeom))
        return max(self.k.room(self.pairs.capacity, usual), 1)

    @property
    def may_lack_room(self) -> bool:
        """Whether the pairs can have more contacts than there is room for."""
        return self.capacity < self.pairs.capacity

    def place(self, count: Any) -> Any:
        """Where to write the next contact after `count` of them: past the end, over the last."""
        return self.k.min(count, self.capacity - 1) if self.may_lack_room else count

    def close(self, count: Any) -> None:
        """Set the length of the list. If there was no room for all it has none, and the tile will be run again."""
        self.count = count
        if self.may_lack_room:
            with self.k.when(count > self.capacity):
                self.k.lacks(count, self.capacity)
                self.count = 0

    # which

    @property
    def count(self) -> Int:
        """Contacts in the list."""
        count: Int = self._count[0]
        return count

    @count.setter
    def count(self, value: Any) -> None:
        self._count[0] = value

    @property
    def _count(self) -> IntegerField:
        return self.k.shared_integers("contacts/count", 1)

    @property
    def pair(self) -> IntegerField:
        """Row of `pairs` of contact c."""
        return self.k.shared_integers("contacts/pair", self.capacity)

    @property
    def slot(self) -> IntegerField:
        """Which of its pair's contacts contact c is."""
        return self.k.shared_integers("contacts/slot", self.capacity)

    def of_pair(self, column: str, p: Any) -> Int:
        """A column of `pairs` (`geom1`, `body2`, …) at row p."""
        values = self.dims if column == "dim" else getattr(self.pairs, column)
        padded = np.append(values, 0)  # a model without pairs has a table too
        entry: Int = self.k.table(f"contacts/{column}", padded)[p]
        return entry

    @property
    def dims(self) -> Array:
        """condim by row of `pairs`, by the rule of priorities that contact_params uses."""
        table = self.k.tables.get("contacts/dim")
        return self.pairs.dim if table is None else table[:-1]

    # where

    def _lanes(self, name: str, *shape: int) -> Field:
        return self.k.shared(f"contacts/{name}", self.capacity, *shape)

    @property
    def dist(self) -> Field:
        """Distance, ABSENT in worlds without the contact."""
        return self._lanes("dist")

    @property
    def pos(self) -> Field:
        """(3) world frame."""
        return self._lanes("pos", 3)

    @property
    def frame(self) -> Field:
        """(9) normal and two tangents, row by row."""
        return self._lanes("frame", 9)

    @property
    def ncon(self) -> Field:
        """How many contacts each world has, as a number at index 0."""
        return self.k.shared("contacts/ncon", 1)

    def exists(self, c: Any) -> Any:
        """Mask of the worlds that have contact c."""
        return self.dist[c] < 0.5 * ABSENT

    # how: written by contact_params

    @property
    def friction(self) -> Field:
        """(5) two tangential, one torsional, two rolling coefficients."""
        return self._lanes("friction", 5)

    @property
    def solref(self) -> Field:
        return self._lanes("solref", 2)

    @property
    def solreffriction(self) -> Field:
        return self._lanes("solreffriction", 2)

    @property
    def solimp(self) -> Field:
        return self._lanes("solimp", 5)

    @property
    def includemargin(self) -> Field:
        """Margin − gap: a contact acts where its distance is below it."""
        return self._lanes("includemargin")

    def acts(self, c: Any) -> Any:
        """Mask of the worlds in which contact c makes constraint rows (if its pair can move at all)."""
        return self.dist[c] < self.includemargin[c]


@attrs.define(eq=False)
class Candidates:
    """The list of near pairs: those that are in reach in any world of the tile."""

    k: Kernel
    capacity: int

    @property
    def count(self) -> Int:
        count: Int = self.k.shared_integers("candidates/count", 1)[0]
        return count

    @count.setter
    def count(self, value: Any) -> None:
        self.k.shared_integers("candidates/count", 1)[0] = value

    @property
    def pair(self) -> IntegerField:
        """Row of `Pairs`."""
        return self.k.shared_integers("candidates/pair", max(self.capacity, 1))

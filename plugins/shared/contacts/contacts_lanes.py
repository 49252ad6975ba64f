"""Contacts between the stages of one lane kernel: which pairs there are, and where their contacts are kept.

The pairs of geoms, and of geoms and flex vertices or elements, that may touch are worked out while the plan is made,
by the filters of the broadphase; which of them are near is found at run time. Contacts are a compact list for the
whole tile: a contact is in it if it exists in any of the tile's worlds, and in the worlds without it its distance is
ABSENT. Pairs and contacts come in MuJoCo's order. World frame. Compare mj_collision.

The list is kernel fields (`contact_list`, `candidate_list` in `contracts.kernel_fields`), not Data; contacts pass to
and from Data by `contact_delivery_lanes` and `contact_import_lanes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from dovetail.backends.lanes.groups import FieldGroup
from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import FlexPairs
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.contacts.candidates_numpy import (
    by_body,
    by_type,
    colliding_geoms,
    may_collide,
    report_order,
)
from dovetail.plugins.shared.contacts.exclusion import NEVER_TOUCH
from dovetail.plugins.shared.contacts.flex_candidates_numpy import (
    elements_that_meet,
    planes_that_meet,
    touchable,
)
from dovetail.plugins.shared.contacts.index_pairs_numpy import unordered_pairs
from dovetail.plugins.shared.contacts.pair_types import MOST_CONTACTS
from dovetail.plugins.shared.flex.elements_numpy import corners_of
from dovetail.plugins.shared.flex.shapes import ELEMENTS, VERTEX

if TYPE_CHECKING:
    from dovetail.backends.lanes.kernel import Int, Kernel

ABSENT = 1e10
"""Distance of a contact in a world that does not have it."""

LEAN_ROOM, LEAN_ROOM_PER_GEOM = 48, 2
"""Contacts that a model has room for where all of it is memory, of every world: what most need, and who needs more is
given more. With the room of a processor a humanoid has 299 KiB of scratch, with this 92."""

LEAST_ROOM = 2048
"""Contacts that every model has room for, as far as its pairs can have them: some twenty megabytes of addresses, of
which only what is used becomes memory."""

ROOM_PER_GEOM = 6
"""Contacts per geom that a large model has room for: equal spheres packed as densely as possible have six each. A
tile that needs more is run again by a kernel with more room."""

MOST_CONTACTS_OTHERWISE = 8
"""Most contacts of a pair of other types."""

NONE = -1
"""The id of what a side is not."""


class PairIds(NamedTuple):
    """What two sides are, one row per pair: a geom, and another geom, or a vertex or an element of a flex."""

    geom: Array
    """(n, 2) geoms; the second is -1 where the other side is a flex."""
    pair: Array
    """(n) ids of explicit pairs, or -1."""
    flex: Array
    """(n) the flex of the second side, or -1."""
    elem: Array
    """(n) its element, counted inside the flex, or -1."""
    vert: Array
    """(n) its vertex, counted inside the flex, or -1."""

    @classmethod
    def of_geoms(cls, geom: Array, pair: Array) -> PairIds:
        """Pairs of geoms."""
        nothing = np.full(len(geom), NONE)
        return cls(geom, pair, nothing, nothing, nothing)

    @classmethod
    def of_flex(
        cls, geom: Array, flex: int, *, elem: Array | None = None, vert: Array | None = None
    ) -> PairIds:
        """Geoms with elements or vertices of a flex."""
        nothing = np.full(len(geom), NONE)
        return cls(
            np.stack([geom, nothing], axis=1),
            nothing,
            np.full(len(geom), flex),
            nothing if elem is None else elem,
            nothing if vert is None else vert,
        )

    @classmethod
    def joined(cls, *parts: PairIds) -> PairIds:
        """All pairs of several."""
        return cls(*(np.concatenate(columns).astype(int) for columns in zip(*parts, strict=True)))

    def take(self, rows: Array) -> PairIds:
        """Some of the pairs."""
        return PairIds(*(column[rows] for column in self))


@attrs.frozen(eq=False)
class Pairs:
    """The pairs that may touch, in the order of their contacts; one row each."""

    geom1: Array
    geom2: Array
    """The geom of lower type is the first; -1 where the second side is a flex."""
    flex: Array
    """The flex of the second side, or -1."""
    elem: Array
    """Its element, counted inside the flex, or -1."""
    vert: Array
    """Its vertex, counted inside the flex, or -1."""
    element: Array
    """The same element, counted through all flexes, or -1."""
    corner: Array
    """(n, 4) the corners of the element, or the vertex; counted through all flexes, -1 beyond the last."""
    pair: Array
    """Id of the explicit pair, or -1."""
    kind: Array
    """Index in `keys`."""
    most_contacts: Array
    """Most contacts the pair can have."""
    first: Array
    """The first of its places of contacts among those of all pairs."""
    dim: Array
    """condim of its contacts."""
    body1: Array
    body2: Array
    geom_body2: Array
    """Body of the second geom; -1 for a flex, which sensors and forces on bodies do not see."""
    moves: Array
    """0 if both bodies are fixed to the world: such contacts make no constraint rows."""
    keys: tuple[str, ...]
    """Keys of collide_pair and collide_flex that occur, as `sphere-box`."""

    @property
    def count(self) -> int:
        """Number of pairs."""
        return len(self.geom1)

    @property
    def most_in_all(self) -> int:
        """Most contacts that all pairs together can have."""
        return int(self.most_contacts.sum())


def pairs_of(model: ModelLike, most_contacts: Mapping[str, int] = MOST_CONTACTS) -> Pairs:
    """The pairs of a model, with the number of contacts that each pair of types can have; needs ids, types, masks and
    flags only."""
    geoms, pair = static_pairs(model)
    keys, kind = _type_pairs(model, PairIds.of_geoms(geoms, pair))
    touching = np.array([key not in NEVER_TOUCH for key in keys], bool)[kind]
    ids = PairIds.joined(PairIds.of_geoms(by_type(model, geoms), pair).take(touching), *flex_pairs(model))
    ids = ids.take(pair_order(model, ids))
    keys, kind = _type_pairs(model, ids)
    most = np.array([most_contacts.get(key, MOST_CONTACTS_OTHERWISE) for key in keys], int)[kind]
    return pair_table(model, ids, most)


def flex_pairs(model: ModelLike) -> Iterator[PairIds]:
    """Planes with the vertices of flexes, and other geoms with their elements."""
    for flex in range(int(model.nflex)):
        if touchable(model, flex):
            planes, count = np.flatnonzero(planes_that_meet(model, flex)), int(model.flex_vertnum[flex])
            yield PairIds.of_flex(np.repeat(planes, count), flex, vert=np.tile(np.arange(count), len(planes)))
            geom, elem = elements_that_meet(model, flex)
            yield PairIds.of_flex(geom, flex, elem=elem)


def pair_order(model: ModelLike, ids: PairIds) -> Array:
    """Where each pair stands in MuJoCo's list of contacts."""
    of_geoms, of_flexes = np.flatnonzero(ids.flex < 0), np.flatnonzero(ids.flex >= 0)
    nothing = np.full(len(of_flexes), NONE)
    second = [np.stack([nothing, column[of_flexes]], axis=1) for column in (ids.flex, ids.elem, ids.vert)]
    flexes = FlexPairs(ids.geom[of_flexes], *second)
    order = report_order(model, ids.geom[of_geoms], ids.pair[of_geoms], flexes)
    return np.concatenate([of_geoms, of_flexes])[order]


def pair_table(model: ModelLike, ids: PairIds, most_contacts: Array, dim: Array | None = None) -> Pairs:
    """Pairs in the order given; their dimensions, if not said, by the usual rule of priorities."""
    keys, kind = _type_pairs(model, ids)
    flexible = ids.flex >= 0
    corner, element = corners_of_pairs(model, ids)
    body1 = model.geom_bodyid[ids.geom[:, 0]]
    body2 = model.geom_bodyid[ids.geom[:, 1]] if len(ids.pair) else body1.copy()
    body2[flexible] = moving_corner(model, corner[flexible])
    usual = contact_dims(model, ids, priority_rule(model, ids)) if dim is None else dim
    return Pairs(
        geom1=ids.geom[:, 0],
        geom2=ids.geom[:, 1],
        flex=ids.flex,
        elem=ids.elem,
        vert=ids.vert,
        element=element,
        corner=corner,
        pair=ids.pair,
        kind=kind,
        most_contacts=most_contacts,
        first=np.cumsum(most_contacts) - most_contacts,
        dim=usual,
        body1=body1,
        body2=body2,
        geom_body2=np.where(flexible, NONE, body2),
        moves=((model.body_weldid[body1] != 0) | (model.body_weldid[body2] != 0)).astype(int),
        keys=keys,
    )


CORNERS = 4
"""Most corners of an element."""


def corners_of_pairs(model: ModelLike, ids: PairIds) -> tuple[Array, Array]:
    """(n, 4) corners of the flexes' sides, and (n) elements counted through all flexes; -1 for none."""
    corner = np.full((len(ids.pair), CORNERS), NONE)
    element = np.full(len(ids.pair), NONE)
    point = np.flatnonzero(ids.vert >= 0)
    corner[point, 0] = model.flex_vertadr[ids.flex[point]] + ids.vert[point]
    for flex in np.unique(ids.flex[ids.elem >= 0]).tolist():
        rows = np.flatnonzero((ids.flex == flex) & (ids.elem >= 0))
        of_flex = corners_of(model, flex)
        corner[rows, : of_flex.shape[1]] = of_flex[ids.elem[rows]]
        element[rows] = int(model.flex_elemadr[flex]) + ids.elem[rows]
    return corner, element


def moving_corner(model: ModelLike, corner: Array) -> Array:
    """The body of the first corner (n, 4) that moves, or of the first."""
    body = model.flex_vertbodyid[corner]
    moves = (corner >= 0) & (model.body_weldid[body] != 0)
    return body[np.arange(len(body)), np.argmax(moves, axis=1)]


def static_pairs(model: ModelLike) -> tuple[Array, Array]:
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


def _type_pairs(model: ModelLike, ids: PairIds) -> tuple[tuple[str, ...], Array]:
    """Keys of collide_pair and collide_flex that occur, in alphabetical order, and for each pair the index of its
    own."""
    names = {kind.value: kind.name.lower() for kind in GeomType}
    base = max(names) + 1
    shapes = (VERTEX, *ELEMENTS)
    names |= {base + n: shape for n, shape in enumerate(shapes)}
    flexible = ids.flex >= 0
    shape = base + np.where(ids.vert[flexible] >= 0, 0, model.flex_dim[ids.flex[flexible]])
    types = model.geom_type[ids.geom].reshape(-1, 2).astype(int)
    types[flexible, 1] = shape
    types = np.sort(types, axis=1)
    size = base + len(shapes)
    codes, kind = np.unique(types[:, 0] * size + types[:, 1], return_inverse=True)
    keys = ["-".join(names[t] for t in divmod(code, size)) for code in codes.tolist()]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    place = np.zeros(len(keys), int)
    place[order] = np.arange(len(keys))
    return tuple(keys[n] for n in order), place[kind.reshape(-1)]


def side_values(model: ModelLike, ids: PairIds, name: str) -> Array:
    """(n, 2) `geom_<name>` of the sides, `flex_<name>` where the second is a flex."""
    values = np.array(getattr(model, f"geom_{name}")[ids.geom]).reshape(-1, 2)
    flexible = ids.flex >= 0
    values[flexible, 1] = getattr(model, f"flex_{name}")[ids.flex[flexible]]
    return values


def priority_rule(model: ModelLike, ids: PairIds) -> Array:
    """Which side decides: -1 the first, 1 the second, 0 both."""
    first, second = side_values(model, ids, "priority").T
    return np.sign(second.astype(int) - first)


def contact_dims(model: ModelLike, ids: PairIds, decides: Array) -> Array:
    """Dimension of the contacts of pairs: the explicit pair's, the deciding side's, or the larger one."""
    own = side_values(model, ids, "condim")
    dim = np.where(decides < 0, own[:, 0], np.where(decides > 0, own[:, 1], own.max(axis=1, initial=0)))
    explicit = ids.pair >= 0
    dim[explicit] = model.pair_dim[ids.pair[explicit]]
    return dim


class LaneContact(NamedTuple):
    """What rows of `collide_pair` and `collide_flex` in lanes return for each contact that they may find, in MuJoCo's
    order."""

    exists: Any
    """Mask: the worlds that have this contact."""
    dist: Any
    pos: Any
    normal: Any
    """(3) from the first side to the second; need not have length one."""
    tangent: Any = None
    """(3) preferred direction of the first tangent."""


class LaneFlexPair(NamedTuple):
    """What a `collide_flex` row in lanes is given: a geom, and a vertex or an element of a flex."""

    geom: Any
    flex: Any
    vertices: tuple[Any, ...]
    """The vertex, or the corners of the element, counted through all flexes."""
    element: Any
    """The element, counted through all flexes; -1 for a vertex."""


@attrs.frozen
class StoredContacts:
    """What a row of many contacts may return instead of a list: contacts in memory, to loop over."""

    count: Any
    """Int: the most that any world of the tile has."""
    contact: Callable[[Any], LaneContact]
    """The contact at an index below `count`."""


def pairs_in(k: Kernel) -> Pairs:
    """The pairs of the kernel's model, worked out once for a program."""
    memo = k.layout.memo
    if "contacts/pairs" not in memo:
        memo["contacts/pairs"] = pairs_of(k.frozen_model, {**MOST_CONTACTS, **stated_contacts(k)})
    pairs: Pairs = memo["contacts/pairs"]
    return pairs


def stated_contacts(k: Kernel) -> dict[str, int]:
    """How many contacts the chosen rows of `collide_pair` and `collide_flex` say they find at most, by their key."""
    rows = {slot.partition(":") for slot in k.layout.facts}
    tables = ("collide_pair", "collide_flex")
    stated = {key: k.layout.facts[f"{stage}:{key}"] for stage, _, key in rows if stage in tables}
    return {key: int(facts["most_contacts"]) for key, facts in stated.items() if "most_contacts" in facts}


def pair_count(k: Kernel) -> int:
    """Pairs that may touch wherever they are."""
    return pairs_in(k).count


def contact_room(k: Kernel) -> int:
    """Contacts there is room for: what all pairs together can have, or in large models what they usually have."""
    model = k.frozen_model
    usual = max(LEAST_ROOM, ROOM_PER_GEOM * int(model.ngeom) + int(model.nflexvert))
    lean = max(LEAN_ROOM, LEAN_ROOM_PER_GEOM * int(model.ngeom) + int(model.nflexvert))
    return max(k.room(pairs_in(k).most_in_all, usual, lean), 1)


@attrs.define(eq=False, slots=False)
class Contacts(FieldGroup):
    """The list of contacts of the tile: the kernel fields `contact_list`, and what follows from them."""

    group: str = attrs.field(default="contact_list", init=False)

    @property
    def pairs(self) -> Pairs:
        """The pairs that may touch."""
        return pairs_in(self.k)

    @property
    def room(self) -> int:
        """Length of the arrays."""
        return self.k.kernel_size("ncontact_list")

    @property
    def may_lack_room(self) -> bool:
        """Whether the pairs can have more contacts than there is room for."""
        return self.room < self.pairs.most_in_all

    def place(self, count: Any) -> Any:
        """Where to write the next contact after `count` of them: past the end, over the last."""
        return self.k.min(count, self.room - 1) if self.may_lack_room else count

    def close(self, count: Any) -> None:
        """Set the length of the list. If there was no room for all it has none, and the tile will be run again."""
        self.count = count
        if self.may_lack_room:
            with self.k.when(count > self.room):
                self.k.lacks(count, self.room)
                self.count = 0

    @property
    def count(self) -> Int:
        """Contacts in the list."""
        count: Int = self.k.kernel_field("contact_list.count")[0]
        return count

    @count.setter
    def count(self, value: Any) -> None:
        self.k.kernel_field("contact_list.count")[0] = value

    def of_pair(self, column: str, p: Any) -> Int:
        """A column of `pairs` (`geom1`, `body2`, …) at row p."""
        values = self.dims if column == "dim" else getattr(self.pairs, column)
        padded = np.append(values, 0)  # a model without pairs has a table too
        entry: Int = self.k.table(f"contacts/{column}", padded)[p]
        return entry

    def corner(self, p: Any, n: Any) -> Int:
        """The n-th corner of the flex's side of pair p."""
        entry: Int = self.k.table("contacts/corner", self.pairs.corner)[p, n]
        return entry

    @cached_property
    def has_flexes(self) -> bool:
        """Whether any pair has a flex."""
        return bool((self.pairs.flex >= 0).any())

    @cached_property
    def only_flexes(self) -> bool:
        """Whether all pairs have one."""
        return bool((self.pairs.flex >= 0).all()) and self.has_flexes

    def of_sides(self, name: str, p: Any) -> tuple[Any, Any]:
        """`geom_<name>` of the sides of pair p, `flex_<name>` where the second is a flex."""
        k = self.k
        of_geom = getattr(k.model, f"geom_{name}")
        first, geom2 = of_geom[self.of_pair("geom1", p)], self.of_pair("geom2", p)
        if not self.has_flexes:
            return first, of_geom[geom2]
        flex = self.of_pair("flex", p)
        of_flex = getattr(k.model, f"flex_{name}")
        if self.only_flexes:
            return first, of_flex[flex]
        return first, k.select(flex >= 0, of_flex[k.max(flex, 0)], of_geom[k.max(geom2, 0)])

    @property
    def dims(self) -> Array:
        """condim by row of `pairs`, by the rule of priorities that contact_params uses."""
        return self.k.table_field("contact_list.dim")[: self.pairs.count]

    def exists(self, c: Any) -> Any:
        """Mask of the worlds that have contact c."""
        return self.dist[c] < 0.5 * ABSENT

    def acts(self, c: Any) -> Any:
        """Mask of the worlds in which contact c makes constraint rows (if its pair can move at all)."""
        return ~(self.dist[c] >= self.includemargin[c])


@attrs.define(eq=False, slots=False)
class Candidates(FieldGroup):
    """The near pairs, those in reach in any world of the tile: the kernel fields `candidate_list`."""

    group: str = attrs.field(default="candidate_list", init=False)

    @property
    def count(self) -> Int:
        """Pairs in the list."""
        count: Int = self.k.kernel_field("candidate_list.count")[0]
        return count

    @count.setter
    def count(self, value: Any) -> None:
        self.k.kernel_field("candidate_list.count")[0] = value

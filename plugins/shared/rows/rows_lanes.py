"""Constraint rows between the stages of one lane kernel: where they are kept, and what kinds there are.

No Jacobian is formed. Rows that tie bodies together (contacts, connects, welds) are *bonds*: each row is a wrench
w on the near body and one on the far body (0: the far side does not move), angular part first, about the centre of
mass of the body's tree, as `cdof` is. Then (J·x)_row = w_near·a(near) + w_far·a(far), where a(b) = Σ cdof·x over the
chain of body b. The tangents of a contact are multiplied by their friction coefficients, so that its cone is round.
A contact with an element of a flex is *spread*: it has a wrench on the geom's body and on that of each corner.
Rows of few dofs (friction loss, limits, coupled joints, tendons, flex edges) are *dof rows* with coefficients.

Equalities, friction loss and limits have fixed places worked out from the structure of the model; contact c is bond
`nequality + c`. A row that a world does not have weighs D = 0 there. All of it is kernel fields (`body_rows` and
`dof_rows` in `contracts.kernel_fields`). Compare mj_makeConstraint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from dovetail.backends.lanes.groups import FieldGroup
from dovetail.backends.lanes.scopes import walk
from dovetail.contracts.enums import Cone, DisableBit, EqType, JointType, ObjType
from dovetail.contracts.fields import Array
from dovetail.contracts.kernel_fields import LARGEST_DIM
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.contacts.contacts_lanes import Contacts
from dovetail.plugins.shared.flex.tables import row_arms as edge_arms
from dovetail.plugins.shared.tendons.layout import row_dofs
from dovetail.plugins.shared.vectors_lanes import dot

if TYPE_CHECKING:
    from dovetail.backends.lanes.kernel import Int, Kernel, LaneField

__all__ = ["LARGEST_DIM", "BodyRows", "BondKind", "DofRows"]

EQUALITY, FRICTIONLESS, PYRAMID, ELLIPTIC = "equality", "frictionless", "pyramid", "elliptic"


SPREAD = -1
"""Instead of the far body, for bonds that are spread over several bodies."""


class BondKind(NamedTuple):
    """A kind of bond: what its cost is like, and how many base rows bonds of it have in this model."""

    name: str
    dims: tuple[int, ...]


UNROLLED = 3
"""Base rows that are written out if all bonds of a kind have so many; more become a loop, for code's size."""


def contact_kind(dim: int, cone: int) -> str:
    """The kind of contacts of a dimension."""
    if dim == 1:
        return FRICTIONLESS
    return ELLIPTIC if cone == int(Cone.ELLIPTIC) else PYRAMID


class BondTable(NamedTuple):
    """Equality constraints between bodies, in the order of their bonds."""

    ids: Array
    body1: Array
    body2: Array
    on_sites: Array
    weld: Array
    """Whether it is a weld; else a connect."""


class Ends(NamedTuple):
    """How bonds are fixed to bodies that have dofs."""

    near: Array
    far: Array
    """0 where the other side does not move."""
    sign: Array
    """Of the near side's motion in the bond's; that of the far side is −1."""


def ends_of(model: ModelLike, plus: Array, minus: Array) -> Ends:
    """Ends of bonds that measure the motion of bodies `plus` relative to bodies `minus`."""
    weld = np.asarray(model.body_weldid)
    ahead, behind = weld[plus], weld[minus]
    swap = ahead == 0
    return Ends(np.where(swap, behind, ahead), np.where(swap, 0, behind), np.where(swap, -1, 1))


class RowTable(NamedTuple):
    """Dof rows of one source, one entry per row."""

    ids: Array
    """Equality, dof, joint or tendon."""
    nnz: Array
    dofs: Array
    """(n, width) descending; rows of fewer dofs repeat the last."""
    fills: Array
    """1 if the dofs are not all of one chain, so that the row adds entries to the Hessian that the tree lacks."""


def switched_off(model: ModelLike, switch: DisableBit) -> bool:
    return bool(int(model.opt.disableflags) & (int(switch) | int(DisableBit.CONSTRAINT)))


def equalities(model: ModelLike, *kinds: EqType) -> Array:
    """Ids of equality constraints of some types."""
    if switched_off(model, DisableBit.EQUALITY):
        return np.zeros(0, int)
    return np.flatnonzero(np.isin(model.eq_type, [int(kind) for kind in kinds]))


def bond_table(model: ModelLike) -> BondTable:
    """Connects and welds."""
    ids = equalities(model, EqType.CONNECT, EqType.WELD)
    on_sites = np.asarray(model.eq_objtype)[ids] == int(ObjType.SITE)
    sides = []
    for objects in (model.eq_obj1id, model.eq_obj2id):
        bodies = np.asarray(objects)[ids].copy()
        bodies[on_sites] = np.asarray(model.site_bodyid)[bodies[on_sites]]
        sides.append(bodies)
    first, second = sides
    return BondTable(ids, first, second, on_sites, np.asarray(model.eq_type)[ids] == int(EqType.WELD))


def chain_of(model: ModelLike, dof: int) -> set[int]:
    """A dof and its ancestors."""
    found = set()
    while dof >= 0:
        found.add(dof)
        dof = int(model.dof_parentid[dof])
    return found


def row_table(model: ModelLike, ids: Array, dofs: list[list[int]]) -> RowTable:
    """Rows over the given dofs."""
    width = max(1, *map(len, dofs), 1)
    table = np.zeros((len(dofs), width), int)
    fills = np.zeros(len(dofs), int)
    for row, own in enumerate(dofs):
        own = sorted(own, reverse=True)
        table[row, : len(own)] = own
        table[row, len(own) :] = own[-1] if own else 0
        fills[row] = bool(own) and not set(own) <= chain_of(model, own[0])
    return RowTable(np.asarray(ids, int), np.array([len(d) for d in dofs], int), table, fills)


def coupled_joints(model: ModelLike) -> RowTable:
    """Equality constraints of joints."""
    ids = equalities(model, EqType.JOINT)
    first = np.asarray(model.jnt_dofadr)
    return row_table(model, ids, [sorted({int(first[j]) for j in _objects(model, n)}) for n in ids])


def coupled_tendons(model: ModelLike) -> RowTable:
    """Equality constraints of tendons."""
    ids, dofs = equalities(model, EqType.TENDON), row_dofs(model)
    return row_table(model, ids, [sorted({d for t in _objects(model, n) for d in dofs[t]}) for n in ids])


def flex_edges(model: ModelLike) -> RowTable:
    """Edges whose lengths equality constraints hold, constraint by constraint."""
    held = held_edges(model)
    arms = edge_arms(model)
    return row_table(model, held.equality, [[dof for dof, _ in arms[edge]] for edge in held.edge.tolist()])


class HeldEdges(NamedTuple):
    """The edges of flexes that equality constraints hold, except for rigid ones."""

    equality: Array
    edge: Array


def held_edges(model: ModelLike) -> HeldEdges:
    """In the order of the constraints, then of the edges."""
    ids = equalities(model, EqType.FLEX)
    flex = np.asarray(model.eq_obj1id)[ids]
    count = np.asarray(model.flex_edgenum)[flex]
    equality = np.repeat(ids, count)
    first = np.repeat(np.asarray(model.flex_edgeadr)[flex] - (np.cumsum(count) - count), count)
    edge = first + np.arange(len(equality))
    soft = np.asarray(model.flexedge_rigid)[edge] == 0
    return HeldEdges(equality[soft], edge[soft])


def _objects(model: ModelLike, equality: int) -> list[int]:
    """The one or two objects of an equality constraint."""
    both = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
    return [n for n in both if n >= 0]


def frictionloss_dofs(model: ModelLike) -> RowTable:
    """Dofs with friction loss."""
    dofs = np.flatnonzero(np.asarray(model.dof_frictionloss) != 0)
    if switched_off(model, DisableBit.FRICTIONLOSS):
        dofs = dofs[:0]
    return row_table(model, dofs, [[dof] for dof in dofs.tolist()])


def frictionloss_tendons(model: ModelLike) -> RowTable:
    """Tendons with friction loss."""
    tendons = np.flatnonzero(np.asarray(model.tendon_frictionloss) > 0)
    if switched_off(model, DisableBit.FRICTIONLOSS):
        tendons = tendons[:0]
    return tendon_rows(model, tendons)


def tendon_rows(model: ModelLike, tendons: Array) -> RowTable:
    """A row for each of some tendons."""
    dofs = row_dofs(model)
    return row_table(model, tendons, [dofs[tendon] for tendon in tendons.tolist()])


def limited_joints(model: ModelLike, *kinds: JointType) -> Array:
    """Joints of some types that have limits."""
    if switched_off(model, DisableBit.LIMIT):
        return np.zeros(0, int)
    chosen = np.isin(model.jnt_type, [int(kind) for kind in kinds])
    return np.flatnonzero(chosen & np.asarray(model.jnt_limited, bool))


def scalar_limits(model: ModelLike) -> RowTable:
    """Both sides of limited hinges and slides."""
    joints = np.repeat(limited_joints(model, JointType.HINGE, JointType.SLIDE), 2)
    return row_table(model, joints, [[int(model.jnt_dofadr[j])] for j in joints])


def ball_limits(model: ModelLike) -> RowTable:
    """Limited ball joints."""
    joints = limited_joints(model, JointType.BALL)
    return row_table(model, joints, [[int(model.jnt_dofadr[j]) + n for n in range(3)] for j in joints])


def tendon_limits(model: ModelLike) -> RowTable:
    """Both sides of limited tendons."""
    tendons = np.flatnonzero(np.asarray(model.tendon_limited))
    if switched_off(model, DisableBit.LIMIT):
        tendons = tendons[:0]
    return tendon_rows(model, np.repeat(tendons, 2))


SOURCES: dict[str, Callable[[Any], RowTable]] = {
    "coupled_joints": coupled_joints,
    "coupled_tendons": coupled_tendons,
    "flex_edges": flex_edges,
    "frictionloss_dofs": frictionloss_dofs,
    "frictionloss_tendons": frictionloss_tendons,
    "scalar_limits": scalar_limits,
    "ball_limits": ball_limits,
    "tendon_limits": tendon_limits,
}
"""Where dof rows come from, in the order in which they stand."""


def body_row_room(k: Kernel) -> int:
    """Room for connects and welds, then for contacts."""
    body_rows = BodyRows(k)
    return max(1, body_rows.nequality + (body_rows.contacts.room if body_rows.has_contacts else 0))


def spread_end_count(k: Kernel) -> int:
    """Most bodies of a contact with an element; 0 if there are no such contacts."""
    return BodyRows(k).spread_table.shape[1]


def dof_row_count(k: Kernel) -> int:
    """Rows of few dofs."""
    return DofRows(k).count


def dof_row_width(k: Kernel) -> int:
    """Most dofs of such a row."""
    return DofRows(k).width


@attrs.define(eq=False, slots=False)
class BodyRows(FieldGroup):
    """Rows between bodies, the kernel fields `body_rows`; the index l is a bond (a contact, or an
    equality of two bodies), r one of its base rows."""

    group: str = attrs.field(default="body_rows", init=False)

    @cached_property
    def contacts(self) -> Contacts:
        return Contacts(self.k)

    @cached_property
    def equalities(self) -> BondTable:
        return bond_table(self.k.frozen_model)

    @property
    def nequality(self) -> int:
        return len(self.equalities.ids)

    @cached_property
    def has_contacts(self) -> bool:
        model = self.k.frozen_model
        return bool(self.contacts.pairs.count) and not switched_off(model, DisableBit.CONTACT)

    @property
    def room(self) -> int:
        return self.k.kernel_size("nbody_row")

    @property
    def count(self) -> Any:
        """Bonds of the tile."""
        return self.nequality + (self.contacts.count if self.has_contacts else 0)

    @cached_property
    def kinds(self) -> tuple[BondKind, ...]:
        """The kinds that occur in the model."""
        found = {(EQUALITY, 6 if weld else 3) for weld in self.equalities.weld.tolist()}
        if self.has_contacts:
            cone = int(self.k.frozen_model.opt.cone)
            found |= {(contact_kind(dim, cone), dim) for dim in np.unique(self.contacts.dims).tolist()}
        names = sorted({name for name, _ in found})
        return tuple(BondKind(n, tuple(sorted(dim for name, dim in found if name == n))) for n in names)

    def far_bodies(self, kind: BondKind | None = None) -> list[tuple[int, int]]:
        """Near and far bodies of all bonds (of a kind) that are possible, the contacts of a pair once."""
        model, table = self.k.frozen_model, self.equalities
        found: list[tuple[int, int]] = []
        if kind is None or kind.name == EQUALITY:
            ends = ends_of(model, table.body1, table.body2)
            found += zip(ends.near.tolist(), ends.far.tolist(), strict=True)
        if self.has_contacts:
            cone = int(model.opt.cone)
            ends = self.contact_ends
            names = [contact_kind(dim, cone) for dim in self.contacts.dims.tolist()]
            both = zip(ends.near.tolist(), ends.far.tolist(), names, strict=True)
            found += [(near, far) for near, far, name in both if kind is None or name == kind.name]
        return found

    @cached_property
    def contact_ends(self) -> Ends:
        """How contacts are fixed to bodies, by row of the table of pairs: those of elements are spread."""
        pairs = self.contacts.pairs
        ends = ends_of(self.k.frozen_model, pairs.body2, pairs.body1)
        far = np.where((pairs.elem >= 0) & (ends.near > 0), SPREAD, ends.far)
        return Ends(ends.near, far, ends.sign)

    @cached_property
    def spreads(self) -> bool:
        """Whether bonds that are spread over several bodies are possible."""
        return self.has_contacts and bool((self.contact_ends.far == SPREAD).any())

    @cached_property
    def spread_table(self) -> Array:
        """By row of the table of pairs, the bodies that have dofs of contacts with elements: the geom's, then those
        of the corners; 0 for what does not move, and for other contacts."""
        if not self.spreads:
            return np.zeros((0, 0), int)
        pairs, model = self.contacts.pairs, self.k.frozen_model
        there = (pairs.corner >= 0) & (pairs.elem >= 0)[:, None]
        corners = np.where(there, np.asarray(model.body_weldid)[model.flex_vertbodyid[pairs.corner]], 0)
        geom = np.where(pairs.elem >= 0, np.asarray(model.body_weldid)[pairs.body1], 0)
        width = 1 + int(there.sum(axis=1).max())
        return np.concatenate([geom[:, None], corners], axis=1)[:, :width]

    @walk
    def each_spread_end(self, bond: Any) -> Iterator[tuple[Any, Any]]:
        """`for n, body in …:` runs its body for the bodies with dofs that a spread bond is fixed to."""
        yield from self.each_spread_body(self.contacts.pair[bond - self.nequality])

    @walk
    def each_spread_body(self, pair: Any) -> Iterator[tuple[Any, Any]]:
        """The same by the row of the table of pairs."""
        k, table = self.k, self.k.table("bonds/spread", self.spread_table)
        with k.loop(0, self.spread_table.shape[1]) as n, k.when(table[pair, n] > 0):
            yield n, table[pair, n]

    @cached_property
    def couples(self) -> bool:
        """Whether bonds between moving bodies are possible."""
        return any(far for _, far in self.far_bodies())

    @cached_property
    def mirrored(self) -> bool:
        """Whether far wrenches are always minus the near ones: those of contacts are, if both bodies are of one tree,
        so that the wrenches are about the same point. Then nobody needs to read them."""
        root = np.asarray(self.k.frozen_model.body_rootid)
        pairs = self.far_bodies()
        if self.nequality or self.spreads:
            return False
        return all(not far or root[near] == root[far] for near, far in pairs)

    @walk
    def each_product(self, bond: Any, *motions: LaneField) -> Iterator[tuple[Any, list[Any]]]:
        """`for row, products in …:` runs its body for the base rows of a bond, with J·x for each of some x, given as
        the spatial motions of all bodies."""
        k, near, far, wrench = self.k, self.near[bond], self.far[bond], self.near_wrench
        if not self.couples:
            own = [motion[near] for motion in motions]
            for row in self.each_base_row(bond):
                yield row, [dot(wrench[bond, row], x) for x in own]
        elif self.mirrored:
            apart = [k.local(motion[near]) for motion in motions]
            with k.when(far > 0):
                for motion, x in zip(motions, apart, strict=True):
                    x -= motion[far]
            for row in self.each_base_row(bond):
                yield row, [dot(wrench[bond, row], x.value) for x in apart]
        else:
            for row in self.each_base_row(bond):
                totals = [k.local(dot(wrench[bond, row], motion[near])) for motion in motions]
                with k.when(far > 0):
                    for motion, total in zip(motions, totals, strict=True):
                        total += dot(self.far_wrench[bond, row], motion[far])
                if self.spreads:
                    with k.when(far == SPREAD):
                        for total in totals:
                            total.set(0.0)
                        for n, body in self.each_spread_end(bond):
                            for motion, total in zip(motions, totals, strict=True):
                                total += dot(self.spread_wrench[bond, n, row], motion[body])
                yield row, [total.value for total in totals]

    def index_of(self, name: str) -> int:
        """Place of a kind in `kinds`."""
        return [kind.name for kind in self.kinds].index(name)

    @walk
    def each_kind(self, bond: Any) -> Iterator[BondKind]:
        """`for kind in bonds.each_kind(l):` runs its body, at run time, for the kind of bond l only."""
        if len(self.kinds) == 1:
            yield self.kinds[0]
            return
        here = self.kind[bond]
        for index, kind in enumerate(self.kinds):
            with self.k.when(here == index):
                yield kind

    @walk
    def each_base_row(self, bond: Any, kind: BondKind | None = None, first: int = 0) -> Iterator[Any]:
        """`for row in bonds.each_base_row(l, kind):` runs its body for the base rows of bond l, from `first` on."""
        dims = {dim for k in (self.kinds if kind is None else [kind]) for dim in k.dims}
        if len(dims) == 1 and max(dims) <= UNROLLED:
            yield from range(first, *dims)
            return
        with self.k.loop(first, self.dim[bond]) as row:
            yield row


@attrs.define(eq=False, slots=False)
class DofRows(FieldGroup):
    """Rows of few dofs, the kernel fields `dof_rows`; the index r is a row."""

    group: str = attrs.field(default="dof_rows", init=False)

    @cached_property
    def tables(self) -> dict[str, RowTable]:
        """By source."""
        return {name: make(self.k.frozen_model) for name, make in SOURCES.items()}

    @property
    def count(self) -> int:
        return self.first("end")

    def first(self, source: str) -> int:
        """The first row of a source; that of "end" is the number of rows."""
        names = [*SOURCES, "end"]
        return sum(len(self.tables[name].ids) for name in names[: names.index(source)])

    @walk
    def each_row(self, source: str) -> Iterator[Any]:
        """`for r in rows.each_row("frictionloss_dofs"):` runs its body for the rows of a source, at run time."""
        first, count = self.first(source), len(self.tables[source].ids)
        if count:
            with self.k.loop(first, first + count) as r:
                yield r

    @property
    def width(self) -> int:
        """Most dofs of a row."""
        return max(t.dofs.shape[1] for t in self.tables.values())

    def column(self, name: str, r: Any) -> Int:
        """`ids`, `nnz` or `fills` of row r."""
        joined = np.concatenate([getattr(t, name) for t in self.tables.values()])
        entry: Int = self.k.table(f"rows/{name}", np.append(joined, 0))[r]
        return entry

    def dof(self, r: Any, n: Any) -> Int:
        """The n-th dof of row r, descending."""
        padded = [
            np.pad(t.dofs, ((0, 0), (0, self.width - t.dofs.shape[1])), "edge") for t in self.tables.values()
        ]
        table = np.concatenate([*padded, np.zeros((1, self.width), int)])
        entry: Int = self.k.table("rows/dofs", table)[r, n]
        return entry

    @property
    def fills(self) -> bool:
        """Whether any row adds entries to the Hessian."""
        return any(t.fills.any() for t in self.tables.values())

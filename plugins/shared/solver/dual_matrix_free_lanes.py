"""The constrained problem in terms of forces, in lanes: which rows there are, how they feel each other.

Forces f minimise ½·fᵀ·(A + R)·f + fᵀ·b, with A = J·M⁻¹·Jᵀ and b = J·qacc_smooth − aref. A is not formed. With
M = Lᵀ·D·L, every row of J is kept as Y = D^−½·L^−ᵀ·Jᵀ, so that A = Yᵀ·Y; as L has the pattern of the tree, a Y has
entries at the ancestors of the dofs that its row moves, and nowhere else. What all rows together do is one vector
y = Σ Y·f: a row's acceleration is b + Y·y, and changing its force costs one pass over its few entries.

Rows are visited by *items*, those of a bond or a dof row together, in MuJoCo's order of rows. An item is listed if
any world of the tile has it. Base rows of bonds are those of `rows_lanes`: friction forces are in units of
their coefficients. Compare mj_projectConstraint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import attrs
import numpy as np

from dovetail.backends.lanes.groups import FieldGroup
from dovetail.backends.lanes.kernel import Int, IntegerField, Kernel, LaneField
from dovetail.backends.lanes.scopes import walk
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.rows.rows_lanes import (
    ELLIPTIC,
    EQUALITY,
    FRICTIONLESS,
    LARGEST_DIM,
    PYRAMID,
    UNROLLED,
    BodyRows,
    BondKind,
    DofRows,
    chain_of,
    contact_kind,
    ends_of,
)
from dovetail.plugins.shared.solver.row_costs_lanes import Bond
from dovetail.plugins.shared.vectors_lanes import dot

SCALAR = "scalar"
"""A single row whose force is clipped to bounds: any dof row, or a contact without friction."""

UNBOUNDED = 1e30
"""Bound of a force that has none."""

CHUNK = 4
"""Entries of a Y that are taken together, so that sums need not wait for each other; Ys are filled up with zeros.
Measured on a humanoid: sweeps take a tenth longer with 2 or 8."""

USUAL_ROOM = 1 << 16
"""Entries of Ys that every tile has room for: four megabytes of f64. A robot's tile needs some hundreds."""

NEAR, FAR = 1, 2
"""Bits: whose chain a dof that moves a bond is in."""


class ItemKind(NamedTuple):
    """A kind of item: how its forces are found, and how many base rows it has (None: that differs)."""

    name: str
    dim: int | None


class MovedDofs(NamedTuple):
    """Dofs at which the Ys of items have entries: all that move the item's bodies, descending. Items that move the
    same dofs share one set of them."""

    first: Array
    """Where each set begins in `dofs`."""
    length: Array
    """Number of dofs of each set; in `dofs` it is filled up to a multiple of CHUNK with the number nv."""
    dofs: Array
    sides: Array
    """NEAR, FAR or both, for bonds."""
    of_row: Array
    """Set of each dof row."""
    of_equality: Array
    of_pair: Array
    """Of the contacts of each pair."""

    @property
    def room(self) -> Array:
        """Entries of a Y of each set."""
        return -(-self.length // CHUNK) * CHUNK


def moved_dofs_of(body_rows: BodyRows, rows: DofRows) -> MovedDofs:
    """The sets of dofs that the items of a model move."""
    model = body_rows.k.frozen_model
    known: dict[tuple[tuple[int, int], ...], int] = {}

    def number(ends: list[tuple[int, int]]) -> int:
        """Of the set of the chains that end at some dofs, each with the bit of its side."""
        sides: dict[int, int] = {}
        for dof, bit in ends:
            for ancestor in chain_of(model, dof):
                sides[ancestor] = sides.get(ancestor, 0) | bit
        return known.setdefault(tuple(sorted(sides.items(), reverse=True)), len(known))

    of_row = [number([(d, NEAR) for d in dofs]) for t in rows.tables.values() for dofs in t.dofs.tolist()]
    pairs = body_rows.contacts.pairs
    of_equality, of_pair = (
        [
            number(_chain_ends(model, *bodies))
            for bodies in zip(ends.near.tolist(), ends.far.tolist(), strict=True)
        ]
        for ends in (
            ends_of(model, body_rows.equalities.body1, body_rows.equalities.body2),
            ends_of(model, pairs.body2, pairs.body1),
        )
    )
    filled = [[*dofs, *[(int(model.nv), 0)] * (-len(dofs) % CHUNK)] for dofs in known]
    entries = np.array([entry for dofs in filled for entry in dofs], int).reshape(-1, 2)
    first = np.cumsum([0, *map(len, filled)])[:-1]
    length = np.array([len(dofs) for dofs in known], int)
    numbers = (np.array(found, int) for found in (of_row, of_equality, of_pair))
    return MovedDofs(first, length, *entries.T, *numbers)


def _chain_ends(model: ModelLike, near: int, far: int) -> list[tuple[int, int]]:
    """Last dofs of a bond's bodies."""
    last = np.asarray(model.body_dofadr) + np.asarray(model.body_dofnum) - 1
    return [(int(last[body]), bit) for body, bit in ((near, NEAR), (far, FAR)) if body]


def fixed_order(body_rows: BodyRows, rows: DofRows) -> Array:
    """Dof rows r as r, bonds l of equalities as (number of dof rows) + l, in the order of mjData's rows."""
    first, tables = rows.first, rows.tables
    equalities = [(int(owner), rows.count + bond) for bond, owner in enumerate(body_rows.equalities.ids)]
    limits: list[tuple[int, int]] = []
    for name, found in (
        ("coupled_joints", equalities),
        ("coupled_tendons", equalities),
        ("flex_edges", equalities),
        ("scalar_limits", limits),
        ("ball_limits", limits),
    ):
        found += [(int(owner), first(name) + n) for n, owner in enumerate(tables[name].ids)]
    friction = range(first("frictionloss_dofs"), first("scalar_limits"))
    tendons = range(first("tendon_limits"), rows.count)
    places = [*(p for _, p in sorted(equalities)), *friction, *(p for _, p in sorted(limits)), *tendons]
    return np.array(places, int)


def item_room(k: Kernel) -> int:
    """Most items."""
    return DofRows(k).count + BodyRows(k).room


def most_rows(body_rows: BodyRows) -> int:
    """Most base rows of an item."""
    return max([1, *(dim for kind in body_rows.kinds for dim in kind.dims)])


def most_forces(k: Kernel) -> int:
    """Most forces of an item: of its base rows, or of the edges of a pyramid."""
    body_rows = BodyRows(k)
    edged = (2 * (max(kind.dims) - 1) for kind in body_rows.kinds if kind.name == PYRAMID)
    return max([most_rows(body_rows), *edged])


@attrs.define(eq=False, slots=False)
class Dual(FieldGroup):
    """One tile's problem; the index v is an item, r one of its base rows.

    The kernel fields `dual` hold the forces: stages after the solver list the same items in the same order."""

    group: str = attrs.field(default="dual", init=False)
    body_rows: BodyRows
    rows: DofRows
    guess: str = "qacc_warmstart"
    """The field of accelerations from which forces are guessed."""

    # ---- what the plan knows

    @cached_property
    def moved_dofs(self) -> MovedDofs:
        return moved_dofs_of(self.body_rows, self.rows)

    @cached_property
    def kinds(self) -> tuple[ItemKind, ...]:
        """The kinds that occur in the model."""
        scalar = self.rows.count or any(kind.name == FRICTIONLESS for kind in self.body_rows.kinds)
        found = [ItemKind(SCALAR, 1)] if scalar else []
        for kind in self.body_rows.kinds:
            if kind.name == ELLIPTIC:
                found += [ItemKind(ELLIPTIC, dim) for dim in kind.dims]
            elif kind.name != FRICTIONLESS:
                fixed = len(kind.dims) == 1 and kind.dims[0] <= UNROLLED
                found.append(ItemKind(kind.name, kind.dims[0] if fixed else None))
        return tuple(found)

    @cached_property
    def pair_kinds(self) -> list[int]:
        """Kind of the contacts of each pair."""
        cone = int(self.k.frozen_model.opt.cone)

        def index(dim: int) -> int:
            name = contact_kind(dim, cone)
            name = SCALAR if name == FRICTIONLESS else name
            fits = [kind.name == name and kind.dim in (dim, None) for kind in self.kinds]
            return fits.index(True)

        return [index(dim) for dim in self.body_rows.contacts.dims.tolist()]

    @property
    def item_room(self) -> int:
        """Most items."""
        return self.k.kernel_size("ndual_item")

    @cached_property
    def width(self) -> int:
        """Most base rows of an item."""
        return most_rows(self.body_rows)

    @cached_property
    def most_entries(self) -> int:
        """Entries that the Ys of all items can have."""
        moved, room = self.moved_dofs, self.moved_dofs.room
        weld = 3 + 3 * self.body_rows.equalities.weld.astype(int)
        total = room[moved.of_row].sum() + (weld * room[moved.of_equality]).sum()
        if self.body_rows.has_contacts:
            contacts = self.body_rows.contacts
            total += (contacts.pairs.most_contacts * contacts.dims * room[moved.of_pair]).sum()
        return max(1, int(total))

    @cached_property
    def entry_room(self) -> int:
        """Entries of Ys that there is room for."""
        return self.k.room(self.most_entries, USUAL_ROOM)

    # ---- memory: items

    def _integers(self, name: str) -> IntegerField:
        return self.k.integers(name, self.item_room)

    @property
    def place(self) -> IntegerField:
        """A dof row, or (number of dof rows) + a bond."""
        return self._integers("place")

    @property
    def kind(self) -> IntegerField:
        """Index in `kinds`."""
        return self._integers("kind")

    @property
    def dim(self) -> IntegerField:
        """Number of base rows."""
        return self._integers("dim")

    @property
    def dof_set(self) -> IntegerField:
        """Number of its set in `moved_dofs`."""
        return self._integers("dof_set")

    @property
    def first(self) -> IntegerField:
        """Where the item's Ys begin."""
        return self._integers("first")

    @property
    def visits(self) -> IntegerField:
        """Items that a world which has not converged has."""
        return self._integers("visits")

    @property
    def counts(self) -> IntegerField:
        """Number of items, and of visits."""
        return self.k.integers("counts", 2)

    # ---- memory: numbers

    @property
    def Y(self) -> LaneField:
        """By item, by dof that moves it, by base row."""
        return self.k.scratch("Y", self.entry_room)

    @property
    def y(self) -> LaneField:
        """Σ Y·f; at index nv, where the filling of `moved_dofs` points, always 0."""
        return self.k.scratch("y", self.k.model.nv + 1)

    @property
    def root(self) -> LaneField:
        """D^−½."""
        return self.k.scratch("root", self.k.model.nv)

    @property
    def b(self) -> LaneField:
        """J·qacc_smooth − aref."""
        return self.k.scratch("b", self.item_room, self.width)

    @property
    def last(self) -> LaneField:
        """J·guess − aref."""
        return self.k.scratch("last", self.item_room, self.width)

    @property
    def R(self) -> LaneField:
        """Regularisation; 0 in worlds without the item. Edges of a pyramid have that of its first base row."""
        return self.k.scratch("R", self.item_room, self.width)

    @property
    def A(self) -> LaneField:
        """A among the base rows of an item; without R."""
        return self.k.scratch("A", self.item_room, self.width, self.width)

    @property
    def inverse_diagonal(self) -> LaneField:
        """1 / (A + R) of every force of items that are no elliptic contacts."""
        return self.k.scratch("inverse_diagonal", self.item_room, self.k.kernel_size("ndual_force"))

    @property
    def bounds(self) -> LaneField:
        """Least and largest force of a scalar item."""
        return self.k.scratch("bounds", self.item_room, 2)

    # ---- walks

    @walk
    def each_kind(self, v: Any) -> Iterator[ItemKind]:
        """`for kind in dual.each_kind(v):` runs its body, at run time, for the kind of item v only."""
        if len(self.kinds) == 1:
            yield self.kinds[0]
            return
        here = self.kind[v]
        for index, kind in enumerate(self.kinds):
            with self.k.when(here == index):
                yield kind

    @walk
    def each_base_row(self, v: Any, kind: ItemKind, first: int = 0) -> Iterator[Any]:
        """`for r in dual.each_base_row(v, kind):` runs its body for the base rows of item v, from `first` on."""
        if kind.dim is not None:
            yield from range(first, kind.dim)
            return
        with self.k.loop(first, self.dim[v]) as r:
            yield r

    @walk
    def each_moved_dof(self, v: Any) -> Iterator[tuple[Any, Any]]:
        """`for n, at in …:` runs its body for the dofs that item v moves: their count, and place in
        `MovedDofs.dofs`."""
        begin, length = self._moved("first", v), self._moved("length", v)
        with self.k.loop(0, length) as n:
            yield n, begin + n

    @walk
    def each_moved_chunk(self, v: Any, size: int) -> Iterator[tuple[Any, Any]]:
        """The same for every `size` entries together, a divisor of CHUNK, the filling too."""
        begin, room = self._moved("first", v), self._moved("room", v)
        with self.k.loop(0, room // size) as n:
            yield size * n, begin + size * n

    def _moved(self, column: str, v: Any) -> Any:
        """A number of the set of dofs that item v moves."""
        return self.k.table(f"dual/moved_{column}", getattr(self.moved_dofs, column))[self.dof_set[v]]

    def dof(self, at: Any) -> Int:
        """The dof at a place in `MovedDofs.dofs`."""
        entry: Int = self.k.table("dual/moved_dofs", self.moved_dofs.dofs)[at]
        return entry

    # ---- listing

    def build(self) -> Any:
        """List the items and write Y, b, R and A; returns 1 in the worlds that have any row."""
        has_rows = self.begin()
        self.write_rows()
        return has_rows

    def begin(self) -> Any:
        """List the items and write R; returns 1 in the worlds that have any row."""
        k, d = self.k, self.k.data
        with k.loop(0, k.model.nv) as dof:
            self.root[dof] = k.sqrt(d.qLDiagInv[dof])
            self.y[dof] = 0.0
        self.y[k.model.nv] = 0.0
        self.list_items()
        has_rows = k.local(0.0)
        with k.loop(0, self.counts[0]) as v:
            self._write_softness(v)
            has_rows.set(k.select(self.R[v, 0] > 0.0, 1.0, has_rows.value))
        return has_rows.value

    def write_rows(self) -> None:
        """Write Y, b, and A among the base rows of each item."""
        k = self.k
        with k.loop(0, self.counts[0]) as v:
            with k.loop(0, self.dim[v]) as r:
                self.write_jacobian(v, r)
                self._project(v, r)
            self._fill_up(v)
            self._write_block(v)
            self._write_inverse_diagonal(v)

    def list_items(self) -> None:
        """List the items that any world has."""
        k = self.k
        found, used = k.local(0), k.local(0)
        for place, kind, dim, dof_set, D in self._each_candidate():
            with k.when(k.any(D > 0.0)):
                v = found.value
                self.place[v], self.kind[v], self.dim[v], self.dof_set[v] = place, kind, dim, dof_set
                self.first[v] = used.value
                self.visits[v] = v
                used += dim * self._moved("room", v)
                found += 1
        if self.entry_room < self.most_entries:
            with k.when(used.value > self.entry_room):
                k.lacks(used.value, self.entry_room)
                found.set(0)
        self.counts[0] = found.value
        self.counts[1] = found.value

    @walk
    def _each_candidate(self) -> Iterator[tuple[Any, Any, Any, Any, Any]]:
        """`for place, kind, dim, dof_set, D in …:` runs its body for everything that may be an item."""
        k, body_rows, rows = self.k, self.body_rows, self.rows
        order = fixed_order(body_rows, rows)
        if len(order):
            with k.loop(0, len(order)) as n:
                place = k.table("dual/order", order)[n]
                for row in self._each_row_at(place):
                    yield row, 0, 1, k.table("dual/row_dof_set", self.moved_dofs.of_row)[row], rows.D[row]
                if body_rows.nequality:
                    for bond in self._each_bond_at(place):
                        dof_set = k.table("dual/equality_dof_set", self.moved_dofs.of_equality)[bond]
                        kind = [kind.name for kind in self.kinds].index(EQUALITY)
                        yield place, kind, body_rows.dim[bond], dof_set, body_rows.D[bond, 0]
        if body_rows.has_contacts:
            with k.loop(0, body_rows.contacts.count) as c:
                bond, pair = body_rows.nequality + c, body_rows.contacts.pair[c]
                kind = k.table("dual/pair_kind", self.pair_kinds)[pair]
                dof_set = k.table("dual/pair_dof_set", self.moved_dofs.of_pair)[pair]
                yield rows.count + bond, kind, body_rows.dim[bond], dof_set, body_rows.D[bond, 0]

    @walk
    def _each_row_at(self, place: Any) -> Iterator[Any]:
        """`for row in …:` runs its body if a place is that of a dof row."""
        if self.rows.count and self.body_rows.kinds:
            with self.k.when(place < self.rows.count):
                yield place
        elif self.rows.count:
            yield place

    @walk
    def _each_bond_at(self, place: Any) -> Iterator[Any]:
        """`for bond in …:` runs its body if a place is that of a bond."""
        if self.rows.count and self.body_rows.kinds:
            with self.k.when(place >= self.rows.count):
                yield place - self.rows.count
        elif self.body_rows.kinds:
            yield place

    def keep_listed(self, live: Any) -> None:
        """Leave out visits to items that only worlds which have converged have."""
        k, kept = self.k, self.k.local(0)
        with k.loop(0, self.counts[1]) as n:
            v = self.visits[n]
            with k.when(k.any(self.R[v, 0] * live > 0.0)):
                self.visits[kept.value] = v
                kept += 1
        self.counts[1] = kept.value

    # ---- rows

    def write_jacobian(self, v: Any, r: Any) -> None:
        """One row of J at the dofs that it moves, in `work`; and what accelerations it has without constraints."""
        k, d, body_rows, rows, work = self.k, self.k.data, self.body_rows, self.rows, self.work
        guess = getattr(d, self.guess)
        smooth, last = k.local(0.0), k.local(0.0)
        for row in self._each_row_at(self.place[v]):
            for _, at in self.each_moved_dof(v):
                work[self.dof(at)] = 0.0
            with k.loop(0, rows.column("nnz", row)) as n:
                work[rows.dof(row, n)] = rows.coefficient[row, n]
            smooth.set(rows.offset[row])
        for bond in self._each_bond_at(self.place[v]):
            for _, at in self.each_moved_dof(v):
                work[self.dof(at)] = self._bond_entry(bond, r, at)
            smooth.set(body_rows.offset[bond, r])
        last.set(smooth.value)
        for _, at in self.each_moved_dof(v):
            dof = self.dof(at)
            smooth += work[dof] * d.qacc_smooth[dof]
            last += work[dof] * guess[dof]
        self.b[v, r], self.last[v, r] = smooth.value, last.value

    @property
    def work(self) -> LaneField:
        """One row of J, by dof."""
        return self.k.scratch("work", self.k.model.nv)

    def _bond_entry(self, bond: Any, r: Any, at: Any) -> Any:
        """Entry of a bond's row at a dof that moves it."""
        k, body_rows = self.k, self.body_rows
        sides, axis = k.table("dual/moved_sides", self.moved_dofs.sides)[at], k.data.cdof[self.dof(at)]
        total = k.local(0.0)
        with k.when(sides % FAR == NEAR):
            total.set(dot(body_rows.near_wrench[bond, r], axis))
        if (self.moved_dofs.sides >= FAR).any():
            with k.when(sides >= FAR):
                total += dot(body_rows.far_wrench[bond, r], axis)
        return total.value

    def _project(self, v: Any, r: Any) -> None:
        """Y of one row from `work`; the ancestors of a dof come after it."""
        k, m, d, work = self.k, self.k.model, self.k.data, self.work
        for n, place in self.each_moved_dof(v):
            dof = self.dof(place)
            value, start = work[dof], m.M_rowadr[dof]
            with k.loop(start, start + m.M_rownnz[dof] - 1) as at:
                work[m.M_colind[at]] -= d.qLD[at] * value
            self.Y[self.first[v] + n * self.dim[v] + r] = value * self.root[dof]

    def _fill_up(self, v: Any) -> None:
        """Zeros after the entries of an item's Ys."""
        k, size, first = self.k, self.dim[v], self.first[v]
        with k.loop(first + self._moved("length", v) * size, first + self._moved("room", v) * size) as at:
            self.Y[at] = 0.0

    def _write_block(self, v: Any) -> None:
        k, Y, size = self.k, self.Y, self.dim[v]
        with k.loop(0, size) as r, k.loop(0, r + 1) as s:
            total = k.local(0.0)
            for n, _ in self.each_moved_dof(v):
                at = self.first[v] + n * size
                total += Y[at + r] * Y[at + s]
            self.A[v, r, s] = total.value
            self.A[v, s, r] = total.value

    def _write_softness(self, v: Any) -> None:
        """R of all base rows, and the bounds of scalar items."""
        k, body_rows, rows, R = self.k, self.body_rows, self.rows, self.R
        for row in self._each_row_at(self.place[v]):
            R[v, 0] = inverse(k, rows.D[row])
            self._write_row_bounds(v, row)
        for bond in self._each_bond_at(self.place[v]):
            for kind in self.each_kind(v):
                R[v, 0] = inverse(k, body_rows.D[bond, 0])
                if kind.name == SCALAR:
                    self.bounds[v, 0], self.bounds[v, 1] = 0.0, UNBOUNDED
                for r in self.each_base_row(v, kind, 1):
                    if kind.name == EQUALITY:
                        R[v, r] = inverse(k, self.cost_bond(bond, kind).weight_of(r))
                    elif kind.name == ELLIPTIC:
                        R[v, r] = body_rows.D[bond, 1] * inverse(k, body_rows.D[bond, 0])

    def _write_inverse_diagonal(self, v: Any) -> None:
        k, A, R = self.k, self.A, self.R
        for kind in self.each_kind(v):
            if kind.name == PYRAMID:
                for r in self.each_base_row(v, kind, 1):
                    for n, sign in edges(r):
                        own = A[v, 0, 0] + A[v, r, r] + 2.0 * sign * A[v, r, 0] + R[v, 0]
                        self.inverse_diagonal[v, n] = inverse(k, k.select(R[v, 0] > 0.0, own, 0.0))
            elif kind.name != ELLIPTIC:
                for r in self.each_base_row(v, kind):
                    self.inverse_diagonal[v, r] = inverse(
                        k, k.select(R[v, r] > 0.0, A[v, r, r] + R[v, r], 0.0)
                    )

    def cost_bond(self, bond: Any, kind: ItemKind) -> Bond:
        """A bond as the functions of `row_costs_lanes` take it."""
        dims = (kind.dim,) if kind.dim else next(k.dims for k in self.body_rows.kinds if k.name == kind.name)
        return Bond(self.k, self.body_rows, bond, BondKind(kind.name, dims))

    def _write_row_bounds(self, v: Any, row: Any) -> None:
        k, rows = self.k, self.rows
        friction, limits = rows.first("frictionloss_dofs"), rows.first("scalar_limits")
        self.bounds[v, 0] = k.select(row < limits, -UNBOUNDED, 0.0)
        self.bounds[v, 1] = UNBOUNDED
        if limits > friction:
            with k.when((row >= friction) & (row < limits)):
                self.bounds[v, 0], self.bounds[v, 1] = -rows.loss[row], rows.loss[row]

    # ---- products

    def acceleration(self, v: Any, kind: ItemKind) -> Few:
        """b + Y·y of the base rows of an item."""
        found, size = Few(self.k, "acceleration", kind), self.dim[v] if kind.dim is None else kind.dim
        together = CHUNK
        for rows in self._each_run(v, kind):
            start = np.full((together, len(rows)), 0.0, object)
            start[0] = [self.b[v, r] for r in rows]
            total = self.k.local(start)
            for n, place in self.each_moved_chunk(v, together):
                at, y = self.first[v] + n * size, [self.y[self.dof(place + i)] for i in range(together)]
                total += np.array(
                    [[self.Y[at + (i * size + r)] * y[i] for r in rows] for i in range(together)],
                    dtype=object,
                )
            for r, value in zip(rows, pairwise_sum(total.value), strict=True):
                found[r] = value
        return found

    @walk
    def _each_run(self, v: Any, kind: ItemKind) -> Iterator[Sequence[Any]]:
        """`for rows in …:` runs its body for all base rows of item v together if their number is fixed, else for one
        after the other."""
        if kind.dim is not None:
            yield range(kind.dim)
            return
        for r in self.each_base_row(v, kind):
            yield [r]

    def push(self, v: Any, kind: ItemKind, move: Few) -> None:
        """y += Y·move for the base rows of an item."""
        size = self.dim[v] if kind.dim is None else kind.dim
        together = 1 if kind.dim is None else CHUNK
        for n, place in self.each_moved_chunk(v, together):
            at, dofs = self.first[v] + n * size, [self.dof(place + i) for i in range(together)]
            total = self.k.local(np.array([self.y[dof] for dof in dofs], dtype=object))
            for r in self.each_base_row(v, kind):
                total += np.array(
                    [self.Y[at + (i * size + r)] * move[r] for i in range(together)], dtype=object
                )
            for dof, value in zip(dofs, total.value, strict=True):
                self.y[dof] = value

    # ---- the answer

    def finish(self) -> None:
        """qfrc_constraint = Jᵀ·f = Lᵀ·D^½·y, qacc = qacc_smooth + L⁻¹·D^−½·y."""
        k, m, d, y = self.k, self.k.model, self.k.data, self.y
        change = self.work
        with k.loop(0, m.nv) as row:
            first = m.M_rowadr[row]
            diagonal = first + m.M_rownnz[row] - 1
            total, own = k.local(self.root[row] * y[row]), y[row] / self.root[row]
            d.qfrc_constraint[row] = own
            with k.loop(first, diagonal) as at:
                column = m.M_colind[at]
                total -= d.qLD[at] * change[column]
                d.qfrc_constraint[column] += d.qLD[at] * own
            change[row] = total.value
            d.qacc[row] = d.qacc_smooth[row] + total.value

    def write_forces(self) -> None:
        """Forces for the stages after the solver (left out of the kernel if none reads them)."""
        k, body_rows, rows = self.k, self.body_rows, self.rows
        with k.loop(0, rows.count) as row:
            rows.force[row] = 0.0
        if body_rows.kinds:
            with k.loop(0, body_rows.count) as bond:
                body_rows.force[bond] = 0.0
        with k.loop(0, self.counts[0]) as v:
            for row in self._each_row_at(self.place[v]):
                rows.force[row] = self.force[v, 0]
            for bond in self._each_bond_at(self.place[v]):
                for kind in self.each_kind(v):
                    self._write_bond_force(v, kind, bond)

    def _write_bond_force(self, v: Any, kind: ItemKind, bond: Any) -> None:
        """Of a contact, tangents in units of force instead of the cone's."""
        target, pushed = self.body_rows.force, base_force(self, v, kind)
        for r in self.each_base_row(v, kind):
            target[bond, r] = pushed[r]
        if kind.name in (PYRAMID, ELLIPTIC):
            for r in self.each_base_row(v, kind, 1):
                target[bond, r] *= self.body_rows.contacts.friction[bond - self.body_rows.nequality, r - 1]


class Few:
    """A number for each base row of an item: in variables if there is a fixed number of rows, else in memory."""

    def __init__(self, k: Kernel, name: str, kind: ItemKind) -> None:
        self._variables = [k.local(0.0) for _ in range(kind.dim or 0)]
        self._field = k.scratch(name, LARGEST_DIM) if kind.dim is None else None

    def __getitem__(self, r: Any) -> Any:
        return self._variables[r].value if self._field is None else self._field[r]

    def __setitem__(self, r: Any, value: Any) -> None:
        if self._field is None:
            self._variables[r].set(value)
        else:
            self._field[r] = value


def base_force(dual: Dual, v: Any, kind: ItemKind) -> Few:
    """Forces of an item's base rows; those of a pyramid from its edges."""
    found, force = Few(dual.k, "base_force", kind), dual.force
    if kind.name != PYRAMID:
        for r in dual.each_base_row(v, kind):
            found[r] = force[v, r]
        return found
    found[0] = 0.0
    for r in dual.each_base_row(v, kind, 1):
        up, down = force[v, 2 * r - 2], force[v, 2 * r - 1]
        found[0] += up + down
        found[r] = up - down
    return found


def pairwise_sum(terms: np.ndarray) -> np.ndarray:
    """Over the first axis, whose length is a power of two."""
    while len(terms) > 1:
        terms = terms[0::2] + terms[1::2]
    summed: np.ndarray = terms[0]
    return summed


def edges(r: Any) -> tuple[tuple[Any, float], tuple[Any, float]]:
    """(place among the forces, sign) of the two edges of a tangent."""
    return (2 * r - 2, 1.0), (2 * r - 1, -1.0)


def inverse(k: Kernel, D: Any) -> Any:
    """1/D, or 0 where that is 0."""
    return k.select(D > 0.0, 1.0 / k.select(D > 0.0, D, 1.0), 0.0)

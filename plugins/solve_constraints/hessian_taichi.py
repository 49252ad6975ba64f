"""The Hessian M + Jᵀ·W·J of the constrained problem in lanes: its pattern, its entries, its factor.

Links to bodies that do not move keep the sparsity of the tree: with A(b) = Σ wᵀ·W·w over the links of body b and of
all it carries, their part is cdofⱼ·A(body of i)·cdofᵢ for every ancestor j of i, as in the composite-rigid-body
algorithm. Links between two moving bodies act through a short J over the dofs that the bodies do not share. If those
are of different branches, rows get columns beyond their ancestors; which, is worked out for the tile as a whole by
symbolic elimination from the leaves to the root. An entry that another world needs is an exact zero in this one.

Dofs are taken in blocks of up to three, each the parent of the next, so that most of the work is on 3 x 3 matrices
in registers. From one iteration to the next only the blocks are done again in whose rows something has changed.
Compare mj_solNewton; Featherstone, Rigid Body Dynamics Algorithms, sections 6.3 and 6.5.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import attrs
import numpy as np

from dovetail.backends.taichi.algebra import MINVAL, dot
from dovetail.backends.taichi.lanes import Field, IntegerField, Kernel
from dovetail.plugins.constraint_lanes import EQUALITY, LARGEST_DIM, Kind, Links, contact_kind, ends_of
from dovetail.plugins.solve_constraints.cost_taichi import Link, Values, always_zero
from dovetail.plugins.spatial import Array

PACKED = [(i, j) for i in range(6) for j in range(i + 1)]
"""Entries of a symmetric 6 x 6 matrix that are stored."""

B = 3
"""Dofs per block; shorter blocks are filled up with rows of the identity."""


def has_ends(links: Links, kind: Kind | None = None) -> tuple[bool, bool]:
    """Whether any link (of a kind) may be tied to the ground, and whether any may have two moving ends."""
    model, table = links.k.structure, links.equalities
    far: list[Any] = []
    if kind is None or kind.name == EQUALITY:
        far += ends_of(model, table.body1, table.body2).far.tolist()
    if links.has_contacts:
        pairs, cone = links.contacts.pairs, int(model.opt.cone)
        ends = ends_of(model, pairs.body2, pairs.body1).far.tolist()
        names = [contact_kind(dim, cone) for dim in links.contacts.dims.tolist()]
        far += [end for end, name in zip(ends, names, strict=True) if kind is None or name == kind.name]
    return 0 in far, any(far)


class Blocks(NamedTuple):
    """Runs of dofs each of which is the parent of the next."""

    first: Array
    size: Array
    of: Array
    """Block of each dof."""
    place: Array
    """Of each dof within its block."""


def blocks_of(model: Any) -> Blocks:
    """Cut the dofs into short runs."""
    first: list[int] = []
    size: list[int] = []
    for dof, parent in enumerate(np.asarray(model.dof_parentid).tolist()):
        if first and parent == dof - 1 >= first[-1] and size[-1] < B:
            size[-1] += 1
        else:
            first.append(dof)
            size.append(1)
    of = np.repeat(np.arange(len(first)), size)
    return Blocks(np.array(first), np.array(size), of, np.arange(len(of)) - np.array(first)[of])


def tree_connections(model: Any, blocks: Blocks) -> Array:
    """Which blocks hold ancestors of a block's dofs (nblock, nblock)."""
    connected = np.zeros((len(blocks.first), len(blocks.first)), int)
    for block, dof in enumerate(blocks.first.tolist()):
        parent = int(model.dof_parentid[dof])
        if parent >= 0:
            connected[block] = connected[blocks.of[parent]]
            connected[block, blocks.of[parent]] = 1
    return connected


@attrs.define(eq=False)
class Hessian:
    """Blocks H[I, J] with J ≤ I, in place of which the factor L of H = Lᵀ·L comes."""

    k: Kernel
    links: Links
    fills: bool
    """Whether entries beyond those of the tree are possible."""

    @property
    def nv(self) -> int:
        return int(self.k.model.nv)

    @cached_property
    def blocks(self) -> Blocks:
        return blocks_of(self.k.structure)

    @property
    def nblock(self) -> int:
        return len(self.blocks.first)

    @property
    def padded(self) -> bool:
        return bool((self.blocks.size < B).any())

    @property
    def blocks_field(self) -> Field:
        """H[I, J] or L[I, J], by rows; of diagonal blocks the lower triangle, L's diagonal inverted."""
        return self.k.scratch("H", self.nblock, self.nblock, B * B)

    @property
    def cells(self) -> Field:
        """The same numbers as one long array."""
        return Field(self.k, self.blocks_field.name, (self.nblock * self.nblock * B * B,))

    @property
    def entries(self) -> _Entries:
        return _Entries(self)

    def block_of(self, dof: Any) -> Any:
        return self.k.table("H/block", self.blocks.of)[dof]

    def place_of(self, dof: Any) -> Any:
        return self.k.table("H/place", self.blocks.place)[dof]

    def first(self, block: Any) -> Any:
        return self.k.table("H/first", self.blocks.first)[block]

    def size(self, block: Any) -> Any:
        return self.k.table("H/size", self.blocks.size)[block]

    # ---- pattern: which blocks have entries

    @property
    def _connections(self) -> IntegerField:
        return self.k.integers("H_connected", self.nblock, self.nblock)

    @property
    def _tree(self) -> Any:
        return self.k.table("H/tree", tree_connections(self.k.structure, self.blocks))

    def connected(self, block: Any, other: Any) -> Any:
        """Whether H[block, other] has entries; `other` comes before `block`."""
        return (self._connections if self.fills else self._tree)[block, other] > 0

    def start_pattern(self) -> None:
        """The ancestors of every block."""
        k = self.k
        with k.loop(0, self.nblock) as block, k.loop(0, block) as other:
            self._connections[block, other] = self._tree[block, other]

    def connect(self, dof: Any, other: Any) -> None:
        """The last dof of a constraint row and another one of it; the others get connected by `finish_pattern`."""
        with self.k.when(self.block_of(dof) != self.block_of(other)):
            self._connections[self.block_of(dof), self.block_of(other)] = 1

    def finish_pattern(self) -> None:
        """Eliminating a block connects all that it is connected with, which the highest of those passes on."""
        k = self.k
        with k.loop(0, self.nblock, reverse=True) as block:
            highest = k.local(-1)
            with k.loop(0, block, reverse=True) as other, k.when(self._connections[block, other] > 0):
                with k.when(highest.value < 0):
                    highest.set(other)
                with k.otherwise():
                    self._connections[highest.value, other] = 1

    # ---- what has changed

    @property
    def changed_body(self) -> IntegerField:
        """1 for bodies whose links to the ground weigh otherwise than before."""
        return self.k.integers("changed_body", self.k.model.nbody)

    @property
    def any_body_changed(self) -> IntegerField:
        """1 if there is such a body."""
        return self.k.integers("any_body_changed", 1)

    @property
    def changed(self) -> IntegerField:
        """1 for blocks whose rows have other entries than before."""
        return self.k.integers("changed_block", self.nblock)

    def nothing_changed(self, new: Any) -> None:
        """Before the first of the changes; with `new`, everything is to be done."""
        k = self.k
        value = k.select(new, 1, 0)
        self.any_body_changed[0] = value
        with k.loop(0, k.model.nbody) as body:
            self.changed_body[body] = value
            with k.when(new):
                self.loaded[body] = 0
        with k.loop(0, self.nblock) as block:
            self.changed[block] = value

    def change_link(self, link: Link) -> None:
        """A link weighs otherwise than before."""
        links = link.links
        near, far = links.near[link.index], links.far[link.index]
        grounds, couples = has_ends(links, link.kind)
        self.changed[self.block_of(last_dof(self.k, near))] = 1
        if couples:
            with self.k.when(far > 0):
                self.changed[self.block_of(last_dof(self.k, far))] = 1
        if grounds:
            with self.k.when(far == 0):
                self.changed_body[near] = 1
                self.any_body_changed[0] = 1

    def change_dof(self, dof: Any) -> None:
        self.changed[self.block_of(dof)] = 1

    def spread_changes(self) -> None:
        """What a block does to those it is connected with changes, too."""
        k = self.k
        with (
            k.loop(0, self.nblock, reverse=True) as block,
            k.when(self.changed[block] > 0),
            k.loop(0, block) as other,
            k.when(self.connected(block, other)),
        ):
            self.changed[other] = 1

    # ---- entries

    @property
    def own(self) -> Field:
        """A of a body's own links to the ground."""
        return self.k.scratch("own", self.k.model.nbody, len(PACKED))

    @property
    def composite(self) -> Field:
        return self.k.scratch("composite", self.k.model.nbody, len(PACKED))

    @property
    def loaded(self) -> IntegerField:
        """1 for bodies that have links to the ground."""
        return self.k.integers("loaded", self.k.model.nbody)

    def clear_changed(self) -> None:
        """Forget the links of bodies that will be added again."""
        k = self.k
        with k.loop(1, k.model.nbody) as body, k.when(self.changed_body[body] > 0):
            self.own[body] = 0.0

    def add_grounded(self, link: Link, W: Field) -> None:
        """A link between a changed body and the ground: A += wᵀ·W·w."""
        k, wrench = self.k, link.links.near_wrench
        body = link.links.near[link.index]
        with k.when(self.changed_body[body] > 0):
            self.loaded[body] = 1
            total = k.local(self.own[body])
            for row in link.rows():
                weighted = k.local(np.full(6, 0.0, object))
                for column in link.rows():
                    if not always_zero(link, row, column):
                        weighted += W[link.index, row, column] * wrench[link.index, column]
                w, u = wrench[link.index, row], weighted.value
                total += np.array([w[i] * u[j] for i, j in PACKED], dtype=object)
            self.own[body] = total.value

    @property
    def carries(self) -> IntegerField:
        """1 for bodies that have links to the ground, or carry such."""
        return self.k.integers("carries", self.k.model.nbody)

    def sum_composites(self) -> None:
        """A of every body with all it carries."""
        k, m = self.k, self.k.model
        with k.loop(0, m.nbody) as body:
            self.carries[body] = self.loaded[body]
            with k.when(self.loaded[body] > 0):
                self.composite[body] = self.own[body]
            with k.otherwise():
                self.composite[body] = 0.0
        with k.loop(1, m.nbody, reverse=True) as body:
            parent = m.body_parentid[body]
            with k.when(self.carries[body] > 0), k.when(parent > 0):
                self.carries[parent] = 1
                self.composite[parent] += self.composite[body]

    def write_tree(self, filled: Any = None) -> None:
        """M and the links to the ground in the rows of changed blocks; zero in all other places of the pattern, of
        which there are some if `filled` (None: never)."""
        k, m = self.k, self.k.model
        with k.when(self.any_body_changed[0] > 0):
            self.sum_composites()
        with k.loop(0, self.nblock) as block, k.when(self.changed[block] > 0):
            size, first = self.size(block), self.first(block)
            short = size < (B if self.whole else B + 1)
            with k.when(short if filled is None else short | filled):
                self._clear(block)
            with k.when(self.carries[m.dof_bodyid[first]] > 0):
                for n in np.unique(self.blocks.size).tolist():
                    with k.when(size == n):
                        self._write_composites(block, [first + place for place in range(n)])
                if not self.whole:
                    self._write_mass(first, size)
            with k.otherwise():
                self._write_mass(first, size)

    @cached_property
    def whole(self) -> bool:
        """Whether M has an entry for every ancestor of every dof; they stand in the same order then."""
        model = self.k.structure
        return bool(np.array_equal(model.M_rownnz, model.D_diag + 1))

    def _write_composites(self, block: Any, rows: list[Any]) -> None:
        """What the links to the ground make of a block's rows, and M if it is whole."""
        k, m, d, H = self.k, self.k.model, self.k.data, self.blocks_field
        pull = [symmetric_times(self.composite[m.dof_bodyid[row]], d.cdof[row]) for row in rows]
        start, count = m.D_rowadr[rows[0]], m.D_diag[rows[0]]

        def entry(place: int, at: Any, axis: Any) -> Any:
            mass = d.M[m.M_rowadr[rows[place]] + at] if self.whole else 0.0
            return mass + dot(pull[place], axis)

        with k.loop(0, count) as n:
            column = m.D_colind[start + n]
            axis, other, beside = d.cdof[column], self.block_of(column), self.place_of(column)
            for place in range(len(rows)):
                H[block, other, B * place + beside] = entry(place, n, axis)
        for place in range(len(rows)):
            for beside in range(place + 1):
                H[block, block, B * place + beside] = entry(place, count + beside, d.cdof[rows[beside]])

    def _write_mass(self, first: Any, size: Any) -> None:
        """M in rows that have nothing yet; added, if it is not whole, to what is there."""
        k, m, M = self.k, self.k.model, self.k.data.M
        with (
            k.loop(first, first + size) as row,
            k.loop(m.M_rowadr[row], m.M_rowadr[row] + m.M_rownnz[row]) as at,
        ):
            cell = row, m.M_colind[at]
            self.entries[cell] = M[at] if self.whole else self.entries[cell] + M[at]

    def _clear(self, block: Any) -> None:
        """Zero the rows of a block; those that only fill it up are the identity's."""
        k, H = self.k, self.blocks_field
        with k.loop(0, block) as other, k.when(self.connected(block, other)):
            H[block, other] = 0.0
        H[block, block] = 0.0
        with k.loop(self.size(block), B) as place:
            H[block, block, (B + 1) * place] = 1.0

    def add_coupling(self, link: Link, W: Field) -> None:
        """A link between two moving bodies, through its J over the dofs they do not share."""
        k, H = self.k, self.cells
        dofs, rows, columns = (k.integers(f"span_{name}", self.nv) for name in ("dof", "row", "column"))
        J = k.scratch("span_J", self.nv, LARGEST_DIM)
        count = self._write_span(link, J)
        with k.loop(0, count) as a, k.when(self.changed[self.block_of(dofs[a])] > 0):
            own = self._weighted(link, W, lambda row: J[a, row])
            first = rows[a]
            with k.loop(a, count) as b:
                total = k.local(H[first + columns[b]])
                for row in link.rows():
                    total += own(row) * J[b, row]
                H[first + columns[b]] = total.value

    def _write_span(self, link: Link, J: Field) -> Any:
        """Note J and the place in H of the dofs that move one of a link's bodies but not both; returns how many."""
        k, d, links = self.k, self.k.data, link.links
        dofs, rows, columns = (k.integers(f"span_{name}", self.nv) for name in ("dof", "row", "column"))
        count = k.local(0)

        def visit(dof: Any, wrench: Field) -> None:
            nonlocal count
            n, block, place = count.value, self.block_of(dof), self.place_of(dof)
            dofs[n], rows[n], columns[n] = dof, B * (B * self.nblock * block + place), B * B * block + place
            for row in link.rows():
                J[n, row] = dot(wrench[link.index, row], d.cdof[dof])
            count += 1

        apart(
            k,
            (links.near[link.index], links.far[link.index]),
            lambda dof: visit(dof, links.near_wrench),
            lambda dof: visit(dof, links.far_wrench),
        )
        return count.value

    def _weighted(self, link: Link, W: Field, J: Values) -> Values:
        """W times a column of J; kept in registers if the rows are written out."""
        k, memory = self.k, self.k.scratch("span_WJ", LARGEST_DIM)
        found: dict[int, Any] = {}
        for row in link.rows():
            total = k.local(0.0)
            for column in link.rows():
                if not always_zero(link, row, column):
                    total += W[link.index, row, column] * J(column)
            if isinstance(row, int):
                found[row] = total.value
            else:
                memory[row] = total.value
        return lambda row: found[row] if isinstance(row, int) else memory[row]

    def add_dof_row(self, dof: Any, other: Any, value: Any) -> None:
        """One product of a dof row with itself."""
        with self.k.when(self.changed[self.block_of(dof)] > 0):
            self.entries[dof, other] += value

    # ---- factor

    def factor(self) -> None:
        """H = Lᵀ·L from the leaves to the root, in place, the changed blocks of it."""
        k, below = self.k, self.k.integers("below", self.nblock)
        with k.loop(0, self.nblock, reverse=True) as block, k.when(self.changed[block] > 0):
            count = k.local(0)
            with k.loop(block + 1, self.nblock) as lower, k.when(self.connected(lower, block)):
                below[count.value] = lower
                count += 1
            inside = self._factor_diagonal(block, count.value)
            with k.loop(0, block) as other, k.when(self.connected(block, other)):
                self._factor_beside(block, other, count.value, inside)

    def _factor_diagonal(self, block: Any, count: Any) -> tuple[Any, ...]:
        """L of a diagonal block; returns it: inverse diagonal, then L₁₀, L₂₀, L₂₁."""
        k, L, below = self.k, self.blocks_field, self.k.integers("below", self.nblock)
        places = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
        total = k.local(np.array([L[block, block, B * i + j] for i, j in places], dtype=object))
        with k.loop(0, count) as n:
            x = L[below[n], block].reshape(B, B)
            total -= np.array([dot(x[:, i], x[:, j]) for i, j in places], dtype=object)
        h00, h10, h11, h20, h21, h22 = total.value
        r2 = 1.0 / k.sqrt(k.max(h22, MINVAL))
        l20, l21 = h20 * r2, h21 * r2
        r1 = 1.0 / k.sqrt(k.max(h11 - l21 * l21, MINVAL))
        l10 = (h10 - l20 * l21) * r1
        r0 = 1.0 / k.sqrt(k.max(h00 - l20 * l20 - l10 * l10, MINVAL))
        for (i, j), value in zip(places, (r0, l10, r1, l20, l21, r2), strict=True):
            L[block, block, B * i + j] = value
        return r0, r1, r2, l10, l20, l21

    def _factor_beside(self, block: Any, other: Any, count: Any, inside: tuple[Any, ...]) -> None:
        """L of a block beside the diagonal."""
        k, L, below = self.k, self.blocks_field, self.k.integers("below", self.nblock)
        total = k.local(L[block, other])
        with k.loop(0, count) as n:
            lower = below[n]
            with k.when(self.connected(lower, other)):
                x, y = L[lower, block].reshape(B, B), L[lower, other].reshape(B, B)
                total -= np.array([dot(x[:, i], y[:, j]) for i in range(B) for j in range(B)], dtype=object)
        h = total.value.reshape(B, B)
        solved = np.array([_upper_solve(inside, h[:, j]) for j in range(B)], dtype=object).T
        L[block, other] = solved.reshape(-1)

    @property
    def unknowns(self) -> Field:
        """Three numbers per block."""
        return self.k.scratch("unknowns", self.nblock, B)

    def solve(self, vector: Field) -> None:
        """Replace a vector (nv) by H⁻¹ times it."""
        k, L, x = self.k, self.blocks_field, self.unknowns
        if self.padded:
            with k.loop(0, self.nblock) as block:
                x[block] = 0.0
        with k.loop(0, self.nv) as dof:
            x[self.block_of(dof), self.place_of(dof)] = vector[dof]
        with k.loop(0, self.nblock, reverse=True) as block:  # Lᵀ u = x
            u = np.array(_upper_solve(self._inside(block), x[block]), dtype=object)
            x[block] = u
            with k.loop(0, block) as other, k.when(self.connected(block, other)):
                x[other] -= L[block, other].reshape(B, B).T @ u
        with k.loop(0, self.nblock) as block:  # L x = u
            total = k.local(x[block])
            with k.loop(0, block) as other, k.when(self.connected(block, other)):
                total -= L[block, other].reshape(B, B) @ x[other]
            r0, r1, r2, l10, l20, l21 = self._inside(block)
            u0, u1, u2 = total.value
            x0 = u0 * r0
            x1 = (u1 - l10 * x0) * r1
            x[block] = np.array([x0, x1, (u2 - l20 * x0 - l21 * x1) * r2], dtype=object)
        with k.loop(0, self.nv) as dof:
            vector[dof] = x[self.block_of(dof), self.place_of(dof)]

    def _inside(self, block: Any) -> tuple[Any, ...]:
        L = self.blocks_field[block, block]
        return L[0], L[4], L[8], L[3], L[6], L[7]


class _Entries:
    """H by dofs instead of by blocks."""

    def __init__(self, hessian: Hessian) -> None:
        self._hessian = hessian

    def _cell(self, index: tuple[Any, Any]) -> tuple[Any, ...]:
        h, (row, column) = self._hessian, index
        return h.block_of(row), h.block_of(column), B * h.place_of(row) + h.place_of(column)

    def __getitem__(self, index: tuple[Any, Any]) -> Any:
        return self._hessian.blocks_field[self._cell(index)]

    def __setitem__(self, index: tuple[Any, Any], value: Any) -> None:
        self._hessian.blocks_field[self._cell(index)] = value


def _upper_solve(inside: tuple[Any, ...], y: Any) -> list[Any]:
    """u of Lᵀ·u = y for a diagonal block."""
    r0, r1, r2, l10, l20, l21 = inside
    u2 = y[2] * r2
    u1 = (y[1] - l21 * u2) * r1
    return [(y[0] - l10 * u1 - l20 * u2) * r0, u1, u2]


def symmetric_times(packed: Any, v: Any) -> np.ndarray:
    """A packed symmetric matrix times a vector (6)."""
    place = {ij: n for n, ij in enumerate(PACKED)}
    rows = [[packed[place[max(i, j), min(i, j)]] for j in range(6)] for i in range(6)]
    return np.array([dot(row, v) for row in rows], dtype=object)


def last_dof(k: Kernel, body: Any) -> Any:
    """Of a body that has dofs."""
    return k.model.body_dofadr[body] + k.model.body_dofnum[body] - 1


def apart(
    k: Kernel, bodies: tuple[Any, Any], on_near: Callable[[Any], None], on_far: Callable[[Any], None]
) -> None:
    """Visit the dofs that move one of two bodies but not both, in descending order: up both chains until they
    meet."""
    m = k.model
    first, second = (k.local(last_dof(k, body)) for body in bodies)
    with k.loop(0, int(m.nv)):
        k.leave_when(first.value == second.value)
        with k.when(first.value > second.value):
            on_near(first.value)
            first.set(m.dof_parentid[first.value])
        with k.otherwise():
            on_far(second.value)
            second.set(m.dof_parentid[second.value])
